//! Laid-out cells.
//!
//! Invariants: an entry is used only if revision, width, theme and fold are those asked for, so old content
//! cannot show; dropping any entry, or all, changes nothing that is seen. Ids are unique within one
//! transcript only: one cache a transcript.

use std::collections::HashMap;
use std::sync::Arc;

use ratatui::text::Line;

use super::cell;
use super::growing::Growing;
use super::highlight::Highlighter;
use super::theme::Theme;
use crate::app::cells::cell::{CellContent, Fold, TextState};
use crate::app::cells::{Cell, CellId};

/// Bytes of rows that are kept: several screens of any size, far below what a long session would need.
pub const ROWS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What a span costs beside its text: itself, and the allocator's share.
const SPAN_BYTES: usize = 72;

/// The rows of one cell; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    chunks: Vec<Arc<[Line<'static>]>>,
    height: u32,
    bytes: usize,
}

impl Rows {
    pub(super) fn push(&mut self, chunk: Arc<[Line<'static>]>) {
        self.height += chunk.len() as u32;
        self.bytes += chunk.iter().map(bytes_of).sum::<usize>();
        self.chunks.push(chunk);
    }

    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the rows from an index on, without walking those before.
    pub fn from(&self, first: u32) -> impl Iterator<Item = &Line<'static>> {
        let mut skip = first as usize;
        let mut chunks = self.chunks.iter();
        let mut start: &[Line<'static>] = &[];
        for chunk in chunks.by_ref() {
            if skip < chunk.len() {
                start = &chunk[skip..];
                break;
            }
            skip -= chunk.len();
        }
        start.iter().chain(chunks.flat_map(|chunk| chunk.iter()))
    }
}

fn bytes_of(line: &Line<'static>) -> usize {
    SPAN_BYTES + line.spans.iter().map(|span| SPAN_BYTES + span.content.len()).sum::<usize>()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    revision: u32,
    width: u16,
    theme: u64,
    fold: Fold,
}

#[derive(Debug)]
struct Entry {
    key: Key,
    rows: Rows,
    bytes: usize,
    /// The frame that used it last.
    frame: u64,
}

/// Rows of the cells near the view, heights of all cells that were laid out.
#[derive(Debug)]
pub struct ViewCache {
    entries: HashMap<CellId, Entry>,
    heights: HashMap<CellId, (Key, u32)>,
    /// The text that streams.
    growing: Option<Growing>,
    bytes: usize,
    bytes_max: usize,
    frame: u64,
    /// Of the syntaxes: code that was laid out before they were loaded is plain.
    generation: u64,
    layouts: u64,
}

impl Default for ViewCache {
    fn default() -> Self {
        Self::with_budget(ROWS_BYTES_MAX)
    }
}

impl ViewCache {
    pub fn with_budget(bytes_max: usize) -> Self {
        Self {
            entries: HashMap::new(),
            heights: HashMap::new(),
            growing: None,
            bytes: 0,
            bytes_max,
            frame: 0,
            generation: Highlighter::generation(),
            layouts: 0,
        }
    }

    /// How many cells have been laid out so far; for tests.
    pub fn layouts(&self) -> u64 {
        self.layouts
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        *self = Self { layouts: self.layouts, ..Self::with_budget(self.bytes_max) };
    }

    /// Begins a frame: what is used from here on stays until the next one.
    pub fn begin_frame(&mut self) {
        if self.generation != Highlighter::generation() {
            self.clear();
        }
        self.frame += 1;
    }

    /// Ends a frame: drops what is not in use, longest unused first, until the budget holds.
    pub fn end_frame(&mut self) {
        if self.bytes <= self.bytes_max {
            return;
        }
        let mut unused: Vec<(u64, CellId)> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.frame < self.frame)
            .map(|(id, entry)| (entry.frame, *id))
            .collect();
        unused.sort_unstable();
        for (_, id) in unused {
            // Below the budget by a quarter, so that not every frame has to sort.
            if self.bytes <= self.bytes_max / 4 * 3 {
                break;
            }
            if let Some(entry) = self.entries.remove(&id) {
                self.bytes -= entry.bytes;
            }
        }
    }

    /// Returns the rows of a cell, laid out now if they are not here.
    pub fn rows(&mut self, cell: &Cell, width: u16, theme: &Theme) -> Rows {
        let key = key_of(cell, width, theme);
        if let Some(entry) = self.entries.get_mut(&cell.id())
            && entry.key == key
        {
            entry.frame = self.frame;
            return entry.rows.clone();
        }
        let rows = self.lay_out(cell, width, theme);
        let bytes = rows.bytes;
        let entry = Entry { key, rows: rows.clone(), bytes, frame: self.frame };
        let old = self.entries.insert(cell.id(), entry);
        self.bytes = self.bytes + bytes - old.map_or(0, |old| old.bytes);
        self.heights.insert(cell.id(), (key, rows.height()));
        rows
    }

    /// Returns the number of rows of a cell.
    pub fn height(&mut self, cell: &Cell, width: u16, theme: &Theme) -> u32 {
        match self.heights.get(&cell.id()) {
            Some((key, height)) if *key == key_of(cell, width, theme) => *height,
            _ => self.rows(cell, width, theme).height(),
        }
    }

    fn lay_out(&mut self, cell: &Cell, width: u16, theme: &Theme) -> Rows {
        self.layouts += 1;
        if let CellContent::Assistant { text, state } = cell.content()
            && width > 0
            && (*state == TextState::Streaming || self.was_streaming(cell.id(), width, theme))
        {
            return self.lay_out_streaming(cell.id(), text, *state, (width, theme));
        }
        let mut rows = Rows::default();
        rows.push(cell::render(cell.content(), cell.fold(), width, theme).into());
        rows
    }

    fn was_streaming(&self, id: CellId, width: u16, theme: &Theme) -> bool {
        self.growing.as_ref().is_some_and(|growing| growing.fits(id, width, theme))
    }

    /// Lays out what is new. The end of a text is only its last step.
    fn lay_out_streaming(
        &mut self,
        id: CellId,
        text: &str,
        state: TextState,
        (width, theme): (u16, &Theme),
    ) -> Rows {
        let mut growing = self
            .growing
            .take()
            .filter(|growing| growing.fits(id, width, theme))
            .unwrap_or_else(|| Growing::new(id, width, theme));
        let mut rows = growing.rows(text);
        if state == TextState::Streaming {
            self.growing = Some(growing);
        } else if let Some(line) = cell::interrupted(state, width, theme) {
            rows.push(vec![line].into());
        }
        rows
    }
}

fn key_of(cell: &Cell, width: u16, theme: &Theme) -> Key {
    Key { revision: cell.revision(), width, theme: theme.id, fold: cell.fold() }
}
