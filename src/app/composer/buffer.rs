//! The edited text: lines, caret, undo, on top of the text area of `tui_textarea`.
//!
//! The widget keeps lines, edit history and caret; which clusters an edit covers is decided here, because
//! the widget edits by code point. Invariants: the caret stands on a cluster boundary; the text has at most
//! [`TEXT_BYTES_MAX`] bytes, so that lines and columns fit the widget's 16-bit jumps and each key stays cheap.

use tui_textarea::{CursorMove, TextArea};

use super::clusters;

/// Bytes of text that can be edited in place; more stands as chips.
pub(super) const TEXT_BYTES_MAX: usize = 60 * 1024;

/// Single edits that undo can take back.
const UNDO_EDITS_MAX: usize = 10_000;

/// A place in the text: line, and byte in that line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place {
    pub line: usize,
    pub byte: usize,
}

/// How the next edit joins the last for undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joins {
    /// A step of its own.
    Alone,
    /// Part of the step that is being typed.
    Typing,
    /// Part of the last step, whatever it was.
    Last,
}

#[derive(Debug, Clone)]
pub(super) struct Buffer {
    area: TextArea<'static>,
    bytes: usize,
    /// Edits of each step that can be undone, and of each that can be redone.
    steps: Vec<usize>,
    undone: Vec<usize>,
    /// The last step is typing that may go on.
    is_typing: bool,
}

impl Default for Buffer {
    fn default() -> Self {
        Self::new("")
    }
}

impl Buffer {
    /// Returns a buffer with the caret at the end and nothing to undo.
    pub(super) fn new(text: &str) -> Self {
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_max_histories(UNDO_EDITS_MAX);
        let mut buffer = Self {
            area,
            bytes: text.len(),
            steps: Vec::new(),
            undone: Vec::new(),
            is_typing: false,
        };
        buffer.move_to(buffer.end());
        buffer
    }

    pub(super) fn lines(&self) -> &[String] {
        self.area.lines()
    }
    pub(super) fn text(&self) -> String {
        self.lines().join("\n")
    }
    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    pub(super) fn line(&self, index: usize) -> &str {
        self.lines().get(index).map_or("", String::as_str)
    }
    pub(super) fn end(&self) -> Place {
        let line = self.lines().len().saturating_sub(1);
        Place { line, byte: self.line(line).len() }
    }
    /// Bytes that may still be added.
    pub(super) fn room(&self) -> usize {
        TEXT_BYTES_MAX.saturating_sub(self.bytes)
    }

    pub(super) fn caret(&self) -> Place {
        let (line, column) = self.area.cursor();
        let text = self.line(line);
        let byte = text.char_indices().nth(column).map_or(text.len(), |(byte, _)| byte);
        Place { line, byte }
    }

    /// Moves the caret; typing after it is a new step for undo.
    pub(super) fn move_to(&mut self, place: Place) {
        self.is_typing = false;
        self.jump(place);
    }

    fn jump(&mut self, place: Place) {
        let text = self.line(place.line);
        let byte = clusters::snap(text, place.byte.min(text.len()));
        let column = text[..byte].chars().count();
        let jump = (u16::try_from(place.line), u16::try_from(column));
        self.area
            .move_cursor(CursorMove::Jump(jump.0.unwrap_or(u16::MAX), jump.1.unwrap_or(u16::MAX)));
    }

    /// Inserts at the caret; false if there is no room, and then nothing is changed.
    pub(super) fn insert(&mut self, text: &str, joins: Joins) -> bool {
        if text.len() > self.room() || text.is_empty() {
            return false;
        }
        if self.area.insert_str(text) {
            self.bytes += text.len();
            self.count_edit(joins);
            // What was typed may have joined with what follows, as an accent before an accent does.
            self.jump(self.caret());
        }
        true
    }

    /// Removes from `start` to `end` and returns what was there.
    pub(super) fn remove(&mut self, start: Place, end: Place, joins: Joins) -> String {
        let removed = self.between(start, end);
        if removed.is_empty() {
            return removed;
        }
        self.jump(start);
        if self.area.delete_str(removed.chars().count()) {
            self.bytes = self.bytes.saturating_sub(removed.len());
            self.count_edit(joins);
        }
        self.jump(self.caret());
        removed
    }

    fn between(&self, start: Place, end: Place) -> String {
        if start >= end {
            return String::new();
        }
        if start.line == end.line {
            return self.line(start.line)[start.byte..end.byte].to_owned();
        }
        let mut text = self.line(start.line)[start.byte..].to_owned();
        for index in start.line + 1..end.line {
            text.push('\n');
            text.push_str(self.line(index));
        }
        text.push('\n');
        text.push_str(&self.line(end.line)[..end.byte]);
        text
    }

    fn count_edit(&mut self, joins: Joins) {
        self.undone.clear();
        match (joins, self.steps.last_mut()) {
            (Joins::Last, Some(step)) => *step += 1,
            (Joins::Typing, Some(step)) if self.is_typing => *step += 1,
            _ => self.steps.push(1),
        }
        self.is_typing = joins == Joins::Typing;
    }

    /// Ends the typed step, as a space between words does.
    pub(super) fn end_step(&mut self) {
        self.is_typing = false;
    }

    /// Takes the last step back; false if there is none.
    pub(super) fn undo(&mut self) -> bool {
        let Some(edits) = self.steps.pop() else { return false };
        let done = (0..edits).take_while(|_| self.area.undo()).count();
        if done > 0 {
            self.undone.push(done);
        }
        self.after_travel();
        done > 0
    }

    pub(super) fn redo(&mut self) -> bool {
        let Some(edits) = self.undone.pop() else { return false };
        let done = (0..edits).take_while(|_| self.area.redo()).count();
        if done > 0 {
            self.steps.push(done);
        }
        self.after_travel();
        done > 0
    }

    fn after_travel(&mut self) {
        self.is_typing = false;
        self.bytes = self.lines().iter().map(|line| line.len() + 1).sum::<usize>() - 1;
        self.jump(self.caret());
    }

    /// The place one cluster before, over the line's beginning.
    pub(super) fn before(&self, place: Place) -> Place {
        match clusters::before(self.line(place.line), place.byte) {
            Some(byte) => Place { byte, ..place },
            None if place.line > 0 => {
                Place { line: place.line - 1, byte: self.line(place.line - 1).len() }
            }
            None => place,
        }
    }

    /// The place one cluster after, over the line's end.
    pub(super) fn after(&self, place: Place) -> Place {
        match clusters::after(self.line(place.line), place.byte) {
            Some(byte) => Place { byte, ..place },
            None if place.line + 1 < self.lines().len() => Place { line: place.line + 1, byte: 0 },
            None => place,
        }
    }

    pub(super) fn word_before(&self, place: Place) -> Place {
        if place.byte == 0 {
            return self.before(place);
        }
        Place { byte: clusters::word_before(self.line(place.line), place.byte), ..place }
    }

    pub(super) fn word_after(&self, place: Place) -> Place {
        if place.byte == self.line(place.line).len() {
            return self.after(place);
        }
        Place { byte: clusters::word_after(self.line(place.line), place.byte), ..place }
    }
}
