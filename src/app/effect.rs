//! What the workspace wants done, as data: comparable, printable, in order.

use std::path::PathBuf;

use crate::approval::action::Prepared;
use crate::base::id::{SessionId, TaskId, TimerId};
use crate::base::time::Moment;
use crate::conversation::message::ToolUse;
use crate::conversation::mode::Mode;
use crate::conversation::round::RoundRequest;
use crate::session::record::Record;
use crate::session::snapshot::Snapshot;

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// For a session's files: ordered, never dropped.
    Store(SessionId, StoreOp),
    /// Slow work; it speaks in [`super::event::Report`]s that carry the id.
    Start(TaskId, Job),
    /// Ends a task. A tool still reports what it had done.
    Stop(TaskId),
    Timer(TimerId, Moment),
    Screen(ScreenEffect),
    /// Keeps what was sent for the history of this workspace.
    Remember(String),
    /// The person trusts this directory; its files come back as an event.
    Trust(PathBuf),
    /// Leave in order, once everything before this is written.
    Exit(Exit),
}

#[derive(Debug, Clone, PartialEq)]
pub enum StoreOp {
    Append(Box<Record>),
    /// What was appended survives a power cut from here on.
    Sync,
    Snapshot(Box<Snapshot>),
    Close,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// One request to a model. It is sent once `after` records of the session are stored.
    Round {
        session: SessionId,
        after: u64,
        request: Box<RoundRequest>,
    },
    /// Looks at a call without doing anything.
    Prepare {
        session: SessionId,
        call: ToolUse,
        mode: Mode,
    },
    Tool {
        session: SessionId,
        prepared: Box<Prepared>,
        mode: Mode,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenEffect {
    Copy(String),
    /// Something wants attention while the terminal is not in front.
    Notify(String),
    /// The same without words.
    Bell,
    Title(String),
    MouseCapture(Capture),
    /// Draw everything anew.
    Redraw,
    /// Ctrl+Z.
    Suspend,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture {
    On,
    Off,
}

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// Stopped by a signal or by the person in the middle of a run: exit code 130.
    Interrupted,
}
