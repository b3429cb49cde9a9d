//! When a frame is due without an event. Nothing to wait for = no wake = no CPU.

use crate::app::{App, SPINNER_MS};
use crate::base::time::Moment;
use crate::turn::Phase;

/// Returns when the screen changes by itself, if it does.
pub fn next_wake(app: &App, now: Moment) -> Option<Moment> {
    let spinner = match app.front().turn.phase() {
        Phase::Idle | Phase::Asking { .. } => None,
        Phase::Waiting { .. }
        | Phase::Replying { .. }
        | Phase::Tools { .. }
        | Phase::Retrying { .. } => Some(now.plus_ms(SPINNER_MS - now.0 % SPINNER_MS)),
    };
    let hint = app.current_hint(now).map(|(_, until)| until);
    spinner.into_iter().chain(hint).min()
}
