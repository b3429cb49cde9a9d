//! What the system tells the program, without the runtime's types.

/// A signal that the program reacts to. A change of size is not here: it comes as
/// [`crate::app::key::Input::Resize`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// SIGTERM: save and end.
    Terminate,
    /// SIGHUP: the terminal is gone or going; save and end.
    Hangup,
    /// SIGINT from outside: in raw mode Ctrl+C is a key.
    Interrupt,
    /// SIGQUIT: save and end.
    Quit,
    /// SIGCONT: the process runs again; another program may have changed the terminal meanwhile, so it is
    /// taken again and everything is drawn.
    Continue,
    /// SIGWINCH: the terminal may have another size. The input reports it too, but loses one that comes
    /// together with a key.
    Window,
}
