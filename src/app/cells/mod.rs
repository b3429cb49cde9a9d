//! The cells of one session, in order.
//!
//! Invariant: a cell's content changes only through [`Cells::edit`], which raises its revision; so a cache
//! keyed by (cell, revision, …) can never show old content.

pub mod cell;

use cell::{CellContent, Fold};

/// A cell's name: unique in the process, never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub u64);

/// A cell with its place in history.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    id: CellId,
    revision: u32,
    fold: Fold,
    content: CellContent,
}

impl Cell {
    pub fn id(&self) -> CellId {
        self.id
    }
    /// Grows with each change of the content.
    pub fn revision(&self) -> u32 {
        self.revision
    }
    pub fn fold(&self) -> Fold {
        self.fold
    }
    pub fn content(&self) -> &CellContent {
        &self.content
    }
}

/// The cells of one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    cells: Vec<Cell>,
    last_id: u64,
}

impl Cells {
    pub fn push(&mut self, content: CellContent) -> CellId {
        let fold = default_fold(&content);
        self.last_id += 1;
        let id = CellId(self.last_id);
        self.cells.push(Cell { id, revision: 0, fold, content });
        id
    }

    /// Changes a cell's content; does nothing for an id that is not here.
    pub fn edit(&mut self, id: CellId, change: impl FnOnce(&mut CellContent)) {
        // Edits meet the newest cells; searching from the end finds them at once.
        if let Some(cell) = self.cells.iter_mut().rev().find(|cell| cell.id == id) {
            change(&mut cell.content);
            cell.revision = cell.revision.wrapping_add(1);
        }
    }

    pub fn set_fold(&mut self, id: CellId, fold: Fold) {
        if let Some(cell) = self.cells.iter_mut().rev().find(|cell| cell.id == id) {
            cell.fold = fold;
        }
    }

    pub fn as_slice(&self) -> &[Cell] {
        &self.cells
    }
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
    pub fn get(&self, id: CellId) -> Option<&Cell> {
        self.index_of(id).map(|index| &self.cells[index])
    }

    /// Ids grow along the list, so a cell is found by halving.
    pub fn index_of(&self, id: CellId) -> Option<usize> {
        self.cells.binary_search_by_key(&id, Cell::id).ok()
    }
}

fn default_fold(content: &CellContent) -> Fold {
    match content {
        CellContent::Reasoning { .. } | CellContent::Tool(_) => Fold::Folded,
        CellContent::User { .. }
        | CellContent::Assistant { .. }
        | CellContent::Notice { .. }
        | CellContent::ModeChange(_)
        | CellContent::Compacted { .. }
        | CellContent::Summary { .. } => Fold::Open,
    }
}
