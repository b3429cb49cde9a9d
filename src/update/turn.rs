//! What a turn wants → records of its session, tasks, timers, cells.

use crate::app::App;
use crate::app::cells::cell::NoticeKind;
use crate::app::effect::{Effect, Job, ScreenEffect, StoreOp};
use crate::app::key::Focused;
use crate::app::live::LiveSession;
use crate::app::panels::Panel;
use crate::app::panels::question::QuestionPanel;
use crate::app::tasks::{Due, Work};
use crate::base::id::{CallId, SessionId, TaskId};
use crate::base::time::{At, Moment};
use crate::config::schema::Notifications;
use crate::conversation::estimate;
use crate::conversation::message::{Block, Message, Role};
use crate::conversation::pairing;
use crate::conversation::round::{Purpose, RoundErrorKind, RoundRequest, StopReason};
use crate::conversation::usage::Usage;
use crate::session::event::{EventKind, Partial, PartialKind as RecordedKind};
use crate::session::message_record::ArchivedMessage;
use crate::session::record::Record;
use crate::turn::{Context, Draft, Ended, PartialKind, TurnEffect, TurnEvent};

mod spans;

/// Gives an event to a session's turn and returns what comes of it.
pub(super) fn drive(app: &mut App, session: SessionId, event: TurnEvent, at: At) -> Vec<Effect> {
    let mut effects = Vec::new();
    for effect in decide(app, session, event, at) {
        effects.extend(carry_out(app, session, effect, at));
    }
    effects
}

fn decide(app: &mut App, session: SessionId, event: TurnEvent, at: At) -> Vec<TurnEffect> {
    let random = app.ids.random();
    let options = &app.options;
    let (attended, retry, rounds_max) = (options.attended, options.retry, options.rounds_max);
    // Taken out for the time of the decision: a copy at each streamed word would cost more than the word.
    let approvals = std::mem::take(&mut app.approvals);
    let wanted = app.session_mut(session).map_or_else(Vec::new, |live| {
        if matches!(event, TurnEvent::Submit(_)) && live.turn.refuses_messages() {
            live.feed.notice(NoticeKind::Warning, QUEUE_FULL);
            return Vec::new();
        }
        let mode = live.state.mode;
        let mut turn = std::mem::take(&mut live.turn);
        let context = Context {
            at,
            judge: &|prepared| approvals.judge(prepared, mode),
            is_taken: &|call| has_call(live, call),
            attended,
            retry,
            rounds_max,
            random,
        };
        let wanted = turn.on(event, &context);
        live.turn = turn;
        wanted
    });
    app.approvals = approvals;
    wanted
}

/// Said when no more messages can wait.
pub(super) const QUEUE_FULL: &str = "Too many messages are waiting; this one was not taken";

fn has_call(live: &LiveSession, call: &CallId) -> bool {
    let messages = live.state.transcript.messages();
    messages.iter().flat_map(|message| message.tool_uses()).any(|earlier| earlier.id == *call)
}

fn carry_out(app: &mut App, session: SessionId, effect: TurnEffect, at: At) -> Vec<Effect> {
    match effect {
        TurnEffect::StartRound => return start_round(app, session),
        TurnEffect::StopRound => return stop(app, session, &Work::Round),
        TurnEffect::Prepare(call) => {
            let mode = mode_of(app, session);
            let work = Work::Prepare(call.id.clone());
            return start(app, session, work, Job::Prepare { session, call, mode });
        }
        TurnEffect::Run(prepared) => {
            let mode = mode_of(app, session);
            let work = Work::Tool(prepared.call.id.clone());
            return start(app, session, work, Job::Tool { session, prepared, mode });
        }
        // Not forgotten: the task still reports what the call had done.
        TurnEffect::StopCall(call) => {
            let task = app.tasks.find(session, &Work::Tool(call));
            return task.map(Effect::Stop).into_iter().collect();
        }
        TurnEffect::RetryAt(moment) => return set_timer(app, session, Due::Retry, moment),
        TurnEffect::PartialAt(moment) => return set_timer(app, session, Due::Partial, moment),
        TurnEffect::Ask(question) => {
            let panel = QuestionPanel::new(session, question, at.moment);
            app.panels.open(Panel::Question(Box::new(panel)));
            return notify(app, "An approval is waiting");
        }
        TurnEffect::Unask(call) => app.panels.close_question(session, &call),
        TurnEffect::Ended(ended) => return end(app, session, ended, at),
        TurnEffect::Say(_)
        | TurnEffect::Partial { .. }
        | TurnEffect::Observe(_)
        | TurnEffect::Used(_)
        | TurnEffect::SetTodos(_)
        | TurnEffect::Show(_) => {
            let spec = app.session_mut(session).map(|live| live.model().clone());
            let Some((live, choice)) = app.session_mut(session).zip(spec) else {
                return Vec::new();
            };
            return happen(live, effect, &choice, at);
        }
    }
    Vec::new()
}

/// What changes the session itself.
fn happen(
    live: &mut LiveSession,
    effect: TurnEffect,
    model: &crate::conversation::model::ModelChoice,
    at: At,
) -> Vec<Effect> {
    match effect {
        TurnEffect::Say(draft) => say(live, draft, at),
        TurnEffect::Partial { kind, text } => {
            let message_id = live.state.last_message_id.next();
            let kind = match kind {
                PartialKind::Text => RecordedKind::Text,
                PartialKind::Reasoning => RecordedKind::Reasoning,
            };
            let event = EventKind::Partial(Partial { message_id, kind, text });
            live.record(Record::event(at.wall, event), at)
        }
        TurnEffect::Observe(span) => {
            if span == crate::turn::Span::TurnStart {
                live.begin_run();
            }
            let span = spans::recorded(span, model, || estimated_usage(live));
            let run = live.run_id().to_owned();
            live.record(Record::obs(run, at.wall, span), at)
        }
        // The observation before this carries the usage into the state.
        TurnEffect::Used(_) => Vec::new(),
        TurnEffect::SetTodos(todos) => {
            live.record(Record::event(at.wall, EventKind::Todos { todos }), at)
        }
        TurnEffect::Show(sight) => {
            live.feed.see(sight);
            Vec::new()
        }
        TurnEffect::StartRound
        | TurnEffect::StopRound
        | TurnEffect::Prepare(_)
        | TurnEffect::Run(_)
        | TurnEffect::StopCall(_)
        | TurnEffect::RetryAt(_)
        | TurnEffect::PartialAt(_)
        | TurnEffect::Ask(_)
        | TurnEffect::Unask(_)
        | TurnEffect::Ended(_) => Vec::new(),
    }
}

/// The usage of a round whose provider reported none: the transcript ends in its reply by now.
fn estimated_usage(live: &LiveSession) -> Usage {
    let messages = live.state.transcript.messages();
    let reply = messages.iter().rev().take_while(|message| message.role == Role::Assistant);
    let output = reply.map(|message| estimate::message_tokens(message)).sum();
    let input = live.estimate().saturating_sub(output);
    Usage { input, output, estimated: true, ..Usage::default() }
}

fn say(live: &mut LiveSession, draft: Draft, at: At) -> Vec<Effect> {
    let last = live.state.transcript.last_id();
    let folded = live.state.transcript.summary().map(|summary| summary.through_message_id);
    let message = Message {
        id: live.state.last_message_id.next(),
        parent_id: last.or(folded),
        ts: at.wall,
        role: draft.role,
        content: vec![draft.block],
        interrupted: draft.interrupted,
    };
    let whole = draft.original.as_ref().map(|(text, _)| text.as_str());
    match &message.content[..] {
        [Block::Text { text }] if message.role == Role::User => live.feed.user(text.clone()),
        [Block::ToolResult(result)] => live.feed.result(result, whole, message.interrupted),
        _ => {}
    }
    let archived = match (&message.content[..], draft.original) {
        ([Block::ToolResult(result)], Some((whole, cut))) => {
            let call = result.tool_use_id.clone();
            ArchivedMessage::with_whole(message, call, whole, cut)
        }
        _ => ArchivedMessage::from(message),
    };
    live.record(Record::Message(archived), at)
}

fn start_round(app: &mut App, session: SessionId) -> Vec<Effect> {
    let Some(live) = app.session_mut(session) else { return Vec::new() };
    let choice = live.model().clone();
    let frame = live.frame.clone();
    let messages = pairing::request_messages(&live.state.transcript);
    let after = live.storage.given;
    live.last_ended = None;
    let request = RoundRequest {
        model: app.models.find(&choice.provider, &choice.id),
        gear: choice.thinking_effort,
        system: frame.system,
        messages,
        tools: frame.tools,
        cache_key: session.to_string(),
        purpose: Purpose::Round,
    };
    start(app, session, Work::Round, Job::Round { session, after, request: Box::new(request) })
}

fn start(app: &mut App, session: SessionId, work: Work, job: Job) -> Vec<Effect> {
    let task = app.ids.task();
    app.tasks.add(task, session, work);
    vec![Effect::Start(task, job)]
}

fn stop(app: &mut App, session: SessionId, work: &Work) -> Vec<Effect> {
    let task: Option<TaskId> = app.tasks.find(session, work);
    if let Some(task) = task {
        app.tasks.remove(task);
    }
    task.map(Effect::Stop).into_iter().collect()
}

fn set_timer(app: &mut App, session: SessionId, due: Due, moment: Moment) -> Vec<Effect> {
    let timer = app.ids.timer();
    app.tasks.set_timer(timer, session, due);
    vec![Effect::Timer(timer, moment)]
}

fn mode_of(app: &mut App, session: SessionId) -> crate::conversation::mode::Mode {
    app.session_mut(session).map(|live| live.state.mode).unwrap_or_default()
}

/// The turn is over: what waits of it is ended, the session is saved, the person is told.
fn end(app: &mut App, session: SessionId, ended: Ended, at: At) -> Vec<Effect> {
    let mut effects: Vec<Effect> = app.tasks.drain(session).into_iter().map(Effect::Stop).collect();
    let Some(live) = app.session_mut(session) else { return effects };
    live.feed.turn_ended();
    if let Some((kind, text)) = last_words(&ended, live) {
        live.feed.notice(kind, text);
    }
    if ended == Ended::Interrupted {
        let message_id = live.state.last_message_id;
        let why = "stopped by the person".to_owned();
        let event = EventKind::Interrupted { message_id, why };
        effects.extend(live.record(Record::event(at.wall, event), at));
    }
    let is_interrupted = ended == Ended::Interrupted;
    live.last_ended = Some(ended);
    effects.push(Effect::Store(session, StoreOp::Sync));
    effects.extend(live.save());
    if !is_interrupted {
        effects.extend(notify(app, "The turn has ended"));
    }
    effects
}

/// The line under a turn that did not end by itself.
fn last_words(ended: &Ended, live: &LiveSession) -> Option<(NoticeKind, String)> {
    let waits = match live.turn.queue().len() {
        0 => "",
        _ => ". What waits is sent with your next message, or by Enter",
    };
    match ended {
        Ended::Done(StopReason::EndTurn | StopReason::ToolUse) => None,
        Ended::Done(StopReason::Length) => {
            let text = "The reply reached its token limit. Send `go on` to continue";
            Some((NoticeKind::Warning, text.to_owned()))
        }
        Ended::Done(StopReason::Refusal(why)) => {
            Some((NoticeKind::Warning, format!("The model refused: {why}")))
        }
        Ended::Done(StopReason::Other(why)) => {
            Some((NoticeKind::Warning, format!("The model stopped: {why}")))
        }
        Ended::Interrupted => Some((NoticeKind::Info, format!("Interrupted{waits}"))),
        Ended::RoundLimit(rounds) => {
            let text = format!("Stopped after {rounds} rounds. Send `go on` to continue{waits}");
            Some((NoticeKind::Warning, text))
        }
        Ended::Failed(error) => {
            let hint = advice(&error.kind).map_or_else(String::new, |hint| format!(". {hint}"));
            Some((NoticeKind::Error, format!("{}: {error}{hint}{waits}", live.model_label())))
        }
    }
}

/// What a person can do about a failed round.
pub fn advice(kind: &RoundErrorKind) -> Option<&'static str> {
    match kind {
        RoundErrorKind::Credentials => {
            Some("Check the key of this provider in config.json or its variable")
        }
        RoundErrorKind::ContextTooLong { .. } => {
            Some("Start anew with /clear, or choose a larger model with /model")
        }
        RoundErrorKind::Connect => {
            Some("Is the server running? The message is kept: send `go on` to try again")
        }
        RoundErrorKind::Stalled | RoundErrorKind::Cut | RoundErrorKind::Busy => {
            Some("The message is kept: send `go on` to try again")
        }
        RoundErrorKind::Rejected | RoundErrorKind::Nonsense => None,
    }
}

fn notify(app: &App, text: &str) -> Vec<Effect> {
    if app.screen.focused != Focused::Lost {
        return Vec::new();
    }
    let effect = match app.options.notifications {
        Notifications::Off => return Vec::new(),
        Notifications::Bell => ScreenEffect::Bell,
        Notifications::Osc9 => ScreenEffect::Notify(text.to_owned()),
    };
    vec![Effect::Screen(effect)]
}
