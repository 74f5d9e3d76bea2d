"""Folds a state in a process of its own, so that a job's interpreter is never held up by it.

The parent writes one line of JSON to this process's standard input and keeps it open: when the
parent is gone, however it ended, the input ends and so does the process.
"""

import gc
import json
import os
import sys
import threading
from typing import Any

import pyarrow as pa

from state.delta.fold_steps import fold_and_tidy
from state.delta.folded import Folded
from state.delta.native import NativeFoldWriter
from state.delta.tables import Tables


def main() -> None:
    """Read the order, fold, and write the result, or why there is none, as one line of JSON."""
    gc.disable()  # it ends soon, and a fifth of its time would go into looking for garbage
    pa.set_cpu_count(1)  # what is due must find a core that is free, and many readers take memory
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        result: dict[str, Any] = {"folded": _fold(order).to_json()}
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()
    os._exit(0)


def _fold(order: dict[str, Any]) -> Folded:
    tables = Tables(order["path"], order["options"])
    return fold_and_tidy(
        tables,
        NativeFoldWriter(tables),
        order["now"],
        order["keep_closed"],
        order["vacuum_age"],
    )


def _end_with_parent() -> None:
    # Below the buffer of sys.stdin: a thread that waits in it would hold its lock at exit.
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
