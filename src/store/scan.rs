//! The sessions of a folder, from the beginnings of their files.
//!
//! Invariants: a file that cannot be read costs its own row and is counted; nothing is opened for
//! writing; a session that has only an archive is listed too, as it can be opened.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::home::{Home, SessionPaths};
use crate::base::id::SessionId;
use crate::base::time::Timestamp;
use crate::session::codec::Decoder;
use crate::session::head::{self, HEAD_BYTES, SnapshotHead};
use crate::session::record::Record;
use crate::session::replay::{Folded, Replay};
use crate::session::snapshot::{Snapshot, VERSION};
use crate::session::state::SessionState;

/// Bytes of a file whose head does not fit [`HEAD_BYTES`] (a very long path or title), or of an archive
/// without a snapshot, that a list reads.
const LONG_HEAD_BYTES: usize = 64 * 1024;

/// One session that can be listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub head: SnapshotHead,
}

impl Row {
    /// Saved by a newer version: listed, but cannot be opened.
    pub fn is_newer(&self) -> bool {
        self.head.version > VERSION
    }
}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Newest first.
    pub rows: Vec<Row>,
    /// Names of session files that could not be read, in order.
    pub unreadable: Vec<String>,
    /// Sessions without a message.
    pub empty: usize,
}

/// The names in the sessions folder that look like sessions; a missing folder has none. The list can be
/// read piece by piece with [`row`].
pub fn names(disk: &dyn Disk, home: &Home) -> Names {
    let mut names = Names::default();
    for name in disk.list(&home.sessions()).unwrap_or_default() {
        let Some(stem) = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json")) else {
            continue;
        };
        match stem.parse() {
            Ok(id) => {
                names.ids.insert(id);
            }
            Err(_) => names.foreign.push(name),
        }
    }
    names.foreign.sort_unstable();
    names
}

/// Session files by name.
#[derive(Debug, Clone, Default)]
pub struct Names {
    pub ids: BTreeSet<SessionId>,
    /// Named as session files are, but not by an id.
    pub foreign: Vec<String>,
}

/// Lists every session of the home, newest first.
pub fn scan(disk: &dyn Disk, home: &Home) -> Listing {
    let names = names(disk, home);
    let mut listing = Listing { unreadable: names.foreign, ..Listing::default() };
    // Ids begin with their time: the newest come first even before they are sorted.
    for id in names.ids.into_iter().rev() {
        match row(disk, home, id) {
            Found::Row(row) => listing.rows.push(*row),
            Found::Empty => listing.empty += 1,
            Found::Unreadable => listing.unreadable.push(format!("{id}.json")),
        }
    }
    listing
        .rows
        .sort_by(|a, b| b.head.updated_at.cmp(&a.head.updated_at).then(b.head.id.cmp(&a.head.id)));
    listing
}

/// What one session's files hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    Row(Box<Row>),
    Empty,
    Unreadable,
}

/// Reads one session's row.
pub fn row(disk: &dyn Disk, home: &Home, id: SessionId) -> Found {
    let paths = home.session(id);
    let head = snapshot_head(disk, &paths.snapshot()).or_else(|| archive_head(disk, &paths));
    match head {
        Some(head) if head.id != id => Found::Unreadable,
        Some(head) if is_empty(&head) => Found::Empty,
        Some(head) => Found::Row(Box::new(Row { head })),
        None => Found::Unreadable,
    }
}

/// A file from before the count existed has a preview.
fn is_empty(head: &SnapshotHead) -> bool {
    head.message_count == 0 && head.preview.is_empty() && head.version <= VERSION
}

/// The sessions of a workspace, by its resolved path, however each of them wrote it.
pub fn of_workspace(disk: &dyn Disk, listing: Listing, workspace: &Path) -> Listing {
    let resolve = |path: &Path| disk.resolve(path).unwrap_or_else(|_| path.to_owned());
    let wanted = resolve(workspace);
    let mut known: std::collections::HashMap<PathBuf, bool> = std::collections::HashMap::new();
    let mut rows = listing.rows;
    rows.retain(|row| {
        let path = &row.head.workspace;
        if let Some(is_wanted) = known.get(path) {
            return *is_wanted;
        }
        let is_wanted = *path == wanted || resolve(path) == wanted;
        known.insert(path.clone(), is_wanted);
        is_wanted
    });
    Listing { rows, ..listing }
}

fn snapshot_head(disk: &dyn Disk, path: &Path) -> Option<SnapshotHead> {
    let bytes = disk.read_at(path, 0, HEAD_BYTES).ok()?;
    head::head(&bytes).or_else(|| {
        let is_cut = bytes.len() == HEAD_BYTES;
        let more = if is_cut { disk.read_at(path, 0, LONG_HEAD_BYTES).ok()? } else { return None };
        head::head(&more)
    })
}

/// Makes a row from an archive without a readable snapshot: a session killed in its first turn.
fn archive_head(disk: &dyn Disk, paths: &SessionPaths) -> Option<SnapshotHead> {
    let path = paths.archive();
    let stat = disk.stat(&path).ok()?;
    let mut bytes_max = LONG_HEAD_BYTES;
    loop {
        let bytes = disk.read_at(&path, 0, bytes_max).ok()?;
        let is_whole = bytes.len() < bytes_max;
        let mut state = replay_beginning(paths.id, &bytes);
        // A first message may be longer than any beginning: then more is read until it is found.
        if is_whole || state.as_ref().is_some_and(|state| state.counters.messages > 0) {
            let modified = Timestamp::from_millis(stat.modified_ms);
            let state = state.as_mut()?;
            state.updated_at = state.updated_at.max(modified);
            return Some(Snapshot::from_state(state, String::new()).head);
        }
        bytes_max = bytes_max.saturating_mul(16);
    }
}

/// The state after an archive's first bytes; `None` if there is no record in them.
fn replay_beginning(id: SessionId, bytes: &[u8]) -> Option<SessionState> {
    let state = SessionState::new(id, PathBuf::new(), Timestamp::default());
    let mut replay = Replay::new(state, Folded::Drop);
    let mut is_read = false;
    let mut decoder = Decoder::at(0, 1);
    let mut apply = |record: &Record| {
        is_read |= !matches!(record, Record::Unknown(_));
        let _best_effort = replay.apply(record);
    };
    decoder.feed(bytes, |line| {
        if let Ok(record) = &line.record {
            apply(record);
        }
    });
    if let Some((_, Some(record))) = decoder.finish() {
        apply(&record);
    }
    is_read.then(|| replay.finish().0)
}
