//! `list`: what is in a folder.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::args::Arguments;
use super::path::{quoted, shown};
use super::{Access, Bench, Draft, Line, Refusal, Tool, reading, walk};
use crate::approval::action::{Action, Prepared, Preview, Target};
use crate::base::limits;
use crate::conversation::message::ToolUse;
use crate::conversation::tool_call::ToolOutcome;

/// Levels below the folder if the call does not say.
const DEPTH: u64 = 2;

const DEPTH_MAX: u64 = 20;

/// Entries of one answer; deeper folders can be listed by themselves.
const ENTRIES_MAX: usize = 1_000;

pub(super) struct List;

impl Tool for List {
    fn name(&self) -> &'static str {
        "list"
    }

    fn description(&self) -> &'static str {
        "Lists a folder as an indented tree: folders end in `/`, files have their size, links show where they \
         lead. Files that ignore files name are left out. At most 1,000 entries."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The folder; default is the workspace."},
                "depth": {"type": "integer", "minimum": 1, "maximum": DEPTH_MAX,
                    "description": "Levels to show; default 2."}
            }
        })
    }

    fn access(&self) -> Access {
        Access::Reads
    }

    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let arguments = Arguments::of(self, call)?;
        depth(&arguments)?;
        reads(bench, &arguments)
    }

    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        line: Line,
    ) -> BoxFuture<'static, ToolOutcome> {
        reading("list", line.stop, move |stop| {
            let depth = depth(&Arguments::of(&List, &prepared.call)?)?;
            list(&bench, target(&prepared)?, depth, stop)
        })
    }
}

/// The draft of a tool that reads below an optional `path`.
pub(super) fn reads(bench: &Bench, arguments: &Arguments<'_>) -> Result<Draft, Refusal> {
    let path = arguments.text_if_any("path")?.filter(|path| !path.is_empty()).unwrap_or(".");
    let target = bench.workspace.resolve(path)?;
    let preview = Preview::Path(target.shown.clone());
    Ok(Draft { action: Action::Read(target), preview, guard: None })
}

/// The target that was prepared.
pub(super) fn target(prepared: &Prepared) -> Result<&Target, Refusal> {
    match &prepared.action {
        Action::Read(target) | Action::Change(target) => Ok(target),
        Action::Run { .. } | Action::Session => Err(Refusal::new(
            "The call was prepared for something else; nothing ran. Call it again.",
        )),
    }
}

fn depth(arguments: &Arguments<'_>) -> Result<usize, Refusal> {
    Ok(arguments.count_if_any("depth", 1..=DEPTH_MAX)?.unwrap_or(DEPTH) as usize)
}

fn list(
    bench: &Bench,
    target: &Target,
    depth: usize,
    stop: &CancellationToken,
) -> Result<ToolOutcome, Refusal> {
    walk::still(&bench.workspace, target)?;
    let root = std::fs::symlink_metadata(&target.real);
    if root.is_ok_and(|meta| !meta.is_dir()) {
        return Err(Refusal::new(format!(
            "{}: is a file, not a folder; use `read` for it.",
            target.shown
        )));
    }
    let mut text = format!("{}/\n", target.shown.trim_end_matches('/'));
    let mut count = 0;
    let mut unread = 0;
    for entry in walk::folder(&target.real, depth) {
        let entry = match entry {
            Ok(entry) if entry.depth() == 0 => continue,
            Ok(entry) => entry,
            Err(_) => {
                unread += 1;
                continue;
            }
        };
        if stop.is_cancelled() {
            return Ok(ToolOutcome::interrupted("Stopped before its end."));
        }
        if count == ENTRIES_MAX || text.len() > limits::RESULT_BYTES_MAX - 1_000 {
            let _ =
                writeln!(text, "[… more entries are left out; list a deeper folder or use `glob`]");
            break;
        }
        count += 1;
        let _ = writeln!(text, "{}{}", "  ".repeat(entry.depth()), named(&entry));
    }
    if count == 0 {
        text.push_str("(nothing that ignore files do not name)\n");
    }
    if unread > 0 {
        let _ = writeln!(text, "[{unread} folders could not be read]");
    }
    Ok(ToolOutcome::ok(text).with_summary(super::text::counted(count as u64, "entry", "entries")))
}

fn named(entry: &ignore::DirEntry) -> String {
    let name = shown(std::path::Path::new(entry.file_name()));
    match entry.file_type() {
        Some(kind) if kind.is_dir() => format!("{name}/"),
        Some(kind) if kind.is_symlink() => {
            let link = entry.path().read_link().unwrap_or_default();
            format!("{name} -> {}", quoted(&link.to_string_lossy()))
        }
        Some(kind) if kind.is_file() => {
            let bytes = entry.metadata().map_or(0, |meta| meta.len());
            format!("{name} ({})", size(bytes))
        }
        Some(_) | None => format!("{name} (not a file)"),
    }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1_024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}
