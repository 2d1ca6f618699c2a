"""Files that a command reads or writes; `-` is standard input or output."""

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from broker.errors import BadRequest


@contextmanager
def reading(file: Path) -> Iterator[TextIO]:
    """Open a text to read. Raises BrokerError when the file cannot be read, or is not UTF-8."""
    from broker.errors import BrokerError

    encoding = "utf-8-sig"  # UTF-8, with the mark that some editors put first, or without
    if str(file) == "-" and isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding=encoding)
    try:
        opened = nullcontext(sys.stdin) if str(file) == "-" else file.open(encoding=encoding)
        if isinstance(opened, TextIOWrapper) and isinstance(opened.buffer, BufferedReader):
            opened.buffer.peek()  # some files can be opened, but not read
    except OSError as error:
        is_url = re.match("https?:/", str(file))
        hint = "fetch it first, such as with curl" if is_url else "name a file, or - for standard input"
        raise BrokerError(f"cannot read {file}: {error.strerror}", hint) from None
    try:
        with opened as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise BrokerError(f"{file} is not UTF-8: {error.reason} at byte {error.start}", "convert it to UTF-8") from None


@contextmanager
def writing(file: Path | None, *, secret: bool = False) -> Iterator[TextIO]:
    """Open a text to write; None is standard output. Nobody else can read a secret file. Raises BrokerError when the
    file cannot be written.
    """
    from broker.errors import BrokerError

    def opener(path: str, flags: int) -> int:
        descriptor = os.open(path, flags, 0o600 if secret else 0o666)
        if secret and stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, 0o600)  # the file may have existed with other permissions
        return descriptor

    try:
        opened = (
            nullcontext(sys.stdout)
            if file is None or str(file) == "-"
            else open(file, "w", encoding="utf-8", opener=opener)  # noqa: SIM115  # closed below; Path.open takes no opener
        )
    except OSError as error:
        raise BrokerError(f"cannot write {file}: {error.strerror}", "name a file in a folder that exists") from None
    with opened as stream:
        yield stream


def json_of(file: str, section: str) -> Any:
    """The JSON value of a file, or this section of it if the file is a world with the section. Raises BrokerError."""
    from broker import world

    with reading(Path(file)) as stream:
        found = world.parse_json(stream.read(), file)
    return found.get(section, found) if isinstance(found, dict) else found


PRESET = "preset:"
"""Begins the name of a preset, where a command takes a file or a preset."""
_JDL = re.compile(r"^[\[ \t]*[\w.+]+[ \t]*=", re.MULTILINE)
"""A line of a JDL, or of a submit file of HTCondor."""


class Elements:
    """The elements of a file: JSON lines are read one by one, any other JSON all at once."""

    def __init__(self, stream: Iterator[str], name: str, listed: Callable[[Any], list[Mapping[str, object]]]) -> None:
        self._lines = enumerate(stream, 1)
        self._listed = listed
        self._name = name
        self._skipped: list[int] | None = None  # numbers of the empty lines; None: an element is not a line

    def where(self, number: int) -> str:
        """The place of the n-th element: its line, or its number."""
        if self._skipped is None:
            return f"element {number}"
        for skipped in self._skipped:
            number += skipped <= number
        return f"line {number}"

    def __iter__(self) -> Iterator[Mapping[str, object]]:
        from broker.errors import BadRequest
        from broker.json_text import Written, parse

        skipped: list[int] = []
        at, first = next(self._filled(skipped), (0, "[]"))
        try:
            value = self._parsed(at, first)
            found = self._listed(value)
            if isinstance(value, dict) and found[:1] == [value]:
                self._skipped = skipped
            yield from found
        except ValueError:  # an object or array over several lines
            text = first + "".join(line for _, line in self._lines)
            try:
                yield from self._listed(parse(text, Written))
            except ValueError as error:
                hint = "give JSON, or one JSON object a line"
                if _JDL.search(text):
                    hint = (
                        'a JDL or a submit file is the payload of a job: {"payload": {"JDL": "[ Executable = ... ]"}}'
                    )
                raise BadRequest(f"{self._name} is not JSON: {error}", hint) from None
        for number, line in self._filled(skipped):
            try:
                element = self._parsed(number, line)
            except ValueError as error:
                raise self._no_json(number, error) from None
            yield element

    def _parsed(self, number: int, line: str) -> Any:
        """The value of a line. Raises ValueError if the line is no JSON by itself, and BadRequest if it is JSON of a
        value that is refused."""
        from broker.json_text import Written, parse

        try:
            return parse(line, Written)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            raise self._no_json(number, error) from None

    def _no_json(self, number: int, error: ValueError) -> "BadRequest":
        from broker.errors import BadRequest

        return BadRequest(f"{self._name}, line {number}, is not JSON: {error}", "give one JSON object a line")

    def _filled(self, skipped: list[int]) -> Iterator[tuple[int, str]]:
        """The lines that are not empty, with their numbers; `skipped` gets the numbers of the others."""
        for number, line in self._lines:
            if line.strip():
                yield number, line
            else:
                skipped.append(number)
