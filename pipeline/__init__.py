"""Everything that moves data: from Kafka, through the state store, to Kafka."""
