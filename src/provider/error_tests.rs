use super::*;
use RoundErrorKind::{Busy, ContextTooLong, Credentials, Rejected};

const NO_WINDOW: RoundErrorKind = ContextTooLong { window: None };

const fn too_long(window: u32) -> RoundErrorKind {
    ContextTooLong { window: Some(window) }
}

const ANSWERS: &[(u16, &str, RoundErrorKind)] = &[
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        too_long(8192),
    ),
    (
        400,
        r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
        NO_WINDOW,
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        too_long(200_000),
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length"}}"#,
        too_long(200_000),
    ),
    (
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        NO_WINDOW,
    ),
    (413, "<html><title>413 Request Entity Too Large</title></html>", NO_WINDOW),
    (
        400,
        r#"{"error":{"code":400,"message":"request (4030 tokens) exceeds the available context size (2048 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":4030,"n_ctx":2048}}"#,
        too_long(2048),
    ),
    (
        400,
        r#"{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - request (12030 tokens) exceeds the available context size (8192 tokens), try increasing it\nmodel=real","type":"invalid_request_error","param":null,"code":"400"}}"#,
        too_long(8192),
    ),
    (400, r#"{"error":"input length exceeds the context length"}"#, NO_WINDOW),
    (400, r#"{"error":"prompt too long; exceeded max context length by 17 tokens"}"#, NO_WINDOW),
    (
        400,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).","type":"BadRequestError","code":400}"#,
        too_long(4096),
    ),
    (
        400,
        r#"{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192."}"#,
        too_long(8192),
    ),
    (
        400,
        r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
        too_long(1_048_576),
    ),
    // Controls.
    (
        400,
        r#"{"error":{"message":"Invalid schema for function 'grep': context is required, maximum context length is missing","type":"invalid_request_error","code":"invalid_function_parameters"}}"#,
        Rejected,
    ),
    (
        400,
        r#"{"error":{"message":"Unknown parameter: 'context'.","type":"invalid_request_error"}}"#,
        Rejected,
    ),
    (
        400,
        r#"{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens"}}"#,
        Rejected,
    ),
    (
        429,
        r#"{"error":{"message":"Rate limit reached: maximum context length of the minute","type":"tokens"}}"#,
        Busy,
    ),
];

// C04
#[test]
fn an_overflow_is_recognised_in_every_server_s_words() {
    for (status, body, kind) in ANSWERS {
        assert_eq!(from_body(*status, body.as_bytes()).kind, *kind, "{status} {body}");
    }
}

#[test]
fn a_status_says_whether_asking_again_may_help() {
    for (status, body, kind) in [
        (400, "{}", Rejected),
        (
            401,
            r#"{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}"#,
            Credentials,
        ),
        (403, "", Credentials),
        (404, "", Rejected),
        (408, "", Busy),
        (409, "", Busy),
        (422, "", Rejected),
        (425, "", Busy),
        (429, "", Busy),
        (
            429,
            r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#,
            Rejected,
        ),
        (500, "Internal Server Error", Busy),
        (501, "", Rejected),
        (502, "<html>", Busy),
        (
            503,
            r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
            Busy,
        ),
        (504, "", Busy),
        (529, "", Busy),
        (308, "", Rejected),
    ] {
        let error = from_body(status, body.as_bytes());
        assert_eq!(error.kind, kind, "{status} {body}");
        assert_eq!(error.status, Some(status));
        assert!(!error.message.is_empty());
    }
}

// W09
#[test]
fn an_error_inside_a_stream_is_classified_by_its_code() {
    for (data, kind, message) in [
        (
            r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#,
            Busy,
            "Overloaded (overloaded_error)",
        ),
        (
            r#"{"error":{"message":"The server had an error","type":"server_error","code":null}}"#,
            Busy,
            "The server had an error (server_error)",
        ),
        (r#"{"error":{"message":"try later","code":429}}"#, Busy, "try later"),
        (
            r#"{"error":{"message":"bad","code":"invalid_prompt"}}"#,
            Rejected,
            "bad (invalid_prompt)",
        ),
        (
            r#"{"error":{"message":"no","type":"authentication_error"}}"#,
            Credentials,
            "no (authentication_error)",
        ),
        (
            r#"{"error":{"code":400,"message":"request (9 tokens) exceeds the available context size (8 tokens)"}}"#,
            too_long(8),
            "request (9 tokens) exceeds the available context size (8 tokens)",
        ),
        (
            r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream gone"}}}"#,
            Busy,
            "Provider returned error: upstream gone",
        ),
        (r#"{"error":"model crashed"}"#, Rejected, "model crashed"),
        ("", Busy, "the server reported an error without a reason"),
        ("plain words", Rejected, "plain words"),
    ] {
        let error = from_event(data);
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{data}");
    }
}

#[test]
fn a_page_or_a_long_text_becomes_one_line() {
    for (body, message) in [
        ("<html>\n<head><TITLE>502 Bad\n Gateway</TITLE></head><body>x</body>", "502 Bad Gateway"),
        ("<html><body><h1>Not here</h1><p>Go away</p></body></html>", "Not here Go away"),
        ("two\nlines\u{1b}[31m", "two lines[31m"),
        (r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "field required"),
        ("data: {\"error\":{\"message\":\"in a stream\"}}\n\n", "in a stream"),
    ] {
        assert_eq!(from_body(502, body.as_bytes()).message, message);
    }
    assert!(shorten("é".repeat(9_000)).chars().count() == 501);
}

// X15
#[test]
fn a_url_in_a_message_shows_no_user_and_no_key() {
    for (line, masked) in [
        ("proxy http://user:pass@host:1/x failed", "proxy http://host:1/x failed"),
        ("GET https://h/v1?key=CANARY&alt=sse", "GET https://h/v1?alt=sse"),
        ("mail a@b.c", "mail a@b.c"),
    ] {
        assert_eq!(one_line(line), masked);
    }
}
