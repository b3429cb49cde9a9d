//! `/status`

use std::fmt::Write as _;

use crate::app::App;
use crate::app::panels::Panel;
use crate::app::panels::info::{Info, InfoRow};
use crate::app::workspace::Trust;
use crate::conversation::usage::Usage;

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope, no_completions};

pub const STATUS: Command = Command {
    name: "status",
    aliases: &[],
    help: "Shows session, model, context, usage and safety",
    usage: &["/status"],
    allowed: Allowed::Always,
    complete: no_completions,
    run,
};

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    args.none()?;
    let rows = rows(scope.app);
    scope.app.panels.open(Panel::Info(Info::new("Status", rows)));
    Ok(())
}

fn rows(app: &App) -> Vec<InfoRow> {
    let live = app.front();
    let state = &live.state;
    let spec = app.models.spec_of(live);
    let pair = |name: &str, value: String| InfoRow::Pair(name.to_owned(), value);
    let context = live.context(&spec);
    let measured = if context.is_estimate {
        "estimated, as the ~ of CTX says, until the model reports its own count"
    } else {
        "as the model reported"
    };
    let mut rows = vec![
        pair("Version", app.options.version.to_owned()),
        pair("Session", state.id.to_string()),
        pair("Title", state.title.clone().unwrap_or_else(|| "none".into())),
        pair("Workspace", app.workspace.path.display().to_string()),
        pair("Trust", trust(&app.workspace.trust)),
        pair("Mode", state.mode.to_string()),
        pair("Model", live.model_label()),
        pair("Thinking", live.gear().to_string()),
        pair(
            "Context",
            format!(
                "{} of {} tokens, {}%, {measured}",
                context.used, spec.limits.context_window, context.percent
            ),
        ),
        pair("Last round", state.usage.last.as_ref().map_or_else(|| "none".into(), usage)),
        pair("Session usage", state.usage.total.as_ref().map_or_else(|| "unknown".into(), usage)),
        pair("Cost", cost(state.usage.total.as_ref(), spec.price.as_ref())),
        pair(
            "Counters",
            format!(
                "{}, {}, {}",
                counted(state.counters.turns, "turn"),
                counted(state.counters.rounds, "round"),
                counted(state.counters.tool_calls, "tool call")
            ),
        ),
        pair("Approvals", app.approvals.policy.to_string()),
        pair("Sandbox", "none in this version: approvals are the only guard".into()),
        pair("Instructions", instructions(app)),
    ];
    if !app.approvals.for_session.is_empty() {
        rows.push(pair("Allowed for now", app.approvals.for_session.join(", ")));
    }
    rows
}

fn counted(count: u64, name: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {name}{s}")
}

fn trust(trust: &Trust) -> String {
    match trust {
        Trust::Trusted => "trusted".into(),
        Trust::NothingToTrust => "nothing here that would need it".into(),
        Trust::Untrusted { holds } => format!("not trusted; not read: {}", holds.join(", ")),
    }
}

fn instructions(app: &App) -> String {
    let files: Vec<&str> =
        app.workspace.instructions.iter().map(|file| file.path.as_str()).collect();
    if files.is_empty() { "none".into() } else { files.join(", ") }
}

fn usage(usage: &Usage) -> String {
    let mut text = format!("{} in", usage.input);
    for (tokens, name) in [(usage.cache_read, "cache read"), (usage.cache_write, "cache write")] {
        if tokens > 0 {
            let _ = write!(text, ", {tokens} {name}");
        }
    }
    let _ = write!(text, ", {} out", usage.output);
    if usage.reasoning > 0 {
        let _ = write!(text, ", {} of it reasoning", usage.reasoning);
    }
    if usage.estimated {
        text.push_str(" (estimated)");
    }
    text
}

fn cost(total: Option<&Usage>, price: Option<&crate::conversation::model::Price>) -> String {
    match (total, price) {
        (None, _) => "unknown".into(),
        (_, None) => "no price known for this model".into(),
        (Some(total), Some(price)) => format!("${:.4}", total.cost(price)),
    }
}
