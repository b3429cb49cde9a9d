//! A folder that nobody trusted yet, through the real program (X13).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "the test makes its own files")]

mod pty;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use pty::Pty;

/// A home and a workspace whose configuration does not load: whoever reads it shows it.
struct Place {
    _temp: tempfile::TempDir,
    home: PathBuf,
    workspace: PathBuf,
}

impl Place {
    fn with(config: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (home, workspace) = (base.join("home"), base.join("ws"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(workspace.join(".crystal")).unwrap();
        std::fs::write(workspace.join(".crystal/config.json"), config).unwrap();
        std::fs::write(workspace.join("AGENTS.md"), "CANARY").unwrap();
        Self { _temp: temp, home, workspace }
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crystal"));
        command.args(args).env_clear().env("CRYSTAL_HOME", &self.home).stdin(Stdio::null());
        let output = command.current_dir(&self.workspace).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn open(&self) -> Pty {
        let home = self.home.to_str().unwrap();
        let args = ["--workspace", self.workspace.to_str().unwrap()];
        Pty::spawn(env!("CARGO_BIN_EXE_crystal"), &args, &[("CRYSTAL_HOME", home)], (100, 30))
    }
}

const BROKEN: &str = r#"{"theme": 3}"#;

#[test]
fn one_turn_in_an_untrusted_folder_reads_nothing_of_it_and_says_so() {
    let place = Place::with(BROKEN);
    let (code, said) = place.run(&["run", "hello"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("this folder is not trusted: .crystal/, AGENTS.md not read"), "{said}");
    let (code, said) = place.run(&["run", "--trust", "hello"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains(".crystal/config.json: theme"), "{said}");
    assert!(!place.home.join("trust.json").exists());
    assert_eq!(place.run(&["run", "--help"]).0, 0);
}

#[test]
fn the_workspace_opens_without_the_files_and_reads_them_after_a_yes() {
    let place = Place::with(BROKEN);
    let mut pty = place.open();
    pty.wait_for_text("Do you trust this folder?");
    pty.wait_for_text(".crystal/, AGENTS.md");
    assert!(!place.home.join("trust.json").exists());
    // Keys that come before the question could be read go to the composer: pressed until one counts.
    press_until(&mut pty, "y", "The next start will refuse this");
    assert!(std::fs::read_to_string(place.home.join("trust.json")).unwrap().contains("ws"));
}

#[test]
fn what_a_trusted_configuration_changes_is_said_to_come_at_the_next_start() {
    let place = Place::with(r#"{"mode": "plan", "providers": {"x": {}}}"#);
    let mut pty = place.open();
    pty.wait_for_text("Do you trust this folder?");
    press_until(&mut pty, "y", "takes effect at the next start");
    pty.wait_for_text("is not read from a workspace");
    let mut next = place.open();
    next.wait_for_text("plan");
    assert!(!next.screen().contains("Do you trust"));
}

#[test]
fn a_no_reads_nothing_and_is_asked_again() {
    let place = Place::with(BROKEN);
    for _ in 0..2 {
        let mut pty = place.open();
        pty.wait_for_text("Do you trust this folder?");
        press_until(&mut pty, "n", "Not trusted");
        assert!(!place.home.join("trust.json").exists());
    }
}

/// Presses a key again and again until the text is there: the question takes no key of its first moment, and
/// each key changes the screen, in the composer or by its answer.
fn press_until(pty: &mut Pty, key: &str, text: &str) {
    while !pty.screen().contains(text) {
        let before = pty.screen();
        pty.send_keys(key);
        pty.wait_for(|screen| screen != before);
    }
}
