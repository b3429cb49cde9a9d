//! Folders with ignore files honoured, and patterns of file names.
//!
//! Links are never followed, `.git/` is never entered.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::{Walk, WalkBuilder};

use super::path::Workspace;
use super::{Refusal, open};
use crate::approval::action::Target;

/// Entries below a folder in the order of their names, the folder first; hidden ones too.
pub(super) fn folder(real: &Path, depth_max: usize) -> Walk {
    WalkBuilder::new(real)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(Some(depth_max))
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build()
}

/// Checks that a target judged earlier still leads where it did.
pub(super) fn still(workspace: &Workspace, target: &Target) -> Result<(), Refusal> {
    let parent = target.real.parent().unwrap_or(Path::new("/"));
    open::folder(parent, open::Folders::MustExist).map_err(|error| error.explain(&target.shown))?;
    match target.real.symlink_metadata() {
        Ok(meta) if meta.file_type().is_symlink() => {
            Err(open::OpenError::Swapped.explain(&target.shown))
        }
        Ok(_) => Ok(()),
        Err(_) => Err(Refusal::new(format!(
            "{}: there is no such file or folder.{}",
            target.shown,
            super::nearby::hint(workspace, &target.real)
        ))),
    }
}

/// A pattern of file names, relative to the folder that is searched.
pub(super) struct Pattern {
    matcher: GlobMatcher,
    is_of_names: bool,
}

impl Pattern {
    pub(super) fn new(tool: &str, text: &str) -> Result<Self, Refusal> {
        if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            return Err(Refusal::new(format!(
                "{tool}: a pattern is relative to `path` and cannot leave it; give the folder as `path`."
            )));
        }
        let text = text.strip_prefix("./").unwrap_or(text);
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob
            .map_err(|error| Refusal::new(format!("{tool}: the pattern is not a glob: {error}")))?;
        Ok(Self { matcher: glob.compile_matcher(), is_of_names: !text.contains('/') })
    }

    pub(super) fn matches(&self, base: &Path, path: &Path) -> bool {
        let relative = path.strip_prefix(base).unwrap_or(path);
        match path.file_name() {
            Some(name) if self.is_of_names || relative.as_os_str().is_empty() => {
                self.matcher.is_match(name)
            }
            Some(_) | None => self.matcher.is_match(relative),
        }
    }
}
