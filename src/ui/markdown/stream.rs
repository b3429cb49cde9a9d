//! The layout of a text that grows: what is finished is kept, only the rest is laid out.
//!
//! Invariant: the lines equal `render` of the whole text at every step.

use ratatui::text::Line;

use super::code::{self, CodeLayout};
use super::segment::{self, Fence, Kind};
use super::{Definitions, Look, append, inline, part_lines};
use crate::ui::highlight::Highlighter;
use crate::ui::theme::Theme;

/// Bytes before the frozen end that are compared to notice a text that was replaced.
const CHECK_BYTES: usize = 64;

/// Lines of a growing text.
///
/// Each text must begin with the one before. One that is shorter than what is frozen, or differs right before
/// its end, is noticed and laid out anew; for any other replacement make a new layout.
#[derive(Debug)]
pub struct StreamLayout {
    width: u16,
    theme: Theme,
    generation: u64,
    lines: Vec<Line<'static>>,
    frozen: Frozen,
    /// All definitions that `lines` was laid out with.
    definitions: Definitions,
    restarts: u64,
}

#[derive(Debug, Default)]
struct Frozen {
    bytes: usize,
    rows: usize,
    check: Vec<u8>,
    definitions: Definitions,
    open: Option<OpenFence>,
}

/// A fenced block without its end: the state after its complete lines.
#[derive(Debug)]
struct OpenFence {
    fence: Fence,
    layout: CodeLayout,
    has_rows: bool,
}

impl StreamLayout {
    pub fn new(width: u16, theme: Theme) -> Self {
        Self {
            width: width.max(1),
            theme,
            generation: Highlighter::generation(),
            lines: Vec::new(),
            frozen: Frozen::default(),
            definitions: Definitions::new(),
            restarts: 0,
        }
    }

    /// All lines, as of the last update.
    pub fn lines(&self) -> &[Line<'static>] {
        &self.lines
    }

    /// How many lines from the top stay as they are, until the next restart.
    pub fn frozen_rows(&self) -> usize {
        self.frozen.rows
    }

    /// How often all lines were laid out again.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Lays out what is new in `text` and returns all lines.
    pub fn update(&mut self, text: &str) -> &[Line<'static>] {
        let generation = Highlighter::generation();
        if generation != self.generation || !self.frozen.is_beginning_of(text) {
            self.generation = generation;
            self.restart();
        }
        self.lines.truncate(self.frozen.rows);
        if self.frozen.open.is_some() {
            self.continue_fence(text);
        }
        if self.frozen.open.is_none() {
            self.lay_out_rest(text);
        }
        &self.lines
    }

    fn restart(&mut self) {
        self.frozen = Frozen::default();
        self.lines.clear();
        self.restarts += 1;
    }

    fn lay_out_rest(&mut self, text: &str) {
        let mut base = self.frozen.bytes;
        let mut parts = segment::segments(&text[base..]);
        let mut definitions = self.frozen.definitions.clone();
        for part in parts.iter().filter(|part| part.kind == Kind::Markdown) {
            definitions.extend(inline::definitions(&text[base + part.start..base + part.end]));
        }
        if definitions != self.definitions {
            // A link in a frozen block may now have an address.
            self.definitions = definitions;
            if base > 0 {
                self.restart();
                base = 0;
                parts = segment::segments(text);
            }
        }
        for part in parts {
            let source = &text[base + part.start..base + part.end];
            match &part.kind {
                Kind::Fence(fence) if !part.confirmed => {
                    self.open_fence(text, base + part.start, fence);
                    return;
                }
                kind => {
                    let look = Look { width: self.width, theme: &self.theme };
                    append(&mut self.lines, part_lines(source, kind, &self.definitions, look));
                    if part.confirmed {
                        if part.kind == Kind::Markdown {
                            self.frozen.definitions.extend(inline::definitions(source));
                        }
                        self.frozen.move_to(text, base + part.end, self.lines.len());
                    }
                }
            }
        }
    }

    fn open_fence(&mut self, text: &str, start: usize, fence: &Fence) {
        let source = &text[start..];
        let head = source.len() - code::body(source).map(str::len).sum::<usize>();
        if !source[..head].ends_with('\n') {
            return;
        }
        self.frozen.move_to(text, start + head, self.lines.len());
        let layout = CodeLayout::new(fence.language());
        self.frozen.open = Some(OpenFence { fence: fence.clone(), layout, has_rows: false });
        self.continue_fence(text);
    }

    /// Adds the lines of the open block; it is over after its closing fence.
    fn continue_fence(&mut self, text: &str) {
        let Some(mut open) = self.frozen.open.take() else { return };
        let look = Look { width: self.width, theme: &self.theme };
        let mut at = self.frozen.bytes;
        for line in text[at..].split_inclusive('\n') {
            let is_complete = line.ends_with('\n');
            let is_end = open.fence.is_closed_by(line);
            let mut rows = Vec::new();
            if !is_end {
                let content = code::content(line, &open.fence);
                if is_complete {
                    open.layout.line(&mut rows, content, look);
                } else {
                    open.layout.clone().line(&mut rows, content, look);
                }
                if open.has_rows {
                    self.lines.extend(rows);
                } else {
                    append(&mut self.lines, rows);
                    open.has_rows = is_complete;
                }
            }
            if !is_complete {
                break;
            }
            at += line.len();
            self.frozen.move_to(text, at, self.lines.len());
            if is_end {
                return;
            }
        }
        self.frozen.open = Some(open);
    }
}

impl Frozen {
    fn move_to(&mut self, text: &str, bytes: usize, rows: usize) {
        self.bytes = bytes;
        self.rows = rows;
        self.check.clear();
        self.check.extend_from_slice(&text.as_bytes()[bytes.saturating_sub(CHECK_BYTES)..bytes]);
    }

    fn is_beginning_of(&self, text: &str) -> bool {
        text.is_char_boundary(self.bytes)
            && text.as_bytes().get(..self.bytes).is_some_and(|bytes| bytes.ends_with(&self.check))
    }
}
