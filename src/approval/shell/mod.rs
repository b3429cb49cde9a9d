//! A command line as its simple commands, or why it is not understood.
//!
//! Invariant: every command that the line can run is either in the result or the result carries a doubt.
//! Where the grammar and a real shell could differ, the answer is a doubt: it asks, it never allows.
//! Not here: which commands are harmless (`harmless`), what rules say (`rule`).

mod walk;
mod word;

use std::cell::RefCell;

use tree_sitter::Parser;

pub use word::{Word, WordKind};

/// Bytes of a command line that are looked at; longer ones ask.
const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// `bash -c` inside `bash -c`: deeper than this asks.
const NESTING_MAX: usize = 4;

/// What a command line is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    Simple(Vec<SimpleCommand>),
    DoesNotParse { why: String },
}

/// One command with its own words: what a rule judges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// The command's name and its arguments, unquoted.
    pub words: Vec<Word>,
    /// Files that it is redirected to or from, as written.
    pub redirects: Vec<String>,
    /// Variables that it sets, as written.
    pub assignments: Vec<String>,
    /// Why it cannot be judged by its words alone.
    pub doubt: Option<String>,
}

impl SimpleCommand {
    /// A part that has no words of its own.
    fn doubtful(why: impl Into<String>) -> Self {
        Self { doubt: Some(why.into()), ..Self::default() }
    }

    /// Its name, if it is written out.
    pub fn name(&self) -> Option<&str> {
        self.words.first().filter(|word| word.kind == WordKind::Literal).map(|w| w.text.as_str())
    }

    /// Its name without the folder.
    pub fn base_name(&self) -> Option<&str> {
        self.name().map(base_name)
    }

    /// The command as one line, for a message.
    pub fn text(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns why rules may not allow it, beside its words.
    pub fn obstacle(&self) -> Option<String> {
        if let Some(doubt) = &self.doubt {
            return Some(doubt.clone());
        }
        if let Some(file) = self.redirects.first() {
            return Some(format!("redirects to or from the file {file}"));
        }
        if let Some(assignment) = self.assignments.first() {
            return Some(format!("sets a variable: {assignment}"));
        }
        let dynamic = self.words.iter().find(|word| word.kind == WordKind::Dynamic)?;
        Some(format!("{} is known only when it runs", dynamic.text))
    }
}

/// The last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Takes a command line apart.
pub fn parse(command: &str) -> Parsed {
    parse_nested(command, 0)
}

fn parse_nested(command: &str, depth: usize) -> Parsed {
    let does_not = |why: &str| Parsed::DoesNotParse { why: why.to_owned() };
    if command.len() > COMMAND_BYTES_MAX {
        return does_not("the command is too long to be judged");
    }
    if depth > NESTING_MAX {
        return does_not("the command is nested too deeply");
    }
    if let Some(c) = command.chars().find(|c| is_hidden(*c)) {
        return Parsed::DoesNotParse {
            why: format!("the command holds the hidden character U+{:04X}", u32::from(c)),
        };
    }
    let Some(tree) = with_parser(|parser| parser.parse(command, None)) else {
        return does_not("the command could not be parsed");
    };
    let root = tree.root_node();
    if root.has_error() {
        return does_not("the command does not parse as shell");
    }
    let mut walk = walk::Walk::new(command, depth);
    walk.statement(root, 0);
    walk.finish()
}

/// Runs `use_it` on this thread's parser, which is made when it is first needed.
fn with_parser<T>(use_it: impl FnOnce(&mut Parser) -> Option<T>) -> Option<T> {
    thread_local! {
        static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
    }
    PARSER.with_borrow_mut(|slot| {
        if slot.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *slot = Some(parser);
        }
        slot.as_mut().and_then(use_it)
    })
}

/// Characters that a reader of the command does not see, or sees as something else.
fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' | '\u{115f}' | '\u{1160}' => true,
        // Blanks that a shell takes as part of a word.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            true
        }
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The parts of a line, one string each: words, then what else it has.
    fn parts(command: &str) -> Vec<String> {
        match parse(command) {
            Parsed::DoesNotParse { .. } => vec!["?".to_owned()],
            Parsed::Simple(commands) => commands
                .iter()
                .map(|c| {
                    let mut text = c.text();
                    for file in &c.redirects {
                        text.push_str(&[" > ", file].concat());
                    }
                    for assignment in &c.assignments {
                        text.push_str(&[" [", assignment, "]"].concat());
                    }
                    if c.doubt.is_some() {
                        text += " ?";
                    }
                    text.trim_start().to_owned()
                })
                .collect(),
        }
    }

    // X11: each part of a chain is seen.
    #[test]
    fn every_command_of_a_line_is_found() {
        for (command, expected) in [
            ("ls", vec!["ls"]),
            ("ls; touch P", vec!["ls", "touch P"]),
            ("ls && touch P || true", vec!["ls", "touch P", "true"]),
            ("ls & touch P", vec!["ls", "touch P"]),
            ("ls\ntouch P", vec!["ls", "touch P"]),
            ("ls | tee P", vec!["ls", "tee P"]),
            ("(ls; touch P)", vec!["ls", "touch P"]),
            ("{ ls; touch P; }", vec!["ls", "touch P"]),
            ("! touch P", vec!["touch P"]),
            ("if ls; then touch P; else rm Q; fi", vec!["ls", "touch P", "rm Q"]),
            ("while ls; do touch P; done", vec!["ls", "touch P"]),
            ("ls 2>&1 >/dev/null", vec!["ls"]),
            ("ls > P", vec!["ls > P"]),
            ("ls 2> 'a b'", vec!["ls > a b"]),
            ("FOO=1 ls", vec!["ls [FOO=1]"]),
            ("echo 'a b' \"c d\" e\\ f", vec!["echo a b c d e f"]),
            ("bash -c 'ls; rm x'", vec!["bash -c ls; rm x", "ls", "rm x"]),
            ("eval rm x", vec!["eval rm x", "rm x"]),
            ("trap 'rm x' EXIT", vec!["trap rm x EXIT", "rm x"]),
            ("ls # rm x", vec!["ls"]),
            ("\\rm x", vec!["rm x ?"]),
        ] {
            assert_eq!(parts(command), expected, "{command}");
        }
    }

    // X11: commands inside words are found wherever the shell would run them.
    #[test]
    fn commands_inside_words_are_found() {
        for command in [
            "ls $(touch P)",
            "ls `touch P`",
            "ls \"$(touch P)\"",
            "ls <(touch P)",
            "ls > $(touch P)",
            "X=$(touch P)",
            "X=$(touch P) ls",
            "ls ${X:-$(touch P)}",
            "cat <<E\n$(touch P)\nE",
            "cat <<E | touch P\nx\nE",
            "cat <<< $(touch P)",
            "for x in $(touch P); do ls; done",
            "case $(touch P) in a) ls;; esac",
            "f() { touch P; }; f",
            "[[ -n $(touch P) ]]",
            "export X=$(touch P)",
            "echo $((1 + $(touch P)))",
            "sh -c \"bash -c 'touch P'\"",
            "time touch P",
            "coproc touch P",
        ] {
            let found = parts(command);
            let seen = found.iter().any(|part| part.contains("touch P")) || found == ["?"];
            assert!(seen, "{command}: {found:?}");
        }
    }

    #[test]
    fn hidden_characters_and_broken_syntax_do_not_parse() {
        for command in [
            "ls\u{2028}touch P",
            "ls\rtouch P",
            "ls \u{202e}gpj",
            "ls \u{e0041}",
            "ls 'open",
            "ls $(",
            "if ls",
            "ls \u{a0}x",
            "l\0s",
        ] {
            assert_eq!(parts(command), ["?"], "{command:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_answered_without_a_panic(command in "[ -~\n]{0,60}") {
            let _ = parse(&command);
        }

        #[test]
        fn a_command_after_a_separator_is_seen(first in "[a-z]{1,6}( [a-z.]{1,5}){0,2}", separator in prop::sample::select(vec!["; ", " && ", " || ", " | ", " & ", "\n"])) {
            prop_assume!(!["if", "for", "do", "case", "while", "until", "then", "else", "fi", "done", "esac", "select", "time", "function", "in", "elif", "coproc"].contains(&first.split(' ').next().unwrap()));
            let found = parts(&format!("{first}{separator}touch P"));
            prop_assert!(found.contains(&"touch P".to_owned()) || found == ["?"], "{found:?}");
        }
    }
}
