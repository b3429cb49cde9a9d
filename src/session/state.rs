//! What a session is at one moment: the value that the snapshot stores and that replay arrives at.
//!
//! Invariant: [`SessionState`] changes by [`super::replay`]'s `apply` in a live session as in a replay, so
//! that both agree.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::id::{MessageId, SessionId};
use crate::base::time::Timestamp;
use crate::conversation::mode::Mode;
use crate::conversation::model::ModelChoice;
use crate::conversation::todo::Todo;
use crate::conversation::transcript::ModelTranscript;
use crate::conversation::usage::Usage;

/// A session without its system prompt, which is made anew for each workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionState {
    pub id: SessionId,
    pub title: Option<String>,
    /// The first user message, see [`super::head::preview`].
    pub preview: String,
    pub workspace: PathBuf,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub forked_from: Option<ForkedFrom>,
    pub mode: Mode,
    pub model: Option<ModelChoice>,
    pub usage: SessionUsage,
    pub counters: Counters,
    pub todos: Vec<Todo>,
    /// The highest id ever given, also off the current branch; 0 before the first message.
    pub last_message_id: MessageId,
    pub transcript: ModelTranscript,
    /// Fields of the snapshot that this version does not know; they survive a load and save.
    pub extra: Map<String, Value>,
}

impl SessionState {
    /// A session in which nothing has happened yet.
    pub fn new(id: SessionId, workspace: PathBuf, created_at: Timestamp) -> Self {
        Self {
            id,
            title: None,
            preview: String::new(),
            workspace,
            created_at,
            updated_at: created_at,
            forked_from: None,
            mode: Mode::default(),
            model: None,
            usage: SessionUsage { last: None, total: Some(Usage::default()) },
            counters: Counters::default(),
            todos: Vec::new(),
            last_message_id: MessageId(0),
            transcript: ModelTranscript::default(),
            extra: Map::new(),
        }
    }
}

/// The session that a branch came from, and the last message that it shares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    pub id: SessionId,
    #[serde(default)]
    pub message: Option<MessageId>,
}

/// Token counts of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionUsage {
    /// Of the last round; `None` before it and after a compaction, which makes it stale.
    pub last: Option<Usage>,
    /// Over all requests to providers; `None` is unknown and stays so.
    pub total: Option<Usage>,
}

/// How often things happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Counters {
    /// Messages of the current branch, folded ones included; the snapshot's `messageCount`.
    #[serde(skip)]
    pub messages: u64,
    pub turns: u64,
    pub rounds: u64,
    pub tool_calls: u64,
    /// Compactions that stored a summary.
    pub compactions: u64,
    /// Micro compactions; the prune of a full compaction counts as neither.
    pub microcompactions: u64,
}
