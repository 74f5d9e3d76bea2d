"""Checks settings against one another, where each alone is right."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pipeline.config.drop_in import drop_ins, histories
from pipeline.config.kafka_block import SecuritySettings
from pipeline.config.problems import Problem, refusal
from pipeline.config.settings import Settings
from pipeline.config.spans import write_duration
from state.rules.json_path import parse_path

_SASL_FIELDS = ("mechanism", "username", "password")
_NAMELESS = "cloudevents-mongo"  # the dialect that does not say where a message goes
_PER_PARTITION = "karafka"  # the dialect whose keys count within a partition
_SSL_FIELDS = ("ca_file", "certificate_file", "key_file", "key_password")


def contradictions(settings: Settings) -> list[Problem]:
    """Return where settings contradict one another."""
    return [
        *_security(settings.kafka.security),
        *_topics(settings),
        *_dialects(settings),
        *drop_ins(settings),
        *_withdraw(settings),
        *_outputs(settings),
        *_shapes(settings),
        *_lookahead(settings),
        *_retry(settings),
    ]


def require_runnable(settings: Settings) -> None:
    """Raise ConfigError unless a job can run with these settings."""
    gaps = list(missing_to_run(settings))
    if gaps:
        raise refusal(gaps)


def require_outputs(settings: Settings) -> None:
    """Raise ConfigError unless the settings say where messages may go."""
    gaps = list(_no_outputs(settings))
    if gaps:
        raise refusal(gaps)


def missing_to_run(settings: Settings) -> Iterator[Problem]:
    """Yield what a job needs and other commands do not."""
    yield from _no_outputs(settings)
    yield from _outputs_not_allowed(settings)
    if settings.state.kind == "memory":
        return
    if settings.state.kind == "delta" and settings.state.delta.path is None:
        yield Problem("state.delta.path", "is not set; give a durable folder or URI")
    if settings.state.kind == "mongo" and settings.state.mongo.uri is None:
        yield Problem("state.mongo.uri", "is not set; give one, such as mongodb://host:27017")
    if settings.pipeline.checkpoint is None:
        yield Problem("pipeline.checkpoint", "is not set; give a durable folder or URI")


def _no_outputs(settings: Settings) -> Iterator[Problem]:
    if not settings.outputs.allow:
        yield Problem(
            "outputs.allow",
            "names no topic, so nothing could be published; list topics or patterns, "
            "such as [orders, 'invoices.*']",
        )


def _outputs_not_allowed(settings: Settings) -> Iterator[Problem]:
    allow = settings.outputs.allow
    for number, source in enumerate(settings.sources):
        topic = source.output_topic
        if topic and allow and not any(fnmatchcase(topic, pattern) for pattern in allow):
            yield Problem(
                f"sources[{number}].output_topic",
                f"{topic} is not in outputs.allow, so every record would be refused; add it there",
            )


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
    if settings.outputs.late_topic is not None:
        named.append(("outputs.late_topic", settings.outputs.late_topic))
    named += histories(settings)
    for path, topic in named:
        if topic in uses:
            yield Problem(path, f"{topic} is already {uses[topic]}; give each a topic of its own")
        uses.setdefault(topic, path)


def _dialects(settings: Settings) -> Iterator[Problem]:
    for number, source in enumerate(settings.sources):
        path = f"sources[{number}].output_topic"
        if source.dialect == _NAMELESS and source.output_topic is None:
            yield Problem(path, f"is not set; {_NAMELESS} needs it, its events name no topic")
        if source.dialect != _NAMELESS and source.output_topic is not None:
            yield Problem(path, f"is of no use with {source.dialect}, whose records name a topic")
        if source.output_topic in settings.reserved_topics:
            yield Problem(path, f"{source.output_topic} is a topic the job itself reads or writes")
    yield from _namespaces(settings)


def _namespaces(settings: Settings) -> Iterator[Problem]:
    dialects: dict[str, str] = {}
    for number, source in enumerate(settings.sources):
        name = source.namespace or source.topic
        other = dialects.setdefault(name, source.dialect)
        if _PER_PARTITION in (source.dialect, other) and source.dialect != other:
            yield Problem(
                f"sources[{number}].namespace",
                f"{name} is shared by {other} and {source.dialect}; with {_PER_PARTITION} a key "
                "counts within its partition only, give each a namespace of its own",
            )


def _outputs(settings: Settings) -> Iterator[Problem]:
    for number, pattern in enumerate(settings.outputs.allow):
        if pattern in settings.reserved_topics:
            yield Problem(
                f"outputs.allow[{number}]",
                f"{pattern} is a topic the job itself reads or writes; remove it from the list",
            )


def _shapes(settings: Settings) -> Iterator[Problem]:
    if settings.publish.guarantee == "exactly_once":
        return
    for pattern, shape in settings.outputs.shape.items():
        if shape.fire_id_header is False and shape.envelope == "raw":
            yield Problem(
                f"outputs.shape.{pattern}.fire_id_header",
                "with publish.guarantee at_least_once nothing else tells a message sent twice; "
                "leave it out, or choose an envelope, which has the fire id as its id",
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


def _withdraw(settings: Settings) -> Iterator[Problem]:
    sources = {source.topic: source.dialect for source in settings.sources}
    for number, rule in enumerate(settings.withdraw):
        path = f"withdraw[{number}]"
        if rule.source not in sources:
            yield Problem(f"{path}.source", f"{rule.source} is not one of sources[].topic")
        if sources.get(rule.source) == _PER_PARTITION:
            yield Problem(
                f"{path}.source",
                f"{rule.source} is of the dialect {_PER_PARTITION}, whose schedules are named by "
                "their partition too; a record of another topic cannot tell it",
            )
        if rule.topic in sources:
            yield Problem(f"{path}.topic", f"{rule.topic} is also one of sources[].topic")
        for said in filter(None, (rule.key, *rule.where)):
            try:
                parse_path(said)
            except ValueError as error:
                yield Problem(path, f"has a JSON path that cannot be read: {error}")
