//! Keys, pastes, the mouse: layer → action → part.

use crate::app::App;
use crate::app::action::{Action, Scroll as ScrollMove};
use crate::app::cells::cell::NoticeKind;
use crate::app::composer::{self, ComposerOutcome, Edit, Intent, Submission, TriggerKind};
use crate::app::effect::{Capture, Effect, Exit, ScreenEffect};
use crate::app::key::{Input, Key, Mouse, MouseAct, Size};
use crate::app::keymap::Layer;
use crate::app::panels::picker::{Picker, PickerRow};
use crate::app::panels::{Choosing, Panel};
use crate::base::limits::QUIT_WINDOW_MS;
use crate::base::time::At;
use crate::command::registry;
use crate::command::{CommandError, Scope};
use crate::conversation::message::Block;
use crate::turn::TurnEvent;

use super::{panel, turn};

/// Rows that one notch of the wheel scrolls (spec, workspace-ui).
const WHEEL_ROWS: i32 = 3;

pub(super) fn on(app: &mut App, input: Input, at: At) -> Vec<Effect> {
    match input {
        Input::Key(key) if app.panels.top().is_some() => panel::on_key(app, key, at),
        Input::Key(key) => on_key(app, key, at),
        Input::Paste(text) if app.panels.top().is_some() => {
            panel::on_paste(app, &text);
            Vec::new()
        }
        Input::Paste(text) => {
            let outcome = app.front_mut().composer.paste(&text);
            composed(app, outcome, at)
        }
        Input::Resize(size) => {
            resize(app, size);
            Vec::new()
        }
        Input::Focus(focused) => {
            app.screen.focused = focused;
            Vec::new()
        }
        Input::Mouse(mouse) => {
            on_mouse(app, mouse);
            Vec::new()
        }
    }
}

fn resize(app: &mut App, size: Size) {
    app.screen.size = size;
    let columns = composer::text_columns(size.columns);
    app.front_mut().composer.set_width(columns);
}

fn on_mouse(app: &mut App, mouse: Mouse) {
    let rows = match mouse.act {
        MouseAct::WheelUp => -WHEEL_ROWS,
        MouseAct::WheelDown => WHEEL_ROWS,
        MouseAct::Press | MouseAct::Release => return,
    };
    match app.panels.top_mut() {
        None => app.front_mut().scroll.lines(rows),
        Some(Panel::Info(info)) => {
            let way = if rows < 0 { ScrollMove::Up } else { ScrollMove::Down };
            (0..WHEEL_ROWS).for_each(|_| info.scroll(way));
        }
        Some(Panel::Question(question)) => {
            question.scroll = question.scroll.saturating_add_signed(rows as isize);
        }
        Some(Panel::Picker(..) | Panel::Trust(_)) => {}
    }
}

/// A key for the composer and what lies around it.
pub(super) fn on_key(app: &mut App, key: Key, at: At) -> Vec<Effect> {
    let composer = &app.front().composer;
    let layer = if composer.is_empty() { Layer::EmptyComposer } else { Layer::Composer };
    if let Some(action) = app.keymap.lookup(layer, key) {
        act(app, action, at)
    } else {
        let outcome = app.front_mut().composer.type_key(key);
        composed(app, outcome, at)
    }
}

/// Does what a key asked for, outside of panels.
pub(super) fn act(app: &mut App, action: Action, at: At) -> Vec<Effect> {
    match action {
        Action::Interrupt => interrupt(app, at),
        Action::Cancel => stop_turn(app, at),
        Action::Quit => {
            app.leave(Exit::Done);
            Vec::new()
        }
        Action::Suspend => vec![Effect::Screen(ScreenEffect::Suspend)],
        Action::Redraw => vec![Effect::Screen(ScreenEffect::Redraw)],
        Action::Help => run_command(app, "/help", at),
        Action::Complete => complete(app),
        Action::SearchHistory => {
            open_history(app);
            Vec::new()
        }
        Action::ToggleFold => {
            app.front_mut().feed.toggle_newest_fold();
            Vec::new()
        }
        Action::ToggleMode => run_command(app, "/mode", at),
        Action::ToggleMouse => toggle_mouse(app, at),
        Action::Edit(Edit::Submit) if app.front().composer.is_empty() => send_queue(app, at),
        Action::Edit(Edit::Up) if edit_queued(app) => Vec::new(),
        Action::Edit(edit) => {
            let outcome = app.front_mut().composer.apply(edit);
            composed(app, outcome, at)
        }
        Action::Scroll(scroll) => {
            scroll_transcript(app, scroll);
            Vec::new()
        }
        // Of other layers.
        Action::List(_) | Action::Answer(_) | Action::ClosePanel => Vec::new(),
    }
}

fn composed(app: &mut App, outcome: ComposerOutcome, at: At) -> Vec<Effect> {
    match outcome {
        ComposerOutcome::Nothing | ComposerOutcome::Moved | ComposerOutcome::Changed => Vec::new(),
        ComposerOutcome::Submit(submission) => submit(app, submission, at),
        ComposerOutcome::AskHistory(direction) => {
            app.front_mut().composer.recall(direction);
            Vec::new()
        }
        ComposerOutcome::Refused(why) => {
            app.hint(why, at);
            Vec::new()
        }
    }
}

/// Sends what was written: a command to the registry, all else to the model.
fn submit(app: &mut App, submission: Submission, at: At) -> Vec<Effect> {
    let is_command = registry::looks_like_command(&submission.text);
    if !is_command && app.front().turn.refuses_messages() {
        app.front_mut().composer.set_text(&submission.text);
        app.hint(turn::QUEUE_FULL, at);
        return Vec::new();
    }
    let mut effects = vec![Effect::Remember(submission.text.clone())];
    // A path such as `/etc/hosts is odd` is a message: command names have no second slash.
    if is_command {
        effects.extend(run_command(app, &submission.text, at));
        return effects;
    }
    app.front_mut().scroll.end();
    let session = app.front().id();
    let message = vec![Block::Text { text: submission.text }];
    effects.extend(turn::drive(app, session, TurnEvent::Submit(message), at));
    effects
}

pub(super) fn run_command(app: &mut App, line: &str, at: At) -> Vec<Effect> {
    let mut scope = Scope { app, at, effects: Vec::new(), turn_events: Vec::new() };
    let result = registry::run(line, &mut scope);
    let Scope { mut effects, turn_events, .. } = scope;
    if let Err(CommandError(why)) = result {
        app.front_mut().feed.notice(NoticeKind::Warning, why);
    }
    for event in turn_events {
        let session = app.front().id();
        effects.extend(turn::drive(app, session, event, at));
    }
    effects
}

/// Ctrl+C: a running turn, else the text, else at the second time the program.
fn interrupt(app: &mut App, at: At) -> Vec<Effect> {
    if !app.front().turn.is_idle() {
        return stop_turn(app, at);
    }
    if app.front_mut().composer.clear() {
        return Vec::new();
    }
    if app.screen.quits_until.is_some_and(|until| at.moment <= until) {
        app.leave(Exit::Done);
    } else {
        app.screen.quits_until = Some(at.moment.plus_ms(QUIT_WINDOW_MS));
        app.hint("Press Ctrl+C again to quit", at);
    }
    Vec::new()
}

pub(super) fn stop_turn(app: &mut App, at: At) -> Vec<Effect> {
    let session = app.front().id();
    turn::drive(app, session, TurnEvent::Interrupt, at)
}

/// Enter without text sends what waits after an interruption.
fn send_queue(app: &mut App, at: At) -> Vec<Effect> {
    let session = app.front().id();
    turn::drive(app, session, TurnEvent::SendQueue, at)
}

/// Up in an empty composer takes the newest waiting message back, to be edited.
fn edit_queued(app: &mut App) -> bool {
    let live = app.front_mut();
    if !live.composer.is_empty() {
        return false;
    }
    let Some(blocks) = live.turn.take_last_queued() else { return false };
    let text: Vec<String> = blocks
        .into_iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text),
            _ => None,
        })
        .collect();
    live.composer.set_text(&text.join("\n"));
    true
}

fn complete(app: &mut App) -> Vec<Effect> {
    let Some(trigger) = app.front().composer.trigger() else { return Vec::new() };
    if trigger.kind != TriggerKind::Command || app.front().composer.intent() != Intent::Command {
        return Vec::new();
    }
    if let Some(text) = registry::completion(app, &trigger.query) {
        app.front_mut().composer.complete(&trigger, &text);
    }
    Vec::new()
}

fn open_history(app: &mut App) {
    let entries = app.front().composer.history().entries();
    let row = |entry: &String| PickerRow {
        key: entry.clone(),
        label: entry.clone(),
        detail: String::new(),
        hint: String::new(),
    };
    let rows: Vec<PickerRow> = entries.iter().rev().map(row).collect();
    let picker = Picker::new("Sent before", rows);
    app.panels.open(Panel::Picker(Choosing::History, Box::new(picker)));
}

fn toggle_mouse(app: &mut App, at: At) -> Vec<Effect> {
    app.screen.captures_mouse = !app.screen.captures_mouse;
    let (capture, text) = if app.screen.captures_mouse {
        (Capture::On, "The wheel scrolls crystal; F2 gives the mouse back to the terminal")
    } else {
        (
            Capture::Off,
            "The mouse belongs to the terminal: select and copy as usual; F2 takes it back",
        )
    };
    app.hint(text, at);
    vec![Effect::Screen(ScreenEffect::MouseCapture(capture))]
}

fn scroll_transcript(app: &mut App, way: ScrollMove) {
    let scroll = &mut app.front_mut().scroll;
    match way {
        ScrollMove::Up => scroll.lines(-1),
        ScrollMove::Down => scroll.lines(1),
        ScrollMove::PageUp => scroll.pages(-1),
        ScrollMove::PageDown => scroll.pages(1),
        ScrollMove::Start => scroll.home(),
        ScrollMove::End => scroll.end(),
    }
}
