//! The tools that a model has, one file a tool.
//!
//! A call goes through two steps: [`Toolbox::prepare`] looks (arguments, paths, what would change) and
//! touches nothing; [`Toolbox::run`] does it, against what was prepared.
//!
//! Invariants: every failure is a [`ToolOutcome`] whose text says what to do next; what the mode does not
//! have (a tool, or a command that does more than read) does not run, whatever was allowed before; a path is
//! opened without following a link that appeared after it was judged.
//! Not here: whether a call may run (`approval`), the cut for the model's view (`base::text::cut`).

mod args;
mod bash;
mod diff;
mod edit;
mod glob;
mod grep;
mod list;
mod nearby;
mod open;
mod output;
mod path;
mod plain;
mod process;
mod read;
mod replace;
mod seen;
mod splice;
mod text;
mod todo;
mod walk;
mod write;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use crate::approval::action::{Action, Guard, Prepared, Preview};
use crate::approval::decision;
use crate::base::text::{cut, near};
use crate::conversation::message::ToolUse;
use crate::conversation::mode::Mode;
use crate::conversation::tool_call::{ToolEvent, ToolOutcome, ToolSpec, invalid_arguments};

pub use process::{BackgroundInfo, BackgroundState, left_behind};

/// Every tool, in the order that the model sees.
const TOOLS: [&dyn Tool; 8] = [
    &read::Read,
    &list::List,
    &glob::Glob,
    &grep::Grep,
    &write::Write,
    &edit::Edit,
    &bash::Bash,
    &todo::TodoList,
];

/// Characters of what the model sent that an error about it repeats.
const SENT_CHARS_MAX: usize = 300;

/// Where the bytes of images go: a store that finds them again by their SHA-256.
pub trait BlobSink: Send + Sync {
    fn put(&self, bytes: &[u8]) -> io::Result<()>;
}

/// What a session's tools work with.
pub struct Setup {
    pub workspace: PathBuf,
    /// Names of the variables that hold provider keys: no command sees them.
    pub environment_remove: Vec<String>,
    /// Without it images are named but not shown.
    pub blobs: Option<Arc<dyn BlobSink>>,
    /// `TMPDIR` of commands; made on first use, readable by its owner only.
    pub temp_dir: PathBuf,
}

/// A session's tools. Clones share their state.
#[derive(Clone)]
pub struct Toolbox {
    bench: Arc<Bench>,
}

/// What the tools of a session share.
struct Bench {
    workspace: path::Workspace,
    seen: seen::Seen,
    processes: process::Processes,
    blobs: Option<Arc<dyn BlobSink>>,
}

/// A tool: what the model is told of it, and its two steps.
trait Tool: Sync {
    fn name(&self) -> &'static str;
    fn description(&self) -> &'static str;
    /// JSON Schema of the arguments object.
    fn parameters(&self) -> Value;
    fn access(&self) -> Access;
    /// Looks, and changes nothing. May block.
    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal>;
    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        line: Line,
    ) -> BoxFuture<'static, ToolOutcome>;
}

/// What a tool touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Reads files; calls may run beside each other.
    Reads,
    /// Changes the session's own state only.
    Session,
    /// Runs commands: in plan mode those that only read.
    Runs,
    /// Changes files: not in plan mode.
    Changes,
}

impl Access {
    fn is_in(self, mode: Mode) -> bool {
        match mode {
            Mode::Work => true,
            Mode::Plan => self != Self::Changes,
        }
    }
}

/// A tool's part of a [`Prepared`].
struct Draft {
    action: Action,
    preview: Preview,
    guard: Option<Guard>,
}

/// How a running call speaks and is spoken to.
struct Line {
    events: Sender<ToolEvent>,
    stop: CancellationToken,
}

/// Why a call cannot run or did not succeed: words for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refusal(String);

impl Refusal {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl From<Refusal> for ToolOutcome {
    fn from(refusal: Refusal) -> Self {
        ToolOutcome::failed(refusal.0)
    }
}

impl Toolbox {
    pub fn new(setup: Setup) -> Self {
        let workspace = path::Workspace::new(&setup.workspace);
        let processes = process::Processes::new(process::Surroundings {
            directory: workspace.root().to_path_buf(),
            environment_remove: setup.environment_remove,
            temp_dir: setup.temp_dir,
        });
        let bench = Bench { workspace, seen: seen::Seen::default(), processes, blobs: setup.blobs };
        Self { bench: Arc::new(bench) }
    }

    /// The tools that a mode has.
    pub fn specs(mode: Mode) -> Vec<ToolSpec> {
        TOOLS.iter().filter(|tool| tool.access().is_in(mode)).map(|tool| spec(*tool)).collect()
    }

    /// Looks at a call: arguments, paths, what would change. Nothing is changed.
    ///
    /// An error is the call's result: it cannot run.
    pub async fn prepare(&self, call: ToolUse, mode: Mode) -> Result<Prepared, ToolOutcome> {
        let tool = find(&call.name, mode)?;
        if let Some(sent) = invalid_arguments(&call) {
            return Err(unparsed(tool, sent).into());
        }
        let bench = Arc::clone(&self.bench);
        let looking = tokio::task::spawn_blocking(move || {
            let draft = tool.prepare(&bench, &call)?;
            in_mode(&draft.action, mode)?;
            Ok(Prepared {
                call,
                action: draft.action,
                preview: draft.preview,
                guard: draft.guard,
                is_independent: tool.access() == Access::Reads,
            })
        });
        match looking.await {
            Ok(Ok(prepared)) => Ok(prepared),
            Ok(Err(Refusal(text))) => Err(ToolOutcome::failed(text)),
            Err(_) => Err(broke(tool.name())),
        }
    }

    /// Runs a prepared call. The mode is judged again: it may have changed while the call waited.
    pub async fn run(
        &self,
        prepared: Prepared,
        mode: Mode,
        events: Sender<ToolEvent>,
        stop: CancellationToken,
    ) -> ToolOutcome {
        let found = find(&prepared.call.name, mode);
        match found.and_then(|tool| in_mode(&prepared.action, mode).map(|()| tool)) {
            Ok(_) if stop.is_cancelled() => ToolOutcome::interrupted("Stopped before it ran."),
            Ok(tool) => tool.run(Arc::clone(&self.bench), prepared, Line { events, stop }).await,
            Err(refusal) => refusal.into(),
        }
    }

    /// Commands that run beside the conversation, oldest first.
    pub fn background(&self) -> Vec<BackgroundInfo> {
        self.bench.processes.list()
    }

    /// Ends every process that the session's commands left.
    pub async fn shutdown(&self) {
        self.bench.processes.end_all().await;
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolbox").field("workspace", &self.bench.workspace.root()).finish()
    }
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

fn spec(tool: &dyn Tool) -> ToolSpec {
    ToolSpec {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        parameters: tool.parameters(),
    }
}

fn find(name: &str, mode: Mode) -> Result<&'static dyn Tool, Refusal> {
    let names = |mode: Mode| {
        let in_mode = TOOLS.iter().filter(|tool| tool.access().is_in(mode));
        in_mode.map(|tool| tool.name()).collect::<Vec<_>>()
    };
    let Some(tool) = TOOLS.iter().find(|tool| tool.name() == name) else {
        let meant = near::nearest(name, names(mode))
            .map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
        return Err(Refusal::new(format!(
            "There is no tool `{}`; nothing ran.{meant} The tools are: {}.",
            path::quoted(cut::chars(name, 80)),
            names(mode).join(", ")
        )));
    };
    if tool.access().is_in(mode) {
        return Ok(*tool);
    }
    Err(Refusal::new(format!(
        "Plan mode: `{name}` is not available because it could change things; nothing ran. Read with {}, \
         and finish with a plan that the person can accept to switch to work mode.",
        names(mode).join(", ")
    )))
}

/// X12: in plan mode a command runs if it only reads. Judged when the call is looked at and when it runs.
fn in_mode(action: &Action, mode: Mode) -> Result<(), Refusal> {
    match (mode, action) {
        (Mode::Plan, Action::Run { command }) if !decision::only_reads(command) => {
            Err(Refusal::new(
                "Plan mode: only commands that are known to read run (such as ls, cat, rg, find, git status, \
                 git log, git diff), inside the workspace and without redirection to files; nothing ran. \
                 Finish with a plan that the person can accept to switch to work mode.",
            ))
        }
        (Mode::Plan, Action::Change(_)) => {
            Err(Refusal::new("Plan mode: nothing may be changed; nothing was written."))
        }
        (Mode::Plan | Mode::Work, _) => Ok(()),
    }
}

/// W12: arguments that did not parse are never repaired and run.
fn unparsed(tool: &dyn Tool, sent: &str) -> Refusal {
    Refusal::new(format!(
        "{}: the arguments were not a whole JSON object, so nothing ran. If the output limit cut the call, \
         send it again in smaller parts.\nSent ({} bytes): {}{}\nRequired: {}",
        tool.name(),
        sent.len(),
        cut::chars(sent, SENT_CHARS_MAX),
        if sent.chars().nth(SENT_CHARS_MAX).is_some() { " […]" } else { "" },
        args::required(&tool.parameters()),
    ))
}

fn broke(name: &str) -> ToolOutcome {
    ToolOutcome::failed(format!(
        "{name}: the tool itself broke (a fault of this program). Try another way."
    ))
}

/// Runs blocking work that only reads: a stop ends the wait at once, and the work sees the token.
fn reading(
    name: &'static str,
    stop: CancellationToken,
    work: impl FnOnce(&CancellationToken) -> Result<ToolOutcome, Refusal> + Send + 'static,
) -> BoxFuture<'static, ToolOutcome> {
    Box::pin(async move {
        let token = stop.clone();
        let working = tokio::task::spawn_blocking(move || work(&token));
        tokio::select! {
            done = working => done.map_or_else(|_| broke(name), |it| it.unwrap_or_else(Into::into)),
            () = stop.cancelled() => ToolOutcome::interrupted("Stopped before its end."),
        }
    })
}

/// Runs blocking work that changes something: its end is awaited, so that the report is true.
fn changing(
    name: &'static str,
    work: impl FnOnce() -> Result<ToolOutcome, Refusal> + Send + 'static,
) -> BoxFuture<'static, ToolOutcome> {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(work).await;
        done.map_or_else(|_| broke(name), |it| it.unwrap_or_else(Into::into))
    })
}

#[cfg(test)]
mod tests;
