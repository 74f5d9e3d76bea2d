"""What a job tells of itself while it runs: metrics, health, logs, traces."""
