"""Executes a notebook in a kernel of this interpreter: FROM TO, in the working folder.

In a process of its own, because the kernel's client leaves its sockets to the garbage collector.
"""

import sys
from pathlib import Path

import jupyter_client
import nbformat
from nbclient import NotebookClient


def main(source: str, target: str) -> None:
    notebook = nbformat.read(source, as_version=4)
    manager = jupyter_client.AsyncKernelManager()
    manager.kernel_spec.argv[0] = sys.executable
    place = {"metadata": {"path": str(Path.cwd())}}
    try:
        NotebookClient(notebook, manager, timeout=300, resources=place).execute()
    finally:
        nbformat.write(notebook, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
