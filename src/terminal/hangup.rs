//! Notices that the terminal is gone, also where no SIGHUP tells.
//!
//! crossterm reads a terminal that hung up for ever: it takes the end of the file for "nothing yet". So its
//! stream is not asked any more once the terminal is gone, and a thread that waits for nothing but the end
//! of the terminal wakes whoever waits for input.
#![expect(
    clippy::disallowed_methods,
    reason = "the last way out of a process whose terminal is gone and whose loop no longer turns"
)]

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::oneshot;

/// How long the loop may take to save and end by itself. The archive is whole at any moment.
const LEAVING_MAX: Duration = Duration::from_secs(30);

/// Whether the terminal hung up. Costs one system call.
pub fn is_gone() -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    wait_for_end(Some(&now))
}

/// Returns what resolves when the terminal hangs up. If no thread can be had it never does.
pub fn watch() -> oneshot::Receiver<()> {
    let (gone, told) = oneshot::channel();
    let watching = std::thread::Builder::new().name("hangup".to_owned()).spawn(move || {
        while !wait_for_end(None) {}
        let _nobody = gone.send(());
        std::thread::sleep(LEAVING_MAX);
        std::process::exit(130);
    });
    if let Err(error) = watching {
        tracing::warn!(%error, "nobody watches the terminal");
    }
    told
}

/// Waits until the terminal is gone, or the time is over.
fn wait_for_end(timeout: Option<&Timespec>) -> bool {
    let stdin = io::stdin();
    // No event is asked for: an end is always reported.
    let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
    let ended = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    match poll(&mut terminal, timeout) {
        Ok(_) => terminal[0].revents().intersects(ended),
        Err(_) => false,
    }
}
