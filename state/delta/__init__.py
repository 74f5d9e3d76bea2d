"""The state in Delta tables: a changelog, the live schedules it is folded into, and the history."""
