//! Reads what a workspace is: its path, trust, branch, instructions files, mode texts.
//!
//! Invariant: of an untrusted directory nothing is read but the names of the files that trust would put to use
//! and git's own `HEAD`; no file is read beyond a limit, and none that is not a regular file.
#![expect(clippy::disallowed_methods, reason = "the edge reads files")]

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::app::workspace::{Instructions, Trust, Workspace};
use crate::base::limits::INSTRUCTIONS_BYTES_MAX;
use crate::base::text::sanitize;

/// Instructions files of one directory: the first that is there counts.
const INSTRUCTIONS_NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Bytes of git's `HEAD` and of a worktree's `.git` file that are looked at: both hold one line.
const GIT_FILE_BYTES_MAX: usize = 4 * 1024;

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
    let mut notes: Vec<String> = instructions.iter().filter_map(note).collect();
    if trust == Trust::Trusted {
        let files = folders.iter().filter_map(|folder| instructions_of(folder, user_home));
        let files: Vec<Instructions> = files.collect();
        notes.extend(files.iter().filter_map(note));
        instructions.extend(files);
        let mut text = |name: &str| {
            let (text, remarks) = read_text(&path.join(".crystal").join(name))?;
            if !remarks.is_empty() {
                notes.push(format!(".crystal/{name}{remarks}"));
            }
            Some(text)
        };
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
        notes,
        path,
    }
}

/// X16: what was cut or made visible in an instructions file is said, not only done.
fn note(file: &Instructions) -> Option<String> {
    file.path.contains(" (").then(|| file.path.clone())
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
    let (mut bytes, is_whole) = read_regular(file, INSTRUCTIONS_BYTES_MAX)?;
    let mut notes = String::new();
    if !is_whole {
        notes.push_str(" (cut at 64 KB)");
        // A character that the limit cuts is no bad byte of the file.
        if let Err(error) = std::str::from_utf8(&bytes)
            && error.error_len().is_none()
        {
            bytes.truncate(error.valid_up_to());
        }
    }
    let lossy = String::from_utf8_lossy(&bytes);
    if matches!(lossy, std::borrow::Cow::Owned(_)) {
        notes.push_str(" (has bytes that are not UTF-8)");
    }
    let text = lossy.replace("\r\n", "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if !sanitize::has_hidden(text) {
        return Some((text.to_owned(), notes));
    }
    notes.push_str(" (has hidden or control characters, made visible)");
    Some((sanitize::exact(text), notes))
}

/// The first `bytes_max` bytes of a regular file, and whether they are all of it: a pipe or a device would
/// hold the start up, or never end.
fn read_regular(file: &Path, bytes_max: usize) -> Option<(Vec<u8>, bool)> {
    if !file.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    std::fs::File::open(file).ok()?.take(most + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = bytes.len() <= bytes_max;
    bytes.truncate(bytes_max);
    Some((bytes, is_whole))
}

fn read_line(file: &Path) -> Option<String> {
    let (bytes, _) = read_regular(file, GIT_FILE_BYTES_MAX)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
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
        let text = read_line(&git)?;
        git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
    };
    let head = read_line(&folder.join("HEAD"))?;
    let head = head.trim();
    match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => Some(branch.to_owned()),
        None => Some(head.chars().take(8).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder with all that could steer, and a home without anything.
    fn steered() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("home")).unwrap();
        let ws = temp.path().join("ws");
        fs::create_dir_all(ws.join(".crystal")).unwrap();
        fs::write(ws.join("AGENTS.md"), "CANARY agents").unwrap();
        fs::write(ws.join("CLAUDE.md"), "CANARY claude").unwrap();
        fs::write(ws.join(".crystal/plan.md"), "CANARY plan").unwrap();
        fs::write(ws.join(".crystal/work.md"), "CANARY work").unwrap();
        temp
    }

    fn facts(temp: &tempfile::TempDir, is_trusted: bool) -> Workspace {
        read(&temp.path().join("ws"), is_trusted, &temp.path().join("home"), None)
    }

    // X13: before yes no byte of these files is part of anything.
    #[test]
    fn an_untrusted_folder_gives_names_only() {
        let temp = steered();
        let before = facts(&temp, false);
        assert!(!format!("{before:?}").contains("CANARY"), "{before:?}");
        let holds = vec![".crystal/".to_owned(), "AGENTS.md".to_owned()];
        assert_eq!(before.trust, Trust::Untrusted { holds });
        let after = format!("{:?}", facts(&temp, true));
        for wanted in ["CANARY agents", "CANARY plan", "CANARY work"] {
            assert!(after.contains(wanted), "{after}");
        }
        assert!(!after.contains("CANARY claude"), "{after}");
    }

    // X16
    #[test]
    fn hidden_characters_and_bad_bytes_of_instructions_are_seen_and_said() {
        for (bytes, text, note) in [
            (&b"a\tb\r\nc \xe2\x9a\xa0\xef\xb8\x8f\n"[..], "a\tb\nc \u{26a0}\u{fe0f}\n", None),
            (b"\xef\xbb\xbfa", "a", None),
            ("run \u{202e}x".as_bytes(), "run ‹U+202E›x", Some("hidden")),
            ("a\u{e0041}\u{200b}\u{ad}b".as_bytes(), "a‹U+E0041›‹U+200B›‹U+00AD›b", Some("hidden")),
            (b"a\xffb", "a\u{fffd}b", Some("not UTF-8")),
        ] {
            let temp = steered();
            fs::write(temp.path().join("ws/AGENTS.md"), bytes).unwrap();
            let found = facts(&temp, true);
            assert_eq!(found.instructions[0].text, text);
            let said = found.notes.concat();
            assert!(note.map_or(said.is_empty(), |note| said.contains(note)), "{said}");
        }
        let temp = steered();
        fs::write(temp.path().join("ws/AGENTS.md"), "漢".repeat(2_000_000)).unwrap();
        let found = facts(&temp, true);
        assert!(found.instructions[0].text.len() <= INSTRUCTIONS_BYTES_MAX);
        assert_eq!(found.notes.len(), 1);
        assert!(found.notes[0].ends_with("AGENTS.md (cut at 64 KB)"), "{:?}", found.notes);
    }

    #[test]
    fn what_is_no_regular_file_is_not_read() {
        let temp = steered();
        let ws = temp.path().join("ws");
        fs::create_dir(ws.join(".git")).unwrap();
        for name in ["AGENTS.md", ".git/HEAD"] {
            let _ = fs::remove_file(ws.join(name));
            std::os::unix::fs::symlink("/dev/zero", ws.join(name)).unwrap();
        }
        let found = facts(&temp, true);
        assert_eq!((found.branch, found.instructions[0].text.as_str()), (None, "CANARY claude"));
    }
}
