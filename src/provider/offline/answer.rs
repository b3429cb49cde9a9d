//! What the demo says next: from the wish and from what its calls came to so far.

use serde_json::json;

use super::Reply;
use super::intent::{self, Intent};
use super::results::{Step, Turn, file_lines};
use crate::base::text::cut;
use crate::conversation::round::RoundRequest;

/// What the demo says when it has nothing to do.
pub const HELP: &str = "I am the **offline demo**: a small rule-based stand-in, not a language model. \
I run inside crystal, without a network, and use its real tools. Try:\n\n\
- `what is in this project?`\n\
- `read README.md`, `outline src/main.rs`, `search for TODO`\n\
- `make a plan: read the code, change it, run the tests`\n\
- `create notes.md with hello`, `add a line bye to notes.md`, `replace hello with hi in notes.md`\n\
- `run cargo --version`\n\n\
To connect a real model, set `OPENROUTER_API_KEY` or `DEEPSEEK_API_KEY`, start a local server such as \
Ollama, or add any OpenAI-compatible server to config.json; then choose it with `/model`.";

/// Files that say what a project is, best first.
const TELLING_FILES: [&str; 6] =
    ["README.md", "README", "Cargo.toml", "package.json", "pyproject.toml", "go.mod"];

/// Lines of a result that an answer quotes.
const QUOTE_LINES_MAX: usize = 12;

/// Characters of a session's title.
const TITLE_CHARS_MAX: usize = 48;

pub fn title(request: &RoundRequest) -> String {
    let said = Turn::of(request).said;
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("Demo");
    cut::chars(line.trim(), TITLE_CHARS_MAX).to_owned()
}

pub fn reply(request: &RoundRequest) -> Reply {
    let turn = Turn::of(request);
    let reply = next(&turn);
    // A mode may leave tools out; a model knows only those that the request names.
    let missing = reply
        .calls
        .iter()
        .map(|(name, _)| *name)
        .find(|name| !request.tools.iter().any(|tool| tool.name == *name));
    match missing {
        Some(name) => Reply::text(format!(
            "That needs the `{name}` tool, which is not offered to me here (in plan mode nothing is changed)."
        )),
        None => reply,
    }
}

fn next(turn: &Turn) -> Reply {
    match intent::read(turn.said) {
        Intent::Project => project(turn),
        Intent::Read { path } => read(turn, &path),
        Intent::Outline { path } => outline(turn, &path),
        Intent::Search { pattern, path } => search(turn, &pattern, path.as_deref()),
        Intent::Files { pattern } => files(turn, &pattern),
        Intent::Plan { items } => plan(turn, &items),
        Intent::Create { path, text } => create(turn, &path, &text),
        Intent::Append { path, text } => append(turn, &path, &text),
        Intent::Replace { path, old, new } => replace(turn, &path, &old, &new),
        Intent::Run { command } => run(turn, &command),
        Intent::Other => Reply::text(HELP),
    }
}

fn project(turn: &Turn) -> Reply {
    let Some(list) = turn.step("list") else {
        let input = json!({"path": ".", "depth": 2});
        return Reply::call("I will look at the files first.", "list", input);
    };
    if list.result.is_error {
        return failed(list);
    }
    let telling = TELLING_FILES.iter().find(|file| names(&list.result.content, file));
    match (telling, turn.step("read")) {
        (Some(file), None) => {
            Reply::call(format!("`{file}` may say what this is."), "read", json!({"path": file}))
        }
        (_, read) => {
            let about = read.filter(|read| !read.result.is_error).map(|read| {
                let file = argument(read, "path");
                format!("From `{file}`:\n\n{}\n", quote(&file_lines(&read.result.content)))
            });
            let lines: Vec<String> = list.result.content.lines().map(str::to_owned).collect();
            Reply::text(format!(
                "## What is here\n\n{}The files:\n\n{}\nAsk me to `read`, `outline` or `search` any of them.",
                about.unwrap_or_default(),
                quote(&lines)
            ))
        }
    }
}

/// Whether one of the lines of a listing is this file at its top.
fn names(listing: &str, file: &str) -> bool {
    let word =
        |line: &str| line.split_whitespace().any(|word| word.trim_start_matches("./") == file);
    listing.lines().any(word)
}

fn read(turn: &Turn, path: &str) -> Reply {
    let Some(step) = turn.step("read") else {
        return Reply::call("", "read", json!({"path": path}));
    };
    if step.result.is_error {
        return failed(step);
    }
    let lines = file_lines(&step.result.content);
    Reply::text(format!("`{path}` has {} here:\n\n{}", count(lines.len(), "line"), quote(&lines)))
}

fn outline(turn: &Turn, path: &str) -> Reply {
    let Some(step) = turn.step("read") else {
        return Reply::call(format!("I will read `{path}`."), "read", json!({"path": path}));
    };
    if step.result.is_error {
        return failed(step);
    }
    let lines = file_lines(&step.result.content);
    let entries: Vec<String> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_heading(line))
        .map(|(index, line)| {
            format!("- line {}: `{}`", index + 1, line.trim().trim_end_matches('{').trim())
        })
        .collect();
    if entries.is_empty() {
        let lines = count(lines.len(), "line");
        return Reply::text(format!("`{path}` has {lines} and nothing that I know as a heading."));
    }
    Reply::text(format!("## Outline of `{path}`\n\n{}", entries.join("\n")))
}

/// Whether a line begins a definition or a section in one of the usual languages.
fn is_heading(line: &str) -> bool {
    const STARTS: [&str; 20] = [
        "fn ",
        "struct ",
        "enum ",
        "trait ",
        "impl ",
        "impl<",
        "mod ",
        "type ",
        "const ",
        "static ",
        "macro_rules!",
        "def ",
        "class ",
        "function ",
        "interface ",
        "func ",
        "package ",
        "# ",
        "## ",
        "### ",
    ];
    const BEFORE: [&str; 6] =
        ["pub ", "pub(crate) ", "pub(super) ", "export ", "async ", "default "];
    let mut line = line.trim_start();
    while let Some(rest) = BEFORE.iter().find_map(|word| line.strip_prefix(word)) {
        line = rest;
    }
    STARTS.iter().any(|start| line.starts_with(start))
}

fn search(turn: &Turn, pattern: &str, path: Option<&str>) -> Reply {
    let Some(step) = turn.step("grep") else {
        let mut input = json!({"pattern": literal(pattern)});
        if let Some(path) = path {
            input["path"] = json!(path);
        }
        return Reply::call("", "grep", input);
    };
    if step.result.is_error {
        return failed(step);
    }
    let lines: Vec<String> = step.result.content.lines().map(str::to_owned).collect();
    Reply::text(format!("Searching for `{pattern}` gave:\n\n{}", quote(&lines)))
}

/// The pattern that finds this text itself.
fn literal(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

fn files(turn: &Turn, pattern: &str) -> Reply {
    let Some(step) = turn.step("glob") else {
        let pattern = match pattern {
            plain if plain.contains(['*', '/']) => plain.to_owned(),
            name => format!("**/*{name}*"),
        };
        return Reply::call("", "glob", json!({"pattern": pattern}));
    };
    if step.result.is_error {
        return failed(step);
    }
    let lines: Vec<String> = step.result.content.lines().map(str::to_owned).collect();
    Reply::text(format!("Files that match:\n\n{}", quote(&lines)))
}

fn plan(turn: &Turn, items: &[String]) -> Reply {
    if let Some(step) = turn.step("todo") {
        return if step.result.is_error { failed(step) } else { Reply::text("The list is set.") };
    }
    let usual = ["Look at the files", "Make the change", "Run the tests"].map(str::to_owned);
    let items = if items.is_empty() { &usual } else { items };
    let item = |(index, text): (usize, &String)| {
        let state = if index == 0 { "in_progress" } else { "pending" };
        json!({"text": text, "state": state})
    };
    let items: Vec<_> = items.iter().enumerate().map(item).collect();
    Reply::call("I will keep it as a list.", "todo", json!({"items": items}))
}

fn create(turn: &Turn, path: &str, text: &str) -> Reply {
    if let Some(step) = turn.step("write") {
        return done(step, &format!("Wrote `{path}`."));
    }
    let content = if text.is_empty() { String::new() } else { format!("{text}\n") };
    let input = json!({"path": path, "content": content});
    Reply::call(format!("I propose to write `{path}`."), "write", input)
}

fn append(turn: &Turn, path: &str, text: &str) -> Reply {
    if let Some(step) = turn.step("edit") {
        return done(step, &format!("Added the line to `{path}`."));
    }
    if turn.step("write").is_some() {
        return create(turn, path, text);
    }
    let Some(step) = turn.step("read") else {
        return Reply::call(format!("I will read `{path}` first."), "read", json!({"path": path}));
    };
    let lines = file_lines(&step.result.content);
    if step.result.is_error || lines.iter().all(String::is_empty) {
        return create(turn, path, text);
    }
    let old = unique_end(&lines);
    let input = json!({"path": path, "edits": [{"old": old, "new": format!("{old}\n{text}")}]});
    Reply::call(format!("I propose to add a line to `{path}`."), "edit", input)
}

/// The shortest end of the file, in lines, that stands in it once.
fn unique_end(lines: &[String]) -> String {
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |index| index + 1);
    let whole = lines[..last].join("\n");
    (0..last)
        .rev()
        .map(|start| lines[start..last].join("\n"))
        .find(|end| !end.is_empty() && whole.matches(end.as_str()).count() == 1)
        .unwrap_or(whole)
}

fn replace(turn: &Turn, path: &str, old: &str, new: &str) -> Reply {
    if let Some(step) = turn.step("edit") {
        return done(step, &format!("Replaced `{old}` with `{new}` in `{path}`."));
    }
    let Some(step) = turn.step("read") else {
        return Reply::call(format!("I will read `{path}` first."), "read", json!({"path": path}));
    };
    if step.result.is_error {
        return failed(step);
    }
    let text = file_lines(&step.result.content).join("\n");
    match text.matches(old).count() {
        0 => Reply::text(format!("`{old}` is not in what I read of `{path}`.")),
        times => {
            let mut edit = json!({"old": old, "new": new});
            if times > 1 {
                edit["all"] = json!(true);
            }
            let places = count(times, "place");
            let said = format!("I propose to change {places} in `{path}`.");
            Reply::call(said, "edit", json!({"path": path, "edits": [edit]}))
        }
    }
}

fn run(turn: &Turn, command: &str) -> Reply {
    let Some(step) = turn.step("bash") else {
        return Reply::call("", "bash", json!({"command": command}));
    };
    let lines: Vec<String> = step.result.content.lines().map(str::to_owned).collect();
    let how = if step.result.is_error { "did not succeed" } else { "gave" };
    Reply::text(format!("`{command}` {how}:\n\n{}", quote(&lines)))
}

fn done(step: &Step, said: &str) -> Reply {
    if step.result.is_error { failed(step) } else { Reply::text(said) }
}

fn failed(step: &Step) -> Reply {
    let lines: Vec<String> = step.result.content.lines().map(str::to_owned).collect();
    Reply::text(format!("The `{}` call did not succeed:\n\n{}", step.call.name, quote(&lines)))
}

fn argument(step: &Step, name: &str) -> String {
    let value = step.call.input.get(name).and_then(serde_json::Value::as_str);
    value.unwrap_or_default().to_owned()
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The first lines as a code block whose fence no line can end.
fn quote(lines: &[String]) -> String {
    let shown = &lines[..lines.len().min(QUOTE_LINES_MAX)];
    let fence = if shown.iter().any(|line| line.contains("```")) { "`````" } else { "```" };
    let more = match lines.len() - shown.len() {
        0 => String::new(),
        more => format!("… and {} more.\n", count(more, "line")),
    };
    format!("{fence}\n{}\n{fence}\n{more}", shown.join("\n"))
}
