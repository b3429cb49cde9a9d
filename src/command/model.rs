//! `/model`

use crate::app::App;
use crate::app::change;
use crate::app::panels::picker::{Picker, PickerRow};
use crate::app::panels::{Choosing, Panel};

use super::args::Args;
use super::{Allowed, Command, CommandError, Scope};

pub const MODEL: Command = Command {
    name: "model",
    aliases: &[],
    help: "Chooses the model for this session",
    usage: &["/model [PROVIDER/MODEL]"],
    allowed: Allowed::Always,
    complete: |app| {
        app.models.known().iter().map(|spec| format!("{}/{}", spec.provider, spec.id)).collect()
    },
    run,
};

fn run(scope: &mut Scope<'_>, args: Args<'_>) -> Result<(), CommandError> {
    match args.word()? {
        None => {
            let picker = picker(scope.app);
            scope.app.panels.open(Panel::Picker(Choosing::Model, Box::new(picker)));
        }
        Some(word) => {
            let spec = scope.app.models.find_label(word).map_err(CommandError::new)?;
            scope.effects.extend(change::model(scope.app, spec, scope.at));
        }
    }
    Ok(())
}

fn picker(app: &App) -> Picker {
    let current = app.front().model_label();
    let row = |spec: &crate::conversation::model::ModelSpec| {
        let label = format!("{}/{}", spec.provider, spec.id);
        let hint = if label == current { "current".to_owned() } else { String::new() };
        let detail = format!("{}k window", spec.limits.context_window / 1_000);
        PickerRow { key: label.clone(), label, detail, hint }
    };
    let mut picker = Picker::new("Models", app.models.known().iter().map(row).collect());
    picker.select(&current);
    picker
}
