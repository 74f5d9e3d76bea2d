"""Checks settings against one another, where each alone is right."""

from collections.abc import Iterator

from pipeline.config.kafka_block import SecuritySettings
from pipeline.config.problems import Problem, refusal
from pipeline.config.settings import Settings
from pipeline.config.spans import write_duration

_SASL_FIELDS = ("mechanism", "username", "password")
_SSL_FIELDS = ("ca_file", "certificate_file", "key_file", "key_password")


def contradictions(settings: Settings) -> list[Problem]:
    """Return where settings contradict one another."""
    return [
        *_security(settings.kafka.security),
        *_topics(settings),
        *_outputs(settings),
        *_lookahead(settings),
        *_retry(settings),
    ]


def require_runnable(settings: Settings) -> None:
    """Raise ConfigError unless a job can run with these settings."""
    gaps = list(missing_to_run(settings))
    if gaps:
        raise refusal(gaps)


def missing_to_run(settings: Settings) -> Iterator[Problem]:
    """Yield what a job needs and other commands do not."""
    if not settings.outputs.allow:
        yield Problem(
            "outputs.allow",
            "names no topic, so nothing could be published; list topics or patterns, "
            "such as [orders, 'invoices.*']",
        )
    if settings.state.kind == "memory":
        return
    if settings.state.kind == "delta" and settings.state.delta.path is None:
        yield Problem("state.delta.path", "is not set; give a durable folder or URI")
    if settings.state.kind == "mongo" and settings.state.mongo.uri is None:
        yield Problem("state.mongo.uri", "is not set; give one, such as mongodb://host:27017")
    if settings.pipeline.checkpoint is None:
        yield Problem("pipeline.checkpoint", "is not set; give a durable folder or URI")


def _security(security: SecuritySettings) -> Iterator[Problem]:
    yield from _only_with(security, _SASL_FIELDS, "SASL", needed=True)
    yield from _only_with(security, _SSL_FIELDS, "SSL", needed=False)
    if (security.certificate_file is None) != (security.key_file is None):
        lacking = "key_file" if security.key_file is None else "certificate_file"
        yield _security_problem(lacking, "is not set; a certificate and its key go together")
    if security.key_password is not None and security.key_file is None:
        yield _security_problem("key_password", "is of no use without kafka.security.key_file")


def _only_with(
    security: SecuritySettings, fields: tuple[str, ...], part: str, *, needed: bool
) -> Iterator[Problem]:
    used = part in security.protocol.split("_")
    for field in fields:
        given = getattr(security, field) is not None
        if used and needed and not given:
            yield _security_problem(field, f"is not set; {security.protocol} needs it")
        if given and not used:
            choices = f"{part} or SASL_SSL" if part == "SSL" else "SASL_SSL or SASL_PLAINTEXT"
            yield _security_problem(
                field,
                f"is of no use with {security.protocol}; set kafka.security.protocol to {choices}",
            )


def _security_problem(field: str, sentence: str) -> Problem:
    return Problem(f"kafka.security.{field}", sentence)


def _topics(settings: Settings) -> Iterator[Problem]:
    uses: dict[str, str] = {}
    named = [(f"sources[{n}].topic", source.topic) for n, source in enumerate(settings.sources)]
    named.append(("dead_letter.topic", settings.dead_letter.topic))
    named.append(("internal.topic", settings.internal_topic))
    named.append(("internal.topic", settings.markers_topic))
    for path, topic in named:
        if topic in uses:
            yield Problem(path, f"{topic} is already {uses[topic]}; give each a topic of its own")
        uses.setdefault(topic, path)


def _outputs(settings: Settings) -> Iterator[Problem]:
    for number, pattern in enumerate(settings.outputs.allow):
        if pattern in settings.reserved_topics:
            yield Problem(
                f"outputs.allow[{number}]",
                f"{pattern} is a topic the job itself reads or writes; remove it from the list",
            )


def _retry(settings: Settings) -> Iterator[Problem]:
    retry = settings.retry
    yield from _no_more_than(
        "retry.first_delay", retry.first_delay, "retry.longest_delay", retry.longest_delay
    )


def _lookahead(settings: Settings) -> Iterator[Problem]:
    least, most = settings.publish.lookahead_min, settings.publish.lookahead_max
    yield from _no_more_than("publish.lookahead_min", least, "publish.lookahead_max", most)


def _no_more_than(path: str, span: int, other: str, bound: int) -> Iterator[Problem]:
    if span > bound:
        yield Problem(
            path,
            f"{write_duration(span)} is more than {other} ({write_duration(bound)}); "
            "lower the one or raise the other",
        )
