//! The system's signals as values. The loop decides what they mean; nothing here ends the program.
//!
//! SIGTSTP is not taken: its default must stay, so that Ctrl+Z can stop the process and an orphaned group
//! is not frozen. SIGWINCH comes with the input, too.

use std::io;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::signal::unix::{self, SignalKind};

use crate::app::signal::Signal;

/// Listens from [`Signals::listen`] on; a signal that comes between two calls of `next` is kept.
#[derive(Debug)]
pub struct Signals {
    terminate: unix::Signal,
    hangup: unix::Signal,
    interrupt: unix::Signal,
    quit: unix::Signal,
    resumed: unix::Signal,
    window: unix::Signal,
}

impl Signals {
    /// Must run within the runtime.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            quit: unix::signal(SignalKind::quit())?,
            // The runtime has no name for SIGCONT.
            resumed: unix::signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            window: unix::signal(SignalKind::window_change())?,
        })
    }

    /// The next signal; may be dropped and called again without losing one.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hangup.recv() => Signal::Hangup,
            _ = self.quit.recv() => Signal::Quit,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.resumed.recv() => Signal::Continue,
            _ = self.window.recv() => Signal::Window,
        }
    }

    /// Forgets that the process was continued before now.
    pub(super) fn forget_resumed(&mut self) {
        while self.resumed.recv().now_or_never().is_some() {}
    }

    /// Waits until the process is continued, at most so long.
    pub(super) async fn resumed_within(&mut self, limit: Duration) {
        // Nothing depends on which of the two it was.
        let _ = tokio::time::timeout(limit, self.resumed.recv()).await;
    }

    /// Forgets Ctrl+C and Ctrl+\ that were typed at another program which owned the terminal: the system
    /// sends them to all of the group.
    pub fn forget_typed(&mut self) {
        while self.interrupt.recv().now_or_never().is_some() {}
        while self.quit.recv().now_or_never().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal as Raw, getpid, kill_process};

    // T05: a signal becomes a value; the process lives on to restore the terminal and save.
    #[tokio::test]
    async fn signals_are_reported_and_do_not_end_the_process() {
        let mut signals = Signals::listen().unwrap();
        for (raw, wanted) in [
            (Raw::HUP, Signal::Hangup),
            (Raw::TERM, Signal::Terminate),
            (Raw::QUIT, Signal::Quit),
            (Raw::INT, Signal::Interrupt),
            (Raw::CONT, Signal::Continue),
        ] {
            kill_process(getpid(), raw).unwrap();
            assert_eq!(signals.next().await, wanted);
        }
    }
}
