"""Files that a command reads or writes; `-` is standard input or output."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TextIO


@contextmanager
def reading(file: Path) -> Iterator[TextIO]:
    """A text to read. Raises BrokerError when the file cannot be read, or is not UTF-8."""
    from broker.errors import BrokerError

    try:
        opened = nullcontext(sys.stdin) if str(file) == "-" else file.open(encoding="utf-8")
    except OSError as error:
        raise BrokerError(f"cannot read {file}: {error.strerror}", "name a file, or - for standard input") from None
    try:
        with opened as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise BrokerError(f"{file} is not UTF-8: {error.reason} at byte {error.start}", "convert it to UTF-8") from None


@contextmanager
def writing(file: Path | None) -> Iterator[TextIO]:
    """A text to write; None is standard output. Raises BrokerError when the file cannot be written."""
    from broker.errors import BrokerError

    try:
        opened = nullcontext(sys.stdout) if file is None or str(file) == "-" else file.open("w", encoding="utf-8")
    except OSError as error:
        raise BrokerError(f"cannot write {file}: {error.strerror}", "name a file in a folder that is there") from None
    with opened as stream:
        yield stream
