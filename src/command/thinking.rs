//! `/thinking`

use crate::app::App;
use crate::app::change;
use crate::app::panels::picker::{Picker, PickerRow};
use crate::app::panels::{Choosing, Panel};
use crate::conversation::gear::Gear;

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope};

pub const THINKING: Command = Command {
    name: "thinking",
    aliases: &[],
    help: "Shows or sets how hard the model thinks",
    usage: &["/thinking [GEAR]"],
    allowed: Allowed::Always,
    complete: |app| offered(app).iter().map(ToString::to_string).collect(),
    run,
};

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    let Some(word) = args.word()? else {
        let current = scope.app.front().gear();
        let row = |gear: &Gear| PickerRow {
            key: gear.to_string(),
            label: gear.to_string(),
            detail: detail(*gear).to_owned(),
            hint: if *gear == current { "current".to_owned() } else { String::new() },
        };
        let rows = offered(scope.app).iter().map(row).collect();
        let mut picker = Picker::new("Thinking", rows);
        picker.select(current.name());
        scope.app.panels.open(Panel::Picker(Choosing::Gear, Box::new(picker)));
        return Ok(());
    };
    let gear: Gear = word.parse().map_err(|why| CommandError::new(format!("/thinking {why}")))?;
    scope.effects.extend(change::gear(scope.app, gear, scope.at));
    Ok(())
}

/// `default` and the gears of the session's model.
fn offered(app: &App) -> Vec<Gear> {
    let spec = app.models.spec_of(app.front());
    let mut gears = vec![Gear::Default];
    gears.extend(spec.gears.iter().copied().filter(|gear| *gear != Gear::Default));
    if spec.thinking_off_allowed && !spec.gears.is_empty() && !gears.contains(&Gear::Off) {
        gears.insert(1, Gear::Off);
    }
    gears
}

fn detail(gear: Gear) -> &'static str {
    match gear {
        Gear::Default => "what the provider chooses",
        Gear::Off => "answers without thinking first",
        Gear::Minimal | Gear::Low => "quick",
        Gear::Medium => "balanced",
        Gear::High | Gear::XHigh | Gear::Max => "slower, for hard problems",
    }
}
