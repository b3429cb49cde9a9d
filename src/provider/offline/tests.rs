use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use serde_json::json;

use super::*;
use crate::config::resolve;
use crate::config::schema::Config;
use crate::conversation::gear::Gear;
use crate::conversation::message::{Role, Shown, ToolResult};
use crate::conversation::round::RequestMessage;
use crate::conversation::tool_call::ToolSpec;

fn request(said: &str, purpose: Purpose) -> RoundRequest {
    let tool = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    let tools = ["read", "list", "glob", "grep", "write", "edit", "bash", "todo"];
    RoundRequest {
        model: {
            let config = Config::default();
            resolve::resolve(&config, &resolve::session_model(&config), &|_| None).unwrap().spec
        },
        gear: Gear::Default,
        system: "You are a demo.".into(),
        messages: vec![RequestMessage { role: Role::User, blocks: vec![Block::text(said)] }],
        tools: tools.iter().map(tool).collect::<Arc<[ToolSpec]>>(),
        cache_key: String::new(),
        purpose,
    }
}

/// Runs a turn with these tool results; returns the calls and the last text.
fn turn(said: &str, results: &[&str]) -> (Vec<String>, String) {
    let mut request = request(said, Purpose::Round);
    let mut results = results.iter();
    let mut calls = Vec::new();
    loop {
        let events: Vec<RoundEvent> =
            Offline::new(Pace::NONE).start(request.clone()).collect().now_or_never().unwrap();
        assert!(
            matches!(events.last(), Some(RoundEvent::End { usage: Some(usage), .. }) if usage.estimated)
        );
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                RoundEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let made: Vec<ToolUse> = events
            .iter()
            .filter_map(|event| match event {
                RoundEvent::Call(call) => Some(call.clone()),
                _ => None,
            })
            .collect();
        if made.is_empty() {
            return (calls, text);
        }
        calls.extend(made.iter().map(|call| format!("{} {}", call.name, call.input)));
        let answer = |call: &ToolUse| {
            let content = results.next().unwrap_or(&"!no result left");
            Block::ToolResult(ToolResult {
                tool_use_id: call.id.clone(),
                content: content.trim_start_matches('!').to_owned(),
                is_error: content.starts_with('!'),
                images: Vec::new(),
                shown: Shown::default(),
            })
        };
        let answers = made.iter().map(answer).collect();
        let blocks = made.into_iter().map(Block::ToolUse).collect();
        request.messages.push(RequestMessage { role: Role::Assistant, blocks });
        request.messages.push(RequestMessage { role: Role::User, blocks: answers });
        assert!(calls.len() < 8, "{calls:?}");
    }
}

/// What is said, the results of the calls, the calls, a part of the answer.
const WISHES: &[(&str, &[&str], &[&str], &str)] = &[
    (
        "what is in this project?",
        &["README.md\nsrc/\nsrc/main.rs", "1\t# Shop\n2\tSells things.\n"],
        &[r#"list {"path":".","depth":2}"#, r#"read {"path":"README.md"}"#],
        "# Shop\nSells things.",
    ),
    ("what is in this project?", &["a.txt"], &[r#"list {"path":".","depth":2}"#], "a.txt"),
    ("read a.rs", &["1\tfn a() {}\n"], &[r#"read {"path":"a.rs"}"#], "fn a() {}"),
    ("read a.rs", &["!no such file"], &[r#"read {"path":"a.rs"}"#], "no such file"),
    (
        "outline a.rs",
        &["1\tuse x;\n2\tpub fn a() {\n3\t}\n"],
        &[r#"read {"path":"a.rs"}"#],
        "- line 2: `pub fn a()`",
    ),
    (
        "search for a.b in src",
        &["src/x.rs:1: a.b"],
        &[r#"grep {"pattern":"a\\.b","path":"src"}"#],
        "src/x.rs:1: a.b",
    ),
    (
        "make a plan: one, two",
        &["ok"],
        &[
            r#"todo {"items":[{"text":"one","state":"in_progress"},{"text":"two","state":"pending"}]}"#,
        ],
        "list is set",
    ),
    (
        "create n.md with hello",
        &["ok"],
        &[r#"write {"path":"n.md","content":"hello\n"}"#],
        "Wrote `n.md`",
    ),
    (
        "create n.md with hello",
        &["!The user declined"],
        &[r#"write {"path":"n.md","content":"hello\n"}"#],
        "The user declined",
    ),
    (
        "add a line bye to n.md",
        &["1\thello\n2\t\n3\thello\n", "ok"],
        &[
            r#"read {"path":"n.md"}"#,
            r#"edit {"path":"n.md","edits":[{"old":"\nhello","new":"\nhello\nbye"}]}"#,
        ],
        "Added the line",
    ),
    (
        "replace a with b in n.md",
        &["1\ta a\n", "ok"],
        &[
            r#"read {"path":"n.md"}"#,
            r#"edit {"path":"n.md","edits":[{"old":"a","new":"b","all":true}]}"#,
        ],
        "Replaced `a` with `b`",
    ),
    ("run cargo test", &["ok. 3 passed"], &[r#"bash {"command":"cargo test"}"#], "ok. 3 passed"),
    ("hello", &[], &[], "offline demo"),
];

#[test]
fn a_wish_is_fulfilled_with_real_calls_and_an_answer_from_their_results() {
    for (said, results, calls, part) in WISHES {
        let (made, text) = turn(said, results);
        assert_eq!(made, *calls, "{said}");
        assert!(text.contains(*part), "{said}: {text}");
    }
}

#[test]
fn a_tool_that_is_not_offered_is_not_called() {
    let mut request = request("run ls", Purpose::Round);
    request.tools = Arc::new([]);
    let reply = answer::reply(&request);
    assert_eq!(reply.calls, vec![]);
    assert!(reply.text.contains("`bash`"), "{}", reply.text);
}

#[test]
fn a_summary_has_every_heading_and_what_was_said() {
    let mut request = request("Build a shop. It must never lose an order.", Purpose::Summary);
    let push = |request: &mut RoundRequest, role, blocks| {
        request.messages.push(RequestMessage { role, blocks });
    };
    let call = ToolUse {
        id: CallId::new("a"),
        name: "edit".into(),
        input: json!({"path": "src/shop.rs"}),
    };
    push(
        &mut request,
        Role::Assistant,
        vec![Block::text("I chose sled because it is small."), Block::ToolUse(call)],
    );
    push(&mut request, Role::User, vec![Block::text("Summarise the conversation.")]);
    let text = summary::of(&request);
    for part in [
        "## Goal\n- Build a shop.",
        "## Instructions and constraints\n- It must never lose an order.",
        "## Progress\n",
        "## Decisions and why\n- I chose sled because it is small.",
        "## Files\n- changed: src/shop.rs",
        "## Commands and results\n- none",
        "## Open questions\n",
        "## Next steps\n- go on with: Build a shop.",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
    assert!(!text.contains("Summarise"), "{text}");
}

#[test]
fn the_words_of_a_text_are_the_text() {
    for text in ["", " ", "a", "a b\n\nc ", "  漢字 é\t"] {
        assert_eq!(words(text).collect::<String>(), text);
    }
}

#[test]
fn the_same_request_gives_the_same_reply_and_ids_never_repeat() {
    let mut request = request("read a.rs", Purpose::Round);
    assert_eq!(events(&request), events(&request));
    let call = ToolUse { id: CallId::new("demo_7"), name: "read".into(), input: json!({}) };
    let first = vec![Block::ToolUse(call)];
    request.messages.insert(0, RequestMessage { role: Role::Assistant, blocks: first });
    let made = events(&request).into_iter().find_map(|event| match event {
        RoundEvent::Call(call) => Some(call.id),
        _ => None,
    });
    assert_eq!(made, Some(CallId::new("demo_8")));
}
