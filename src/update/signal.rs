//! Signals: the orderly way out.

use crate::app::App;
use crate::app::effect::{Effect, Exit};
use crate::app::signal::Signal;

pub(super) fn on(app: &mut App, signal: Signal) -> Vec<Effect> {
    match signal {
        Signal::Terminate | Signal::Hangup | Signal::Interrupt | Signal::Quit => {
            app.leave(Exit::Interrupted);
        }
        // The host has taken the terminal again; there is nothing to decide.
        Signal::Continue | Signal::Window => {}
    }
    Vec::new()
}
