//! A question to the person, drawn: the exact command or diff, and the keys that answer.
//!
//! Invariant: nothing of what is asked about is hidden or cut off: every control and hidden character has a
//! mark, every line end too, and what does not fit can be scrolled to. Not here: what a key does.

use ratatui::text::{Line, Span};

use crate::app::panels::question::{Entry, QuestionPanel};
use crate::app::panels::trust::TrustQuestion;
use crate::approval::action::{Action, Place, Prepared, Preview};
use crate::approval::decision::warning_for_rule;
use crate::approval::rule::Rule;
use crate::base::text::{sanitize, width};

use super::theme::{Role, Theme};
use super::{diff, flow};

/// All rows of a question; [`fitted`] shows those that there is room for.
pub fn lines(panel: &QuestionPanel, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    let question = &panel.question;
    let prepared = &question.prepared;
    let (title, path) = title(panel, columns);
    let mut out = vec![rule(columns, &title, theme)];
    out.extend(path.into_iter().flat_map(|path| marked(&path, "  ", columns, theme, Role::Text)));
    let preview = preview(prepared, columns.saturating_sub(2), theme);
    out.extend(preview.into_iter().map(indented));
    out.extend(marked(&question.why, "  ", columns, theme, Role::Dim));
    if let Some(warning) = warning_now(panel) {
        out.extend(marked(&warning, "  ! ", columns, theme, Role::Warning));
    }
    out.extend(flow::wrap(&keys(panel, theme), columns, 2));
    out
}

/// What to know before answering: of the suggested rule, or of the one that is being typed.
fn warning_now(panel: &QuestionPanel) -> Option<String> {
    match &panel.entry {
        Entry::Rule(line) => match line.text().parse::<Rule>() {
            Ok(rule) => warning_for_rule(&rule),
            Err(error) => Some(error),
        },
        Entry::Choice | Entry::Reason(_) => panel.question.warning.clone(),
    }
}

/// Untrusted words as rows in which every character is seen.
fn marked(text: &str, before: &str, columns: u16, theme: &Theme, role: Role) -> Vec<Line<'static>> {
    let text = format!("{before}{}", sanitize::exact_line(text));
    let indent = u16::try_from(before.len()).unwrap_or(2);
    flow::wrap(&Line::styled(text, theme.style(role)), columns, indent)
}

/// Says that a path leaves the workspace, with its real target (X10); a path that is too long for the title
/// is returned to be shown whole.
fn title(panel: &QuestionPanel, columns: u16) -> (String, Option<String>) {
    let prepared = &panel.question.prepared;
    let tool = sanitize::exact_line(&prepared.call.name);
    match &prepared.action {
        Action::Run { .. } => ("Run this command?".to_owned(), None),
        Action::Change(target) | Action::Read(target) => {
            let place = match target.place {
                Place::Workspace => "",
                Place::Protected => " (protected)",
                Place::Outside => " (outside the workspace)",
            };
            let whole = format!("{tool} {}{place}?", sanitize::exact_line(&target.shown));
            if width::columns(&whole) <= title_columns(columns) {
                return (whole, None);
            }
            (format!("{tool} this path{place}?"), Some(target.shown.clone()))
        }
        Action::Session => (format!("{tool}?"), None),
    }
}

fn preview(prepared: &Prepared, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    match &prepared.preview {
        Preview::Command(command) => {
            let safe = sanitize::exact_command(command);
            let rows = safe.split('\n').count();
            let line = |(index, text): (usize, &str)| {
                let mut line = Line::raw(text.to_owned());
                if index + 1 < rows {
                    // X11: where a line ends is seen, and is not to be mistaken for a wrapped one.
                    line.spans.push(Span::styled("␤", theme.style(Role::Dim)));
                }
                flow::wrap(&line, columns, 2)
            };
            safe.split('\n').enumerate().flat_map(line).collect()
        }
        Preview::Diff(unified) => {
            let path = match &prepared.action {
                Action::Change(target) | Action::Read(target) => target.shown.as_str(),
                Action::Run { .. } | Action::Session => "",
            };
            diff::render(&sanitize::exact(unified), path, columns, theme)
        }
        Preview::Path(path) => flow::wrap(&Line::raw(sanitize::exact_line(path)), columns, 2),
    }
}

fn keys(panel: &QuestionPanel, theme: &Theme) -> Line<'static> {
    let key = |text: &'static str| Span::styled(text, theme.style(Role::Accent));
    let entry = |label: &'static str, (before, after): (&str, &str)| {
        Line::from(vec![
            Span::raw("  "),
            Span::styled(label, theme.style(Role::Dim)),
            Span::raw(sanitize::exact_line(before)),
            Span::styled("▏", theme.style(Role::Accent)),
            Span::raw(sanitize::exact_line(after)),
        ])
    };
    match &panel.entry {
        Entry::Rule(line) => entry("allow for this session (Enter; Esc back): ", line.halves()),
        Entry::Reason(line) => entry("why not (Enter sends it, empty is fine): ", line.halves()),
        Entry::Choice => {
            let mut spans = vec![Span::raw("  "), key("y"), Span::raw(" yes")];
            if let Some(rule) = &panel.question.always {
                spans.extend([
                    Span::raw("   "),
                    key("a"),
                    Span::raw(format!(" always {}", sanitize::exact_line(rule))),
                ]);
            }
            spans.extend([
                Span::raw("   "),
                key("n"),
                Span::raw(" no, with a reason   "),
                key("Esc"),
                Span::raw(" no"),
            ]);
            Line::from(spans)
        }
    }
}

pub fn trust_lines(panel: &TrustQuestion, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    let mut out = vec![rule(columns, "Do you trust this folder?", theme)];
    let path = Line::raw(format!("  {}", sanitize::exact_line(&panel.path)));
    out.extend(flow::wrap(&path, columns, 2));
    let holds: Vec<String> = panel.holds.iter().map(|name| sanitize::exact_line(name)).collect();
    let text = format!(
        "  It holds {}. They steer the model and crystal and are read only after a yes.",
        holds.join(", ")
    );
    out.extend(flow::wrap(&Line::styled(text, theme.style(Role::Dim)), columns, 2));
    let key = |text: &'static str| Span::styled(text, theme.style(Role::Accent));
    let keys =
        [Span::raw("  "), key("y"), Span::raw(" trust it   "), key("n"), Span::raw(" not now")];
    out.push(Line::from(keys.to_vec()));
    out
}

fn rule(columns: u16, title: &str, theme: &Theme) -> Line<'static> {
    let title = width::ellipsis(title, title_columns(columns));
    let used = width::columns(&title) + 4;
    let rest = "─".repeat(usize::from(columns).saturating_sub(used));
    Line::from(vec![
        Span::styled("── ", theme.style(Role::Warning)),
        Span::styled(title, theme.style(Role::Heading)),
        Span::styled(format!(" {rest}"), theme.style(Role::Warning)),
    ])
}

/// Columns that a title may take of its rule.
fn title_columns(columns: u16) -> usize {
    usize::from(columns).saturating_sub(6)
}

fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}

/// The rows of a question within `rows_max`: title and keys stay, the arrows scroll what is between them.
pub fn fitted(
    panel: &QuestionPanel,
    mut lines: Vec<Line<'static>>,
    rows_max: usize,
    columns: u16,
    theme: &Theme,
) -> Vec<Line<'static>> {
    if lines.len() <= rows_max {
        return lines;
    }
    let key_rows = flow::wrap(&keys(panel, theme), columns, 2).len();
    let answers = lines.split_off(lines.len() - key_rows.min(lines.len() - 1));
    // One row says how much there is to scroll to.
    let room = rows_max.saturating_sub(answers.len() + 2);
    let top = panel.scroll.min((lines.len() - 1).saturating_sub(room));
    let mut out = vec![lines[0].clone()];
    if room > 0 {
        out.extend(lines[1 + top..].iter().take(room).cloned());
        let hidden = lines.len() - 1 - room;
        let text = format!("  ↑↓ {top} rows above, {} below", hidden - top);
        let text = crate::base::text::width::ellipsis(&text, usize::from(columns));
        out.push(Line::styled(text, theme.style(Role::Dim)));
    }
    out.extend(answers);
    out.truncate(rows_max);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::key::{Key, KeyCode};
    use crate::app::keymap::{Keymap, Layer};
    use crate::approval::action::Target;
    use crate::base::id::{CallId, Ids};
    use crate::base::time::{Moment, Timestamp};
    use crate::conversation::message::ToolUse;
    use crate::turn::effect::Question;

    fn panel(name: &str, action: Action, preview: Preview) -> QuestionPanel {
        let input = serde_json::json!({});
        let call = ToolUse { id: CallId::new("c"), name: name.into(), input };
        let prepared =
            Box::new(Prepared { call, action, preview, guard: None, is_independent: false });
        let always = Some("bash(make:*)".to_owned());
        let question = Question { prepared, why: "because".into(), always, warning: None };
        QuestionPanel::new(Ids::seeded(1).session(Timestamp::default()), question, Moment(0))
    }

    fn command(text: &str) -> QuestionPanel {
        let action = Action::Run { command: text.into() };
        panel("bash", action, Preview::Command(text.into()))
    }

    fn change(shown: &str, diff: &str) -> QuestionPanel {
        let target = Target { shown: shown.into(), real: shown.into(), place: Place::Outside };
        panel("edit", Action::Change(target), Preview::Diff(diff.into()))
    }

    fn text(panel: &QuestionPanel, columns: u16) -> String {
        let rows = lines(panel, columns, &Theme::plain());
        rows.iter().map(Line::to_string).collect::<Vec<_>>().join("\n")
    }

    // T03, X11, X16: what is asked about cannot look like something else.
    #[test]
    fn nothing_of_a_command_or_a_name_is_hidden() {
        for (command_text, wanted) in [
            ("ls\ntouch P", "  ls␤\n  touch P\n"),
            ("ls\rtouch P", "ls␍touch P"),
            ("ls\u{2028}touch\u{a0}P", "ls‹U+2028›touch‹U+00A0›P"),
            ("cat \u{202e}gpj.exe", "cat ‹U+202E›gpj.exe"),
            ("a\u{1b}[2J\u{9b}31m\u{e0041}", "a␛[2J‹U+009B›31m‹U+E0041›"),
        ] {
            let drawn = text(&command(command_text), 80);
            assert!(drawn.contains(wanted), "{drawn}");
        }
        for (path, wanted) in [
            ("/x; touch P", "edit /x; touch P (outside the workspace)?"),
            ("/a\napprove all", "edit /a␤approve all (outside"),
            ("/\u{202e}gpj.exe", "edit /‹U+202E›gpj.exe"),
        ] {
            let drawn = text(&change(path, ""), 80);
            assert!(drawn.contains(wanted), "{drawn}");
        }
        let drawn = text(&change("/a", "@@ -1 +1 @@\n-a\n+b\u{202e}c\u{1b}]0;x\n"), 80);
        assert!(drawn.contains("b‹U+202E›c␛]0;x"), "{drawn}");
    }

    // X10: a long path is shown whole, its end is what matters.
    #[test]
    fn a_path_that_does_not_fit_the_title_is_shown_whole() {
        let path = format!("/{}/secret", "long".repeat(30));
        let drawn = text(&change(&path, ""), 60);
        let solid: String = drawn.chars().filter(|c| !c.is_whitespace()).collect();
        assert!(solid.contains(&path) && drawn.contains("outside the workspace"), "{drawn}");
    }

    #[test]
    fn a_long_command_scrolls_to_its_end() {
        let long: Vec<String> = (0..60).map(|index| format!("echo {index}")).collect();
        let mut panel = command(&long.join("\n"));
        let shown = |panel: &QuestionPanel| {
            let theme = Theme::plain();
            let rows = fitted(panel, lines(panel, 80, &theme), 20, 80, &theme);
            rows.iter().map(Line::to_string).collect::<Vec<_>>().join("\n")
        };
        assert!(shown(&panel).contains("below") && !shown(&panel).contains("echo 59"));
        panel.scroll = usize::MAX;
        assert!(shown(&panel).contains("echo 59"), "{}", shown(&panel));
    }

    // X11: the rule that is typed is checked while it is typed.
    #[test]
    fn a_typed_rule_warns_and_an_unreadable_one_says_why() {
        let mut panel = command("python3 x.py");
        let press = |panel: &mut QuestionPanel, code| {
            let key = Key::plain(code);
            panel.on_key(key, Keymap::default().lookup(Layer::Question, key), Moment(5_000))
        };
        press(&mut panel, KeyCode::Char('a'));
        for (typed, wanted) in [
            ("bash(python3:*)", "! python3 can do anything"),
            ("bash", "! it allows every command"),
            ("bash(make:*", "! bash(make:* has no closing parenthesis"),
            ("bash(a | b)", "has no meaning here"),
        ] {
            let Entry::Rule(line) = &mut panel.entry else { panic!("no entry") };
            *line = crate::app::panels::line_edit::LineEdit::new(typed);
            let drawn = text(&panel, 100);
            assert!(drawn.contains(wanted), "{typed}: {drawn}");
        }
    }
}
