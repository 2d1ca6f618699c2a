"""The records of the last load of an export: what is gone in the export is gone here, and a record that could not be
read stays as it was, marked stale (resource.loaded_record).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from broker.database import Connection
from broker.errors import BadRequest
from broker.world import load as load_worlds
from broker.world import resources, tables
from broker.world.shape import Part, Row

_TABLE = "resource.loaded_record"
_CLEARED: Mapping[str, Sequence[str]] = {
    "cric-queues": resources.SECTIONS["queues"].tables,
    "cric-storages": resources.SECTIONS["storages"].tables,
    "cric-sites": resources.SECTIONS["nuclei"].tables,
    "software": resources.SECTIONS["software"].tables,
}
"""Exports that make rows: the tables that a record which is gone is removed from."""

_UNSET: Mapping[str, tuple[str, Row]] = {
    "cric-storage-states": ("storages", dict.fromkeys(("read_lan", "write_lan", "read_wan", "write_wan"))),
    "pilots": ("queues", {"pilots": {}, "laststart": None}),
    "workers": ("queues", {"workers": {}}),
}
"""Exports that add figures to rows: the section, and the figures that a record which is gone no longer has."""

_FIFTH = 5  # at most this part of the records may disappear without force; one may always


def settle(
    connection: Connection,
    setup: str,
    export: str,
    names: Collection[str],
    bad: Mapping[str, str],
    *,
    is_whole: bool,
    force: bool,
) -> Iterator[str]:
    """Remove what is gone, and mark what is stale; yield both in words. names: the records that were loaded; bad: those
    that could not be read, with the reason, which count as there. is_whole: the export has all of its records. Raises
    BadRequest if more than a fifth would disappear and force is not given.
    """
    if export not in (*_CLEARED, *_UNSET, "cric-closeness", "gdpconfig"):
        return
    held = {row["record"]: row for row in tables.stream(connection, setup, _TABLE) if row["export"] == export}
    gone = sorted(held.keys() - set(names) - bad.keys()) if is_whole else []
    if 1 < len(gone) > len(held) / _FIFTH and not force:
        fault = f"{len(gone):,} of {len(held):,} records of the last load are not in it, such as {gone[0]}"
        raise BadRequest(fault, "load the whole export, or remove them with --force")
    _remove(connection, setup, export, gone)
    stale = [{**held[record], "stale": reason} for record, reason in bad.items() if record in held]
    rows = [{"export": export, "record": record} for record in sorted(names)] + stale
    tables.store(connection, setup, Part(_TABLE, rows, [export] if is_whole else None))
    if gone:
        yield f"{len(gone):,} no longer in the export and removed, such as {gone[0]}"
    if stale:
        yield f"{len(stale):,} stale, as last loaded: {', '.join(row['record'] for row in stale)}"


def _remove(connection: Connection, setup: str, export: str, gone: Sequence[str]) -> None:
    if not gone:
        return
    for table in _CLEARED.get(export, ()):
        tables.store(connection, setup, Part(table, [], gone))
    if export in _UNSET:
        section, figures = _UNSET[export]
        there = {key for part in resources.SECTIONS[section].tables[:1] for key in _keys(connection, setup, part)}
        world = {section: {name: figures for name in gone if name in there}}
        load_worlds(connection, [world], setup, merge=True)
    if export == "cric-closeness":
        pairs = (name.split(":", 1) for name in gone)
        rows = [{"src": src, "dst": dst, "closeness": None} for src, dst in pairs]
        tables.store(connection, setup, Part("resource.link", rows), merge=True)
    if export == "gdpconfig":
        keys = [dict(zip(("component", "key"), name.split(":", 1), strict=True)) for name in gone]
        load_worlds(connection, [{"config": [{**key, "setup": setup, "value": None} for key in keys]}], setup)
    if export == "cric-sites":
        lost = set(gone)
        queues = [
            {"queue": queue["queue"], "role": "satellite"}
            for queue in tables.stream(connection, setup, "resource.queue")
            if queue.get("panda_site") in lost
        ]
        tables.store(connection, setup, Part("resource.queue", queues), merge=True)


def _keys(connection: Connection, setup: str, table: str) -> Iterator[str]:
    column = table.rpartition(".")[2]
    return (row[column] for row in tables.stream(connection, setup, table))
