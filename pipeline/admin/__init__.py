"""The web process beside a job: an HTTP API and a console; every write is an event on Kafka."""
