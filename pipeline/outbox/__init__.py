"""Holds claimed messages in memory and publishes each at its instant, exactly once."""
