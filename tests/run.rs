//! `crystal run`: the real binary without a screen, against a scripted model.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test of the edge")]

mod server;
mod support;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use server::sse::{Sse, calls, says};
use server::{Gate, Reply, Server};
use support::{CANARY, CRYSTAL, Ran, World, ended, last_text, wait};

/// Replaces what differs from run to run: ids, times, paths of the test.
fn normal(mut value: Value, world: &World) -> Value {
    normalise(&mut value, &world.work().display().to_string());
    value
}

fn normalise(value: &mut Value, work: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, work)),
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_time = key == "ts" || key == "created" || key.to_lowercase().ends_with("ms");
                if is_time || matches!(key.as_str(), "session" | "sessionId" | "crystal") {
                    *value = json!("_");
                }
                normalise(value, work);
            }
        }
        Value::String(text) => *text = text.replace(work, "WORK"),
        _ => {}
    }
}

fn two_rounds() -> [Reply; 2] {
    let first = Sse::new().text("I look.").call("c1", "read", &json!({"path": "a.txt"}));
    [first.finish("tool_calls").usage(30, 10, 6).done(), says("It says **hello**.")]
}

#[test]
fn text_is_the_final_answer_alone() {
    let world = World::new(two_rounds());
    world.write("a.txt", "hello\n");
    let ran = world.run(&["run", "what does a.txt say?"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "It says **hello**.\n", ""));
    let second = &world.server.requests()[1];
    assert!(last_text(second).contains("hello"), "{}", second.body);
    world.server.assert_valid();
    world.assert_private();
}

#[test]
fn json_is_one_object() {
    let world = World::new(two_rounds());
    world.write("a.txt", "hello\n");
    let ran = world.run(&["run", "--output-format", "json", "what does a.txt say?"]);
    assert_eq!(ran.err, "");
    let [result]: [Value; 1] = ran.json_lines().try_into().unwrap();
    let id = result["sessionId"].as_str().unwrap().to_owned();
    assert!(world.archive().ends_with(format!("{id}.jsonl")));
    let wanted = json!({
        "sessionId": "_", "result": "It says **hello**.", "stopReason": "end_turn",
        "usage": {"input": 20, "output": 5, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0},
        "totalUsage": {"input": 40, "output": 11, "cacheRead": 10, "cacheWrite": 0, "reasoning": 0},
        "rounds": 2, "toolCalls": 1, "durationMs": "_",
    });
    assert_eq!(normal(result, &world), wanted);
}

#[test]
fn stream_json_is_the_archive_as_it_happens_and_the_result() {
    let world = World::new(two_rounds());
    world.write("a.txt", "hello\n");
    let ran = world.run(&["run", "--output-format", "stream-json", "what does a.txt say?"]);
    let lines = ran.json_lines();
    let (records, told): (Vec<Value>, Vec<Value>) = lines
        .into_iter()
        .partition(|line| !matches!(line["kind"].as_str(), Some("delta" | "result")));
    assert_eq!(records, world.records());
    let kinds: Vec<&str> = told.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["delta", "delta", "result"]);
    assert_eq!(
        (&told[0]["text"], &told[1]["text"]),
        (&json!("I look."), &json!("It says **hello**."))
    );
}

#[test]
fn the_prompt_is_the_argument_and_then_standard_input() {
    let world = World::new([says("1"), says("2"), says("3")]);
    for (args, input, wanted) in [
        (&["run", "review this"][..], "a diff\n", "review this\n\na diff"),
        (&["run"], "only input", "only input"),
        (&["run", "only argument"], "", "only argument"),
    ] {
        assert_eq!(world.run_with_input(args, input).code, 0);
        assert_eq!(last_text(world.server.requests().last().unwrap()), wanted);
    }
    let none = world.run_with_input(&["run"], " \n");
    assert_eq!((none.code, none.out.as_str()), (2, ""));
    assert!(none.err.starts_with("crystal: there is no message\n"), "{}", none.err);
}

#[test]
fn a_session_goes_on_where_it_was() {
    let world = World::new([says("first answer"), says("second answer"), says("third answer")]);
    assert_eq!(world.run(&["run", "first question"]).code, 0);
    assert_eq!(world.run(&["run", "-c", "second question"]).out, "second answer\n");
    let id = world.archive().file_stem().unwrap().to_str().unwrap().to_owned();
    assert_eq!(world.run(&["run", "--resume", &id[..13], "third question"]).code, 0);
    let sent = world.server.requests().last().unwrap().body["messages"].clone();
    let texts: Vec<String> =
        sent.as_array().unwrap()[1..].iter().map(|m| support::text_of(&m["content"])).collect();
    let wanted =
        ["first question", "first answer", "second question", "second answer", "third question"];
    assert_eq!(texts, wanted);
    world.server.assert_valid();
}

#[test]
fn nothing_to_open_and_bad_usage_have_their_codes() {
    let world = World::new([]);
    for (args, code, line) in [
        (&["run", "-c", "x"][..], 3, "no session of this folder"),
        (&["run", "--resume", "0192abcd", "x"], 3, "no session 0192abcd"),
        (&["run", "--nope", "x"], 2, "--nope"),
        (&["run", "--workspace", "missing", "x"], 2, "does not exist"),
        (&["run", "--model", "nobody/x", "x"], 2, "nobody"),
        (&[], 2, "crystal run"),
    ] {
        let ran = world.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(line), "{args:?}: {}", ran.err);
    }
    assert!(world.archives().is_empty());
}

#[test]
fn rounds_are_limited() {
    let world = World::new([]);
    let mut round = 0;
    world.server.when(move |_| {
        round += 1;
        Some(calls(&format!("c{round}"), "list", &json!({"path": "."})))
    });
    let ran = world.run(&["run", "--max-rounds", "3", "look for ever"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("stopped after 3 rounds"), "{}", ran.err);
    assert_eq!(world.server.requests().len(), 3);
    world.server.assert_valid();
}

/// What a model may do wrong, and what it is told.
#[test]
fn a_model_is_told_what_is_wrong_with_its_calls() {
    let write = |path: &str| json!({"path": path, "content": "x"});
    let broken = Sse::new()
        .delta(&json!({"tool_calls": [{"index": 0, "id": "c", "type": "function",
            "function": {"name": "write", "arguments": "{\"path\": \"a.txt\", "}}]}))
        .finish("tool_calls")
        .done();
    let cut = Sse::new()
        .delta(&json!({"tool_calls": [{"index": 0, "id": "c", "type": "function",
            "function": {"name": "write", "arguments": "{\"path\": \"a.txt\", \"content\": \"ha"}}]}))
        .finish("length")
        .done();
    for (reply, policy, wanted) in [
        (calls("c", "fly", &json!({})), "full", "fly"),
        (broken, "full", "{\"path\": \"a.txt\", "),
        // W12
        (cut, "full", "limit"),
        (calls("c", "write", &write("b.txt")), "ask", "Denied"),
        (calls("c", "write", &write("../outside.txt")), "auto-edit", "outside"),
        (calls("c", "bash", &json!({"command": "touch made"})), "auto-edit", "Denied"),
        (
            calls("c", "edit", &json!({"path": "none.txt", "old": "a", "new": "b"})),
            "full",
            "none.txt",
        ),
    ] {
        let world = World::new([reply.clone(), says("I see.")]);
        let ran = world.run(&["run", "--approvals", policy, "go"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "I see.\n"), "{wanted}: {}", ran.err);
        let told = last_text(&world.server.requests()[1]);
        assert!(told.contains(wanted), "{wanted}: {told}");
        assert_eq!(std::fs::read_dir(world.work()).unwrap().count(), 0, "{wanted}");
        assert!(!world.home().join("../outside.txt").exists());
        world.server.assert_valid();
    }
}

/// Commands that do not want to end: the run does.
#[test]
fn commands_that_misbehave_come_back() {
    for (command, timeout_s, wanted) in [
        ("yes forever", 1, "forever"),
        ("cat; echo read $?", 60, "read 0"),
        ("trap '' TERM; echo deaf; while :; do read x < /dev/zero; done", 1, "deaf"),
        // X02: the child holds the pipe.
        ("sleep 60 & echo left $!", 60, "left "),
        ("env", 60, "PATH="),
        ("printf '\\033]0;owned\\007\\033[2J'", 60, "(no output)"),
    ] {
        let call = json!({"command": command, "timeout_s": timeout_s});
        let world = World::new([calls("c", "bash", &call), says("done")]);
        let ran = world.run(&["run", "--approvals", "full", "go"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{command}: {}", ran.err);
        let told = last_text(&world.server.requests()[1]);
        assert!(told.contains(wanted), "{command}: {told}");
        assert!(told.len() < 200_000 && !told.contains(CANARY), "{command}: {} bytes", told.len());
        if let Some(pid) = told.lines().find_map(|line| line.strip_prefix("left ")) {
            assert!(!support::is_alive(pid.trim()), "the child lives on");
        }
        world.server.assert_valid();
        world.assert_no_canary();
    }
}

/// One line, the exit code, and nothing lost.
fn check_failure(world: &World, wanted: &str) -> Ran {
    let ran = world.run(&["run", "do it"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    let is_short = ran.err.lines().count() <= 2;
    assert!(is_short && ran.err.starts_with("crystal: scripted/m: "), "{}", ran.err);
    assert!(ran.err.contains(wanted), "{wanted}: {}", ran.err);
    assert!(!ran.err.contains(CANARY) && !ran.err.contains('\u{1b}'), "{}", ran.err);
    assert_eq!(world.said("user"), ["do it"]);
    world.assert_no_canary();
    ran
}

#[test]
fn what_a_server_refuses_is_one_clear_line() {
    let key = format!("Incorrect API key provided: {CANARY}\u{1b}[2J");
    for (reply, wanted, requests) in [
        (Reply::error(401, &key), "401", 1),
        (Reply::error(404, "no such model"), "no such model", 1),
        (Reply::error(400, "bad request"), "bad request", 1),
        (Reply::error(500, "it broke"), "it broke", 5),
        (Reply::status(502, "text/html", "<html><h1>Bad gateway</h1></html>"), "502", 5),
        (Reply::status(200, "text/html", "<html><title>Sign in</title></html>"), "", 1),
        (Reply::status(200, "application/json", "nonsense"), "", 5),
        (Reply::stream("data: {\"nonsense\": \n\n"), "", 5),
        // W09
        (
            Reply::stream("data: {\"error\": {\"message\": \"no such thing\"}}\n\n"),
            "no such thing",
            1,
        ),
        (Reply::stream("data: {\"error\": {\"message\": \"busy\", \"code\": 503}}\n\n"), "busy", 5),
        (Reply::status(200, "text/event-stream", ""), "", 5),
        (says("x").drop_after(3), "", 5),
    ] {
        let world = World::new([]);
        let given = reply.clone();
        world.server.when(move |_| Some(given.clone()));
        check_failure(&world, wanted);
        assert_eq!(world.server.requests().len(), requests, "{reply:?}");
    }
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let world = World::new([
        Reply::error(429, "slow down").header("retry-after", "0"),
        Reply::error(429, "slow down").header("retry-after-ms", "1"),
        Reply::error(503, "starting"),
        says("finally"),
    ]);
    assert_eq!(world.run(&["run", "do it"]).out, "finally\n");
    assert_eq!(world.server.requests().len(), 4);
}

#[test]
fn a_server_that_is_not_there_is_one_clear_line() {
    let world = World::new([]);
    let gone = Server::start([]).base_url();
    world.configure(&json!({"providers": {"scripted": {"baseUrl": gone}}}));
    check_failure(&world, "127.0.0.1");
}

/// W06
#[test]
fn a_server_that_falls_silent_is_left_and_its_words_are_kept() {
    let world = World::new([]);
    world.configure(&json!({
        "providers": {"scripted": {"timeouts": {"idleMs": 100, "connectMs": 5_000}}},
        "retry": {"attempts": 2},
    }));
    let gate = Gate::closed();
    let part = Sse::new().text("half a thought");
    let silent = part.clone().text(" and more").done().stall_after(part.len(), &gate);
    world.server.when(move |_| Some(silent.clone()));
    let ran = world.run(&["run", "do it"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("half a thought"), "{}", ran.out);
    assert!(world.said("assistant").contains(&"half a thought".to_owned()));
    world.server.assert_valid();
}

/// A reply that breaks after its first words is kept and asked for again.
#[test]
fn a_reply_that_breaks_is_kept_and_the_round_is_asked_again() {
    let part = Sse::new().text("half a thought");
    let world = World::new([
        part.clone().text("!").done().drop_after(part.len()),
        says("the whole thought"),
    ]);
    let ran = world.run(&["run", "do it"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(world.said("assistant"), ["half a thought", "the whole thought"]);
    world.server.assert_valid();
}

#[test]
fn an_interrupt_saves_and_ends_with_130() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let gate = Gate::closed();
        let part = Sse::new().text("so far");
        let world = World::new([part.clone().text("!").done().stall_after(part.len(), &gate)]);
        let args = ["run", "--output-format", "stream-json", "do it"];
        let mut child = world.start(&args);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("so far") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0);
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(ended(child).code, 130);
        assert!(rest.contains("\"stopReason\":\"interrupted\""), "{rest}");
        assert_eq!(world.said("assistant"), ["so far"]);
        assert!(world.archive().with_extension("json").exists());
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_output_and_not_the_turn() {
    let gate = Gate::closed();
    let part = Sse::new().text("so far");
    let world = World::new([part
        .clone()
        .text(" and on")
        .finish("stop")
        .done()
        .stall_after(part.len(), &gate)]);
    let mut child = world.start(&["run", "--output-format", "stream-json", "do it"]);
    wait(world.server.wait_for_requests(1));
    drop(child.stdout.take());
    gate.open();
    let ran = ended(child);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(world.said("assistant"), ["so far and on"]);
}

/// X15: also the most talkative log holds no key.
#[test]
fn the_key_is_in_no_file_and_no_output() {
    let echo = json!({"command": format!("echo {CANARY}")});
    let world = World::new([calls("c", "bash", &echo), says(&format!("The key is {CANARY}."))]);
    let args = ["run", "--output-format", "stream-json", "--approvals", "full", "say it"];
    let child = world.command_of(CRYSTAL, &args).env("CRYSTAL_LOG", "trace").spawn().unwrap();
    let ran = ended(child);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let request = &world.server.requests()[0];
    assert_eq!(request.header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    world.assert_no_canary();
    assert!(!ran.err.contains(CANARY));
    world.assert_private();
}

/// A pipe that is closed before anything is said is no reason to panic.
#[test]
fn closed_outputs_do_no_harm() {
    let world = World::new([Reply::error(401, "no"), says("x")]);
    for code in [1, 0] {
        let mut command = world.command_of("sh", &["-c", "exec \"$0\" run hi >&- 2>&-", CRYSTAL]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(code));
    }
}
