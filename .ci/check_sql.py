r"""The style of SQL files, and the size of folders: `python3 .ci/check_sql.py` prints each fault, exit code 1 if any.

Lines have at most 120 characters and files at most 150 lines. A file of more than 100 lines gives the reason in the
comment at its head: `-- Long because ...`. A backslash in a text is written E'\\': in other texts a caller's setting
decides its meaning (standard_conforming_strings). No folder of sql/, broker/ or tests/ holds more than 40 files. The
test tests/core/structure/test_sql_style.py and the pre-commit hook run this program; it needs only Python.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST_LINE = 120
LONGEST_FILE = 150
LONG_FILE = 100
MOST_FILES = 40

# Lists that nobody reads as a whole: one entry per table, or per grant.
LISTS = re.compile(r"migrations/baseline/\w+\.sql|sql/roles\.sql")
# Comments and texts: a quote within a comment begins no text.
TEXT = re.compile(r"--[^\n]*|\be'(?:[^'\\]|''|\\.)*'|(?P<plain>'(?:[^']|'')*')", re.IGNORECASE | re.DOTALL)


def faults(root: Path = ROOT) -> Iterator[str]:
    """Every fault below a folder, one line each."""
    files = [*sorted((root / "sql").rglob("*.sql")), *sorted((root / "migrations" / "baseline").glob("*.sql"))]
    for path in files:
        yield from _of_file(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    for top in ("sql", "broker", "tests"):
        for folder in sorted(path for path in (root / top, *(root / top).rglob("*")) if path.is_dir()):
            number = sum(path.is_file() and path.suffix != ".pyc" for path in folder.iterdir())
            if number > MOST_FILES:
                yield f"{folder.relative_to(root)}: {number} files, at most {MOST_FILES}"


def _of_file(name: str, text: str) -> Iterator[str]:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            yield f"{name}:{number}: {len(line)} characters, at most {LONGEST_LINE}"
    for found in TEXT.finditer(text):
        if "\\" in (found["plain"] or ""):
            yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: a backslash in {found[0]}, write E'\\\\'"
    if LISTS.fullmatch(name):
        return
    head = re.match(r"(?:--.*\n)*", text)
    if len(lines) > LONGEST_FILE:
        yield f"{name}: {len(lines)} lines, at most {LONGEST_FILE}"
    elif len(lines) > LONG_FILE and not (head and "Long because" in head[0]):
        yield f"{name}: {len(lines)} lines; over {LONG_FILE} the comment at its head tells why: -- Long because ..."


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
