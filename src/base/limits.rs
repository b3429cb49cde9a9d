//! Every fixed limit of the product: value, unit, reason.

/// Model-visible bytes of one tool result (spec, tools-safety): more is cut in the middle.
pub const RESULT_BYTES_MAX: usize = 50 * 1024;

/// Model-visible lines of one tool result (spec, tools-safety).
pub const RESULT_LINES_MAX: usize = 2_000;

/// Bytes of one tool result kept in an archive record; larger ones go to a blob (spec, sessions).
pub const RECORD_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of a command's output kept at all: half from its head, half from its tail. Bounds the memory
/// of a command that prints for ever.
pub const OUTPUT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of a unified diff kept with a result for the screen.
pub const DIFF_BYTES_MAX: usize = 256 * 1024;

/// Columns of a session's preview (spec, sessions).
pub const PREVIEW_COLUMNS_MAX: usize = 120;

/// Characters of the error text in an observation's outcome (spec, observability).
pub const OUTCOME_CHARS_MAX: usize = 128;

/// Streamed text is written to the archive at least this often, in milliseconds (spec, sessions).
pub const PARTIAL_INTERVAL_MS: u64 = 250;

/// ... or as soon as this many bytes wait (spec, sessions).
pub const PARTIAL_BYTES: usize = 4 * 1024;

/// Rounds of one turn before it stops and says so; a person may continue. High enough for long work,
/// low enough that a model which calls for ever does not spend a night's money.
pub const ROUNDS_MAX: u32 = 200;

/// Messages that may wait for a round boundary.
pub const QUEUE_MESSAGES_MAX: usize = 100;

/// Bytes of one instructions file that reach the system prompt.
pub const INSTRUCTIONS_BYTES_MAX: usize = 64 * 1024;

/// Keys typed in this many milliseconds before a question appeared do not answer it (spec, workspace-ui).
pub const QUESTION_GRACE_MS: u64 = 300;

/// Milliseconds that leaving waits for calls to end: a command gets TERM, and KILL after 1.5 s.
pub const LEAVING_MS_MAX: u64 = 2_500;

/// A second Ctrl+C within this many milliseconds quits (spec, workspace-ui).
pub const QUIT_WINDOW_MS: u64 = 2_000;

/// Reports taken from the tasks' channel before a frame may be drawn.
pub const REPORTS_PER_STEP_MAX: usize = 64;

/// Milliseconds between frames of what arrives by itself: 30 a second read as well as 60, for half the work.
/// What a person does is drawn at once, and takes what has arrived along.
pub const FRAME_INTERVAL_MS: u64 = 33;
