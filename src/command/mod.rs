//! Slash commands: one registry, one file each.
