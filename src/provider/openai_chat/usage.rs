//! Token counts as Chat Completions servers report them.

use serde_json::Value;

use crate::conversation::usage::Usage;

/// Reads a `usage` object; `None` for zeros, which servers send when they did not count.
pub fn read(usage: &Value) -> Option<Usage> {
    let prompt_details = usage.get("prompt_tokens_details");
    let prompt = count(Some(usage), "prompt_tokens");
    let output = count(Some(usage), "completion_tokens");
    if prompt == 0 && output == 0 {
        return None;
    }
    // `prompt_tokens` holds the cached ones; DeepSeek names them otherwise.
    let cache_read = count(prompt_details, "cached_tokens")
        .max(count(Some(usage), "prompt_cache_hit_tokens"))
        .min(prompt);
    let cache_write = count(prompt_details, "cache_write_tokens").min(prompt - cache_read);
    let reasoning = count(usage.get("completion_tokens_details"), "reasoning_tokens").min(output);
    Some(Usage {
        input: prompt - cache_read - cache_write,
        output,
        cache_read,
        cache_write,
        reasoning,
        estimated: false,
    })
}

fn count(object: Option<&Value>, key: &str) -> u64 {
    let number = object.and_then(|object| object.get(key));
    number.and_then(|n| n.as_u64().or_else(|| n.as_f64().map(|n| n.max(0.0) as u64))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // W13
    #[test]
    fn counts_are_read_from_every_dialect_and_zeros_are_none() {
        for (usage, wanted) in [
            (r#"{"prompt_tokens":10,"completion_tokens":2}"#, Some((10, 0, 0, 2, 0))),
            (
                r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}}"#,
                Some((2, 8, 0, 5, 3)),
            ),
            (
                r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":5}}"#,
                Some((1, 4, 5, 5, 0)),
            ),
            (
                r#"{"prompt_tokens":10,"completion_tokens":1,"prompt_cache_hit_tokens":6}"#,
                Some((4, 6, 0, 1, 0)),
            ),
            (
                r#"{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}"#,
                Some((0, 3, 0, 1, 0)),
            ),
            (
                r#"{"prompt_tokens":3.0,"completion_tokens":null,"foo":{},"prompt_tokens_details":null}"#,
                Some((3, 0, 0, 0, 0)),
            ),
            (r#"{"prompt_tokens":0,"completion_tokens":0}"#, None),
            ("{}", None),
            ("null", None),
        ] {
            let read = read(&serde_json::from_str(usage).unwrap());
            let read = read.map(|u| (u.input, u.cache_read, u.cache_write, u.output, u.reasoning));
            assert_eq!(read, wanted, "{usage}");
        }
    }
}
