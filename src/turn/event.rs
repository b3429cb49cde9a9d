//! What can happen to a turn.

use crate::approval::action::Prepared;
use crate::approval::decision::Verdict;
use crate::base::id::CallId;
use crate::base::time::At;
use crate::conversation::message::Block;
use crate::conversation::round::RoundEvent;
use crate::conversation::tool_call::{ToolEvent, ToolOutcome};

use super::backoff::RetryPolicy;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// The person sent a message: begins a turn, or waits in the queue while one runs.
    Submit(Vec<Block>),
    /// Enter on an empty composer: what waits after an interruption is sent.
    SendQueue,
    Round(RoundEvent),
    /// The round's task panicked.
    RoundDied(String),
    /// The tool layer looked at a call; `Err` is its result already.
    Prepared(CallId, Result<Box<Prepared>, Box<ToolOutcome>>),
    Tool(CallId, ToolEvent),
    /// The task of a call panicked.
    ToolDied(CallId, String),
    Answered(CallId, Answer),
    /// Mode or policy changed: calls that wait for an answer are judged again.
    RulesChanged,
    RetryDue,
    PartialDue,
    /// Esc, Ctrl+C, or an orderly exit.
    Interrupt,
}

/// A person's answer to a question about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No { reason: Option<String> },
}

/// Whether somebody can answer questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attended {
    ByPerson,
    /// `crystal run`: what would ask is denied.
    ByNobody,
}

/// What the machine may know of the world when an event arrives.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub at: At,
    /// May this call run? Mode, rules and policy as they are now.
    pub judge: &'a dyn Fn(&Prepared) -> Verdict,
    /// Is this call's id already in the transcript? Some servers count from 1 in every reply.
    pub is_taken: &'a dyn Fn(&CallId) -> bool,
    pub attended: Attended,
    pub retry: RetryPolicy,
    /// Rounds of one turn before it stops.
    pub rounds_max: u32,
    /// Random bits for the jitter of one retry.
    pub random: u64,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("at", &self.at).finish_non_exhaustive()
    }
}
