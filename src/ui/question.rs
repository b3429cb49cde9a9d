//! A question to the person, drawn: the exact command or diff, and the keys that answer.

use ratatui::text::{Line, Span};

use crate::app::panels::question::{Entry, QuestionPanel};
use crate::app::panels::trust::TrustQuestion;
use crate::approval::action::{Action, Place, Preview};
use crate::base::text::sanitize;

use super::theme::{Role, Theme};
use super::{diff, flow};

/// Rows of a preview that are laid out; [`fitted`] shows those that there is room for.
const PREVIEW_ROWS_MAX: usize = 10_000;

pub fn lines(panel: &QuestionPanel, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    let question = &panel.question;
    let prepared = &question.prepared;
    let mut out = vec![rule(columns, &title(panel), theme)];
    let preview = preview(&prepared.preview, columns.saturating_sub(2), theme);
    let most = preview.len().saturating_sub(PREVIEW_ROWS_MAX);
    let top = panel.scroll.min(most);
    let shown = preview.iter().skip(top).take(PREVIEW_ROWS_MAX);
    out.extend(shown.map(|line| indented(line.clone())));
    if most > 0 {
        let left = preview.len() - top - PREVIEW_ROWS_MAX.min(preview.len() - top);
        out.push(Line::styled(format!("  ↑↓ {left} more rows"), theme.style(Role::Dim)));
    }
    let why = sanitize::line(&question.why);
    out.extend(flow::wrap(&Line::styled(format!("  {why}"), theme.style(Role::Dim)), columns, 2));
    if let Some(warning) = &question.warning {
        let text = format!("  ! {}", sanitize::line(warning));
        out.extend(flow::wrap(&Line::styled(text, theme.style(Role::Warning)), columns, 4));
    }
    out.extend(flow::wrap(&keys(panel, theme), columns, 2));
    out
}

/// Says that a path leaves the workspace, with its real target (X10).
fn title(panel: &QuestionPanel) -> String {
    let prepared = &panel.question.prepared;
    let tool = sanitize::line(&prepared.call.name);
    match &prepared.action {
        Action::Run { .. } => "Run this command?".to_owned(),
        Action::Change(target) | Action::Read(target) => {
            let place = match target.place {
                Place::Workspace => "",
                Place::Protected => " (protected)",
                Place::Outside => " (outside the workspace)",
            };
            format!("{tool} {}{place}?", sanitize::line(&target.shown))
        }
        Action::Session => format!("{tool}?"),
    }
}

fn preview(preview: &Preview, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    match preview {
        Preview::Command(command) => {
            let safe = sanitize::clean(command);
            let line = |line: &str| flow::wrap(&Line::raw(line.to_owned()), columns, 2);
            safe.split('\n').flat_map(line).collect()
        }
        Preview::Diff(unified) => diff::render(&sanitize::clean(unified), "", columns, theme),
        Preview::Path(path) => flow::wrap(&Line::raw(sanitize::line(path)), columns, 2),
    }
}

fn keys(panel: &QuestionPanel, theme: &Theme) -> Line<'static> {
    let key = |text: &'static str| Span::styled(text, theme.style(Role::Accent));
    let entry = |label: &'static str, (before, after): (&str, &str)| {
        Line::from(vec![
            Span::raw("  "),
            Span::styled(label, theme.style(Role::Dim)),
            Span::raw(sanitize::line(before)),
            Span::styled("▏", theme.style(Role::Accent)),
            Span::raw(sanitize::line(after)),
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
                    Span::raw(format!(" always {}", sanitize::line(rule))),
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
    let path = Line::raw(format!("  {}", sanitize::line(&panel.path)));
    out.extend(flow::wrap(&path, columns, 2));
    let holds: Vec<String> = panel.holds.iter().map(|name| sanitize::line(name)).collect();
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
    let title = crate::base::text::width::ellipsis(title, usize::from(columns).saturating_sub(6));
    let used = crate::base::text::width::columns(&title) + 4;
    let rest = "─".repeat(usize::from(columns).saturating_sub(used));
    Line::from(vec![
        Span::styled("── ", theme.style(Role::Warning)),
        Span::styled(title, theme.style(Role::Heading)),
        Span::styled(format!(" {rest}"), theme.style(Role::Warning)),
    ])
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
