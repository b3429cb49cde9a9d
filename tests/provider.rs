//! The chat client against a scripted server, over real connections.

#![allow(clippy::unwrap_used, reason = "test helpers")]

mod server;

use std::sync::Arc;

use crystal::base::id::CallId;
use crystal::base::secret::Secret;
use crystal::conversation::gear::Gear;
use crystal::conversation::message::{Block, Role, Shown, ToolResult, ToolUse};
use crystal::conversation::model::{ModelLimits, ModelSpec};
use crystal::conversation::round::{
    Purpose, RequestMessage, RoundError, RoundErrorKind, RoundEvent, RoundRequest, StopReason,
};
use crystal::conversation::tool_call::ToolSpec;
use crystal::provider::offline::Pace;
use crystal::provider::{Api, Endpoint, Pool, RoundStream, Timeouts};
use futures_util::StreamExt;
use serde_json::json;
use server::sse::{calls, says};
use server::{Gate, Reply, Server, Sse};

const CANARY: &str = "sk-TEST-CANARY-0123456789";

fn endpoint(base_url: &str) -> Endpoint {
    Endpoint {
        name: "scripted".into(),
        api: Api::OpenAiChat,
        base_url: base_url.into(),
        key: Some(Secret::new(CANARY)),
        ..Endpoint::offline()
    }
}

fn request(messages: Vec<RequestMessage>) -> RoundRequest {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    RoundRequest {
        model: ModelSpec {
            provider: "scripted".into(),
            id: "m".into(),
            limits: ModelLimits { context_window: 8_192, max_tokens: Some(512) },
            gears: vec![],
            thinking_off_allowed: false,
            images: false,
            price: None,
        },
        gear: Gear::Default,
        system: "Be brief.".into(),
        messages,
        tools: [ToolSpec { name: "read".into(), description: "Reads.".into(), parameters }].into(),
        cache_key: "s".into(),
        purpose: Purpose::Round,
    }
}

fn says_hi() -> RoundRequest {
    request(vec![RequestMessage { role: Role::User, blocks: vec![Block::text("hi")] }])
}

fn start(endpoint: Endpoint) -> RoundStream {
    let pool = Pool::new([endpoint], Arc::new(|_| None), Pace::NONE);
    pool.client("scripted", "m").unwrap().start(says_hi())
}

async fn round(server: &Server) -> Vec<RoundEvent> {
    start(endpoint(&server.base_url())).collect().await
}

fn text(events: &[RoundEvent]) -> String {
    let one = |event: &RoundEvent| match event {
        RoundEvent::Text(text) => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(one).collect()
}

fn failure(events: &[RoundEvent]) -> RoundError {
    match events.last() {
        Some(RoundEvent::Failed(error)) => error.clone(),
        other => panic!("no failure but {other:?}"),
    }
}

#[tokio::test]
async fn a_round_with_a_tool_goes_there_and_back() {
    let server = Server::start([calls("c1", "read", &json!({"path": "a"})), says("It is a.")]);
    let base_url = format!("{}/", server.base_url());
    let pool = Pool::new([endpoint(&base_url)], Arc::new(|_| None), Pace::NONE);
    let client = pool.client("scripted", "m").unwrap();
    let events: Vec<_> = client.start(says_hi()).collect().await;
    assert_eq!(events.first(), Some(&RoundEvent::Accepted));
    let call = ToolUse { id: CallId::new("c1"), name: "read".into(), input: json!({"path": "a"}) };
    assert!(events.contains(&RoundEvent::Call(call.clone())), "{events:?}");
    assert!(matches!(events.last(), Some(RoundEvent::End { stop: StopReason::ToolUse, .. })));

    let mut request = says_hi();
    let result = ToolResult {
        tool_use_id: call.id.clone(),
        content: "a".into(),
        is_error: false,
        images: vec![],
        shown: Shown::default(),
    };
    let blocks = vec![Block::ToolUse(call)];
    request.messages.push(RequestMessage { role: Role::Assistant, blocks });
    let blocks = vec![Block::ToolResult(result)];
    request.messages.push(RequestMessage { role: Role::User, blocks });
    let events: Vec<_> = client.start(request).collect().await;
    assert_eq!(text(&events), "It is a.");
    server.assert_valid();
    let sent = server.requests();
    assert_eq!(sent[1].path, "/v1/chat/completions");
    let bearer = format!("Bearer {CANARY}");
    assert_eq!(sent[1].header("authorization"), Some(bearer.as_str()));
}

// W01, W02, W03
#[tokio::test]
async fn bytes_that_come_one_by_one_are_the_same_reply() {
    let sse = || Sse::new().raw("\u{feff}: ping\n\n").text("豆腐").text("🦀é").finish("stop");
    let server = Server::start([sse().done(), sse().done().byte_by_byte(), sse().cut()]);
    for _ in 0..3 {
        let events = round(&server).await;
        assert_eq!(text(&events), "豆腐🦀é");
        assert!(matches!(events.last(), Some(RoundEvent::End { .. })), "{events:?}");
    }
    server.assert_valid();
}

// W09, C04
#[tokio::test]
async fn a_refusal_shows_the_server_s_words_status_id_and_wait() {
    let server = Server::start([
        Reply::error(429, "slow down").header("retry-after", "2").header("x-request-id", "r1"),
        Reply::error(503, "busy").header("retry-after-ms", "1500").header("request-id", "r2"),
        Reply::error(
            400,
            "request (9 tokens) exceeds the available context size (8 tokens), try increasing it",
        ),
        Reply::status(502, "text/html", "<html><title>Bad Gateway</title></html>"),
        Reply::status(200, "text/html", "<html><title>Sign in</title></html>"),
        Reply::status(307, "text/plain", "").header("location", "http://127.0.0.1:9/"),
    ]);
    for (kind, display, wait) in [
        (RoundErrorKind::Busy, "slow down (status 429, request r1)", Some(2_000)),
        (RoundErrorKind::Busy, "busy (status 503, request r2)", Some(1_500)),
        (
            RoundErrorKind::ContextTooLong { window: Some(8) },
            "request (9 tokens) exceeds the available context size (8 tokens), try increasing it (status 400)",
            None,
        ),
        (RoundErrorKind::Busy, "Bad Gateway (status 502)", None),
        (
            RoundErrorKind::Nonsense,
            "the server answered with a web page (Sign in): check baseUrl",
            None,
        ),
        (
            RoundErrorKind::Rejected,
            "the server redirects (status 307): check baseUrl (status 307)",
            None,
        ),
    ] {
        let error = failure(&round(&server).await);
        assert_eq!((error.kind, error.to_string().as_str()), (kind, display));
        assert_eq!(error.retry_after_ms, wait);
    }
}

#[tokio::test]
async fn a_plain_json_completion_is_a_reply_too() {
    let body = json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]});
    let server = Server::start([Reply::status(200, "application/json", body.to_string())]);
    assert_eq!(text(&round(&server).await), "hi");
}

// W07: the message says what happened, not "decoding".
#[tokio::test]
async fn a_broken_connection_keeps_what_came() {
    let sse = Sse::new().text("half");
    let length = sse.len();
    let server = Server::start([sse.done().drop_after(length)]);
    let events = round(&server).await;
    assert_eq!(text(&events), "half");
    let error = failure(&events);
    assert_eq!(error.kind, RoundErrorKind::Cut);
    assert!(error.is_retryable() && !error.message.contains("decod"), "{error}");

    // After the end of the reply it does not matter.
    let sse = Sse::new().text("all").finish("stop");
    let length = sse.len();
    server.then(sse.done().drop_after(length));
    assert!(matches!(round(&server).await.last(), Some(RoundEvent::End { .. })));
}

// W06
#[tokio::test]
async fn silence_is_a_stall_and_a_dropped_stream_hangs_up() {
    let gate = Gate::closed();
    let sse = Sse::new().text("one");
    let length = sse.len();
    let stalled = sse.done().stall_after(length, &gate);
    let server = Server::start([stalled.clone(), stalled.clone(), stalled]);
    let timeouts = Timeouts { idle_ms: 50, ..Timeouts::default() };
    let short = Endpoint { timeouts, ..endpoint(&server.base_url()) };
    let events: Vec<_> = start(short).collect().await;
    assert_eq!(text(&events), "one");
    let error = failure(&events);
    assert_eq!(error.kind, RoundErrorKind::Stalled);
    assert_eq!(error.message, "the server sent nothing for 50 ms");
    server.wait_for_hang_ups(1).await;

    let mut stream = start(endpoint(&server.base_url()));
    while !matches!(stream.next().await, Some(RoundEvent::Text(_))) {}
    drop(stream);
    server.wait_for_hang_ups(2).await;

    let mut stream = start(endpoint(&server.base_url()));
    while !matches!(stream.next().await, Some(RoundEvent::Text(_))) {}
    gate.open();
    let rest: Vec<_> = stream.collect().await;
    assert_eq!(failure(&rest).kind, RoundErrorKind::Cut, "{rest:?}");
}

// X15
#[tokio::test]
async fn no_failure_shows_the_key() {
    let long = format!("{} Bearer {CANARY} {}", "x".repeat(470), "y".repeat(90));
    let echo = format!("bad header: Bearer {CANARY}");
    let server = Server::start([
        Reply::error(400, &echo),
        Reply::error(401, &echo).header("x-request-id", CANARY),
        Reply::error(400, &long),
        Reply::status(500, "text/html", format!("<html><title>{echo}</title>")),
        Sse::new().chunk(&json!({"error": {"message": echo}})).cut(),
    ]);
    for _ in 0..5 {
        let shown = format!("{:?}", round(&server).await);
        assert!(!shown.contains("CANARY"), "{shown}");
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("http://user:{CANARY}@127.0.0.1:{port}/v1?key={CANARY}");
    let endpoint = Endpoint { key: None, ..endpoint(&url) };
    let events: Vec<_> = start(endpoint).collect().await;
    let error = failure(&events);
    assert_eq!(error.kind, RoundErrorKind::Connect);
    assert!(error.message.contains(&format!("http://127.0.0.1:{port}")), "{error}");
    assert!(!format!("{events:?}").contains("CANARY"), "{events:?}");
    let broken = Endpoint { key: Some(Secret::new("sk-CANARY\n1")), ..self::endpoint(&url) };
    let events: Vec<_> = start(broken).collect().await;
    assert_eq!(failure(&events).kind, RoundErrorKind::Credentials);
    assert!(!format!("{events:?}").contains("CANARY"), "{events:?}");
}

#[tokio::test]
async fn the_server_finds_a_request_that_a_provider_would_refuse() {
    let server = Server::start([says("never")]);
    let pool = Pool::new([endpoint(&server.base_url())], Arc::new(|_| None), Pace::NONE);
    let call = ToolUse { id: CallId::new("c1"), name: "read".into(), input: json!({}) };
    let mut bad = says_hi();
    let blocks = vec![Block::ToolUse(call)];
    bad.messages.push(RequestMessage { role: Role::Assistant, blocks });
    let events: Vec<_> = pool.client("scripted", "m").unwrap().start(bad).collect().await;
    assert_eq!(failure(&events).kind, RoundErrorKind::Rejected);
    assert_eq!(server.violations(), ["calls without results at the end: [\"c1\"]"]);
}

#[tokio::test]
async fn a_rule_answers_by_what_the_request_says() {
    let server = Server::start([says("by order")]);
    server.when(|request| {
        let is_hi = request.body["messages"][1]["content"] == "hi";
        is_hi.then(|| says("by rule"))
    });
    assert_eq!(text(&round(&server).await), "by rule");
    server.wait_for_requests(1).await;
    server.assert_valid();
}
