//! The one token estimate, for every use: micro compaction, tail, CTX, the prompt's fit.
//!
//! Deterministic, without network or tables of a tokenizer: characters are counted by kind, with costs
//! calibrated against `o200k_base`: `tests/fixtures/tokens` holds the texts and what that tokenizer counts.

use super::message::{Block, Message};
use super::tool_call::ToolSpec;

/// Tokens that a message costs beside its blocks: role and separators.
const MESSAGE_TOKENS: u64 = 4;

/// Tokens of one image, whatever its size: what common vision models take for a screen-sized picture.
const IMAGE_TOKENS: u64 = 1_600;

/// Thousandths of a token, to add up without rounding each part.
#[derive(Debug, Clone, Copy, Default)]
struct Milli(u64);

/// Returns the tokens of a text.
pub fn text_tokens(text: &str) -> u64 {
    let mut sum = Milli::default();
    let mut word_letters = 0_u64;
    let mut spaces = 0_u64;
    for c in text.chars() {
        if c.is_ascii_alphabetic() {
            word_letters += 1;
            continue;
        }
        sum.0 += word_cost(word_letters);
        word_letters = 0;
        if c == ' ' {
            spaces += 1;
            // One space joins the next word; a run of spaces is a token for about every eight.
            if spaces == 2 {
                sum.0 += 600;
            } else if spaces > 2 {
                sum.0 += 60;
            }
            continue;
        }
        spaces = 0;
        sum.0 += char_cost(c);
    }
    sum.0 += word_cost(word_letters);
    sum.0.div_ceil(1_000)
}

/// Cost of a run of ASCII letters: most words up to eight letters are one token.
fn word_cost(letters: u64) -> u64 {
    match letters {
        0 => 0,
        1..=7 => 960,
        8..=12 => 1_350,
        more => 1_350 + (more - 12) * 240,
    }
}

fn char_cost(c: char) -> u64 {
    match c {
        '\n' => 550,
        '\t' => 400,
        '0'..='9' => 450,
        '!'..='~' => 595,
        '\u{0080}'..='\u{024f}' => 450,
        '\u{0370}'..='\u{052f}' => 268,
        '\u{0590}'..='\u{06ff}' => 420,
        '\u{3040}'..='\u{30ff}' => 730,
        '\u{4e00}'..='\u{9fff}' => 670,
        '\u{ac00}'..='\u{d7af}' => 700,
        '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' => 900,
        '\u{200d}' | '\u{fe0f}' => 900,
        // Signs that have long been pictures: a sun, a check mark, a star.
        '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' => 1_400,
        '\u{1f000}'..='\u{1faff}' => 2_250,
        '\0'..='\u{7f}' => 1_000,
        _ => 900,
    }
}

/// Returns the tokens of a message as it is sent.
pub fn message_tokens(message: &Message) -> u64 {
    MESSAGE_TOKENS + message.content.iter().map(block_tokens).sum::<u64>()
}

fn block_tokens(block: &Block) -> u64 {
    match block {
        Block::Text { text } => text_tokens(text),
        Block::ToolUse(call) => 6 + text_tokens(&call.name) + text_tokens(&call.input.to_string()),
        Block::ToolResult(result) => {
            6 + text_tokens(&result.content) + IMAGE_TOKENS * result.images.len() as u64
        }
        Block::Reasoning(reasoning) => {
            // Opaque state is sent back too; base64 costs about a token for three characters.
            let opaque =
                reasoning.opaque.as_ref().map_or(0, |state| state.payload.len() as u64 / 3);
            text_tokens(&reasoning.text).max(opaque)
        }
        Block::Image(_) => IMAGE_TOKENS,
    }
}

/// Returns the tokens of the tool definitions that every request carries.
pub fn tools_tokens(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| {
        8 + text_tokens(&tool.name)
            + text_tokens(&tool.description)
            + text_tokens(&tool.parameters.to_string())
    };
    tools.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Percent that an estimate may differ from the tokenizer's count.
    const PERCENT_MAX: u64 = 15;

    // Counted once with `o200k_base`, without special tokens.
    #[test]
    fn every_kind_of_text_is_estimated_near_the_tokenizers_count() {
        for (kind, text, tokens) in [
            ("english", include_str!("../../tests/fixtures/tokens/english.txt"), 224),
            ("rust", include_str!("../../tests/fixtures/tokens/rust.txt"), 679),
            ("json", include_str!("../../tests/fixtures/tokens/json.txt"), 329),
            ("chinese", include_str!("../../tests/fixtures/tokens/chinese.txt"), 210),
            ("japanese", include_str!("../../tests/fixtures/tokens/japanese.txt"), 263),
            ("russian", include_str!("../../tests/fixtures/tokens/russian.txt"), 165),
            ("emoji", include_str!("../../tests/fixtures/tokens/emoji.txt"), 217),
            ("mixed", include_str!("../../tests/fixtures/tokens/mixed.txt"), 264),
        ] {
            let estimate = text_tokens(text);
            let off = estimate.abs_diff(tokens) * 100 / tokens;
            assert!(off <= PERCENT_MAX, "{kind}: {estimate} for {tokens}, {off} %");
        }
    }

    #[test]
    fn nothing_costs_nothing_and_more_text_never_costs_less() {
        assert_eq!(text_tokens(""), 0);
        let text = "fn main() { println!(\"héllo 漢字 🙂\"); }\n";
        let mut last = 0;
        for (end, _) in text.char_indices() {
            let tokens = text_tokens(&text[..end]);
            assert!(tokens >= last, "{end}");
            last = tokens;
        }
    }
}
