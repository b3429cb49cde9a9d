//! From the syntax tree to simple commands.
//!
//! Every kind of node is either known here or becomes a doubt; its children are looked at in both cases,
//! so that deny rules see each command.

use tree_sitter::Node;

use super::{Parsed, SimpleCommand, Word, WordKind, base_name, parse_nested};

/// Levels of the syntax tree that are followed.
const DEPTH_MAX: usize = 200;

/// Shells that run the text after `-c`.
const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "ash"];

#[derive(Debug)]
pub(super) struct Walk<'a> {
    source: &'a str,
    nesting: usize,
    found: Vec<SimpleCommand>,
    too_deep: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a str, nesting: usize) -> Self {
        Self { source, nesting, found: Vec::new(), too_deep: false }
    }

    pub(super) fn finish(self) -> Parsed {
        if self.too_deep {
            return Parsed::DoesNotParse { why: "the command is nested too deeply".to_owned() };
        }
        Parsed::Simple(self.found)
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Collects what a statement runs.
    pub(super) fn statement(&mut self, node: Node<'_>, depth: usize) {
        if depth > DEPTH_MAX {
            self.too_deep = true;
            return;
        }
        let depth = depth + 1;
        match node.kind() {
            "command" => self.command(node, depth),
            "redirected_statement" => self.redirected(node, depth),
            "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "negated_command"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "command_substitution"
            | "process_substitution" => {
                self.statements(node, depth);
            }
            "variable_assignment" => {
                let assignments = vec![self.text(node).to_owned()];
                self.found.push(SimpleCommand { assignments, ..SimpleCommand::default() });
                self.substitutions(node, depth);
            }
            "test_command" => self.test(node, depth),
            "comment" | "heredoc_start" | "heredoc_end" => {}
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                self.found.push(SimpleCommand::default());
                self.redirect(node, self.found.len() - 1, depth);
            }
            kind => {
                let what = kind.replace('_', " ");
                self.found.push(SimpleCommand::doubtful(format!("holds a {what}")));
                self.statements_or_words(node, depth);
            }
        }
    }

    fn statements(&mut self, node: Node<'_>, depth: usize) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.statement(child, depth);
        }
    }

    /// Below something that is not understood: commands, wherever they are.
    fn statements_or_words(&mut self, node: Node<'_>, depth: usize) {
        if depth > DEPTH_MAX {
            self.too_deep = true;
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "command"
                | "redirected_statement"
                | "command_substitution"
                | "process_substitution" => self.statement(child, depth + 1),
                _ => self.statements_or_words(child, depth + 1),
            }
        }
    }

    /// Commands that run while a word is expanded.
    fn substitutions(&mut self, node: Node<'_>, depth: usize) {
        match node.kind() {
            "command_substitution" | "process_substitution" => self.statement(node, depth),
            _ => self.statements_or_words(node, depth),
        }
    }

    fn test(&mut self, node: Node<'_>, depth: usize) {
        let before = self.found.len();
        self.substitutions(node, depth);
        let mut test = SimpleCommand { words: vec![Word::literal("test")], ..Default::default() };
        // `-eq` evaluates what a variable holds, commands included.
        if self.found.len() > before || self.text(node).contains(['$', '`', '<', '>']) {
            test.doubt = Some("tests something that is known only when it runs".to_owned());
        }
        self.found.push(test);
    }

    fn command(&mut self, node: Node<'_>, depth: usize) {
        let mut command = SimpleCommand::default();
        let mut redirects = Vec::new();
        let mut nested = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "command_name" => {
                    let name = child.named_child(0).unwrap_or(child);
                    let word = Word::read(name, self.source);
                    if self.text(child) != word.text || word.kind != WordKind::Literal {
                        command.doubt = Some(format!(
                            "the command's name is not written plainly: {}",
                            self.text(child)
                        ));
                    }
                    command.words.push(word);
                }
                "variable_assignment" => command.assignments.push(self.text(child).to_owned()),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    redirects.push(child);
                    continue;
                }
                "subshell" => command.doubt = Some("holds a subshell as an argument".to_owned()),
                _ => command.words.push(Word::read(child, self.source)),
            }
            nested.push(child);
        }
        let inner = text_to_run(&command);
        if matches!(inner, Inner::Unknown) && command.doubt.is_none() {
            command.doubt = Some("runs a text that is known only when it runs".to_owned());
        }
        self.found.push(command);
        let index = self.found.len() - 1;
        for child in redirects {
            self.redirect(child, index, depth);
        }
        for child in nested {
            self.substitutions(child, depth);
        }
        if let Inner::Text(text) = inner {
            self.nested_text(&text, index);
        }
    }

    fn nested_text(&mut self, text: &str, index: usize) {
        match parse_nested(text, self.nesting + 1) {
            Parsed::Simple(commands) => self.found.extend(commands),
            Parsed::DoesNotParse { why } => self.found[index].doubt = Some(why),
        }
    }

    fn redirected(&mut self, node: Node<'_>, depth: usize) {
        let first = self.found.len();
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body, depth);
        }
        if self.found.len() == first {
            self.found.push(SimpleCommand::default());
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.kind().ends_with("_redirect") {
                self.redirect(child, first, depth);
            }
        }
    }

    /// Adds a redirection to the command at `index`.
    fn redirect(&mut self, node: Node<'_>, index: usize, depth: usize) {
        match node.kind() {
            "file_redirect" => {
                let destinations: Vec<Word> = {
                    let mut cursor = node.walk();
                    node.children_by_field_name("destination", &mut cursor)
                        .map(|child| Word::read(child, self.source))
                        .collect()
                };
                let operator = self.text(node);
                for word in &destinations {
                    if !is_harmless_redirect(operator, word) {
                        self.found[index].redirects.push(word.text.clone());
                    }
                }
                if destinations.is_empty() && !self.text(node).ends_with('-') {
                    let text = self.text(node).to_owned();
                    self.found[index].redirects.push(text);
                }
                self.substitutions(node, depth);
            }
            "heredoc_redirect" => {
                self.found[index].doubt = Some("feeds a here-document".to_owned());
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    match child.kind() {
                        "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                        "heredoc_body" => self.substitutions(child, depth),
                        "file_redirect" | "herestring_redirect" => {
                            self.redirect(child, index, depth);
                        }
                        _ => self.statement(child, depth),
                    }
                }
            }
            _ => {
                self.found[index].doubt = Some("feeds a here-string".to_owned());
                self.substitutions(node, depth);
            }
        }
    }
}

/// `2>&1`, `>/dev/null`: touches no file.
fn is_harmless_redirect(operator: &str, word: &Word) -> bool {
    if word.kind != WordKind::Literal {
        return false;
    }
    let is_descriptor = word.text == "-" || word.text.bytes().all(|b| b.is_ascii_digit());
    let duplicates = operator.contains(">&") || operator.contains("<&");
    word.text == "/dev/null" || (duplicates && is_descriptor && !word.text.is_empty())
}

/// A text that a command hands to a shell.
enum Inner {
    None,
    Text(String),
    Unknown,
}

fn text_to_run(command: &SimpleCommand) -> Inner {
    let Some((name, arguments)) = command.words.split_first() else { return Inner::None };
    let name = base_name(&name.text);
    let literal = |words: &[Word]| {
        words
            .iter()
            .all(|w| w.kind == WordKind::Literal)
            .then(|| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
    };
    if name == "eval" {
        return literal(arguments).map_or(Inner::Unknown, Inner::Text);
    }
    if name == "trap" {
        return literal(&arguments[..arguments.len().min(1)]).map_or(Inner::Unknown, Inner::Text);
    }
    if !SHELLS.contains(&name) {
        return Inner::None;
    }
    let is_text_flag = |word: &Word| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
    };
    match arguments.iter().position(is_text_flag) {
        Some(at) => match arguments.get(at + 1) {
            Some(word) if word.kind == WordKind::Literal => Inner::Text(word.text.clone()),
            Some(_) | None => Inner::Unknown,
        },
        None if arguments.iter().any(|word| word.kind == WordKind::Dynamic) => Inner::Unknown,
        None => Inner::None,
    }
}
