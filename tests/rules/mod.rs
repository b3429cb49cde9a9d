//! Reading Rust source as tokens, as far as the rules of this project need it.
//!
//! Not a parser: comments and literals are told apart from code, `use` trees are spread out, bodies of
//! items are found by their brackets.

#![allow(dead_code, clippy::unwrap_used, clippy::disallowed_methods, reason = "a harness of tests")]

use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Mark,
    /// A string literal; `text` is what stands between its quotes.
    Text,
    Comment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    /// From 1.
    pub line: usize,
    pub in_test: bool,
}

/// One file of the project, its path relative to the root.
#[derive(Debug)]
pub struct Source {
    pub path: String,
    pub text: String,
    pub tokens: Vec<Token>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let mut tokens = tokens(text);
        mark_tests(&mut tokens);
        for token in &mut tokens {
            token.in_test |= is_test_file(path);
        }
        Self { path: path.to_owned(), text: text.to_owned(), tokens }
    }

    /// Code alone: words and marks.
    pub fn code(&self) -> Vec<&Token> {
        self.tokens.iter().filter(|t| matches!(t.kind, Kind::Word | Kind::Mark)).collect()
    }

    /// Lines that are not in a tests module.
    pub fn line_count(&self) -> usize {
        let tests = self.tokens.iter().filter(|t| t.in_test).map(|t| t.line);
        let (first, last) = (tests.clone().min(), tests.max());
        let in_tests = first.zip(last).map_or(0, |(first, last)| last - first + 1);
        self.text.lines().count() - in_tests
    }
}

/// Whether a whole file is a tests module that its parent includes.
fn is_test_file(path: &str) -> bool {
    path.starts_with("tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// All Rust files below a folder of the project, sorted.
pub fn sources(folder: &str) -> Vec<Source> {
    let mut paths = Vec::new();
    walk(&root().join(folder), &mut paths);
    paths.sort();
    let relative = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    paths
        .iter()
        .map(|path| Source::new(&relative(path), &fs::read_to_string(path).unwrap()))
        .collect()
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let (end, kind) = next(&chars, at);
        let body: String = chars[at..end].iter().collect();
        if let Some(kind) = kind {
            let text = if kind == Kind::Text { unquoted(&body) } else { body.clone() };
            found.push(Token { kind, text, line, in_test: false });
        }
        line += body.matches('\n').count();
        at = end;
    }
    found
}

fn unquoted(literal: &str) -> String {
    let open = literal.find('"').map_or(0, |i| i + 1);
    let close = literal.rfind('"').unwrap_or(literal.len()).max(open);
    literal[open..close].to_owned()
}

/// Returns where the piece at `at` ends, and what it is; blanks and numbers are nothing.
fn next(chars: &[char], at: usize) -> (usize, Option<Kind>) {
    let peek = |ahead: usize| chars.get(at + ahead).copied().unwrap_or('\0');
    match peek(0) {
        '/' if peek(1) == '/' => (until(chars, at, |c| c == '\n'), Some(Kind::Comment)),
        '/' if peek(1) == '*' => (block_comment(chars, at), Some(Kind::Comment)),
        '"' => (string_end(chars, at + 1), Some(Kind::Text)),
        'b' | 'c' if peek(1) == '"' => (string_end(chars, at + 2), Some(Kind::Text)),
        'r' if is_raw(chars, at + 1) => (raw_end(chars, at + 1), Some(Kind::Text)),
        'b' if peek(1) == 'r' && is_raw(chars, at + 2) => {
            (raw_end(chars, at + 2), Some(Kind::Text))
        }
        '\'' => (quote_end(chars, at), None),
        ':' if peek(1) == ':' => (at + 2, Some(Kind::Mark)),
        c if c.is_alphabetic() || c == '_' => {
            (until(chars, at, |c| !c.is_alphanumeric() && c != '_'), Some(Kind::Word))
        }
        c if c.is_ascii_digit() => (until(chars, at, |c| !c.is_alphanumeric() && c != '_'), None),
        c if c.is_whitespace() => (at + 1, None),
        _ => (at + 1, Some(Kind::Mark)),
    }
}

fn until(chars: &[char], at: usize, stop: impl Fn(char) -> bool) -> usize {
    chars[at..].iter().position(|c| stop(*c)).map_or(chars.len(), |i| at + i)
}

fn block_comment(chars: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn is_raw(chars: &[char], at: usize) -> bool {
    let quote = until(chars, at, |c| c != '#');
    chars.get(quote) == Some(&'"')
}

fn raw_end(chars: &[char], at: usize) -> usize {
    let open = until(chars, at, |c| c != '#');
    let hashes = open - at;
    (open + 1..chars.len())
        .find(|i| chars[*i] == '"' && (1..=hashes).all(|n| chars.get(i + n) == Some(&'#')))
        .map_or(chars.len(), |i| i + 1 + hashes)
}

/// A character literal, or the mark of a lifetime.
fn quote_end(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        // From the third place on, because the escaped character may be a quote itself.
        (Some('\\'), _) => until(chars, (at + 3).min(chars.len()), |c| c == '\'') + 1,
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
    .min(chars.len())
}

/// Marks everything from `#[cfg(test)]` to the end of the module that it stands on.
fn mark_tests(tokens: &mut [Token]) {
    let code: Vec<usize> =
        (0..tokens.len()).filter(|i| matches!(tokens[*i].kind, Kind::Word | Kind::Mark)).collect();
    let text = |at: usize| code.get(at).map_or("", |i| tokens[*i].text.as_str());
    let mut ranges = Vec::new();
    for at in 0..code.len() {
        let head: Vec<&str> = (0..8).map(|n| text(at + n)).collect();
        if head == ["#", "[", "cfg", "(", "test", ")", "]", "mod"] && text(at + 9) == "{" {
            let mut depth = 0;
            let end = (at + 9..code.len()).find(|i| {
                match text(*i) {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            ranges.push(code[at]..=code[end.unwrap_or(code.len() - 1)]);
        }
    }
    for range in ranges {
        tokens[range].iter_mut().for_each(|token| token.in_test = true);
    }
}

/// A path of names in code, as `["crate", "base", "time"]`, with groups spread out.
#[derive(Debug, PartialEq, Eq)]
pub struct NamePath {
    pub names: Vec<String>,
    pub line: usize,
    pub in_test: bool,
    /// Names of the inline modules around it.
    pub inside: Vec<String>,
}

/// All paths of two or more names, and all single names that are imported.
pub fn paths(source: &Source) -> Vec<NamePath> {
    let code = source.code();
    let mut found = Vec::new();
    let mut modules: Vec<(String, i32)> = Vec::new();
    let (mut depth, mut at) = (0, 0);
    while at < code.len() {
        let text = |ahead: usize| code.get(at + ahead).map_or("", |t| t.text.as_str());
        match text(0) {
            "mod" if text(2) == "{" => modules.push((text(1).to_owned(), depth)),
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                modules.retain(|(_, opened)| *opened < depth);
            }
            _ => {}
        }
        let follows_path = at > 0 && matches!(code[at - 1].text.as_str(), "::" | ".");
        let starts = code[at].kind == Kind::Word && !follows_path;
        let is_import = at > 0 && code[at - 1].text == "use" && text(1) == ";";
        if starts && (text(1) == "::" || is_import) {
            let mut trees = Vec::new();
            tree(&code, at, &[], &mut trees);
            found.extend(trees.into_iter().map(|names| NamePath {
                names,
                line: code[at].line,
                in_test: code[at].in_test,
                inside: modules.iter().map(|(name, _)| name.clone()).collect(),
            }));
        }
        at += 1;
    }
    found
}

/// Reads one tree of a path at `at`, returns where it ends.
fn tree(code: &[&Token], mut at: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let text = |at: usize| code.get(at).map_or("", |t| t.text.as_str());
    let mut names = prefix.to_vec();
    loop {
        if text(at) == "{" {
            at += 1;
            while at < code.len() && text(at) != "}" {
                let end = tree(code, at, &names, found);
                at = end.max(at + 1);
                // A renaming or a comma.
                while at < code.len() && !matches!(text(at), "," | "}") {
                    at += 1;
                }
                at += usize::from(text(at) == ",");
            }
            return at + 1;
        }
        if code.get(at).is_none_or(|t| t.kind != Kind::Word) {
            break;
        }
        names.push(text(at).to_owned());
        at += 1;
        if text(at) != "::" {
            break;
        }
        at += 1;
    }
    found.push(names);
    at
}

/// The parts of a struct or enum: its name, and each top-level piece between commas.
#[derive(Debug)]
pub struct Item {
    pub keyword: String,
    pub name: String,
    pub line: usize,
    /// Names of the fields, or of the variants.
    pub parts: Vec<String>,
}

/// Structs with named fields, and enums.
pub fn items(source: &Source) -> Vec<Item> {
    let code = source.code();
    let mut found = Vec::new();
    for at in 0..code.len() {
        let keyword = code[at].text.as_str();
        if !matches!(keyword, "struct" | "enum")
            || code.get(at + 1).is_none_or(|t| t.kind != Kind::Word)
        {
            continue;
        }
        let open = (at + 2..code.len()).find(|i| matches!(code[*i].text.as_str(), "{" | ";" | "("));
        let Some(open) = open.filter(|i| code[*i].text == "{") else { continue };
        let parts = if keyword == "struct" { fields(&code, open) } else { variants(&code, open) };
        let name = code[at + 1].text.clone();
        found.push(Item { keyword: keyword.to_owned(), name, line: code[at].line, parts });
    }
    found
}

/// Calls `each` with every token at the top level of the body that opens at `open`.
fn top_level<'a>(code: &[&'a Token], open: usize, mut each: impl FnMut(usize, &'a Token)) {
    let mut depth = 0;
    for (at, token) in code.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ if depth == 1 => each(at, token),
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

fn fields(code: &[&Token], open: usize) -> Vec<String> {
    let mut names = Vec::new();
    top_level(code, open, |at, token| {
        if token.text == ":" {
            names.push(code[at - 1].text.clone());
        }
    });
    names
}

fn variants(code: &[&Token], open: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_begin = true;
    top_level(code, open, |_, token| match token.text.as_str() {
        "," => is_begin = true,
        "#" => {}
        name if is_begin && token.kind == Kind::Word => {
            names.push(name.to_owned());
            is_begin = false;
        }
        _ => {}
    });
    names
}
