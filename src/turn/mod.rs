//! The turn engine: a pure state machine.
