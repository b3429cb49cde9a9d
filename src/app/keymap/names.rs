//! Key names as people write them.

use crate::app::key::{Key, KeyCode};

/// The named keys; the first name of a code is the one shown.
const NAMES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("escape", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("plus", KeyCode::Char('+')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("del", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pgup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("pgdn", KeyCode::PageDown),
];

/// Reads a key such as `ctrl+shift+o`, `alt+enter`, `f2` or `?`.
pub fn parse_key(text: &str) -> Option<Key> {
    let mut parts: Vec<&str> = text.split('+').collect();
    let last = parts.pop()?;
    // `+` itself: the split leaves an empty part at its place.
    let (name, modifiers) = match (last, parts.last()) {
        ("", Some(&"")) => ("plus", &parts[..parts.len() - 1]),
        _ => (last, &parts[..]),
    };
    let mut key = Key::plain(code_named(name)?);
    for modifier in modifiers {
        match modifier.to_ascii_lowercase().as_str() {
            "ctrl" | "control" => key.ctrl = true,
            "alt" | "option" | "meta" => key.alt = true,
            "shift" => key.shift = true,
            _ => return None,
        }
    }
    // `Ctrl+O` is how people write Ctrl and the key O; Shift is written out.
    if let (KeyCode::Char(letter), true) = (key.code, key.ctrl || key.alt) {
        key.code = KeyCode::Char(letter.to_lowercase().next().unwrap_or(letter));
    }
    Some(normal(key))
}

/// Shows a key as people write it: `Ctrl+O`, `Shift+Tab`, `PgUp`, `y`. [`parse_key`] reads it, too.
pub fn label_key(key: Key) -> String {
    let key = normal(key);
    let has_modifier = key.ctrl || key.alt;
    let name = show_key(Key { ctrl: false, alt: false, shift: false, ..key });
    let name = match key.code {
        KeyCode::PageUp => "PgUp".to_owned(),
        KeyCode::PageDown => "PgDn".to_owned(),
        KeyCode::Char(letter) if letter != ' ' && !has_modifier => letter.to_string(),
        KeyCode::Char(letter) if letter != ' ' => letter.to_uppercase().collect(),
        _ => {
            let mut letters = name.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
    };
    let held = [(key.ctrl, "Ctrl+"), (key.alt, "Alt+"), (key.shift, "Shift+")];
    let held: String = held.iter().filter(|(is_held, _)| *is_held).map(|(_, name)| *name).collect();
    held + &name
}

fn code_named(name: &str) -> Option<KeyCode> {
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return (!letter.is_control()).then_some(KeyCode::Char(letter));
    }
    let lower = name.to_ascii_lowercase();
    if let Some(number) = lower.strip_prefix('f').and_then(|digits| digits.parse().ok()) {
        return (1..=24).contains(&number).then_some(KeyCode::Function(number));
    }
    NAMES.iter().find(|(known, _)| *known == lower).map(|(_, code)| *code)
}

/// Shows a key as [`parse_key`] reads it.
pub fn show_key(key: Key) -> String {
    let key = normal(key);
    let mut text = String::new();
    for (is_held, name) in [(key.ctrl, "ctrl+"), (key.alt, "alt+"), (key.shift, "shift+")] {
        if is_held {
            text.push_str(name);
        }
    }
    match NAMES.iter().find(|(_, code)| *code == key.code) {
        Some((name, _)) => text.push_str(name),
        None => match key.code {
            KeyCode::Char(letter) => text.push(letter),
            KeyCode::Function(number) => {
                text.push('f');
                text.push_str(&number.to_string());
            }
            _ => {}
        },
    }
    text
}

/// Returns the one form of a key that terminals report in several.
///
/// Shift is in the letter itself while nothing else is held; with Ctrl or Alt the letter is small and Shift
/// is a modifier. Signs carry no Shift, because where they are on the keyboard differs. `BackTab` is
/// Shift+Tab. A held key is the same key.
pub(super) fn normal(key: Key) -> Key {
    let mut key = Key { is_repeat: false, ..key };
    match key.code {
        KeyCode::BackTab => {
            key.code = KeyCode::Tab;
            key.shift = true;
        }
        KeyCode::Char(letter) if !letter.is_alphabetic() => key.shift = false,
        KeyCode::Char(letter) if key.ctrl || key.alt => {
            key.shift |= letter.is_uppercase();
            key.code = KeyCode::Char(letter.to_lowercase().next().unwrap_or(letter));
        }
        KeyCode::Char(letter) => {
            if key.shift {
                key.code = KeyCode::Char(letter.to_uppercase().next().unwrap_or(letter));
            }
            key.shift = false;
        }
        _ => {}
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_as_it_is_read() {
        for name in [
            "ctrl+shift+o",
            "alt+enter",
            "f2",
            "?",
            "shift+tab",
            "ctrl+plus",
            "G",
            "ctrl+_",
            "space",
            "pagedown",
            "é",
        ] {
            assert_eq!(parse_key(name).map(show_key).as_deref(), Some(name));
        }
        for (name, wanted) in [
            ("Ctrl+o", "ctrl+o"),
            ("Alt+O", "alt+o"),
            ("Ctrl+Shift+O", "ctrl+shift+o"),
            ("+", "plus"),
            ("ctrl++", "ctrl+plus"),
            ("PgUp", "pageup"),
        ] {
            assert_eq!(parse_key(name).map(show_key).as_deref(), Some(wanted), "{name}");
        }
    }

    #[test]
    fn a_label_is_what_people_write_and_can_be_read() {
        for (name, wanted) in [
            ("ctrl+o", "Ctrl+O"),
            ("ctrl+shift+o", "Ctrl+Shift+O"),
            ("shift+tab", "Shift+Tab"),
            ("pageup", "PgUp"),
            ("alt+enter", "Alt+Enter"),
            ("f2", "F2"),
            ("space", "Space"),
            ("y", "y"),
            ("G", "G"),
            ("?", "?"),
            ("ctrl+_", "Ctrl+_"),
        ] {
            let key = parse_key(name).unwrap();
            assert_eq!(label_key(key), wanted);
            assert_eq!(parse_key(wanted), Some(key), "{wanted}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "ctrl+", "hyper+x", "f0", "f99", "nothing", "ctrl+ctrlx"] {
            assert_eq!(parse_key(text), None, "{text}");
        }
    }

    #[test]
    fn forms_of_one_key_are_equal() {
        let back_tab = Key::plain(KeyCode::BackTab);
        let shift_tab = Key::shift(KeyCode::Tab);
        let kitty = Key { shift: true, ..Key::ctrl('O') };
        for (key, name) in [
            (back_tab, "shift+tab"),
            (shift_tab, "shift+tab"),
            (kitty, "ctrl+shift+o"),
            (Key::shift(KeyCode::Char('?')), "?"),
            (Key::shift(KeyCode::Char('g')), "G"),
        ] {
            assert_eq!(show_key(key), name);
        }
    }
}
