//! Opens saved sessions.
//!
//! Invariants: only the part of the archive that the snapshot does not cover is read; opening takes the
//! lock first, so that two processes never write one session; reading changes nothing.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::disk::{AppendFile, Disk};
use super::home::{Home, SessionPaths};
use super::lock::{self, LockError};
use super::scan;
use super::writer::{SessionWriter, StoreError};
use crate::base::id::SessionId;
use crate::base::secret::Redactor;
use crate::session::codec::{Warning, newlines};
use crate::session::event::{Compaction, EventKind, Strategy};
use crate::session::record::{Meta, Record};
use crate::session::recovery::{Ended, RecoverError, Recovered, Recovery};
use crate::session::replay::Folded;
use crate::session::snapshot::Snapshot;
use crate::session::state::SessionState;

/// Bytes of an archive that are read at once.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Characters of a prefix that may stand for an id (spec, sessions).
pub const PREFIX_CHARS_MIN: usize = 6;

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("no session {0}")]
    Missing(String),
    #[error("{prefix} is the beginning of {count} sessions; type more of it")]
    Ambiguous { prefix: String, count: usize },
    #[error("session {id}: {source}")]
    Recover { id: SessionId, source: RecoverError },
    #[error("session {id} cannot be read: {source}")]
    Read { id: SessionId, source: io::Error },
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// A session that is open in this process.
#[derive(Debug)]
pub struct Opened {
    pub recovered: Recovered,
    pub writer: SessionWriter,
    /// Why what recovery made could not be written yet; it waits in the writer.
    pub unwritten: Option<StoreError>,
}

/// Finds a session by its id or by a unique beginning of it.
pub fn find(disk: &dyn Disk, home: &Home, text: &str) -> Result<SessionId, OpenError> {
    let missing = || OpenError::Missing(text.to_owned());
    let ids = scan::names(disk, home).ids;
    if let Ok(id) = text.parse::<SessionId>() {
        return if ids.contains(&id) { Ok(id) } else { Err(missing()) };
    }
    if text.chars().count() < PREFIX_CHARS_MIN {
        return Err(missing());
    }
    let mut found = ids.iter().filter(|id| id.to_string().starts_with(text));
    match (found.next(), found.count()) {
        (Some(id), 0) => Ok(*id),
        (Some(_), more) => Err(OpenError::Ambiguous { prefix: text.to_owned(), count: more + 1 }),
        (None, _) => Err(missing()),
    }
}

/// The newest session of a workspace that this version can open.
pub fn newest(disk: &dyn Disk, home: &Home, workspace: &Path) -> Option<SessionId> {
    let listing = scan::of_workspace(disk, scan::scan(disk, home), workspace);
    listing.rows.into_iter().find(|row| !row.is_newer()).map(|row| row.head.id)
}

/// Reads a session without opening it: for forks of a locked one, export, trace.
pub fn load(disk: &dyn Disk, home: &Home, id: SessionId) -> Result<Recovered, OpenError> {
    let (paths, snapshot) = read_snapshot(disk, home, id)?;
    recover(disk, &paths, snapshot.as_deref())
}

/// Opens a session for this process alone. What recovery made is appended at once.
pub fn open(
    disk: &Arc<dyn Disk>,
    home: &Home,
    id: SessionId,
    redactor: Redactor,
) -> Result<Opened, OpenError> {
    let (paths, snapshot) = read_snapshot(&**disk, home, id)?;
    let has_archive = disk.stat(&paths.archive()).is_ok();
    if snapshot.is_none() && !has_archive {
        return Err(OpenError::Missing(id.to_string()));
    }
    // Locked before it is read: a holder's last records are not missed. A session that has only a
    // snapshot gets its archive here; one that cannot be opened must not get one.
    let early = if has_archive { Some(lock::open(&**disk, &paths)?) } else { None };
    // The holder may have saved between the first look and the lock.
    let (paths, snapshot) = read_snapshot(&**disk, home, id)?;
    let recovered = recover(&**disk, &paths, snapshot.as_deref()).inspect_err(|_| {
        if early.is_some() {
            // A session that cannot be opened is left as it was.
            let _gone = disk.remove(&paths.holder());
        }
    })?;
    let file = match early {
        Some(file) => file,
        None => lock::open(&**disk, &paths)?,
    };
    Ok(resume(disk, paths, redactor, file, recovered))
}

fn resume(
    disk: &Arc<dyn Disk>,
    paths: SessionPaths,
    redactor: Redactor,
    file: Box<dyn AppendFile>,
    recovered: Recovered,
) -> Opened {
    let is_short = recovered.warnings.iter().any(|w| matches!(w, Warning::ShortArchive { .. }));
    // An archive must be enough alone: what only the snapshot knows is added to it.
    let records: Vec<Record> = match recovered.archive_bytes {
        None | Some(0) => records_of(&recovered.state),
        Some(_) if is_short => records_of(&recovered.state).split_off(1),
        Some(_) => recovered.repair.iter().cloned().map(Record::Message).collect(),
    };
    let end = recovered.archive_bytes.unwrap_or(0);
    let mut writer =
        SessionWriter::resume(disk.clone(), paths, redactor, file, end, recovered.torn);
    let mut unwritten = None;
    for record in records {
        unwritten = writer.append(record).err();
    }
    Opened { recovered, writer, unwritten }
}

/// The records that replay to a state's transcript: for an archive that is begun anew.
pub fn records_of(state: &SessionState) -> Vec<Record> {
    let mut meta = Meta::new(state.id, state.workspace.clone(), state.created_at);
    meta.forked_from.clone_from(&state.forked_from);
    let mut records = vec![Record::Meta(meta)];
    let event = |kind| Record::event(state.updated_at, kind);
    if let Some(summary) = state.transcript.summary() {
        let compaction = Compaction {
            strategy: Strategy::Summary,
            message_ids: Vec::new(),
            call_ids: Vec::new(),
            summary: Some(summary.text.clone()),
            through_message_id: Some(summary.through_message_id),
            kept_message_ids: Vec::new(),
            tokens_before: state.transcript.tokens(),
            tokens_after: state.transcript.tokens(),
        };
        records.push(Record::event(summary.created_at, EventKind::Compaction(compaction)));
    }
    records.extend(state.transcript.messages().iter().map(|message| (**message).clone().into()));
    records.push(event(EventKind::Mode { mode: state.mode }));
    records.extend(state.model.clone().map(|model| event(EventKind::Model { model })));
    records.extend(state.title.clone().map(|title| event(EventKind::Title { title: Some(title) })));
    records.push(event(EventKind::Todos { todos: state.todos.clone() }));
    records
}

fn read_snapshot(
    disk: &dyn Disk,
    home: &Home,
    id: SessionId,
) -> Result<(SessionPaths, Option<Vec<u8>>), OpenError> {
    let mut paths = home.session(id);
    let snapshot = match disk.read(&paths.snapshot()) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // Unreadable, but the archive may be enough.
        Err(_) if disk.stat(&paths.archive()).is_ok() => None,
        Err(source) => return Err(OpenError::Read { id, source }),
    };
    paths.archive = snapshot.as_deref().and_then(Snapshot::archive_path).map(Into::into);
    Ok((paths, snapshot))
}

fn recover(
    disk: &dyn Disk,
    paths: &SessionPaths,
    snapshot: Option<&[u8]>,
) -> Result<Recovered, OpenError> {
    let id = paths.id;
    let archive = paths.archive();
    let failed = |source| OpenError::Recover { id, source };
    let unread = |source| OpenError::Read { id, source };
    let size = disk.stat(&archive).ok().map(|stat| stat.bytes);
    if snapshot.is_none() && size.is_none() {
        return Err(OpenError::Missing(id.to_string()));
    }
    let mut recovery = Recovery::start(id, snapshot, size).map_err(failed)?;
    // A snapshot's offset is the end of a line; if not, the archive is another one than it knew.
    let offset = recovery.offset();
    if offset > 0 && disk.read_at(&archive, offset - 1, 1).map_err(unread)? != b"\n" {
        recovery = Recovery::whole(id, snapshot, Folded::Keep);
    }
    loop {
        let mut at = recovery.offset();
        while size.is_some() {
            let chunk = disk.read_at(&archive, at, CHUNK_BYTES).map_err(unread)?;
            if chunk.is_empty() {
                break;
            }
            at += chunk.len() as u64;
            recovery.feed(&chunk);
        }
        let end = recovery.offset();
        let count = || lines_before(disk, &archive, end);
        match recovery.finish(size, count).map_err(failed)? {
            Ended::Opened(recovered) => return Ok(*recovered),
            Ended::NeedsWholeArchive => recovery = Recovery::whole(id, snapshot, Folded::Keep),
        }
    }
}

fn lines_before(disk: &dyn Disk, archive: &Path, end: u64) -> u64 {
    let (mut at, mut lines) = (0, 0);
    while at < end {
        let wanted = usize::try_from(end - at).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
        let chunk = disk.read_at(archive, at, wanted).unwrap_or_default();
        if chunk.is_empty() {
            break;
        }
        at += chunk.len() as u64;
        lines += newlines(&chunk);
    }
    lines
}
