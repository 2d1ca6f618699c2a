"""Files that a command reads or writes; `-` is standard input or output."""

import contextlib
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO


def reading(file: Path) -> AbstractContextManager[TextIO]:
    """A text to read."""
    return contextlib.nullcontext(sys.stdin) if str(file) == "-" else file.open(encoding="utf-8")


def writing(file: Path | None) -> AbstractContextManager[TextIO]:
    """A text to write; None is standard output."""
    return contextlib.nullcontext(sys.stdout) if file is None or str(file) == "-" else file.open("w", encoding="utf-8")
