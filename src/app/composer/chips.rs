//! Chips: long pastes that stand in the text as one short token.
//!
//! A chip is one character of a private range in the edited text, so that it moves, vanishes and comes back
//! by undo as a whole, whatever its size. Characters of that range that a person types or pastes become
//! chips of their own, so no text can pose as a chip and none is lost.

use std::sync::Arc;

/// A paste of more lines becomes a chip (spec, workspace-ui, Composer).
pub const CHIP_LINES: usize = 20;

/// A paste of more bytes becomes a chip (spec, workspace-ui, Composer).
pub const CHIP_BYTES: usize = 2 * 1024;

/// The private range that stands for chips: plane 16, which has no assigned characters.
const FIRST: u32 = 0x0010_0000;
const LAST: u32 = 0x0010_FFFD;

/// The contents of the chips of one composer. Grows only: undo may bring a chip back.
#[derive(Debug, Clone, Default)]
pub(super) struct Chips {
    contents: Vec<Arc<str>>,
}

pub(super) fn is_chip(letter: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(letter))
}

pub(super) fn is_in(text: &str) -> bool {
    text.chars().any(is_chip)
}

impl Chips {
    /// Returns the character that stands for `content`; `None` once the range is used up.
    pub(super) fn add(&mut self, content: &str) -> Option<char> {
        let known = self.contents.iter().position(|known| **known == *content);
        let index = known.unwrap_or(self.contents.len());
        let letter = u32::try_from(index)
            .ok()
            .and_then(|index| FIRST.checked_add(index))
            .filter(|code| *code <= LAST)
            .and_then(char::from_u32)?;
        if known.is_none() {
            self.contents.push(Arc::from(content));
        }
        Some(letter)
    }

    pub(super) fn content(&self, letter: char) -> Option<&str> {
        let index = u32::from(letter).checked_sub(FIRST)?;
        self.contents.get(usize::try_from(index).ok()?).map(|content| &**content)
    }

    /// Returns `text` with each chip's content in its place.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        for letter in text.chars() {
            match self.content(letter) {
                Some(content) => whole.push_str(content),
                None => whole.push(letter),
            }
        }
        whole
    }

    /// Returns a cluster as it is drawn: each chip by its label.
    pub(super) fn label(&self, cluster: &str) -> String {
        let mut shown = String::new();
        for letter in cluster.chars() {
            match self.content(letter) {
                Some(content) => shown.push_str(&label_of(content)),
                None => shown.push(letter),
            }
        }
        shown
    }

    /// Returns `text` with its own characters of the private range turned into chips.
    pub(super) fn escape(&mut self, text: &str) -> String {
        if !is_in(text) {
            return text.to_owned();
        }
        let mut escaped = String::with_capacity(text.len());
        for letter in text.chars() {
            if is_chip(letter) {
                escaped.extend(self.add(letter.encode_utf8(&mut [0; 4])));
            } else {
                escaped.push(letter);
            }
        }
        escaped
    }
}

/// What a paste shows as; a single private character has no glyph and shows as a box.
fn label_of(content: &str) -> String {
    let mut letters = content.chars();
    if letters.next().is_some_and(is_chip) && letters.next().is_none() {
        return "�".to_owned();
    }
    match content.lines().count() {
        0 | 1 => format!("[pasted {} characters]", content.chars().count()),
        lines => format!("[pasted {lines} lines]"),
    }
}

/// Returns what of a text may be in the composer: newlines normalised, control characters gone.
///
/// Tabs and newlines stay. An escape sequence loses its escape, so nothing of a paste can act as a key or
/// reach the terminal as a command.
pub(super) fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                letters.next_if_eq(&'\n');
                kept.push('\n');
            }
            '\n' | '\t' => kept.push(letter),
            control if control.is_control() => {}
            other => kept.push(other),
        }
    }
    kept
}

/// Whether a cleaned paste is so long that it stands as a chip.
pub(super) fn is_long(text: &str) -> bool {
    text.len() > CHIP_BYTES || text.lines().nth(CHIP_LINES).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    // T03, T07: nothing of a paste is run as a key or reaches the terminal as a command.
    #[test]
    fn control_characters_never_enter_and_newlines_are_one_kind() {
        for (text, wanted) in [
            ("a\r\nb\rc\n", "a\nb\nc\n"),
            ("a\x1b[201~rm x\r", "a[201~rm x\n"),
            ("tab\tand\0nul\x7f\u{9b}31m", "tab\tandnul31m"),
        ] {
            assert_eq!(clean(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_chip_says_how_much_it_stands_for() {
        assert_eq!(label_of(&"x\n".repeat(312)), "[pasted 312 lines]");
        assert_eq!(label_of(&"x".repeat(3_000)), "[pasted 3000 characters]");
    }

    #[test]
    fn a_paste_is_long_beyond_twenty_lines_or_two_kilobytes() {
        for (text, wanted) in [
            ("x\n".repeat(20), false),
            ("x\n".repeat(21), true),
            ("x".repeat(2_048), false),
            ("x".repeat(2_049), true),
        ] {
            assert_eq!(is_long(&text), wanted, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_character_of_the_private_range_cannot_pose_as_a_chip() {
        let mut chips = Chips::default();
        let letter = chips.add("secret").unwrap();
        let typed = chips.escape(&letter.to_string());
        assert_eq!(chips.expand(&typed), letter.to_string());
    }
}
