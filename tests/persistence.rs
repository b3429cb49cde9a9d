//! What was said survives: crashes, damage, other processes, full disks, through the real binary.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test of the edge")]

mod pty;
#[path = "support/screen.rs"]
mod screen;
mod server;
mod support;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use pty::Pty;
use rustix::process::Signal;
use screen::{open, quit, terminal};
use serde_json::json;
use server::sse::{Sse, held, says};
use server::{Gate, Request};
use support::{CRYSTAL, World, last_text, text_of, wait};

fn kill(mut pty: Pty) {
    pty.signal(Signal::KILL);
    pty.exit_status();
}

/// The texts of a request, without the system prompt.
fn texts(request: &Request) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    messages[1..].iter().map(|message| text_of(&message["content"])).collect()
}

#[test]
fn a_kill_during_a_reply_loses_nothing_that_had_arrived() {
    let gate = Gate::closed();
    let world = World::new([held("half a thought", "never", &gate), says("I go on")]);
    let mut pty = open(&world, &["think"]);
    // A second is longer than text may wait to be saved.
    pty.wait_for(|screen| screen.contains("half a thought") && screen.contains("· 1 s"));
    kill(pty);
    let mut pty = open(&world, &["--continue"]);
    pty.wait_for(|screen| screen.contains("think") && screen.contains("half a thought"));
    pty.send_keys("go on<enter>");
    pty.wait_for_text("I go on");
    let sent = texts(&world.server.requests()[1]);
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent[1].starts_with("half a thought") && sent[2] == "go on", "{sent:?}");
    quit(pty);
    world.server.assert_valid();
}

/// S14: three calls, of which one had ended, one ran and one had not begun.
#[test]
fn a_kill_during_a_batch_leaves_a_session_that_goes_on() {
    let command = |text: &str| json!({"command": text});
    let batch = Sse::new()
        .text("Three things.")
        .call("c1", "bash", &command("echo first is done"))
        .call("c2", "bash", &command("echo second runs; sleep 60"))
        .call("c3", "bash", &command("echo third"));
    let world = World::new([batch.finish("tool_calls").done(), says("I go on")]);
    world.configure(&json!({"approvals": {"policy": "full"}}));
    let mut pty = open(&world, &["do three things"]);
    pty.wait_for_text("1 of 3 calls done");
    pty.wait_for_text("second runs");
    kill(pty);
    let mut pty = open(&world, &["--continue"]);
    for text in
        ["do three things", "Three things.", "first is done", "Interrupted before it finished"]
    {
        pty.wait_for_text(text);
    }
    pty.send_keys("go on<enter>");
    pty.wait_for_text("I go on");
    let sent = texts(&world.server.requests()[1]);
    assert!(sent[2].contains("first is done"), "{sent:?}");
    assert!(sent[3].contains("Interrupted") && sent[4].contains("Interrupted"), "{sent:?}");
    quit(pty);
    world.server.assert_valid();
}

/// Killed after so many pieces of output, which is a random place and still reached on any machine.
#[test]
fn a_kill_at_any_moment_loses_nothing_that_was_answered() {
    let world = World::new([]);
    world.configure(&json!({"approvals": {"policy": "full"}}));
    world.server.when(|request| {
        let last = last_text(request);
        if last == "the end" || last.ends_with("\nthe end") {
            return Some(says("ok"));
        }
        // A question that was not answered stands before the next one in one message.
        let Some((_, question)) = last.rsplit_once("question ") else { return Some(says("ok")) };
        let reply = Sse::new()
            .text(&format!("answer {question}: "))
            .text("and a word ".repeat(50).as_str());
        let call = json!({"command": format!("echo tool {question}")});
        let is_odd = question.parse::<u32>().is_ok_and(|number| number % 2 == 1);
        let reply = if is_odd {
            reply.call("c", "bash", &call).finish("tool_calls")
        } else {
            reply.finish("stop")
        };
        Some(reply.usage(9, 0, 9).done())
    });
    assert_eq!(world.run(&["run", "begin"]).code, 0);
    let mut must_know = vec!["begin".to_owned()];
    for round in 0..30_u32 {
        let mut pty = open(&world, &["--continue"]);
        let before = world.server.requests().len();
        pty.send_keys(&format!("question {round}<enter>"));
        for _ in 0..(round * 7 + 3) % 13 {
            let screen = pty.screen();
            if screen.contains(&format!("answer {round}: ")) && !screen.contains("Esc stops") {
                break;
            }
            pty.wait_for_change();
        }
        let was_sent = world.server.requests().len() > before;
        kill(pty);
        if was_sent {
            must_know.push(format!("question {round}"));
        }
        let said = world.said("user");
        for text in &must_know {
            assert!(said.contains(text), "round {round}: {text} is not in {said:?}");
        }
    }
    let mut pty = open(&world, &["--continue"]);
    pty.send_keys("the end<enter>");
    pty.wait_for_text("ok");
    let sent = texts(world.server.requests().last().unwrap());
    for text in &must_know {
        let is_sent = sent.iter().flat_map(|sent| sent.lines()).any(|line| line == text);
        assert!(is_sent, "{text} was not sent");
    }
    quit(pty);
    world.server.assert_valid();
    world.assert_private();
}

/// S01, S02: what can be read is kept, what cannot is named.
#[test]
fn torn_and_damaged_lines_cost_themselves_only() {
    let cases: [(&[u8], &[&str]); 4] = [
        (b"{\"kind\":\"message\",\"id\":99,\"mess", &["last record is incomplete"]),
        (b"\xff\xfe not json\n", &["is damaged and was skipped"]),
        (b"not json\n\0\0\0\0\0\0\0\n", &["is damaged", "is damaged"]),
        (b"{\"kind\":\"of a newer version\",\"x\":1}\n", &[]),
    ];
    for (damage, warnings) in cases {
        let world = World::new([says("first answer"), says("second answer"), says("third answer")]);
        assert_eq!(world.run(&["run", "first question"]).code, 0);
        let archive = world.archive();
        // The snapshot would hide it.
        fs::remove_file(archive.with_extension("json")).unwrap();
        let mut file = OpenOptions::new().append(true).open(&archive).unwrap();
        file.write_all(damage).unwrap();
        let ran = world.run(&["run", "-c", "second question"]);
        assert_eq!((ran.code, ran.err.lines().count()), (0, warnings.len()), "{}", ran.err);
        for (line, warning) in ran.err.lines().zip(warnings) {
            assert!(line.contains(warning), "{line}");
        }
        let mut pty = open(&world, &["-c"]);
        for text in ["first question", "first answer", "second question", "second answer"] {
            pty.wait_for_text(text);
        }
        quit(pty);
        assert_eq!(world.run(&["run", "-c", "third question"]).code, 0);
        let sent = texts(&world.server.requests()[2]);
        assert_eq!(sent.len(), 5, "{sent:?}");
        world.server.assert_valid();
        world.assert_private();
    }
}

/// S06: the second window is told who has the session.
#[test]
fn a_session_is_open_in_one_process() {
    let world = World::new([says("hello"), says("still here")]);
    let mut first = open(&world, &["hi"]);
    first.wait_for_text("hello");
    let pid = first.pid();
    let ran = world.run(&["run", "-c", "me too"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains(&format!("pid {pid}")), "{}", ran.err);
    let mut second = terminal(&world, CRYSTAL, &["-c"]);
    assert_eq!(second.exit_status().exit_code(), 3);
    second.wait_for_text(&format!("pid {pid}"));
    assert!(!second.bytes().contains(&0x1b), "the terminal was touched");
    // A new session beside it is no trouble, and the first one works on.
    quit(open(&world, &[]));
    first.send_keys("and now?<enter>");
    first.wait_for_text("still here");
    kill(first);
    // The lock ended with its holder.
    quit(open(&world, &["-c"]));
}

/// S05: `ulimit -f` is a disk that is full for every file beyond it.
#[test]
fn a_full_disk_is_said_once_and_the_session_goes_on() {
    let long = "many words that fill the disk. ".repeat(2_000);
    let world = World::new([says("short answer"), says(&long), says("the last answer")]);
    let script = "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\"";
    let mut pty = terminal(&world, "sh", &["-c", script, CRYSTAL, "hi"]);
    pty.wait_for_text("short answer");
    pty.send_keys("long<enter>");
    pty.wait_for_text("Not saved:");
    pty.wait_for_text("NOT SAVED");
    pty.send_keys("go on<enter>");
    pty.wait_for_text("the last answer");
    let sent = texts(&world.server.requests()[2]);
    assert_eq!(sent.len(), 5);
    assert_eq!(pty.screen().matches("Not saved:").count(), 1);
    pty.send_keys("/quit<enter>");
    assert_eq!(pty.exit_status().exit_code(), 1);
    pty.wait_for_text("the session was not saved completely");
    assert!(!pty.screen().contains("--resume"), "{}", pty.screen());
    pty.assert_restored();
    // What had reached the disk is there.
    let mut pty = open(&world, &["-c"]);
    pty.wait_for_text("short answer");
    quit(pty);
}

#[test]
fn a_disk_that_is_free_again_gets_everything() {
    let world = World::new([says("first"), says("second"), says("third")]);
    let mut pty = open(&world, &["one"]);
    pty.wait_for_text("first");
    quit(pty);
    // A file in the place of the folder: the writing fails until it is gone, also for root.
    let aside = world.home().join("aside");
    fs::rename(world.sessions(), &aside).unwrap();
    fs::write(world.sessions(), "").unwrap();
    let mut pty = open(&world, &["two"]);
    pty.wait_for_text("second");
    pty.wait_for_text("Not saved:");
    fs::remove_file(world.sessions()).unwrap();
    fs::rename(&aside, world.sessions()).unwrap();
    pty.send_keys("three<enter>");
    pty.wait_for_text("being saved again");
    pty.wait_for_text("third");
    quit(pty);
    let mut pty = open(&world, &["-c"]);
    for text in ["two", "second", "three", "third"] {
        pty.wait_for_text(text);
    }
    quit(pty);
    world.server.assert_valid();
}

/// A home that cannot be written: the answer comes, and what is not saved is said. Root may write anyway, so
/// the home is a place where nobody can make a folder.
#[test]
fn a_home_that_cannot_be_written_is_said_and_no_reason_to_stop() {
    let world = World::new([says("an answer"), says("an answer")]);
    let config = world.home().join("config.json").display().to_string();
    let args = ["run", "--config", &config, "hi"];
    let child = world.command_of(CRYSTAL, &args).env("CRYSTAL_HOME", "/proc/none").spawn().unwrap();
    let ran = support::ended(child);
    assert_eq!(ran.out, "an answer\n", "{}", ran.err);
    assert!(ran.err.contains("not saved"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

/// X14
#[test]
fn files_are_the_users_alone_whatever_the_umask() {
    let world = World::new([]);
    let gate = Gate::closed();
    gate.open();
    world.server.then(held("a", "b", &gate));
    let script = "umask 000; CRYSTAL_LOG=debug exec \"$0\" \"$@\"";
    let mut pty = terminal(&world, "sh", &["-c", script, CRYSTAL, "hi"]);
    pty.wait_for_text("ab");
    pty.send_keys("typed<ctrl+c>/status<enter>");
    pty.wait_for_text("Workspace");
    world.assert_private();
    pty.send_keys("<esc>");
    pty.wait_for(|screen| !screen.contains("Workspace"));
    quit(pty);
    world.assert_private();
    // A loose folder is tightened.
    fs::set_permissions(world.sessions(), fs::Permissions::from_mode(0o777)).unwrap();
    world.server.then(says("again"));
    assert_eq!(world.run(&["run", "again"]).code, 0);
    world.assert_private();
    wait(world.server.wait_for_requests(2));
}

/// A session of a newer version is left alone.
#[test]
fn a_newer_session_is_not_opened_and_not_changed() {
    let world = World::new([says("hello")]);
    assert_eq!(world.run(&["run", "hi"]).code, 0);
    let archive = world.archive();
    let snapshot = archive.with_extension("json");
    let text = fs::read_to_string(&snapshot).unwrap();
    fs::write(&snapshot, text.replacen("\"version\":1", "\"version\":9", 1)).unwrap();
    let before = (fs::read(&archive).unwrap(), fs::read(&snapshot).unwrap());
    let id = archive.file_stem().unwrap().to_str().unwrap().to_owned();
    // S13
    let ran = world.run(&["run", "--resume", &id, "hi"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("newer"), "{}", ran.err);
    assert_eq!((fs::read(&archive).unwrap(), fs::read(&snapshot).unwrap()), before);
}

/// S03: one file that cannot be read is one session less, not all of them.
#[test]
fn an_unreadable_file_hides_no_other_session() {
    let world = World::new([says("hello"), says("still here")]);
    assert_eq!(world.run(&["run", "hi"]).code, 0);
    for (name, text) in [
        ("0192abcd-0000-7000-8000-000000000001.json", "{\"version\": 1, \"id\":"),
        ("0192abcd-0000-7000-8000-000000000002.jsonl", "\0\0\0\0"),
        ("0192abcd-0000-7000-8000-000000000003.json", ""),
        ("notes.json", "[]"),
    ] {
        fs::write(world.sessions().join(name), text).unwrap();
    }
    fs::create_dir(world.sessions().join("0192abcd-0000-7000-8000-000000000004.jsonl")).unwrap();
    let ran = world.run(&["run", "-c", "there?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "still here\n"), "{}", ran.err);
    let ran = world.run(&["run", "--resume", "0192abcd-0000-7000-8000-000000000001", "x"]);
    assert_eq!((ran.code, ran.err.lines().count()), (3, 1), "{}", ran.err);
}
