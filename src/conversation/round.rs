//! One request to a model and its streamed reply, in the words of no provider.

use std::fmt;
use std::sync::Arc;

use super::gear::Gear;
use super::message::{Block, OpaqueState, Role, ToolUse};
use super::model::ModelSpec;
use super::tool_call::ToolSpec;
use super::usage::Usage;

/// All that a client needs to make one request.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundRequest {
    pub model: ModelSpec,
    /// The saved gear; clients send [`ModelSpec::effective_gear`] of it.
    pub gear: Gear,
    pub system: Arc<str>,
    /// Roles alternate, beginning with the user. See [`super::pairing`].
    pub messages: Vec<RequestMessage>,
    pub tools: Arc<[ToolSpec]>,
    /// Keeps a provider's prompt cache together: the session's id.
    pub cache_key: String,
    pub purpose: Purpose,
}

/// Why a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Round,
    Summary,
    Approval,
    Title,
    Side,
}

impl Purpose {
    pub fn name(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Summary => "summary",
            Self::Approval => "approval",
            Self::Title => "title",
            Self::Side => "side",
        }
    }
}

/// One message of a request. In a user message the tool results come first, one for each call of the
/// assistant message before it, in call order.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMessage {
    pub role: Role,
    pub blocks: Vec<Block>,
}

/// A reply as it arrives. After `End` or `Failed` nothing follows.
#[derive(Debug, Clone, PartialEq)]
pub enum RoundEvent {
    /// The server accepted the request; nothing of the reply is there yet.
    Accepted,
    Text(String),
    Reasoning(String),
    /// The reasoning block is complete, with the state to send back.
    ReasoningDone(Option<OpaqueState>),
    /// A call is being written: its name, if known, and the bytes of arguments so far. For the screen.
    CallProgress {
        name: Option<String>,
        bytes: usize,
    },
    /// A call is complete.
    Call(ToolUse),
    End {
        stop: StopReason,
        usage: Option<Usage>,
    },
    Failed(RoundError),
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    EndTurn,
    ToolUse,
    /// The reply reached its token limit.
    Length,
    Refusal(String),
    /// A reason that this program does not know.
    Other(String),
}

impl StopReason {
    pub fn name(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::Length => "length",
            Self::Refusal(_) => "refusal",
            Self::Other(name) => name,
        }
    }
}

/// A request that failed, or a reply that broke.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RoundError {
    pub kind: RoundErrorKind,
    /// The provider's own words, or what happened; one or two lines, no secret in it.
    pub message: String,
    pub status: Option<u16>,
    pub request_id: Option<String>,
    /// What the server asked to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundErrorKind {
    /// No connection, or it broke before an answer.
    Connect,
    /// Nothing arrived for longer than the idle limit.
    Stalled,
    /// The stream ended or broke in the middle.
    Cut,
    /// 408, 409, 425, 429, 5xx, 529, or an overload inside the stream.
    Busy,
    /// 401, 403.
    Credentials,
    /// The request is longer than the model's window. `window` in tokens, if the server said it.
    ContextTooLong { window: Option<u32> },
    /// Any other answer that asking again will not change.
    Rejected,
    /// Not what the protocol allows.
    Nonsense,
}

impl RoundError {
    pub fn new(kind: RoundErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, request_id: None, retry_after_ms: None }
    }

    /// Whether the same request may succeed later (spec, providers, *Retry*).
    pub fn is_retryable(&self) -> bool {
        match self.kind {
            RoundErrorKind::Connect
            | RoundErrorKind::Stalled
            | RoundErrorKind::Cut
            | RoundErrorKind::Busy => true,
            RoundErrorKind::Credentials
            | RoundErrorKind::ContextTooLong { .. }
            | RoundErrorKind::Rejected
            | RoundErrorKind::Nonsense => false,
        }
    }
}

impl fmt::Display for RoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (self.status, &self.request_id) {
            (Some(status), Some(id)) => write!(f, " (status {status}, request {id})"),
            (Some(status), None) => write!(f, " (status {status})"),
            (None, Some(id)) => write!(f, " (request {id})"),
            (None, None) => Ok(()),
        }
    }
}
