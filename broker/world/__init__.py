"""Worlds: the content of a setup as one JSON object, to load and dump. Sections, and the modules that read them:
resources.py (queues, storages, links ...), work.py (datasets, tasks, statistics ...), instance.py (rented machines),
config.py (gdpconfig), taskqueue.py (TaskQueues, limits, groups ...). There are also `setup` (alias `vo`), the tenant of
all rows, and `now`, the time of decisions.

A load is one transaction, all or nothing. A row replaces the existing row or, with merge, changes only its given
fields. Loading a dump and dumping again gives the same text.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, LiteralString

from psycopg import IsolationLevel
from psycopg.pq import TransactionStatus

from broker.client.submitter import MANY, There
from broker.database import Connection
from broker.errors import BadRequest
from broker.json_text import json_text, shown
from broker.json_text import parse as parse_text
from broker.known_exports import recognise
from broker.world import config, instance, resources, tables, taskqueue, work
from broker.world.section import Section, naming
from broker.world.shape import ALIKE, HINT, Kept, Part, Reading, Row, nearest
from broker.world.taskqueue import load_task_queues

__all__ = [
    "SECTIONS", "Loaded", "World", "dump", "load", "load_task_queues", "missing", "naming", "parse", "parse_json",
]  # fmt: skip

World = Mapping[str, Any]

_SETUP = ("setup", "vo")
_MANY_ROWS = 500  # plans for a handful of rows take minutes from here on; autovacuum would come later
_HINTS = 5  # most hints in an error about unknown fields
_JOBS_ALONE = "jobs alone are for broker submit"
SECTIONS: Mapping[str, Section] = {**resources.SECTIONS, **work.SECTIONS, **instance.SECTIONS}
"""The sections that are kept in tables, in the order of storing; taskqueue.SECTIONS has the others."""

_NAMES = (*_SETUP, "now", "config", *SECTIONS, *taskqueue.SECTIONS)


@dataclass
class Loaded:
    """The result of a load: its setups; rows of each section; jobs of its TaskQueues (jobs) and of its tasks
    (task_jobs); left-out fields (ignored, lenient only); kept fields that no rule reads, in words (kept); keys of
    config that were set for all setups (everywhere); jobs whose CPU time was changed (there).
    """

    setups: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    jobs: int = 0
    task_jobs: int = 0
    ignored: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    everywhere: list[str] = field(default_factory=list)
    there: There = field(default_factory=There)


@dataclass(frozen=True)
class _Checked:
    """A world to be stored: its setup, and its known sections."""

    setup: str
    now: str | None
    config: list[Row]
    parts: Mapping[str, Sequence[Part]]
    queues: Mapping[str, Any]
    rows: Mapping[str, int]
    reading: Reading


def load(
    connection: Connection,
    worlds: Sequence[World],
    setup: str | None = None,
    *,
    lenient: bool = False,
    merge: bool = False,
    names: Sequence[str] = (),
    is_exported: bool = False,
) -> Loaded:
    """Upsert worlds into the database, all or nothing; `setup` overrides the setup that they name (by default
    `default`). An existing row is replaced as a whole, with everything that belongs to it: a queue's storages and
    slots, a dataset's files and replicas. merge: only the given fields change, and rows that belong to a row are
    replaced only if given. In both cases sections that describe the moment (resource_types, statistics, locks,
    live_counter) replace all such rows of the setup; several worlds of one load add up. names: the name of each world
    in errors, such as its file. is_exported: the worlds are made of exports, in which texts may be in place of numbers.
    Raises BadRequest for unknown sections and fields, naming them (`lenient` leaves them out instead), and the
    database's errors for wrong values.
    """
    loaded = Loaded()
    with connection.transaction():
        checked: list[tuple[str, _Checked]] = []
        clocks: dict[str, datetime] = {}
        for name, world in zip(names or [""] * len(worlds), worlds, strict=True):
            with naming(name):
                one = _check(connection, world, setup, clocks, merge=merge)
                checked.append((name, one))
                loaded.ignored += one.reading.ignored
                if one.reading.ignored and not lenient:
                    hint = f"{'; '.join(one.reading.hints[:_HINTS])}; load --lenient leaves out what is not known"
                    raise BadRequest(f"not known here: {', '.join(one.reading.ignored)}", hint)
        loaded.kept = _kept(kept for _, one in checked for kept in one.reading.kept)
        replaced: set[tuple[str, str]] = set()
        for name, one in checked:
            with naming(name):
                _store(connection, one, replaced, loaded, lenient=lenient, is_exported=is_exported)
        if loaded.jobs >= MANY:
            connection.execute("select taskqueue.refresh_statistics()")
        if sum(loaded.rows.values()) >= _MANY_ROWS:
            connection.execute("select brokerage.refresh_statistics()")
        for name, one in checked:
            with naming(name):
                loaded.task_jobs += _digest(connection, one)
                _require_loaded(connection, one)
        for into in dict.fromkeys(one.setup for _, one in checked if one.queues):
            connection.execute("select taskqueue.recompute_shares(%s)", [into])
    return loaded


_MISSING = {
    "input": ("task names input datasets that are not there", "tasks name input datasets that are not there"),
    "nucleus": ("task has a nucleus that is not there", "tasks have nuclei that are not there"),
    "storage": ("queue names storages that are not there", "queues name storages that are not there"),
    "replica": (
        "dataset has replicas at storages that are not there",
        "datasets have replicas at storages that are not there",
    ),
    "lfn": (
        "dataset has replicas with files that are not its own",
        "datasets have replicas with files that are not their own",
    ),
    "status": ("queue has a status that no rule knows", "queues have a status that no rule knows"),
    "label": ("task has a label that PanDA does not know", "tasks have a label that PanDA does not know"),
    "gshare": ("task has a share that is not there", "tasks have shares that are not there"),
}
"""References to missing things (workload.missing_reference), in singular and plural."""


def missing(connection: Connection, setup: str) -> list[str]:
    """References of a setup to missing things, in words: counted, with an example."""
    rows = connection.execute("select kind, rows, example from workload.missing_reference(%s)", [setup]).fetchall()
    return [f"{number:,} {_MISSING[kind][number > 1]}, such as {example}" for kind, number, example in rows]


def _kept(kept: Iterable[Kept]) -> list[str]:
    """Kept fields that no rule reads, in words; one line for each that resembles a known field."""
    found: dict[tuple[str, str, str | None], list[str]] = {}
    for one in kept:
        name = one.name if one.nearest else ""
        found.setdefault((one.section, name, one.nearest), []).append(f"{one.where}.{one.name}")
    lines = []
    for (section, _, meant), places in found.items():
        fields = len({place.rpartition(".")[2] for place in places})
        if meant:
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            lines.append(f"kept, no rule reads it: {places[0]}{more} (nearest: {meant})")
        elif fields == 1:
            lines.append(
                f"kept, no rule reads it: {places[0]}" + (f" and {len(places) - 1} more" if places[1:] else "")
            )
        else:
            lines.append(f"kept, no rule reads them: {fields} fields of {section}, such as {places[0]}")
    return lines


def _check(
    connection: Connection, world: World, setup: str | None, clocks: dict[str, datetime], *, merge: bool
) -> _Checked:
    """The world without unknown fields, whose names the reading has. clocks: the known clocks of setups."""
    for alias in _SETUP:
        if world.get(alias) is not None and not isinstance(world[alias], str):
            raise BadRequest(f"{alias} is {shown(json_text(world[alias]))}, not a text", "name one setup")
    named = world.get("setup") or world.get("vo") or "default"
    into = setup or named

    def clock() -> datetime:
        if into not in clocks:
            [(clocks[into],)] = connection.execute("select (resource.describe_setup(%s)).clock", [into]).fetchall()
        return clocks[into]

    reading = Reading(clock, merging=merge)
    if not world.keys() & set(_NAMES) and 2 * sum(nearest(name, _NAMES, ALIKE) is not None for name in world) < len(
        world
    ):
        _refuse_export("this", world)  # there are no sections, and probably none is meant
    for section in world:
        if section not in _NAMES:
            meant = nearest(section, _NAMES)
            reading.ignored.append(f"section {section}")
            known = f"sections are {', '.join(_NAMES)}; {_JOBS_ALONE}"
            reading.hints.append(f"{section}: nearest is {meant}" if meant else known)
    now = reading.time("now", world.get("now"))
    if now is not None:
        clocks[into] = datetime.fromisoformat(now)
    given = {section: value for section, value in world.items() if value is not None}
    return _Checked(
        into,
        now,
        config.read("config", given.get("config", {}), (named, into), reading),
        {name: _parts(name, given[name], reading) for name in SECTIONS if name in given},
        {
            name: section.known(name, given[name], reading)
            for name, section in taskqueue.SECTIONS.items()
            if name in given
        },
        {name: len(given[name]) for name in ("config", *SECTIONS) if name in given},
        reading,
    )


def _parts(name: str, value: Any, reading: Reading) -> list[Part]:
    """The rows of a section. Raises BadRequest; the hint describes the section unless the error has another hint."""
    section = SECTIONS[name]
    try:
        return list(section.read(name, value, reading))
    except BadRequest as error:
        if error.hint != HINT:
            raise
        raise BadRequest(error.message, f"{name} is {section.looks.replace('`', '')}; {HINT}") from None


def _store(
    connection: Connection,
    world: _Checked,
    replaced: set[tuple[str, str]],
    loaded: Loaded,
    *,
    lenient: bool,
    is_exported: bool,
) -> None:
    """Store a world's sections, and count them in `loaded`. replaced: tables of setups that the load cleared."""
    into = world.setup
    if into not in loaded.setups:
        loaded.setups.append(into)
    if world.now is not None:
        connection.execute("select resource.set_clock(%s, %s::timestamptz)", (into, world.now))
    left_out = config.store(connection, into, world.config, lenient=lenient) if world.config else []
    loaded.ignored += left_out
    loaded.everywhere += config.for_all(world.config)
    for name, parts in world.parts.items():
        for part in parts:
            again = part.parents is True and (into, part.table) in replaced
            with naming(name, partial(SECTIONS[name].said, part.table)):
                tables.store(
                    connection,
                    into,
                    Part(part.table, part.rows) if again else part,
                    merge=world.reading.merging,
                    is_exported=is_exported,
                )
            replaced.add((into, part.table))
    for name, value in world.queues.items():
        with naming(name):
            if name == "task_queues":
                number = taskqueue.store_task_queues(connection, into, value, loaded.there)
            else:
                number = taskqueue.SECTIONS[name].store(connection, into, value)
        loaded.rows[name] = loaded.rows.get(name, 0) + number
    loaded.jobs += sum(len(queue["jobs"]) for queue in world.queues.get("task_queues", ()))
    for name, count in world.rows.items():
        loaded.rows[name] = loaded.rows.get(name, 0) + count - (len(left_out) if name == "config" else 0)


def _digest(connection: Connection, world: _Checked) -> int:
    """Cut the input of the loaded tasks, and of tasks that read the loaded datasets, into jobs; return the jobs of the
    former."""
    tasks = [row["task_id"] for part in world.parts.get("tasks", ())[:1] for row in part.rows]
    datasets = [row["dataset"] for part in world.parts.get("datasets", ())[:1] for row in part.rows]
    if tasks or datasets:
        query = "select workload.digest_loaded_input(%s, %s::bigint[], %s::text[])"
        [(jobs,)] = connection.execute(query, (world.setup, tasks, datasets)).fetchall()
        query = "select brokerage.require_few_jobs(%s, %s::bigint[], %s::text[])"
        connection.execute(query, (world.setup, tasks, datasets))
        return int(jobs)
    return 0


def _require_loaded(connection: Connection, world: _Checked) -> None:
    """Refuse tasks whose payload is too large for their setup, with the settings that the load leaves, and jobs whose
    ids submitted jobs have."""
    checks: tuple[tuple[str, str, str, LiteralString], ...] = (
        ("tasks", "workload.task_payload", "task_id", "select taskqueue.require_task_payloads(%s, %s::bigint[])"),
        ("jobs", "workload.job", "job_id", "select taskqueue.refuse_submitted_ids(%s, %s::bigint[])"),
    )
    for section, table, key, check in checks:
        parts = world.parts.get(section, ())
        if ids := [row[key] for part in parts if part.table == table for row in part.rows]:
            connection.execute(check, (world.setup, ids))


def dump(
    connection: Connection,
    setup: str = "default",
    *,
    with_leases: bool = False,
    on_row: Callable[[str, str], object] | None = None,
) -> Generator[str, None, None]:
    """The world of a setup as pieces of JSON text, in constant memory, with one line per entry of a section.
    connection: in autocommit, only for the dump, which is one snapshot, in a transaction that lasts until the last
    piece was taken or the dump is closed. on_row: called for each entry with its section and its text. Raises
    BadRequest if the setup does not exist.
    """
    with _snapshot(connection):
        query = "select is_there, simulated at time zone 'UTC' from resource.describe_setup(%s)"
        [(is_there, now)] = connection.execute(query, [setup]).fetchall()
        if not is_there:
            raise BadRequest(f"setup {setup} holds nothing", "name the setup that was loaded or submitted to: --setup")
        yield f'{{\n"setup": {json_text(setup)}'
        if now is not None:
            yield f',\n"now": {json_text(now.isoformat() + "+00:00")}'
        rows = connection.execute("select resource.dump_config(%s)", [setup]).fetchall()
        yield from _entries("config", ((None, row) for (row,) in rows), on_row, named=False)
        for name, section in SECTIONS.items():
            found = tables.entries(connection, setup, section)
            if section.shape == "whole":
                for _, value in found:
                    for entry in value.items() if isinstance(value, dict) else value:
                        if on_row:
                            on_row(name, json_text(entry))
                    yield f',\n"{name}": {json_text(value)}'
            else:
                yield from _entries(name, found, on_row, named=section.shape == "object")
        yield from taskqueue.pieces(connection, setup, with_leases=with_leases, on_row=on_row)
        yield "\n}\n"


def _entries(
    name: str, found: Iterator[tuple[Any, Any]], on_row: Callable[[str, str], object] | None, *, named: bool
) -> Iterator[str]:
    """A section as pieces of text; nothing if it has no entries."""
    opening, closing = "{}" if named else "[]"
    before = f',\n"{name}": {opening}\n'
    some = False
    for key, entry in found:
        text = json_text(entry)
        if on_row:
            on_row(name, text)
        yield f"{before}{json_text(key)}: {text}" if named else f"{before}{text}"
        before = ",\n"
        some = True
    if some:
        yield f"\n{closing}"


@contextmanager
def _snapshot(connection: Connection) -> Iterator[None]:
    """A transaction in REPEATABLE READ, in which numbers are exact whatever the login sets. The connection's isolation
    is restored afterwards, since the functions that write refuse this one."""
    before = connection.isolation_level
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            connection.execute("set local extra_float_digits = 1")
            yield
    finally:
        if (
            connection.info.transaction_status == TransactionStatus.IDLE
        ):  # the connection is neither lost nor in use by the caller
            connection.isolation_level = before


def parse(text: str, name: str) -> World:
    """A world from its text. Raises BadRequest, which names the file."""
    world = parse_json(text, name)
    if not isinstance(world, dict):
        _refuse_export(name, world)
        fault = f"{name} holds no JSON object"
        raise BadRequest(fault, f'a world is one JSON object: {{"setup": ..., "task_queues": []}}; {_JOBS_ALONE}')
    return world


def parse_json(text: str, name: str) -> Any:
    """The JSON of a text. Raises BadRequest, which names the file."""
    try:
        return parse_text(text)
    except ValueError as error:
        with suppress(ValueError):
            _refuse_export(name, [parse_text(text.lstrip().partition("\n")[0])])
        raise BadRequest(f"{name} is not JSON: {error}", f"a world is one JSON object; {_JOBS_ALONE}") from None


def _refuse_export(name: str, value: Any) -> None:
    """Refuse a value whose fields show that it is an export of another system; the error names the option that takes
    it."""
    if found := recognise(value):
        raise BadRequest(f"{name} looks like {found.what}, not like a world", f"broker load {found.option} FILE")
