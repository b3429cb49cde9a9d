//! The default keys, as one table: bindings, help and the names that the config may use.
//!
//! A key that the config moves is moved in every layer of its action. Ctrl+7 and Ctrl+/ are what terminals
//! report for Ctrl+_, and Ctrl+H for Backspace.

use super::{Binding, Layer};
use crate::app::action::{Action, Answer, ListMove, Scroll};
use crate::app::composer::Edit;

const fn bind(layer: Layer, keys: &'static str, action: Action, help: &'static str) -> Binding {
    Binding { layer, keys, action, help }
}

/// All defaults, in the order of the help panel.
#[rustfmt::skip]
pub(super) const DEFAULTS: &[Binding] = &[
    bind(Layer::Composer, "enter", Action::Edit(Edit::Submit), "sends; a trailing \\ makes a new line instead"),
    bind(Layer::Composer, "shift+enter alt+enter ctrl+j", Action::Edit(Edit::Newline), "makes a new line"),
    bind(Layer::Composer, "tab", Action::Complete, "completes a command"),
    bind(Layer::Composer, "ctrl+r", Action::SearchHistory, "searches what was sent before"),
    bind(Layer::Composer, "up ctrl+p", Action::Edit(Edit::Up), "moves up; at the top, recalls what was sent before"),
    bind(Layer::Composer, "down ctrl+n", Action::Edit(Edit::Down), "moves down; at the bottom, goes back to the draft"),
    bind(Layer::Composer, "left", Action::Edit(Edit::Left), "moves one character to the left"),
    bind(Layer::Composer, "right ctrl+f", Action::Edit(Edit::Right), "moves one character to the right"),
    bind(Layer::Composer, "alt+left ctrl+left alt+b", Action::Edit(Edit::WordLeft), "moves one word to the left"),
    bind(Layer::Composer, "alt+right ctrl+right alt+f", Action::Edit(Edit::WordRight), "moves one word to the right"),
    bind(Layer::Composer, "home ctrl+a", Action::Edit(Edit::LineStart), "moves to the beginning of the line"),
    bind(Layer::Composer, "end ctrl+e", Action::Edit(Edit::LineEnd), "moves to the end of the line"),
    bind(Layer::Composer, "backspace shift+backspace ctrl+h", Action::Edit(Edit::DeleteBack), "deletes the character before the cursor"),
    bind(Layer::Composer, "delete ctrl+d", Action::Edit(Edit::DeleteForward), "deletes the character after the cursor"),
    bind(Layer::Composer, "ctrl+w alt+backspace ctrl+backspace", Action::Edit(Edit::DeleteWordBack), "deletes the word before the cursor"),
    bind(Layer::Composer, "alt+d alt+delete ctrl+delete", Action::Edit(Edit::DeleteWordForward), "deletes the word after the cursor"),
    bind(Layer::Composer, "ctrl+u", Action::Edit(Edit::DeleteToLineStart), "deletes to the beginning of the line"),
    bind(Layer::Composer, "ctrl+k", Action::Edit(Edit::DeleteToLineEnd), "deletes to the end of the line"),
    bind(Layer::Composer, "ctrl+y", Action::Edit(Edit::Yank), "puts back the last deleted words or line"),
    bind(Layer::Composer, "ctrl+_ ctrl+7 ctrl+/ alt+z", Action::Edit(Edit::Undo), "undoes"),
    bind(Layer::Composer, "alt+shift+z alt+_ alt+/", Action::Edit(Edit::Redo), "redoes"),
    bind(Layer::Composer, "alt+e", Action::Edit(Edit::ExpandPaste), "expands a long paste in place"),
    bind(Layer::Composer, "esc", Action::Cancel, "interrupts the turn"),
    bind(Layer::Composer, "shift+tab", Action::ToggleMode, "switches between work and plan"),
    bind(Layer::Composer, "pageup", Action::Scroll(Scroll::PageUp), "scrolls a page up"),
    bind(Layer::Composer, "pagedown", Action::Scroll(Scroll::PageDown), "scrolls a page down"),
    bind(Layer::Composer, "shift+up", Action::Scroll(Scroll::Up), "scrolls a line up"),
    bind(Layer::Composer, "shift+down", Action::Scroll(Scroll::Down), "scrolls a line down"),
    bind(Layer::Composer, "ctrl+home", Action::Scroll(Scroll::Start), "goes to the beginning of the conversation"),
    bind(Layer::Composer, "ctrl+end", Action::Scroll(Scroll::End), "goes to the end of the conversation and follows it"),
    bind(Layer::Composer, "ctrl+o", Action::ToggleFold, "folds or unfolds the latest tool output"),
    bind(Layer::EmptyComposer, "?", Action::Help, "shows keys and commands"),
    bind(Layer::EmptyComposer, "ctrl+d", Action::Quit, "quits"),
    bind(Layer::Everywhere, "ctrl+c", Action::Interrupt, "interrupts the turn, else clears the text; twice quits"),
    bind(Layer::Everywhere, "f2", Action::ToggleMouse, "leaves the mouse to the terminal, or takes it back"),
    bind(Layer::Everywhere, "ctrl+l", Action::Redraw, "draws the screen anew"),
    bind(Layer::Everywhere, "ctrl+z", Action::Suspend, "suspends; fg comes back"),
    bind(Layer::Picker, "enter", Action::List(ListMove::Choose), "chooses the row"),
    bind(Layer::Picker, "esc", Action::List(ListMove::Close), "closes the list"),
    bind(Layer::Picker, "up ctrl+p shift+tab", Action::List(ListMove::Up), "goes one row up"),
    bind(Layer::Picker, "down ctrl+n tab", Action::List(ListMove::Down), "goes one row down"),
    bind(Layer::Picker, "pageup", Action::List(ListMove::PageUp), "goes a page up"),
    bind(Layer::Picker, "pagedown", Action::List(ListMove::PageDown), "goes a page down"),
    bind(Layer::Picker, "home", Action::List(ListMove::First), "goes to the first row"),
    bind(Layer::Picker, "end", Action::List(ListMove::Last), "goes to the last row"),
    bind(Layer::Picker, "backspace shift+backspace ctrl+h", Action::List(ListMove::Erase), "erases the last character of the filter"),
    bind(Layer::Picker, "ctrl+u ctrl+w", Action::List(ListMove::ClearFilter), "empties the filter"),
    bind(Layer::Question, "y", Action::Answer(Answer::Once), "allows it once"),
    bind(Layer::Question, "a", Action::Answer(Answer::Always), "allows it always, for the pattern shown"),
    bind(Layer::Question, "n esc", Action::Answer(Answer::No), "refuses"),
    bind(Layer::Panel, "esc q", Action::ClosePanel, "closes the panel"),
    bind(Layer::Panel, "up k", Action::Scroll(Scroll::Up), "scrolls a line up"),
    bind(Layer::Panel, "down j", Action::Scroll(Scroll::Down), "scrolls a line down"),
    bind(Layer::Panel, "pageup", Action::Scroll(Scroll::PageUp), "scrolls a page up"),
    bind(Layer::Panel, "pagedown space", Action::Scroll(Scroll::PageDown), "scrolls a page down"),
    bind(Layer::Panel, "home ctrl+home g", Action::Scroll(Scroll::Start), "goes to the beginning"),
    bind(Layer::Panel, "end ctrl+end G", Action::Scroll(Scroll::End), "goes to the end"),
];
