"""How the command line calls the attributes of an event."""

# Which option becomes which attribute.
OPTIONS = {
    "deliverat": "--at",
    "delayby": "--in",
    "repeatevery": "--every",
    "repeatcron": "--cron",
    "repeattz": "--tz",
    "repeatuntil": "--until",
    "repeatfor": "--for",
    "repeatcount": "--count",
    "onmiss": "--on-miss",
    "onsameid": "--on-same",
    "comparefield": "--compare",
    "mindeviation": "--min-deviation",
    "settlefor": "--settle-for",
    "settlemax": "--settle-max",
    "expirytime": "--expires-at",
    "expireafter": "--expire-after",
}
