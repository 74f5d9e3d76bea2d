"""The options of a lane's Kafka clients, and the names by which Kafka knows a state's job."""

from dataclasses import dataclass

from pipeline.quiet import Options


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach Kafka, as which job."""

    state_id: str
    client: Options  # of every librdkafka client
    producer: Options  # of producers only
    timeout: float  # seconds for one call; a transaction is given up by the broker after that too

    def transactional(self, lane: int) -> Options:
        """Options of the only producer that may publish on ``lane``."""
        return {
            **self.client,
            "linger.ms": 1,
            # A transaction right after another finds the first still closing and asks again; at the
            # default of 100 ms that wait would be most of the lateness.
            "retry.backoff.ms": 5,
            "queue.buffering.max.messages": 500_000,
            "partitioner": "murmur2_random",
            **self.producer,
            "transactional.id": f"duestream.{self.state_id}.lane-{lane}",
            "transaction.timeout.ms": int(self.timeout * 1000),
        }

    def plain(self) -> Options:
        """Options of a producer without transactions."""
        options = self.transactional(0)
        del options["transactional.id"], options["transaction.timeout.ms"]
        return options

    def markers(self) -> Options:
        """Options of the consumer that reads the markers and stands for their group."""
        return {
            **self.client,
            "group.id": f"duestream.{self.state_id}.markers",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
