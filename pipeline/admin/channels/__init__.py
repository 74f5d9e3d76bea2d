"""Channels: events that programs post, lock and delete by HTTP; all of it is kept on Kafka."""
