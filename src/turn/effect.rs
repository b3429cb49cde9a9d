//! What a turn wants done.

use crate::approval::action::Prepared;
use crate::base::id::CallId;
use crate::base::text::cut::Cut;
use crate::base::time::Moment;
use crate::conversation::message::{Block, Role, ToolUse};
use crate::conversation::round::{RoundError, StopReason};
use crate::conversation::todo::Todo;
use crate::conversation::usage::Usage;

/// One thing to do, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEffect {
    /// A message is complete: into the transcript and the archive.
    Say(Draft),
    /// Text that still streams: into the archive, superseded by the message that follows.
    Partial {
        kind: PartialKind,
        text: String,
    },
    /// For the trace.
    Observe(Span),
    /// The last round's usage; `None` where the provider reported none.
    Used(Option<Usage>),
    /// Send the transcript as it is now.
    StartRound,
    StopRound,
    Prepare(ToolUse),
    Run(Box<Prepared>),
    StopCall(CallId),
    /// Ask the person about a call that is not running yet.
    Ask(Question),
    /// The question about this call is over.
    Unask(CallId),
    SetTodos(Vec<Todo>),
    RetryAt(Moment),
    PartialAt(Moment),
    Show(Sight),
    Ended(Ended),
}

/// A message without its id: the session gives it one.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub role: Role,
    pub block: Block,
    pub interrupted: bool,
    /// The whole text of a tool result, and how the model's view was cut from it.
    pub original: Option<(String, Cut)>,
}

impl Draft {
    pub fn new(role: Role, block: Block) -> Self {
        Self { role, block, interrupted: false, original: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialKind {
    Text,
    Reasoning,
}

/// A question to the person about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub prepared: Box<Prepared>,
    pub why: String,
    /// The rule that "always" would add.
    pub always: Option<String>,
    pub warning: Option<String>,
}

/// What the screen can show of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Sight {
    Text(String),
    Reasoning(String),
    /// The block that streamed is complete, or was cut.
    BlockEnd {
        interrupted: bool,
    },
    /// The model is writing a call.
    CallProgress {
        name: Option<String>,
        bytes: usize,
    },
    Call(ToolUse),
    CallState {
        call: CallId,
        state: CallSight,
    },
    CallOutput {
        call: CallId,
        text: String,
    },
    /// A round failed and will be tried again.
    Retry {
        why: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallSight {
    Asking,
    Running,
    Denied,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Done(StopReason),
    Interrupted,
    Failed(RoundError),
    RoundLimit(u32),
}

impl Ended {
    /// The name in the trace and in `crystal run`'s output.
    pub fn name(&self) -> &str {
        match self {
            Self::Done(stop) => stop.name(),
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "error",
            Self::RoundLimit(_) => "round_limit",
        }
    }
}

/// An observation without its names: the session adds provider, model, run and digests.
#[derive(Debug, Clone, PartialEq)]
pub enum Span {
    TurnStart,
    LlmCall {
        duration_ms: u64,
        ttft_ms: Option<u64>,
        usage: Option<Usage>,
        outcome: SpanOutcome,
        attempts: u32,
    },
    ToolCall {
        call: ToolUse,
        call_seq: u32,
        result: String,
        duration_ms: u64,
        outcome: SpanOutcome,
    },
    TurnEnd {
        stop_reason: String,
        interrupted: bool,
        llm_calls: u32,
        tool_calls: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanOutcome {
    Ok,
    Aborted,
    Error(String),
}
