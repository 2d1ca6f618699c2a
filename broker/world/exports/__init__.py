"""Exports of CRIC, PanDA, Harvester, Rucio and DIRAC, as these systems write them, loaded into a setup.
broker.known_exports lists them, with their sources. An export changes the rows and fields that it contains, and leaves
the rest: queues keep their measured figures, links their closeness, storages their space, and tasks the fields that
their export does not name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

import psycopg

from broker.database import Connection
from broker.errors import BadRequest, BrokerError
from broker.known_exports import EXPORTS, is_foreign, is_like, recognise
from broker.world import SECTIONS, tables
from broker.world import load as load_worlds
from broker.world.exports import counts, cric, dirac, gdpconfig, jedi, rucio
from broker.world.exports.files import read
from broker.world.exports.last_load import settle
from broker.world.exports.made import Made
from broker.world.exports.records import name_of, records_of, refusal
from broker.world.shape import Part, Reading

__all__ = ["EXPORTS", "Imported", "load", "read"]

_MADE: Mapping[str, Callable[[str, Any], Made]] = {
    "cric-storage-states": cric.storage_states, "gdpconfig": gdpconfig.keys,
    "rucio-usage": rucio.usage, "pilots": counts.pilots, "workers": counts.workers, "jedi-tasks": jedi.tasks,
    "rucio-datasets": rucio.datasets, "rucio-replicas": rucio.replicas, "job-counts": counts.jobs,
    "dirac": dirac.task_queues,
}  # fmt: skip
_KEYS = {
    "resource.queue": ("queue",), "resource.storage": ("storage",), "resource.link": ("src", "dst"),
    "resource.nucleus": ("nucleus",),
}  # fmt: skip
"""Tables in which an import changes only its own columns, with their keys."""

_NAMED = {
    "cric-queues": ("queue",), "cric-sites": ("nucleus",), "cric-storages": ("storage",),
    "cric-closeness": ("src", "dst"), "software": ("queue",),
}  # fmt: skip
"""Exports that make rows, and the columns that name a row of their first table."""

_WITHOUT_REQUIRED_FIELDS = ("cric-sites", "cric-storage-states", "gdpconfig", "network-metrics", "jedi-tasks")
_TENTH = 10  # at most this part of the records may be left out without force; one may always be
_OWNERS = {
    "queues": ("resource.queue", "queue", "cric-queues"),
    "storages": ("resource.storage", "storage", "cric-storages"),
}
"""Sections in which an export changes only existing entries: their table, its key, and the export that makes the
entries."""

_SHOWN = 3  # number of left-out entries that are named


@dataclass(frozen=True)
class Imported:
    """The result of an import: the rows of its export, left-out fields of software, records and data that are lacking,
    in words, and the names of the records that were loaded."""

    rows: int
    ignored: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    jobs: int = 0
    names: Set[str] = frozenset()


def load(
    connection: Connection,
    export: str,
    value: Any,
    setup: str = "default",
    *,
    tenant: str | None = None,
    is_whole: bool = True,
    force: bool = False,
) -> Imported:
    """Load an export (a key of broker.known_exports.EXPORTS) into a setup. A record that cannot be read is left out and
    named in `lacking`, and its row of the last load stays; records that are no longer in the export are removed.
    tenant: the Setup or the VO of DIRAC whose TaskQueues are loaded, or the VO of PanDA whose configuration is.
    is_whole: whether the value is the whole export; of a part, nothing is removed. Nothing is loaded, with BadRequest,
    from a file of another kind; of another format, naming the place; and if nothing was read, more than a tenth of the
    records cannot be read, or more than a fifth would disappear (`force` loads these).
    """
    _require_kind(export, value)
    if export == "dirac":
        value = dirac.of_tenant(export, value, tenant)
    left_out: list[str] = []
    if export == "gdpconfig":
        value, left_out = gdpconfig.of_vo(connection, export, value, setup, tenant)
    with connection.transaction():
        imported, bad = _load_readable(connection, export, value, setup, force=force)
        if not imported.rows and not force:
            fault = ": ".join(("nothing was read from it", *left_out[:1]))
            raise BadRequest(fault, f"{EXPORTS[export].option} takes {EXPORTS[export].shapes}")
        imported.lacking[:0] = left_out
        imported.lacking[:0] = [f"left out, cannot be read: {name}: {reason}" for name, reason in bad.items()]
        imported.lacking.extend(settle(connection, setup, export, imported.names, bad, is_whole=is_whole, force=force))
        return imported


def _load_readable(
    connection: Connection, export: str, value: Any, setup: str, *, force: bool
) -> tuple[Imported, Mapping[str, str]]:
    """Load the records that can be read; also return the others, by their names, with the reasons."""

    def attempt(some: Any, *, keep: bool = False) -> Imported:
        with connection.transaction(force_rollback=not keep):
            return _store(connection, export, some, setup)

    try:
        return attempt(value, keep=True), {}
    except (BrokerError, psycopg.Error) as error:
        refusal(error)
        records = records_of(export, value)
        bad = dict(records.bad(attempt)) if records else {}
        if not records or len(bad) in {0, len(records.entries)}:
            _require_fields(export, value)
        if not records or not bad:
            raise
        if len(bad) == len(records.entries):
            raise next(iter(bad.values())) from None
    named = {name_of(place, record): bad[place].message for place, record in records.entries if place in bad}
    if 1 < len(bad) > len(records.entries) / _TENTH and not force:
        name, reason = next(iter(named.items()))
        fault = f"{len(bad):,} of {len(records.entries):,} records cannot be read, such as {name}: {reason}"
        raise BadRequest(fault, "mend the export, or leave them out with --force")
    return attempt(records.without(bad).value(), keep=True), named


def _store(connection: Connection, export: str, value: Any, setup: str) -> Imported:
    """Store an export all of whose records can be read."""
    if export in _MADE:
        return _load_made(connection, _MADE[export](export, value), setup)
    query = "select (resource.describe_setup(%s)).clock"
    [(clock,)] = connection.execute(query, [setup]).fetchall()
    reading = Reading(lambda: clock.astimezone(UTC))
    parts = list(_ROLES.get(export, _unchanged)(connection, setup, cric.READ[export](export, value, reading)))
    for part in parts:
        tables.store(connection, setup, _over_what_is_there(connection, setup, part), is_exported=True)
    names = {":".join(row[key] for key in _NAMED[export]) for row in parts[0].rows} if export in _NAMED else set()
    number = len(value) if export == "cric-sites" else len(parts[0].rows)
    lacking = []
    if export == "network-metrics" and number and cric.are_old(parts[0].rows, reading):
        lacking.append("all figures are older than an hour: brokerage reads none of them")
    return Imported(number, _by_field(reading.ignored), lacking, names=names)


def _by_field(ignored: Iterable[str]) -> list[str]:
    """Left-out fields, each with the first record that has it, and the number of the others."""
    places: dict[str, list[str]] = {}
    for one in ignored:
        where, _, name = one.rpartition(": field ")
        places.setdefault(name, []).append(where)
    return [
        f"{where}: field {name}" + (f" and {len(others):,} more" if others else "")
        for name, (where, *others) in places.items()
    ]


def _require_kind(export: str, value: Any) -> None:
    """Refuse a file that is another export, or a world, or is foreign where no field is required."""
    if isinstance(value, dict) and value and all(name in SECTIONS or name in ("setup", "vo", "now") for name in value):
        raise BadRequest(f"this is a world, not {EXPORTS[export].what}", "give it without an option: broker load FILE")
    found = recognise(value)
    if found is not None and found.name != export and not is_like(value, EXPORTS[export]):
        hint = f"load it with {found.option}; {EXPORTS[export].option} takes {' or '.join(EXPORTS[export].sources)}"
        raise BadRequest(f"this looks like {found.what}, not {EXPORTS[export].what}", hint)
    if export in _WITHOUT_REQUIRED_FIELDS:
        _require_fields(export, value)


def _require_fields(export: str, value: Any) -> None:
    """Refuse a file that has none of the fields by which an export is known."""
    if is_foreign(value, EXPORTS[export]):
        fault = f"this is not {EXPORTS[export].what}: it has none of {', '.join(sorted(EXPORTS[export].marks))}"
        raise BadRequest(fault, f"{EXPORTS[export].option} takes {EXPORTS[export].shapes}")


def _load_made(connection: Connection, made: Made, setup: str) -> Imported:
    world = dict(made.world)
    lacking = list(made.lacking)
    for section in made.only_known:
        table, key, owner = _OWNERS[section]
        there = {row[key] for row in tables.stream(connection, setup, table)}
        unknown = [name for name in world[section] if name not in there]
        world[section] = {name: row for name, row in world[section].items() if name in there}
        if unknown:
            names = ", ".join(unknown[:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
            number = f"1 {section[:-1]} is" if len(unknown) == 1 else f"{len(unknown):,} {section} are"
            lacking.append(f"{number} not loaded and left out: {names} ({EXPORTS[owner].option})")
    loaded = load_worlds(connection, [world], setup, merge=True, is_exported=True)
    if changed := loaded.there.changed_cpu_times():
        lacking.append(changed)
    loaded_names = made.names | {name for section in made.only_known for name in world[section]}
    return Imported(made.rows, [], lacking, loaded.task_jobs, loaded_names)


def _roles_of_sites(connection: Connection, setup: str, parts: Iterable[Part]) -> Iterator[Part]:
    """The nuclei, and the queues of the export's sites with the role of their site, and its tier if they have none."""
    nuclei, of_queues = parts
    yield nuclei
    sites = {row["panda_site"]: row for row in of_queues.rows}
    yield Part(
        "resource.queue",
        [
            {**queue, "role": site["role"], "tier": queue.get("tier") or site["tier"]}
            for queue in tables.stream(connection, setup, "resource.queue")
            if (site := sites.get(queue.get("panda_site")))
        ],
    )


def _roles_of_queues(connection: Connection, setup: str, parts: Iterable[Part]) -> Iterator[Part]:
    """The queues, with the role nucleus where their site is a nucleus of the setup and they name no role."""
    nuclei = {row["nucleus"] for row in tables.stream(connection, setup, "resource.nucleus")}
    for part in parts:
        for row in part.rows if part.table == "resource.queue" else ():
            if row.get("panda_site") in nuclei:
                row.setdefault("role", "nucleus")
        yield part


def _unchanged(_: Connection, __: str, parts: Iterable[Part]) -> Iterable[Part]:
    return parts


_ROLES = {"cric-sites": _roles_of_sites, "cric-queues": _roles_of_queues}
"""Exports after which queues have the role of their site."""


def _over_what_is_there(connection: Connection, setup: str, part: Part) -> Part:
    """Rows in which missing columns have the values of the database."""
    keys = _KEYS.get(part.table)
    if keys is None:
        return part
    held = {tuple(row[key] for key in keys): row for row in tables.stream(connection, setup, part.table)}
    rows = [{**held.get(tuple(row[key] for key in keys), {}), **row} for row in part.rows]
    return Part(part.table, rows, part.parents)
