//! Compaction: a pure engine.
