//! `crystal run`: the same workspace without a screen.
//!
//! Invariant: stdout holds the answer (or the events) and nothing else; a reader that goes away ends the
//! output, not the turn.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::{Value, json};

use crate::app::App;
use crate::app::effect::{Effect, Exit, StoreOp};
use crate::app::event::{Event, Report, Said};
use crate::base::text::sanitize;
use crate::base::time::Moment;
use crate::conversation::message::{Block, Role};
use crate::conversation::round::RoundEvent;
use crate::conversation::usage::Usage;
use crate::session::codec;
use crate::session::state::Counters;
use crate::terminal::signals::Signals;
use crate::turn::{Ended, Sight};
use crate::update::{advice, submit, update};

use super::launch::Launched;
use super::perform::{Host, Outward};
use super::writers::Closed;

/// What stdout gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The final answer.
    Text,
    /// One object at the end.
    Json,
    /// One event a line.
    StreamJson,
}

/// How the run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ended: Option<Ended>,
    /// The model that was asked.
    pub model: String,
    /// What a person can do about a failure.
    pub advice: Option<&'static str>,
    /// What is not on disk.
    pub unsaved: Option<String>,
}

struct Run {
    app: App,
    host: Host,
    format: Format,
    shows_progress: bool,
    before: Counters,
    exit: Option<Exit>,
}

/// Sends one message and works until the turn ends.
pub async fn run(launched: Launched, prompt: String, format: Format) -> io::Result<Outcome> {
    let Launched { app, host, mut events, first } = launched;
    let before = app.front().state.counters;
    let shows_progress = format == Format::Text && io::stderr().is_terminal();
    let mut run = Run { app, host, format, shows_progress, before, exit: None };
    let mut signals = Signals::listen()?;
    let started = run.host.clock.at();
    run.perform(first);
    let effects = submit(&mut run.app, prompt, started);
    run.perform(effects);
    while run.exit.is_none() && run.app.front().last_ended.is_none() {
        let deadline = run.host.timers.next().map(|moment| run.host.clock.instant(moment));
        tokio::select! {
            biased;
            signal = signals.next() => run.on(Event::Signal(signal)),
            Some(event) = events.recv() => run.on(event),
            () = wait(deadline) => {}
        }
        let now = run.host.clock.at().moment;
        while let Some(timer) = run.host.timers.take_due(now) {
            run.on(Event::Timer(timer));
        }
    }
    // Nobody listens any more: a writer that has something to tell must not wait for a place.
    drop(events);
    run.leave(started.moment).await
}

async fn wait(until: Option<tokio::time::Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

impl Run {
    fn on(&mut self, event: Event) {
        self.tell(&event);
        let effects = update(&mut self.app, event, self.host.clock.at());
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let (Format::StreamJson, Effect::Store(_, StoreOp::Append(record))) =
                (self.format, &effect)
            {
                let record = (**record).clone().redacted(self.host.writers.redactor());
                out(&codec::encode(&record));
            }
            if let Some(Outward::Exit(exit)) = self.host.perform(effect) {
                self.exit = Some(exit);
            }
        }
    }

    /// What a watcher sees while it happens.
    fn tell(&self, event: &Event) {
        let Event::Report(Report { said, .. }) = event else { return };
        match (said, self.format) {
            (Said::Round(RoundEvent::Text(text)), Format::StreamJson) => {
                line(&json!({"kind": "delta", "text": text}));
            }
            (Said::Round(RoundEvent::Call(call)), _) if self.shows_progress => {
                let sight = Sight::Call(call.clone());
                let mut feed = crate::app::feed::Feed::default();
                feed.see(sight);
                if let Some(crate::app::cells::cell::CellContent::Tool(cell)) =
                    feed.cells().as_slice().first().map(crate::app::cells::Cell::content)
                {
                    let text = format!("· {} {}", cell.tool, sanitize::line(&cell.subject));
                    let _closed = writeln!(io::stderr(), "{text}");
                }
            }
            _ => {}
        }
    }

    async fn leave(mut self, started: Moment) -> io::Result<Outcome> {
        self.app.leave(Exit::Done);
        let at = self.host.clock.at();
        let effects = crate::update::leave(&mut self.app, at);
        self.perform(effects);
        self.host.shut_down_tools().await;
        let closed: Vec<Closed> = self.host.writers.close_all();
        let unsaved = closed.into_iter().find_map(|closed| closed.unsaved);
        let ended = match self.exit {
            Some(Exit::Interrupted) => Some(Ended::Interrupted),
            _ => self.app.front().last_ended.clone(),
        };
        let duration_ms = at.moment.since_ms(started);
        match self.format {
            Format::Text => out(with_newline(self.shown_answer()).as_bytes()),
            Format::Json => line(&self.summary(ended.as_ref(), duration_ms)),
            Format::StreamJson => {
                let mut summary = self.summary(ended.as_ref(), duration_ms);
                if let Value::Object(fields) = &mut summary {
                    fields.insert("kind".to_owned(), json!("result"));
                }
                line(&summary);
            }
        }
        let advice = match &ended {
            Some(Ended::Failed(error)) => advice(&error.kind),
            Some(Ended::Done(_) | Ended::Interrupted | Ended::RoundLimit(_)) | None => None,
        };
        Ok(Outcome { ended, model: self.app.front().model_label(), advice, unsaved })
    }

    /// The answer for a reader: a terminal is not steered by it, a pipe gets it as it is.
    fn shown_answer(&self) -> String {
        let answer = self.answer();
        if io::stdout().is_terminal() { sanitize::clean(&answer).into_owned() } else { answer }
    }

    /// The text after the last tool result: the final answer, without configured secrets.
    fn answer(&self) -> String {
        let messages = self.app.front().state.transcript.messages();
        let texts = messages.iter().rev().take_while(|message| message.role == Role::Assistant);
        let mut texts: Vec<&str> = texts
            .flat_map(|message| &message.content)
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.reverse();
        self.host.writers.redactor().redact(texts.join("\n"))
    }

    fn summary(&self, ended: Option<&Ended>, duration_ms: u64) -> Value {
        let state = &self.app.front().state;
        let mut summary = json!({
            "sessionId": state.id,
            "result": self.answer(),
            "stopReason": ended.map_or("interrupted", Ended::name),
            "usage": state.usage.last.map(usage),
            "totalUsage": state.usage.total.map(usage),
            "rounds": state.counters.rounds - self.before.rounds,
            "toolCalls": state.counters.tool_calls - self.before.tool_calls,
            "durationMs": duration_ms,
        });
        if let (Value::Object(fields), Some(Ended::Failed(error))) = (&mut summary, ended) {
            fields.insert("error".to_owned(), json!(error.to_string()));
        }
        summary
    }
}

fn usage(usage: Usage) -> Value {
    serde_json::to_value(usage).unwrap_or_default()
}

fn with_newline(text: String) -> String {
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

fn line(value: &Value) {
    out(format!("{value}\n").as_bytes());
}

/// Writes to stdout; a reader that went away wants no more.
fn out(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let _closed = stdout.write_all(bytes).and_then(|()| stdout.flush());
}
