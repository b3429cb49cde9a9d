//! The second executor: takes effects instead of the host. No runtime, no sleep, a clock of its own.
//!
//! Idle means: no pending job and no event; so nothing in the program knows of the simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

use crystal::app::App;
use crystal::app::approvals::Approvals;
use crystal::app::composer::{Composer, History};
use crystal::app::effect::{Effect, Exit, Job};
use crystal::app::event::{Event, Report, Said, Stored};
use crystal::app::key::{Input, KeyCode};
use crystal::app::keymap::Keymap;
use crystal::app::live::{LiveSession, RequestFrame};
use crystal::app::models::Models;
use crystal::app::options::{Options, ToolSets};
use crystal::app::workspace::Workspace;
use crystal::app::{Start, change};
use crystal::approval::policy::Policy;
use crystal::approval::rule::Rules;
use crystal::base::id::{Ids, SessionId, TaskId, TimerId};
use crystal::base::time::{At, Moment, Timestamp};
use crystal::command::registry;
use crystal::conversation::gear::Gear;
use crystal::conversation::mode::Mode;
use crystal::conversation::model::{ModelChoice, ModelLimits, ModelSpec};
use crystal::session::state::SessionState;
use crystal::store::home::Home;
use crystal::tool::Toolbox;
use crystal::turn::Attended;
use crystal::turn::backoff::RetryPolicy;
use crystal::ui::cache::ViewCache;
use crystal::update;

use crate::dice::Dice;
use crate::disk::FaultyDisk;
use crate::files::Files;
use crate::request;

/// Milliseconds since 1970 when every world begins.
const BEGINNING_MS: i64 = 1_792_661_000_000;

/// A started task.
#[derive(Debug, Clone)]
pub struct Pending {
    pub task: TaskId,
    pub job: Job,
    /// It was told to end; a tool may still say a last word.
    pub is_stopped: bool,
    /// It never ends by itself.
    pub hangs: bool,
}

/// The simulated world.
#[derive(Debug)]
pub struct World {
    pub app: App,
    pub dice: Dice,
    pub now: At,
    pub disk: FaultyDisk,
    pub home: Home,
    pub jobs: Vec<Pending>,
    /// Tasks that are gone, whose reports may still be on their way.
    pub stale: Vec<Pending>,
    pub timers: Vec<(TimerId, Moment)>,
    pub files: BTreeMap<SessionId, Files>,
    /// What the writers told and the program has not heard yet.
    pub told: Vec<(SessionId, Stored)>,
    /// Sessions that `/clear` ended, as they were.
    pub closed: Vec<SessionState>,
    /// The messages that were sent, in order.
    pub submitted: Vec<String>,
    pub messages_typed: u64,
    pub exit: Option<Exit>,
    pub cache: ViewCache,
    pub cached_session: SessionId,
    pub log: Vec<String>,
    pub steps: u64,
}

impl World {
    pub fn seeded(seed: u64) -> Self {
        let mut dice = Dice::seeded(seed);
        let home = Home::at("/home/.crystal");
        let now = At { moment: Moment(1_000), wall: Timestamp::from_millis(BEGINNING_MS) };
        let mut ids = Ids::seeded(seed);
        let mut state = SessionState::new(ids.session(now.wall), "/w".into(), now.wall);
        if dice.chance(20) {
            state.mode = Mode::Plan;
        }
        let disk = FaultyDisk::default();
        let files = Files::begin(&disk, &home, fresh(&state));
        let id = state.id;
        let app = app(&mut dice, ids, state, now);
        Self {
            app,
            dice,
            now,
            disk,
            home,
            jobs: Vec::new(),
            stale: Vec::new(),
            timers: Vec::new(),
            files: BTreeMap::from([(id, files)]),
            told: Vec::new(),
            closed: Vec::new(),
            submitted: Vec::new(),
            messages_typed: 0,
            exit: None,
            cache: ViewCache::default(),
            cached_session: id,
            log: Vec::new(),
            steps: 0,
        }
    }

    /// Lets something happen: one event, and all that comes of it.
    pub fn happen(&mut self, event: Event) -> Result<(), String> {
        let mut line = format!("{:>7} {event:?}", self.now.moment.0);
        if line.len() > 300 {
            line = line.chars().take(300).collect();
        }
        self.log.push(line);
        let before = self.app.front().id();
        let old = self.app.front().state.clone();
        let waiting_before = texts_waiting(&self.app);
        // Only Up takes a waiting message back; the history may put the same text into the composer.
        let is_up = matches!(&event, Event::Input(Input::Key(key)) if key.code == KeyCode::Up);
        let effects = update::update(&mut self.app, event, self.now);
        if self.app.front().id() != before {
            self.closed.push(old);
        }
        for effect in effects {
            self.perform(effect)?;
        }
        if is_up {
            self.note_taken_back(&waiting_before);
        }
        Ok(())
    }

    /// A waiting message that the person takes back to edit is not sent any more.
    fn note_taken_back(&mut self, before: &[String]) {
        let now = texts_waiting(&self.app);
        let is_shorter = before.len() == now.len() + 1 && before.starts_with(&now);
        let Some(last) = before.last().filter(|_| is_shorter) else { return };
        if self.app.front().composer.text() == *last {
            let found = self.submitted.iter().rposition(|text| text == last);
            found.map(|index| self.submitted.remove(index));
        }
    }

    fn perform(&mut self, effect: Effect) -> Result<(), String> {
        if self.exit.is_some() {
            return Err(format!("{effect:?} after the exit"));
        }
        match effect {
            Effect::Store(session, op) => self.files(session).give(op)?,
            Effect::Start(task, job) => self.start(task, job)?,
            Effect::Stop(task) => self.stop(task)?,
            Effect::Timer(timer, moment) => {
                if moment < self.now.moment {
                    return Err(format!("a timer in the past: {moment:?}"));
                }
                self.timers.push((timer, moment));
            }
            Effect::Remember(text) => {
                if !registry::looks_like_command(&text) {
                    self.submitted.push(text);
                }
            }
            Effect::Exit(exit) => self.exit = Some(exit),
            Effect::Screen(_) | Effect::Trust(_) => {}
        }
        Ok(())
    }

    pub fn files(&mut self, session: SessionId) -> &mut Files {
        let Self { files, disk, home, app, .. } = self;
        files.entry(session).or_insert_with(|| {
            let workspace = app.workspace.path.clone();
            let created = app.front().state.created_at;
            Files::begin(disk, home, SessionState::new(session, workspace, created))
        })
    }

    fn start(&mut self, task: TaskId, job: Job) -> Result<(), String> {
        if self.app.tasks.owner(task).is_none() && self.app.leaving == crystal::app::Leaving::No {
            return Err(format!("task {task:?} is started and not awaited"));
        }
        if let Job::Round { session, after, request } = &job {
            let given = self.files(*session).records.len() as u64;
            if *after != given {
                return Err(format!("a round waits for {after} records, {given} were given"));
            }
            let is_round = |pending: &&Pending| matches!(&pending.job, Job::Round { session: other, .. } if other == session);
            if let Some(other) = self.jobs.iter().find(is_round) {
                return Err(format!("a second round {task:?} beside {:?}", other.task));
            }
            request::check(request)?;
        }
        let hangs = matches!(job, Job::Tool { .. }) && self.dice.chance(15);
        self.jobs.push(Pending { task, job, is_stopped: false, hangs });
        Ok(())
    }

    fn stop(&mut self, task: TaskId) -> Result<(), String> {
        let Some(index) = self.jobs.iter().position(|pending| pending.task == task) else {
            return Ok(());
        };
        let is_awaited = self.app.tasks.owner(task).is_some();
        if is_awaited && matches!(self.jobs[index].job, Job::Tool { .. }) {
            self.jobs[index].is_stopped = true;
            return Ok(());
        }
        if is_awaited {
            return Err(format!("{task:?} was stopped and is still awaited"));
        }
        let gone = self.jobs.remove(index);
        self.stale.push(gone);
        Ok(())
    }

    /// A task speaks. After its last word it is gone.
    pub fn say(&mut self, index: usize, said: Said, is_last: bool) -> Result<(), String> {
        let task = self.jobs[index].task;
        if is_last {
            let gone = self.jobs.remove(index);
            self.stale.push(gone);
        }
        self.happen(Event::Report(Report { task, said }))
    }

    /// Lets time pass.
    pub fn pass(&mut self, ms: u64) {
        self.now.moment = self.now.moment.plus_ms(ms);
        // Wall clocks are set back at times.
        let set_back = if self.dice.chance(1) { 5_000 } else { 0 };
        let wall = self.now.wall.as_millis() + ms as i64 - set_back;
        self.now.wall = Timestamp::from_millis(wall);
    }

    /// Lets the writers do up to so many operations.
    pub fn write(&mut self, count: u64) {
        for _ in 0..count {
            let behind: Vec<SessionId> =
                self.files.values().filter(|files| files.is_behind()).map(|f| f.id).collect();
            if behind.is_empty() {
                return;
            }
            let session = self.dice.pick(&behind);
            if let Some(stored) = self.files.get_mut(&session).and_then(Files::work) {
                self.told.push((session, stored));
            }
        }
    }

    /// A process that begins anew with a session.
    pub fn restart(&mut self, state: SessionState) {
        let seed = self.dice.next();
        let policy_dice = &mut self.dice;
        self.cached_session = state.id;
        self.app = app(policy_dice, Ids::seeded(seed), state, self.now);
        self.jobs.clear();
        self.stale.clear();
        self.timers.clear();
        self.told.clear();
        self.cache = ViewCache::default();
        self.exit = None;
    }
}

/// What is replayed onto: a session of which only the name is known.
pub fn fresh(state: &SessionState) -> SessionState {
    SessionState::new(state.id, state.workspace.clone(), state.created_at)
}

/// The messages that wait in the queue.
pub fn texts_waiting(app: &App) -> Vec<String> {
    app.front().turn.queue().iter().map(|message| request::texts(message)).collect()
}

fn app(dice: &mut Dice, ids: Ids, state: SessionState, at: At) -> App {
    let spec = |id: &str, context_window| ModelSpec {
        provider: "sim".into(),
        id: id.into(),
        limits: ModelLimits { context_window, max_tokens: Some(1_000) },
        gears: vec![Gear::Low, Gear::High],
        thinking_off_allowed: true,
        images: true,
        price: None,
    };
    let choice =
        ModelChoice { provider: "sim".into(), id: "small".into(), thinking_effort: Gear::Default };
    let policies = [Policy::Ask, Policy::AutoEdit, Policy::Full, Policy::ReadOnly];
    let start = Start {
        options: Options {
            attended: Attended::ByPerson,
            retry: RetryPolicy { attempts: 3, ..RetryPolicy::default() },
            rounds_max: 3 + dice.below(20) as u32,
            tools: ToolSets { plan: Toolbox::specs(Mode::Plan), work: Toolbox::specs(Mode::Work) },
            commands: registry::rows(),
            ..Options::default()
        },
        models: Models::new(vec![spec("small", 4_000), spec("large", 200_000)], vec!["sim".into()]),
        workspace: Workspace::at("/w"),
        approvals: Approvals::new(dice.pick(&policies), Rules::default()),
        keymap: Keymap::with([]).0,
        ids,
    };
    let frame = RequestFrame::new(String::new(), Vec::new());
    let composer = Composer::new(History::new([]));
    let mut live = LiveSession::new(state, choice, frame, composer);
    live.show_history();
    let mut app = App::new(start, live);
    change::refresh_frame(&mut app, at);
    app
}

/// Names the disk as the store takes it.
pub fn shared(disk: &FaultyDisk) -> Arc<dyn crystal::store::disk::Disk> {
    Arc::new(disk.clone())
}
