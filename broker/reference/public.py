"""The public names of the program, one per line, beside those of the database (broker/upgrade/signatures.py). A release
stores all of them in migrations/signatures/<version>.txt; broker/docs/reference/promises.md says what they promise.
"""

from collections.abc import Iterable
from pathlib import Path

from broker.cli.shared.codes import CODES
from broker.errors import SQLSTATES
from broker.listed import LISTS, OF_TASK, OWN_JOBS
from broker.reference.commands import root, tree
from broker.world import SECTIONS, config, taskqueue

_KEYS = Path(__file__).parent / "json_keys.txt"


def of_program() -> list[str]:
    """Commands with their options and the keys of their JSON, lists with their columns, exit codes, SQLSTATEs, and
    sections of worlds with their fields."""
    commands = [line("command", one.name, one.options) for one in (root(), *tree())]
    lists = [line("list", name, one.columns) for name, one in {**LISTS, **OF_TASK, "own jobs": OWN_JOBS}.items()]
    printed = [line("json", command, keys) for command, keys in json_keys().items()]
    fields = [
        line("section", name, {field for part in one.described for field, _ in part.names()})
        for name, one in SECTIONS.items()
    ]
    fields += [line("section", name, one.fields or ()) for name, one in taskqueue.SECTIONS.items()]
    fields.append(line("section", "config", config.FIELDS.columns))
    states = [line("error", state, [meaning]) for state, meaning in SQLSTATES.items()]
    return sorted([*commands, *lists, *printed, *fields, *states, *(f"exit {code} ()" for code in CODES)])


def line(kind: str, name: str, parts: Iterable[str]) -> str:
    """A name with its parts: options, columns, keys, labels."""
    return f"{kind} {name} ({', '.join(sorted(parts))})"


def json_keys() -> dict[str, list[str]]:
    """The keys that each command prints with --json, but for the lists. The keys of objects in a list stand behind its
    key (`jobs.attempt`); `?`: not always there; `*`: the keys are names, such as those of setups."""
    found: dict[str, list[str]] = {}
    keys: list[str] = []
    for text in _KEYS.read_text(encoding="utf-8").splitlines():
        if text.startswith(" "):
            keys += text.split()
        else:
            keys = found.setdefault(text, [])
    return found
