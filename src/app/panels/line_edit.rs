//! One line of text that can be edited: a rule, a reason, a filter.

use crate::app::key::{Key, KeyCode};
use unicode_segmentation::UnicodeSegmentation;

/// Text with a cursor between grapheme clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
    /// Byte index of a cluster boundary.
    cursor: usize,
}

impl LineEdit {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { cursor: text.len(), text }
    }
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The text before and after the cursor.
    pub fn halves(&self) -> (&str, &str) {
        self.text.split_at(self.cursor)
    }

    /// Inserts text as one line: line ends become spaces, other control characters are dropped.
    pub fn insert(&mut self, text: &str) {
        let spaced = text.replace(['\n', '\r', '\t'], " ");
        let safe: String = spaced.chars().filter(|c| !c.is_control()).collect();
        self.text.insert_str(self.cursor, &safe);
        self.cursor += safe.len();
    }

    /// Returns whether the key meant something here.
    pub fn on_key(&mut self, key: Key) -> bool {
        match key.code {
            KeyCode::Char('u') if key.ctrl => {
                self.text.clear();
                self.cursor = 0;
            }
            KeyCode::Char(c) if !key.ctrl && !key.alt => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => {
                let start = self.before();
                self.text.replace_range(start..self.cursor, "");
                self.cursor = start;
            }
            KeyCode::Delete => {
                let end = self.after();
                self.text.replace_range(self.cursor..end, "");
            }
            KeyCode::Left => self.cursor = self.before(),
            KeyCode::Right => self.cursor = self.after(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => return false,
        }
        true
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(i, _)| i)
    }
    fn after(&self) -> usize {
        let rest = &self.text[self.cursor..];
        self.cursor + rest.graphemes(true).next().map_or(0, str::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editing_moves_by_what_a_person_sees_as_a_character() {
        let mut line = LineEdit::new("a👩‍👩‍👧");
        line.on_key(Key::plain(KeyCode::Backspace));
        assert_eq!(line.text(), "a");
        line.insert("b\nc\u{1b}");
        assert_eq!(line.text(), "ab c");
        line.on_key(Key::plain(KeyCode::Home));
        line.on_key(Key::plain(KeyCode::Delete));
        assert_eq!(line.halves(), ("", "b c"));
    }
}
