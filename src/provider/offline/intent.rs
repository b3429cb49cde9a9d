//! What a person wants from the demo, read from their words by simple rules.

/// A wish that the demo can fulfil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    Project,
    Read { path: String },
    Outline { path: String },
    Search { pattern: String, path: Option<String> },
    Files { pattern: String },
    Plan { items: Vec<String> },
    Create { path: String, text: String },
    Append { path: String, text: String },
    Replace { path: String, old: String, new: String },
    Run { command: String },
    Other,
}

/// Reads a wish. Each rule needs its object; what fits none is [`Intent::Other`].
pub fn read(said: &str) -> Intent {
    let said = said.trim();
    let line = said.strip_prefix("please ").or(said.strip_prefix("Please ")).unwrap_or(said);
    change(line)
        .or_else(|| command(line))
        .or_else(|| look(line))
        .or_else(|| plan(line))
        .unwrap_or_else(|| if asks_project(line) { Intent::Project } else { Intent::Other })
}

fn change(line: &str) -> Option<Intent> {
    if let Some(rest) = after_any(line, &["replace ", "change "]) {
        let (change, path) = split_last(rest, " in ")?;
        let (old, new) = split(change, " with ").or_else(|| split(change, " to "))?;
        let (old, new, path) = (quoted(old), quoted(new), path_of(path)?);
        return (!old.is_empty()).then_some(Intent::Replace { path, old, new });
    }
    if let Some(rest) = after_any(line, &["add a line ", "add the line ", "add ", "append "]) {
        let (text, path) = split_last(rest, " to ")?;
        return Some(Intent::Append { path: path_of(path)?, text: quoted(text) });
    }
    if let Some(rest) = after_any(line, &["create a file ", "create ", "make a file "]) {
        let (path, text) = split(rest, " with ").unwrap_or((rest, ""));
        return Some(Intent::Create { path: path_of(path)?, text: quoted(text) });
    }
    if let Some(rest) = after_any(line, &["write ", "edit "]) {
        if let Some((text, path)) = split_last(rest, " to ") {
            return Some(Intent::Create { path: path_of(path)?, text: quoted(text) });
        }
        let (path, text) = split(rest, " with ").or_else(|| split(rest, ": "))?;
        return Some(Intent::Append { path: path_of(path)?, text: quoted(text) });
    }
    None
}

fn command(line: &str) -> Option<Intent> {
    let command = quoted(after_any(line, &["run ", "execute ", "$ "])?);
    (!command.is_empty()).then_some(Intent::Run { command })
}

fn plan(line: &str) -> Option<Intent> {
    let lower = line.to_ascii_lowercase();
    let is_plan = ["todo", "to-do", "make a plan", "plan "].iter().any(|word| lower.contains(word));
    if !is_plan {
        return None;
    }
    let listed = line.split_once(':').map(|(_, items)| items).unwrap_or_default();
    let items = listed
        .split([',', ';', '\n'])
        .map(|item| item.trim().trim_start_matches(['-', '*']).trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect();
    Some(Intent::Plan { items })
}

fn look(line: &str) -> Option<Intent> {
    if let Some(rest) = after_any(line, &["outline "]) {
        return Some(Intent::Outline { path: path_of(rest)? });
    }
    if let Some(rest) = after_any(line, &["find files ", "list files ", "glob "]) {
        return Some(Intent::Files { pattern: quoted(rest) });
    }
    let search = ["search for ", "search ", "find ", "grep ", "look for ", "where is "];
    if let Some(rest) = after_any(line, &search) {
        let place = split_last(rest, " in ").and_then(|(text, path)| Some((text, path_of(path)?)));
        let (pattern, path) = place.map_or((rest, None), |(text, path)| (text, Some(path)));
        let pattern = quoted(pattern.trim_end_matches('?'));
        if pattern.is_empty() {
            return None;
        }
        if pattern.contains('*') {
            return Some(Intent::Files { pattern });
        }
        return Some(Intent::Search { pattern, path });
    }
    let rest = after_any(line, &["read ", "show me ", "show ", "open ", "cat "])?;
    Some(Intent::Read { path: path_of(rest)? })
}

fn asks_project(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let place = ["project", "repo", "workspace", "codebase", "directory", "folder", "in here"];
    let asks = ["what", "describe", "explain", "overview", "summar", "tell", "list", "look"];
    place.iter().any(|word| lower.contains(word)) && asks.iter().any(|word| lower.contains(word))
}

fn after_any<'a>(line: &'a str, starts: &[&str]) -> Option<&'a str> {
    let lower = line.to_ascii_lowercase();
    let start = starts.iter().find(|start| lower.starts_with(**start))?;
    Some(line[start.len()..].trim()).filter(|rest| !rest.is_empty())
}

fn split<'a>(text: &'a str, at: &str) -> Option<(&'a str, &'a str)> {
    let index = text.to_ascii_lowercase().find(at)?;
    Some((&text[..index], &text[index + at.len()..]))
}

fn split_last<'a>(text: &'a str, at: &str) -> Option<(&'a str, &'a str)> {
    let index = text.to_ascii_lowercase().rfind(at)?;
    Some((&text[..index], &text[index + at.len()..]))
}

/// The text without the quotes around it.
fn quoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '`', '\''] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner.to_owned();
        }
    }
    text.to_owned()
}

/// One word that may be a path, without the sentence around it.
fn path_of(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['?', '!']);
    let text = after_any(text, &["the file ", "file "]).unwrap_or(text);
    let path = quoted(text.strip_suffix('.').unwrap_or(text)).trim_start_matches('@').to_owned();
    let is_path = !path.is_empty() && !path.contains(char::is_whitespace);
    is_path.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_read_from_plain_words() {
        let s = str::to_owned;
        for (said, wanted) in [
            ("what is in this project?", Intent::Project),
            ("Describe this repo", Intent::Project),
            ("read src/main.rs", Intent::Read { path: s("src/main.rs") }),
            ("Read the file `src/main.rs`.", Intent::Read { path: s("src/main.rs") }),
            ("outline src/lib.rs", Intent::Outline { path: s("src/lib.rs") }),
            ("find TODO", Intent::Search { pattern: s("TODO"), path: None }),
            (
                "search for \"fn main\" in src",
                Intent::Search { pattern: s("fn main"), path: Some(s("src")) },
            ),
            ("find *.rs", Intent::Files { pattern: s("*.rs") }),
            (
                "make a plan: read it, change it",
                Intent::Plan { items: vec![s("read it"), s("change it")] },
            ),
            ("make a todo list", Intent::Plan { items: vec![] }),
            (
                "add a line Hello World to notes.md",
                Intent::Append { path: s("notes.md"), text: s("Hello World") },
            ),
            (
                "create notes.md with \"# Notes\"",
                Intent::Create { path: s("notes.md"), text: s("# Notes") },
            ),
            (
                "replace foo with bar in src/a.rs",
                Intent::Replace { path: s("src/a.rs"), old: s("foo"), new: s("bar") },
            ),
            ("run `cargo test`", Intent::Run { command: s("cargo test") }),
            ("hello", Intent::Other),
            ("read", Intent::Other),
            ("", Intent::Other),
            ("İ read ñ", Intent::Other),
        ] {
            assert_eq!(read(said), wanted, "{said}");
        }
    }
}
