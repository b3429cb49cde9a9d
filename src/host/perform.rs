//! Effects carried out: tasks, files, timers. Never waits.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::stream::Fuse;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc::{self, Sender};

use crate::app::effect::{Effect, Exit, Job, ScreenEffect, StoreOp};
use crate::app::event::{Event, Said};
use crate::base::id::{SessionId, TaskId};
use crate::conversation::round::{RoundError, RoundErrorKind, RoundEvent, RoundRequest};
use crate::conversation::tool_call::ToolEvent;
use crate::provider::{Pool, RoundStream};
use crate::tool::Toolbox;

use super::clock::Clock;
use super::tasks::{Tasks, Voice};
use super::timers::Timers;
use super::writers::{Durable, Writers};

/// Pieces of a tool's output that may wait for the loop.
const OUTPUT_PIECES: usize = 16;

/// Bytes of text in one report: a full channel holds no more than a few megabytes.
const JOINED_BYTES_MAX: usize = 16 * 1024;

/// What carries effects out.
pub struct Host {
    pub clock: Clock,
    pub timers: Timers,
    pub writers: Writers,
    pool: Arc<Pool>,
    tasks: Tasks,
    toolboxes: HashMap<SessionId, Toolbox>,
    /// Toolboxes of closed sessions: the exit waits for their end.
    closing: Vec<Toolbox>,
    make_toolbox: Box<dyn Fn(SessionId) -> Toolbox + Send>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

/// What only a front end can do.
#[derive(Debug, Clone, PartialEq)]
pub enum Outward {
    Screen(ScreenEffect),
    Remember(String),
    Trust(PathBuf),
    Exit(Exit),
}

impl Host {
    pub fn new(
        clock: Clock,
        events: Sender<Event>,
        writers: Writers,
        pool: Arc<Pool>,
        make_toolbox: Box<dyn Fn(SessionId) -> Toolbox + Send>,
    ) -> Self {
        Self {
            clock,
            timers: Timers::default(),
            writers,
            pool,
            tasks: Tasks::new(events),
            toolboxes: HashMap::new(),
            closing: Vec::new(),
            make_toolbox,
        }
    }

    /// Starts what an effect asks for; returns what is the front end's to do.
    pub fn perform(&mut self, effect: Effect) -> Option<Outward> {
        match effect {
            Effect::Store(session, op) => {
                if op == StoreOp::Close {
                    self.close_toolbox(session);
                }
                self.writers.store(session, op);
            }
            Effect::Start(task, job) => self.start(task, job),
            Effect::Stop(task) => self.tasks.stop(task),
            Effect::Timer(timer, moment) => self.timers.set(timer, moment),
            Effect::Screen(screen) => return Some(Outward::Screen(screen)),
            Effect::Remember(text) => return Some(Outward::Remember(text)),
            Effect::Trust(path) => return Some(Outward::Trust(path)),
            Effect::Exit(exit) => return Some(Outward::Exit(exit)),
        }
        None
    }

    /// Ends what tools left running.
    pub async fn shut_down_tools(&mut self) {
        for toolbox in self.toolboxes.values().chain(&self.closing) {
            toolbox.shutdown().await;
        }
    }

    fn start(&mut self, task: TaskId, job: Job) {
        match job {
            // Every record up to `after` was performed before this effect.
            Job::Round { session, after: _, request } => {
                let pool = Arc::clone(&self.pool);
                let durable = self.writers.durable(session);
                self.tasks.start(task, |voice| round(voice, pool, durable, request));
            }
            Job::Prepare { session, call, mode } => {
                let toolbox = self.toolbox(session);
                self.tasks.start(task, |voice| async move {
                    let prepared = toolbox.prepare(call, mode).await;
                    voice.say(Said::Prepared(prepared.map(Box::new).map_err(Box::new))).await;
                });
            }
            Job::Tool { session, prepared, mode } => {
                let toolbox = self.toolbox(session);
                self.tasks.start_asked(task, |voice, stop| async move {
                    let (pieces, heard) = mpsc::channel(OUTPUT_PIECES);
                    let work = toolbox.run(*prepared, mode, pieces, stop);
                    let (outcome, ()) = tokio::join!(work, pass_on(&voice, heard));
                    voice.say(Said::Tool(ToolEvent::Done(outcome))).await;
                });
            }
        }
    }

    /// What the session's commands left running ends with it.
    fn close_toolbox(&mut self, session: SessionId) {
        if let Some(toolbox) = self.toolboxes.remove(&session) {
            self.closing.push(toolbox.clone());
            self.tasks.detach(async move { toolbox.shutdown().await });
        }
    }

    fn toolbox(&mut self, session: SessionId) -> Toolbox {
        let make = &self.make_toolbox;
        self.toolboxes.entry(session).or_insert_with(|| make(session)).clone()
    }
}

async fn pass_on(voice: &Voice, mut heard: mpsc::Receiver<ToolEvent>) {
    while let Some(event) = heard.recv().await {
        // The last word is the outcome that `run` returns.
        if let ToolEvent::Output(_) = event {
            voice.say(Said::Tool(event)).await;
        }
    }
}

/// One request: sent once everything before it is stored, then passed on as it arrives.
async fn round(voice: Voice, pool: Arc<Pool>, durable: Durable, request: Box<RoundRequest>) {
    if durable.reached().await.is_err() {
        return voice.say(Said::Died("the session's writer ended".to_owned())).await;
    }
    let client = match pool.client(&request.model.provider, &request.model.id) {
        Ok(client) => client,
        Err(error) => {
            let error = RoundError::new(RoundErrorKind::Rejected, error.to_string());
            return voice.say(Said::Round(RoundEvent::Failed(error))).await;
        }
    };
    let mut reply = client.start(*request).fuse();
    let mut next = reply.next().await;
    while let Some(event) = next {
        let (event, after) = with_ready(event, &mut reply);
        voice.say(Said::Round(event)).await;
        next = match after {
            Some(event) => Some(event),
            None => reply.next().await,
        };
    }
}

/// Joins to a text what has arrived of it, so that a fast server costs one report a read and not one a word.
/// Returns the first event that could not be joined, too.
fn with_ready(
    event: RoundEvent,
    reply: &mut Fuse<RoundStream>,
) -> (RoundEvent, Option<RoundEvent>) {
    let RoundEvent::Text(mut text) = event else { return (event, None) };
    while text.len() < JOINED_BYTES_MAX {
        match reply.next().now_or_never().flatten() {
            Some(RoundEvent::Text(more)) => text.push_str(&more),
            // At the end of the reply, too: the next read says so again.
            after => return (RoundEvent::Text(text), after),
        }
    }
    (RoundEvent::Text(text), None)
}
