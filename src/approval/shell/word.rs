//! One word of a command: its text after quoting, and how sure that text is.

use tree_sitter::Node;

/// A word as the command will get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Unquoted; as written where it is dynamic.
    pub text: String,
    pub kind: WordKind,
}

/// How sure a word's text is. Ordered: a whole is as unsure as its least sure part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordKind {
    /// The text is what the command gets.
    Literal,
    /// File names that match the text.
    Pattern,
    /// Known only when it runs.
    Dynamic,
}

impl Word {
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: WordKind::Literal }
    }

    fn dynamic(text: &str) -> Self {
        Self { text: text.to_owned(), kind: WordKind::Dynamic }
    }

    /// Reads a word of the syntax tree.
    pub(super) fn read(node: Node<'_>, source: &str) -> Self {
        let text = source.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "word" | "number" if node.named_child_count() == 0 => bare(text),
            "raw_string" => match text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
                Some(inner) => Self::literal(inner),
                None => Self::dynamic(text),
            },
            "string" => string(node, text),
            "simple_expansion" if is_status(text) => Self::literal(text),
            // Where `find -exec` and `xargs -I{}` put a name: no brace expansion, and no other meaning.
            "concatenation" if text == "{}" => Self::literal(text),
            "concatenation" => concatenation(node, source),
            _ => Self::dynamic(text),
        }
    }
}

/// `$?` and its like: numbers, whatever they are.
fn is_status(text: &str) -> bool {
    matches!(text, "$?" | "$#" | "$$" | "$!")
}

fn bare(text: &str) -> Word {
    let mut out = String::with_capacity(text.len());
    let mut kind = WordKind::Literal;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(escaped) => out.push(escaped),
                None => kind = WordKind::Dynamic,
            },
            '*' | '?' | '[' => {
                kind = kind.max(WordKind::Pattern);
                out.push(c);
            }
            // Brace expansion can make flags and further words.
            '{' | '}' if text != "{}" => {
                kind = WordKind::Dynamic;
                out.push(c);
            }
            '$' | '`' => {
                kind = WordKind::Dynamic;
                out.push(c);
            }
            c => out.push(c),
        }
    }
    Word { text: out, kind }
}

fn string(node: Node<'_>, text: &str) -> Word {
    let mut cursor = node.walk();
    let is_plain = node.named_children(&mut cursor).all(|child| match child.kind() {
        "string_content" => true,
        "simple_expansion" => {
            let start = child.start_byte() - node.start_byte();
            let end = child.end_byte() - node.start_byte();
            text.get(start..end).is_some_and(is_status)
        }
        _ => false,
    });
    let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) else {
        return Word::dynamic(text);
    };
    if !is_plain {
        return Word::dynamic(text);
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\n') => {}
            Some(escaped @ ('"' | '\\' | '$' | '`')) => out.push(escaped),
            Some(other) => out.extend(['\\', other]),
            None => return Word::dynamic(text),
        }
    }
    Word::literal(out)
}

fn concatenation(node: Node<'_>, source: &str) -> Word {
    let mut whole = Word::literal("");
    let mut end = node.start_byte();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        if child.start_byte() != end {
            whole.kind = WordKind::Dynamic;
        }
        end = child.end_byte();
        let part = Word::read(child, source);
        whole.text.push_str(&part.text);
        whole.kind = whole.kind.max(part.kind);
    }
    whole
}
