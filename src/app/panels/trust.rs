//! Does the person trust this directory?

use crate::app::key::{Key, KeyCode};
use crate::base::limits::QUESTION_GRACE_MS;
use crate::base::time::Moment;

/// Asked once for a directory that holds files which steer the program or the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustQuestion {
    pub path: String,
    /// What is not read until the answer is yes.
    pub holds: Vec<String>,
    shown_at: Moment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustOutcome {
    NotMine,
    Stays,
    Yes,
    No,
}

impl TrustQuestion {
    pub fn new(path: String, holds: Vec<String>, now: Moment) -> Self {
        Self { path, holds, shown_at: now }
    }

    pub fn on_key(&self, key: Key, now: Moment) -> TrustOutcome {
        if now.since_ms(self.shown_at) < QUESTION_GRACE_MS {
            return TrustOutcome::NotMine;
        }
        if key.is_repeat {
            return TrustOutcome::Stays;
        }
        match key.code {
            KeyCode::Char('y') if !key.ctrl && !key.alt => TrustOutcome::Yes,
            KeyCode::Char('n') if !key.ctrl && !key.alt => TrustOutcome::No,
            KeyCode::Esc => TrustOutcome::No,
            _ => TrustOutcome::Stays,
        }
    }
}
