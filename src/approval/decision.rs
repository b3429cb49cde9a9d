//! The verdict on one call.
//!
//! Order: mode, then deny, ask and allow rules, then what the action is, then the policy. `full` skips all
//! but the mode and the deny rules. What is not understood asks, whatever allows it.
//! Not here: the approval model, which the host consults where the policy is `model` and this says ask.

use super::action::{Action, Place, Target};
use super::harmless::{is_harmless, is_interpreter, is_wrapper, shows_contents};
use super::policy::Policy;
use super::rule::{Match, Rule, Rules, Strictness};
use super::shell::{Parsed, SimpleCommand, WordKind, parse};
use crate::conversation::mode::Mode;

/// What holds while a call is judged.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    pub policy: Policy,
    pub rules: &'a Rules,
    pub mode: Mode,
    /// Commands run in a sandbox that works.
    pub sandboxed: bool,
}

/// May the call run?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask {
        why: String,
        /// The rule that "always" would add.
        always: Option<String>,
        /// What to know before choosing "always".
        warning: Option<String>,
    },
    Deny {
        why: String,
    },
}

/// What the model is told in plan mode.
const PLAN_MODE: &str = "plan mode: nothing may be changed and only reading commands run. \
    Finish the plan; the person switches to work mode to carry it out.";

/// Judges one call of the tool named `tool`.
pub fn decide(action: &Action, tool: &str, settings: &Settings<'_>) -> Verdict {
    match action {
        Action::Run { command } => decide_command(command, tool, settings),
        Action::Read(_) | Action::Change(_) | Action::Session => {
            decide_call(action, tool, settings)
        }
    }
}

fn ask(why: impl Into<String>, always: Option<String>) -> Verdict {
    Verdict::Ask { why: why.into(), always, warning: None }
}

fn deny(why: impl Into<String>) -> Verdict {
    Verdict::Deny { why: why.into() }
}

fn decide_call(action: &Action, tool: &str, settings: &Settings<'_>) -> Verdict {
    if settings.mode == Mode::Plan && matches!(action, Action::Change(_)) {
        return deny(PLAN_MODE);
    }
    let best = |rules: &'_ [Rule], strictness| {
        rules
            .iter()
            .map(|rule| (rule.matches_call(action, tool, strictness), rule.to_string()))
            .max_by_key(|(matched, _)| *matched)
            .unwrap_or((Match::No, String::new()))
    };
    let (denied, denying) = best(&settings.rules.deny, Strictness::Stop);
    if denied == Match::Yes {
        return deny(format!("the rule deny {denying} forbids it"));
    }
    if denied == Match::Maybe {
        return ask(format!("it may touch what the rule deny {denying} forbids"), None);
    }
    if settings.policy == Policy::Full {
        return Verdict::Allow;
    }
    let (asked, asking) = best(&settings.rules.ask, Strictness::Stop);
    if asked != Match::No {
        return ask(format!("the rule ask {asking} says so"), None);
    }
    if best(&settings.rules.allow, Strictness::Allow).0 == Match::Yes {
        return Verdict::Allow;
    }
    match action {
        Action::Read(target) => decide_read(target),
        Action::Change(target) => decide_change(target, settings),
        Action::Session | Action::Run { .. } => Verdict::Allow,
    }
}

fn decide_read(target: &Target) -> Verdict {
    match target.place {
        Place::Workspace | Place::Protected => Verdict::Allow,
        Place::Outside => {
            let folder = target.shown.rsplit_once('/').map_or("", |(folder, _)| folder);
            let always =
                (!folder.is_empty()).then(|| format!("read({}/**)", globset::escape(folder)));
            ask(format!("{} is outside the workspace", target.shown), always)
        }
    }
}

fn decide_change(target: &Target, settings: &Settings<'_>) -> Verdict {
    let shown = &target.shown;
    match target.place {
        Place::Outside => return ask(format!("{shown} is outside the workspace"), None),
        Place::Protected => {
            return ask(format!("{shown} steers git, crystal or the model"), None);
        }
        Place::Workspace => {}
    }
    let goes = match settings.policy {
        Policy::AutoEdit | Policy::Full => true,
        Policy::Auto => settings.sandboxed,
        Policy::ReadOnly | Policy::Ask | Policy::Model => false,
    };
    if goes {
        return Verdict::Allow;
    }
    let pattern = match shown.split_once('/') {
        Some((folder, _)) => format!("{}/**", globset::escape(folder)),
        None => globset::escape(shown),
    };
    ask(format!("it changes {shown}"), Some(format!("edit({pattern})")))
}

fn decide_command(command: &str, tool: &str, settings: &Settings<'_>) -> Verdict {
    let rules = settings.rules;
    let commands = match parse(command) {
        Parsed::Simple(commands) => commands,
        Parsed::DoesNotParse { why } => return decide_unknown(why, tool, settings),
    };
    let judged: Vec<bool> =
        commands.iter().map(|c| is_known_harmless(c, &commands, rules)).collect();
    let all_harmless = judged.iter().all(|harmless| *harmless) && !commands.is_empty();
    if settings.mode == Mode::Plan && !all_harmless {
        return deny(PLAN_MODE);
    }
    if let Some(verdict) = stopped(&commands, tool, settings) {
        return verdict;
    }
    if settings.policy == Policy::Full || all_harmless {
        return Verdict::Allow;
    }
    let open: Vec<&SimpleCommand> = commands
        .iter()
        .zip(&judged)
        .filter(|(command, harmless)| !**harmless && !is_allowed(command, &commands, rules))
        .map(|(command, _)| command)
        .collect();
    let [first, others @ ..] = open.as_slice() else { return Verdict::Allow };
    if settings.policy == Policy::Auto && settings.sandboxed {
        return Verdict::Allow;
    }
    let why = match (first.obstacle(), commands.len()) {
        (Some(obstacle), _) => obstacle,
        (None, 1) => "it runs a command".to_owned(),
        (None, _) => format!("it runs {}", first.text()),
    };
    let always = if others.is_empty() { suggest(first) } else { None };
    Verdict::Ask { why, warning: always.as_ref().and_then(|_| warning(first)), always }
}

/// A command that is not understood: no rule can let it through.
fn decide_unknown(why: String, tool: &str, settings: &Settings<'_>) -> Verdict {
    if settings.mode == Mode::Plan {
        return deny(PLAN_MODE);
    }
    let rules = settings.rules;
    if rules.deny.iter().any(|rule| denies_all(rule, tool)) {
        return deny("a deny rule forbids every command");
    }
    let could_be_stopped = rules.deny.iter().any(Rule::is_about_commands);
    let goes = match settings.policy {
        Policy::Full => !could_be_stopped,
        Policy::Auto => {
            settings.sandboxed
                && !could_be_stopped
                && !rules.ask.iter().any(Rule::is_about_commands)
        }
        Policy::ReadOnly | Policy::Ask | Policy::AutoEdit | Policy::Model => false,
    };
    if goes { Verdict::Allow } else { ask(why, None) }
}

fn denies_all(rule: &Rule, tool: &str) -> bool {
    rule.is_any_command()
        || rule.matches_call(&Action::Session, tool, Strictness::Stop) == Match::Yes
}

/// What deny and ask rules say of any part of the line.
fn stopped(commands: &[SimpleCommand], tool: &str, settings: &Settings<'_>) -> Option<Verdict> {
    let best = |rules: &[Rule]| {
        rules
            .iter()
            .flat_map(|rule| commands.iter().map(move |command| (rule, command)))
            .map(|(rule, command)| {
                let by_call = rule.matches_call(&Action::Session, tool, Strictness::Stop);
                let by_words = rule.matches_command(command, Strictness::Stop);
                (by_call.max(by_words), rule.to_string(), command.text())
            })
            .max_by_key(|(matched, ..)| *matched)
            .filter(|(matched, ..)| *matched != Match::No)
    };
    match best(&settings.rules.deny) {
        Some((Match::Yes, rule, text)) => {
            return Some(deny(format!("the rule deny {rule} forbids {text}")));
        }
        Some((_, rule, text)) => {
            return Some(ask(format!("{text} may be what the rule deny {rule} forbids"), None));
        }
        None => {}
    }
    if settings.policy == Policy::Full {
        return None;
    }
    let (_, rule, text) = best(&settings.rules.ask)?;
    Some(ask(format!("the rule ask {rule} speaks of {text}"), None))
}

/// Harmless here: also with the rules about reading, and with the rest of the line.
fn is_known_harmless(command: &SimpleCommand, line: &[SimpleCommand], rules: &Rules) -> bool {
    let reading_is_limited = rules.deny.iter().chain(&rules.ask).any(Rule::is_about_reading);
    // Another folder may bring a git configuration that starts programs.
    let moves = line.iter().any(|c| matches!(c.name(), Some("cd" | "pushd")));
    is_harmless(command)
        && !(reading_is_limited && shows_contents(command))
        && !(moves && command.name() == Some("git"))
}

/// Whether a command line reads and does nothing else, as far as its words tell: what plan mode lets run.
pub fn only_reads(command: &str) -> bool {
    match parse(command) {
        Parsed::Simple(commands) => {
            let none = Rules::default();
            !commands.is_empty() && commands.iter().all(|c| is_known_harmless(c, &commands, &none))
        }
        Parsed::DoesNotParse { .. } => false,
    }
}

/// Whether allow rules let one command of a line through.
fn is_allowed(command: &SimpleCommand, line: &[SimpleCommand], rules: &Rules) -> bool {
    if command.obstacle().is_some() {
        return false;
    }
    let by_rule = rules
        .allow
        .iter()
        .any(|rule| rule.matches_command(command, Strictness::Allow) == Match::Yes);
    if !by_rule || !command.base_name().is_some_and(is_wrapper) {
        return by_rule;
    }
    let exactly = rules.allow.iter().any(|rule| {
        rule.command_words()
            .is_some_and(|(words, open)| !open && words.len() == command.words.len())
            && rule.matches_command(command, Strictness::Allow) == Match::Yes
    });
    exactly
        || wrapped(command)
            .iter()
            .all(|inner| is_known_harmless(inner, line, rules) || is_allowed(inner, line, rules))
}

/// What a wrapper runs, as far as its words tell; what cannot be told is a command that nothing allows.
fn wrapped(command: &SimpleCommand) -> Vec<SimpleCommand> {
    let words = &command.words[1..];
    let inner = |words: &[super::shell::Word]| SimpleCommand {
        words: words.to_vec(),
        ..Default::default()
    };
    if command.base_name() == Some("find") {
        let runs = |text: &str| matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir");
        return words
            .iter()
            .enumerate()
            .filter(|(_, word)| runs(&word.text))
            .map(|(at, _)| {
                let rest = &words[at + 1..];
                let end = rest.iter().position(|w| w.text == ";" || w.text == "+");
                inner(&rest[..end.unwrap_or(rest.len())])
            })
            .collect();
    }
    let is_setting = |text: &str| {
        text.starts_with('-')
            || text.contains('=')
            || text.starts_with(|c: char| c.is_ascii_digit())
    };
    let start = words.iter().position(|word| !is_setting(&word.text)).unwrap_or(words.len());
    let mut words = words[start..].to_vec();
    if command.base_name() == Some("xargs") {
        // What it reads becomes further arguments.
        words.push(super::shell::Word { text: "…".to_owned(), kind: WordKind::Dynamic });
    }
    vec![SimpleCommand { words, ..Default::default() }]
}

/// Programs whose second word says what they do.
const WITH_SUBCOMMANDS: [&str; 26] = [
    "cargo",
    "git",
    "npm",
    "pnpm",
    "yarn",
    "go",
    "docker",
    "kubectl",
    "make",
    "just",
    "pip",
    "pip3",
    "uv",
    "gh",
    "dotnet",
    "mvn",
    "gradle",
    "bun",
    "deno",
    "poetry",
    "rustup",
    "terraform",
    "helm",
    "brew",
    "composer",
    "mix",
];

/// Programs that destroy or send: "always" covers exactly what was typed.
const EXACT_ONLY: [&str; 14] = [
    "rm", "rmdir", "mv", "cp", "dd", "chmod", "chown", "kill", "pkill", "killall", "curl", "wget",
    "scp", "rsync",
];

/// Returns the rule that "always" would add for a command line of one command.
pub fn suggest_always(command: &str) -> Option<String> {
    match parse(command) {
        Parsed::Simple(commands) => match commands.as_slice() {
            [one] => suggest(one),
            _ => None,
        },
        Parsed::DoesNotParse { .. } => None,
    }
}

fn suggest(command: &SimpleCommand) -> Option<String> {
    if command.obstacle().is_some() {
        return None;
    }
    let name = command.name()?;
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./@-+=,:".contains(c))
            && !text.ends_with(':')
    };
    let plain: Vec<&str> = command
        .words
        .iter()
        .take_while(|word| word.kind == WordKind::Literal && is_plain(&word.text))
        .map(|word| word.text.as_str())
        .collect();
    let is_whole = plain.len() == command.words.len();
    let base = command.base_name()?;
    if EXACT_ONLY.contains(&base) || is_wrapper(base) || is_interpreter(base) {
        return is_whole.then(|| format!("bash({})", plain.join(" ")));
    }
    if !is_plain(name) {
        return None;
    }
    let subcommand = plain.get(1).filter(|word| !word.starts_with('-'));
    let words = match (WITH_SUBCOMMANDS.contains(&base), subcommand) {
        (true, Some(&"run")) => plain.get(..3).or(plain.get(..2))?,
        (true, Some(_)) => &plain[..2],
        // `git -C x push`: what it does is not in its first words.
        (true, None) if is_whole => return Some(format!("bash({})", plain.join(" "))),
        (true, None) => return None,
        (false, _) => &plain[..1],
    };
    Some(format!("bash({}:*)", words.join(" ")))
}

fn warning(command: &SimpleCommand) -> Option<String> {
    warning_for_name(command.base_name()?)
}

fn warning_for_name(name: &str) -> Option<String> {
    if is_wrapper(name) {
        return Some(format!("{name} runs other commands: always allowing it allows what it runs"));
    }
    is_interpreter(name).then(|| {
        format!("{name} can do anything: always allowing it allows every program it is given")
    })
}

/// Returns what to know about an allow rule: that it lets an interpreter or a wrapper through.
pub fn warning_for_rule(rule: &Rule) -> Option<String> {
    let (words, _) = rule.command_words()?;
    match words.first() {
        Some(name) => warning_for_name(super::shell::base_name(name)),
        None => Some("it allows every command that is understood".to_owned()),
    }
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
