//! Timers that were set, by when they are due.

use std::collections::BTreeSet;

use crate::base::id::TimerId;
use crate::base::time::Moment;

#[derive(Debug, Default)]
pub struct Timers {
    due: BTreeSet<(Moment, TimerId)>,
}

impl Timers {
    pub fn set(&mut self, timer: TimerId, moment: Moment) {
        self.due.insert((moment, timer));
    }

    pub fn next(&self) -> Option<Moment> {
        self.due.first().map(|(moment, _)| *moment)
    }

    /// Takes the next timer that is due.
    pub fn take_due(&mut self, now: Moment) -> Option<TimerId> {
        let first = *self.due.first()?;
        if first.0 > now {
            return None;
        }
        self.due.remove(&first);
        Some(first.1)
    }
}
