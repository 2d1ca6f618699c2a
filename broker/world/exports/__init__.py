"""Exports of CRIC, PanDA, Harvester, Rucio and DIRAC, as these systems write them, loaded into a setup.
broker.known_exports lists them, with their sources. An export changes the rows and fields that it contains, and leaves
the rest: queues keep their measured figures, links their closeness, storages their space, and tasks the fields that
their export does not name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from broker.database import Connection
from broker.errors import BadRequest
from broker.known_exports import EXPORTS, is_like, recognise
from broker.world import SECTIONS, tables
from broker.world import load as load_worlds
from broker.world.exports import counts, cric, dirac, jedi, rucio
from broker.world.exports.files import read
from broker.world.exports.made import Made
from broker.world.shape import Part, Reading

__all__ = ["EXPORTS", "Imported", "load", "read"]

_MADE: Mapping[str, Callable[[str, Any], Made]] = {
    "cric-storage-states": cric.storage_states,
    "rucio-usage": rucio.usage, "pilots": counts.pilots, "workers": counts.workers, "jedi-tasks": jedi.tasks,
    "rucio-datasets": rucio.datasets, "rucio-replicas": rucio.replicas, "job-counts": counts.jobs,
    "dirac": dirac.task_queues,
}  # fmt: skip
_KEYS = {
    "resource.queue": ("queue",), "resource.storage": ("storage",), "resource.link": ("src", "dst"),
    "resource.nucleus": ("nucleus",),
}  # fmt: skip
"""Tables in which an import changes only its own columns, with their keys."""

_OWNERS = {
    "queues": ("resource.queue", "queue", "cric-queues"),
    "storages": ("resource.storage", "storage", "cric-storages"),
}
"""Sections in which an export changes only existing entries: their table, its key, and the export that makes the
entries."""

_SHOWN = 3  # number of left-out entries that are named


@dataclass(frozen=True)
class Imported:
    """The result of an import: the rows of its export, left-out fields (lenient only), and data that the export
    lacks."""

    rows: int
    ignored: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    jobs: int = 0


def load(
    connection: Connection,
    export: str,
    value: Any,
    setup: str = "default",
    *,
    lenient: bool = False,
    tenant: str | None = None,
) -> Imported:
    """Load an export (a key of catalogue.EXPORTS) into a setup, all or nothing. Raises BadRequest for a file of another
    kind, for a wrong format, naming the place, and for unknown fields of software (`lenient` leaves them out); raises
    the database's errors for wrong values. tenant: the Setup or the VO of DIRAC whose TaskQueues are loaded.
    """
    _require_kind(export, value)
    if export == "dirac":
        value = dirac.of_tenant(export, value, tenant)
    with connection.transaction():
        if export in _MADE:
            return _load_made(connection, _MADE[export](export, value), setup)
        query = "select (resource.describe_setup(%s)).clock"
        [(clock,)] = connection.execute(query, [setup]).fetchall()
        reading = Reading(lambda: clock.astimezone(UTC))
        parts = list(_ROLES.get(export, _unchanged)(connection, setup, cric.READ[export](export, value, reading)))
        if reading.ignored and not lenient:
            raise BadRequest(f"not known here: {', '.join(reading.ignored)}", "--lenient leaves them out")
        for part in parts:
            tables.store(connection, setup, _over_what_is_there(connection, setup, part))
        return Imported(len(parts[0].rows), reading.ignored)


def _require_kind(export: str, value: Any) -> None:
    """Refuse a file that is another export, or a world."""
    if isinstance(value, dict) and value and all(name in SECTIONS or name in ("setup", "vo", "now") for name in value):
        raise BadRequest(f"this is a world, not {EXPORTS[export].what}", "give it without an option: broker load FILE")
    found = recognise(value)
    if found is not None and found.name != export and not is_like(value, EXPORTS[export]):
        hint = f"load it with {found.option}; {EXPORTS[export].option} takes {' or '.join(EXPORTS[export].sources)}"
        raise BadRequest(f"this looks like {found.what}, not {EXPORTS[export].what}", hint)


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
    loaded = load_worlds(connection, [world], setup, merge=True)
    return Imported(made.rows, [], lacking, loaded.task_jobs)


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
