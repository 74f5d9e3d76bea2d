"""Measurements on a real broker, each repeatable with one command."""
