//! What a provider's error means, from its status, its code and its words.
//!
//! Invariants: a message is one line without user info or keys of a URL; only a real overflow of the window is
//! [`RoundErrorKind::ContextTooLong`], since it makes the caller compact.
//!
//! Not here: removing the configured keys and cutting (`drive`); waiting and asking again (`turn`).

use serde_json::Value;

use crate::base::text::cut;
use crate::conversation::round::{RoundError, RoundErrorKind};

/// Characters of a provider's message that are kept: two or three rows of a screen.
const MESSAGE_CHARS_MAX: usize = 500;

/// What an error body or an error event says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    message: String,
    /// `type` and `code`, joined: servers put the same words into either.
    code: String,
    /// A status as a number in the object itself.
    status: Option<u16>,
    window: Option<u32>,
}

/// Classifies an answer that is not 2xx.
pub fn from_body(status: u16, body: &[u8]) -> RoundError {
    let text = String::from_utf8_lossy(body);
    let said = said_in(&text);
    let message = if said.message.is_empty() {
        format!("the server answered with status {status} and no explanation")
    } else {
        said.message.clone()
    };
    let mut error = RoundError::new(kind(Some(status), &said), message);
    error.status = Some(status);
    error
}

/// Classifies an error event or an error object inside a 200 stream.
pub fn from_event(data: &str) -> RoundError {
    let said = said_in(data);
    if said.message.is_empty() && said.code.trim().is_empty() {
        // It says nothing that would make asking again useless.
        return RoundError::new(
            RoundErrorKind::Busy,
            "the server reported an error without a reason",
        );
    }
    let message = match (said.message.as_str(), said.code.trim()) {
        ("", code) => code.to_owned(),
        (message, "") => message.to_owned(),
        (message, code) if message.contains(code) => message.to_owned(),
        (message, code) => format!("{message} ({code})"),
    };
    RoundError::new(kind(said.status, &said), message)
}

/// Returns whether a JSON object of a stream reports an error.
pub fn is_error(object: &Value) -> bool {
    let is_told = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    object.get("error").is_some_and(is_told)
        || [object.get("type"), object.get("object")]
            .into_iter()
            .flatten()
            .any(|kind| kind.as_str() == Some("error"))
}

fn said_in(text: &str) -> Said {
    if let Ok(json) = serde_json::from_str::<Value>(text) {
        return said_in_json(&json);
    }
    // A failed answer may be written as an event stream too.
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    if let Some(json) = data.find_map(|data| serde_json::from_str::<Value>(data).ok()) {
        return said_in_json(&json);
    }
    let message = if text.trim_start().starts_with('<') { html_line(text) } else { one_line(text) };
    Said { message, ..Said::default() }
}

fn said_in_json(json: &Value) -> Said {
    let object = match json {
        Value::Array(items) => items.first().unwrap_or(&Value::Null),
        other => other,
    };
    let error = match object.get("error") {
        None | Some(Value::Null) => {
            object.get("errors").and_then(|all| all.get(0)).unwrap_or(object)
        }
        Some(error) => error,
    };
    let words = |key: &str| match error.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let message = match error {
        Value::String(text) => Some(text.clone()),
        _ => words("message")
            .or_else(|| words("detail"))
            .or_else(|| Some(error.get("detail")?.get(0)?.get("msg")?.as_str()?.to_owned())),
    };
    // OpenRouter puts the words of the provider behind it here.
    let raw = error.get("metadata").and_then(|data| data.get("raw")).and_then(Value::as_str);
    let message = [message.as_deref(), raw].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let code = [words("type").filter(|kind| kind != "error"), words("code")];
    let numbers = [words("code"), words("status")];
    Said {
        message: one_line(&message),
        status: numbers
            .into_iter()
            .flatten()
            .filter_map(|number| number.parse::<u16>().ok())
            .find(|number| (400..600).contains(number)),
        code: code
            .into_iter()
            .flatten()
            .filter(|word| word.parse::<u16>().is_err())
            .collect::<Vec<_>>()
            .join(" "),
        window: error.get("n_ctx").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()),
    }
}

fn kind(status: Option<u16>, said: &Said) -> RoundErrorKind {
    let code = said.code.to_lowercase();
    let text = said.message.to_lowercase();
    if is_overflow(status, &code, &text) {
        let window = said.window.or_else(|| named_window(&text));
        return RoundErrorKind::ContextTooLong { window };
    }
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if has(&["insufficient_quota", "billing", "usage_not_included"]) {
        // Sent with 429, but waiting does not bring money.
        return RoundErrorKind::Rejected;
    }
    match status {
        Some(401 | 403) => RoundErrorKind::Credentials,
        Some(408 | 409 | 425 | 429) => RoundErrorKind::Busy,
        Some(501 | 505 | 511) => RoundErrorKind::Rejected,
        Some(500..) => RoundErrorKind::Busy,
        Some(_) => RoundErrorKind::Rejected,
        None if has(&["authentication", "invalid_api_key", "permission"]) => {
            RoundErrorKind::Credentials
        }
        None if has(&BUSY_CODES) || text.contains("overloaded") || text.contains("rate limit") => {
            RoundErrorKind::Busy
        }
        None => RoundErrorKind::Rejected,
    }
}

/// Words in the code of an error that passes by itself.
const BUSY_CODES: [&str; 9] = [
    "overloaded",
    "rate_limit",
    "too_many_requests",
    "server_error",
    "server_is_overloaded",
    "slow_down",
    "api_error",
    "unavailable",
    "timeout",
];

/// Codes that say nothing else than an overflow.
const OVERFLOW_CODES: [&str; 5] = [
    "context_length_exceeded",
    "exceed_context_size",
    "context_window_exceeded",
    "request_too_large",
    "model_max_prompt_tokens_exceeded",
];

/// Phrases of an overflow in lower case, and the words after which the window stands.
const OVERFLOW_PHRASES: [(&str, &str); 17] = [
    // OpenAI, DeepSeek, vLLM, OpenRouter.
    ("maximum context length", "maximum context length"),
    ("exceeds the context window", ""),
    ("reduce the length of the messages", ""),
    // vLLM.
    ("longer than the maximum model length", "maximum model length"),
    ("exceeds the model's maximum", ""),
    // Anthropic.
    ("prompt is too long", "tokens >"),
    ("exceed context limit", ">"),
    // llama.cpp; LiteLLM in front of it.
    ("exceeds the available context size", "available context size ("),
    ("contextwindowexceedederror", "available context size ("),
    // Ollama.
    ("exceeds the context length", ""),
    ("exceeds maximum context", ""),
    ("exceeded max context length", ""),
    ("input length exceeds", ""),
    // LM Studio.
    ("context length of only", "context length of only"),
    ("greater than the context length", "context length"),
    // Gemini.
    ("exceeds the maximum number of tokens", "maximum number of tokens allowed"),
    ("context window exceeds limit", ""),
];

fn is_overflow(status: Option<u16>, code: &str, text: &str) -> bool {
    // 429 speaks of tokens a minute, 401 of keys, whatever words they use.
    if !matches!(status, None | Some(400 | 413 | 422 | 500)) {
        return false;
    }
    let by_code = OVERFLOW_CODES.iter().any(|word| code.contains(word));
    // A complaint about a tool's schema may quote any word of the schema.
    let is_about_schema = text.contains("schema") || code.contains("function_parameters");
    let by_text = overflow_phrase(text).is_some() && !is_about_schema;
    by_code || by_text || status == Some(413)
}

fn overflow_phrase(text: &str) -> Option<&'static (&'static str, &'static str)> {
    OVERFLOW_PHRASES.iter().find(|(phrase, _)| text.contains(phrase))
}

/// The window that the words of an overflow name, in tokens.
fn named_window(text: &str) -> Option<u32> {
    let (_, before) = overflow_phrase(text)?;
    number_after(text, before)
}

/// The first number that stands directly after `anchor`, apart from a few joining characters.
fn number_after(text: &str, anchor: &str) -> Option<u32> {
    if anchor.is_empty() {
        return None;
    }
    let rest = &text[text.find(anchor)? + anchor.len()..];
    let start = rest.find(|c: char| c.is_ascii_digit()).filter(|start| *start <= 8)?;
    let digits: String = rest[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|window| *window > 0)
}

/// Text as one line, without what a URL must not show.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
    mask_urls(&line)
}

/// Cuts a message to what a reader takes in. After redaction only: half a key is a leak too.
pub fn shorten(message: String) -> String {
    match cut::chars(&message, MESSAGE_CHARS_MAX) {
        whole if whole.len() == message.len() => message,
        short => format!("{short}…"),
    }
}

/// The title of a page, or its first words.
pub fn html_line(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|start| {
        let open = start + lower[start..].find('>')? + 1;
        let close = open + lower[open..].find("</title")?;
        page.get(open..close)
    });
    let text = title.map_or_else(|| without_tags(page), str::to_owned);
    let text = one_line(&text);
    if text.is_empty() { "a web page without text".to_owned() } else { text }
}

fn without_tags(page: &str) -> String {
    let mut text = String::new();
    for piece in page.split('<') {
        let after = piece.split_once('>').map_or("", |(_, after)| after);
        text.push_str(after);
        text.push(' ');
    }
    text
}

/// Query parameters that carry keys.
const SECRET_PARAMETERS: [&str; 5] = ["key=", "api_key=", "apikey=", "token=", "access_token="];

/// Hides the user info and the secret parameters of every URL in a line (X15).
fn mask_urls(line: &str) -> String {
    if !line.contains("://") {
        return line.to_owned();
    }
    line.split(' ').map(mask_url).collect::<Vec<_>>().join(" ")
}

fn mask_url(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.to_owned();
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let Some((path, query)) = path.split_once('?') else {
        return format!("{scheme}://{host}{path}");
    };
    let parameters: Vec<&str> = query
        .split('&')
        .filter(|parameter| {
            let lower = parameter.to_ascii_lowercase();
            !SECRET_PARAMETERS.iter().any(|secret| lower.starts_with(secret))
        })
        .collect();
    format!("{scheme}://{host}{path}?{}", parameters.join("&"))
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
