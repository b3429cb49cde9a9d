//! Laid-out cells.
//!
//! Invariants: an entry is used only if revision, width, theme and fold are those asked for, so old content
//! cannot show; dropping any entry, or all, changes nothing that is seen. Ids are unique within one
//! transcript only: one cache a transcript.

use std::collections::HashMap;
use std::sync::Arc;

use ratatui::text::Line;

use super::cell;
use super::highlight::Highlighter;
use super::markdown;
use super::theme::Theme;
use crate::app::cells::cell::{CellContent, Fold, TextState};
use crate::app::cells::{Cell, CellId};
use crate::base::text::sanitize;

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
    fn push(&mut self, chunk: Arc<[Line<'static>]>) {
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

/// The part of a streaming text that further text cannot change, laid out.
#[derive(Debug)]
struct Frozen {
    cell: CellId,
    width: u16,
    theme: u64,
    text: String,
    rows: Rows,
}

/// Rows of the cells near the view, heights of all cells that were laid out.
#[derive(Debug)]
pub struct ViewCache {
    entries: HashMap<CellId, Entry>,
    heights: HashMap<CellId, (Key, u32)>,
    frozen: Option<Frozen>,
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
            frozen: None,
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
        if let CellContent::Assistant { text, state: TextState::Streaming } = cell.content()
            && width > 0
        {
            return self.lay_out_streaming(cell.id(), text, width, theme);
        }
        if self.frozen.as_ref().is_some_and(|frozen| frozen.cell == cell.id()) {
            self.frozen = None;
        }
        let mut rows = Rows::default();
        rows.push(cell::render(cell.content(), cell.fold(), width, theme).into());
        rows
    }

    /// Lays out only what follows the frozen part. Any doubt whether that still holds: all of it.
    fn lay_out_streaming(&mut self, id: CellId, text: &str, width: u16, theme: &Theme) -> Rows {
        let text = sanitize::clean_code(text);
        let mut frozen = self
            .frozen
            .take()
            .filter(|frozen| {
                (frozen.cell, frozen.width, frozen.theme) == (id, width, theme.id)
                    && text.starts_with(&frozen.text)
            })
            .unwrap_or_else(|| Frozen {
                cell: id,
                width,
                theme: theme.id,
                text: String::new(),
                rows: Rows::default(),
            });
        let open = &text[frozen.text.len()..];
        let stable = markdown::stable_prefix(open);
        if stable > 0 {
            add_block(&mut frozen.rows, markdown::render(&open[..stable], width, theme));
            frozen.text.push_str(&open[..stable]);
        }
        let mut rows = frozen.rows.clone();
        add_block(&mut rows, markdown::render(&open[stable..], width, theme));
        self.frozen = Some(frozen);
        rows
    }
}

/// Blocks stand apart by one empty row.
fn add_block(rows: &mut Rows, mut block: Vec<Line<'static>>) {
    if block.is_empty() {
        return;
    }
    if rows.height() > 0 {
        block.insert(0, Line::default());
    }
    rows.push(block.into());
}

fn key_of(cell: &Cell, width: u16, theme: &Theme) -> Key {
    Key { revision: cell.revision(), width, theme: theme.id, fold: cell.fold() }
}
