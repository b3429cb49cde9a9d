//! The terminal in a real pseudo-terminal: taken, lent, given back (T05).
//!
//! The program under test is this test's own binary, started again with [`PROBE`] set.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test is a program of the edge"
)]

mod pty;

use std::io::Write as _;
use std::process::Command;

use crystal::app::key::{Input, Key, KeyCode};
use crystal::terminal::guard::{self, KeyboardProtocol, MouseCapture, Options, TerminalGuard};
use crystal::terminal::handoff;
use crystal::terminal::input::InputReader;
use crystal::terminal::out::{TerminalWriter, title};
use crystal::terminal::screen::Screen;
use crystal::terminal::signals::Signals;
use pty::{Pty, modes_on};
use ratatui::widgets::Paragraph;
use rustix::process::Signal;

const PROBE: &str = "CRYSTAL_TEST_PROBE";
const SIZE: (u16, u16) = (80, 24);

fn show(screen: &mut Screen, text: &str) {
    screen.draw(|frame| frame.render_widget(Paragraph::new(text), frame.area())).unwrap();
}

/// The program under test; as a test it does nothing.
#[test]
fn probe() {
    if std::env::var_os(PROBE).is_some() {
        guard::install_panic_hook("crystal.log".into());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let last_words = runtime.block_on(run_probe());
        let _ = writeln!(std::io::stderr(), "{last_words}");
    }
}

async fn run_probe() -> String {
    let options = Options { mouse: MouseCapture::Captured, keyboard: KeyboardProtocol::Enhanced };
    let mut terminal = TerminalGuard::enter(options).unwrap();
    let mut signals = Signals::listen().unwrap();
    let mut input = InputReader::new();
    let mut screen = Screen::new(&terminal).unwrap();
    TerminalWriter.send(&title("crystal · probe")).unwrap();
    show(&mut screen, "READY");
    loop {
        let event = tokio::select! {
            signal = signals.next() => match signal {
                crystal::app::signal::Signal::Window => continue,
                signal => return format!("ended by {signal:?}"),
            },
            event = input.next() => event.unwrap(),
        };
        match event {
            Input::Key(Key { code: KeyCode::Char(typed), .. }) => match typed {
                'q' => return "ended by a key".to_owned(),
                'p' => panic!("the probe broke\nin two lines"),
                't' => {
                    assert!(std::thread::spawn(|| panic!("a task broke")).join().is_err());
                    show(&mut screen, "ALIVE");
                }
                'm' => terminal.set_mouse(MouseCapture::Free).unwrap(),
                'e' | 'z' | 'x' => {
                    lend(&terminal, &mut input, &mut signals, typed).await;
                    signals.forget_typed();
                    screen.redraw_all().unwrap();
                    show(&mut screen, &format!("BACK from {typed}"));
                }
                other => show(&mut screen, &format!("KEY {other}")),
            },
            Input::Resize(size) => {
                screen.resize(size);
                show(&mut screen, &format!("SIZE {} {}", size.columns, size.rows));
            }
            Input::Paste(text) => show(&mut screen, &format!("PASTE {text:?}")),
            Input::Key(key) => show(&mut screen, &format!("KEY {:?}", key.code)),
            Input::Focus(_) | Input::Mouse(_) => {}
        }
    }
}

async fn lend(
    terminal: &TerminalGuard,
    input: &mut InputReader,
    signals: &mut Signals,
    typed: char,
) {
    input.pause();
    match typed {
        'e' => {
            let mut editor = Command::new("sh");
            editor.args(["-c", "echo EDITOR; read line; echo GOT $line"]);
            assert!(handoff::run(terminal, &mut editor).unwrap().success());
        }
        'x' => assert!(handoff::run(terminal, &mut Command::new("./no-such-editor")).is_err()),
        _ => {
            let resumed = handoff::suspend(terminal, signals).await.unwrap();
            assert_eq!(resumed, handoff::Resumed::Foreground);
        }
    }
    input.resume();
}

fn start() -> Pty {
    let binary = std::env::current_exe().unwrap();
    let args = ["--exact", "probe", "--nocapture"];
    let mut pty = Pty::spawn(binary.to_str().unwrap(), &args, &[(PROBE, "1")], SIZE);
    pty.wait_for_text("READY");
    pty
}

#[test]
fn the_modes_are_on_while_the_workspace_runs_and_off_after_it() {
    let mut pty = start();
    let on: Vec<String> = modes_on(pty.bytes()).into_iter().collect();
    assert_eq!(on, ["1000", "1004", "1006", "1049", "2004", "25", "keyboard"]);
    pty.send_keys("q");
    assert!(pty.exit_status().success());
    pty.wait_for_text("ended by a key");
    pty.assert_restored();
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for (signal, name) in [
        (Signal::TERM, "Terminate"),
        (Signal::HUP, "Hangup"),
        (Signal::INT, "Interrupt"),
        (Signal::QUIT, "Quit"),
    ] {
        let mut pty = start();
        pty.signal(signal);
        pty.exit_status();
        pty.wait_for_text(&format!("ended by {name}"));
        pty.assert_restored();
    }
}

#[test]
fn a_panic_leaves_the_terminal_first_and_then_says_one_line() {
    let mut pty = start();
    pty.send_keys("p");
    assert!(!pty.exit_status().success());
    pty.assert_restored();
    let written = String::from_utf8_lossy(pty.bytes()).into_owned();
    let left = written.find("\x1b[?1049l").unwrap();
    let line = written[left..].lines().find(|l| l.contains("crystal: internal error at ")).unwrap();
    // Without a log file none is named.
    assert!(line.ends_with(": the probe brokein two lines"), "{line}");
}

#[test]
fn a_panic_of_a_task_leaves_the_workspace_alone() {
    let mut pty = start();
    pty.send_keys("t");
    pty.wait_for_text("ALIVE");
    assert!(!String::from_utf8_lossy(pty.bytes()).contains("a task broke"));
    pty.send_keys("q");
    assert!(pty.exit_status().success());
    pty.assert_restored();
}

#[test]
fn an_editor_has_the_terminal_for_itself() {
    let mut pty = start();
    pty.send_keys("e");
    pty.wait_for_text("EDITOR");
    assert!(modes_on(pty.bytes()).is_empty());
    // The letters go to the editor, none of them to the workspace.
    pty.send_keys("qqq<enter>");
    pty.wait_for_text("BACK from e");
    assert!(String::from_utf8_lossy(pty.bytes()).contains("GOT qqq"));
    pty.send_keys("x");
    pty.wait_for_text("BACK from x");
    pty.send_keys("k");
    pty.wait_for_text("KEY k");
    pty.send_keys("q");
    assert!(pty.exit_status().success());
    pty.assert_restored();
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_again() {
    let binary = std::env::current_exe().unwrap();
    let script = "\"$0\" --exact probe --nocapture; echo STOPPED; read line; fg; echo OVER";
    let args = ["-mc", script, binary.to_str().unwrap()];
    let mut pty = Pty::spawn("sh", &args, &[(PROBE, "1")], SIZE);
    pty.wait_for_text("READY");
    pty.send_keys("z");
    pty.wait_for_text("STOPPED");
    assert!(modes_on(pty.bytes()).is_empty());
    pty.send_keys("<enter>");
    pty.wait_for_text("BACK");
    pty.send_keys("q");
    pty.exit_status();
    pty.wait_for_text("OVER");
    pty.assert_restored();
}

#[test]
fn keys_paste_and_size_arrive() {
    let mut pty = start();
    for (keys, wanted) in [
        ("k", "KEY k"),
        ("<up>", "KEY Up"),
        ("<shift-enter>", "KEY Enter"),
        ("<ctrl+c>", "KEY c"),
        ("ä", "KEY ä"),
    ] {
        pty.send_keys(keys);
        pty.wait_for_text(wanted);
    }
    pty.paste("one\r\ntwo");
    pty.wait_for_text("PASTE \"one\\ntwo\"");
    pty.resize((50, 12));
    pty.wait_for_text("SIZE 50 12");
    pty.send_keys("m");
    pty.send_keys("q");
    assert!(pty.exit_status().success());
    pty.assert_restored();
}

#[test]
fn modes_are_computed_from_what_was_written() {
    for (bytes, wanted) in [
        ("\x1b[?1049h\x1b[?25l\x1b[>3u", vec!["1049", "25", "keyboard"]),
        ("\x1b[?1000;1006h\x1b[?1000l", vec!["1006"]),
        ("\x1b[?25l\x1b[>3u\x1b[<1u\x1b[?25h\x1b[31m", vec![]),
    ] {
        let on: Vec<String> = modes_on(bytes.as_bytes()).into_iter().collect();
        assert_eq!(on, wanted, "{bytes:?}");
    }
}
