use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use proptest::prelude::*;

use super::*;
use crate::base::secret::Redactor;
use crate::conversation::gear::Gear;
use crate::conversation::message::ToolUse;
use crate::conversation::model::{ModelLimits, ModelSpec};
use crate::conversation::round::{Purpose, StopReason};
use crate::provider::drive;
use crate::provider::http::Reply;

fn request() -> RoundRequest {
    RoundRequest {
        model: ModelSpec {
            provider: "p".into(),
            id: "m".into(),
            limits: ModelLimits { context_window: 8_192, max_tokens: None },
            gears: vec![],
            thinking_off_allowed: false,
            images: false,
            price: None,
        },
        gear: Gear::Default,
        system: "".into(),
        messages: vec![],
        tools: [].into(),
        cache_key: String::new(),
        purpose: Purpose::Round,
    }
}

/// Reads a body that arrives in these chunks, without a network or a clock.
fn read(chunks: &[&[u8]]) -> Vec<RoundEvent> {
    let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    let reply = Reply { request_id: None, body: stream::iter(chunks).boxed() };
    let opening = std::future::ready(Ok((reply, Decoder::new(&request()))));
    // The late-usage limit wants a clock; one runtime a thread keeps thousands of reads cheap.
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    }
    RUNTIME.with(|runtime| {
        let _clock = runtime.enter();
        drive::round(opening, Redactor::default()).collect().now_or_never().unwrap()
    })
}

/// Events without their division into pieces: joined text, reasoning, calls, the end.
fn written(events: &[RoundEvent]) -> String {
    let mut out = String::new();
    let mut last = "";
    for event in events {
        let (kind, text) = match event {
            RoundEvent::Accepted | RoundEvent::CallProgress { .. } => continue,
            RoundEvent::Text(text) => ("text", text.clone()),
            RoundEvent::Reasoning(text) => ("reasoning", text.clone()),
            RoundEvent::ReasoningDone(state) => {
                ("state", state.as_ref().map_or("none".into(), |state| state.payload.clone()))
            }
            RoundEvent::Call(ToolUse { id, name, input }) => {
                ("call", format!("{id} {name} {input}"))
            }
            RoundEvent::End { stop, usage } => {
                let usage = usage.map_or("?".to_owned(), |u| {
                    format!("{}+{}/{}", u.input, u.cache_read, u.output)
                });
                ("end", format!("{} {usage}", stop.name()))
            }
            RoundEvent::Failed(error) => ("failed", format!("{:?} {}", error.kind, error.message)),
        };
        if !(kind == last && matches!(kind, "text" | "reasoning")) {
            out.push_str(if out.is_empty() { "" } else { " | " });
            out.push_str(kind);
            out.push(' ');
        }
        out.push_str(&text);
        last = kind;
    }
    out
}

/// Each line is the JSON of a chunk.
fn check(lines: &[&str], wanted: &str) {
    let body: String = lines.iter().map(|line| format!("data: {line}\n\n")).collect();
    assert_eq!(written(&read(&[body.as_bytes()])), wanted, "{lines:?}");
}

const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

// W04, W13
#[test]
fn a_reply_ends_with_its_reason_and_its_last_usage() {
    check(&[HI, STOP, "[DONE]"], "text hi | end end_turn ?");
    check(&[HI, STOP], "text hi | end end_turn ?");
    check(&[HI, "[DONE]"], "text hi | failed Cut the reply ended before it was complete");
    check(&[HI], "text hi | failed Cut the reply ended before it was complete");
    check(&[], "failed Cut the reply ended before it was complete");
    let usage = |choices: &str, n: u32| {
        format!(r#"{{{choices}"usage":{{"prompt_tokens":{n},"completion_tokens":1,"x":null}}}}"#)
    };
    for choices in [
        r#""choices":[],"#,
        r#""choices":null,"#,
        "",
        r#""choices":[{"index":0,"delta":{}}],"#,
        r#""choices":[{"index":0}],"#,
    ] {
        check(&[HI, &usage(choices, 3), STOP, &usage(choices, 7)], "text hi | end end_turn 7+0/1");
        check(&[&usage(choices, 3), HI, STOP], "text hi | end end_turn 3+0/1");
    }
    check(
        &[
            HI,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":2}}],"usage":null}"#,
        ],
        "text hi | end end_turn 5+0/2",
    );
    check(
        &[HI, STOP, r#"{"usage":{"prompt_tokens":0,"completion_tokens":0}}"#],
        "text hi | end end_turn ?",
    );
    for (reason, stop) in [
        ("length", "length"),
        ("content_filter", "refusal"),
        ("eos", "end_turn"),
        ("new_thing", "new_thing"),
        ("tool_calls", "end_turn"),
    ] {
        let last =
            format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
        check(&[HI, &last], &format!("text hi | end {stop} ?"));
    }
}

// W03, W09
#[test]
fn an_error_ends_the_reply_and_nonsense_is_skipped() {
    check(&[HI, r#"{"error":{"message":"no","code":null}}"#, STOP], "text hi | failed Rejected no");
    check(
        &[r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#],
        "failed Busy Overloaded (overloaded_error)",
    );
    check(
        &[r#"{"error":null,"choices":[{"index":0,"delta":{"content":"hi"}}]}"#, STOP],
        "text hi | end end_turn ?",
    );
    check(
        &[": processing", "{", "12", "null", HI, r#"{"type":"ping"}"#, STOP],
        "text hi | end end_turn ?",
    );
    check(&[HI, STOP, r#"{"error":{"message":"late"}}"#], "text hi | end end_turn ?");
    let bare = format!("data: {HI}\n\nevent: error\n\n");
    assert_eq!(
        written(&read(&[bare.as_bytes()])),
        "text hi | failed Busy the server reported an error without a reason"
    );
    check(
        &[HI, r#"{"choices":[{"index":0,"delta":{},"finish_reason":"network_error"}]}"#],
        "text hi | failed Cut the provider lost its own connection in the middle of the reply",
    );
}

#[test]
fn content_and_reasoning_come_in_several_forms() {
    check(
        &[
            r#"{"choices":[{"index":0,"delta":{"content":["a",{"type":"text","text":"b"},{"type":"x"}]}}]}"#,
            STOP,
        ],
        "text ab | end end_turn ?",
    );
    check(
        &[
            r#"{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}"#,
            HI,
            STOP,
        ],
        "reasoning hm | state none | text hi | end end_turn ?",
    );
    for field in ["reasoning_content", "reasoning", "reasoning_text"] {
        let think =
            format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"","{field}":"hm"}}}}]}}"#);
        check(
            &[&think, &think, HI, STOP],
            &format!(r#"reasoning hmhm | state {{"field":"{field}"}} | text hi | end end_turn ?"#),
        );
    }
    // The same words in two fields count once.
    check(
        &[r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#, STOP],
        r#"reasoning hm | state {"field":"reasoning_content"} | end end_turn ?"#,
    );
    check(
        &[
            r#"{"choices":[{"delta":{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","signature":"s","index":0}]}}]}"#,
            STOP,
        ],
        r#"reasoning ab | state {"field":"reasoning","details":[{"type":"reasoning.text","text":"ab","index":0,"signature":"s"}]} | end end_turn ?"#,
    );
}

// W10, W12
#[test]
fn calls_come_at_the_end_whatever_the_reason_says() {
    let call = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}}]}}]}"#;
    let rest = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":1}"}}]}}]}"#;
    check(&[call, rest, STOP], r#"call a read {"path":1} | end tool_use ?"#);
    let length = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#;
    check(&[call, length], r#"call a read {"invalid_json":"{\"pa"} | end length ?"#);
    check(&[call, rest], "failed Cut the reply ended before it was complete");
    check(
        &[
            r#"{"choices":[{"index":0,"delta":{"function_call":{"name":"read","arguments":""}},"finish_reason":"function_call"}]}"#,
        ],
        "call call_1 read {} | end tool_use ?",
    );
}

#[test]
fn a_reply_that_is_not_a_stream_is_read_anyway() {
    for (body, wanted) in [
        (
            r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
            "text hi | end end_turn 3+0/1",
        ),
        ("\n {\"choices\":[{\"message\":{\"content\":\"hi\"}}]}", "text hi | end end_turn ?"),
        (
            r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
            "call a read {} | end tool_use ?",
        ),
        (
            r#"{"error":{"message":"no","code":"invalid_prompt"}}"#,
            "failed Rejected no (invalid_prompt)",
        ),
        (
            r#"{"hello":1}"#,
            "failed Nonsense the server's answer is JSON, but not a reply of this API",
        ),
        (r#"{"choices":[{"mess"#, "failed Cut the reply is cut in the middle"),
        (
            "<html><title>Sign in</title></html>",
            "failed Nonsense the server answered with a web page (Sign in): check baseUrl",
        ),
    ] {
        assert_eq!(written(&read(&[body.as_bytes()])), wanted, "{body}");
        let single: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
        assert_eq!(written(&read(&single)), wanted, "{body}");
    }
}

#[test]
fn stop_reasons_of_calls_are_tool_use() {
    assert_eq!(stop_reason("stop", true), StopReason::ToolUse);
    assert_eq!(stop_reason("length", true), StopReason::Length);
}

const RECORDED: [(&str, &[u8], &str); 6] = [
    (
        "llama-unicode",
        include_bytes!("../../../tests/fixtures/streams/llama-unicode.sse"),
        "text 日本語 😀",
    ),
    ("llama-tools", include_bytes!("../../../tests/fixtures/streams/llama-tools.sse"), "call "),
    (
        "llama-ping",
        include_bytes!("../../../tests/fixtures/streams/llama-ping.sse"),
        "text The quick",
    ),
    (
        "litellm-unicode",
        include_bytes!("../../../tests/fixtures/streams/litellm-unicode.sse"),
        "text 日本語 😀",
    ),
    ("litellm-tools", include_bytes!("../../../tests/fixtures/streams/litellm-tools.sse"), "call "),
    (
        "openai-crlf-parallel",
        include_bytes!("../../../tests/fixtures/streams/openai-crlf-parallel.sse"),
        r#"reasoning denke 日 | state {"field":"reasoning_content"} | text 豆腐🦀é | call call_a read {"path":"src/日本/é.rs"} | call call_b read {"path":"b"} | end tool_use 4+5/4"#,
    ),
];

const EVERY_BYTE: [&str; 3] = ["llama-unicode", "litellm-unicode", "openai-crlf-parallel"];

// W01: every server's stream, cut at every byte, and one byte at a time.
#[test]
fn any_cut_of_a_recorded_stream_gives_the_same_events() {
    for (name, body, begins) in RECORDED {
        let whole = read(&[body]);
        assert!(written(&whole).starts_with(begins), "{name}: {}", written(&whole));
        assert!(matches!(whole.last(), Some(RoundEvent::End { usage: Some(_), .. })), "{name}");
        // One recording a server style is enough here; the others are cut at random below.
        if EVERY_BYTE.contains(&name) {
            for cut in 1..body.len() {
                let (head, tail) = body.split_at(cut);
                assert_eq!(read(&[head, tail]), whole, "{name} cut at {cut}");
            }
        }
        let single: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(read(&single), whole, "{name} byte by byte");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_chunks_of_a_recorded_stream_give_the_same_events(which in 0..RECORDED.len(), sizes in prop::collection::vec(1_usize..400, 1..40)) {
        let body = RECORDED[which].1;
        let mut chunks = Vec::new();
        let mut rest = body;
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at(rest.len().min(*size));
            chunks.push(head);
            rest = tail;
        }
        prop_assert_eq!(read(&chunks), read(&[body]));
    }

    #[test]
    fn any_bytes_end_in_exactly_one_end(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let events = read(&[&body]);
        let is_end = |event: &RoundEvent| matches!(event, RoundEvent::End { .. } | RoundEvent::Failed(_));
        prop_assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1);
        prop_assert!(events.last().is_some_and(is_end));
    }
}
