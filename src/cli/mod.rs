//! The command line: arguments, subcommands without a screen, errors and exit codes.
