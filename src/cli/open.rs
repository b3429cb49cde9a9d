//! The full screen and `crystal run`, from the arguments to the exit code.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crate::app::effect::Exit;
use crate::app::event::Event;
use crate::base::secret::Redactor;
use crate::config::layer::Source;
use crate::config::parse::Warning;
use crate::config::resolve;
use crate::conversation::model::ModelChoice;
use crate::host::headless::{self, Format, Outcome};
use crate::host::history_file;
use crate::host::launch::{Lookup, Setup, launch};
use crate::host::workspace::{self, Errand, Front};
use crate::host::workspace_facts;
use crate::store::disk::{Disk, OsDisk};
use crate::store::home::{Extent, Home, Trust};
use crate::store::reader::{self, OpenError, Opened};
use crate::terminal::facts::{self, Facts};
use crate::terminal::guard::{self, KeyboardProtocol, MouseCapture, Options, TerminalGuard};
use crate::turn::{Attended, Ended};

use super::args::{CommonArgs, OutputFormat, RunArgs, WorkspaceArgs};
use super::environment::{Environment, Loaded};
use super::error::{ErrorKind, UserError};
use super::{logs, themes};

/// Bytes of standard input that `crystal run` takes.
const STDIN_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What both front ends begin with.
struct Prepared {
    environment: Environment,
    home: Home,
    workspace: PathBuf,
    is_trusted: bool,
    loaded: Loaded,
}

fn prepare(args: &CommonArgs, trust: bool) -> Result<Prepared, UserError> {
    let environment = Environment::read(args.config.clone())?;
    let workspace = environment.workspace(args)?;
    let home = Home::at(&environment.home);
    let known = Trust::load(&OsDisk, &home).map_err(|error| {
        UserError::usage(error.to_string()).at(home.trust().display().to_string())
    })?;
    let is_trusted = trust || known.covers(&workspace);
    let loaded = environment.load(args, is_trusted.then_some(workspace.as_path()))?;
    Ok(Prepared { environment, home, workspace, is_trusted, loaded })
}

impl Prepared {
    fn lookup(&self) -> Lookup {
        let environment = self.environment.clone();
        Arc::new(move |name| environment.variable(name))
    }

    /// The session that the arguments name, opened and locked; none begins a new one.
    fn open_session(&self, args: &CommonArgs) -> Result<Option<Opened>, UserError> {
        let disk: Arc<dyn Disk> = Arc::new(OsDisk);
        let id = if args.continue_last {
            reader::newest(&OsDisk, &self.home, &self.workspace).ok_or_else(|| {
                nothing("no session of this folder to go on with").hint("Start one with: crystal")
            })?
        } else {
            match &args.resume {
                None => return Ok(None),
                Some(None) => return Err(needs_id()),
                Some(Some(text)) => {
                    reader::find(&OsDisk, &self.home, text).map_err(|error| cannot_open(&error))?
                }
            }
        };
        let lookup = self.lookup();
        let secrets = resolve::secrets(&self.loaded.layered.config, &|name| lookup(name));
        let opened = reader::open(&disk, &self.home, id, Redactor::new(secrets));
        opened.map(Some).map_err(|error| cannot_open(&error))
    }

    /// The model that flags and configuration choose, checked before anything is opened, and what to tell
    /// the person about it.
    fn chosen_model(&self) -> Result<(ModelChoice, Vec<String>), UserError> {
        let config = &self.loaded.layered.config;
        let choice = resolve::session_model(config);
        let lookup = self.lookup();
        let resolved = resolve::resolve(config, &choice, &|name| lookup(name))
            .map_err(|error| UserError::usage(error.to_string()))?;
        Ok((choice, resolved.hints))
    }

    fn setup(
        self,
        args: &CommonArgs,
        attended: Attended,
        rounds_max: Option<u32>,
    ) -> Result<Setup, UserError> {
        let (choice, hints) = self.chosen_model()?;
        let model = (args.model.is_some() || args.thinking.is_some()).then_some(choice);
        let opened = self.open_session(args)?;
        let environment = self.lookup();
        let warnings = self.loaded.layered.warnings.iter().map(|(_, warning)| warning.to_string());
        let warnings = warnings.chain(hints).collect();
        Ok(Setup {
            home: self.environment.home.clone(),
            user_home: dirs::home_dir(),
            workspace: self.workspace,
            is_trusted: self.is_trusted,
            config: self.loaded.layered.config,
            environment,
            attended,
            rounds_max,
            mode: args.mode.filter(|_| opened.is_some()),
            opened,
            model,
            warnings,
        })
    }
}

fn nothing(what: impl Into<String>) -> UserError {
    UserError::new(ErrorKind::NothingToOpen, what)
}

fn needs_id() -> UserError {
    UserError::usage("--resume needs a session's id in this version")
        .hint("crystal -c goes on with the newest session of this folder.")
}

fn cannot_open(error: &OpenError) -> UserError {
    nothing(error.to_string())
}

/// Opens the full screen.
pub(super) fn open_workspace(args: &WorkspaceArgs) -> Result<ExitCode, UserError> {
    let prepared = prepare(&args.common, false)?;
    let log = logs::start(&prepared.environment, &prepared.home)?;
    let (theme, facts) =
        themes::chosen(&prepared.environment, &prepared.loaded.layered.config.theme)?;
    let home = prepared.home.clone();
    let environment = prepared.environment.clone();
    let setup = prepared.setup(&args.common, Attended::ByPerson, None)?;
    // After the session: that there is nothing to open is said with or without a terminal.
    if !facts::is_interactive() {
        return Err(UserError::usage("the workspace needs a terminal")
            .hint("Without one use: crystal run \"your message\""));
    }
    let user_home = setup.user_home.clone();
    let runtime = runtime()?;
    let entered = runtime.enter();
    let launched = launch(setup);
    guard::install_panic_hook(log);
    let options = Options { mouse: MouseCapture::Captured, keyboard: keyboard(facts) };
    let terminal = TerminalGuard::enter(options)
        .map_err(|error| UserError::failed(error.to_string()).at("terminal"))?;
    let errands = errands(
        (environment, args.common.clone()),
        home,
        launched.app.workspace.path.clone(),
        user_home,
    );
    let front = Front { guard: terminal, facts, theme, errands };
    let prompt = args.prompt.clone();
    let ended = runtime.block_on(async move {
        let (app, mut host, exit) = workspace::run(launched, front, prompt).await?;
        host.shut_down_tools().await;
        let unsaved = host.writers.close_all().into_iter().find_map(|closed| closed.unsaved);
        Ok::<_, std::io::Error>((app, exit, unsaved))
    });
    drop(entered);
    runtime.shutdown_background();
    let (app, exit, unsaved) =
        ended.map_err(|error| UserError::failed(error.to_string()).at("terminal"))?;
    say_goodbye(&app, unsaved)?;
    Ok(match exit {
        Exit::Done => ExitCode::SUCCESS,
        Exit::Interrupted => ExitCode::from(130),
    })
}

/// Says how to come back, or that something was not saved (S05).
fn say_goodbye(app: &crate::app::App, unsaved: Option<String>) -> Result<(), UserError> {
    if let Some(why) = unsaved {
        return Err(UserError::failed(format!("the session was not saved completely: {why}")));
    }
    if app.front().is_worth_saving() {
        let text = format!("Go on with: crystal --resume {}\n", app.front().id());
        super::print(text.as_bytes())?;
    }
    Ok(())
}

fn keyboard(facts: Facts) -> KeyboardProtocol {
    facts.keyboard
}

/// What the workspace wants read and written outside of sessions.
fn errands(
    (environment, args): (Environment, CommonArgs),
    home: Home,
    workspace: PathBuf,
    user_home: Option<PathBuf>,
) -> Box<dyn FnMut(Errand) -> Option<Event>> {
    Box::new(move |errand| match errand {
        Errand::Remember(text) => {
            if let Err(error) = remember(&home, &workspace, text) {
                tracing::warn!(%error, "the history was not written");
            }
            None
        }
        Errand::Trust(path) => {
            let kept = Trust::load(&OsDisk, &home)
                .and_then(|mut trust| trust.add(&OsDisk, &home, &path, Extent::Directory));
            let mut read = workspace_facts::read(&path, true, home.root(), user_home.as_deref());
            if let Err(error) = kept {
                read.notes.push(format!("Trusted for this process only; it was not kept: {error}"));
            }
            read.notes.extend(later(&environment, &args, &path));
            Some(Event::Workspace(Box::new(read)))
        }
    })
}

/// X13: the workspace's configuration is read only after the yes, and what it says holds from the next start:
/// this process was set up without it. The person is told, and of errors now and not then.
fn later(environment: &Environment, args: &CommonArgs, workspace: &Path) -> Vec<String> {
    if !workspace.join(".crystal").join("config.json").exists() {
        return Vec::new();
    }
    match environment.load(args, Some(workspace)) {
        Ok(loaded) => {
            let of_workspace = |(source, _): &&(Source, Warning)| *source == Source::Workspace;
            let warnings = loaded.layered.warnings.iter().filter(of_workspace);
            let takes = ".crystal/config.json takes effect at the next start".to_owned();
            let lines = warnings.map(|(_, warning)| format!(".crystal/config.json: {warning}"));
            std::iter::once(takes).chain(lines).collect()
        }
        Err(error) => vec![format!("The next start will refuse this: {error}")],
    }
}

fn remember(home: &Home, workspace: &Path, text: String) -> std::io::Result<()> {
    OsDisk.create_dir(home.root())?;
    history_file::append(&home.history(), workspace, text)
}

/// Runs one turn without a screen.
pub(super) fn run(args: &RunArgs) -> Result<ExitCode, UserError> {
    let prompt = prompt(args)?;
    let prepared = prepare(&args.common, args.trust)?;
    logs::start(&prepared.environment, &prepared.home)?;
    let setup = prepared.setup(&args.common, Attended::ByNobody, args.max_rounds)?;
    let recovered = setup.opened.iter().flat_map(|opened| &opened.recovered.warnings);
    for warning in setup.warnings.iter().cloned().chain(recovered.map(ToString::to_string)) {
        super::say_line(&warning);
    }
    let runtime = runtime()?;
    let format = match args.output_format {
        OutputFormat::Text => Format::Text,
        OutputFormat::Json => Format::Json,
        OutputFormat::StreamJson => Format::StreamJson,
    };
    let entered = runtime.enter();
    let launched = launch(setup);
    if let crate::app::workspace::Trust::Untrusted { holds } = &launched.app.workspace.trust {
        super::say_line(&format!(
            "this folder is not trusted: {} not read (--trust reads them)",
            holds.join(", ")
        ));
    }
    for note in &launched.app.workspace.notes {
        super::say_line(note);
    }
    let outcome = runtime.block_on(headless::run(launched, prompt, format));
    drop(entered);
    runtime.shutdown_background();
    finish(outcome.map_err(|error| UserError::failed(error.to_string()))?)
}

fn finish(outcome: Outcome) -> Result<ExitCode, UserError> {
    if let Some(why) = outcome.unsaved {
        super::say_line(&format!("the session was not saved completely: {why}"));
    }
    match outcome.ended {
        Some(Ended::Done(_)) => Ok(ExitCode::SUCCESS),
        Some(Ended::Interrupted) | None => Ok(ExitCode::from(130)),
        Some(Ended::Failed(error)) => {
            let told = UserError::failed(error.to_string()).at(outcome.model);
            Err(match outcome.advice {
                Some(advice) => told.hint(format!("{advice}.")),
                None => told,
            })
        }
        Some(Ended::RoundLimit(rounds)) => {
            Err(UserError::failed(format!("stopped after {rounds} rounds"))
                .hint("--max-rounds N allows more."))
        }
    }
}

/// The message: the argument, then standard input.
fn prompt(args: &RunArgs) -> Result<String, UserError> {
    let mut parts: Vec<String> = args.prompt.iter().cloned().collect();
    if !std::io::stdin().is_terminal() {
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(STDIN_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| UserError::failed(error.to_string()).at("standard input"))?;
        if bytes.len() as u64 > STDIN_BYTES_MAX {
            let what = format!("more than {STDIN_BYTES_MAX} bytes");
            return Err(UserError::usage(what).at("standard input").hint("Name the file instead."));
        }
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        parts.extend(Some(text).filter(|text| !text.trim().is_empty()));
    }
    let prompt = parts.join("\n\n");
    if prompt.trim().is_empty() {
        return Err(UserError::usage("there is no message")
            .hint("crystal run \"your message\", or send it to standard input."));
    }
    Ok(prompt)
}

/// The state has this thread; sockets and decoding have one beside it, since with more of them each word of a
/// reply wakes another. What blocks has threads of its own.
fn runtime() -> Result<tokio::runtime::Runtime, UserError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| UserError::failed(error.to_string()).at("runtime"))
}
