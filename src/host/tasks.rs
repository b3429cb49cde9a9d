//! Tasks: started, stopped, and heard of even when they panic.
//!
//! Invariant: a task's panic becomes a report; it never ends the program or the screen.
#![expect(clippy::disallowed_methods, reason = "the one place that starts tasks")]

use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::sync::mpsc::Sender;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::app::event::{Event, Report, Said};
use crate::base::id::TaskId;

/// The running tasks.
#[derive(Debug)]
pub struct Tasks {
    events: Sender<Event>,
    running: HashMap<TaskId, Running>,
}

#[derive(Debug)]
enum Running {
    /// Ends at once, without a last word.
    Aborted(AbortHandle),
    /// Is asked to end, and still reports what it did.
    Asked(CancellationToken, AbortHandle),
}

impl Running {
    fn handle(&self) -> &AbortHandle {
        match self {
            Self::Aborted(handle) | Self::Asked(_, handle) => handle,
        }
    }
}

/// How a task speaks.
#[derive(Debug, Clone)]
pub struct Voice {
    task: TaskId,
    events: Sender<Event>,
}

impl Voice {
    /// Waits while the loop is busy, so that a fast stream is slowed and nothing is lost.
    pub async fn say(&self, said: Said) {
        let report = Event::Report(Report { task: self.task, said });
        // Nobody listens any more: the program is leaving.
        let _gone = self.events.send(report).await;
    }
}

impl Tasks {
    pub fn new(events: Sender<Event>) -> Self {
        Self { events, running: HashMap::new() }
    }

    /// Starts work that is dropped when it is stopped.
    pub fn start<F>(&mut self, task: TaskId, work: impl FnOnce(Voice) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let handle = self.spawn(task, work);
        self.running.insert(task, Running::Aborted(handle));
    }

    /// Starts work that is asked to stop and then says its last word.
    pub fn start_asked<F>(&mut self, task: TaskId, work: impl FnOnce(Voice, CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let handle = self.spawn(task, |voice| work(voice, stop.clone()));
        self.running.insert(task, Running::Asked(stop, handle));
    }

    /// Starts work that says nothing.
    pub fn detach(&self, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(work);
    }

    pub fn stop(&mut self, task: TaskId) {
        match self.running.get(&task) {
            Some(Running::Aborted(handle)) => handle.abort(),
            Some(Running::Asked(stop, _)) => stop.cancel(),
            None => {}
        }
    }

    fn spawn<F>(&mut self, task: TaskId, work: impl FnOnce(Voice) -> F) -> AbortHandle
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.running.retain(|_, running| !running.handle().is_finished());
        let voice = Voice { task, events: self.events.clone() };
        let work = AssertUnwindSafe(work(voice.clone())).catch_unwind();
        let watched = async move {
            if let Err(panic) = work.await {
                voice.say(Said::Died(words_of(&*panic))).await;
            }
        };
        tokio::spawn(watched).abort_handle()
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    // T05: the loop hears of a panic, and the task that panicked is the only one to end.
    #[tokio::test]
    async fn a_panic_of_a_task_is_a_report_and_others_go_on() {
        let (sender, mut events) = mpsc::channel(4);
        let mut tasks = Tasks::new(sender);
        let (first, second) = (TaskId(1), TaskId(2));
        let died = |said: &str| Said::Died(said.to_owned());
        tasks.start(first, |_| async { panic!("it broke") });
        let told = |task, said| Some(Event::Report(Report { task, said }));
        assert_eq!(events.recv().await, told(first, died("it broke")));
        tasks.start_asked(second, |voice, stop| async move {
            stop.cancelled().await;
            voice.say(Said::Died("the last word".to_owned())).await;
        });
        tasks.stop(second);
        assert_eq!(events.recv().await, told(second, died("the last word")));
    }
}
