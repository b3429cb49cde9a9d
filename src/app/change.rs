//! Changes of a session that a command, a key or a picker can ask for.

use chrono::DateTime;

use crate::base::time::{At, Timestamp};
use crate::conversation::gear::Gear;
use crate::conversation::mode::Mode;
use crate::conversation::model::{ModelChoice, ModelSpec};
use crate::session::event::{Event, EventKind};
use crate::session::record::Record;
use crate::session::state::SessionState;

use super::App;
use super::cells::cell::{CellContent, NoticeKind};
use super::composer::Composer;
use super::effect::{Effect, StoreOp};
use super::live::{LiveSession, RequestFrame};
use super::prompt;

/// Switches the mode of the session in front.
pub fn mode(app: &mut App, mode: Mode, at: At) -> Vec<Effect> {
    if app.front().state.mode == mode {
        return Vec::new();
    }
    let effects = happen(app, EventKind::Mode { mode }, at);
    app.front_mut().feed.push(CellContent::ModeChange(mode));
    refresh_frame(app, at);
    effects
}

/// Switches the model of the session in front; its gear stays.
pub fn model(app: &mut App, spec: ModelSpec, at: At) -> Vec<Effect> {
    let thinking_effort = app.front().gear();
    let choice = ModelChoice { provider: spec.provider, id: spec.id, thinking_effort };
    app.front_mut().feed.notice(NoticeKind::Info, format!("Model: {}", choice.label()));
    set_model(app, choice, at)
}

/// Sets the gear of the session in front. One that the model lacks is kept, and said.
pub fn gear(app: &mut App, gear: Gear, at: At) -> Vec<Effect> {
    let spec = app.models.spec_of(app.front());
    let choice = ModelChoice { thinking_effort: gear, ..app.front().model().clone() };
    let has_it = gear == Gear::Default || spec.effective_gear(gear).is_some();
    let text = if has_it {
        format!("Thinking: {gear}")
    } else {
        format!(
            "Thinking: {gear}. {} has no such gear and uses its provider's default",
            choice.label()
        )
    };
    app.front_mut().feed.notice(NoticeKind::Info, text);
    set_model(app, choice, at)
}

/// Takes a choice that was made on the command line.
pub fn model_choice(app: &mut App, choice: ModelChoice, at: At) -> Vec<Effect> {
    set_model(app, choice, at)
}

fn set_model(app: &mut App, choice: ModelChoice, at: At) -> Vec<Effect> {
    app.front_mut().set_default_model(choice.clone());
    happen(app, EventKind::Model { model: choice }, at)
}

/// Before the first message this makes no file: the writer keeps it until there is one.
fn happen(app: &mut App, kind: EventKind, at: At) -> Vec<Effect> {
    app.front_mut().record(Record::Event(Event { ts: at.wall, kind }), at)
}

/// Saves the session in front and begins a new one in its place, which takes over the waiting messages.
pub fn clear(app: &mut App, at: At) -> Vec<Effect> {
    let old = app.front_mut();
    let mut effects = old.save();
    effects.push(Effect::Store(old.id(), StoreOp::Close));
    let said = if old.is_worth_saving() {
        format!("New session. The earlier one: crystal --resume {}", old.id())
    } else {
        "New session".to_owned()
    };
    let id = app.ids.session(at.wall);
    let mut state = SessionState::new(id, app.workspace.path.clone(), at.wall);
    state.mode = app.front().state.mode;
    let mut composer = Composer::new(app.front().composer.history().clone());
    composer.set_width(app.front().composer.width());
    let model = app.front().model().clone();
    let frame = app.front().frame.clone();
    let mut old = app.replace_front(LiveSession::new(state, model, frame, composer));
    // The turn is idle; messages that wait after an interruption were sent by the person and are not lost.
    app.front_mut().turn = std::mem::take(&mut old.turn);
    refresh_frame(app, at);
    app.front_mut().feed.notice(NoticeKind::Info, said);
    effects
}

/// Makes system prompt and tool list anew, after a change of mode or workspace.
pub fn refresh_frame(app: &mut App, at: At) {
    let mode = app.front().state.mode;
    let system = prompt::system_prompt(&app.workspace, mode, &day(at.wall));
    let tools = app.options.tools.of(mode);
    app.front_mut().frame = RequestFrame::new(system, tools);
}

/// The date of a time, in UTC.
pub fn day(wall: Timestamp) -> String {
    DateTime::from_timestamp_millis(wall.as_millis())
        .unwrap_or_default()
        .format("%Y-%m-%d")
        .to_string()
}
