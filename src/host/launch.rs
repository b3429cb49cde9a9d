//! Puts the parts together: configuration and an opened session → a workspace that can run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::app::approvals::Approvals;
use crate::app::cells::cell::NoticeKind;
use crate::app::composer::{Composer, History};
use crate::app::effect::Effect;
use crate::app::event::Event;
use crate::app::keymap::Keymap;
use crate::app::live::{LiveSession, RequestFrame};
use crate::app::models::Models;
use crate::app::options::{Options, ToolSets};
use crate::app::panels::Panel;
use crate::app::panels::trust::TrustQuestion;
use crate::app::workspace::{Trust, Workspace};
use crate::app::{App, Start, change};
use crate::base::id::{Ids, SessionId};
use crate::base::secret::Redactor;
use crate::command::registry;
use crate::config::resolve::{self, ResolveError};
use crate::config::schema::{self, Config};
use crate::conversation::message::Image;
use crate::conversation::mode::Mode;
use crate::conversation::model::ModelChoice;
use crate::provider::offline::Pace;
use crate::provider::{Api, Endpoint, Pool, Timeouts};
use crate::session::state::SessionState;
use crate::store::disk::{Disk, OsDisk};
use crate::store::home::Home;
use crate::store::reader::Opened;
use crate::tool::{BlobSink, Setup as ToolSetup, Toolbox};
use crate::turn::Attended;
use crate::turn::backoff::RetryPolicy;
use crate::update::tell_notes;

use super::clock::Clock;
use super::history_file;
use super::perform::Host;
use super::workspace_facts;
use super::writers::Writers;

/// Reports that may wait for the loop: a full channel slows the tasks, it loses nothing.
const EVENTS_MAX: usize = 256;

/// Looks a variable of the environment up.
pub type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a launch needs to know.
pub struct Setup {
    pub home: PathBuf,
    pub user_home: Option<PathBuf>,
    pub workspace: PathBuf,
    pub is_trusted: bool,
    pub config: Config,
    pub environment: Lookup,
    pub attended: Attended,
    pub rounds_max: Option<u32>,
    /// A session that goes on; `None` begins one.
    pub opened: Option<Opened>,
    /// What flags say over an opened session's own values.
    pub model: Option<ModelChoice>,
    pub mode: Option<Mode>,
    /// Lines to show at once: warnings of the configuration.
    pub warnings: Vec<String>,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

/// Everything that runs.
#[derive(Debug)]
pub struct Launched {
    pub app: App,
    pub host: Host,
    pub events: Receiver<Event>,
    pub first: Vec<Effect>,
}

/// Builds the workspace.
pub fn launch(setup: Setup) -> Launched {
    let clock = Clock::start();
    let at = clock.at();
    let (sender, events) = mpsc::channel(EVENTS_MAX);
    let home = Home::at(&setup.home);
    let lookup = |name: &str| (setup.environment)(name);
    let redactor = Redactor::new(resolve::secrets(&setup.config, &lookup));
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    let mut writers = Writers::new(Arc::clone(&disk), home.clone(), redactor, sender.clone());
    let workspace = workspace_facts::read(
        &setup.workspace,
        setup.is_trusted,
        &setup.home,
        setup.user_home.as_deref(),
    );
    let mut ids = Ids::seeded(Clock::seed());
    let (state, notices) =
        session_state(setup.opened, &mut writers, &workspace, &mut ids, &setup.config, at);
    let mut composer =
        Composer::new(History::new(history_file::read(&home.history(), &workspace.path)));
    composer.set_width(80);
    let default_model =
        setup.model.clone().unwrap_or_else(|| resolve::session_model(&setup.config));
    let mut live = LiveSession::new(
        state,
        default_model,
        RequestFrame::new(String::new(), Vec::new()),
        composer,
    );
    live.show_history();
    let broken = broken_keys(&setup.config, &lookup);
    for text in setup.warnings.into_iter().chain(broken).chain(notices) {
        live.feed.notice(NoticeKind::Warning, text);
    }
    let make_toolbox = toolboxes(&workspace, &home, &setup.config, disk);
    let pool = Arc::new(pool(&setup.config, &lookup, &home));
    let (keymap, key_errors) =
        Keymap::with(setup.config.keys.iter().map(|(action, key)| (action.as_str(), key.as_str())));
    for error in key_errors {
        live.feed.notice(NoticeKind::Warning, format!("config.json: {error}"));
    }
    let start = Start {
        options: options(&setup.config, setup.attended, setup.rounds_max),
        models: models(&setup.config, &lookup),
        workspace,
        approvals: Approvals::new(setup.config.approvals.policy, setup.config.rules()),
        keymap,
        ids,
    };
    let mut app = App::new(start, live);
    let first = apply_flags(&mut app, setup.model, setup.mode, at);
    change::refresh_frame(&mut app, at);
    if setup.attended == Attended::ByPerson {
        tell_notes(&mut app);
        look_for_leftovers(sender.clone(), home.temp());
        ask_for_trust(&mut app, at.moment);
    }
    let host = Host::new(clock, sender, writers, pool, make_toolbox);
    Launched { app, host, events, first }
}

/// X02: looked for beside the first frame, which does not wait for it.
fn look_for_leftovers(sender: Sender<Event>, temp_root: PathBuf) {
    tokio::task::spawn_blocking(move || {
        let lines = crate::tool::left_behind(&temp_root);
        if !lines.is_empty() {
            // If nobody listens any more, nobody needs to know.
            let _ = sender.blocking_send(Event::LeftBehind(lines));
        }
    });
}

/// The state that a session starts from, and what to tell the person about it.
fn session_state(
    opened: Option<Opened>,
    writers: &mut Writers,
    workspace: &Workspace,
    ids: &mut Ids,
    config: &Config,
    at: crate::base::time::At,
) -> (SessionState, Vec<String>) {
    match opened {
        None => {
            let id = ids.session(at.wall);
            let mut state = SessionState::new(id, workspace.path.clone(), at.wall);
            state.mode = config.mode;
            (state, Vec::new())
        }
        Some(opened) => {
            let mut notices: Vec<String> =
                opened.recovered.warnings.iter().map(ToString::to_string).collect();
            notices.extend(opened.unwritten.map(|error| format!("Not saved: {error}")));
            writers.adopt(opened.recovered.state.id, opened.writer);
            (opened.recovered.state, notices)
        }
    }
}

fn apply_flags(
    app: &mut App,
    model: Option<ModelChoice>,
    mode: Option<Mode>,
    at: crate::base::time::At,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let Some(model) = model.filter(|model| app.front().model() != model) {
        effects.extend(change::model_choice(app, model, at));
    }
    if let Some(mode) = mode {
        effects.extend(change::mode(app, mode, at));
    }
    effects
}

fn ask_for_trust(app: &mut App, now: crate::base::time::Moment) {
    if let Trust::Untrusted { holds } = &app.workspace.trust {
        let question = TrustQuestion::new(app.workspace.shown.clone(), holds.clone(), now);
        app.panels.open(Panel::Trust(question));
    }
}

fn options(config: &Config, attended: Attended, rounds_max: Option<u32>) -> Options {
    let retry = &config.retry;
    let defaults = Options::default();
    Options {
        attended,
        retry: RetryPolicy {
            attempts: retry.attempts,
            base_delay_ms: retry.base_delay_ms,
            delay_max_ms: retry.max_delay_ms,
        },
        rounds_max: rounds_max.unwrap_or(defaults.rounds_max),
        tools: ToolSets { plan: Toolbox::specs(Mode::Plan), work: Toolbox::specs(Mode::Work) },
        commands: registry::rows(),
        notifications: config.notifications,
        ..defaults
    }
}

/// The models of every provider that could answer: those with a key, those that need none, and configured ones.
fn models(config: &Config, lookup: &dyn Fn(&str) -> Option<String>) -> Models {
    let mut known = Vec::new();
    let mut names = Vec::new();
    for name in resolve::provider_names(config) {
        names.push(name.to_owned());
        let Ok(provider) = resolve::provider_settings(config, name, lookup) else { continue };
        let is_usable = provider.api_key.is_some()
            || provider.api_key_env.is_none()
            || config.providers.contains_key(name);
        if !is_usable || !is_spoken(provider.api) {
            continue;
        }
        for id in provider.models.keys() {
            let choice = ModelChoice {
                provider: name.to_owned(),
                id: id.clone(),
                thinking_effort: crate::conversation::gear::Gear::Default,
            };
            known.extend(resolve::resolve(config, &choice, lookup).ok().map(|found| found.spec));
        }
    }
    Models::new(known, names)
}

/// Providers whose key cannot be used: they are not offered, and the person learns why.
fn broken_keys(config: &Config, lookup: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let all = resolve::provider_names(config).into_iter();
    let settings = all.map(|name| resolve::provider_settings(config, name, lookup));
    let is_broken = |error: &ResolveError| matches!(error, ResolveError::MalformedKey { .. });
    settings.filter_map(Result::err).filter(is_broken).map(|error| error.to_string()).collect()
}

fn is_spoken(api: schema::Api) -> bool {
    Api::SPOKEN.contains(&api_of(api))
}

fn api_of(api: schema::Api) -> Api {
    match api {
        schema::Api::OpenaiChat => Api::OpenAiChat,
        schema::Api::OpenaiResponses => Api::OpenAiResponses,
        schema::Api::Anthropic => Api::Anthropic,
        schema::Api::Gemini => Api::Gemini,
        schema::Api::Offline => Api::Offline,
    }
}

fn pool(config: &Config, lookup: &dyn Fn(&str) -> Option<String>, home: &Home) -> Pool {
    let endpoints = resolve::provider_names(config).into_iter().filter_map(|name| {
        let provider = resolve::provider_settings(config, name, lookup).ok()?;
        let defaults = Timeouts::default();
        Some(Endpoint {
            name: provider.name,
            api: api_of(provider.api),
            base_url: provider.base_url,
            key: provider.api_key,
            headers: provider.headers,
            timeouts: Timeouts {
                connect_ms: provider.timeouts.connect_ms.unwrap_or(defaults.connect_ms),
                // One number in the configuration is the limit before the first byte, too.
                idle_first_ms: provider.timeouts.idle_ms.unwrap_or(defaults.idle_first_ms),
                idle_ms: provider.timeouts.idle_ms.unwrap_or(defaults.idle_ms),
            },
            allow_insecure: provider.allow_insecure,
        })
    });
    let blobs = home.blobs();
    let images = Arc::new(move |image: &Image| read_blob(&blobs, &image.sha256));
    Pool::new(endpoints.collect::<Vec<_>>(), images, Pace::READABLE)
}

fn read_blob(blobs: &Path, sha256: &str) -> Option<Vec<u8>> {
    // A digest and nothing else: a session file must not name a path.
    let is_digest = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest { OsDisk.read(&blobs.join(sha256)).ok() } else { None }
}

/// Stores the images that tools return.
struct Blobs {
    disk: Arc<dyn Disk>,
    home: Home,
}

impl BlobSink for Blobs {
    fn put(&self, bytes: &[u8]) -> std::io::Result<()> {
        crate::store::writer::put_blob(&*self.disk, &self.home, bytes, "image").map(|_| ())
    }
}

fn toolboxes(
    workspace: &Workspace,
    home: &Home,
    config: &Config,
    disk: Arc<dyn Disk>,
) -> Box<dyn Fn(SessionId) -> Toolbox + Send> {
    let path = workspace.path.clone();
    let home = home.clone();
    let environment_remove = resolve::key_variables(config);
    Box::new(move |session| {
        Toolbox::new(ToolSetup {
            workspace: path.clone(),
            environment_remove: environment_remove.clone(),
            blobs: Some(Arc::new(Blobs { disk: Arc::clone(&disk), home: home.clone() })),
            temp_dir: home.temp().join(session.to_string()),
        })
    })
}
