//! `write`: a whole file. Also what `write` and `edit` share: the guard and the replacing.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::args::Arguments;
use super::list::target;
use super::open::{self, Folders, OpenError, Place, Stamp};
use super::seen::{Knowledge, digest};
use super::text::{BOM, unchangeable};
use super::{Access, Bench, Draft, Line, Refusal, Tool, changing, diff, replace};
use crate::approval::action::{Action, Guard, Prepared, Preview, Target};
use crate::conversation::message::ToolUse;
use crate::conversation::tool_call::ToolOutcome;

/// Bytes of the change since the last reading that a refusal shows.
const NEWS_BYTES_MAX: usize = 4 * 1024;

pub(super) struct Write;

impl Tool for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn description(&self) -> &'static str {
        "Writes a whole file; folders that are missing are made. An existing file must have been read, and not \
         changed since. For a change of some lines use `edit`."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to the workspace, or absolute."},
                "content": {"type": "string", "description": "The whole content."}
            },
            "required": ["path", "content"]
        })
    }

    fn access(&self) -> Access {
        Access::Changes
    }

    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let arguments = Arguments::of(self, call)?;
        let (path, content) = (arguments.text("path")?, arguments.text("content")?);
        let target = bench.workspace.resolve(path)?;
        let before =
            open::bytes_if_any(&target.real).or_else(|error| absent_below(error, &target))?;
        if let Some(bytes) = &before {
            known(bench, &target, bytes, OnNews::Refuse)?;
            whole_text(bytes, &target.shown)?;
        }
        let after = styled(content, before.as_deref());
        Ok(draft(target, before.as_deref(), &after))
    }

    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        _: Line,
    ) -> BoxFuture<'static, ToolOutcome> {
        changing("write", move || {
            let arguments = Arguments::of(&Write, &prepared.call)?;
            let content = arguments.text("content")?;
            let target = target(&prepared)?;
            let now = Now::open(target, prepared.guard.as_ref())?;
            let after = styled(content, now.bytes.as_deref());
            now.replace(&bench, target, &after)
        })
    }
}

/// A missing folder is no obstacle: it will be made.
fn absent_below(error: OpenError, target: &Target) -> Result<Option<Vec<u8>>, Refusal> {
    match error {
        OpenError::Missing => Ok(None),
        other => Err(other.explain(&target.shown)),
    }
}

/// X05: a file in another encoding would be turned to UTF-8 as a whole.
fn whole_text(bytes: &[u8], shown: &str) -> Result<(), Refusal> {
    if let Some(why) = unchangeable(bytes, shown) {
        return Err(Refusal::new(why));
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(Refusal::new(format!(
            "{shown}: is not UTF-8, and `write` would change its encoding; the file is unchanged. Use `edit`, \
             which keeps the other bytes, or a command that converts it."
        ))),
    }
}

/// The content in the style of the file that it replaces: its byte order mark, and CRLF if all its lines have it.
fn styled(content: &str, before: Option<&[u8]>) -> Vec<u8> {
    let Some(before) = before else { return content.as_bytes().to_vec() };
    let newlines = before.split(|byte| *byte == b'\n').count() - 1;
    let pairs = before.windows(2).filter(|pair| pair == b"\r\n").count();
    let mut bytes = Vec::new();
    if before.starts_with(BOM) && !content.starts_with('\u{feff}') {
        bytes.extend_from_slice(BOM);
    }
    if newlines > 0 && newlines == pairs && !content.contains('\r') {
        bytes.extend(content.replace('\n', "\r\n").into_bytes());
    } else {
        bytes.extend_from_slice(content.as_bytes());
    }
    bytes
}

/// What to do about a change that the model has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnNews {
    Refuse,
    /// Refuse, and count the change as seen if the refusal shows all of it: an edit names what it replaces.
    RefuseOnce,
}

/// X07: a file may be changed only if what the model knows of it is what is there.
pub(super) fn known(
    bench: &Bench,
    target: &Target,
    bytes: &[u8],
    on_news: OnNews,
) -> Result<(), Refusal> {
    let shown = &target.shown;
    let digest = digest(bytes);
    match bench.seen.compare(&target.real, &digest) {
        Knowledge::Current => Ok(()),
        Knowledge::Never => Err(Refusal::new(format!(
            "{shown}: exists and was not read in this session; nothing was changed. Read it first."
        ))),
        Knowledge::Outdated(None) => Err(Refusal::new(format!(
            "{shown}: changed since it was last read or written; nothing was changed. Read it again."
        ))),
        Knowledge::Outdated(Some(old)) => {
            let news = diff::unified(shown, &old, bytes, NEWS_BYTES_MAX);
            let next = if news.is_whole && on_news == OnNews::RefuseOnce {
                bench.seen.remember(&target.real, digest, Some(bytes));
                "This is the whole change: adapt the edit to it and try again"
            } else {
                "Read it again before you change it"
            };
            Err(Refusal::new(format!(
                "{shown}: changed since it was last read or written; nothing was changed. {next}.\n{}",
                news.text
            )))
        }
    }
}

pub(super) fn draft(target: Target, before: Option<&[u8]>, after: &[u8]) -> Draft {
    let diff = diff::for_screen(&target.shown, before.unwrap_or_default(), after);
    let guard = before.map_or(Guard::Absent, |bytes| Guard::Content(digest(bytes)));
    Draft { action: Action::Change(target), preview: Preview::Diff(diff.text), guard: Some(guard) }
}

/// A place as it is at the moment of writing, compared with what was prepared.
pub(super) struct Now {
    place: Place,
    stamp: Option<Stamp>,
    pub(super) bytes: Option<Vec<u8>>,
}

impl Now {
    /// Refuses any other content than the prepared one: what runs is what was shown.
    pub(super) fn open(target: &Target, guard: Option<&Guard>) -> Result<Self, Refusal> {
        let explain = |error: OpenError| error.explain(&target.shown);
        let folders = match guard {
            Some(Guard::Absent) => Folders::Create,
            Some(Guard::Content(_)) | None => Folders::MustExist,
        };
        let place = open::place(&target.real, folders).map_err(explain)?;
        let stamp = open::stamp(&place).map_err(explain)?;
        let bytes = if stamp.is_some() {
            let file = open::file_in(&place.folder, &place.name).map_err(explain)?;
            Some(open::bytes(file).map_err(explain)?)
        } else {
            None
        };
        let holds = match (guard, &bytes) {
            (Some(Guard::Absent), None) => true,
            (Some(Guard::Content(wanted)), Some(bytes)) => *wanted == digest(bytes),
            (Some(Guard::Absent | Guard::Content(_)) | None, _) => false,
        };
        if holds {
            return Ok(Self { place, stamp, bytes });
        }
        Err(Refusal::new(format!(
            "{}: changed after the change was prepared; nothing was written. Read it again, and try again.",
            target.shown
        )))
    }

    pub(super) fn replace(
        self,
        bench: &Bench,
        target: &Target,
        after: &[u8],
    ) -> Result<ToolOutcome, Refusal> {
        let shown = &target.shown;
        if self.bytes.as_deref() == Some(after) {
            return Ok(ToolOutcome::ok(format!(
                "{shown}: no change; the file already has this content."
            ))
            .with_summary("no change"));
        }
        replace::replace(&self.place, self.stamp, after).map_err(|error| {
            Refusal::new(format!("{} Nothing was changed.", error.explain(shown).0))
        })?;
        bench.seen.remember(&target.real, digest(after), Some(after));
        let diff = diff::for_screen(shown, self.bytes.as_deref().unwrap_or_default(), after);
        let verb = if self.bytes.is_some() { "changed" } else { "created" };
        let summary = diff.summary();
        Ok(ToolOutcome::ok(format!("{shown}: {verb} ({summary})."))
            .with_summary(summary)
            .with_diff(diff.text))
    }
}
