//! Commands as processes: their own session, no terminal, output in order, ended with all their children.
//!
//! Invariants: stdin is `/dev/null` and there is no controlling terminal; one pipe takes stdout and stderr;
//! a task drains it as long as anyone holds it, so that children neither block nor fill memory; every
//! process that is left is listed until it ended, and `end_all` ends it.
//! Not here: arguments and words for the model (`bash`).

#![expect(clippy::disallowed_methods, reason = "the edge runs processes and a task for each")]

mod members;

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::output::Output;
use crate::approval::decision;

/// How long processes have to end after TERM.
const TERM_GRACE: Duration = Duration::from_millis(1_500);

/// How often is looked whether they ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// How long a pipe that never falls silent is drained after its shell ended.
const DRAIN_MAX: Duration = Duration::from_millis(500);

/// How long children have to end by themselves after their shell before they count as left.
const SETTLE_MAX: Duration = Duration::from_millis(150);

/// Ended commands that stay readable.
const ENDED_MAX: usize = 16;

/// The variable that marks a command's processes, also those that left its session.
const MARK_VARIABLE: &str = "CRYSTAL_COMMAND_ID";

/// Variables that keep programs from waiting for a person.
const ENVIRONMENT: [(&str, &str); 14] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    // Fails at once: an editor that succeeds unasked would accept a text nobody wrote.
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // `git status` rewrites the index otherwise, and its lock gets in the way of the person's own git.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("CI", "1"),
    ("TERM", "dumb"),
];

/// Settings of git for commands that run unasked: those of a repository could start programs.
const GIT_WHEN_READING: [(&str, &str); 2] =
    [("core.fsmonitor", "false"), ("log.showSignature", "false")];

/// A command that runs, or ran, beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundInfo {
    pub id: u64,
    pub command: String,
    pub state: BackgroundState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackgroundState {
    Running,
    /// The command itself ended; processes that it started live on.
    ChildrenOnly,
    /// In words, such as `exit 0`.
    Ended(String),
}

/// Commands that a crashed process of this program left running, as lines for the person (X02).
///
/// Reads the process table, which takes milliseconds: not to be called where someone waits.
pub fn left_behind(temp_root: &std::path::Path) -> Vec<String> {
    members::left_behind(temp_root)
}

/// Where commands run.
pub(super) struct Surroundings {
    pub(super) directory: PathBuf,
    pub(super) environment_remove: Vec<String>,
    pub(super) temp_dir: PathBuf,
}

/// The session's processes.
pub(super) struct Processes {
    surroundings: Surroundings,
    running: Mutex<Vec<Arc<Process>>>,
    last_id: AtomicU64,
}

/// One command.
pub(super) struct Process {
    pub(super) id: u64,
    pub(super) command: String,
    pub(super) output: Mutex<Output>,
    /// Also the id of its session and group.
    pid: Option<i32>,
    mark: String,
    stage: watch::Receiver<Stage>,
    is_listed: std::sync::atomic::AtomicBool,
}

/// How far a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Running,
    /// The direct shell ended and what it had printed is here; someone may still hold the pipe.
    Ended(ExitStatus),
    /// The pipe is closed too.
    Closed(ExitStatus),
}

impl Processes {
    pub(super) fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, running: Mutex::default(), last_id: AtomicU64::new(0) }
    }

    /// Starts a shell command.
    pub(super) fn start(&self, command: &str) -> io::Result<Arc<Process>> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        // Random: the sessions of this process count alike, and so did an earlier process with its number.
        // The number tells a later start that the process that should have ended its commands is gone.
        let mark = format!("{}-{:016x}", std::process::id(), RandomState::new().hash_one(id));
        let (child, reader) = match self.spawn("bash", command, &mark) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.spawn("sh", command, &mark)?
            }
            other => other?,
        };
        let (sender, stage) = watch::channel(Stage::Running);
        let process = Arc::new(Process {
            id,
            command: command.to_owned(),
            output: Mutex::default(),
            pid: child.id().and_then(|pid| i32::try_from(pid).ok()),
            mark,
            stage,
            is_listed: false.into(),
        });
        self.lock().push(Arc::clone(&process));
        tokio::spawn(attend(child, reader, Arc::clone(&process), sender));
        Ok(process)
    }

    /// The listed commands, oldest first.
    pub(super) fn list(&self) -> Vec<BackgroundInfo> {
        let listed = self.lock();
        let listed = listed.iter().filter(|process| process.is_listed.load(Ordering::Relaxed));
        let info = |process: &Arc<Process>| BackgroundInfo {
            id: process.id,
            command: process.command.clone(),
            state: process.state(),
        };
        listed.map(info).collect()
    }

    pub(super) fn find(&self, id: u64) -> Option<Arc<Process>> {
        self.lock().iter().find(|process| process.id == id).cloned()
    }

    /// Lists a command as one that runs beside the conversation.
    pub(super) fn keep(&self, process: &Process) {
        process.is_listed.store(true, Ordering::Relaxed);
        let mut running = self.lock();
        let ended = |process: &Process| matches!(process.state(), BackgroundState::Ended(_));
        let surplus = running.iter().filter(|it| ended(it)).count().saturating_sub(ENDED_MAX);
        let mut dropped = 0;
        running.retain(|it| {
            let drop = dropped < surplus && ended(it) && it.id != process.id;
            dropped += usize::from(drop);
            !drop
        });
    }

    /// Forgets a command that ended with all its processes.
    pub(super) fn forget(&self, process: &Process) {
        self.lock().retain(|it| it.id != process.id);
    }

    /// Ends every process that is left.
    pub(super) async fn end_all(&self) {
        let running = self.lock().clone();
        futures_util::future::join_all(running.iter().map(|process| process.end())).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Process>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self, shell: &str, command: &str, mark: &str) -> io::Result<(Child, pipe::Receiver)> {
        let (reader, writer) = io::pipe()?;
        let mut shell = Command::new(shell);
        shell
            .arg("-c")
            .arg(command)
            .current_dir(&self.surroundings.directory)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .envs(ENVIRONMENT)
            .env(MARK_VARIABLE, mark)
            // A file that a non-interactive shell would run first.
            .env_remove("BASH_ENV")
            .env_remove("ENV");
        if decision::only_reads(command) {
            shell.envs(git_when_reading());
        }
        for name in &self.surroundings.environment_remove {
            shell.env_remove(name);
        }
        if let Some(temp_dir) = self.temp_dir() {
            shell.env("TMPDIR", temp_dir);
        }
        start_session(&mut shell);
        let child = shell.spawn()?;
        Ok((child, pipe::Receiver::from_owned_fd(reader.into())?))
    }

    /// X14: made readable by its owner only, from the start.
    fn temp_dir(&self) -> Option<&PathBuf> {
        use std::os::unix::fs::DirBuilderExt as _;
        let dir = &self.surroundings.temp_dir;
        let is_given = !dir.as_os_str().is_empty();
        let mut builder = std::fs::DirBuilder::new();
        let made = is_given && builder.recursive(true).mode(0o700).create(dir).is_ok();
        made.then_some(dir)
    }
}

/// [`GIT_WHEN_READING`] as variables, after those that the person's environment already has.
fn git_when_reading() -> Vec<(String, String)> {
    let own = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse().ok());
    let first: usize = own.unwrap_or(0);
    let count = (first + GIT_WHEN_READING.len()).to_string();
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), count)];
    for (index, (key, value)) in GIT_WHEN_READING.iter().enumerate() {
        let number = first + index;
        variables.push((format!("GIT_CONFIG_KEY_{number}"), (*key).to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), (*value).to_owned()));
    }
    variables
}

impl Process {
    /// Waits until the shell ended and its output is here.
    pub(super) async fn ended(&self) -> ExitStatus {
        let mut stage = self.stage.clone();
        let reached = stage.wait_for(|stage| *stage != Stage::Running).await.map(|stage| *stage);
        match reached {
            Ok(Stage::Ended(status) | Stage::Closed(status)) => status,
            // The attending task broke: nothing is known of the shell's end.
            Ok(Stage::Running) | Err(_) => ExitStatus::from_raw(i32::from(u8::MAX) << 8),
        }
    }

    pub(super) fn state(&self) -> BackgroundState {
        let stage = *self.stage.borrow();
        match stage {
            Stage::Running => BackgroundState::Running,
            Stage::Ended(_) if self.has_members() => BackgroundState::ChildrenOnly,
            Stage::Closed(_) if self.has_members() => BackgroundState::ChildrenOnly,
            Stage::Ended(status) | Stage::Closed(status) => BackgroundState::Ended(words(status)),
        }
    }

    pub(super) fn take_fresh(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).take_fresh()
    }

    pub(super) fn text(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    pub(super) fn text_unread(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).text_unread()
    }

    /// Whether anything that it started is alive.
    pub(super) fn has_members(&self) -> bool {
        self.pid.is_some_and(|pid| members::any(pid, self.shell(), &self.mark))
    }

    fn shell(&self) -> members::Shell {
        match *self.stage.borrow() {
            Stage::Running => members::Shell::Running,
            Stage::Ended(_) | Stage::Closed(_) => members::Shell::Ended,
        }
    }

    /// Ends all its processes: TERM, then KILL for those that stay.
    pub(super) async fn end(&self) {
        let Some(pid) = self.pid else { return };
        members::signal(pid, self.shell(), &self.mark, Signal::TERM);
        let gone = tokio::time::timeout(TERM_GRACE, self.gone()).await;
        if gone.is_err() {
            members::signal(pid, self.shell(), &self.mark, Signal::KILL);
            // KILL cannot be refused, but a process in a system call of a dead disk may linger.
            let _ = tokio::time::timeout(TERM_GRACE, self.gone()).await;
        }
    }

    /// Returns whether all it started is gone, after a moment for what is just ending.
    pub(super) async fn settles(&self) -> bool {
        tokio::time::timeout(SETTLE_MAX, self.gone()).await.is_ok()
    }

    async fn gone(&self) {
        while *self.stage.borrow() == Stage::Running || self.has_members() {
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }
}

/// `exit 1` or `signal 9`.
pub(super) fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Drains a command's pipe and waits for its shell.
async fn attend(
    mut child: Child,
    mut reader: pipe::Receiver,
    process: Arc<Process>,
    stage: watch::Sender<Stage>,
) {
    let mut buffer = vec![0; 64 * 1024];
    let mut is_open = true;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.unwrap_or_else(|_| ExitStatus::from_raw(i32::from(u8::MAX) << 8)),
            read = reader.read(&mut buffer), if is_open => is_open = take(&process, &buffer, &read),
        }
    };
    // What the shell wrote is in the pipe: read until it is empty, not until it is closed.
    let deadline = tokio::time::Instant::now() + DRAIN_MAX;
    while is_open && tokio::time::Instant::now() < deadline {
        match reader.try_read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            read => is_open = take(&process, &buffer, &read),
        }
        tokio::task::yield_now().await;
    }
    stage.send_replace(Stage::Ended(status));
    while is_open {
        let read = reader.read(&mut buffer).await;
        is_open = take(&process, &buffer, &read);
    }
    stage.send_replace(Stage::Closed(status));
}

/// Keeps what was read; returns whether more can come.
fn take(process: &Process, buffer: &[u8], read: &io::Result<usize>) -> bool {
    match read {
        Ok(0) => false,
        Ok(count) => {
            let mut output = process.output.lock().unwrap_or_else(PoisonError::into_inner);
            output.push(&buffer[..*count]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}

/// Gives the child a session of its own: no controlling terminal, and one id for all that it starts.
#[expect(
    unsafe_code,
    reason = "std offers process groups, but no session without a terminal (X01)"
)]
fn start_session(command: &mut Command) {
    let start = || rustix::process::setsid().map(drop).map_err(io::Error::from);
    // SAFETY: the closure runs in the forked child and makes one system call, which is async-signal-safe; it
    // neither allocates nor locks.
    unsafe {
        command.pre_exec(start);
    }
}
