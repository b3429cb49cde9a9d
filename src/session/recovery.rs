//! Snapshot and archive → what to open, and what to warn of.
//!
//! Invariants: either file alone is enough; the part of the archive that the snapshot covers is not read;
//! nothing is lost but a torn last record. Not here: reading the files ([`crate::store`]).

use super::codec::{Decoder, Line, Torn, Warning, newlines};
use super::message_record::ArchivedMessage;
use super::record::Record;
use super::replay::{Applied, Folded, Replay};
use super::snapshot::{Snapshot, SnapshotError};
use super::state::{SessionState, SessionUsage};
use crate::base::id::{MessageId, SessionId};
use crate::base::time::Timestamp;
use crate::conversation::message::{Block, Message, Role};
use crate::conversation::pairing;

/// An opened session.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    pub state: SessionState,
    /// The prompt of the last save, as a record of it; a new one is made for the workspace.
    pub system_prompt: String,
    pub warnings: Vec<Warning>,
    pub torn: Option<Torn>,
    /// Messages that recovery made (interrupted text, results of unfinished calls). They are in `state`;
    /// the writer appends them.
    pub repair: Vec<ArchivedMessage>,
    /// Where the archive's last whole line ends; `None` if there is no archive.
    pub archive_bytes: Option<u64>,
}

/// What the end of a recovery came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    Opened(Box<Recovered>),
    /// Read the whole archive again, through [`Recovery::whole`].
    NeedsWholeArchive,
}

/// Why a session cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    #[error("{0}")]
    Snapshot(#[from] SnapshotError),
    #[error("there is no message in it")]
    Empty,
}

/// A recovery on its way: made from the snapshot, then fed with the archive's bytes from
/// [`Recovery::offset`] on.
#[derive(Debug)]
pub struct Recovery {
    replay: Replay,
    decoder: Decoder,
    offset: u64,
    folded: Folded,
    /// The archive is shorter than the snapshot knows: it is read for its end only.
    ignores_records: bool,
    has_meta: bool,
    needs_whole: bool,
    system_prompt: String,
    warnings: Vec<Warning>,
}

impl Recovery {
    /// Starts from a snapshot's bytes, or from nothing. `archive_bytes` is the archive's size, if it is
    /// there. A newer snapshot is an error; so is a damaged one without an archive.
    pub fn start(
        id: SessionId,
        snapshot: Option<&[u8]>,
        archive_bytes: Option<u64>,
    ) -> Result<Self, RecoverError> {
        let Some(bytes) = snapshot else {
            return if archive_bytes.is_some() {
                Ok(Self::whole(id, None, Folded::Drop))
            } else {
                Err(RecoverError::Empty)
            };
        };
        match (Snapshot::from_bytes(bytes), archive_bytes) {
            (Ok(snapshot), archive_bytes) => Ok(Self::from_snapshot(snapshot, archive_bytes)),
            (Err(SnapshotError::Damaged { why }), Some(_)) => {
                let mut recovery = Self::whole(id, None, Folded::Drop);
                recovery.warnings.push(Warning::DamagedSnapshot { why });
                Ok(recovery)
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Starts a replay of the whole archive. `snapshot` gives what no record holds: fields that this
    /// version does not know, and that the usage is unknown.
    pub fn whole(id: SessionId, snapshot: Option<&[u8]>, folded: Folded) -> Self {
        let mut state = SessionState::new(id, std::path::PathBuf::new(), Timestamp::default());
        let mut system_prompt = String::new();
        if let Some(saved) = snapshot.and_then(|bytes| Snapshot::from_bytes(bytes).ok()) {
            system_prompt.clone_from(&saved.system_prompt);
            let saved = saved.into_state();
            state.usage.total = state.usage.total.filter(|_| saved.usage.total.is_some());
            state.extra = saved.extra;
            state.workspace = saved.workspace;
        }
        Self {
            replay: Replay::new(state, folded),
            decoder: Decoder::at(0, 1),
            offset: 0,
            folded,
            ignores_records: false,
            has_meta: false,
            needs_whole: false,
            system_prompt,
            warnings: Vec::new(),
        }
    }

    fn from_snapshot(snapshot: Snapshot, archive_bytes: Option<u64>) -> Self {
        let expected = snapshot.archive.offset;
        let system_prompt = snapshot.system_prompt.clone();
        let mut warnings = Vec::new();
        let mut ignores_records = false;
        match archive_bytes {
            None => warnings.push(Warning::MissingArchive),
            Some(bytes) if bytes < expected => {
                ignores_records = true;
                warnings.push(Warning::ShortArchive { bytes, expected });
            }
            Some(_) => {}
        }
        let offset = if ignores_records { 0 } else { archive_bytes.map_or(0, |_| expected) };
        Self {
            replay: Replay::new(snapshot.into_state(), Folded::Drop),
            decoder: Decoder::at(offset, 1),
            offset,
            folded: Folded::Drop,
            ignores_records,
            has_meta: true,
            needs_whole: false,
            system_prompt,
            warnings,
        }
    }

    /// Where in the archive to begin reading.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next bytes of the archive.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self { replay, decoder, ignores_records, has_meta, needs_whole, warnings, .. } = self;
        decoder.feed(bytes, |line| {
            let Line { number, offset, record } = line;
            match record {
                Ok(_) if *ignores_records => {}
                Ok(record) => {
                    *has_meta |= matches!(record, Record::Meta(_));
                    *needs_whole |= replay.apply(&record) == Applied::NeedsFolded;
                }
                Err(why) => warnings.push(Warning::DamagedLine { line: number, offset, why }),
            }
        });
    }

    /// Ends the archive. `lines_before` is how many lines stand before [`Recovery::offset`], for the
    /// warnings' numbers; it is asked only if there are any.
    pub fn finish(
        mut self,
        archive_bytes: Option<u64>,
        lines_before: impl FnOnce() -> u64,
    ) -> Result<Ended, RecoverError> {
        let whole_bytes = self.decoder.offset();
        let torn = self.decoder.finish().map(|(torn, record)| {
            match record {
                Some(_) if self.ignores_records => {}
                Some(record) => {
                    self.needs_whole |= self.replay.apply(&record) == Applied::NeedsFolded;
                }
                None => self.warnings.push(Warning::TornLine { offset: torn.offset }),
            }
            torn
        });
        if self.needs_whole && self.folded == Folded::Drop {
            return Ok(Ended::NeedsWholeArchive);
        }
        number_lines(&mut self.warnings, self.offset, lines_before);
        let (mut state, interrupted) = self.replay.finish();
        if !self.has_meta {
            // Format 1 has no observations, so what was used is unknown.
            state.usage = SessionUsage { last: state.usage.last, total: None };
        }
        if !state.transcript.is_worth_saving() && state.last_message_id == MessageId(0) {
            return Err(RecoverError::Empty);
        }
        let mut repair: Vec<ArchivedMessage> = interrupted.into_iter().map(Into::into).collect();
        repair.extend(answer_calls(&mut state));
        Ok(Ended::Opened(Box::new(Recovered {
            state,
            system_prompt: self.system_prompt,
            warnings: self.warnings,
            torn,
            repair,
            archive_bytes: archive_bytes.map(|_| whole_bytes),
        })))
    }
}

/// Recovers from files that are in memory.
pub fn recover(
    id: SessionId,
    snapshot: Option<&[u8]>,
    archive: Option<&[u8]>,
) -> Result<Recovered, RecoverError> {
    let size = archive.map(|bytes| bytes.len() as u64);
    let mut recovery = Recovery::start(id, snapshot, size)?;
    loop {
        let (before, rest) = archive.unwrap_or_default().split_at(recovery.offset() as usize);
        recovery.feed(rest);
        let count = || newlines(before);
        match recovery.finish(size, count)? {
            Ended::Opened(recovered) => return Ok(*recovered),
            Ended::NeedsWholeArchive => recovery = Recovery::whole(id, snapshot, Folded::Keep),
        }
    }
}

fn number_lines(warnings: &mut [Warning], offset: u64, lines_before: impl FnOnce() -> u64) {
    if offset == 0 || !warnings.iter().any(|w| matches!(w, Warning::DamagedLine { .. })) {
        return;
    }
    let before = lines_before();
    for warning in warnings {
        if let Warning::DamagedLine { line, .. } = warning {
            *line += before;
        }
    }
}

/// Gives every call without a result an error result, as new messages at the end.
fn answer_calls(state: &mut SessionState) -> Vec<ArchivedMessage> {
    let calls = state.transcript.missing_results();
    let mut repair = Vec::with_capacity(calls.len());
    for call in calls {
        let message = Message {
            id: state.last_message_id.next(),
            parent_id: state.transcript.last_id(),
            ts: state.updated_at,
            role: Role::User,
            content: vec![Block::ToolResult(pairing::interrupted_result(&call.id))],
            interrupted: false,
        };
        let record = ArchivedMessage::from(message);
        let _done = state.apply(&Record::Message(record.clone()));
        repair.push(record);
    }
    repair
}
