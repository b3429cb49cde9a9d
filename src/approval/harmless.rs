//! Commands that only read, and the flags that make them do more.
//!
//! Invariant: a command that is called harmless writes no file, starts no other program of the caller's
//! choice and, as far as its words tell, reads inside the workspace. When in doubt it is not harmless.

use super::shell::{SimpleCommand, Word, WordKind, base_name};

/// What a known command may be given.
#[derive(Debug, Clone, Copy)]
enum Flags {
    /// Everything it can do is reading.
    Any,
    /// All but these: long flags, and letters anywhere in a bundle of short ones.
    Not(&'static [&'static str], &'static str),
    /// Judged by an own function.
    Own(fn(&[Word]) -> bool),
}

/// What its operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Files: must lie in the workspace.
    Files,
    /// The first is a pattern, the others are files.
    PatternThenFiles,
    /// Text.
    Text,
}

const COMMANDS: &[(&str, Flags, Operands)] = &[
    ("pwd", Flags::Any, Operands::Text),
    ("true", Flags::Any, Operands::Text),
    ("false", Flags::Any, Operands::Text),
    ("echo", Flags::Any, Operands::Text),
    ("which", Flags::Any, Operands::Text),
    ("type", Flags::Any, Operands::Text),
    ("uname", Flags::Any, Operands::Text),
    ("whoami", Flags::Any, Operands::Text),
    ("test", Flags::Any, Operands::Text),
    ("basename", Flags::Any, Operands::Text),
    ("dirname", Flags::Any, Operands::Text),
    ("tr", Flags::Any, Operands::Text),
    ("ls", Flags::Any, Operands::Files),
    ("cat", Flags::Any, Operands::Files),
    ("head", Flags::Any, Operands::Files),
    ("tail", Flags::Any, Operands::Files),
    ("wc", Flags::Any, Operands::Files),
    ("nl", Flags::Any, Operands::Files),
    ("stat", Flags::Any, Operands::Files),
    ("du", Flags::Any, Operands::Files),
    ("df", Flags::Any, Operands::Files),
    ("cut", Flags::Any, Operands::Files),
    ("cmp", Flags::Any, Operands::Files),
    ("diff", Flags::Any, Operands::Files),
    ("grep", Flags::Any, Operands::PatternThenFiles),
    ("cd", Flags::Own(cd), Operands::Files),
    ("file", Flags::Not(&["--compile"], "C"), Operands::Files),
    ("tree", Flags::Not(&["--output"], "oR"), Operands::Files),
    (
        "sort",
        Flags::Not(&["--output", "--compress-program", "--temporary-directory"], "oT"),
        Operands::Files,
    ),
    (
        "rg",
        Flags::Not(&["--pre", "--hostname-bin", "--search-zip"], "z"),
        Operands::PatternThenFiles,
    ),
    ("date", Flags::Own(date), Operands::Text),
    ("uniq", Flags::Own(uniq), Operands::Files),
    ("find", Flags::Own(find), Operands::Files),
    ("git", Flags::Own(git), Operands::Files),
];

/// Commands that run the command in their arguments.
const WRAPPERS: [&str; 32] = [
    "env",
    "xargs",
    "find",
    "sudo",
    "doas",
    "su",
    "nohup",
    "time",
    "timeout",
    "nice",
    "ionice",
    "setsid",
    "stdbuf",
    "command",
    "builtin",
    "exec",
    "watch",
    "parallel",
    "strace",
    "ltrace",
    "chroot",
    "busybox",
    "unbuffer",
    "script",
    "flock",
    "chronic",
    "entr",
    "fd",
    "caffeinate",
    "taskset",
    "systemd-run",
    "coproc",
];

/// Commands that run what they are given: a program, a text, another machine's shell.
const INTERPRETERS: [&str; 35] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "ash",
    "eval",
    "source",
    ".",
    "python",
    "python2",
    "python3",
    "node",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "tclsh",
    "osascript",
    "pwsh",
    "npx",
    "bunx",
    "uvx",
    "ssh",
    "docker",
    "podman",
    "vim",
    "ed",
];

/// Whether a command runs the command in its arguments.
pub fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&base_name(name))
}

/// Whether a command runs what it is given.
pub fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&base_name(name)) || base_name(name).starts_with("python3.")
}

/// Whether a known command shows what files hold.
pub fn shows_contents(command: &SimpleCommand) -> bool {
    let plain = [
        "pwd", "true", "false", "echo", "which", "type", "uname", "whoami", "test", "basename",
        "dirname", "date", "cd",
    ];
    !command.name().is_some_and(|name| plain.contains(&name))
}

/// Whether a command only reads, in the workspace.
pub fn is_harmless(command: &SimpleCommand) -> bool {
    if command.obstacle().is_some() {
        return false;
    }
    let Some(name) = command.name() else { return false };
    let Some((_, flags, operands)) = COMMANDS.iter().find(|(known, ..)| *known == name) else {
        return false;
    };
    let arguments = &command.words[1..];
    let flags_are_fine = match flags {
        Flags::Any => true,
        Flags::Not(long, short) => {
            no_leading_pattern(arguments)
                && !arguments.iter().any(|word| is_flag_of(word, long, short))
        }
        Flags::Own(judge) => no_leading_pattern(arguments) && judge(arguments),
    };
    flags_are_fine && stays_inside(arguments, *operands)
}

/// A file may be named like a flag, so a pattern that matches any name may become one.
fn no_leading_pattern(arguments: &[Word]) -> bool {
    !arguments
        .iter()
        .any(|word| word.kind != WordKind::Literal && word.text.starts_with(['*', '?', '[', '-']))
}

/// Long flags may be cut short (`--out`), short ones bundled (`-uo`).
fn is_flag_of(word: &Word, long: &[&str], short: &str) -> bool {
    if let Some(rest) = word.text.strip_prefix("--") {
        let name = rest.split('=').next().unwrap_or(rest);
        return !name.is_empty() && long.iter().any(|flag| flag[2..].starts_with(name));
    }
    word.text.strip_prefix('-').is_some_and(|letters| letters.contains(|c| short.contains(c)))
}

fn stays_inside(arguments: &[Word], operands: Operands) -> bool {
    let has_pattern_flag = arguments.iter().any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        letters.starts_with("-file")
            || letters.starts_with("-regexp")
            || (!letters.starts_with('-') && letters.contains(['e', 'f']))
    });
    let pattern = match operands {
        Operands::Text => return true,
        Operands::PatternThenFiles if !has_pattern_flag => {
            arguments.iter().position(|word| !word.text.starts_with('-'))
        }
        Operands::PatternThenFiles | Operands::Files => None,
    };
    arguments.iter().enumerate().all(|(index, word)| Some(index) == pattern || !leaves(word))
}

/// Whether a word names something outside the workspace, as far as its text tells.
fn leaves(word: &Word) -> bool {
    let text = word.text.as_str();
    let value = match text.strip_prefix('-') {
        None => text,
        Some(flag) => match flag.split_once('=') {
            Some((_, value)) => value,
            // `-f/etc/passwd`: the value sticks to the letter.
            None => flag.get(1..).unwrap_or_default(),
        },
    };
    let may_be_parent = |part: &str| {
        part == ".."
            || (word.kind == WordKind::Pattern
                && part.starts_with(['.', '?', '['])
                && part.contains(['*', '?', '[']))
    };
    let is_outside = value.starts_with(['/', '~']) || value.split('/').any(may_be_parent);
    is_outside && value != "/dev/null"
}

fn cd(arguments: &[Word]) -> bool {
    matches!(arguments, [to] if !to.text.starts_with('-') && to.kind == WordKind::Literal)
}

/// `date 010112002026` sets the clock.
fn date(arguments: &[Word]) -> bool {
    arguments.iter().all(|word| {
        let sets = is_flag_of(word, &["--set", "--file"], "sf");
        !sets && !word.text.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The second operand of `uniq` is written.
fn uniq(arguments: &[Word]) -> bool {
    arguments.iter().filter(|word| !word.text.starts_with('-')).count() <= 1
}

fn find(arguments: &[Word]) -> bool {
    const ACTING: [&str; 11] = [
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-delete",
        "-fprint",
        "-fprint0",
        "-fprintf",
        "-fls",
        "-files0-from",
        "-follow",
    ];
    arguments
        .iter()
        .all(|word| word.kind == WordKind::Literal && !ACTING.contains(&word.text.as_str()))
}

fn git(arguments: &[Word]) -> bool {
    let globals =
        arguments.iter().take_while(|w| matches!(w.text.as_str(), "--no-pager" | "-P")).count();
    let Some((command, rest)) = arguments[globals..].split_first() else { return false };
    let only = |flags: &[&str]| rest.iter().all(|word| flags.contains(&word.text.as_str()));
    match command.text.as_str() {
        "status" | "rev-parse" | "ls-files" | "ls-tree" | "describe" | "shortlog" | "blame"
        | "log" | "diff" | "show" => !rest.iter().any(|word| {
            is_flag_of(word, &["--output", "--ext-diff", "--textconv", "--output-directory"], "")
        }),
        "branch" => only(&[
            "-a",
            "-r",
            "-v",
            "-vv",
            "--list",
            "--all",
            "--remotes",
            "--show-current",
            "--verbose",
            "--no-color",
            "--no-column",
        ]),
        "remote" => only(&["-v", "--verbose"]),
        "tag" => only(&["-l", "--list", "-n"]),
        "stash" | "worktree" => rest.len() == 1 && only(&["list"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::shell::{Parsed, parse};

    fn harmless(line: &str) -> bool {
        match parse(line) {
            Parsed::Simple(commands) => commands.iter().all(is_harmless),
            Parsed::DoesNotParse { .. } => false,
        }
    }

    #[test]
    fn reading_commands_are_known() {
        for line in [
            "ls",
            "ls -la src",
            "ls *.rs",
            "cat src/main.rs",
            "cat src/*.rs | head -20",
            "git status",
            "git log -3 --oneline",
            "git --no-pager diff HEAD~1",
            "git show HEAD:src/main.rs",
            "git branch -a",
            "git diff main..dev -- src",
            "rg x",
            "rg -n '/api' src",
            "grep -rn foo src",
            "find . -name '*.rs' -type f",
            "pwd",
            "echo \"exit: $?\"",
            "wc -l src/lib.rs 2>/dev/null",
            "sort -u a.txt | uniq -c",
            "cut -d, -f2 x.csv",
            "tr a-z A-Z",
            "date +%F",
            "cd src && ls",
            "stat x",
            "du -sh .",
            "df -h",
            "file x",
            "which cargo",
            "tail -n 5 log 2>&1",
        ] {
            assert!(harmless(line), "{line}");
        }
    }

    // X11: the flags that make a reading command write or run something.
    #[test]
    fn their_dangerous_forms_are_not() {
        for line in [
            "lsof",
            "git -c core.pager='touch P' status",
            "git --output=x diff",
            "git diff --output=x",
            "git diff --outpu x",
            "git diff --ext-diff",
            "git log --textconv",
            "git branch new",
            "git branch -D old",
            "git push",
            "git stash",
            "git commit --amend",
            "git -C .. status",
            "git remote add x y",
            "git tag v1",
            "rg --pre ./x y",
            "rg --pre=./x y",
            "rg -z x",
            "sort -o out in",
            "sort -uo out in",
            "sort --out=x in",
            "sort --compress-program=./x in",
            "find . -delete",
            "find . -exec rm {} +",
            "find . -fprint x",
            "find . -okdir rm {} ';'",
            "uniq in out",
            "date -s 12:00",
            "date --set=12:00",
            "date -f /etc/passwd",
            "date 010112002026",
            "tree -o x",
            "file -C -m x",
            "env",
            "env ls",
            "xargs ls",
            "tee x",
            "\\ls",
            "$cmd",
            "cat $FILE",
            "cat /etc/passwd",
            "cat ~/.ssh/id_rsa",
            "cat ../x",
            "cat src/../../x",
            "cat .?/x",
            "cat .*/x",
            "grep -f/etc/passwd x",
            "grep x /etc/passwd",
            "grep -f /etc/passwd x",
            "head --lines=1 --x=/etc/passwd",
            "rg x *",
            "cd",
            "cd ..",
            "cd -",
            "cd /",
            "sed -i s/a/b/ x",
            "python3 -c 1",
            "echo x > f",
            "cat <<E\nx\nE",
            "./ls",
            "/tmp/ls",
            "ls $(pwd)",
            "X=1",
            "PATH=. ls",
        ] {
            assert!(!harmless(line), "{line}");
        }
    }
}
