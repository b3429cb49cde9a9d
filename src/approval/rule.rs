//! Rules: `bash(cargo test:*)`, `edit(src/**)`, `read(docs/**)`, `mcp(server/tool)`, `fetch`.
//!
//! `edit` and `write` are one kind of rule: both change files, and a rule that stopped one of them only
//! would be stepped around with the other. Path patterns match the path relative to the workspace; only a
//! pattern that begins with `/` matches outside it.
//! Not here: which rule wins (`decision`).

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

use super::action::{Action, Place, Target};
use super::shell::{SimpleCommand, Word, WordKind, base_name};

/// Names that steer git, crystal or the model: a rule reaches them only by name.
const PROTECTED_NAMES: [&str; 4] = [".git", ".crystal", "AGENTS.md", "CLAUDE.md"];

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Command(CommandPattern),
    Read(PathPattern),
    Change(PathPattern),
    Mcp { server: Option<String>, tool: Option<String> },
    Tool(String),
}

/// Words that a command begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CommandPattern {
    words: Vec<String>,
    rest: Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    Any,
}

#[derive(Debug, Clone)]
struct PathPattern {
    text: String,
    /// `None` matches every path of the workspace.
    glob: Option<GlobMatcher>,
}

/// Whether a rule speaks of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    No,
    /// It depends on what is known only when it runs.
    Maybe,
    Yes,
}

/// The standing rules; deny wins, then ask, then allow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    pub allow: Vec<Rule>,
    pub ask: Vec<Rule>,
    pub deny: Vec<Rule>,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (tool, argument) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(argument) => (tool, Some(argument.trim())),
                None => return Err(format!("{text} has no closing parenthesis")),
            },
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(format!(
                "must begin with a tool's name, such as bash(cargo test:*) (got {text})"
            ));
        }
        if argument == Some("") {
            return Err(format!("{text} has nothing between its parentheses"));
        }
        Ok(Self { text: text.to_owned(), what: parse_what(tool, argument)? })
    }
}

fn parse_what(tool: &str, argument: Option<&str>) -> Result<What, String> {
    Ok(match (tool, argument) {
        ("bash", argument) => What::Command(parse_command(argument.unwrap_or("*"))?),
        ("edit" | "write", path) => What::Change(parse_path(path)?),
        ("read", path) => What::Read(parse_path(path)?),
        ("mcp", None | Some("*")) => What::Mcp { server: None, tool: None },
        ("mcp", Some(name)) => {
            let (server, tool) = match name.split_once('/') {
                None => (name, None),
                Some((server, "*")) => (server, None),
                Some((server, tool)) => (server, Some(tool.to_owned())),
            };
            if server.is_empty() || tool.as_deref() == Some("") {
                return Err(format!("mcp({name}) must be mcp(server/tool) or mcp(server)"));
            }
            What::Mcp { server: Some(server.to_owned()), tool }
        }
        (tool, None) => What::Tool(tool.to_owned()),
        (tool, Some(_)) => {
            return Err(format!(
                "{tool} takes no pattern; bash, read, edit, write and mcp do (write just {tool})"
            ));
        }
    })
}

fn parse_command(text: &str) -> Result<CommandPattern, String> {
    if text == "*" {
        return Ok(CommandPattern { words: Vec::new(), rest: Rest::Any });
    }
    let prefix = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
    let (words, rest) = match prefix {
        Some(prefix) => (prefix, Rest::Any),
        None => (text, Rest::None),
    };
    if words.contains('*') {
        return Err(format!(
            "bash({text}): * stands only at the end, after a colon, such as bash(cargo test:*)"
        ));
    }
    if let Some(c) = words.chars().find(|c| "|;&<>`$\n".contains(*c)) {
        return Err(format!(
            "bash({text}): {c:?} has no meaning here; each command of a line is judged by itself"
        ));
    }
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        return Err(format!("bash({text}) names no command; bash alone means every command"));
    }
    Ok(CommandPattern { words, rest })
}

fn parse_path(text: Option<&str>) -> Result<PathPattern, String> {
    let Some(text) = text.map(|text| text.strip_prefix("./").unwrap_or(text)) else {
        return Ok(PathPattern { text: "**".to_owned(), glob: None });
    };
    if text.split('/').any(|part| part == "..") {
        return Err(format!(
            "{text}: .. is not followed; write the path from the workspace or from /"
        ));
    }
    let glob = GlobBuilder::new(text)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| format!("{text} is not a path pattern: {}", error.kind()))?;
    Ok(PathPattern { text: text.to_owned(), glob: Some(glob.compile_matcher()) })
}

impl Rule {
    /// Whether it speaks of this one command of a line.
    ///
    /// `strictness` says what the caller wants to know: a rule that allows must match for sure, a rule
    /// that stops also sees a command behind a path, a wrapper or git's global options.
    pub fn matches_command(&self, command: &SimpleCommand, strictness: Strictness) -> Match {
        let What::Command(pattern) = &self.what else { return Match::No };
        let plain = pattern.matches(&command.words, strictness);
        match strictness {
            Strictness::Allow => plain,
            Strictness::Stop => disguises(&command.words)
                .iter()
                .map(|words| pattern.matches(words, strictness))
                .fold(plain, Match::max),
        }
    }

    /// Whether it speaks of every command, whatever it is.
    pub fn is_any_command(&self) -> bool {
        matches!(&self.what, What::Command(pattern) if pattern.words.is_empty())
    }

    /// Whether it speaks of commands at all.
    pub fn is_about_commands(&self) -> bool {
        matches!(self.what, What::Command(_))
    }

    /// Whether it speaks of reading some paths.
    pub fn is_about_reading(&self) -> bool {
        matches!(self.what, What::Read(_))
    }

    /// The words of a command rule, and whether more may follow.
    pub fn command_words(&self) -> Option<(&[String], bool)> {
        match &self.what {
            What::Command(pattern) => Some((&pattern.words, pattern.rest == Rest::Any)),
            What::Read(_) | What::Change(_) | What::Mcp { .. } | What::Tool(_) => None,
        }
    }

    /// Whether it speaks of this call, commands aside.
    pub fn matches_call(&self, action: &Action, tool: &str, strictness: Strictness) -> Match {
        let by_name = match &self.what {
            What::Tool(name) => name == tool,
            What::Mcp { server, tool: wanted } => {
                tool.split_once('/').is_some_and(|(of_server, of_tool)| {
                    server.as_deref().is_none_or(|server| server == of_server)
                        && wanted.as_deref().is_none_or(|wanted| wanted == of_tool)
                })
            }
            What::Command(_) | What::Read(_) | What::Change(_) => false,
        };
        if by_name {
            return Match::Yes;
        }
        match (&self.what, action) {
            (What::Change(pattern), Action::Change(target)) => pattern.matches(target, strictness),
            (What::Read(pattern), Action::Read(target)) => {
                let sure = pattern.matches(target, strictness);
                // `grep` and its like read everything below their path.
                let reads_below = tool != "read" && strictness == Strictness::Stop;
                if sure == Match::No && reads_below && pattern.may_lie_below(target) {
                    return Match::Maybe;
                }
                sure
            }
            _ => Match::No,
        }
    }
}

/// What a match is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// To let something through: only what is certain counts.
    Allow,
    /// To stop or ask: what is likely counts too.
    Stop,
}

impl CommandPattern {
    fn matches(&self, words: &[Word], strictness: Strictness) -> Match {
        let mut result = Match::Yes;
        for (index, wanted) in self.words.iter().enumerate() {
            let Some(word) = words.get(index) else { return Match::No };
            let same_name = strictness == Strictness::Stop
                && index == 0
                && base_name(&word.text) == wanted.as_str();
            match word.kind {
                WordKind::Literal if word.text == *wanted || same_name => {}
                WordKind::Literal => return Match::No,
                WordKind::Pattern | WordKind::Dynamic => result = Match::Maybe,
            }
        }
        match self.rest {
            Rest::None if words.len() > self.words.len() => Match::No,
            Rest::None | Rest::Any => result,
        }
    }
}

/// Other ways to read a command: what a wrapper runs, and git without its global options.
fn disguises(words: &[Word]) -> Vec<Vec<Word>> {
    let Some(name) = words.first().map(|word| base_name(&word.text)) else { return Vec::new() };
    if super::harmless::is_wrapper(name) {
        return (1..words.len()).map(|start| words[start..].to_vec()).collect();
    }
    if name != "git" {
        return Vec::new();
    }
    let mut rest = &words[1..];
    while let Some(word) = rest.first().filter(|word| word.text.starts_with('-')) {
        let takes_value = matches!(
            word.text.as_str(),
            "-c" | "-C"
                | "--git-dir"
                | "--work-tree"
                | "--namespace"
                | "--exec-path"
                | "--config-env"
        );
        rest = rest.get(if takes_value { 2 } else { 1 }..).unwrap_or_default();
    }
    vec![words[..1].iter().chain(rest).cloned().collect()]
}

impl PathPattern {
    fn matches(&self, target: &Target, strictness: Strictness) -> Match {
        let is_absolute = self.text.starts_with('/');
        let reaches = match (target.place, strictness) {
            (Place::Outside, _) => is_absolute,
            (Place::Workspace, _) => !is_absolute,
            (Place::Protected, Strictness::Stop) => !is_absolute,
            (Place::Protected, Strictness::Allow) => !is_absolute && self.names_protected(),
        };
        let matches = self.glob.as_ref().is_none_or(|glob| glob.is_match(&target.shown));
        if reaches && matches { Match::Yes } else { Match::No }
    }

    fn names_protected(&self) -> bool {
        self.text.split('/').any(|part| PROTECTED_NAMES.contains(&part))
    }

    /// Whether the pattern could match something below a folder.
    fn may_lie_below(&self, folder: &Target) -> bool {
        let base: Vec<&str> =
            self.text.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
        let folder: Vec<&str> =
            folder.shown.split('/').filter(|part| *part != "." && !part.is_empty()).collect();
        let base: Vec<&str> = base.into_iter().filter(|part| !part.is_empty()).collect();
        base.iter().zip(&folder).all(|(a, b)| a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::shell::{Parsed, parse};

    fn command(rule: &str, line: &str, strictness: Strictness) -> Match {
        let Parsed::Simple(commands) = parse(line) else { return Match::Maybe };
        rule.parse::<Rule>().unwrap().matches_command(&commands[0], strictness)
    }

    fn target(shown: &str, place: Place) -> Target {
        Target { shown: shown.to_owned(), real: shown.into(), place }
    }

    // X11: a rule speaks of words, not of letters.
    #[test]
    fn a_command_rule_matches_whole_words() {
        use Match::{Maybe, No, Yes};
        for (rule, line, allow, stop) in [
            ("bash(ls:*)", "ls", Yes, Yes),
            ("bash(ls:*)", "ls -la x", Yes, Yes),
            ("bash(ls:*)", "lsof", No, No),
            ("bash(ls)", "ls -la", No, No),
            ("bash(cargo test:*)", "cargo test --lib", Yes, Yes),
            ("bash(cargo test *)", "cargo test --lib", Yes, Yes),
            ("bash(cargo test:*)", "cargo testx", No, No),
            ("bash(cargo test:*)", "cargo", No, No),
            ("bash(cargo test:*)", "cargo $x", Maybe, Maybe),
            ("bash(rm:*)", "/bin/rm x", No, Yes),
            ("bash(rm:*)", "sudo -u root rm x", No, Yes),
            ("bash(rm:*)", "env A=1 rm x", No, Yes),
            ("bash(rm:*)", "find . -exec rm {} +", No, Yes),
            ("bash(rm:*)", "xargs -n 1 rm", No, Yes),
            ("bash(git push:*)", "git -C x push", No, Yes),
            ("bash(git push:*)", "git -c a=b --no-pager push", No, Yes),
            ("bash(git push:*)", "git pull", No, No),
            ("bash", "anything at all", Yes, Yes),
            ("bash(*)", "anything at all", Yes, Yes),
        ] {
            assert_eq!(command(rule, line, Strictness::Allow), allow, "{rule} allows {line}");
            assert_eq!(command(rule, line, Strictness::Stop), stop, "{rule} stops {line}");
        }
    }

    #[test]
    fn a_path_rule_stays_in_the_workspace_and_leaves_protected_files_alone() {
        use Match::{No, Yes};
        for (rule, shown, place, expected) in [
            ("edit(src/**)", "src/a/b.rs", Place::Workspace, Yes),
            ("write(src/**)", "src/a/b.rs", Place::Workspace, Yes),
            ("edit(src/*)", "src/a/b.rs", Place::Workspace, No),
            ("edit(./src/*)", "src/b.rs", Place::Workspace, Yes),
            ("edit(src/**)", "srcs/b.rs", Place::Workspace, No),
            ("edit", "any/where", Place::Workspace, Yes),
            ("edit(**)", "/etc/passwd", Place::Outside, No),
            ("edit", "/etc/passwd", Place::Outside, No),
            ("edit(/tmp/**)", "/tmp/x", Place::Outside, Yes),
            ("edit(**)", ".git/config", Place::Protected, No),
            ("edit(.git/**)", ".git/config", Place::Protected, Yes),
            ("edit(AGENTS.md)", "AGENTS.md", Place::Protected, Yes),
            ("edit(**/*.md)", "AGENTS.md", Place::Protected, No),
        ] {
            let rule: Rule = rule.parse().unwrap();
            let action = Action::Change(target(shown, place));
            assert_eq!(
                rule.matches_call(&action, "edit", Strictness::Allow),
                expected,
                "{rule} {shown}"
            );
        }
    }

    #[test]
    fn a_rule_against_reading_also_sees_searches_of_a_folder_around_it() {
        let rule: Rule = "read(secrets/**)".parse().unwrap();
        for (tool, shown, expected) in [
            ("read", "secrets/key", Match::Yes),
            ("read", "src/a.rs", Match::No),
            ("grep", ".", Match::Maybe),
            ("grep", "src", Match::No),
            ("list", "secrets", Match::Maybe),
        ] {
            let action = Action::Read(target(shown, Place::Workspace));
            assert_eq!(
                rule.matches_call(&action, tool, Strictness::Stop),
                expected,
                "{tool} {shown}"
            );
        }
    }

    #[test]
    fn other_tools_are_named() {
        for (rule, tool, expected) in [
            ("fetch", "fetch", Match::Yes),
            ("fetch", "task", Match::No),
            ("mcp(files/read)", "files/read", Match::Yes),
            ("mcp(files/read)", "files/write", Match::No),
            ("mcp(files)", "files/write", Match::Yes),
            ("mcp(files/*)", "files/write", Match::Yes),
            ("mcp", "files/write", Match::Yes),
            ("mcp", "fetch", Match::No),
        ] {
            let rule: Rule = rule.parse().unwrap();
            assert_eq!(
                rule.matches_call(&Action::Session, tool, Strictness::Allow),
                expected,
                "{rule} {tool}"
            );
        }
    }

    #[test]
    fn a_wrong_rule_is_named() {
        for (rule, message) in [
            ("", "must begin with a tool's name, such as bash(cargo test:*) (got )"),
            ("bash(ls", "bash(ls has no closing parenthesis"),
            ("bash()", "bash() has nothing between its parentheses"),
            (
                "bash(a*b)",
                "bash(a*b): * stands only at the end, after a colon, such as bash(cargo test:*)",
            ),
            (
                "bash(ls; rm:*)",
                "bash(ls; rm:*): ';' has no meaning here; each command of a line is judged by itself",
            ),
            ("bash(:*)", "bash(:*) names no command; bash alone means every command"),
            ("edit(../x)", "../x: .. is not followed; write the path from the workspace or from /"),
            ("mcp(/x)", "mcp(/x) must be mcp(server/tool) or mcp(server)"),
            (
                "fetch(x)",
                "fetch takes no pattern; bash, read, edit, write and mcp do (write just fetch)",
            ),
        ] {
            assert_eq!(rule.parse::<Rule>().unwrap_err(), message);
        }
        assert!("edit(a[)".parse::<Rule>().unwrap_err().contains("is not a path pattern"));
    }
}
