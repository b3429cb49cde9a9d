//! `glob`: files by the pattern of their names, newest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::args::Arguments;
use super::list::{reads, target};
use super::walk::{self, Pattern};
use super::{Access, Bench, Draft, Line, Refusal, Tool, reading};
use crate::approval::action::{Prepared, Target};
use crate::conversation::message::ToolUse;
use crate::conversation::tool_call::ToolOutcome;

/// Files of one answer (spec, tools-safety).
const FILES_MAX: usize = 1_000;

pub(super) struct Glob;

impl Tool for Glob {
    fn name(&self) -> &'static str {
        "glob"
    }

    fn description(&self) -> &'static str {
        "Finds files by name, newest first, at most 1,000. The pattern is relative to `path`: `*` stays within a \
         folder, `**` crosses folders, `{a,b}` and `[ab]` work; a pattern without `/`, such as `*.rs`, finds the \
         name at any depth. Files that ignore files name are left out."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Such as `src/**/*.rs`."},
                "path": {"type": "string", "description": "Folder to search; default is the workspace."}
            },
            "required": ["pattern"]
        })
    }

    fn access(&self) -> Access {
        Access::Reads
    }

    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let arguments = Arguments::of(self, call)?;
        Pattern::new("glob", arguments.text("pattern")?)?;
        reads(bench, &arguments)
    }

    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        line: Line,
    ) -> BoxFuture<'static, ToolOutcome> {
        reading("glob", line.stop, move |stop| {
            let arguments = Arguments::of(&Glob, &prepared.call)?;
            let pattern = Pattern::new("glob", arguments.text("pattern")?)?;
            glob(&bench, target(&prepared)?, &pattern, stop)
        })
    }
}

fn glob(
    bench: &Bench,
    target: &Target,
    pattern: &Pattern,
    stop: &CancellationToken,
) -> Result<ToolOutcome, Refusal> {
    walk::still(&bench.workspace, target)?;
    // The oldest kept one is on top, so that memory is bounded by what is shown.
    let mut newest: BinaryHeap<Reverse<(SystemTime, Reverse<PathBuf>)>> = BinaryHeap::new();
    let mut count = 0_usize;
    for entry in walk::folder(&target.real, usize::MAX).flatten() {
        if stop.is_cancelled() {
            return Ok(ToolOutcome::interrupted("Stopped before its end."));
        }
        let is_dir = entry.file_type().is_none_or(|kind| kind.is_dir());
        if is_dir || !pattern.matches(&target.real, entry.path()) {
            continue;
        }
        count += 1;
        let modified = entry.metadata().ok().and_then(|meta| meta.modified().ok());
        let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
        newest.push(Reverse((modified, Reverse(entry.into_path()))));
        if newest.len() > FILES_MAX {
            newest.pop();
        }
    }
    let mut text = String::new();
    for Reverse((_, Reverse(path))) in newest.into_sorted_vec() {
        let _ = writeln!(text, "{}", bench.workspace.shown(&path));
    }
    if count == 0 {
        text = format!(
            "No file below {} matches. Files that ignore files name are not searched; `list` shows what is there.",
            target.shown
        );
    } else if count > FILES_MAX {
        let _ = writeln!(
            text,
            "[the {FILES_MAX} newest of {count}; a narrower pattern shows the others]"
        );
    }
    Ok(ToolOutcome::ok(text).with_summary(super::text::counted(count as u64, "file", "files")))
}
