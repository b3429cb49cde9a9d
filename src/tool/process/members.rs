//! Which processes belong to a command, and signals to them.
//!
//! On Linux `/proc` tells: those of its session, and those that carry its mark in their environment even
//! after they began a session of their own. Elsewhere only the process group is known.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process_group};

/// The shell that began the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    Running,
    /// It was waited for: its number is free unless its session has members.
    Ended,
}

/// Whether any process of the command is alive.
pub(super) fn any(session: i32, shell: Shell, mark: &str) -> bool {
    #[cfg(target_os = "linux")]
    if let Some(found) = linux::list(session, shell, mark) {
        return !found.is_empty();
    }
    let _ = (mark, shell);
    Pid::from_raw(session).is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
}

/// Sends a signal to every process of the command.
pub(super) fn signal(session: i32, shell: Shell, mark: &str, signal: Signal) {
    #[cfg(target_os = "linux")]
    if let Some(found) = linux::list(session, shell, mark) {
        // One by one: after the last one ended, the group's number may be someone else's.
        for pid in found.into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, signal);
        }
        return;
    }
    let _ = (mark, shell);
    if let Some(pid) = Pid::from_raw(session) {
        let _ = kill_process_group(pid, signal);
    }
}

/// Processes whose mark names a process of this program that is gone, and whose temporary folder is in
/// `temp_root`: those of another home are another's to end. Only known on Linux.
pub(super) fn left_behind(temp_root: &Path) -> Vec<String> {
    #[cfg(target_os = "linux")]
    return linux::left_behind(temp_root);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = temp_root;
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    use super::Shell;

    /// Characters of a command in a message.
    const COMMAND_CHARS_MAX: usize = 100;

    /// The living processes of a session or with a mark; `None` if `/proc` cannot be read.
    pub(super) fn list(session: i32, shell: Shell, mark: &str) -> Option<Vec<i32>> {
        // A number is not given away while a session has it: a process with it is another one's leader.
        let is_foreign =
            shell == Shell::Ended && Path::new("/proc").join(session.to_string()).exists();
        let session = (!is_foreign).then_some(session);
        let entry = format!("{}={mark}", super::super::MARK_VARIABLE);
        let entries = std::fs::read_dir("/proc").ok()?;
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Some(pids.filter(|pid| belongs(*pid, session, &entry)).collect())
    }

    fn belongs(pid: i32, session: Option<i32>, entry: &str) -> bool {
        let folder = Path::new("/proc").join(pid.to_string());
        let Ok(stat) = std::fs::read_to_string(folder.join("stat")) else { return false };
        // The name before `)` may hold anything; state, parent, group and session follow it.
        let Some((_, fields)) = stat.rsplit_once(')') else { return false };
        let mut fields = fields.split_ascii_whitespace();
        let is_dead = matches!(fields.next(), Some("Z" | "X") | None);
        let its_session: Option<i32> = fields.nth(2).and_then(|field| field.parse().ok());
        let is_of_session = session.is_some() && its_session == session;
        if is_dead {
            return false;
        }
        is_of_session || has_mark(&folder, entry)
    }

    /// One line a process. A number that was given away again hides what it left: nothing wrong is said.
    pub(super) fn left_behind(temp_root: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut pids: Vec<i32> = pids.filter(|pid| is_orphan(*pid, temp_root)).collect();
        pids.sort_unstable();
        pids.into_iter().map(|pid| format!("{pid} {}", command_of(pid))).collect()
    }

    fn is_orphan(pid: i32, temp_root: &Path) -> bool {
        let folder = Path::new("/proc").join(pid.to_string());
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        let value_of = |name: &str| {
            let variables = environment.split(|byte| *byte == 0);
            let mut texts = variables.filter_map(|variable| std::str::from_utf8(variable).ok());
            texts.find_map(|text| text.strip_prefix(name)?.strip_prefix('='))
        };
        if !value_of("TMPDIR").is_some_and(|folder| Path::new(folder).starts_with(temp_root)) {
            return false;
        }
        let mark = value_of(super::super::MARK_VARIABLE);
        let owner = mark.and_then(|mark| mark.split_once('-')?.0.parse::<u32>().ok());
        owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists())
    }

    /// What it was started as, for a message.
    fn command_of(pid: i32) -> String {
        let file = Path::new("/proc").join(pid.to_string()).join("cmdline");
        let bytes = std::fs::read(file).unwrap_or_default();
        let words = String::from_utf8_lossy(&bytes).replace('\0', " ");
        crate::base::text::cut::chars(words.trim(), COMMAND_CHARS_MAX).to_owned()
    }

    fn has_mark(folder: &Path, entry: &str) -> bool {
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::{Child, Command};

    use super::super::MARK_VARIABLE;

    fn sleeping(mark: &str, temp: &str) -> Child {
        let mut sleep = Command::new("sleep");
        sleep.arg("300").env(MARK_VARIABLE, mark).env("TMPDIR", temp).spawn().unwrap()
    }

    // X02
    #[test]
    fn what_a_process_that_is_gone_left_running_is_found() {
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let mark = format!("{}-0123", gone.id());
        let mut orphan = sleeping(&mark, "/ours/session");
        let mut of_another_home = sleeping(&mark, "/theirs/session");
        let mut own = sleeping(&format!("{}-0123", std::process::id()), "/ours/session");
        let found = super::left_behind(std::path::Path::new("/ours"));
        let ids = [orphan.id(), own.id(), of_another_home.id()];
        for child in [&mut orphan, &mut own, &mut of_another_home] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(found.contains(&format!("{} sleep 300", ids[0])), "{found:?}");
        for other in &ids[1..] {
            assert!(!found.contains(&format!("{other} sleep 300")), "{found:?}");
        }
    }
}
