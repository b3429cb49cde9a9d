//! What the demo reads from a request: the wish of the running turn, and what its calls came to.

use crate::conversation::message::{Block, Role, ToolResult, ToolUse};
use crate::conversation::round::RoundRequest;

/// The running turn: what the person said, and each call since with its result.
pub struct Turn<'a> {
    pub said: &'a str,
    pub steps: Vec<Step<'a>>,
}

pub struct Step<'a> {
    pub call: &'a ToolUse,
    pub result: &'a ToolResult,
}

impl<'a> Turn<'a> {
    pub fn of(request: &'a RoundRequest) -> Self {
        let messages = &request.messages;
        let said_in = |blocks: &'a [Block]| {
            blocks.iter().rev().find_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            })
        };
        let begin = messages
            .iter()
            .rposition(|message| message.role == Role::User && said_in(&message.blocks).is_some());
        let said = begin.and_then(|begin| said_in(&messages[begin].blocks)).unwrap_or_default();
        let after = &messages[begin.map_or(messages.len(), |begin| begin + 1)..];
        let blocks = || after.iter().flat_map(|message| &message.blocks);
        let result_of = |call: &ToolUse| {
            blocks().find_map(|block| match block {
                Block::ToolResult(result) if result.tool_use_id == call.id => Some(result),
                _ => None,
            })
        };
        let steps = blocks()
            .filter_map(|block| match block {
                Block::ToolUse(call) => Some(Step { call, result: result_of(call)? }),
                _ => None,
            })
            .collect();
        Self { said, steps }
    }

    /// The last step with this tool.
    pub fn step(&self, tool: &str) -> Option<&Step<'a>> {
        self.steps.iter().rev().find(|step| step.call.name == tool)
    }
}

/// The lines of a file from a result of `read`: without the numbers in front, if all lines have them.
pub fn file_lines(result: &str) -> Vec<String> {
    let numbered: Option<Vec<&str>> =
        result.lines().take_while(|line| !line.starts_with('[')).map(without_number).collect();
    match numbered {
        Some(lines) if !lines.is_empty() => lines.into_iter().map(str::to_owned).collect(),
        Some(_) | None => result.lines().map(str::to_owned).collect(),
    }
}

/// What stands after a line's number and its separator.
fn without_number(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if digits == 0 {
        return None;
    }
    let rest = &rest[digits..];
    if rest.is_empty() {
        return Some("");
    }
    ["\t", "→", "│", "| ", "|", ": ", ":", "  "].iter().find_map(|mark| rest.strip_prefix(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_front_of_lines_are_not_part_of_the_file() {
        for (result, lines) in [
            ("1\tfn main() {\n2\t}\n", &["fn main() {", "}"][..]),
            ("     1→a\n     2→\n", &["a", ""]),
            (" 9| a\n10| b", &["a", "b"]),
            ("1\ta\n\n[cut]\n", &["1\ta", "", "[cut]"]),
            ("1\ta\n[lines 1 to 1 of 5]\n", &["a"]),
            ("plain\ntext", &["plain", "text"]),
        ] {
            assert_eq!(file_lines(result), lines, "{result}");
        }
    }
}
