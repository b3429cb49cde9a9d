//! Code blocks: a left margin, syntax colours, long lines wrapped softly.

use ratatui::text::{Line, Span};

use super::Look;
use super::segment::Fence;
use crate::ui::flow;
use crate::ui::highlight::LineHighlighter;
use crate::ui::theme::Role;

/// Columns left of code.
const MARGIN: u16 = 2;
/// A narrower screen has no columns to give away.
const MARGIN_WIDTH_MIN: u16 = 8;

/// Lays out code line by line; what it needs of the lines before is kept in it.
#[derive(Debug, Clone)]
pub struct CodeLayout {
    syntax: Option<LineHighlighter>,
}

impl CodeLayout {
    pub fn new(language: &str) -> Self {
        Self { syntax: LineHighlighter::new(language) }
    }

    /// Adds the rows of the next line.
    pub fn line(&mut self, rows: &mut Vec<Line<'static>>, text: &str, look: Look<'_>) {
        let line = match &mut self.syntax {
            Some(syntax) => syntax.line(text, look.theme),
            None => Line::from(Span::styled(text.to_owned(), look.theme.style(Role::Code))),
        };
        if text.is_empty() {
            rows.push(Line::default());
            return;
        }
        let margin = if look.width >= MARGIN_WIDTH_MIN { MARGIN } else { 0 };
        for mut row in flow::wrap(&line, look.width - margin, 0) {
            if margin > 0 {
                row.spans.insert(0, Span::raw(" ".repeat(usize::from(margin))));
            }
            rows.push(row);
        }
    }
}

/// Lays out a block by its text alone.
pub fn lines(code: &str, language: &str, look: Look<'_>) -> Vec<Line<'static>> {
    let mut layout = CodeLayout::new(language);
    let mut rows = Vec::new();
    for line in code.strip_suffix('\n').unwrap_or(code).split('\n').filter(|_| !code.is_empty()) {
        layout.line(&mut rows, line, look);
    }
    rows
}

/// Lays out a fenced block with its fences.
pub fn fence_lines(source: &str, fence: &Fence, look: Look<'_>) -> Vec<Line<'static>> {
    let mut layout = CodeLayout::new(fence.language());
    let mut rows = Vec::new();
    for line in body(source) {
        if fence.is_closed_by(line) {
            break;
        }
        layout.line(&mut rows, content(line, fence), look);
    }
    rows
}

/// The lines after the opening fence, with their newlines.
pub fn body(source: &str) -> impl Iterator<Item = &str> {
    source.split_inclusive('\n').skip_while(|line| line.trim().is_empty()).skip(1)
}

/// A line without its newline and without the indent of the fence.
pub fn content<'a>(line: &'a str, fence: &Fence) -> &'a str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let spaces = line.bytes().take(fence.indent).take_while(|byte| *byte == b' ').count();
    &line[spaces..]
}
