//! Everything that can wake the program.

use crate::approval::action::Prepared;
use crate::base::id::{SessionId, TaskId, TimerId};
use crate::conversation::round::RoundEvent;
use crate::conversation::tool_call::{ToolEvent, ToolOutcome};

use super::key::Input;
use super::signal::Signal;
use super::workspace::Workspace;

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Input(Input),
    Report(Report),
    Timer(TimerId),
    Signal(Signal),
    /// The writer of a session's files speaks.
    Stored(SessionId, Stored),
    /// The workspace was read anew, after it was trusted.
    Workspace(Box<Workspace>),
    /// Commands of an earlier process that crashed still run: a line each.
    LeftBehind(Vec<String>),
}

/// A started task speaks. Dropped unless `task` is still awaited.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub task: TaskId,
    pub said: Said,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Round(RoundEvent),
    Prepared(Result<Box<Prepared>, Box<ToolOutcome>>),
    Tool(ToolEvent),
    /// The task panicked.
    Died(String),
}

/// What became of what was to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// Written again after failures, or written at all: nothing waits.
    Well,
    /// A write failed: what, where, why. The rest of the session waits in memory.
    Failed(String),
}
