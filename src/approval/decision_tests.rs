//! The verdicts, as tables.

use super::*;

fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
    let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    Rules { allow: parse(allow), ask: parse(ask), deny: parse(deny) }
}

fn run(command: &str, rules: &Rules, policy: Policy, mode: Mode) -> Verdict {
    let action = Action::Run { command: command.to_owned() };
    decide(&action, "bash", &Settings { policy, rules, mode, sandboxed: false })
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

fn on(kind: fn(Target) -> Action, shown: &str, place: Place) -> Action {
    kind(Target { shown: shown.to_owned(), real: shown.into(), place })
}

/// Lines that touch `P`, or could, beside an allowed `ls` or `git status` (X11).
const SNEAKING: &[&str] = &[
    "ls; touch P",
    "ls && touch P",
    "ls || touch P",
    "ls | tee P",
    "ls $(touch P)",
    "ls <(touch P)",
    "ls `touch P`",
    "ls\ntouch P",
    "ls & touch P",
    "ls > P",
    "ls >> P",
    "ls >| P",
    "ls &> P",
    "lsof",
    "git -c core.pager='touch P' status",
    "env ls",
    "FOO=1 ls; touch P",
    "FOO=1 ls",
    "\\ls",
    "find . -exec touch P +",
    "xargs touch P",
    "echo P | xargs touch",
    "cat <<E > P\nx\nE",
    "ls <<E\n$(touch P)\nE",
    "ls\u{2028}touch P",
    "ls\rtouch P",
    "eval 'touch P'",
    "bash -c 'touch P'",
    "$cmd",
    "ls ${x:=$(touch P)}",
    "ls \"$(touch P)\"",
    "function ls() { touch P; }; ls",
    "ls 'open",
    "if ls; then touch P; fi",
    "(touch P)",
    "command touch P",
    "alias ls='touch P'; ls",
    "git status --x; git push",
    "l's'; touch P",
    "ls > $(touch P)",
    "PATH=. ls",
    "ls |& tee P",
    "ls >&P",
    "ls <>P",
    "ls < P",
    "coproc touch P",
    "time touch P",
    "for f in a; do ls $f; done",
    "until ls; do touch P; done",
    "ls {a,b}",
    "ls ${x@P}",
    "ls $((a[$(touch P)]))",
    "[[ a == $(touch P) ]]",
    "((x=1)); ls",
    "ls <<< $(touch P)",
    "ls \u{202e}x",
    "trap 'touch P' EXIT",
];

// X11
#[test]
fn an_allowed_word_does_not_carry_the_rest_of_the_line() {
    let rules = rules(&["bash(ls:*)", "bash(git status:*)"], &[], &[]);
    for command in SNEAKING {
        for policy in [Policy::ReadOnly, Policy::Ask, Policy::AutoEdit, Policy::Auto, Policy::Model]
        {
            let verdict = run(command, &rules, policy, Mode::Work);
            assert_eq!(word(&verdict), "ask", "{command} {policy}: {verdict:?}");
        }
    }
    for command in [
        "ls",
        "ls -la /anywhere",
        "git status -s",
        "ls; git status",
        "ls && ls | wc -l",
        "cd src && ls",
    ] {
        assert_eq!(run(command, &rules, Policy::Ask, Mode::Work), Verdict::Allow, "{command}");
    }
}

// X11: deny rules see each part, whatever stands before it.
#[test]
fn a_deny_rule_sees_every_part_of_a_line() {
    let rules = rules(&["bash"], &[], &["bash(rm:*)", "bash(git push:*)"]);
    for command in [
        "rm x",
        "ls; rm x",
        "ls && rm x",
        "ls | rm x",
        "ls $(rm x)",
        "(rm x)",
        "bash -c 'rm x'",
        "eval rm x",
        "env rm x",
        "sudo rm x",
        "/bin/rm x",
        "\\rm x",
        "'rm' x",
        "find . -exec rm {} ;",
        "xargs rm",
        "git -C x push",
        "cat <<E\n$(rm x)\nE",
        "f() { rm x; }",
        "A=1 rm x",
        "for i in a; do rm x; done",
    ] {
        for policy in [Policy::Ask, Policy::Full] {
            let verdict = run(command, &rules, policy, Mode::Work);
            assert_eq!(word(&verdict), "deny", "{command} {policy}: {verdict:?}");
        }
    }
    for command in ["$x y", "git $x", "ls 'open", "$'rm' x"] {
        assert_eq!(word(&run(command, &rules, Policy::Full, Mode::Work)), "ask", "{command}");
    }
    assert_eq!(run("cargo build", &rules, Policy::Ask, Mode::Work), Verdict::Allow);
}

// X12: plan mode wins over every rule and every policy, and reading commands work.
#[test]
fn plan_mode_lets_reading_commands_through_and_nothing_else() {
    let rules = rules(&["bash", "edit"], &[], &[]);
    for policy in Policy::ALL {
        for command in [
            "echo x > f",
            "cat <<E > f\nx\nE",
            "python3 -c 'open(1)'",
            "git commit --amend",
            "git stash",
            "sed -i s/a/b/ f",
            "touch f",
            "tee f",
            "ls 'open",
            "cargo test",
        ] {
            let Verdict::Deny { why } = run(command, &rules, policy, Mode::Plan) else {
                panic!("{command} {policy}")
            };
            assert!(why.starts_with("plan mode"), "{why}");
        }
        for command in ["ls", "git log -3", "rg x"] {
            assert_eq!(
                run(command, &rules, policy, Mode::Plan),
                Verdict::Allow,
                "{command} {policy}"
            );
        }
        let settings = Settings { policy, rules: &rules, mode: Mode::Plan, sandboxed: true };
        let change = on(Action::Change, "src/a.rs", Place::Workspace);
        assert_eq!(word(&decide(&change, "write", &settings)), "deny");
        let read = on(Action::Read, "src/a.rs", Place::Workspace);
        assert_eq!(word(&decide(&read, "read", &settings)), "allow");
        assert_eq!(word(&decide(&Action::Session, "todo", &settings)), "allow");
    }
}

#[test]
fn each_policy_lets_its_own_actions_through() {
    let none = Rules::default();
    let inside = on(Action::Change, "src/a.rs", Place::Workspace);
    let protected = on(Action::Change, ".git/config", Place::Protected);
    let outside = on(Action::Change, "/etc/x", Place::Outside);
    let read = on(Action::Read, "a", Place::Workspace);
    let read_outside = on(Action::Read, "/etc/x", Place::Outside);
    let command = Action::Run { command: "cargo test".to_owned() };
    let harmless = Action::Run { command: "ls".to_owned() };
    let actions = [inside, protected, outside, read, read_outside, command, harmless];
    for (policy, sandboxed, expected) in [
        (Policy::ReadOnly, true, "ask ask ask allow ask ask allow"),
        (Policy::Ask, true, "ask ask ask allow ask ask allow"),
        (Policy::AutoEdit, true, "allow ask ask allow ask ask allow"),
        (Policy::Auto, false, "ask ask ask allow ask ask allow"),
        (Policy::Auto, true, "allow ask ask allow ask allow allow"),
        (Policy::Model, true, "ask ask ask allow ask ask allow"),
        (Policy::Full, false, "allow allow allow allow allow allow allow"),
    ] {
        let settings = Settings { policy, rules: &none, mode: Mode::Work, sandboxed };
        let got: Vec<_> = actions.iter().map(|a| word(&decide(a, "tool", &settings))).collect();
        assert_eq!(got.join(" "), expected, "{policy} sandboxed={sandboxed}");
    }
}

#[test]
fn deny_wins_over_ask_and_ask_over_allow() {
    let rules = rules(
        &["edit(src/**)", "bash(cargo:*)", "read(/etc/**)"],
        &["edit(src/b/**)", "bash(cargo publish:*)"],
        &["edit(src/b/c/**)", "bash(cargo yank:*)", "fetch"],
    );
    let settings =
        Settings { policy: Policy::Ask, rules: &rules, mode: Mode::Work, sandboxed: false };
    for (action, tool, expected) in [
        (on(Action::Change, "src/a", Place::Workspace), "write", "allow"),
        (on(Action::Change, "src/b/a", Place::Workspace), "edit", "ask"),
        (on(Action::Change, "src/b/c/a", Place::Workspace), "write", "deny"),
        (on(Action::Read, "/etc/hosts", Place::Outside), "read", "allow"),
        (Action::Session, "fetch", "deny"),
        (Action::Run { command: "cargo test".to_owned() }, "bash", "allow"),
        (Action::Run { command: "cargo publish".to_owned() }, "bash", "ask"),
        (Action::Run { command: "cargo yank".to_owned() }, "bash", "deny"),
    ] {
        assert_eq!(word(&decide(&action, tool, &settings)), expected, "{action:?}");
    }
}

#[test]
fn a_rule_against_reading_is_not_stepped_around_with_a_command() {
    let rules = rules(&[], &[], &["read(secrets/**)"]);
    assert_eq!(word(&run("cat secrets/key", &rules, Policy::Ask, Mode::Work)), "ask");
    assert_eq!(run("pwd", &rules, Policy::Ask, Mode::Work), Verdict::Allow);
}

#[test]
fn git_in_another_folder_asks() {
    let none = Rules::default();
    assert_eq!(word(&run("cd sub && git status", &none, Policy::Ask, Mode::Work)), "ask");
}

#[test]
fn a_wrapper_is_allowed_only_with_what_it_runs() {
    let rules = rules(
        &[
            "bash(timeout:*)",
            "bash(cargo test:*)",
            "bash(xargs:*)",
            "bash(find:*)",
            "bash(env A=1 make)",
        ],
        &[],
        &[],
    );
    for (command, expected) in [
        ("timeout 60 cargo test", "allow"),
        ("timeout 60 cargo publish", "ask"),
        ("timeout -k 5 60 ls", "allow"),
        ("xargs rm", "ask"),
        ("find . -name x", "allow"),
        ("find . -exec ls {} +", "allow"),
        ("find . -exec rm {} +", "ask"),
        ("env A=1 make", "allow"),
        ("env A=2 make", "ask"),
    ] {
        assert_eq!(word(&run(command, &rules, Policy::Ask, Mode::Work)), expected, "{command}");
    }
}

// X11: "always" on an interpreter or wrapper warns.
#[test]
fn always_offers_a_rule_that_covers_little_and_warns_where_it_covers_much() {
    for (command, expected, warns) in [
        ("cargo test --lib x", Some("bash(cargo test:*)"), false),
        ("npm run build -- --watch", Some("bash(npm run build:*)"), false),
        ("git commit -m 'a b'", Some("bash(git commit:*)"), false),
        ("git -C x push", Some("bash(git -C x push)"), false),
        ("prettier --check src", Some("bash(prettier:*)"), false),
        ("rm -rf target", Some("bash(rm -rf target)"), false),
        ("rm 'a b'", None, false),
        ("python3 x.py", Some("bash(python3 x.py)"), true),
        ("env make", Some("bash(env make)"), true),
        ("sudo make", Some("bash(sudo make)"), true),
        ("python3 -c 'a b'", None, false),
        ("bash -c 'touch P'", None, false),
        ("cargo test; cargo build", None, false),
        ("ls; cargo test", Some("bash(cargo test:*)"), false),
        ("cargo test > out", None, false),
        ("cargo test $X", None, false),
    ] {
        let Verdict::Ask { always, warning, .. } =
            run(command, &Rules::default(), Policy::Ask, Mode::Work)
        else {
            panic!("{command}")
        };
        assert_eq!(always.as_deref(), expected, "{command}");
        assert_eq!(warning.is_some(), warns, "{command}");
        if let Some(rule) = always {
            let with_it = rules(&[&rule], &[], &[]);
            assert_eq!(run(command, &with_it, Policy::Ask, Mode::Work), Verdict::Allow, "{rule}");
        }
    }
    assert!(warning_for_rule(&"bash(python3:*)".parse().unwrap()).is_some());
    assert!(warning_for_rule(&"bash".parse().unwrap()).is_some());
    assert_eq!(warning_for_rule(&"bash(cargo test:*)".parse().unwrap()), None);
}

#[test]
fn always_for_a_path_covers_its_folder() {
    let none = Rules::default();
    let settings =
        Settings { policy: Policy::Ask, rules: &none, mode: Mode::Work, sandboxed: false };
    for (action, expected) in [
        (on(Action::Change, "src/a/b.rs", Place::Workspace), Some("edit(src/**)")),
        (on(Action::Change, "README.md", Place::Workspace), Some("edit(README.md)")),
        (on(Action::Change, "AGENTS.md", Place::Protected), None),
        (on(Action::Read, "/srv/docs/a", Place::Outside), Some("read(/srv/docs/**)")),
        (on(Action::Read, "/a", Place::Outside), None),
    ] {
        let Verdict::Ask { always, .. } = decide(&action, "tool", &settings) else {
            panic!("{action:?}")
        };
        assert_eq!(always.as_deref(), expected, "{action:?}");
    }
}
