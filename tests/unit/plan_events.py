"""Good and bad events, to hold the plan against what the job makes of them."""

import json

from kafka_records import EVENT, structured, with_data, with_meta

META = {"outputTopic": "out"}
BESIDE = with_meta(META)[:-1] + b', "delayby": "1h"}'
DEEP = 24

# What the dialect and the rules of admission decide by themselves.
PLAIN = {
    "at once": structured(),
    "at an instant": structured({"deliverat": "2030-01-31T09:00:00+01:00"}),
    "lower case": structured({"deliverat": "2030-01-31t09:00:00.123456789z"}),
    "in the past": structured({"deliverat": "1999-01-31T09:00:00Z"}),
    "iso delay": structured({"delayby": "P1DT2H0.5S"}),
    "go delay": structured({"delayby": "1h30m"}),
    "key and partition": structured({"outputkey": "x", "outputpartition": 7}),
    "retries": structured({"retrymax": 3, "retryfor": "1h"}),
    "data as written": with_data('{"a": [1e30, {"b": null}]}'),
    "text": with_data('"call \\u00c4da \\ud83d\\ude00"'),
    "null data and base64": with_data('null, "data_base64": "QQ=="'),
    "blanks around": b" \n" + structured() + b"\r\n\t",
    "twice the same name": structured({"deliverat": "?"})[:-1] + b', "deliverat": null}',
    "as deep as may be": with_data("[" * DEEP + "]" * DEEP),
    "data with metaData of its own": with_data('{"metaData": {"outputTopic": "elsewhere"}}'),
    "second form": with_meta({**META, "startAt": "2030-01-31T09:00:00Z"}),
    "second form in seconds": with_meta({**META, "startAt": 1893456000.25}),
    "second form in text": with_meta({**META, "startAt": "1893456000"}),
    "second form with delay": with_meta({**META, "delayBy": "PT1M", "unknown": [1]}),
    "second form without text": with_meta(META, "null"),
    "second form of a number": with_meta(META, "12.50"),
    "an unknown attribute": structured({"myextension": {"a": 1}}),
    "empty": b"",
    "no json": b"hello",
    "an array": b"[1]",
    "cut": structured()[:-1],
    "after": structured() + b" x",
    "two": structured() * 2,
    "single quotes": b"{'specversion': '1.0'}",
    "not a number": with_data("NaN"),
    "trailing comma": with_data("[1,]"),
    "leading zero": with_data("01"),
    "a raw tab in text": with_data('"a\tb"'),
    "a bad escape": with_data('"\\x"'),
    "not utf-8": with_data('"?"').replace(b"?", b"\xff"),
    "half a surrogate": with_data('"\\ud800"'),
    "the other half": with_data('"\\udc00"'),
    "an escaped backslash": with_data('"\\\\ud800"'),
    "too deep": with_data("[" * (DEEP + 1) + "]" * (DEEP + 1)),
    "thousands deep": with_data("[" * 5000 + "]" * 5000),
    "nested source": structured({"source": ["/s"]}),
    "nested key": structured({"outputkey": {"a": 1}}),
    "no id": structured(without="id"),
    "an empty type": structured({"type": ""}),
    "null source": structured({"source": None}),
    "another version": structured({"specversion": "0.3"}),
    "no topic": structured(without="outputtopic"),
    "an empty topic": structured({"outputtopic": ""}),
    "metaData without topic": with_meta({"startAt": 1}),
    "metaData that is text": with_meta('"x"'),
    "metaData and attributes": BESIDE,
    "both times": structured({"deliverat": "2030-01-31T09:00:00Z", "delayby": "1h"}),
    "both data": structured({"data": 1, "data_base64": "QQ=="}),
    "no offset": structured({"deliverat": "2030-01-31T09:00:00"}),
    "30 February": structured({"deliverat": "2030-02-30T09:00:00Z"}),
    "leap second": structured({"deliverat": "2030-12-31T23:59:60Z"}),
    "a far offset": structured({"deliverat": "2030-01-31T09:00:00+18:01"}),
    "a number as instant": structured({"deliverat": 1893456000}),
    "months": structured({"delayby": "P1M"}),
    "an empty delay": structured({"delayby": ""}),
    "centuries": structured({"deliverat": "2226-01-01T00:00:00Z"}),
    "milliseconds": with_meta({**META, "startAt": 1893456000000}),
    "beyond numbers": with_meta({**META, "startAt": "9" * 29}),
    "long delay": structured({"delayby": "9" * 60 + "h"}),
    "partition below zero": structured({"outputpartition": -1}),
    "partition too large": structured({"outputpartition": 2147483648}),
    "partition of text": structured({"outputpartition": "a"}),
    "many retries": structured({"retrymax": 10000000}),
    "retries for long": structured({"retryfor": "long"}),
    "base64 with a blank": structured({"data_base64": "QUJD RA=="}),
    "base64 without padding": structured({"data_base64": "QQ"}),
    "an object as message": with_meta(META, '{"a": 1}'),
    "topic not allowed": structured({"outputtopic": "payroll"}),
    "topic of kafka": structured({"outputtopic": "__consumer_offsets"}),
    "topic of the job": structured({"outputtopic": "duestream.dead-letters"}),
    "no topic name": structured({"outputtopic": "a b"}),
    "by pattern": structured({"outputtopic": "bills.de"}),
    "too large": structured({"data": "x" * 101}),
    "just not too large": structured({"data": "x" * 100}),
    "cancel": structured({"type": "io.duestream.cancel.v1"}, without="outputtopic"),
    "cancel of another version": structured({"type": "io.duestream.cancel.v1", "specversion": "2"}),
}


def _repeats(**attributes: object) -> bytes:
    return structured({"deliverat": "2030-01-31T09:00:00Z", **attributes})


def _command(name: str, **attributes: object) -> bytes:
    kind = {"type": f"io.duestream.{name}.v1", **attributes}
    plain = {n: v for n, v in EVENT.items() if n != "outputtopic"}
    return json.dumps(plain | kind).encode()


# What is read on the driver, by the rules of what to send when.
ASKING = {
    "every hour": _repeats(repeatevery="1h", repeatcount=3),
    "endless": _repeats(repeatevery="1h"),
    "too often": _repeats(repeatevery="1ms", repeatcount=3),
    "cron": _repeats(repeatcron="0 9 * * MON", repeattz="Europe/Berlin", repeatfor="P7D"),
    "no cron": _repeats(repeatcron="0 9 * *", repeatcount=2),
    "no zone": _repeats(repeatcron="@daily", repeattz="Mars", repeatcount=2),
    "every and cron": _repeats(repeatevery="1h", repeatcron="@daily", repeatcount=2),
    "an end before the first": _repeats(repeatevery="1h", repeatuntil="2030-01-01T00:00:00Z"),
    "an end without a repeat": _repeats(repeatcount=2),
    "no such misfire": _repeats(repeatevery="1h", repeatcount=2, onmiss="some"),
    "expires": _repeats(expirytime="2030-01-31T10:00:00Z"),
    "expires before": _repeats(expirytime="2030-01-31T08:00:00Z"),
    "expires after none": _repeats(expireafter="0s"),
    "keep": _repeats(onsameid="keep"),
    "no such policy": _repeats(onsameid="first"),
    "settles": structured({"onsameid": "settle", "settlefor": "1m", "settlemax": "5m"}),
    "settles at an instant": _repeats(onsameid="settle", settlefor="1m"),
    "settles for none": structured({"onsameid": "debounce", "settlefor": "0s"}),
    "compares": structured(
        {"onsameid": "ignoreduplicate", "comparefield": "$.a", "data": {"a": 1}}
    ),
    "compares what is not there": structured(
        {"onsameid": "ignoreduplicate", "comparefield": "$.b", "data": {"a": 1}}
    ),
    "small change": structured(
        {
            "onsameid": "ignoresmallchange",
            "comparefield": "a",
            "mindeviation": "5%",
            "data": {"a": 1},
        }
    ),
    "small change of text": structured(
        {
            "onsameid": "ignoresmallchange",
            "comparefield": "a",
            "mindeviation": 1,
            "data": {"a": "x"},
        }
    ),
    "second form repeats": with_meta({**META, "repeatEvery": "1h", "repeatCount": 3}),
    "second form endless": with_meta({**META, "repeatEvery": "1h"}),
    "second form beside": with_meta(META)[:-1] + b', "repeatevery": "1h"}',
    "a bad time comes first": _repeats(onsameid="first", deliverat="?"),
    "a bad topic comes first": _repeats(onsameid="first", outputtopic="payroll"),
}
COMMANDS = {
    "cancel with a reason": _command("cancel", reason="paid", actor="ada", ifversion="0-17"),
    "send now": _command("sendnow"),
    "reschedule": _command("reschedule", deliverat="2030-01-31T09:00:00Z"),
    "reschedule by": _command("reschedule", delayby="1h", replyto="out"),
    "reschedule to nowhen": _command("reschedule"),
    "reschedule to no instant": _command("reschedule", deliverat="noon"),
    "reschedule by no duration": _command("reschedule", delayby="noon"),
    "reschedule twice": _command("reschedule", deliverat="2030-01-31T09:00:00Z", delayby="1h"),
    "pause": _command("pause"),
    "pause a topic": _command("pause", scope="topic", outputtopic="out"),
    "pause no topic": _command("pause", scope="topic"),
    "resume all": _command("resume", scope="all"),
    "pause some": _command("pause", scope="some"),
    "cancel a topic": _command("cancel", scope="topic", outputtopic="out"),
    "reschedule by centuries": _command("reschedule", delayby="9999999h"),
    "reschedule twice, badly": _command("reschedule", deliverat="noon", delayby="1h"),
    "reply to the job": _command("pause", replyto="duestream.dead-letters"),
    "no version": _command("cancel", ifversion="17"),
    "reply to where it may not": _command("cancel", replyto="payroll"),
}
