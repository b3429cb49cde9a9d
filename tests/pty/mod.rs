//! A program in a pseudo-terminal, as a person has it: keys in, a screen out.
//!
//! Nothing sleeps: a thread reads the terminal, waiting is for its next bytes, and the time limit is
//! there only to fail.

#![allow(dead_code, clippy::unwrap_used, clippy::disallowed_methods, reason = "a harness of tests")]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take before the test fails: far more than a loaded machine needs.
const PATIENCE: Duration = Duration::from_mins(1);

static SPAWNING: Mutex<()> = Mutex::new(());

/// What a wait met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Output,
    /// The program has ended, or closed the terminal.
    End,
}

pub struct Pty {
    master: Option<Box<dyn MasterPty + Send>>,
    child: Box<dyn Child + Send + Sync>,
    writer: Option<Box<dyn Write + Send>>,
    output: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    bytes: Vec<u8>,
    settings_before: String,
    /// The reader goes on.
    is_reading: Arc<AtomicBool>,
}

impl Pty {
    /// Starts `program` with exactly the environment given (and PATH). `size` is columns and rows.
    pub fn spawn(program: &str, args: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Self {
        Self::spawn_in(&std::env::temp_dir(), program, args, env, size)
    }

    /// The same in a folder.
    pub fn spawn_in(
        folder: &Path,
        program: &str,
        args: &[&str],
        env: &[(&str, &str)],
        size: (u16, u16),
    ) -> Self {
        // A program that another thread starts meanwhile would inherit this terminal and keep it open.
        let _alone = SPAWNING.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = native_pty_system().openpty(pty_size(size)).unwrap();
        let settings_before = settings(&*pair.master);
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        command.env("PATH", std::env::var("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.cwd(folder);
        for (name, value) in env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        // The end of the child must be the end of the output.
        drop(pair.slave);
        let reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let is_reading = Arc::new(AtomicBool::new(true));
        let parser = vt100::Parser::new(cells(size.1), cells(size.0), 0);
        Self {
            output: read_in_thread(reader, Arc::clone(&is_reading)),
            master: Some(pair.master),
            child,
            writer: Some(writer),
            parser,
            bytes: Vec::new(),
            settings_before,
            is_reading,
        }
    }

    /// Types: plain characters as they are, others by name: `hello<enter>`, `<ctrl+c>`, `<alt+x>`, `<esc>`.
    pub fn send_keys(&mut self, keys: &str) {
        self.send_bytes(&encoded(keys));
    }

    /// Pastes with the marks of bracketed paste.
    pub fn paste(&mut self, text: &str) {
        self.send_bytes(format!("\x1b[200~{text}\x1b[201~").as_bytes());
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(bytes).unwrap();
        writer.flush().unwrap();
    }

    /// Waits until the screen's text fulfils the condition.
    pub fn wait_for(&mut self, is_reached: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_reached(&self.screen()) {
            if let Err(why) = self.read_until(deadline) {
                panic!(
                    "{why:?}; the screen was:\n{}\nand its end:\n{}",
                    self.screen(),
                    self.tail()
                );
            }
        }
    }

    pub fn wait_for_text(&mut self, text: &str) {
        self.wait_for(|screen| screen.contains(text));
    }

    /// Does something again and again until it had its effect. What it does must wait for something.
    pub fn until(&mut self, what: &str, mut is_done: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_done(self) {
            assert!(Instant::now() < deadline, "{what}; the screen was:\n{}", self.screen());
        }
    }

    /// Lets at least so long pass: for what is defined in time, such as a question's first moments. A
    /// slow machine makes it longer, and nothing depends on that.
    pub fn let_pass(&mut self, duration: Duration) {
        let deadline = Instant::now() + duration;
        while self.read_until(deadline).is_ok() {}
    }

    /// Waits for anything that is written.
    pub fn wait_for_change(&mut self) {
        assert_eq!(self.wait_for_change_or_end(), Seen::Output, "the program ended");
    }

    pub fn wait_for_change_or_end(&mut self) -> Seen {
        match self.read_until(Instant::now() + PATIENCE) {
            Ok(()) => Seen::Output,
            Err(RecvTimeoutError::Disconnected) => Seen::End,
            Err(RecvTimeoutError::Timeout) => panic!("nothing is written:\n{}", self.screen()),
        }
    }

    /// Closes the terminal, as a window does, and waits until the program has ended.
    pub fn hang_up(mut self) -> ExitStatus {
        // The reader holds the terminal open too: it ends with the next thing that is written.
        self.is_reading.store(false, Ordering::SeqCst);
        self.send_keys("x");
        let deadline = Instant::now() + PATIENCE;
        while self.read_until(deadline) != Err(RecvTimeoutError::Disconnected) {
            assert!(Instant::now() < deadline, "the reader does not end");
        }
        drop((self.master.take(), self.writer.take()));
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the program does not end without its terminal");
            thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn read_until(&mut self, deadline: Instant) -> Result<(), RecvTimeoutError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let bytes = self.output.recv_timeout(left)?;
        self.parser.process(&bytes);
        self.bytes.extend(bytes);
        Ok(())
    }

    fn tail(&self) -> String {
        let start = self.bytes.len().saturating_sub(2_000);
        String::from_utf8_lossy(&self.bytes[start..]).escape_debug().to_string()
    }

    /// The text on the screen, without blanks at the ends of rows.
    pub fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Everything that was written so far and read by a wait.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn resize(&mut self, size: (u16, u16)) {
        self.parser.set_size(cells(size.1), cells(size.0));
        self.master.as_ref().unwrap().resize(pty_size(size)).unwrap();
    }

    pub fn signal(&self, signal: Signal) {
        let pid = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed()));
        kill_process(pid.unwrap(), signal).unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Waits for the end of the output, then of the program.
    pub fn exit_status(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.read_until(deadline) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().unwrap(),
                Err(RecvTimeoutError::Timeout) => panic!("does not end:\n{}", self.screen()),
            }
        }
    }

    /// Fails unless line settings and private modes are as they were before the program ran.
    pub fn assert_restored(&self) {
        assert_eq!(
            settings(&**self.master.as_ref().unwrap()),
            self.settings_before,
            "line settings"
        );
        assert_eq!(modes_on(&self.bytes), BTreeSet::new(), "modes left on: {}", self.tail());
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
        }
    }
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

/// The line settings (as `stty` shows them) in a form that can be compared.
fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios())
}

fn read_in_thread(
    mut reader: Box<dyn Read + Send>,
    is_reading: Arc<AtomicBool>,
) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        // The end of the program shows as an error on some systems and as nothing to read on others.
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            let is_heard = sender.send(buffer[..count].to_vec()).is_ok();
            if !is_heard || !is_reading.load(Ordering::SeqCst) {
                return;
            }
        }
    });
    receiver
}

fn encoded(keys: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = keys;
    while let Some(typed) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
        let key = named.and_then(|(name, after)| Some((key_bytes(name)?, after)));
        if let Some((key, after)) = key {
            bytes.extend(key);
            rest = after;
        } else {
            bytes.extend_from_slice(typed.to_string().as_bytes());
            rest = &rest[typed.len_utf8()..];
        }
    }
    bytes
}

fn key_bytes(name: &str) -> Option<Vec<u8>> {
    if let Some(letter) = name.strip_prefix("ctrl+") {
        return Some(vec![letter.bytes().next()?.to_ascii_lowercase() & 0x1f]);
    }
    if let Some(key) = name.strip_prefix("alt+") {
        return Some([b"\x1b", encoded(key).as_slice()].concat());
    }
    let bytes: &[u8] = match name {
        "enter" => b"\r",
        "alt-enter" => b"\x1b\r",
        "shift-enter" => b"\x1b[13;2u",
        "esc" => b"\x1b",
        "tab" => b"\t",
        "backtab" => b"\x1b[Z",
        "backspace" => b"\x7f",
        "delete" => b"\x1b[3~",
        "up" => b"\x1b[A",
        "down" => b"\x1b[B",
        "right" => b"\x1b[C",
        "left" => b"\x1b[D",
        "home" => b"\x1b[H",
        "end" => b"\x1b[F",
        "pageup" => b"\x1b[5~",
        "pagedown" => b"\x1b[6~",
        "f2" => b"\x1bOQ",
        _ => return None,
    };
    Some(bytes.to_vec())
}

/// The modes that differ from a fresh terminal after these bytes: private modes by number, `25` for a hidden
/// cursor, `keyboard` for a keyboard protocol that was pushed and not popped.
pub fn modes_on(bytes: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut on = BTreeSet::new();
    let mut keyboards = 0_i32;
    for piece in text.split("\x1b[").skip(1) {
        let Some(end) = piece.find(|c: char| c.is_ascii_alphabetic()) else { continue };
        let (parameters, letter) = (&piece[..end], &piece[end..=end]);
        match (parameters.chars().next(), letter) {
            (Some('?'), "h" | "l") => {
                for mode in parameters[1..].split(';') {
                    let is_changed = (letter == "h") != (mode == "25");
                    if is_changed {
                        on.insert(mode.to_owned())
                    } else {
                        on.remove(mode)
                    };
                }
            }
            (Some('>'), "u") => keyboards += 1,
            (Some('<'), "u") => keyboards -= parameters[1..].parse().unwrap_or(1),
            _ => {}
        }
    }
    if keyboards != 0 {
        on.insert("keyboard".to_owned());
    }
    on
}
