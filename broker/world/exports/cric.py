"""CRIC's own exports, and PanDA's network metrics, in their original form.

| export | from | shape |
| --- | --- | --- |
| cric-queues | CRIC, pandaqueue | {name: {...}}, or a list of records with panda_resource or name |
| cric-sites | CRIC, site | {name: {state, tier_level, datapolicies ...}}, or a list |
| cric-storages | CRIC, ddmendpoint | {name: {state, site, type, is_tape, detailed_status, space_free ...}}, or a list |
| cric-storage-states | CRIC, ddmendpointstatus | {name: {activity: {status: {value}}}} |
| cric-closeness | CRIC, sitematrix | [{src, dst, closeness}], or an object of them |
| software | CRIC, preset=tags | {queue or "ALL": {cmtconfigs, containers, cvmfs, architectures, tags}} |
| network-metrics | latest.json | {"SRC:DST": {files: {queued: {activity: figures}}, mbps: {system: figures}}} |

Figures are {latest, timestamp} of queued files, and {1h, 1d, 1w, timestamp} of throughput (MB/s).

An import changes the fields that it has and leaves the others: queues keep their measured figures, links keep their
closeness when metrics come, storages keep their space (GB, as in the world format). The names and their meanings are
those of PanDA's configurator.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from broker.errors import BadRequest
from broker.world import resources
from broker.world.exports.made import Made, integer, number, once
from broker.world.shape import HINT, Part, Reading, Row, elements, entries, names, require, wrong

FRESH = timedelta(minutes=60)
"""Age up to which metrics count: rules/network.md."""

_ACTIVITIES = {"Production Output": "queued", "Express": "queued_express"}
_SYSTEMS = ("rucio", "dashb", "fts")
"""Systems that measure the throughput of file transfers, the best first; others (perfsonar) measure only the network.
The newest figures count: they are too old at a decision only if those of all systems are."""

_MEANS = {"1h": "mbps_1h", "1d": "mbps_1d", "1w": "mbps_1w"}
_STATES = ("read_lan", "write_lan", "read_wan", "write_wan")
_NUCLEUS = "Nucleus"  # the data policy of a site that is a nucleus
_STATE_WORDS = ("ON", "OFF", "TEST", "PROBING")
_STORAGE = (
    "type", "is_tape", "site", "space_free", "space_expired", "space_min_free", "space_unavailable", "space_total",
)  # fmt: skip
_SOFTWARE = frozenset(("cmtconfigs", "containers", "cvmfs", "architectures", "tags"))
_TEXTS = (
    "panda_site role type cloud status capability workflow fairsharepolicy wnconnectivity jobseed tier catchall"
    " storage_site"
).split()


def queues(name: str, value: Any, reading: Reading) -> Iterator[Part]:
    """PanDA queues with their storages. Their site is the ATLAS site, by which PanDA knows nuclei. An empty text in
    place of a number counts as missing, and so do empty releases."""
    records: dict[str, Row] = {}
    for where, queue, record in _records(name, value, ("panda_resource", "name")):
        empty = [key for key, entry in record.items() if entry == "" and key in resources.QUEUE.columns]
        records[queue] = record | {key: None for key in empty if key not in _TEXTS}
        if record.get("atlas_site"):
            records[queue]["panda_site"] = record["atlas_site"]
        if record.get("astorages") == []:
            records[queue].pop("astorages")  # an empty object
        require(str, f"{where}.status", record.get("status"))
    yield from resources.described_queues(name, records, reading)


def storages(name: str, value: Any, _: Reading) -> Iterator[Part]:
    """Storage endpoints that are ACTIVE, space in GB. Their other fields are kept in `cric`."""
    rows: list[Row] = []
    for where, storage, record in _records(name, value, ("name",)):
        require(str, f"{where}.type", record.get("type"))
        if record.get("state", "ACTIVE") != "ACTIVE":
            continue
        row = {key: record[key] for key in _STORAGE if key in record}
        status = record.get("detailed_status") or {}
        for activity, _key, state in entries(f"{where}.detailed_status", status):
            if _key in _STATES:
                row[_key] = _state(activity, state)
        others = {key: entry for key, entry in record.items() if key not in row}
        rows.append({"storage": storage, **row, "cric": others})
    yield Part("resource.storage", rows)


def sites(name: str, value: Any, _: Reading) -> Iterator[Part]:
    """Nuclei with their states, and the roles and tiers that sites give to their queues."""
    nuclei: list[Row] = []
    of_queues: list[Row] = []
    for where, site, record in _records(name, value, ("name",)):
        is_nucleus = _NUCLEUS in (names(f"{where}.datapolicies", record.get("datapolicies")) or [])
        if is_nucleus:
            nuclei.append({"nucleus": site, **({"state": record["state"]} if record.get("state") else {})})
        tier = integer(f"{where}.tier_level", record.get("tier_level"))
        of_queues.append(
            {
                "panda_site": site,
                "role": "nucleus" if is_nucleus else "satellite",
                "tier": None if tier is None else f"T{tier}",
            }
        )
    yield Part("resource.nucleus", nuclei)
    yield Part("resource.queue", of_queues)


def storage_states(name: str, value: Any) -> Made:
    """States of storages for the four activities; an activity without a state is usable."""
    found = {
        storage: {activity: _state(f"{where}.{activity}", record.get(activity)) for activity in _STATES}
        for where, storage, record in _records(name, value, ("name",))
    }
    return Made({"storages": found}, len(found), only_known=frozenset(("storages",)))


def _state(where: str, state: Any) -> Any:
    """ON, OFF, TEST or PROBING: as a text, or in the form of CRIC's ddmendpointstatus, {"status": {"value": text}}. Any
    other text is not a state, does not keep PanDA from the storage, and stays in `cric`.
    """
    found = state
    while isinstance(found, dict) and len(found) and (found.keys() & {"status", "value"}):
        found = found.get("status", found.get("value"))
    if found is not None and not isinstance(found, str):
        raise wrong(where, state, "ON, OFF, TEST or PROBING")
    return found if found in _STATE_WORDS else None


def software(name: str, value: Any, reading: Reading) -> Iterator[Part]:
    """Releases and tags. Fields that no rule reads are left out; a record that has no other fields is of another
    kind."""
    for where, _, record in entries(name, value):
        if isinstance(record, dict) and record and not record.keys() & _SOFTWARE:
            raise BadRequest(f"{where} has none of {', '.join(sorted(_SOFTWARE))}", HINT)
    yield from resources.SECTIONS["software"].read(name, value, reading)


def closeness(name: str, value: Any, _: Reading) -> Iterator[Part]:
    """The closeness of storage sites; PanDA treats entries without a site as errors of CRIC."""
    rows = []
    found = elements(name, value) if isinstance(value, list) else ((at, row) for at, _, row in entries(name, value))
    for where, row in found:
        require(dict, where, row)
        for key in ("src", "dst"):
            require(str, f"{where}.{key}", "" if key in row and row[key] is None else row.get(key))
        if row["src"] and row["dst"]:
            rows.append({"src": row["src"], "dst": row["dst"], "closeness": _number(f"{where}.closeness", row)})
    yield Part("resource.link", rows)


def _number(where: str, row: Mapping[str, Any]) -> Any:
    """A required number, or null; its key is the last part of its path."""
    key = where.rpartition(".")[2]
    if key not in row:
        raise BadRequest(f"{where} is missing", "the export has another shape than broker/docs/how-to/import.md shows")
    return number(where, row[key])


def network_metrics(name: str, value: Any, reading: Reading) -> Iterator[Part]:
    """Queued files and throughput (MB/s) of links, with the times at which they were measured: brokerage does not read
    figures that are older than an hour."""
    rows: list[Row] = []
    for where, link, given in entries(name, value):
        src, colon, dst = link.partition(":")
        require(dict, where, given)
        if not (src and colon and dst):
            raise wrong(where, link, 'a pair of sites: "SRC:DST"')
        files = _object(f"{where}.files", given.get("files"))
        queued = _object(f"{where}.files.queued", files.get("queued"))
        row: Row = {"src": src, "dst": dst}
        for activity, column in _ACTIVITIES.items():
            at = f"{where}.files.queued.{activity}"
            if figures := _object(at, queued.get(activity)):
                row |= {column: _number(f"{at}.latest", figures), f"{column}_at": _time(at, figures, reading)}
        systems = _object(f"{where}.mbps", given.get("mbps"))
        measured = [
            (at, figures)
            for system in _SYSTEMS
            if (figures := _object(at := f"{where}.mbps.{system}", systems.get(system)))
        ]
        if measured:
            best = max(measured, key=lambda one: _moment(one[0], one[1], reading))
            row |= {
                column: _number(f"{best[0]}.{mean}", best[1]) if mean in best[1] else None
                for mean, column in _MEANS.items()
            }
            row["mbps_at"] = _time(*best, reading)
        if len(row) > 2:
            rows.append(row)
    yield Part("resource.link", rows)


def are_old(rows: Iterable[Row], reading: Reading) -> bool:
    """Whether all figures of links are older than FRESH."""
    times = [row[key] for row in rows for key in row if key.endswith("_at")]
    return all(at is not None and datetime.fromisoformat(at) < reading.clock() - FRESH for at in times)


def _object(where: str, value: Any) -> Row:
    """An object; null and missing values are an empty object."""
    require(dict, where, {} if value is None else value)
    return value or {}


def _time(where: str, figures: Row, reading: Reading) -> str | None:
    """The time at which figures were measured; null: they do not expire."""
    return reading.time(f"{where}.timestamp", figures.get("timestamp"))


def _moment(where: str, figures: Row, reading: Reading) -> datetime:
    """The time at which figures were measured; those without a time, which do not expire, are the newest."""
    at = _time(where, figures, reading)
    return datetime.fromisoformat(at) if at else datetime.max.replace(tzinfo=UTC)


def _records(name: str, value: Any, keys: Sequence[str]) -> Iterator[tuple[str, str, Row]]:
    """Records by name: the entries of an object, or a list of records with their name in one of the keys. Raises
    BadRequest for a name that stands twice in a list."""
    if isinstance(value, list):
        seen: set[str] = set()
        for where, record in elements(name, value):
            require(dict, where, record)
            named = next((record[key] for key in keys if record.get(key)), None)
            require(str, f"{where}.{keys[0]}", named)
            once(name, str(named), seen)
            yield where, str(named), record
    else:
        for where, key, record in entries(name, value):
            require(dict, where, record)
            yield where, key, record


READ: Mapping[str, Callable[[str, Any, Reading], Iterable[Part]]] = {
    "cric-queues": queues, "cric-sites": sites, "cric-storages": storages, "cric-closeness": closeness,
    "software": software, "network-metrics": network_metrics,
}  # fmt: skip
"""The readers of these exports: name, value and reading, to rows of tables."""
