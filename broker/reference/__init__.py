"""The generated reference: pages below sql/reference and broker/docs/reference, from the catalogue and the program.
It also writes `broker/tables.py`, the views of schema monitor for programs in Python.

`python -m broker.reference` writes all of them. Pages about the database (functions, views, tables, rules, facts,
configuration, settings, errors) are in sql/reference, and pages about the program (commands, fields of worlds, Python)
in broker/docs/reference. Nobody edits these pages: their texts are comments in the database, help texts and docstrings.
Each module of this package makes one kind of page.
"""

from collections.abc import Mapping
from pathlib import Path

from broker.reference import (
    commands,
    errors,
    exports,
    facts,
    functions,
    index,
    python,
    relations,
    rules,
    settings,
    tables,
    worlds,
)
from broker.reference.catalogue import Connection
from broker.reference.markdown import COMMAND, HEAD
from broker.upgrade.source import package_folder

__all__ = ["COMMAND", "HEAD", "TABLES", "folders", "generated", "pages", "write"]

TABLES = Path(__file__).resolve().parents[1] / "tables.py"
"""The generated module."""

_DATABASE = (functions.pages, relations.pages, rules.pages, facts.pages, settings.pages, errors.pages)


def folders() -> Mapping[str, Path]:
    """The places of the pages: the folder's name on pages -> the folder of this checkout."""
    return {
        "sql/reference": package_folder("sql") / "reference",
        "broker/docs/reference": Path(__file__).resolve().parents[1] / "docs" / "reference",
    }


def pages(connection: Connection) -> dict[Path, str]:
    """Every generated page, from the database of `connection` and this program: file -> text."""
    database = [page for kind in _DATABASE for page in kind(connection)]
    program = [*commands.pages(), *worlds.pages(connection), *exports.pages(), *python.pages()]
    made = {"sql/reference": [*index.pages(database), *database], "broker/docs/reference": program}
    return {folders()[name] / page.name: page.text for name, listed in made.items() for page in listed}


def generated() -> set[Path]:
    """The files with the mark of a generated page."""
    files = [file for folder in folders().values() for file in folder.glob("*.md")]
    return {file for file in files if file.read_text(encoding="utf-8").startswith(HEAD)}


def write(connection: Connection) -> None:
    """Write the module and all pages, and remove generated pages that are not made any more."""
    TABLES.write_text(tables.text(connection), encoding="utf-8")
    found = pages(connection)
    for file in generated() - found.keys():
        file.unlink()
    for file, text in found.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
