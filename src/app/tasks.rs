//! What the program waits for.
//!
//! Invariant: a report whose task is not here is stale and is dropped; every task has one owner.

use std::collections::HashMap;

use crate::base::id::{CallId, SessionId, TaskId, TimerId};

/// Running tasks and set timers, each with its owner.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tasks {
    tasks: HashMap<TaskId, Owner>,
    timers: HashMap<TimerId, TimerOwner>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub session: SessionId,
    pub work: Work,
}

/// What a task does for its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    Round,
    Prepare(CallId),
    Tool(CallId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerOwner {
    pub session: SessionId,
    pub what: Due,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Retry,
    Partial,
    /// Leaving waits no longer.
    Leave,
}

impl Tasks {
    pub fn add(&mut self, task: TaskId, session: SessionId, work: Work) {
        self.tasks.insert(task, Owner { session, work });
    }

    pub fn owner(&self, task: TaskId) -> Option<&Owner> {
        self.tasks.get(&task)
    }

    pub fn remove(&mut self, task: TaskId) -> Option<Owner> {
        self.tasks.remove(&task)
    }

    pub fn find(&self, session: SessionId, work: &Work) -> Option<TaskId> {
        let is_it = |owner: &Owner| owner.session == session && owner.work == *work;
        self.tasks.iter().find(|(_, owner)| is_it(owner)).map(|(task, _)| *task)
    }

    /// Forgets and returns all tasks of a session.
    pub fn drain(&mut self, session: SessionId) -> Vec<TaskId> {
        let mut gone: Vec<TaskId> = self
            .tasks
            .iter()
            .filter(|(_, owner)| owner.session == session)
            .map(|(task, _)| *task)
            .collect();
        gone.sort();
        for task in &gone {
            self.tasks.remove(task);
        }
        gone
    }

    /// Sets the one timer of its kind: an earlier one of the session will not be heard.
    pub fn set_timer(&mut self, timer: TimerId, session: SessionId, what: Due) {
        self.timers.retain(|_, owner| owner.session != session || owner.what != what);
        self.timers.insert(timer, TimerOwner { session, what });
    }

    pub fn take_timer(&mut self, timer: TimerId) -> Option<TimerOwner> {
        self.timers.remove(&timer)
    }

    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}
