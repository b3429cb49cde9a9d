//! One record ↔ one line.
//!
//! Invariants: a line has no newline inside; a line that cannot be read costs only itself; bytes after the
//! last newline are never taken for a line, but told apart ([`Torn`]).

use super::record::Record;

/// Bytes of a line that are read into memory; a longer one is damage (a record holds at most about 1 MB
/// of text, written with escapes).
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Something that was read only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A line of the archive, from 1, was skipped. `offset` is its first byte.
    DamagedLine { line: u64, offset: u64, why: String },
    /// The archive ends in a record that was not written to its end.
    TornLine { offset: u64 },
    /// The snapshot could not be read, and the session was rebuilt from its archive.
    DamagedSnapshot { why: String },
    /// The archive is gone: earlier messages that were condensed cannot be shown.
    MissingArchive,
    /// The archive is shorter than the snapshot says.
    ShortArchive { bytes: u64, expected: u64 },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DamagedLine { line, why, .. } => {
                write!(f, "the archive's line {line} is damaged and was skipped ({why})")
            }
            Self::TornLine { .. } => {
                f.write_str("the archive's last record is incomplete; it is kept beside it")
            }
            Self::DamagedSnapshot { why } => {
                write!(
                    f,
                    "the snapshot is damaged ({why}); the session was rebuilt from its archive"
                )
            }
            Self::MissingArchive => {
                f.write_str("the archive is missing; only what the model sees could be restored")
            }
            Self::ShortArchive { bytes, expected } => {
                write!(
                    f,
                    "the archive has {bytes} bytes of {expected}; the snapshot was used alone"
                )
            }
        }
    }
}

/// The bytes after the last newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn {
    /// Where they begin.
    pub offset: u64,
    /// They are a whole record that lacks only its newline: it is closed, not cut off.
    pub is_complete: bool,
}

/// A line of the archive.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// Its first byte.
    pub offset: u64,
    pub record: Result<Record, String>,
}

/// Returns the line of a record, with its newline.
pub fn encode(record: &Record) -> Vec<u8> {
    // A tree of strings and numbers always serialises; JSON escapes newlines in strings.
    let mut line = serde_json::to_vec(&record.to_value()).unwrap_or_default();
    line.push(b'\n');
    line
}

/// How many lines end in `bytes`.
pub fn newlines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

/// Reads one line without its newline; the error says what is wrong with it.
pub fn decode(line: &[u8]) -> Result<Record, String> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err("empty".to_owned());
    }
    if line.contains(&0) {
        return Err("zero bytes".to_owned());
    }
    let value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    Record::from_value(value)
}

/// Takes an archive's bytes in pieces and gives its lines.
#[derive(Debug)]
pub struct Decoder {
    pending: Vec<u8>,
    /// Where `pending` begins in the file, and the number of its line.
    offset: u64,
    number: u64,
    /// Bytes of the current line that were not kept because it is too long.
    skipped: u64,
}

impl Decoder {
    /// Starts at a line's first byte. `number` is that line's, from 1.
    pub fn at(offset: u64, number: u64) -> Self {
        Self { pending: Vec::new(), offset, number, skipped: 0 }
    }

    /// Takes the next bytes and hands out the lines that they complete.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            each(self.line(head));
        }
        self.keep(bytes);
    }

    /// Ends the archive. Returns what follows the last newline, with its record if it is whole.
    pub fn finish(self) -> Option<(Torn, Option<Record>)> {
        if self.pending.is_empty() && self.skipped == 0 {
            return None;
        }
        let record = if self.skipped == 0 { decode(&self.pending).ok() } else { None };
        Some((Torn { offset: self.offset, is_complete: record.is_some() }, record))
    }

    /// Where the last whole line ends.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    fn line(&mut self, end_of_line: &[u8]) -> Line {
        let (record, length) = if self.pending.is_empty() && self.skipped == 0 {
            (decode(end_of_line), end_of_line.len() as u64)
        } else {
            self.keep(end_of_line);
            let whole = std::mem::take(&mut self.pending);
            match std::mem::take(&mut self.skipped) {
                0 => (decode(&whole), whole.len() as u64),
                skipped => (Err("too long".to_owned()), skipped),
            }
        };
        let line = Line { number: self.number, offset: self.offset, record };
        self.offset += length + 1;
        self.number += 1;
        line
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skipped > 0 || self.pending.len() + bytes.len() > LINE_BYTES_MAX {
            self.skipped += (self.pending.len() + bytes.len()) as u64;
            self.pending = Vec::new();
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }
}
