//! `edit`: exact replacements in one file.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::args::Arguments;
use super::list::target;
use super::open::{self, OpenError};
use super::splice::{Change, apply};
use super::text::unchangeable;
use super::write::{Now, OnNews, draft, known};
use super::{Access, Bench, Draft, Line, Refusal, Tool, changing, nearby};
use crate::approval::action::Prepared;
use crate::conversation::message::ToolUse;
use crate::conversation::tool_call::ToolOutcome;

pub(super) struct Edit;

impl Tool for Edit {
    fn name(&self) -> &'static str {
        "edit"
    }

    fn description(&self) -> &'static str {
        "Replaces text in a file that was read. Each edit's `old` must be exactly in the file, white space \
         included, and only once, unless `all` is set; never include the line numbers that `read` shows. Edits \
         apply in order, each to the outcome of the one before; if one fails, none is made. Line endings and \
         encoding are kept: give plain newlines."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to the workspace, or absolute."},
                "edits": {"type": "array", "minItems": 1, "items": {
                    "type": "object",
                    "properties": {
                        "old": {"type": "string", "description": "The exact text to replace."},
                        "new": {"type": "string", "description": "What to put in its place."},
                        "all": {"type": "boolean", "description": "Replace every occurrence."}
                    },
                    "required": ["old", "new"]
                }}
            },
            "required": ["path", "edits"]
        })
    }

    fn access(&self) -> Access {
        Access::Changes
    }

    fn prepare(&self, bench: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let arguments = Arguments::of(self, call)?;
        let changes = changes(&arguments)?;
        let target = bench.workspace.resolve(arguments.text("path")?)?;
        let shown = &target.shown;
        let file = open::file(&target.real).map_err(|error| match error {
            OpenError::Missing => Refusal::new(format!(
                "{shown}: there is no such file; `write` makes a new one.{}",
                nearby::hint(&bench.workspace, &target.real)
            )),
            other => other.explain(shown),
        })?;
        let before = open::bytes(file).map_err(|error| error.explain(shown))?;
        if let Some(why) = unchangeable(&before, shown) {
            return Err(Refusal::new(why));
        }
        known(bench, &target, &before, OnNews::RefuseOnce)?;
        let after = changed(&before, &changes, shown)?;
        Ok(draft(target, Some(&before), &after))
    }

    fn run(
        &self,
        bench: Arc<Bench>,
        prepared: Prepared,
        _: Line,
    ) -> BoxFuture<'static, ToolOutcome> {
        changing("edit", move || {
            let changes = changes(&Arguments::of(&Edit, &prepared.call)?)?;
            let target = target(&prepared)?;
            let now = Now::open(target, prepared.guard.as_ref())?;
            let after = changed(now.bytes.as_deref().unwrap_or_default(), &changes, &target.shown)?;
            now.replace(&bench, target, &after)
        })
    }
}

fn changes(arguments: &Arguments<'_>) -> Result<Vec<Change>, Refusal> {
    let edits = arguments.list("edits", "{old, new, all?} objects")?;
    if edits.is_empty() {
        return Err(arguments.wrong("edits", "a list with at least one {old, new}", &json!([])));
    }
    let change = |(index, value)| {
        let edit = arguments.inner(value, &format!("edits[{index}]"))?;
        Ok(Change {
            old: edit.text("old")?.to_owned(),
            new: edit.text("new")?.to_owned(),
            all: edit.flag("all")?,
        })
    };
    edits.iter().enumerate().map(change).collect()
}

fn changed(before: &[u8], changes: &[Change], shown: &str) -> Result<Vec<u8>, Refusal> {
    apply(before, changes)
        .map_err(|why| Refusal::new(format!("{shown}: nothing was changed: {why}.")))
}
