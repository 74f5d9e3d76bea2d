"""The options of a lane's Kafka clients, and the names by which Kafka knows a state's job."""

from dataclasses import dataclass, field
from uuid import uuid4

from pipeline.quiet import Options


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach Kafka, as which job."""

    state_id: str
    client: Options = field(repr=False)  # of every librdkafka client; secrets are among them
    producer: Options = field(repr=False)  # of producers only
    timeout: float  # seconds after which the broker gives up a transaction
    run: str = field(default_factory=lambda: uuid4().hex)  # this start of the job, no other

    @property
    def patience(self) -> float:
        """Seconds for one attempt to publish, or for one question.

        Less than the broker's: it must never be the one to give up on a job that is alive, for that
        looks like another job taking over.
        """
        return self.timeout * 0.75

    def transactional(self, lane: int) -> Options:
        """Options of the only producer that may publish on ``lane``."""
        return {
            **self.client,
            # For large batches; a flush ends this wait when a transaction is queued whole.
            "linger.ms": 20,
            # A transaction right after another finds the first still closing and asks again; at the
            # default of 100 ms that wait would be most of the lateness.
            "retry.backoff.ms": 5,
            "queue.buffering.max.messages": 500_000,
            # What is published has been seen by then: a topic not there any more holds up its lane
            # for no longer than this.
            "topic.metadata.propagation.max.ms": 3_000,
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
