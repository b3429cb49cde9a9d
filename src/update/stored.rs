//! What became of writing: a failure is said once and stays visible, its end is said too.

use crate::app::App;
use crate::app::cells::cell::NoticeKind;
use crate::app::event::Stored;
use crate::base::id::SessionId;

/// Said when writing works again.
pub const WRITTEN_AGAIN: &str = "The session is being saved again; nothing was lost";

pub(super) fn on(app: &mut App, session: SessionId, stored: Stored) {
    let Some(live) = app.session_mut(session) else { return };
    match stored {
        Stored::Failed(why) => {
            if live.storage.trouble.is_none() {
                let text =
                    format!("Not saved: {why}. The session goes on in memory and is tried again");
                live.feed.notice(NoticeKind::Error, text);
            }
            live.storage.trouble = Some(why);
        }
        Stored::Well => {
            if live.storage.trouble.take().is_some() {
                live.feed.notice(NoticeKind::Info, WRITTEN_AGAIN);
            }
        }
    }
}
