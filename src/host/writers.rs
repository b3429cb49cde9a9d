//! One writing thread a session, and how far each is.
//!
//! Invariant: commands of a session are carried out in order; a round waits until what was said before it is
//! stored, or has failed to be (then it waits in memory and the turn goes on).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

use crate::app::effect::StoreOp;
use crate::app::event::{Event, Stored};
use crate::base::id::SessionId;
use crate::base::secret::Redactor;
use crate::store::disk::Disk;
use crate::store::home::Home;
use crate::store::task::{self, Notice, WriterHandle};
use crate::store::writer::SessionWriter;

#[derive(Debug)]
pub struct Writers {
    disk: Arc<dyn Disk>,
    home: Home,
    redactor: Redactor,
    events: Sender<Event>,
    open: HashMap<SessionId, Open>,
}

#[derive(Debug)]
struct Open {
    handle: WriterHandle,
    /// The number of the last command that was acknowledged.
    acknowledged: watch::Receiver<u64>,
    /// The number of the last record's command.
    last_append: u64,
    thread: Option<JoinHandle<()>>,
    trouble: Trouble,
}

/// Why the session's files are behind, while they are.
#[derive(Debug, Clone, Default)]
struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    fn set(&self, why: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A point in a session's archive that a request waits for.
#[derive(Debug)]
pub struct Durable {
    acknowledged: watch::Receiver<u64>,
    append: u64,
}

impl Durable {
    /// Waits until every record before this point is stored, or is known to wait in memory. An error means
    /// that the writer is gone.
    pub async fn reached(mut self) -> Result<(), watch::error::RecvError> {
        self.acknowledged.wait_for(|seq| *seq >= self.append).await.map(|_| ())
    }
}

/// What became of a session when its files were closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub session: SessionId,
    /// Why something of it is not on disk.
    pub unsaved: Option<String>,
}

impl Writers {
    pub fn new(disk: Arc<dyn Disk>, home: Home, redactor: Redactor, events: Sender<Event>) -> Self {
        Self { disk, home, redactor, events, open: HashMap::new() }
    }

    pub fn store(&mut self, session: SessionId, op: StoreOp) {
        let open = self.session(session);
        match op {
            StoreOp::Append(record) => open.last_append = open.handle.append(*record),
            StoreOp::Sync => {
                open.handle.sync();
            }
            StoreOp::Snapshot(snapshot) => {
                open.handle.snapshot(*snapshot);
            }
            StoreOp::Close => {
                open.handle.close();
            }
        }
    }

    /// The point after the last record that was given for this session.
    pub fn durable(&mut self, session: SessionId) -> Durable {
        let open = self.session(session);
        Durable { acknowledged: open.acknowledged.clone(), append: open.last_append }
    }

    /// What removes secrets from everything that is written.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Goes on with a session that was opened from disk.
    pub fn adopt(&mut self, session: SessionId, writer: SessionWriter) {
        let open = start(session, writer, self.events.clone());
        self.open.insert(session, open);
    }

    /// Closes all and waits until everything is written or has failed. Blocks.
    pub fn close_all(&mut self) -> Vec<Closed> {
        let ended = self.open.drain().map(|(session, open)| {
            let Open { handle, thread, trouble, .. } = open;
            // Without its handle a thread closes its files and ends.
            drop(handle);
            let ended_well = thread.is_none_or(|thread| thread.join().is_ok());
            let died = (!ended_well).then(|| "the writer stopped".to_owned());
            Closed { session, unsaved: died.or_else(|| trouble.get()) }
        });
        ended.collect()
    }

    fn session(&mut self, session: SessionId) -> &mut Open {
        self.open.entry(session).or_insert_with(|| {
            let paths = self.home.session(session);
            let writer = SessionWriter::new(Arc::clone(&self.disk), paths, self.redactor.clone());
            start(session, writer, self.events.clone())
        })
    }
}

impl Drop for Writers {
    /// Also on a panic everything that was said is written.
    fn drop(&mut self) {
        self.close_all();
    }
}

fn start(session: SessionId, writer: SessionWriter, events: Sender<Event>) -> Open {
    let (count, acknowledged) = watch::channel(0);
    let trouble = Trouble::default();
    let seen = trouble.clone();
    let report = move |done: task::Stored| {
        count.send_replace(done.seq);
        let Some(notice) = done.notice else { return };
        let (now, told) = match notice {
            Notice::Failing { why } => (Some(why.clone()), Stored::Failed(why)),
            Notice::Mended => (None, Stored::Well),
        };
        seen.set(now);
        // The loop may be gone already; what was not saved is asked for at the end.
        let _told = events.blocking_send(Event::Stored(session, told));
    };
    let (handle, work) = task::channel(writer, report);
    let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(move || work.run());
    if let Err(error) = &thread {
        trouble.set(Some(format!("no thread to write with: {error}")));
    }
    Open { handle, acknowledged, last_append: 0, thread: thread.ok(), trouble }
}
