"""How the end of a query is told."""

import pytest
from pyspark.errors import StreamingQueryException

from pipeline.away import told

QUERY = "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: "
OVERTAKEN = "[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log. Multiple streaming jobs"


@pytest.mark.parametrize(
    ("trace", "sentence"),
    [
        (f"{QUERY}{OVERTAKEN} detected for 348.", "another job has gone on with this one's checkp"),
        (f"{QUERY}x\nCaused by: java.io.IOException: disk\n\tat a.b", "java.io.IOException: disk;"),
    ],
)
def test_the_sentence_names_the_cause_and_not_the_query(trace: str, sentence: str) -> None:
    said = str(told(StreamingQueryException(trace)))
    assert sentence in said
    assert "runId" not in said
