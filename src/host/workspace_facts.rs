//! Reads what a workspace is: its path, trust, branch, instructions files, mode texts.
//!
//! Invariant: of an untrusted directory nothing but the names of the files that would be read is looked at.
#![expect(clippy::disallowed_methods, reason = "the edge reads files")]

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::app::workspace::{Instructions, Trust, Workspace};
use crate::base::limits::INSTRUCTIONS_BYTES_MAX;
use crate::base::text::sanitize;

/// Instructions files of one directory: the first that is there counts.
const INSTRUCTIONS_NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// What is found of a workspace; `is_trusted` is the person's answer, `user_home` shortens paths.
pub fn read(
    path: &Path,
    is_trusted: bool,
    crystal_home: &Path,
    user_home: Option<&Path>,
) -> Workspace {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folders = folders(&path);
    let holds = steering(&path, &folders);
    let trust = match (is_trusted, holds.is_empty()) {
        (true, _) => Trust::Trusted,
        (false, true) => Trust::NothingToTrust,
        (false, false) => Trust::Untrusted { holds },
    };
    // The home's own instructions are the person's and need no trust.
    let mut instructions: Vec<Instructions> =
        instructions_of(crystal_home, user_home).into_iter().collect();
    let mut own = (None, None);
    if trust == Trust::Trusted {
        instructions.extend(folders.iter().filter_map(|folder| instructions_of(folder, user_home)));
        let text = |name: &str| read_text(&path.join(".crystal").join(name)).map(|(text, _)| text);
        own = (text("plan.md"), text("work.md"));
    }
    Workspace {
        shown: shown(&path, user_home),
        branch: branch(&path),
        system: std::env::consts::OS.to_owned(),
        trust,
        instructions,
        plan_text: own.0,
        work_text: own.1,
        path,
    }
}

/// The folders whose instructions count: from the repository's root down to the workspace.
fn folders(path: &Path) -> Vec<PathBuf> {
    let root = path.ancestors().find(|folder| folder.join(".git").exists());
    let Some(root) = root else { return vec![path.to_owned()] };
    let mut folders: Vec<PathBuf> = path
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(Path::to_owned)
        .collect();
    folders.reverse();
    folders
}

/// Names of the files that trusting this directory would put to use.
fn steering(path: &Path, folders: &[PathBuf]) -> Vec<String> {
    let mut names = Vec::new();
    if path.join(".crystal").is_dir() {
        names.push(".crystal/".to_owned());
    }
    for folder in folders {
        let name = INSTRUCTIONS_NAMES.iter().find(|name| folder.join(name).is_file());
        names.extend(name.map(|name| shown_from(path, &folder.join(name))));
    }
    names
}

fn shown_from(workspace: &Path, file: &Path) -> String {
    file.strip_prefix(workspace).unwrap_or(file).display().to_string()
}

fn instructions_of(folder: &Path, user_home: Option<&Path>) -> Option<Instructions> {
    INSTRUCTIONS_NAMES.iter().find_map(|name| {
        let file = folder.join(name);
        let (text, notes) = read_text(&file)?;
        let path = format!("{}{notes}", shown(&file, user_home));
        Some(Instructions { path, text })
    })
}

/// The text within its limit, with hidden characters made visible (X16), and notes for the person.
fn read_text(file: &Path) -> Option<(String, String)> {
    if !file.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(INSTRUCTIONS_BYTES_MAX).unwrap_or(u64::MAX);
    std::fs::File::open(file).ok()?.take(most + 1).read_to_end(&mut bytes).ok()?;
    let mut notes = String::new();
    if bytes.len() > INSTRUCTIONS_BYTES_MAX {
        bytes.truncate(INSTRUCTIONS_BYTES_MAX);
        notes.push_str(" (cut at 64 KB)");
    }
    let lossy = String::from_utf8_lossy(&bytes);
    if matches!(lossy, std::borrow::Cow::Owned(_)) {
        notes.push_str(" (has bytes that are not UTF-8)");
    }
    let clean = sanitize::clean(&lossy);
    if clean.len() != lossy.len() {
        notes.push_str(" (has hidden or control characters, made visible)");
    }
    Some((clean.into_owned(), notes))
}

fn shown(path: &Path, user_home: Option<&Path>) -> String {
    match user_home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// The branch that git has checked out, or the first letters of a detached commit.
fn branch(path: &Path) -> Option<String> {
    let git = path.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let folder = if git.is_dir() {
        git
    } else {
        // A worktree: the file names the real folder.
        let text = std::fs::read_to_string(&git).ok()?;
        git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
    };
    let head = std::fs::read_to_string(folder.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => Some(branch.to_owned()),
        None => Some(head.chars().take(8).collect()),
    }
}
