"""The options of ``schedule``."""

from pathlib import Path
from typing import Annotated

import typer

PayloadArgument = Annotated[
    str | None, typer.Argument(help="The payload; - reads it from standard input.")
]
TopicOption = Annotated[str, typer.Option("--topic", help="Where to publish it.")]
AtOption = Annotated[
    str | None, typer.Option("--at", help="When: RFC 3339, such as 2030-01-31T09:00:00Z.")
]
InOption = Annotated[str | None, typer.Option("--in", help="Or after how long: 15m, 1h30m, PT15M.")]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="Its key: the same one again replaces it. Made up if not given."),
]
OutputKeyOption = Annotated[
    str | None, typer.Option("--output-key", help="The key to publish it with; else its own.")
]
ContentTypeOption = Annotated[
    str | None, typer.Option("--content-type", help="What the payload is: application/json.")
]
FileOption = Annotated[Path | None, typer.Option("--file", help="Read the payload from a file.")]
HeaderOption = Annotated[
    list[str] | None, typer.Option("--header", help="A record header.", metavar="NAME=VALUE")
]
AttributeOption = Annotated[
    list[str] | None,
    typer.Option("--attribute", help="A CloudEvents attribute.", metavar="NAME=VALUE"),
]
InputOption = Annotated[
    str | None, typer.Option("--input", help="The topic the job reads; else the first source.")
]
EveryOption = Annotated[
    str | None, typer.Option("--every", help="Again each time after so long: 1h, PT15M.")
]
CronOption = Annotated[
    str | None, typer.Option("--cron", help="Again by a cron expression: '30 9 * * MON-FRI'.")
]
ZoneOption = Annotated[
    str | None, typer.Option("--tz", help="The time zone of --cron, such as Europe/Berlin.")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", help="Not again after this instant, RFC 3339.")
]
ForOption = Annotated[str | None, typer.Option("--for", help="Again for so long: 30d.")]
CountOption = Annotated[str | None, typer.Option("--count", help="So often in all.")]
OnMissOption = Annotated[
    str | None,
    typer.Option(
        "--on-miss", help="What to send of occurrences that were missed: all, last, skip."
    ),
]
OnSameOption = Annotated[
    str | None,
    typer.Option(
        "--on-same",
        help="What it does to a pending message of its key: replace, keep, ignoreduplicate, "
        "ignoresmallchange, settle, debounce, throttle.",
    ),
]
CompareOption = Annotated[
    str | None, typer.Option("--compare", help="JSON path of what is compared, such as $.price.")
]
DeviationOption = Annotated[
    str | None, typer.Option("--min-deviation", help="The least change that counts: 0.5, 5%.")
]
SettleForOption = Annotated[
    str | None, typer.Option("--settle-for", help="How long to wait for others of its key.")
]
SettleMaxOption = Annotated[
    str | None, typer.Option("--settle-max", help="... and at most so long after the first.")
]
ExpiresAtOption = Annotated[
    str | None, typer.Option("--expires-at", help="Not sent from this instant on, RFC 3339.")
]
ExpireAfterOption = Annotated[
    str | None, typer.Option("--expire-after", help="Not sent once it is so late.")
]

# The options by which the command line gives an argument of the client that is no attribute.
ARGUMENTS = {
    "delay": "--in",
    "topic": "--topic",
    "content_type": "--content-type",
    "attributes": "--attribute",
    "headers": "--header",
    "if_version": "--if-version",
    "reply_to": "--reply-to",
}
