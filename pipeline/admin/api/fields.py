"""The types of fields and parameters that the models of the API share."""

from typing import Annotated

from pydantic import Field, StringConstraints

Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Key = Annotated[str, Field(description="the key; 0x and hex digits where it is no text")]
KeyText = Annotated[str, StringConstraints(min_length=1, max_length=131_074)]
# The head of a request may have 64 KB in all, and a character may take twelve bytes of it.
KeyInQuery = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Topic = Annotated[str, StringConstraints(min_length=1, max_length=249)]
Remark = Annotated[str, StringConstraints(max_length=2_000)]
When = Annotated[
    str,
    StringConstraints(min_length=1, max_length=60),
    Field(description="an RFC 3339 instant, or from now: +1h, -5m"),
]
Cursor = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2_000),
    Field(description="`next` of the page before"),
]
