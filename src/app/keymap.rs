//! Key and layer to action: the defaults, and what the config changes in them.
//!
//! Invariants: one key of a layer has one action; every action has a default key, so the table names them
//! all. Not here: which layer is on top, and keys that are text (the composer and the filters take what no
//! binding took).

mod defaults;
mod names;

use std::collections::HashMap;

use super::action::Action;
use super::key::Key;
use crate::base::text::near;
use defaults::DEFAULTS;
pub use names::{label_key, parse_key, show_key};

/// What gets the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Under every other layer.
    Everywhere,
    Composer,
    /// Above `Composer` while it holds no text.
    EmptyComposer,
    Picker,
    /// An approval or another question.
    Question,
    /// A panel with text: help, status.
    Panel,
}

impl Layer {
    /// The layers that are asked in turn.
    fn path(self) -> &'static [Self] {
        match self {
            Self::Everywhere => &[Self::Everywhere],
            Self::Composer => &[Self::Composer, Self::Everywhere],
            Self::EmptyComposer => &[Self::EmptyComposer, Self::Composer, Self::Everywhere],
            Self::Picker => &[Self::Picker, Self::Everywhere],
            Self::Question => &[Self::Question, Self::Everywhere],
            Self::Panel => &[Self::Panel, Self::Everywhere],
        }
    }

    /// The heading in the help panel.
    pub fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Composer => "Composer",
            Self::EmptyComposer => "Empty composer",
            Self::Picker => "Lists",
            Self::Question => "Questions",
            Self::Panel => "Panels",
        }
    }
}

/// One default of the table: the keys of an action in a layer, and what the help says.
#[derive(Debug)]
struct Binding {
    layer: Layer,
    /// Key names with spaces between.
    keys: &'static str,
    action: Action,
    help: &'static str,
}

/// One row of the help panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpRow {
    pub layer: Layer,
    pub action: Action,
    /// Key names with commas between; empty if the config took them all.
    pub keys: String,
    pub help: &'static str,
}

/// Why an entry of the config's `keys` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("keys.{name}: there is no such action{}", near_text(*.nearest))]
    UnknownAction { name: String, nearest: Option<&'static str> },
    #[error("keys.{name}: `{key}` is not a key; write for example ctrl+o, alt+enter, f2")]
    BadKey { name: String, key: String },
    #[error("keys.{name}: {key} is already given to {other}")]
    Taken { name: String, key: String, other: &'static str },
}

fn near_text(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

/// The bindings in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    actions: HashMap<(Layer, Key), Action>,
    /// Keys of each row of the defaults, in the order they are shown.
    shown: Vec<Vec<Key>>,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut keymap = Self { actions: HashMap::new(), shown: Vec::new() };
        for binding in DEFAULTS {
            let keys: Vec<Key> = binding.keys.split(' ').filter_map(parse_key).collect();
            for key in &keys {
                keymap.actions.insert((binding.layer, *key), binding.action);
            }
            keymap.shown.push(keys);
        }
        keymap
    }
}

impl Keymap {
    /// Returns the defaults with the config's changes, and what of them could not be used.
    ///
    /// An entry replaces all default keys of its action; several keys stand with spaces between, none is
    /// an empty text. A key that another action had by default goes to the entry.
    pub fn with<'a>(
        overrides: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Self, Vec<KeymapError>) {
        let mut keymap = Self::default();
        let mut errors = Vec::new();
        let mut given: HashMap<(Layer, Key), Action> = HashMap::new();
        for (name, keys) in overrides {
            match read_override(name, keys) {
                Ok((action, keys)) => {
                    errors.extend(keymap.rebind(action, &keys, &mut given));
                }
                Err(error) => errors.push(error),
            }
        }
        (keymap, errors)
    }

    fn rebind(
        &mut self,
        action: Action,
        keys: &[Key],
        given: &mut HashMap<(Layer, Key), Action>,
    ) -> Vec<KeymapError> {
        let mut errors = Vec::new();
        self.actions.retain(|place, bound| *bound != action || given.contains_key(place));
        for (index, binding) in DEFAULTS.iter().enumerate() {
            if binding.action != action {
                continue;
            }
            self.shown[index].clear();
            for key in keys {
                let place = (binding.layer, *key);
                if let Some(other) = given.get(&place).filter(|other| **other != action) {
                    errors.push(KeymapError::Taken {
                        name: action.name().to_owned(),
                        key: show_key(*key),
                        other: other.name(),
                    });
                    continue;
                }
                self.take_from_default(place);
                given.insert(place, action);
                self.actions.insert(place, action);
                self.shown[index].push(*key);
            }
        }
        errors
    }

    fn take_from_default(&mut self, (layer, key): (Layer, Key)) {
        for (index, binding) in DEFAULTS.iter().enumerate() {
            if binding.layer == layer {
                self.shown[index].retain(|shown| *shown != key);
            }
        }
    }

    /// Returns what `key` asks for while `layer` is on top.
    ///
    /// A held key answers no question: only a fresh press does.
    pub fn lookup(&self, layer: Layer, key: Key) -> Option<Action> {
        if key.is_repeat && layer == Layer::Question {
            return None;
        }
        let key = names::normal(key);
        layer.path().iter().find_map(|layer| self.actions.get(&(*layer, key)).copied())
    }

    /// The rows of the help panel, in the order of the table.
    pub fn help_rows(&self) -> Vec<HelpRow> {
        let rows = DEFAULTS.iter().zip(&self.shown);
        rows.map(|(binding, keys)| HelpRow {
            layer: binding.layer,
            action: binding.action,
            keys: keys.iter().map(|key| label_key(*key)).collect::<Vec<_>>().join(", "),
            help: binding.help,
        })
        .collect()
    }

    /// The first key of an action, for hints such as `Ctrl+O unfolds`.
    pub fn key_of(&self, action: Action) -> Option<String> {
        let index = DEFAULTS.iter().position(|binding| binding.action == action)?;
        self.shown[index].first().map(|key| label_key(*key))
    }
}

fn read_override(name: &str, keys: &str) -> Result<(Action, Vec<Key>), KeymapError> {
    let action = action_named(name).ok_or_else(|| KeymapError::UnknownAction {
        name: name.to_owned(),
        nearest: near::nearest(name, DEFAULTS.iter().map(|binding| binding.action.name())),
    })?;
    let keys: Result<Vec<Key>, KeymapError> = keys
        .split_whitespace()
        .map(|key| {
            parse_key(key)
                .ok_or_else(|| KeymapError::BadKey { name: name.to_owned(), key: key.to_owned() })
        })
        .collect();
    Ok((action, keys?))
}

/// Returns the action of a name.
pub fn action_named(name: &str) -> Option<Action> {
    DEFAULTS.iter().map(|binding| binding.action).find(|action| action.name() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::app::action::{Answer, Scroll};
    use crate::app::composer::Edit;
    use crate::app::key::KeyCode;

    #[test]
    fn every_default_key_can_be_read_and_is_given_once_a_layer() {
        let mut seen = HashSet::new();
        for binding in DEFAULTS {
            for name in binding.keys.split(' ') {
                let key = parse_key(name).unwrap_or_else(|| panic!("{name}"));
                assert!(seen.insert((binding.layer, key)), "{name} in {:?}", binding.layer);
            }
        }
    }

    #[test]
    fn one_name_means_one_action() {
        let mut names: HashMap<&str, Action> = HashMap::new();
        for binding in DEFAULTS {
            let action = names.entry(binding.action.name()).or_insert(binding.action);
            assert_eq!(*action, binding.action);
            assert_eq!(action_named(binding.action.name()), Some(binding.action));
        }
    }

    #[test]
    fn the_keys_of_the_specification_are_bound() {
        let keymap = Keymap::default();
        for (layer, key, wanted) in [
            (Layer::Composer, "ctrl+c", Action::Interrupt),
            (Layer::Picker, "ctrl+c", Action::Interrupt),
            (Layer::EmptyComposer, "ctrl+d", Action::Quit),
            (Layer::Composer, "ctrl+d", Action::Edit(Edit::DeleteForward)),
            (Layer::Composer, "esc", Action::Cancel),
            (Layer::Composer, "shift+tab", Action::ToggleMode),
            (Layer::Composer, "ctrl+o", Action::ToggleFold),
            (Layer::Composer, "ctrl+r", Action::SearchHistory),
            (Layer::Composer, "f2", Action::ToggleMouse),
            (Layer::Composer, "ctrl+l", Action::Redraw),
            (Layer::Composer, "ctrl+r", Action::SearchHistory),
            (Layer::Composer, "pageup", Action::Scroll(Scroll::PageUp)),
            (Layer::Composer, "ctrl+end", Action::Scroll(Scroll::End)),
            (Layer::Composer, "f2", Action::ToggleMouse),
            (Layer::Composer, "ctrl+l", Action::Redraw),
            (Layer::Composer, "ctrl+z", Action::Suspend),
            (Layer::EmptyComposer, "?", Action::Help),
            (Layer::Composer, "enter", Action::Edit(Edit::Submit)),
            (Layer::Composer, "shift+enter", Action::Edit(Edit::Newline)),
            (Layer::Composer, "alt+enter", Action::Edit(Edit::Newline)),
            (Layer::Composer, "ctrl+j", Action::Edit(Edit::Newline)),
            (Layer::Question, "y", Action::Answer(Answer::Once)),
            (Layer::Question, "a", Action::Answer(Answer::Always)),
            (Layer::Question, "n", Action::Answer(Answer::No)),
            (Layer::Question, "esc", Action::Answer(Answer::No)),
        ] {
            assert_eq!(keymap.lookup(layer, parse_key(key).unwrap()), Some(wanted), "{key}");
        }
        assert_eq!(keymap.lookup(Layer::Composer, parse_key("?").unwrap()), None);
    }

    // T13: a held key types and moves, but answers no question.
    #[test]
    fn a_held_key_answers_no_question() {
        let keymap = Keymap::default();
        let held = |code| Key { is_repeat: true, ..Key::plain(code) };
        assert_eq!(keymap.lookup(Layer::Question, held(KeyCode::Char('y'))), None);
        let down = Some(Action::Edit(Edit::Down));
        assert_eq!(keymap.lookup(Layer::Composer, held(KeyCode::Down)), down);
    }

    #[test]
    fn the_config_gives_an_action_other_keys() {
        let (keymap, errors) =
            Keymap::with([("toggle-fold", "f5 ctrl+shift+o"), ("search-history", "")]);
        assert_eq!(errors, []);
        let at = |key| keymap.lookup(Layer::Composer, parse_key(key).unwrap());
        assert_eq!(at("f5"), Some(Action::ToggleFold));
        assert_eq!(at("ctrl+shift+o"), Some(Action::ToggleFold));
        assert_eq!(at("ctrl+o"), None);
        assert_eq!(at("ctrl+r"), None);
        assert_eq!(keymap.key_of(Action::ToggleFold).as_deref(), Some("F5"));
        let search = keymap.help_rows().into_iter().find(|row| row.action == Action::SearchHistory);
        assert_eq!(search.unwrap().keys, "");
    }

    #[test]
    fn a_key_of_another_action_goes_to_the_entry_of_the_config() {
        let (keymap, errors) = Keymap::with([("toggle-fold", "ctrl+r")]);
        assert_eq!(errors, []);
        let key = parse_key("ctrl+r").unwrap();
        assert_eq!(keymap.lookup(Layer::Composer, key), Some(Action::ToggleFold));
        assert_eq!(keymap.key_of(Action::SearchHistory), None);
    }

    #[test]
    fn an_error_names_the_entry_and_what_was_meant() {
        for (name, key, wanted) in [
            (
                "togle-fold",
                "f5",
                "keys.togle-fold: there is no such action; did you mean toggle-fold?",
            ),
            (
                "redraw",
                "ctrl+nothing",
                "keys.redraw: `ctrl+nothing` is not a key; write for example ctrl+o, alt+enter, f2",
            ),
        ] {
            let (keymap, errors) = Keymap::with([(name, key)]);
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts, [wanted]);
            assert_eq!(keymap, Keymap::default());
        }
        let (_, errors) = Keymap::with([("redraw", "f5"), ("toggle-mouse", "f5")]);
        assert_eq!(errors[0].to_string(), "keys.toggle-mouse: f5 is already given to redraw");
    }
}
