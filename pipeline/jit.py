"""Lets the JVM's second compiler work only when nobody else wants the processor.

It halves the time of a micro-batch, but takes one of few cores for the first minutes. Left out, the
job stays slow for good; given the lowest priority, it is quick after a minute and never in the way.
"""

import contextlib
import os
from pathlib import Path

# The threads must be there from the start, or one that comes later would not be found.
JIT_OPTION = "-XX:-UseDynamicNumberOfCompilerThreads"

_COMPILER = "C2 CompilerThre"  # as Linux cuts the name
_LOWEST = 19


def compile_in_the_background(pid: int) -> None:
    """Give the compiler threads of a JVM the lowest priority; where that cannot be, do nothing."""
    with contextlib.suppress(OSError):
        for name in Path(f"/proc/{pid}/task").glob("*/comm"):
            if name.read_text().startswith(_COMPILER):
                os.setpriority(os.PRIO_PROCESS, int(name.parent.name), _LOWEST)
