//! `grep`: lines of files by a regular expression.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::args::Arguments;
use super::list::{reads, target};
use super::walk::{self, Pattern};
use super::{Access, Bench, Draft, Line, Refusal, Tool, open, reading};
use crate::approval::action::{Prepared, Target};
use crate::base::limits;
use crate::base::text::cut;
use crate::conversation::message::ToolUse;
use crate::conversation::tool_call::ToolOutcome;

/// Matches of one answer (spec, tools-safety).
const MATCHES_MAX: usize = 500;

const CONTEXT_LINES_MAX: u64 = 20;

/// Characters of a shown line; minified files have enormous ones.
const LINE_CHARS_MAX: usize = 400;

/// Bytes of a line that the search holds in memory; a file with longer ones is skipped.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) struct Grep;

/// What to look for.
struct Query {
    matcher: RegexMatcher,
    pattern: Option<Pattern>,
    context: usize,
}

impl Tool for Grep {
    fn name(&self) -> &'static str {
        "grep"
    }

    fn description(&self) -> &'static str {
        "Searches file contents, line by line, with a regular expression in Rust's syntax (`\\(` for a literal \
         parenthesis). Answers `path:line:text`, and `path-line-text` for context. At most 500 matches and 50 KB. \
         Binary files and files that ignore files name are skipped; a file named as `path` is always searched."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Regular expression."},
                "path": {"type": "string", "description": "File or folder; default is the workspace."},
                "glob": {"type": "string", "description": "Only files of this name pattern, such as `*.rs`."},
                "context": {"type": "integer", "minimum": 0, "maximum": CONTEXT_LINES_MAX,
                    "description": "Lines around each match; default 0."},
                "ignore_case": {"type": "boolean"}
            },
            "required": ["pattern"]
        })
    }

    fn access(&self) -> Access {
        Access::Reads
    }

    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let arguments = Arguments::of(self, call)?;
        query(&arguments)?;
        reads(bench, &arguments)
    }

    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        line: Line,
    ) -> BoxFuture<'static, ToolOutcome> {
        reading("grep", line.stop, move |stop| {
            let query = query(&Arguments::of(&Grep, &prepared.call)?)?;
            grep(&bench, target(&prepared)?, &query, stop)
        })
    }
}

fn query(arguments: &Arguments<'_>) -> Result<Query, Refusal> {
    let text = arguments.text("pattern")?;
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(arguments.flag("ignore_case")?).line_terminator(Some(b'\n'));
    let matcher = builder.build(text).map_err(|error| {
        Refusal::new(format!(
            "grep: the pattern cannot be used: {error}\nEscape characters that are meant literally, such as \
             `\\(`, `\\[`, `\\{{`; a pattern matches within one line."
        ))
    })?;
    let pattern =
        arguments.text_if_any("glob")?.map(|text| Pattern::new("grep", text)).transpose()?;
    let context = arguments.count_if_any("context", 0..=CONTEXT_LINES_MAX)?.unwrap_or(0) as usize;
    Ok(Query { matcher, pattern, context })
}

fn grep(
    bench: &Bench,
    target: &Target,
    query: &Query,
    stop: &CancellationToken,
) -> Result<ToolOutcome, Refusal> {
    walk::still(&bench.workspace, target)?;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .memory_map(MmapChoice::never())
        .heap_limit(Some(LINE_BYTES_MAX))
        .before_context(query.context)
        .after_context(query.context)
        .build();
    let mut found = Found::new(stop);
    let mut files = 0;
    for entry in walk::folder(&target.real, usize::MAX).flatten() {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let fits = query.pattern.as_ref().is_none_or(|it| it.matches(&target.real, entry.path()));
        if !is_file || !fits {
            continue;
        }
        files += 1;
        search(bench, &mut searcher, &query.matcher, entry.path(), &mut found);
        if found.is_full || stop.is_cancelled() {
            break;
        }
    }
    if stop.is_cancelled() {
        return Ok(ToolOutcome::interrupted("Stopped before its end."));
    }
    Ok(found.outcome(files, &target.shown))
}

fn search(
    bench: &Bench,
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    path: &Path,
    found: &mut Found<'_>,
) {
    // Through the same door as every other file: no link is followed, whatever happened since the walk.
    let Ok(file) = open::file(path) else {
        found.unread += 1;
        return;
    };
    found.begin(bench.workspace.shown(path));
    let before = found.matches;
    if searcher.search_file(matcher, &file, &mut *found).is_err() {
        found.unread += 1;
    }
    found.files += usize::from(found.matches > before);
}

/// The answer as it grows.
struct Found<'a> {
    text: String,
    name: String,
    matches: usize,
    files: usize,
    unread: usize,
    is_full: bool,
    stop: &'a CancellationToken,
}

impl<'a> Found<'a> {
    fn new(stop: &'a CancellationToken) -> Self {
        Self {
            text: String::new(),
            name: String::new(),
            matches: 0,
            files: 0,
            unread: 0,
            is_full: false,
            stop,
        }
    }

    fn begin(&mut self, name: String) {
        self.name = name;
    }

    /// Returns whether there is room for more.
    fn add(&mut self, sign: char, number: Option<u64>, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let cut = cut::chars(line, LINE_CHARS_MAX);
        let mark = if cut.len() < line.len() { " […]" } else { "" };
        let entry = format!("{}{sign}{}{sign}{cut}{mark}\n", self.name, number.unwrap_or(0));
        if self.text.len() + entry.len() > limits::RESULT_BYTES_MAX - 1_000 {
            self.is_full = true;
            return false;
        }
        self.text.push_str(&entry);
        true
    }

    fn outcome(mut self, searched: usize, shown: &str) -> ToolOutcome {
        if self.matches == 0 {
            self.text = format!(
                "No match below {shown} ({searched} files searched; binary files and files that ignore files \
                 name are not)."
            );
        }
        if self.is_full {
            let _ = write!(
                self.text,
                "[stopped at {} matches; there may be more: narrow the pattern, `path` or `glob`]",
                self.matches
            );
        }
        if self.unread > 0 {
            let _ = write!(self.text, "\n[{} files could not be searched]", self.unread);
        }
        let summary = format!(
            "{} in {}",
            super::text::counted(self.matches as u64, "match", "matches"),
            super::text::counted(self.files as u64, "file", "files")
        );
        ToolOutcome::ok(self.text).with_summary(summary)
    }
}

impl Sink for &mut Found<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.matches == MATCHES_MAX {
            self.is_full = true;
            return Ok(false);
        }
        self.matches += 1;
        Ok(self.add(':', found.line_number(), found.bytes()) && !self.stop.is_cancelled())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.add('-', context.line_number(), context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.text.push_str("--\n");
        Ok(true)
    }
}
