//! The transcript pane.
//!
//! Two steps: [`prepare`] lays out the cells that will be seen and turns recorded moves into an anchor;
//! [`draw`] only reads. Invariant: nothing here walks all cells; work starts at the anchor or at the end
//! and stops when the area is full. Empty rows between cells belong to the cell above them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::cache::{Rows, ViewCache};
use super::theme::{Role, Theme};
use crate::app::cells::cell::CellContent;
use crate::app::cells::{Cell, CellId, Cells};
use crate::app::scroll::{Anchor, Pending, Place, Scroll};

/// Says that text has come below the view.
pub const NEW_BELOW: &str = " ↓ new ";

/// What [`draw`] needs, and the scroll position after the recorded moves.
#[derive(Debug, Clone)]
pub struct PreparedTranscript {
    area: Rect,
    parts: Vec<Part>,
    scroll: Scroll,
    has_new_below: bool,
    mark: ratatui::style::Style,
}

#[derive(Debug, Clone)]
struct Part {
    cell: CellId,
    rows: Rows,
    first: u32,
    y: u16,
}

impl PreparedTranscript {
    /// The resolved scroll position, for the state to keep.
    pub fn scroll(&self) -> Scroll {
        self.scroll
    }
    pub fn has_new_below(&self) -> bool {
        self.has_new_below
    }
    /// The cells on the screen, from the top.
    pub fn visible(&self) -> impl Iterator<Item = CellId> {
        self.parts.iter().map(|part| part.cell)
    }
}

/// A row of the transcript: the index of its cell, and the row in it.
type Spot = (usize, u32);

/// Lays out what the area shows.
pub fn prepare(
    cells: &Cells,
    scroll: &Scroll,
    cache: &mut ViewCache,
    area: Rect,
    theme: &Theme,
) -> PreparedTranscript {
    cache.begin_frame();
    let mut prepared = PreparedTranscript {
        area,
        parts: Vec::new(),
        scroll: *scroll,
        has_new_below: false,
        mark: theme.style(Role::Accent),
    };
    if area.is_empty() || cells.is_empty() {
        return prepared;
    }
    let mut view = View { cells, slice: cells.as_slice(), cache, width: area.width, theme };
    let (top, moved) = view.top(scroll, area.height);
    let fill = view.fill(top, area.height);
    let last = cells.as_slice().last().map(|cell| (cell.id(), cell.revision()));
    if fill.reaches_end {
        let follows = moved || scroll.anchor() == Anchor::End;
        let kept = Scroll::resolved(scroll.anchor(), scroll.place(), last);
        prepared.scroll = if follows { Scroll::resolved(Anchor::End, None, last) } else { kept };
        let is_short = fill.used < area.height && top != (0, 0);
        prepared.parts = if is_short {
            let top = view.end_top(u32::from(area.height));
            view.fill(top, area.height).parts
        } else {
            fill.parts
        };
    } else {
        let seen = scroll.seen().or(last);
        prepared.has_new_below = seen != last;
        prepared.scroll = view.resolved(scroll, top, moved, seen);
        prepared.parts = fill.parts;
    }
    cache.end_frame();
    prepared
}

/// Draws what was prepared, as far as the buffer reaches.
pub fn draw(prepared: &PreparedTranscript, buffer: &mut Buffer) {
    let area = prepared.area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let offset = area.y - prepared.area.y;
    for part in &prepared.parts {
        for (row, line) in part.rows.from(part.first).enumerate() {
            let y = usize::from(part.y) + row;
            if y >= usize::from(offset + area.height) {
                break;
            }
            if y >= usize::from(offset) {
                buffer.set_line(area.x, prepared.area.y + y as u16, line, area.width);
            }
        }
    }
    let columns = NEW_BELOW.chars().count() as u16;
    if prepared.has_new_below && area.width > columns {
        let mark = Line::styled(NEW_BELOW, prepared.mark);
        buffer.set_line(area.right() - columns, area.bottom() - 1, &mark, columns);
    }
}

struct Fill {
    parts: Vec<Part>,
    used: u16,
    reaches_end: bool,
}

struct View<'a> {
    cells: &'a Cells,
    slice: &'a [Cell],
    cache: &'a mut ViewCache,
    width: u16,
    theme: &'a Theme,
}

impl View<'_> {
    /// Rows of a cell with the empty row below it.
    fn block(&mut self, index: usize) -> u32 {
        match self.cache.height(&self.slice[index], self.width, self.theme) {
            0 => 0,
            rows => rows + self.gap(index),
        }
    }

    fn gap(&self, index: usize) -> u32 {
        let next = self.slice.get(index + 1).map(Cell::content);
        match (self.slice[index].content(), next) {
            (_, None)
            | (CellContent::Tool(_), Some(CellContent::Tool(_)))
            | (CellContent::Notice { .. }, Some(CellContent::Notice { .. })) => 0,
            _ => 1,
        }
    }

    /// Returns the first row of the view, and whether the person moved it.
    fn top(&mut self, scroll: &Scroll, height: u16) -> (Spot, bool) {
        let (rows, pages) = match scroll.pending() {
            Pending::Home => return ((0, 0), true),
            Pending::Nothing => (0, 0),
            Pending::By { rows, pages } => (rows, pages),
        };
        // One row of the last page stays, so that the eye finds its place.
        let page = i64::from(height.saturating_sub(1).max(1));
        let by = i64::from(rows) + i64::from(pages) * page;
        let top = match scroll.anchor() {
            Anchor::End => self.end_top(u32::from(height)),
            Anchor::At { cell, row } => self.anchored(cell, row, scroll.place()),
        };
        let distance = u32::try_from(by.unsigned_abs()).unwrap_or(u32::MAX);
        let top = match by {
            0 => top,
            ..0 => self.up(top, distance),
            _ => self.down(top, distance),
        };
        (top, by != 0)
    }

    /// Returns where an anchor is now. In another width the row is found by the text that precedes it.
    fn anchored(&mut self, cell: CellId, row: u32, place: Option<Place>) -> Spot {
        let Some(index) = self.cells.index_of(cell) else {
            // The cell is gone: the next one that is left.
            let index = self.slice.partition_point(|known| known.id() < cell);
            return (index.min(self.slice.len() - 1), 0);
        };
        let row = match place {
            Some(place) if place.width != self.width => self.row_after(index, place.chars),
            _ => row,
        };
        (index, row.min(self.block(index).saturating_sub(1)))
    }

    fn row_after(&mut self, index: usize, chars: u32) -> u32 {
        let rows = self.cache.rows(&self.slice[index], self.width, self.theme);
        let mut before = 0;
        for (row, line) in rows.from(0).enumerate() {
            before += visible_chars(line);
            if before > chars {
                return row as u32;
            }
        }
        rows.height()
    }

    fn chars_before(&mut self, (index, row): Spot) -> u32 {
        let rows = self.cache.rows(&self.slice[index], self.width, self.theme);
        rows.from(0).take(row as usize).map(visible_chars).sum()
    }

    /// Returns the first row of the last `height` rows.
    fn end_top(&mut self, height: u32) -> Spot {
        let mut missing = height;
        for index in (0..self.slice.len()).rev() {
            let block = self.block(index);
            if block >= missing {
                return (index, block - missing);
            }
            missing -= block;
        }
        (0, 0)
    }

    fn up(&mut self, (mut index, row): Spot, rows: u32) -> Spot {
        if rows <= row {
            return (index, row - rows);
        }
        let mut missing = rows - row;
        while index > 0 {
            index -= 1;
            let block = self.block(index);
            if block >= missing {
                return (index, block - missing);
            }
            missing -= block;
        }
        (0, 0)
    }

    fn down(&mut self, (mut index, row): Spot, rows: u32) -> Spot {
        let mut row = row.saturating_add(rows);
        loop {
            let block = self.block(index);
            if row < block {
                return (index, row);
            }
            if index + 1 == self.slice.len() {
                return (index, block.saturating_sub(1));
            }
            row -= block;
            index += 1;
        }
    }

    /// Takes rows from `top` on until the height is full or the cells end.
    fn fill(&mut self, (top, first): Spot, height: u16) -> Fill {
        let (mut used, mut parts, mut first) = (0_u32, Vec::new(), first);
        let height = u32::from(height);
        for index in top..self.slice.len() {
            if used >= height {
                return Fill { parts, used: height as u16, reaches_end: false };
            }
            let cell = &self.slice[index];
            let rows = self.cache.rows(cell, self.width, self.theme);
            let block = if rows.height() == 0 { 0 } else { rows.height() + self.gap(index) };
            let taken = block.saturating_sub(first);
            if taken > 0 {
                parts.push(Part { cell: cell.id(), rows, first, y: used as u16 });
            }
            used += taken;
            first = 0;
        }
        Fill { parts, used: used.min(height) as u16, reaches_end: used <= height }
    }

    /// Returns the scroll position to keep. Its place in the text changes only when the person moves, so
    /// that resizing there and back returns to the same row.
    fn resolved(
        &mut self,
        scroll: &Scroll,
        top: Spot,
        moved: bool,
        seen: Option<(CellId, u32)>,
    ) -> Scroll {
        if !moved && scroll.anchor() == Anchor::End {
            return Scroll::resolved(Anchor::End, None, seen);
        }
        let anchor = Anchor::At { cell: self.slice[top.0].id(), row: top.1 };
        let place = match scroll.place() {
            Some(place) if !moved => Place { width: self.width, ..place },
            _ => Place { width: self.width, chars: self.chars_before(top) },
        };
        Scroll::resolved(anchor, Some(place), seen)
    }
}

fn visible_chars(line: &Line<'static>) -> u32 {
    let of_span = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count() as u32;
    line.spans.iter().map(|span| of_span(&span.content)).sum()
}
