//! The workspace: the real binary in a pseudo-terminal, as a person has it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test of the edge")]

mod pty;
#[path = "support/screen.rs"]
mod screen;
mod server;
mod support;

use std::time::Duration;

use crystal::base::limits::QUESTION_GRACE_MS;
use pty::{Pty, modes_on};
use rustix::process::Signal;
use screen::{SIZE, open, quit, terminal};
use serde_json::json;
use server::sse::{Sse, calls, held, says};
use server::{Gate, Reply};
use support::{CANARY, World, last_text, wait};

/// After this a question that nobody types into takes an answer.
const GRACE: Duration = Duration::from_millis(QUESTION_GRACE_MS + 50);

fn write_call(path: &str) -> Reply {
    calls("c1", "write", &json!({"path": path, "content": "one line of new text\n"}))
}

#[test]
fn it_opens_on_the_offline_demo_and_answers_with_real_tools() {
    let world = World::offline();
    world.write("notes.txt", "hello from the project\n");
    let mut pty = open(&world, &[]);
    pty.wait_for_text("offline demo");
    assert!(String::from_utf8_lossy(pty.bytes()).contains("\u{1b}]0;crystal · work\u{7}"));
    pty.send_keys("what is in this project?<enter>");
    pty.wait_for(|screen| screen.contains("list") && screen.contains("notes.txt"));
    pty.wait_for(|screen| !screen.contains("Esc stops ·") && !screen.contains("Working"));
    pty.send_keys("replace hello with goodbye in notes.txt<enter>");
    pty.wait_for(|screen| screen.contains("goodbye from the project") && screen.contains(" yes"));
    assert_eq!(world.read("notes.txt"), "hello from the project\n");
    answer(&mut pty, "y");
    pty.wait_for_text("Replaced hello with goodbye");
    assert_eq!(world.read("notes.txt"), "goodbye from the project\n");
    let mut pty = quit(pty);
    pty.wait_for_text("Go on with: crystal --resume ");
    assert!(world.said("user").iter().any(|text| text.contains("goodbye")));
    world.assert_private();
}

/// Answers a question, which takes no key in its first moments.
fn answer(pty: &mut Pty, keys: &str) {
    pty.wait_for_text("no, with a reason");
    pty.let_pass(GRACE);
    pty.send_keys(keys);
    pty.wait_for(|screen| !screen.contains("no, with a reason"));
}

#[test]
fn a_refusal_and_its_reason_reach_the_model() {
    let world = World::new([write_call("new.txt"), says("I will not.")]);
    let mut pty = open(&world, &["write something"]);
    pty.wait_for_text("one line of new text");
    answer(&mut pty, "n");
    pty.wait_for_text("why not");
    pty.send_keys("not today<enter>");
    pty.wait_for_text("I will not.");
    assert!(last_text(&world.server.requests()[1]).contains("not today"));
    assert!(!world.work().join("new.txt").exists());
    quit(pty);
    world.server.assert_valid();
}

/// Keys that were under way when the question came are text, not an answer.
#[test]
fn a_question_takes_no_keys_that_were_typed_before_it() {
    let gate = Gate::closed();
    let call = Sse::new().text("Look: ");
    let reply = call
        .clone()
        .call("c1", "write", &json!({"path": "new.txt", "content": "x"}))
        .finish("tool_calls")
        .done()
        .stall_after(call.len(), &gate);
    let world = World::new([reply, says("over")]);
    let mut pty = open(&world, &["go"]);
    pty.wait_for_text("Look:");
    gate.open();
    // Typed as the question comes, and on: none of it answers.
    for _ in 0..40 {
        pty.send_keys("yn");
    }
    pty.wait_for_text("no, with a reason");
    assert!(!world.work().join("new.txt").exists());
    answer(&mut pty, "<esc>");
    pty.wait_for_text("over");
    pty.wait_for_text("ynyn");
    assert!(!world.work().join("new.txt").exists());
    pty.send_keys("<ctrl+c>");
    quit(pty);
}

#[test]
fn esc_keeps_what_was_said_and_marks_it() {
    let gate = Gate::closed();
    let world = World::new([held("half a thought", "never", &gate), says("the next answer")]);
    let mut pty = open(&world, &["think"]);
    pty.wait_for_text("half a thought");
    pty.send_keys("<esc>");
    pty.wait_for_text("Interrupted");
    wait(world.server.wait_for_hang_ups(1));
    pty.wait_for_text("half a thought");
    pty.send_keys("go on<enter>");
    pty.wait_for_text("the next answer");
    let records = world.records();
    let kept = records.iter().find(|r| r["message"]["role"] == "assistant").unwrap();
    assert!(
        kept.to_string().contains("half a thought") && kept.to_string().contains("interrupted")
    );
    quit(pty);
    world.server.assert_valid();
}

#[test]
fn what_is_typed_during_a_reply_appears_waits_and_is_answered() {
    let gate = Gate::closed();
    let world = World::new([held("speaking", " and done", &gate), says("to the second")]);
    let mut pty = open(&world, &["first"]);
    pty.wait_for_text("speaking");
    pty.send_keys("second thing");
    pty.wait_for_text("second thing");
    pty.send_keys("<enter>");
    pty.wait_for_text("queued: \"second thing\"");
    gate.open();
    pty.wait_for_text("to the second");
    assert_eq!(last_text(&world.server.requests()[1]), "second thing");
    quit(pty);
    world.server.assert_valid();
}

/// T07
#[test]
fn a_huge_paste_is_a_chip_and_is_sent_in_full() {
    let world = World::new([says("read it all")]);
    let mut pty = open(&world, &[]);
    // 10,000 lines, 1 MB, with codes that would be keys if they were typed.
    let text: String = (0..10_000).map(|n| format!("{n:05} {}\n", "ä\u{3}x".repeat(25))).collect();
    assert!(text.len() > 1_000_000);
    pty.paste(&text);
    pty.wait_for_text("[pasted 10000 lines");
    assert!(world.server.requests().is_empty());
    pty.send_keys(" what is it?<enter>");
    pty.wait_for_text("read it all");
    let sent = last_text(&world.server.requests()[0]);
    assert!(sent.contains("00000 ä") && sent.contains("09999 ä") && sent.ends_with("what is it?"));
    assert!(sent.len() > 1_000_000 - 10_000 * 25, "{}", sent.len());
    quit(pty);
    world.server.assert_valid();
}

#[test]
fn commands_answer_on_the_screen() {
    let world = World::new([says("the last **answer**")]);
    let mut pty = open(&world, &["hello"]);
    pty.wait_for_text("the last answer");
    for (keys, shown) in [
        ("/mode<enter>", "plan mode"),
        ("/mode<enter>", "work mode"),
        ("/sttus<enter>", "/status"),
        ("/copy<enter>", "opied"),
    ] {
        pty.send_keys(keys);
        pty.wait_for_text(shown);
    }
    for (keys, shown) in [
        ("/help<enter>", "Shift+Enter"),
        ("/status<enter>", "Workspace"),
        ("/model<enter>", "demo"),
    ] {
        pty.send_keys(keys);
        pty.wait_for_text(shown);
        pty.send_keys("<esc>");
        pty.wait_for(|screen| !screen.contains(shown));
    }
    assert_eq!(world.server.requests().len(), 1);
    let copied = b"\x1b]52;c;";
    assert!(pty.bytes().windows(copied.len()).any(|bytes| bytes == copied));
    pty.send_keys("/clear<enter>");
    pty.wait_for(|screen| !screen.contains("the last answer"));
    quit(pty);
    assert_eq!(world.archives().len(), 1);
}

#[test]
fn ctrl_c_twice_and_ctrl_d_leave() {
    let world = World::new([]);
    let mut pty = open(&world, &[]);
    pty.send_keys("draft<ctrl+c>");
    pty.wait_for(|screen| !screen.contains("draft"));
    pty.until("the second Ctrl+C comes in time", |pty| {
        pty.send_keys("<ctrl+c>");
        pty.wait_for_change_or_end() == pty::Seen::End
    });
    assert_eq!(pty.exit_status().exit_code(), 0);
    pty.assert_restored();
    let mut pty = open(&world, &[]);
    pty.send_keys("<ctrl+d>");
    assert_eq!(pty.exit_status().exit_code(), 0);
    pty.assert_restored();
    // A session in which nothing was said leaves no files.
    assert!(world.archives().is_empty());
}

/// T04
#[test]
fn no_size_breaks_it() {
    let gate = Gate::closed();
    let text =
        "# Head\n\n| a | b |\n|---|---|\n| 漢字 | 👩‍👩‍👧 |\n\n```rust\nfn main() {}\n```\n".repeat(20);
    let world = World::new([held(&text, "THE END", &gate)]);
    let mut pty = open(&world, &["show"]);
    pty.wait_for_text("main");
    for size in [(20, 5), (1, 1), (2, 1), (1, 60), (300, 1), (40, 10), (19, 4), (500, 200)] {
        pty.resize(size);
        // Not waited for: two sizes that follow each other may be drawn as one.
        pty.let_pass(Duration::from_millis(20));
        pty.send_keys("x<backspace>");
    }
    for step in 0..200_u16 {
        pty.resize((1 + step * 7 % 120, 1 + step * 5 % 50));
    }
    gate.open();
    pty.resize(SIZE);
    pty.wait_for_text("THE END");
    pty.resize((20, 5));
    pty.wait_for_text("work");
    quit(pty);
}

/// What was written beside the window's titles, which hold no control character.
fn without_titles(written: &str) -> String {
    let mut pieces = written.split("\u{1b}]0;crystal · ");
    let mut rest = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (title, after) = piece.split_once('\u{7}').unwrap();
        assert!(!title.chars().any(char::is_control), "{title:?}");
        rest.push_str(after);
    }
    rest
}

/// T03: whatever speaks, its codes reach no terminal.
#[test]
fn no_injected_sequence_reaches_the_terminal() {
    let evil = "\u{1b}]0;OWNED\u{7}\u{1b}]52;c;T1dORUQ=\u{7}\u{1b}[2J\u{1b}[?1000h\u{9b}31m\u{202e}\u{1b}P+q\u{1b}\\";
    let world = World::new([
        calls("c1", "list", &json!({"path": "."})),
        calls("c2", "read", &json!({"path": "evil.txt"})),
        calls("c3", "bash", &json!({"command": format!("printf '%s' '{evil}' BASHED")})),
        calls("c4", "write", &json!({"path": format!("{evil}.txt"), "content": evil})),
        says(&format!("MODEL {evil} SAID")),
    ]);
    world.write(&format!("{}name.txt", "\u{1b}]0;OWNED\u{7}\u{1b}[2J\n\u{1b}]52;c;T1dORUQ="), "x");
    world.write("evil.txt", &format!("FILE {evil}\n"));
    let mut pty = open(&world, &[&format!("look {evil}")]);
    for _ in 0..2 {
        answer(&mut pty, "y");
    }
    pty.wait_for(|screen| screen.contains("MODEL") && screen.contains("SAID"));
    let written = String::from_utf8_lossy(pty.bytes()).into_owned();
    let written = without_titles(&written);
    for code in ["\u{7}", "\u{9b}", "\u{202e}", "\u{1b}P", "\u{1b}]52", "\u{1b}]0;OWNED"] {
        assert!(!written.contains(code), "{code:?} reached the terminal");
    }
    assert_eq!(written.matches("\u{1b}[?1000h").count(), 1, "the mouse, once, on entering");
    assert_eq!(written.matches("\u{1b}[2J").count(), 1, "cleared once, on entering");
    assert!(!written.contains(CANARY));
    quit(pty);
    world.server.assert_valid();
}

#[test]
fn signals_save_and_give_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let gate = Gate::closed();
        let world = World::new([held("so far", "never", &gate)]);
        let mut pty = open(&world, &["go"]);
        pty.wait_for_text("so far");
        assert!(!modes_on(pty.bytes()).is_empty());
        pty.signal(signal);
        assert_eq!(pty.exit_status().exit_code(), 130, "{signal:?}");
        pty.assert_restored();
        assert_eq!(world.said("assistant"), ["so far"]);
        assert!(world.archive().with_extension("json").exists());
    }
}

/// X02: whatever ends a turn or the program, what its commands started ends too.
#[test]
fn a_running_command_ends_with_its_turn_and_with_the_program() {
    let command = "trap '' HUP; sleep 60 & echo \"CHILD $!.\"; wait";
    for leaving in ["<esc>", "TERM", "HUP"] {
        let world = World::new([calls("c1", "bash", &json!({"command": command}))]);
        world.configure(&json!({"approvals": {"policy": "full"}}));
        let mut pty = open(&world, &["go"]);
        pty.wait_for(|screen| child_of(screen).is_some());
        let child = child_of(&pty.screen()).unwrap();
        assert!(support::is_alive(&child));
        match leaving {
            "TERM" => pty.signal(Signal::TERM),
            "HUP" => pty.signal(Signal::HUP),
            keys => {
                pty.send_keys(keys);
                pty.wait_for_text("Interrupted");
                pty.send_keys("/quit<enter>");
            }
        }
        pty.exit_status();
        pty.assert_restored();
        assert!(!support::is_alive(&child), "{leaving}: the child lives on");
        let records = world.records();
        let is_result = |record: &&serde_json::Value| record.to_string().contains("tool_result");
        let result = records.iter().find(is_result).unwrap().to_string();
        // Leaving waits for the last words of a command.
        assert!(result.contains("CHILD"), "{leaving}: {result}");
    }
}

/// The process that the command named.
fn child_of(screen: &str) -> Option<String> {
    let (_, after) = screen.split_once("\n  CHILD ").or_else(|| screen.split_once("CHILD "))?;
    let (pid, _) = after.split_once('.')?;
    pid.chars().all(|c| c.is_ascii_digit()).then(|| pid.to_owned())
}

#[test]
fn a_terminal_that_goes_away_loses_nothing() {
    let gate = Gate::closed();
    let world = World::new([held("so far", "never", &gate)]);
    let mut pty = open(&world, &["go"]);
    pty.wait_for_text("so far");
    pty.hang_up();
    assert_eq!(world.said("assistant"), ["so far"]);
    assert!(world.archive().with_extension("json").exists());
}

/// A terminal that is not the process's own sends no SIGHUP: once it went away, the program read its end for
/// ever, at full speed.
#[test]
fn a_terminal_that_goes_away_without_a_signal_ends_it_too() {
    let gate = Gate::closed();
    let world = World::new([held("so far", "never", &gate)]);
    let mut pty = terminal(&world, "setsid", &["-w", support::CRYSTAL, "go"]);
    pty.wait_for_text("so far");
    pty.hang_up();
    wait(world.server.wait_for_hang_ups(1));
    // It ends on its own, behind the program that the terminal belonged to: the snapshot is its last word.
    let saved = world.archive().with_extension("json");
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while !saved.exists() {
        assert!(std::time::Instant::now() < deadline, "nothing is saved");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    assert_eq!(world.said("assistant"), ["so far"]);
}

/// T05: a shell has the terminal while the workspace is stopped.
#[test]
fn ctrl_z_and_fg_are_a_pause() {
    let world = World::new([says("before"), says("after")]);
    let script = "\"$0\" hello; echo STOPPED; read line; fg; echo OVER $?";
    let mut pty = terminal(&world, "sh", &["-mc", script, support::CRYSTAL]);
    pty.wait_for_text("before");
    pty.send_keys("<ctrl+z>");
    pty.wait_for_text("STOPPED");
    assert!(modes_on(pty.bytes()).is_empty());
    pty.send_keys("<enter>");
    pty.wait_for_text("CTX");
    pty.send_keys("again<enter>");
    pty.wait_for_text("after");
    pty.send_keys("/quit<enter>");
    pty.wait_for_text("OVER 0");
    pty.exit_status();
    pty.assert_restored();
}

#[test]
fn nothing_to_open_is_said_before_the_terminal_is_touched() {
    let world = World::new([]);
    for (args, code, line) in [
        (&["-c"][..], 3, "no session of this folder"),
        (&["--resume", "0192abcd"], 3, "no session 0192abcd"),
        (&["--theme", "none-such"], 2, "none-such"),
    ] {
        let mut pty = terminal(&world, support::CRYSTAL, args);
        assert_eq!(pty.exit_status().exit_code(), code, "{args:?}");
        pty.wait_for_text(line);
        assert!(!pty.bytes().contains(&0x1b), "{args:?}");
    }
}
