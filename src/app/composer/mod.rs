//! Where the person writes: text, caret, chips, history.
//!
//! Invariants: no control character but newline and tab is ever in the text; the caret stands between
//! grapheme clusters; what is submitted is the text as typed and pasted, with chips in full. The layout is
//! measured here, when text or width change, so that drawing only reads. Not here: keys (`app::keymap`
//! names the edits), drawing (`ui::composer`), files of history and drafts.
//!
//! This is the only place in `app` that names `tui_textarea`.

mod buffer;
mod chips;
mod clusters;
mod complete;
mod edit;
mod history;
mod layout;
#[cfg(test)]
mod tests;

pub use chips::{CHIP_BYTES, CHIP_LINES};
pub use complete::{Intent, Trigger, TriggerKind};
pub use edit::Edit;
pub use history::{Direction, HISTORY_ENTRIES_MAX, History, decode_line, encode_line};

use super::key::{Key, KeyCode};
use buffer::{Buffer, Joins, Place};
use chips::Chips;
use history::Step;
use layout::Layout;

/// Said when a key would make the edited text too long.
pub const TOO_LONG: &str = "The composer is full; /editor opens an editor for longer text";

/// Said when a chip is too long to be edited in place.
pub const CHIP_TOO_LONG: &str = "This paste is too long to expand; it is sent in full";

/// Below this many columns the composer has no border: it would take more than it gives.
pub const BORDER_COLUMNS_MIN: u16 = 12;

/// Columns of the borders and of the space beside them.
const BORDER_COLUMNS: u16 = 4;

/// Returns the columns of the text on a screen of `columns`: what [`Composer::set_width`] wants.
pub fn text_columns(columns: u16) -> u16 {
    if columns < BORDER_COLUMNS_MIN { columns } else { columns - BORDER_COLUMNS }
}

/// What is sent, with every chip in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    pub text: String,
}

/// What an edit did, for the app to act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComposerOutcome {
    Nothing,
    /// Only the caret moved.
    Moved,
    /// The text changed: completion and draft follow.
    Changed,
    /// The composer is empty again and the text is in the history.
    Submit(Submission),
    /// Up or Down at an edge: [`Composer::recall`] unless the queue comes first.
    AskHistory(Direction),
    /// Nothing was done, and why.
    Refused(&'static str),
}

/// A piece of a row as it is drawn: one cluster, the spaces of a tab, or a chip's label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub columns: usize,
    pub kind: PieceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    Text,
    Chip,
}

#[derive(Debug, Clone)]
pub struct Composer {
    buffer: Buffer,
    chips: Chips,
    layout: Layout,
    width: u16,
    history: History,
    /// What was being written when the walk through the history began.
    stash: Option<Box<Buffer>>,
    /// The column that Up and Down aim for.
    goal_column: Option<usize>,
    killed: String,
    revision: u64,
}

impl Default for Composer {
    fn default() -> Self {
        Self::new(History::default())
    }
}

impl Composer {
    pub fn new(history: History) -> Self {
        Self {
            buffer: Buffer::default(),
            chips: Chips::default(),
            layout: Layout::default(),
            width: 80,
            history,
            stash: None,
            goal_column: None,
            killed: String::new(),
            revision: 0,
        }
    }

    /// Does one edit or move.
    pub fn apply(&mut self, edit: Edit) -> ComposerOutcome {
        if !matches!(edit, Edit::Up | Edit::Down) {
            self.goal_column = None;
        }
        let caret = self.buffer.caret();
        match edit {
            Edit::Submit => self.enter(),
            Edit::Newline => self.insert("\n", Joins::Alone),
            Edit::DeleteBack => self.delete(self.buffer.before(caret), caret),
            Edit::DeleteForward => self.delete(caret, self.buffer.after(caret)),
            Edit::DeleteWordBack => self.kill(self.buffer.word_before(caret), caret),
            Edit::DeleteWordForward => self.kill(caret, self.buffer.word_after(caret)),
            Edit::DeleteToLineStart => self.kill(self.line_start(caret), caret),
            Edit::DeleteToLineEnd => self.kill(caret, self.line_end(caret)),
            Edit::Yank => {
                let killed = self.killed.clone();
                self.insert_raw(&killed, Joins::Alone)
            }
            Edit::Undo => self.travel(Buffer::undo),
            Edit::Redo => self.travel(Buffer::redo),
            Edit::Left => self.move_to(self.buffer.before(caret)),
            Edit::Right => self.move_to(self.buffer.after(caret)),
            Edit::Up => self.move_row(Direction::Older),
            Edit::Down => self.move_row(Direction::Newer),
            Edit::WordLeft => self.move_to(self.buffer.word_before(caret)),
            Edit::WordRight => self.move_to(self.buffer.word_after(caret)),
            Edit::LineStart => self.move_to(Place { byte: 0, ..caret }),
            Edit::LineEnd => {
                self.move_to(Place { byte: self.buffer.line(caret.line).len(), ..caret })
            }
            Edit::ExpandPaste => self.expand_chip(caret),
        }
    }

    /// Types a key that no binding took; keys without text do nothing.
    pub fn type_key(&mut self, key: Key) -> ComposerOutcome {
        // AltGr arrives as Ctrl+Alt on some terminals; what it types is never a plain letter or digit.
        let is_alt_gr = |letter: char| key.ctrl && key.alt && !letter.is_ascii_alphanumeric();
        match key.code {
            KeyCode::Char(letter) if !key.ctrl && !key.alt || is_alt_gr(letter) => {
                self.goal_column = None;
                let outcome = self.insert(letter.encode_utf8(&mut [0; 4]), Joins::Typing);
                if letter.is_whitespace() {
                    self.buffer.end_step();
                }
                outcome
            }
            _ => ComposerOutcome::Nothing,
        }
    }

    /// Inserts a paste: never sends, never acts as keys; a long one becomes a chip.
    pub fn paste(&mut self, text: &str) -> ComposerOutcome {
        self.goal_column = None;
        let text = chips::clean(text);
        if chips::is_long(&text) || text.len() > self.buffer.room() {
            return self.insert_chip(&text, Joins::Alone);
        }
        self.insert(&text, Joins::Alone)
    }

    /// Replaces the whole text, as one step of undo; a text too long to edit becomes a chip.
    pub fn set_text(&mut self, text: &str) {
        let text = chips::clean(text);
        let removed = self.buffer.remove(Place::default(), self.buffer.end(), Joins::Alone);
        let joins = if removed.is_empty() { Joins::Alone } else { Joins::Last };
        self.insert_whole(&text, joins);
        self.changed();
    }

    /// Empties the composer; undo brings the text back. Returns whether there was any.
    pub fn clear(&mut self) -> bool {
        let removed = self.buffer.remove(Place::default(), self.buffer.end(), Joins::Alone);
        self.changed();
        !removed.is_empty()
    }

    /// Takes a step through the history; the draft comes back past the newest entry.
    pub fn recall(&mut self, direction: Direction) -> ComposerOutcome {
        let is_first = !self.history.is_walking();
        match self.history.step(direction) {
            Step::Edge => return ComposerOutcome::Nothing,
            Step::Draft => self.buffer = self.stash.take().map_or_else(Buffer::default, |b| *b),
            Step::Entry(entry) => {
                let entry = entry.to_owned();
                let shown = std::mem::take(&mut self.buffer);
                if is_first {
                    self.stash = Some(Box::new(shown));
                }
                self.insert_whole(&entry, Joins::Alone);
                self.buffer = Buffer::new(&self.buffer.text());
            }
        }
        self.revision += 1;
        self.measure();
        if direction == Direction::Older {
            // The caret waits in the first row, so that the next Up goes on through the history.
            let place = self.layout.place(self.buffer.lines(), &self.chips, 0, usize::MAX);
            self.buffer.move_to(place);
        }
        ComposerOutcome::Changed
    }

    /// The text with chips in full; `None` if there is none.
    pub fn draft(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.text())
    }
    /// The text with chips in full.
    pub fn text(&self) -> String {
        self.chips.expand(&self.buffer.text())
    }
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
    /// Grows with each change of the text: tells whether a draft must be stored again.
    pub fn revision(&self) -> u64 {
        self.revision
    }
    pub fn history(&self) -> &History {
        &self.history
    }
    pub fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    /// Sets the columns between the borders; measures anew if they changed.
    pub fn set_width(&mut self, columns: u16) {
        if self.width != columns {
            self.width = columns;
            self.measure();
        }
    }
    /// Columns that the layout was measured for.
    pub fn width(&self) -> u16 {
        self.width
    }
    /// Rows of the whole text, at least 1; the view caps what it gives.
    pub fn row_count(&self) -> usize {
        self.layout.rows().len()
    }
    /// Row and column of the caret, from 0.
    pub fn caret(&self) -> (usize, usize) {
        self.layout.position(self.buffer.lines(), &self.chips, self.buffer.caret())
    }
    /// The pieces of one row, from left to right; empty beyond the last.
    pub fn row(&self, index: usize) -> Vec<Piece> {
        let Some(row) = self.layout.rows().get(index) else { return Vec::new() };
        let line = self.buffer.line(row.line);
        let mut pieces = Vec::new();
        let (mut at, mut column) = (row.start, 0);
        while at < row.end {
            let columns = self.layout.columns();
            let Some(shown) = clusters::shown(line, at, column, columns, &self.chips) else {
                break;
            };
            let is_chip = chips::is_in(&line[shown.start..shown.end]);
            let kind = if is_chip { PieceKind::Chip } else { PieceKind::Text };
            (at, column) = (shown.end, column + shown.columns);
            pieces.push(Piece { text: shown.text.into_owned(), columns: shown.columns, kind });
        }
        pieces
    }

    fn enter(&mut self) -> ComposerOutcome {
        let caret = self.buffer.caret();
        let line = self.buffer.line(caret.line);
        if caret.byte == line.len() && line.ends_with('\\') {
            let slash = Place { byte: line.len() - 1, ..caret };
            self.buffer.remove(slash, caret, Joins::Alone);
            return self.insert("\n", Joins::Last);
        }
        let text = self.text();
        if text.trim().is_empty() {
            return ComposerOutcome::Nothing;
        }
        self.history.push(text.clone());
        self.buffer = Buffer::default();
        self.chips = Chips::default();
        self.killed.clear();
        self.changed();
        ComposerOutcome::Submit(Submission { text })
    }

    /// Inserts text from outside the composer, cleaned.
    fn insert(&mut self, text: &str, joins: Joins) -> ComposerOutcome {
        let text = self.chips.escape(&chips::clean(text));
        self.insert_raw(&text, joins)
    }

    /// Inserts text that was in the composer before, chips included.
    fn insert_raw(&mut self, text: &str, joins: Joins) -> ComposerOutcome {
        if text.is_empty() {
            return ComposerOutcome::Nothing;
        }
        if !self.buffer.insert(text, joins) {
            return ComposerOutcome::Refused(TOO_LONG);
        }
        self.changed();
        ComposerOutcome::Changed
    }

    fn insert_chip(&mut self, text: &str, joins: Joins) -> ComposerOutcome {
        match self.chips.add(text) {
            Some(chip) => self.insert_raw(chip.encode_utf8(&mut [0; 4]), joins),
            None => ComposerOutcome::Refused(TOO_LONG),
        }
    }

    /// Fills the empty buffer with a cleaned text.
    fn insert_whole(&mut self, text: &str, joins: Joins) {
        let escaped = self.chips.escape(text);
        if escaped.len() <= self.buffer.room() {
            self.buffer.insert(&escaped, joins);
        } else if let Some(chip) = self.chips.add(text) {
            self.buffer.insert(chip.encode_utf8(&mut [0; 4]), joins);
        }
    }

    fn delete(&mut self, start: Place, end: Place) -> ComposerOutcome {
        if self.buffer.remove(start, end, Joins::Alone).is_empty() {
            return ComposerOutcome::Nothing;
        }
        self.changed();
        ComposerOutcome::Changed
    }

    fn kill(&mut self, start: Place, end: Place) -> ComposerOutcome {
        let removed = self.buffer.remove(start, end, Joins::Alone);
        if removed.is_empty() {
            return ComposerOutcome::Nothing;
        }
        self.killed = removed;
        self.changed();
        ComposerOutcome::Changed
    }

    /// The line's beginning, or the end of the line before when already there.
    fn line_start(&self, caret: Place) -> Place {
        if caret.byte == 0 { self.buffer.before(caret) } else { Place { byte: 0, ..caret } }
    }

    /// The line's end, or the beginning of the next line when already there.
    fn line_end(&self, caret: Place) -> Place {
        let byte = self.buffer.line(caret.line).len();
        if caret.byte == byte { self.buffer.after(caret) } else { Place { byte, ..caret } }
    }

    fn travel(&mut self, travel: fn(&mut Buffer) -> bool) -> ComposerOutcome {
        if !travel(&mut self.buffer) {
            return ComposerOutcome::Nothing;
        }
        self.changed();
        ComposerOutcome::Changed
    }

    fn move_to(&mut self, place: Place) -> ComposerOutcome {
        if place == self.buffer.caret() {
            return ComposerOutcome::Nothing;
        }
        self.buffer.move_to(place);
        ComposerOutcome::Moved
    }

    fn move_row(&mut self, direction: Direction) -> ComposerOutcome {
        let (row, column) = self.caret();
        let target = match direction {
            Direction::Older => row.checked_sub(1),
            Direction::Newer => Some(row + 1).filter(|row| *row < self.row_count()),
        };
        let Some(target) = target else {
            return ComposerOutcome::AskHistory(direction);
        };
        let goal = *self.goal_column.get_or_insert(column);
        let place = self.layout.place(self.buffer.lines(), &self.chips, target, goal);
        self.buffer.move_to(place);
        ComposerOutcome::Moved
    }

    /// Replaces the chip before the caret, or else the last one, by its text.
    fn expand_chip(&mut self, caret: Place) -> ComposerOutcome {
        let Some((start, letter)) = self.find_chip(caret) else { return ComposerOutcome::Nothing };
        let Some(content) = self.chips.content(letter).map(str::to_owned) else {
            return ComposerOutcome::Nothing;
        };
        let text = self.chips.escape(&content);
        if text.len() > self.buffer.room() || text == letter.to_string() {
            return ComposerOutcome::Refused(CHIP_TOO_LONG);
        }
        let end = Place { byte: start.byte + letter.len_utf8(), ..start };
        self.buffer.remove(start, end, Joins::Alone);
        self.insert_raw(&text, Joins::Last)
    }

    fn find_chip(&self, caret: Place) -> Option<(Place, char)> {
        let found = self.buffer.lines().iter().enumerate().flat_map(|(line, text)| {
            text.char_indices()
                .filter(|(_, letter)| chips::is_chip(*letter))
                .map(move |(byte, letter)| (Place { line, byte }, letter))
        });
        let chips: Vec<(Place, char)> = found.collect();
        chips.iter().rfind(|(place, _)| *place < caret).or(chips.last()).copied()
    }

    /// After each change of the text. What was recalled and then edited is a draft of its own.
    fn changed(&mut self) {
        self.history.stop();
        self.stash = None;
        self.revision += 1;
        self.measure();
    }

    fn measure(&mut self) {
        self.layout = Layout::new(self.buffer.lines(), &self.chips, self.width);
    }
}
