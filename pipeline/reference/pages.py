"""All pages of the documentation that exist only in the site, by their place in it."""

from pipeline.reference.command_line import command_line_page
from pipeline.reference.event_schema import event_schema_page
from pipeline.reference.metrics import metrics_page
from pipeline.reference.reasons import reasons_page


def pages() -> dict[str, str]:
    """Return each page's text."""
    return {
        "reference/cli.md": command_line_page(),
        "reference/event-schema.md": event_schema_page(),
        "reference/metrics.md": metrics_page(),
        "reference/reasons.md": reasons_page(),
    }
