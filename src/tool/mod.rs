//! The tools that a model has, one file a tool.
