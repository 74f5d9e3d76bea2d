"""The options of the commands that say what is to become of pending messages."""

from typing import Annotated

import typer

KeyArgument = Annotated[
    str | None, typer.Argument(help="The key; 0x... for bytes. Or choose many by the options.")
]
TopicOption = Annotated[str | None, typer.Option("--topic", help="All for this output topic.")]
PrefixOption = Annotated[
    str | None, typer.Option("--key-prefix", help="All whose key begins so; 0x... for bytes.")
]
FromOption = Annotated[
    str | None, typer.Option("--due-from", help="Due then or later: RFC 3339, +1h, -5m.")
]
ToOption = Annotated[str | None, typer.Option("--due-to", help="Due before: RFC 3339, +1h, -5m.")]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option("--header", help="With this header; each that is given.", metavar="NAME=VALUE"),
]
SourceOption = Annotated[
    str | None, typer.Option("--source", help="All that came from this input topic.")
]
DryOption = Annotated[
    bool, typer.Option("--dry-run", help="Only tell how many are chosen, and the first ten.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
AllOption = Annotated[bool, typer.Option("--all", help="Everything, whatever its topic.")]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Why; it is remembered.")]
ActorOption = Annotated[
    str | None, typer.Option("--actor", help="Who; else your name on this machine.")
]
VersionOption = Annotated[
    str | None,
    typer.Option(
        "--if-version",
        help="Only the message that this record made, as schedule told.",
        metavar="PARTITION-OFFSET",
    ),
]
ReplyOption = Annotated[
    str | None, typer.Option("--reply-to", help="A topic that gets the effect, as JSON.")
]
AtOption = Annotated[
    str | None, typer.Option("--at", help="When: RFC 3339, such as 2030-01-31T09:00:00Z.")
]
InOption = Annotated[str | None, typer.Option("--in", help="Or how long from now: 15m, PT15M.")]
InputOption = Annotated[
    str | None, typer.Option("--input", help="The topic the job reads; else the first source.")
]
