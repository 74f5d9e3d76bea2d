"""Runs a notebook in a kernel of this interpreter, and holds what it shows."""

import os
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

FOLDER = Path(__file__).parents[2] / "notebooks"
PLOTS = {"01-inspect": 3, "02-time-travel": 2, "03-dead-letters": 1, "04-capacity": 2}
PNG = b"\x89PNG\r\n\x1a\n"


class Shown:
    """What an executed notebook shows."""

    def __init__(self, notebook: Any) -> None:
        self.outputs = [
            output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
        ]

    @property
    def text(self) -> str:
        """All that was printed, and all results as text, with single blanks."""
        printed = [o.text for o in self.outputs if o.output_type == "stream" and o.name == "stdout"]
        results = [o.data.get("text/plain", "") for o in self.outputs if "data" in o]
        return re.sub(r"\s+", " ", "\n".join([*printed, *results]))

    @property
    def complaints(self) -> str:
        return "".join(o.text for o in self.outputs if o.get("name") == "stderr")

    @property
    def pictures(self) -> list[bytes]:
        shown = [o.data["image/png"] for o in self.outputs if "image/png" in o.get("data", {})]
        return [b64decode(text) for text in shown]

    def keep_pictures(self, name: str) -> None:
        """Write the pictures to a folder, if one is named, for people to look at."""
        folder = os.environ.get("DUESTREAM_TEST_PICTURES")
        for number, picture in enumerate(self.pictures if folder else []):
            (Path(str(folder)) / f"{name}-{number}.png").write_bytes(picture)

    def checked(self, plots: int) -> str:
        """Return the text, once nothing was complained of and all is drawn."""
        assert self.complaints == ""
        assert len(self.pictures) == plots
        assert all(picture.startswith(PNG) and len(picture) > 5_000 for picture in self.pictures)
        return self.text


Run = Callable[[Path, dict[str, str]], Shown]


def run_in(folder: Path, source: Path, variables: dict[str, str]) -> Shown:
    """Run a notebook with ``folder`` as the working folder, and nothing of ours set but this."""
    kept = {k: v for k, v in os.environ.items() if k == "DUESTREAM_CACHE"}
    clean = kept | {k: v for k, v in os.environ.items() if not k.startswith("DUESTREAM_")}
    # Warnings of the notebook's own code are errors; those of the kernel's libraries are not ours.
    clean |= {"PYTHONPATH": str(FOLDER.parent), "PYTHONWARNINGS": "error:::__main__"}
    clean |= {"IPYTHONDIR": str(folder / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    target = folder / f"executed-{source.name}"
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("execute.py")), source, target],
        env=clean | {"MPLBACKEND": ""} | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-5_000:]
    shown = Shown(nbformat.read(target, as_version=4))
    shown.keep_pictures(f"{source.stem}-{variables.get('DUESTREAM_STATE__KIND', 'delta')}")
    return shown
