//! What was sent, kept for each workspace: `$CRYSTAL_HOME/history`, one JSON object a line.
//!
//! Invariant: one entry is one write of one line, so that two processes do not mix; a line that cannot be
//! read is passed over.
#![expect(clippy::disallowed_methods, reason = "the edge reads and writes files")]

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Entries recalled for a workspace: more is not reached with Up, and Ctrl+R stays quick.
const ENTRIES_MAX: usize = 1_000;

/// Bytes of the file that are looked at, from its end.
const TAIL_BYTES: u64 = 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Entry {
    workspace: String,
    text: String,
}

/// The newest entries of a workspace, oldest first. A file that is not there or unreadable is an empty one.
pub fn read(file: &Path, workspace: &Path) -> Vec<String> {
    let Ok(bytes) = tail(file) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let here = workspace.to_string_lossy();
    let mut entries: Vec<String> = text
        .lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Entry>(line).ok())
        .filter(|entry| entry.workspace == here)
        .map(|entry| entry.text)
        .take(ENTRIES_MAX)
        .collect();
    entries.reverse();
    entries
}

/// Appends an entry.
pub fn append(file: &Path, workspace: &Path, text: String) -> io::Result<()> {
    let entry = Entry { workspace: workspace.to_string_lossy().into_owned(), text };
    let mut line = serde_json::to_vec(&entry)?;
    line.push(b'\n');
    OpenOptions::new().create(true).append(true).mode(0o600).open(file)?.write_all(&line)
}

fn tail(file: &Path) -> io::Result<Vec<u8>> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = std::fs::File::open(file)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    Ok(tail)
}
