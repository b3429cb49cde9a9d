//! Where a path of a call leads, before anything is opened.
//!
//! Invariants: `Target::real` has no link, no `.` and no `..` in it; the place is judged from the real path
//! *and* from every link passed on the way. Not here: opening (`open`, which follows no link at all).

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::Refusal;
use crate::approval::action::{Place, Target};

/// Links followed in one path; the limit of Linux.
const LINKS_MAX: usize = 40;

/// The folder that the session works in.
pub(super) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace itself may be reached through a link.
    pub(super) fn new(path: &Path) -> Self {
        Self { root: path.canonicalize().unwrap_or_else(|_| path.to_path_buf()) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Follows `text`, relative to the workspace or absolute, to where it leads.
    pub(super) fn resolve(&self, text: &str) -> Result<Target, Refusal> {
        if text.is_empty() {
            return Err(Refusal::new(
                "The path is empty; name a file or a folder (`.` is the workspace).",
            ));
        }
        if text.contains('\0') {
            return Err(Refusal::new("The path holds a NUL byte; no file can have this name."));
        }
        let (real, passed_protected) = self.follow(&self.root.join(text))?;
        let place = match real.strip_prefix(&self.root) {
            Err(_) => Place::Outside,
            Ok(_) if passed_protected => Place::Protected,
            Ok(_) => Place::Workspace,
        };
        Ok(Target { shown: self.shown(&real), real, place })
    }

    /// The path as a person should read it.
    pub(super) fn shown(&self, real: &Path) -> String {
        let path = match real.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
            Ok(inside) => inside,
            Err(_) => real,
        };
        shown(path)
    }

    fn follow(&self, path: &Path) -> Result<(PathBuf, bool), Refusal> {
        let mut real = PathBuf::from("/");
        let mut pending = reversed(path);
        let mut links = 0;
        let mut passed_protected = false;
        while let Some(step) = pending.pop() {
            match step {
                Step::Root => real = PathBuf::from("/"),
                Step::Up => {
                    real.pop();
                }
                Step::Into(name) => {
                    let next = real.join(&name);
                    passed_protected |= self.is_protected(&next);
                    let is_link =
                        next.symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink());
                    match next.read_link() {
                        Ok(link) if is_link => {
                            links += 1;
                            if links > LINKS_MAX {
                                let shown = shown(path);
                                return Err(Refusal::new(format!(
                                    "{shown}: its links lead in a circle; name the real path."
                                )));
                            }
                            pending.extend(reversed(&link));
                        }
                        Ok(_) | Err(_) => real = next,
                    }
                }
            }
        }
        Ok((real, passed_protected))
    }

    /// `.git/`, `.crystal/` and instructions files, in any spelling that a file system may take for them.
    fn is_protected(&self, path: &Path) -> bool {
        let Ok(inside) = path.strip_prefix(&self.root) else { return false };
        let is_one_of = |name: &std::ffi::OsStr, known: [&str; 2]| {
            known.iter().any(|known| name.eq_ignore_ascii_case(known))
        };
        inside.iter().any(|name| is_one_of(name, [".git", ".crystal"]))
            || inside.file_name().is_some_and(|name| is_one_of(name, ["AGENTS.md", "CLAUDE.md"]))
    }
}

enum Step {
    Root,
    Up,
    Into(OsString),
}

/// The steps of a path, last first, to be popped.
fn reversed(path: &Path) -> Vec<Step> {
    let steps = path.components().rev().filter_map(|component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Into(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    steps.collect()
}

/// A file name or path for people: as it is, or quoted if it holds anything that could look like more than
/// a name (X16).
pub(super) fn shown(path: &Path) -> String {
    match path.to_str() {
        Some(text) => quoted(text),
        None => quoted_bytes(path.as_os_str().as_bytes()),
    }
}

/// `text`, or a quoted form of it if it has characters that are not seen.
pub(super) fn quoted(text: &str) -> String {
    if !text.chars().any(is_hidden) {
        return text.to_owned();
    }
    let mut shown = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            c if is_hidden(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", c as u32);
            }
            c => shown.push(c),
        }
    }
    shown.push('"');
    shown
}

fn quoted_bytes(bytes: &[u8]) -> String {
    let mut shown = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        let valid = quoted(chunk.valid());
        shown.push_str(valid.trim_matches('"'));
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown.push('"');
    shown
}

/// Controls, and characters that take no room or turn the direction of text.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    // X10
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the folders")]
    fn a_path_is_judged_by_where_it_leads() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (root, outside) = (base.join("ws"), base.join("outside"));
        for dir in [&root.join("sub"), &outside, &root.join(".git")] {
            std::fs::create_dir_all(dir).unwrap();
        }
        symlink(&outside, root.join("dir")).unwrap();
        symlink(outside.join("v.txt"), root.join("notes.md")).unwrap();
        symlink(outside.join("new.txt"), root.join("dangling")).unwrap();
        symlink("dangling", root.join("chain")).unwrap();
        symlink("sub", root.join("inside")).unwrap();
        symlink("inner.md", root.join("AGENTS.md")).unwrap();
        symlink("../.git", root.join("sub/repo")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink(&root, base.join("alias")).unwrap();
        let workspace = Workspace::new(&base.join("alias"));
        let out = |name: &str| format!("{}/{name}", outside.display());
        for (text, place, shown) in [
            (".", Place::Workspace, ".".to_owned()),
            ("sub/a.rs", Place::Workspace, "sub/a.rs".to_owned()),
            ("inside/a.rs", Place::Workspace, "sub/a.rs".to_owned()),
            ("sub/../b", Place::Workspace, "b".to_owned()),
            ("../alias/b", Place::Workspace, "b".to_owned()),
            (root.join("c").to_str().unwrap(), Place::Workspace, "c".to_owned()),
            (base.join("alias/c").to_str().unwrap(), Place::Workspace, "c".to_owned()),
            ("dir/x", Place::Outside, out("x")),
            ("dir/../x", Place::Outside, format!("{}/x", base.display())),
            ("notes.md", Place::Outside, out("v.txt")),
            ("dangling", Place::Outside, out("new.txt")),
            ("chain", Place::Outside, out("new.txt")),
            ("sub/../../x", Place::Outside, format!("{}/x", base.display())),
            ("../ws2/x", Place::Outside, format!("{}/ws2/x", base.display())),
            ("/etc/passwd", Place::Outside, "/etc/passwd".to_owned()),
            ("~/x", Place::Workspace, "~/x".to_owned()),
            (".git/config", Place::Protected, ".git/config".to_owned()),
            (".GIT/config", Place::Protected, ".GIT/config".to_owned()),
            ("sub/repo/config", Place::Protected, ".git/config".to_owned()),
            ("sub/.crystal/x", Place::Protected, "sub/.crystal/x".to_owned()),
            ("sub/claude.md", Place::Protected, "sub/claude.md".to_owned()),
            ("AGENTS.md", Place::Protected, "inner.md".to_owned()),
            (".gitignore", Place::Workspace, ".gitignore".to_owned()),
        ] {
            let target = workspace.resolve(text).unwrap();
            assert_eq!((target.place, target.shown), (place, shown), "{text}");
        }
        assert!(workspace.resolve("loop").is_err());
        assert!(workspace.resolve("").is_err());
        assert!(workspace.resolve("a\0b").is_err());
    }

    // X16
    #[test]
    fn a_name_cannot_look_like_more_than_a_name() {
        for (name, wanted) in [
            ("x; touch P", "x; touch P"),
            ("a\napprove all", "\"a\\napprove all\""),
            ("\u{202e}gpj.exe", "\"\\u{202e}gpj.exe\""),
            ("a\u{1b}[2J", "\"a\\u{1b}[2J\""),
            ("漢字", "漢字"),
        ] {
            assert_eq!(shown(Path::new(name)), wanted);
        }
        let bytes = std::ffi::OsStr::from_bytes(b"a\xff");
        assert_eq!(shown(Path::new(bytes)), "\"a\\xff\"");
    }
}
