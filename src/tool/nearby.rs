//! Files with a name like the one that is missing.

use std::path::Path;

use super::path::Workspace;
use super::walk;

/// Names that the message offers.
const NAMES_MAX: usize = 5;

/// Entries of the workspace looked at for the same name elsewhere.
const ENTRIES_MAX: usize = 20_000;

/// Says where a missing file may be, as the end of a sentence; empty if nothing is like it.
pub(super) fn hint(workspace: &Workspace, real: &Path) -> String {
    let wanted = real.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut found: Vec<(usize, String)> = Vec::new();
    if let Some(parent) = real.parent() {
        for entry in walk::folder(parent, 1).flatten().take(ENTRIES_MAX).skip(1) {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            let distance = strsim::damerau_levenshtein(&name, &wanted);
            let is_part = wanted.len() > 2 && (name.contains(&wanted) || wanted.contains(&name));
            if is_part || distance <= (wanted.chars().count() / 3).max(1) {
                found.push((distance, workspace.shown(entry.path())));
            }
        }
    }
    let below = walk::folder(workspace.root(), usize::MAX).flatten().take(ENTRIES_MAX);
    for entry in below {
        if entry.file_name().to_string_lossy().to_lowercase() == wanted {
            found.push((0, workspace.shown(entry.path())));
        }
    }
    found.sort();
    found.dedup();
    found.truncate(NAMES_MAX);
    let names: Vec<String> = found.into_iter().map(|(_, name)| name).collect();
    if names.is_empty() {
        " Use `glob` or `list` to find it.".to_owned()
    } else {
        format!(" Near it: {}.", names.join(", "))
    }
}
