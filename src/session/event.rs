//! Changes of a session's state, as the archive keeps them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::state::ForkedFrom;
use crate::base::id::{CallId, MessageId};
use crate::base::time::Timestamp;
use crate::conversation::mode::Mode;
use crate::conversation::model::ModelChoice;
use crate::conversation::todo::Todo;

/// What happened, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    #[serde(default)]
    pub ts: Timestamp,
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The events that this version knows.
pub const KNOWN_EVENTS: [&str; 10] = [
    "compaction",
    "mode",
    "model",
    "title",
    "todos",
    "workspace",
    "fork",
    "rewind",
    "partial",
    "interrupted",
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    Compaction(Compaction),
    Mode {
        mode: Mode,
    },
    Model {
        model: ModelChoice,
    },
    Title {
        title: Option<String>,
    },
    Todos {
        todos: Vec<Todo>,
    },
    Workspace {
        workspace: PathBuf,
    },
    /// This session is a branch of `from`.
    Fork {
        from: ForkedFrom,
    },
    /// The branch that ends in this message is the current one; `None` is before the first.
    Rewind {
        to_message_id: Option<MessageId>,
    },
    Partial(Partial),
    Interrupted {
        message_id: MessageId,
        why: String,
    },
}

/// How the model's view was condensed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    pub strategy: Strategy,
    /// The messages whose results were replaced (micro, prune) or that were folded (summary).
    #[serde(default)]
    pub message_ids: Vec<MessageId>,
    /// Which results of these messages, where not every successful one (micro, prune).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call_ids: Vec<CallId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through_message_id: Option<MessageId>,
    /// Messages up to `through_message_id` that stay verbatim in front of the tail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_message_ids: Vec<MessageId>,
    #[serde(default)]
    pub tokens_before: u64,
    #[serde(default)]
    pub tokens_after: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    Micro,
    Prune,
    Summary,
}

/// Text that still streams, joined since the last partial of its message, which supersedes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// The id that the message will have.
    pub message_id: MessageId,
    /// Written as `block`: `kind` is the record's own.
    #[serde(rename = "block")]
    pub kind: PartialKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartialKind {
    Text,
    Reasoning,
}
