//! Snapshot version 1: the model transcript and state, a checkpoint of the archive.
//!
//! Invariants: equal values are equal bytes; the fields that a list needs come first; fields that this
//! version does not know survive a load and save.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::head::{self, SnapshotHead};
use super::state::{Counters, SessionState, SessionUsage};
use crate::base::id::MessageId;
use crate::conversation::message::Message;
use crate::conversation::todo::Todo;
use crate::conversation::transcript::{ModelTranscript, Summary};
use crate::conversation::usage::Usage;

/// The version that this program writes.
pub const VERSION: u32 = 1;

/// A snapshot file as a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    #[serde(flatten)]
    pub head: SnapshotHead,
    #[serde(default)]
    pub last_usage: Option<Usage>,
    /// `None` is unknown: saved before the field existed.
    #[serde(default)]
    pub total_usage: Option<Usage>,
    #[serde(default)]
    pub counters: Counters,
    #[serde(default)]
    pub todos: Vec<Todo>,
    #[serde(default)]
    pub archive: ArchivePosition,
    #[serde(default)]
    pub system_prompt: String,
    #[serde(default)]
    pub summary: Option<Summary>,
    #[serde(default)]
    pub transcript: Vec<Arc<Message>>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// How much of the archive a snapshot covers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ArchivePosition {
    /// Bytes of whole lines.
    pub offset: u64,
    pub last_message_id: MessageId,
    /// Where the archive is, if not beside the snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Why a snapshot cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    #[error("was saved by a newer crystal (format {version}); this one reads up to {VERSION}")]
    Newer { version: u32 },
    #[error("the snapshot is damaged: {why}")]
    Damaged { why: String },
}

impl Snapshot {
    /// Makes the snapshot of a state. The writer fills in `archive.offset`, which only it knows.
    pub fn from_state(state: &SessionState, system_prompt: String) -> Self {
        Self {
            head: SnapshotHead {
                version: VERSION,
                id: state.id,
                title: state.title.clone(),
                preview: state.preview.clone(),
                workspace: state.workspace.to_string_lossy().into_owned().into(),
                created_at: state.created_at,
                updated_at: state.updated_at,
                message_count: state.counters.messages,
                mode: state.mode,
                model: state.model.clone(),
                forked_from: state.forked_from.clone(),
            },
            last_usage: state.usage.last,
            total_usage: state.usage.total,
            counters: state.counters,
            todos: state.todos.clone(),
            archive: ArchivePosition {
                last_message_id: state.last_message_id,
                ..ArchivePosition::default()
            },
            system_prompt,
            summary: state.transcript.summary().cloned(),
            transcript: state.transcript.messages().to_vec(),
            extra: state.extra.clone(),
        }
    }

    /// Returns the state that this snapshot stores; its system prompt is left behind.
    pub fn into_state(self) -> SessionState {
        let last_in_tail = self.transcript.last().map_or(MessageId(0), |message| message.id);
        let counters = Counters { messages: self.head.message_count, ..self.counters };
        SessionState {
            id: self.head.id,
            title: self.head.title,
            preview: self.head.preview,
            workspace: self.head.workspace,
            created_at: self.head.created_at,
            updated_at: self.head.updated_at,
            forked_from: self.head.forked_from,
            mode: self.head.mode,
            model: self.head.model,
            usage: SessionUsage { last: self.last_usage, total: self.total_usage },
            counters,
            todos: self.todos,
            last_message_id: self.archive.last_message_id.max(last_in_tail),
            transcript: ModelTranscript::new(
                self.summary,
                self.transcript.into_iter().map(Arc::unwrap_or_clone).collect(),
            ),
            extra: self.extra,
        }
    }

    /// Whether there is something worth a file: a user message or a summary.
    pub fn is_worth_saving(&self) -> bool {
        self.summary.is_some() || self.transcript.iter().any(|message| message.begins_turn())
    }

    /// Returns the file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Every part is a plain tree of strings and numbers, so this cannot fail.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns where the archive is, if not beside the snapshot. Does not read the transcript.
    pub fn archive_path(bytes: &[u8]) -> Option<String> {
        head::field::<ArchivePosition>(bytes, "archive")?.path
    }

    /// Reads a snapshot file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        if let Some(version) = head::version_of(bytes).filter(|version| *version > VERSION) {
            return Err(SnapshotError::Newer { version });
        }
        let snapshot: Self = serde_json::from_slice(bytes)
            .map_err(|error| SnapshotError::Damaged { why: error.to_string() })?;
        let ids_grow = snapshot.transcript.windows(2).all(|pair| pair[0].id < pair[1].id);
        if ids_grow {
            Ok(snapshot)
        } else {
            Err(SnapshotError::Damaged { why: "message ids do not grow".to_owned() })
        }
    }
}
