//! A panel to read: help, status.

use crate::app::action::Scroll;

/// Rows that a page moves by.
const PAGE_ROWS: usize = 10;

/// Titled rows that scroll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    pub title: String,
    pub rows: Vec<InfoRow>,
    /// The first row shown; the view keeps it within what there is.
    pub top: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfoRow {
    Heading(String),
    /// A name and what it is.
    Pair(String, String),
    Text(String),
}

impl Info {
    pub fn new(title: impl Into<String>, rows: Vec<InfoRow>) -> Self {
        Self { title: title.into(), rows, top: 0 }
    }

    pub fn scroll(&mut self, scroll: Scroll) {
        let last = self.rows.len().saturating_sub(1);
        self.top = match scroll {
            Scroll::Up => self.top.saturating_sub(1),
            Scroll::Down => self.top.saturating_add(1),
            Scroll::PageUp => self.top.saturating_sub(PAGE_ROWS),
            Scroll::PageDown => self.top.saturating_add(PAGE_ROWS),
            Scroll::Start => 0,
            Scroll::End => last,
        }
        .min(last);
    }
}
