//! Where the transcript pane looks.
//!
//! Invariant: moves are only recorded here; how far a row is from another is known when the cells are
//! laid out, so `ui::transcript::prepare` turns them into an anchor and hands back the resolved value.

use super::cells::CellId;

/// What the first row of the view holds on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The end of the transcript: the view follows new text.
    #[default]
    End,
    /// A row of a cell is at the top, whatever comes below.
    At { cell: CellId, row: u32 },
}

/// Moves that wait for the next layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pending {
    #[default]
    Nothing,
    /// To the first row.
    Home,
    /// Rows and pages; negative is up.
    By { rows: i32, pages: i32 },
}

/// The same place in text of another width: how many visible characters of the cell precede the top row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub width: u16,
    pub chars: u32,
}

/// The scroll position of one transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scroll {
    anchor: Anchor,
    pending: Pending,
    place: Option<Place>,
    /// The last cell and its revision when the end was last on the screen.
    seen: Option<(CellId, u32)>,
}

impl Scroll {
    /// Moves by rows; negative is up.
    pub fn lines(&mut self, rows: i32) {
        self.add(rows, 0);
    }

    /// Moves by pages; negative is up.
    pub fn pages(&mut self, pages: i32) {
        self.add(0, pages);
    }

    pub fn home(&mut self) {
        self.pending = Pending::Home;
    }

    pub fn end(&mut self) {
        *self = Self { seen: self.seen, ..Self::default() };
    }

    /// Puts the first row of a cell at the top.
    pub fn show(&mut self, cell: CellId) {
        *self = Self { anchor: Anchor::At { cell, row: 0 }, seen: self.seen, ..Self::default() };
    }

    pub fn anchor(&self) -> Anchor {
        self.anchor
    }
    pub fn pending(&self) -> Pending {
        self.pending
    }
    pub fn place(&self) -> Option<Place> {
        self.place
    }
    pub fn seen(&self) -> Option<(CellId, u32)> {
        self.seen
    }

    /// Returns whether the view follows new text.
    pub fn is_at_end(&self) -> bool {
        self.anchor == Anchor::End && self.pending == Pending::Nothing
    }

    /// Builds the resolved value; for the layout only.
    pub fn resolved(anchor: Anchor, place: Option<Place>, seen: Option<(CellId, u32)>) -> Self {
        Self { anchor, pending: Pending::Nothing, place, seen }
    }

    fn add(&mut self, rows: i32, pages: i32) {
        self.pending = match self.pending {
            Pending::Nothing => Pending::By { rows, pages },
            Pending::By { rows: r, pages: p } => {
                Pending::By { rows: r.saturating_add(rows), pages: p.saturating_add(pages) }
            }
            // From the first row only down is left.
            Pending::Home if rows < 0 || pages < 0 => Pending::Home,
            Pending::Home => Pending::By { rows, pages },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_add_up_until_the_next_layout() {
        let mut scroll = Scroll::default();
        scroll.lines(-3);
        scroll.lines(-3);
        scroll.pages(-1);
        assert_eq!(scroll.pending(), Pending::By { rows: -6, pages: -1 });
        assert!(!scroll.is_at_end());
        scroll.end();
        assert!(scroll.is_at_end());
    }
}
