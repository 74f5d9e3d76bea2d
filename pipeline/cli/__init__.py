"""The command line; each module imports what is heavy only when its command runs."""
