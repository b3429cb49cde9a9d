//! Effects carried out: tasks, writers, timers, terminal; the event loop.
