//! The wanted lines of a stream of bytes, in bounded memory.

use std::fmt::Write as _;

use super::super::Refusal;
use super::super::text::BOM;
use crate::base::limits;
use crate::base::text::cut;
use crate::conversation::tool_call::ToolOutcome;

/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 2_000;

/// Bytes of the answer that notes and the last line may need.
const ROOM: usize = 1_000;

pub(super) struct Window {
    first: u64,
    count: u64,
    text: String,
    /// Lines in `text`.
    shown: u64,
    /// Lines that ended so far.
    ended: u64,
    line: Vec<u8>,
    line_bytes: u64,
    full_at: Option<u64>,
    lines_cut: u64,
    crlf: u64,
    not_utf8: Option<u64>,
    has_bom: bool,
    notes: Vec<String>,
}

impl Window {
    pub(super) fn new(first: u64, count: u64) -> Self {
        Self {
            first,
            count,
            text: String::new(),
            shown: 0,
            ended: 0,
            line: Vec::new(),
            line_bytes: 0,
            full_at: None,
            lines_cut: 0,
            crlf: 0,
            not_utf8: None,
            has_bom: false,
            notes: Vec::new(),
        }
    }

    /// Whether no further line can be shown.
    pub(super) fn is_full(&self) -> bool {
        self.full_at.is_some()
    }

    pub(super) fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (body, is_end) = match part.strip_suffix(b"\n") {
                Some(body) => (body, true),
                None => (part, false),
            };
            self.line_bytes += body.len() as u64;
            let room = (LINE_BYTES_MAX + 8).saturating_sub(self.line.len());
            self.line.extend_from_slice(&body[..room.min(body.len())]);
            if is_end {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        self.ended += 1;
        let mut line = std::mem::take(&mut self.line);
        let is_cut = self.line_bytes > line.len() as u64;
        self.line_bytes = 0;
        if self.ended == 1 && line.starts_with(BOM) {
            self.has_bom = true;
            line.drain(..BOM.len());
        }
        if !is_cut && line.last() == Some(&b'\r') {
            line.pop();
            self.crlf += 1;
        }
        if self.ended < self.first || self.is_full() {
            return;
        }
        self.show(&line, is_cut);
    }

    fn show(&mut self, line: &[u8], is_cut: bool) {
        let line_text = String::from_utf8_lossy(line);
        let end = cut::floor_boundary(&line_text, LINE_BYTES_MAX);
        let is_cut = is_cut || end < line_text.len();
        let room = limits::RESULT_BYTES_MAX - ROOM;
        if self.shown == self.count || (self.shown > 0 && self.text.len() + end + 16 > room) {
            self.full_at = Some(self.ended);
            return;
        }
        // The cut may part a character that is whole in the file.
        if self.not_utf8.is_none() && !is_cut && std::str::from_utf8(line).is_err() {
            self.not_utf8 = Some(self.ended);
        }
        let _ = write!(self.text, "{:>6}\t{}", self.ended, &line_text[..end]);
        if is_cut {
            self.lines_cut += 1;
            self.text.push_str(" [… line cut]");
        }
        self.text.push('\n');
        self.shown += 1;
    }

    pub(super) fn finish(mut self, shown: &str) -> Result<ToolOutcome, Refusal> {
        let ends_open = self.line_bytes > 0;
        if ends_open {
            self.end_line();
        }
        let total = self.ended;
        if total == 0 {
            return Ok(ToolOutcome::ok("(the file is empty)").with_summary("empty"));
        }
        if self.shown == 0 {
            return Err(Refusal::new(format!(
                "{shown}: has {total} lines; line {} is past its end.",
                self.first
            )));
        }
        if let Some(next) = self.full_at {
            self.notes
                .push(format!("goes on; read from offset {next} ({total} lines seen in all)"));
        } else if ends_open {
            self.notes.push("no newline at the end".to_owned());
        }
        self.note_encoding(total);
        if !self.notes.is_empty() {
            let _ = write!(self.text, "[{}]", self.notes.join("; "));
        }
        Ok(ToolOutcome::ok(self.text)
            .with_summary(crate::tool::text::counted(self.shown, "line", "lines")))
    }

    fn note_encoding(&mut self, total: u64) {
        if let Some(line) = self.not_utf8 {
            self.notes.push(format!(
                "not UTF-8 (maybe Latin-1): such bytes are shown as \u{fffd}, first at line {line}; `edit` can change \
                 text around them and keeps them, `write` is refused"
            ));
        }
        if self.has_bom {
            self.notes
                .push("begins with a byte order mark, which `edit` and `write` keep".to_owned());
        }
        if self.crlf > 0 {
            let which = if self.crlf + 1 >= total { "all" } else { "some" };
            self.notes.push(format!(
                "{which} lines end in CRLF; `edit` keeps them, give `old` with plain newlines"
            ));
        }
        if self.lines_cut > 0 {
            self.notes.push(format!("{} long lines cut", self.lines_cut));
        }
    }
}
