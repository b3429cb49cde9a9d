//! `bash`: runs a shell command, in front or in the background.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::args::Arguments;
use super::process::{BackgroundState, Process, words};
use super::{Access, Bench, Draft, Line, Refusal, Tool};
use crate::approval::action::{Action, Prepared, Preview};
use crate::conversation::message::ToolUse;
use crate::conversation::tool_call::{ToolEvent, ToolOutcome};

/// Seconds that a command may run if the call does not say (spec, tools-safety).
const TIMEOUT_S: u64 = 120;

/// The longest that a call may ask for.
const TIMEOUT_S_MAX: u64 = 600;

/// Time between pieces of output for the screen: 20 a second.
const EVENT_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct Bash;

/// What a call wants.
enum Wish {
    Run { command: String, timeout: Duration },
    Start { command: String },
    Read(u64),
    Stop(u64),
}

impl Tool for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn description(&self) -> &'static str {
        "Runs a shell command in the workspace with `bash -c` and returns stdout and stderr in order, with the \
         exit code. Each call is a new shell: `cd` and variables do not last. There is no terminal and stdin is \
         empty, so nothing can be typed: use flags such as `-y` or `-m`. Prefer `read`, `list`, `glob`, `grep`, \
         `write` and `edit` for files. For servers and watchers set `background`: the call returns an id at \
         once; later read its new output with {\"read\": id} and end it with {\"stop\": id} (no command in these \
         calls). Background commands end with the session. In plan mode only commands that read run: ls, cat, rg, \
         find, git status, git log, git diff and their like, without redirection to files."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The shell command."},
                "timeout_s": {"type": "integer", "minimum": 1, "maximum": TIMEOUT_S_MAX,
                    "description": "Seconds until it and its children are ended; default 120."},
                "background": {"type": "boolean",
                    "description": "Return at once and let it run."},
                "read": {"type": "integer",
                    "description": "Instead of command: id of a background command whose new output to return."},
                "stop": {"type": "integer",
                    "description": "Instead of command: id of a background command to end."}
            }
        })
    }

    fn access(&self) -> Access {
        Access::Runs
    }

    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let (action, preview) = match wish(call)? {
            Wish::Run { command, .. } | Wish::Start { command } => {
                (Action::Run { command: command.clone() }, command)
            }
            Wish::Read(id) => (Action::Session, about(bench, "read the output of", id)?),
            Wish::Stop(id) => (Action::Session, about(bench, "stop", id)?),
        };
        Ok(Draft { action, preview: Preview::Command(preview), guard: None })
    }

    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        line: Line,
    ) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let wish = match wish(&prepared.call) {
                Ok(wish) => wish,
                Err(refusal) => return refusal.into(),
            };
            match wish {
                Wish::Run { command, timeout } => in_front(&bench, &command, timeout, line).await,
                Wish::Start { command } => in_background(&bench, &command),
                Wish::Read(id) => match find(&bench, id) {
                    Ok(process) => report(&process),
                    Err(refusal) => refusal.into(),
                },
                Wish::Stop(id) => match find(&bench, id) {
                    Ok(process) => {
                        process.end().await;
                        report(&process)
                    }
                    Err(refusal) => refusal.into(),
                },
            }
        })
    }
}

fn wish(call: &ToolUse) -> Result<Wish, Refusal> {
    let arguments = Arguments::of(&Bash, call)?;
    let command = arguments.text_if_any("command")?;
    let read = arguments.count_if_any("read", 1..=u64::MAX)?;
    let stop = arguments.count_if_any("stop", 1..=u64::MAX)?;
    let timeout_s = arguments.count_if_any("timeout_s", 1..=TIMEOUT_S_MAX)?.unwrap_or(TIMEOUT_S);
    let is_background = arguments.flag("background")?;
    match (command, read, stop) {
        (Some(command), None, None) if command.trim().is_empty() || command.contains('\0') => {
            Err(Refusal::new("bash: `command` is empty or holds a NUL byte; nothing ran."))
        }
        (Some(command), None, None) if is_background => {
            Ok(Wish::Start { command: command.to_owned() })
        }
        (Some(command), None, None) => {
            Ok(Wish::Run { command: command.to_owned(), timeout: Duration::from_secs(timeout_s) })
        }
        (None, Some(id), None) => Ok(Wish::Read(id)),
        (None, None, Some(id)) => Ok(Wish::Stop(id)),
        _ => Err(Refusal::new(
            "bash: give exactly one of `command` (a string), `read` (an id) and `stop` (an id); nothing ran.",
        )),
    }
}

fn about(bench: &Bench, verb: &str, id: u64) -> Result<String, Refusal> {
    find(bench, id).map(|process| format!("{verb} background command {id}: {}", process.command))
}

fn find(bench: &Bench, id: u64) -> Result<Arc<Process>, Refusal> {
    bench.processes.find(id).ok_or_else(|| {
        let ids: Vec<String> =
            bench.processes.list().iter().map(|info| info.id.to_string()).collect();
        let known = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
        Refusal::new(format!("bash: there is no background command {id}; known ids: {known}."))
    })
}

fn in_background(bench: &Bench, command: &str) -> ToolOutcome {
    match bench.processes.start(command) {
        Err(error) => not_started(&error),
        Ok(process) => {
            bench.processes.keep(&process);
            let id = process.id;
            ToolOutcome::ok(format!(
                "Started as background command {id}. Read its output with {{\"read\": {id}}}, end it with \
                 {{\"stop\": {id}}}."
            ))
            .with_summary(format!("background {id}"))
        }
    }
}

fn report(process: &Process) -> ToolOutcome {
    let mut text = process.text_unread();
    let state = match process.state() {
        BackgroundState::Running => "running".to_owned(),
        BackgroundState::ChildrenOnly => "its children are running".to_owned(),
        BackgroundState::Ended(words) => words,
    };
    if text.is_empty() {
        text.push_str("(no new output)");
    }
    end_line(&mut text);
    let _ = write!(text, "[background command {}: {state}]", process.id);
    ToolOutcome::ok(text).with_summary(state)
}

/// How the wait for a command in front ended.
enum End {
    Exit(std::process::ExitStatus),
    Timeout,
    Stop,
}

async fn in_front(bench: &Bench, command: &str, timeout: Duration, line: Line) -> ToolOutcome {
    let started = Instant::now();
    let process = match bench.processes.start(command) {
        Ok(process) => process,
        Err(error) => return not_started(&error),
    };
    let end = wait(&process, started + timeout, &line).await;
    if !matches!(end, End::Exit(_)) {
        process.end().await;
    }
    say(&process, &line);
    let mut text = process.text();
    if text.is_empty() {
        text.push_str("(no output)");
    }
    end_line(&mut text);
    let seconds = started.elapsed().as_secs_f64();
    let leftovers = leftovers(bench, &process).await;
    match end {
        End::Exit(status) => {
            let summary = format!("{}, {seconds:.1} s", words(status));
            let text = format!("{text}[{summary}]{leftovers}");
            let outcome =
                if status.success() { ToolOutcome::ok(text) } else { ToolOutcome::failed(text) };
            outcome.with_summary(summary)
        }
        End::Timeout => ToolOutcome::failed(format!(
            "{text}[timed out after {seconds:.1} s; it and its children were ended. Ask for more time with \
             `timeout_s` (at most {TIMEOUT_S_MAX}), or use `background`]{leftovers}"
        ))
        .with_summary(format!("timed out, {seconds:.1} s")),
        End::Stop => ToolOutcome::interrupted(format!(
            "{text}[stopped after {seconds:.1} s; it and its children were ended]{leftovers}"
        ))
        .with_summary(format!("stopped, {seconds:.1} s")),
    }
}

async fn wait(process: &Process, deadline: Instant, line: &Line) -> End {
    let mut tick = interval(EVENT_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ended = process.ended();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            biased;
            () = line.stop.cancelled() => return End::Stop,
            status = &mut ended => return End::Exit(status),
            () = sleep_until(deadline) => return End::Timeout,
            _ = tick.tick() => say(process, line),
        }
    }
}

/// Sends new output to the screen, if there is room: the screen never holds a command back.
fn say(process: &Process, line: &Line) {
    let Ok(place) = line.events.try_reserve() else { return };
    let fresh = process.take_fresh();
    if !fresh.is_empty() {
        place.send(ToolEvent::Output(fresh));
    }
}

/// X02: children that outlive their shell are named, and stay listed until they end.
async fn leftovers(bench: &Bench, process: &Process) -> String {
    if process.settles().await {
        bench.processes.forget(process);
        return String::new();
    }
    // What this result shows is read.
    let _ = process.text_unread();
    bench.processes.keep(process);
    let id = process.id;
    format!(
        "\n[processes that it started are still running: background command {id}; read their output with \
         {{\"read\": {id}}}, end them with {{\"stop\": {id}}}]"
    )
}

fn end_line(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

fn not_started(error: &std::io::Error) -> ToolOutcome {
    ToolOutcome::failed(format!("bash: the shell could not be started: {error}"))
}
