//! The demo's summary of a conversation: extracts, under the fixed headings.
//!
//! Invariants: every heading is there; nothing is invented; the length is bounded, so that folding helps.

use crate::base::text::cut;
use crate::conversation::message::{Block, Role};
use crate::conversation::round::RoundRequest;

/// Entries a heading, and characters an entry.
const ENTRIES_MAX: usize = 8;
const ENTRY_CHARS_MAX: usize = 240;

/// What was said and done, as far as rules can tell.
#[derive(Default)]
struct Extract {
    asked: Vec<String>,
    rules: Vec<String>,
    answered: Vec<String>,
    decided: Vec<String>,
    read: Vec<String>,
    changed: Vec<String>,
    commands: Vec<String>,
    errors: Vec<String>,
    questions: Vec<String>,
}

/// Returns the summary of the request's conversation.
pub fn of(request: &RoundRequest) -> String {
    let mut extract = Extract::default();
    // The last message is the order to summarise, unless it is all that there is.
    let messages = match request.messages.as_slice() {
        [earlier @ .., _] if !earlier.is_empty() => earlier,
        all => all,
    };
    for message in messages {
        for block in &message.blocks {
            match (block, message.role) {
                (Block::Text { text }, Role::User) => extract.said(text),
                (Block::Text { text }, Role::Assistant) => extract.answered(text),
                (Block::ToolUse(call), _) => extract.called(&call.name, &call.input),
                (Block::ToolResult(result), _) if result.is_error => {
                    add(&mut extract.errors, first_line(&result.content));
                }
                (Block::ToolResult(_) | Block::Reasoning(_) | Block::Image(_), _) => {}
            }
        }
    }
    extract.written()
}

impl Extract {
    fn said(&mut self, text: &str) {
        add(&mut self.asked, first_line(text));
        for sentence in sentences(text) {
            let lower = sentence.to_lowercase();
            let is_rule = ["must", "never", "always", "do not", "don't", "only ", "please keep"];
            if is_rule.iter().any(|word| lower.contains(word)) {
                add(&mut self.rules, sentence);
            }
            if sentence.ends_with('?') {
                add(&mut self.questions, sentence);
            }
        }
    }

    fn answered(&mut self, text: &str) {
        add(&mut self.answered, first_line(text));
        for sentence in sentences(text) {
            let lower = sentence.to_lowercase();
            if ["because", "decided", "instead of", "i propose"].iter().any(|w| lower.contains(w)) {
                add(&mut self.decided, sentence);
            }
        }
    }

    fn called(&mut self, name: &str, input: &serde_json::Value) {
        let text = |key: &str| input.get(key).and_then(serde_json::Value::as_str);
        match (name, text("path"), text("command")) {
            (_, _, Some(command)) => add(&mut self.commands, first_line(command)),
            ("write" | "edit", Some(path), None) => add(&mut self.changed, path),
            ("read", Some(path), None) => add(&mut self.read, path),
            (_, _, None) => {}
        }
    }

    fn written(&self) -> String {
        let last_asked: Vec<String> = self.asked.last().cloned().into_iter().collect();
        let labelled = |label: &'static str, entries: &[String]| -> Vec<String> {
            entries.iter().map(|entry| format!("{label}: {entry}")).collect()
        };
        let progress =
            [labelled("asked", recent(&self.asked)), labelled("done", recent(&self.answered))]
                .concat();
        let files =
            [labelled("read", recent(&self.read)), labelled("changed", recent(&self.changed))]
                .concat();
        let commands = [
            labelled("ran", recent(&self.commands)),
            labelled("failed with", recent(&self.errors)),
        ]
        .concat();
        let next = labelled("go on with", &last_asked);
        [
            section("Goal", self.asked.get(..1).unwrap_or_default()),
            section("Instructions and constraints", recent(&self.rules)),
            section("Progress", &progress),
            section("Decisions and why", recent(&self.decided)),
            section("Files", &files),
            section("Commands and results", &commands),
            section("Open questions", recent(&self.questions)),
            section("Next steps", &next),
        ]
        .join("\n")
    }
}

/// The newest entries, oldest first.
fn recent(entries: &[String]) -> &[String] {
    &entries[entries.len().saturating_sub(ENTRIES_MAX)..]
}

fn section(heading: &str, entries: &[String]) -> String {
    let mut text = format!("## {heading}\n");
    if entries.is_empty() {
        text.push_str("- none\n");
    }
    for entry in entries {
        text.push_str("- ");
        text.push_str(entry);
        text.push('\n');
    }
    text
}

fn add(entries: &mut Vec<String>, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let short = cut::chars(text, ENTRY_CHARS_MAX);
    if !entries.iter().any(|entry| entry == short) {
        entries.push(short.to_owned());
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split_inclusive(". "))
        .flat_map(|part| part.split_inclusive("? "))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}
