"""The public names of the program, one per line, beside those of the database (broker/upgrade/signatures.py). A release
stores all of them in migrations/signatures/<version>.txt; broker/docs/reference/promises.md says what they promise.
"""

from collections.abc import Iterable

from broker.cli.shared.codes import CODES
from broker.errors import SQLSTATES
from broker.listed import LISTS, OF_TASK, OWN_JOBS
from broker.reference.commands import root, tree
from broker.world import SECTIONS


def of_program() -> list[str]:
    """Commands with their options, lists with their columns, exit codes, SQLSTATEs, and sections of worlds with their
    fields."""
    commands = [line("command", one.name, one.options) for one in (root(), *tree())]
    lists = [line("list", name, one.columns) for name, one in {**LISTS, **OF_TASK, "own jobs": OWN_JOBS}.items()]
    fields = [
        line("section", name, {field for part in one.described for field, _ in part.names()})
        for name, one in SECTIONS.items()
    ]
    states = [line("error", state, [meaning]) for state, meaning in SQLSTATES.items()]
    return sorted([*commands, *lists, *fields, *states, *(f"exit {code} ()" for code in CODES)])


def line(kind: str, name: str, parts: Iterable[str]) -> str:
    """A name with its parts: options, columns, keys, labels."""
    return f"{kind} {name} ({', '.join(sorted(parts))})"
