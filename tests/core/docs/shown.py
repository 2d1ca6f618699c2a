"""The output of commands that pages show: blocks marked text, behind a block marked sh.

A block has lines of the output on a terminal of 80 columns, in their order. A line `...` or an empty line stands for
lines that are left out. Times and attempts differ from run to run, and with them the widths of columns.
"""

import re
from collections.abc import Iterator

TERMINAL = {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24", "TERM": "xterm"}
"""The variables of a terminal of 80 columns without colours."""

_VOLATILE = re.compile(
    r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00|\bnow\b|\b\d+ (?:s|min|h|d) ago\b|\bin \d+ (?:s|min|h|d)\b"
    r"|\b1-[0-9a-f]{32}\b"
)


def not_printed(text: str, output: str) -> list[str]:
    """The lines of a block that the output does not have in the place where the block shows them."""
    printed = [_plain(line) for line in output.splitlines()]
    missing: list[str] = []
    place = 0
    for part in _parts(text):
        wanted = [_plain(line) for line in part]
        found = [at for at in range(place, len(printed)) if printed[at : at + len(wanted)] == wanted]
        if found:
            place = found[0] + len(wanted)
        else:
            missing += [line for line, one in zip(part, wanted, strict=True) if one not in printed] or part
    return missing


def _parts(text: str) -> Iterator[list[str]]:
    """The lines of a block that follow each other in the output."""
    part: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip() not in ("", "..."):
            part.append(line)
        elif part:
            yield part
            part = []


def _plain(line: str) -> str:
    """A line without what differs from run to run."""
    line = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", line)
    return " ".join(_VOLATILE.sub("~", re.sub("[━─]+", "─", line)).split())
