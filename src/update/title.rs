//! The window's title: `crystal · ` and what the session is about.
//!
//! Invariant: it is given out when it changes and never without a person at the terminal.

use crate::app::App;
use crate::app::effect::{Effect, ScreenEffect};
use crate::base::text::{cut, sanitize};
use crate::turn::Attended;

/// Characters of what the session is about: taskbars and tabs show fewer.
const ABOUT_CHARS_MAX: usize = 60;

pub(super) fn refresh(app: &mut App) -> Option<Effect> {
    if app.options.attended != Attended::ByPerson {
        return None;
    }
    let title = format!("crystal · {}", about(app));
    if app.screen.title == title {
        return None;
    }
    app.screen.title.clone_from(&title);
    Some(Effect::Screen(ScreenEffect::Title(title)))
}

/// The session's title, else the person's first words, else the folder.
fn about(app: &App) -> String {
    let live = app.front();
    let said = live.state.title.as_deref().or_else(|| live.feed.first_words());
    let folder = || app.workspace.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let text =
        said.map(str::to_owned).or_else(folder).unwrap_or_else(|| app.workspace.shown.clone());
    sanitize::line(cut::chars(&text, ABOUT_CHARS_MAX))
}
