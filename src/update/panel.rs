//! Keys of the open panel, and what an answer or a chosen row means.

use crate::app::App;
use crate::app::action::{Action, ListMove};
use crate::app::cells::cell::NoticeKind;
use crate::app::change;
use crate::app::effect::Effect;
use crate::app::key::{Key, KeyCode};
use crate::app::keymap::Layer;
use crate::app::panels::picker::PickerOutcome;
use crate::app::panels::question::QuestionOutcome;
use crate::app::panels::trust::TrustOutcome;
use crate::app::panels::{Choosing, Panel};
use crate::app::workspace::Trust;
use crate::base::id::{CallId, SessionId};
use crate::base::time::At;
use crate::turn::{Answer, TurnEvent};

use super::{input, turn};

pub(super) fn on_key(app: &mut App, key: Key, at: At) -> Vec<Effect> {
    match app.panels.top() {
        None => Vec::new(),
        Some(Panel::Info(_)) => on_info_key(app, key, at),
        Some(Panel::Picker(..)) => on_picker_key(app, key, at),
        Some(Panel::Question(_)) => on_question_key(app, key, at),
        Some(Panel::Trust(_)) => on_trust_key(app, key, at),
    }
}

pub(super) fn on_paste(app: &mut App, text: &str) {
    match app.panels.top_mut() {
        Some(Panel::Picker(_, picker)) => {
            picker.paste(text);
        }
        Some(Panel::Question(question)) => question.on_paste(text),
        Some(Panel::Info(_) | Panel::Trust(_)) | None => {}
    }
}

fn on_info_key(app: &mut App, key: Key, at: At) -> Vec<Effect> {
    let action = app.keymap.lookup(Layer::Panel, key);
    let Some(Panel::Info(info)) = app.panels.top_mut() else { return Vec::new() };
    match action {
        Some(Action::Scroll(scroll)) => info.scroll(scroll),
        Some(Action::ClosePanel | Action::Interrupt) => {
            app.panels.close_top();
        }
        Some(action @ (Action::Redraw | Action::Suspend | Action::ToggleMouse)) => {
            return input::act(app, action, at);
        }
        _ if key.code == KeyCode::Enter => {
            app.panels.close_top();
        }
        _ => {}
    }
    Vec::new()
}

fn on_picker_key(app: &mut App, key: Key, at: At) -> Vec<Effect> {
    let action = app.keymap.lookup(Layer::Picker, key);
    let Some(Panel::Picker(choosing, picker)) = app.panels.top_mut() else { return Vec::new() };
    let choosing = *choosing;
    let outcome = match action {
        Some(Action::List(list_move)) => picker.apply(list_move),
        Some(Action::Interrupt) => picker.apply(ListMove::Close),
        Some(action @ (Action::Redraw | Action::Suspend | Action::ToggleMouse)) => {
            return input::act(app, action, at);
        }
        Some(_) | None => picker.type_key(key),
    };
    match outcome {
        PickerOutcome::Chosen(row) => {
            app.panels.close_top();
            chosen(app, choosing, &row, at)
        }
        PickerOutcome::Closed => {
            app.panels.close_top();
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn chosen(app: &mut App, choosing: Choosing, key: &str, at: At) -> Vec<Effect> {
    match choosing {
        Choosing::Model => match app.models.find_label(key) {
            Ok(spec) => change::model(app, spec, at),
            Err(why) => {
                app.front_mut().feed.notice(NoticeKind::Warning, why);
                Vec::new()
            }
        },
        Choosing::Gear => {
            key.parse().map_or_else(|_| Vec::new(), |gear| change::gear(app, gear, at))
        }
        Choosing::History => {
            app.front_mut().composer.set_text(key);
            Vec::new()
        }
    }
}

fn on_question_key(app: &mut App, key: Key, at: At) -> Vec<Effect> {
    let action = app.keymap.lookup(Layer::Question, key);
    let Some(Panel::Question(panel)) = app.panels.top_mut() else { return Vec::new() };
    // Ctrl+C stops the turn also while it asks; typed into an entry line it leaves that line first.
    if action == Some(Action::Interrupt) {
        return input::stop_turn(app, at);
    }
    if let Some(action @ (Action::Redraw | Action::Suspend | Action::ToggleMouse)) = action {
        return input::act(app, action, at);
    }
    let session = panel.session;
    match panel.on_key(key, action, at.moment) {
        QuestionOutcome::NotMine => input::on_key(app, key, at),
        QuestionOutcome::Stays => Vec::new(),
        QuestionOutcome::Answered { call, answer, rule } => {
            answered(app, (session, call), answer, rule.as_deref(), at)
        }
    }
}

fn answered(
    app: &mut App,
    (session, call): (SessionId, CallId),
    answer: Answer,
    rule: Option<&str>,
    at: At,
) -> Vec<Effect> {
    if let Some(rule) = rule
        && let Err(error) = app.approvals.allow(rule)
    {
        // The question stays open: a rule that cannot be read must not turn into a yes.
        app.hint(format!("{rule}: {error}"), at);
        return Vec::new();
    }
    turn::drive(app, session, TurnEvent::Answered(call, answer), at)
}

fn on_trust_key(app: &mut App, key: Key, at: At) -> Vec<Effect> {
    let action = app.keymap.lookup(Layer::Question, key);
    let Some(Panel::Trust(question)) = app.panels.top() else { return Vec::new() };
    if action == Some(Action::Interrupt) {
        return input::act(app, Action::Interrupt, at);
    }
    match question.on_key(key, at.moment) {
        TrustOutcome::NotMine => input::on_key(app, key, at),
        TrustOutcome::Stays => Vec::new(),
        TrustOutcome::No => {
            app.panels.close_top();
            let text = "Not trusted: this folder's instructions and configuration are not read";
            app.front_mut().feed.notice(NoticeKind::Info, text);
            Vec::new()
        }
        TrustOutcome::Yes => {
            app.panels.close_top();
            app.workspace.trust = Trust::Trusted;
            vec![Effect::Trust(app.workspace.path.clone())]
        }
    }
}
