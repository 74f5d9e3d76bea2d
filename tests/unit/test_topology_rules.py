"""What the topology makes of the settings."""

from pipeline.config.load import load_settings
from pipeline.topology import rules


def test_no_schedule_may_publish_to_a_topic_of_the_job_itself() -> None:
    settings = load_settings(flags={"outputs.allow": ["*"]}, environ={})
    assert set(rules(settings).reserved) == {
        "duestream.schedules",
        "duestream.dead-letters",
        "duestream.duestream.internal",
        "duestream.duestream.internal.markers",
    }
