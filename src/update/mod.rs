//! Routing of events to the parts of the workspace.
//!
//! [`update`] takes one event and returns what is to be done, in order. It never waits, draws or reads a
//! clock. Parts decide; here is only who is asked.

mod input;
mod leaving;
mod panel;
mod report;
mod signal;
mod stored;
mod timer;
mod title;
mod turn;
mod wake;

use crate::app::App;
use crate::app::cells::cell::NoticeKind;
use crate::app::change;
use crate::app::effect::Effect;
use crate::app::event::Event;
use crate::base::time::At;
use crate::conversation::message::Block;
use crate::turn::TurnEvent;

pub use turn::advice;
pub use wake::next_wake;

/// Handles one event.
pub fn update(app: &mut App, event: Event, at: At) -> Vec<Effect> {
    let mut effects = match event {
        Event::Input(input) => input::on(app, input, at),
        Event::Report(report) => report::on(app, report, at),
        Event::Timer(timer) => timer::on(app, timer, at),
        Event::Signal(signal) => signal::on(app, signal),
        Event::Stored(session, stored) => {
            stored::on(app, session, stored);
            Vec::new()
        }
        Event::LeftBehind(lines) => {
            let text = format!(
                "Commands of an earlier crystal that did not end in order are still running: {}. \
                 End them with: kill NUMBER",
                lines.join("; ")
            );
            app.front_mut().feed.notice(NoticeKind::Warning, text);
            Vec::new()
        }
        Event::Workspace(workspace) => {
            app.workspace = *workspace;
            tell_notes(app);
            change::refresh_frame(app, at);
            Vec::new()
        }
    };
    effects.extend(title::refresh(app));
    effects.extend(leaving::advance(app, at));
    effects
}

/// What the person should know of the workspace's files, said where the conversation is read.
pub fn tell_notes(app: &mut App) {
    for note in std::mem::take(&mut app.workspace.notes) {
        app.front_mut().feed.notice(NoticeKind::Warning, note);
    }
}

/// Leaves in order, if that was asked for.
pub fn leave(app: &mut App, at: At) -> Vec<Effect> {
    leaving::advance(app, at)
}

/// Sends a message in the session in front, as if it had been typed.
pub fn submit(app: &mut App, text: String, at: At) -> Vec<Effect> {
    let session = app.front().id();
    turn::drive(app, session, TurnEvent::Submit(vec![Block::Text { text }]), at)
}
