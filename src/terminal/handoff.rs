//! The terminal lent to another program, or back to the shell.
//!
//! Invariant: the terminal is taken again whatever the other program did, even if it never started.
//! The caller pauses its [`super::input::InputReader`] before, resumes it after, and then draws everything.

use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Signal, kill_current_process_group};

use super::guard::{self, TerminalGuard};
use super::signals::Signals;

/// Where the program woke up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    Foreground,
    /// Continued without the terminal (`bg`, or a signal to a stopped job). Nothing is taken; the next
    /// SIGCONT asks again through [`TerminalGuard::reenter`].
    Background,
}

/// How long the system may take to stop the process. It does at once, except that it never stops a group
/// without a shell around it: then this is how long Ctrl+Z takes to do nothing.
const STOP_MAX: Duration = Duration::from_millis(500);

/// Stops this process and its group (Ctrl+Z) and comes back when it is continued.
pub async fn suspend(terminal: &TerminalGuard, signals: &mut Signals) -> io::Result<Resumed> {
    terminal.leave();
    signals.forget_resumed();
    // The whole group: under `cargo run` the shell waits for the parent, too.
    let stopped = kill_current_process_group(Signal::TSTP);
    // The call may return before another thread took the signal; taking the terminal now would leave the
    // shell with our modes.
    signals.resumed_within(STOP_MAX).await;
    terminal.reenter()?;
    stopped?;
    Ok(if guard::is_entered() { Resumed::Foreground } else { Resumed::Background })
}

/// Runs a program that owns the terminal until it ends, such as an editor. Blocks: there is nothing to draw.
pub fn run(terminal: &TerminalGuard, command: &mut Command) -> io::Result<ExitStatus> {
    terminal.leave();
    let ended = command.status();
    terminal.reenter()?;
    ended
}
