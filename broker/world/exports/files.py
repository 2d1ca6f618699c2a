"""Files of exports: JSON, lines of JSON, tables, and folders of tables."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from broker.errors import BadRequest
from broker.json_text import parse
from broker.world.shape import Row, require

_TABLES = (".csv", ".tsv", ".txt")
_NULL = ("NULL", "\\N")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"t": "\\\t", "n": "\\\n", "r": "\\\r", "0": "\\\0", "N": "\\\\N"}
_COLUMN = re.compile(r"^\s*`(\w+)`", re.MULTILINE)
_FORMS = "an export is JSON, lines of JSON, or a table (.csv or .tsv) with the columns in the first line"


def read(file: Path, text: Callable[[Path], str], *, folder: bool = False) -> Any:
    """The value of a file or, with folder, the tables of a folder by name. text: a function that reads the text of a
    file.

    Raises BadRequest.
    """
    if folder and file.is_dir():
        return _folder(file, text)
    return _table(file, text) if file.suffix in _TABLES else _json(file, text(file))


def _json(file: Path, text: str) -> Any:
    """The JSON of a text, or a list of the JSON of its lines."""
    first, _, more = text.lstrip().partition("\n")
    if more.strip() and first.rstrip().endswith("}"):
        try:
            return [parse(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            pass  # one object on several lines, or not JSON: the error names the place
    try:
        return parse(text)
    except ValueError as error:
        raise BadRequest(f"{file} is not JSON: {error}", _FORMS) from None


def _folder(folder: Path, text: Callable[[Path], str]) -> dict[str, list[Row]]:
    """The tables of a folder, whose files are named after them."""
    tables: dict[str, list[Row]] = {}
    for file in sorted(folder.iterdir()):
        if file.stem.lower().startswith("tq_") and file.suffix in (".json", *_TABLES):
            if file.stem in tables:
                raise BadRequest(f"{file}: the table is there twice", "leave one file a table in the folder")
            tables[file.stem] = _rows(file, _json(file, text(file))) if file.suffix == ".json" else _table(file, text)
    if not tables:
        raise BadRequest(f"{folder} has no tables tq_*", "its files are tq_TaskQueues.tsv, tq_Jobs.tsv, ...")
    return tables


def _rows(file: Path, value: Any) -> list[Row]:
    require(list, str(file), value)
    return list(value)


def _table(file: Path, text: Callable[[Path], str]) -> list[Row]:
    """The rows of a table; a table of mysqldump --tab has its columns in the file of the same name with .sql. An empty
    file is an empty table: mysql --batch prints nothing for one, not even the names of its columns. Both programs write
    a backslash, a tab and a line end within a value with a backslash before it, as PostgreSQL's COPY does; a CSV file
    has quotes instead."""
    definition = file.with_suffix(".sql")
    content = text(file)
    if not content.strip():
        return []
    is_csv = file.suffix == ".csv"
    if not is_csv:  # csv knows a backslash before the character itself, not before a letter for it
        content = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), content)
    stream = io.StringIO(content, newline="")
    try:
        lines = list(
            csv.reader(stream, strict=True)
            if is_csv
            else csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE, escapechar="\\")
        )
        columns = _COLUMN.findall(text(definition)) if definition.exists() else lines.pop(0)
    except csv.Error as error:
        raise BadRequest(f"{file}: {error}", _FORMS) from None
    for number, line in enumerate(lines, 1):
        if len(line) != len(columns):
            raise BadRequest(f"{file}: row {number} has {len(line)} columns of {len(columns)}", _FORMS)
    return [
        {key: None if entry in _NULL else entry for key, entry in zip(columns, line, strict=True)} for line in lines
    ]
