"""The errors a user can meet; every message names the setting or field and the way out."""


class DuestreamError(Exception):
    """Root of all errors that are told to a user as one sentence, without a stack trace."""


class ConfigError(DuestreamError):
    """A setting is missing, unknown or out of range."""


class StateError(DuestreamError):
    """The state store cannot be used as asked."""


class KafkaError(DuestreamError):
    """The Kafka cluster, or a topic this job needs, cannot be used as asked."""


class SetupError(DuestreamError):
    """Something on this machine is missing: Java, the jars, a free port."""
