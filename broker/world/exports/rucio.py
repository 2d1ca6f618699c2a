"""Rucio's replicas of files and datasets, and the space of its storage elements.

| export | shapes |
| --- | --- |
| rucio-replicas | lines or an array: {scope, name, bytes, rses: {RSE: [...]}, states, parents}, or {dataset: [those]} |
| rucio-datasets | lines or an array: {scope, name, rse, length, available_length, bytes, available_bytes} |
| rucio-usage | rows: {rse, source, used, free, total}; or {RSE: rows}, or {RSE: {source: {used, free, total}}} |

A file belongs to the datasets that `parents` names (the request has resolve_parents), or to the name that is the key of
its list. Datasets are known by their names without the scope, as in JEDI.
"""

from collections.abc import Iterator
from typing import Any

from broker.errors import BadRequest
from broker.world.exports.made import Made, integer, name_of_did, once, rows_of
from broker.world.shape import Row, elements, entries, require

_GB = 1024**3  # PanDA counts storage space in these GB
_SOURCES = {"expired": "space_expired", "min_free_space": "space_min_free", "unavailable": "space_unavailable"}
_AVAILABLE = ("AVAILABLE", "A")
OF_A_FILE = frozenset(("rses", "scope", "name", "parents"))


def replicas(name: str, value: Any) -> Made:
    """Datasets with their files, and the storages where they are available; a storage with all files is complete."""
    files: dict[str, dict[str, Row]] = {}
    held: dict[str, dict[str, list[str]]] = {}
    seen: set[str] = set()
    for where, dataset, given in _files(name, value):
        lfn, size = given.get("name"), integer(f"{where}.bytes", given.get("bytes"))
        require(str, f"{where}.name", lfn)
        once(name, f"file {lfn} of {dataset}", seen)
        row: Row = {"lfn": lfn, "size": size or 0}
        events = integer(f"{where}.events", given.get("events"))
        files.setdefault(dataset, {})[str(lfn)] = row | ({} if events is None else {"nevents": events})
        places = held.setdefault(dataset, {})
        states = given.get("states") or {}
        require(dict, f"{where}.states", states)
        if "rses" not in given:
            raise BadRequest(f"{where} has no rses", "ask Rucio for the replicas of files, with their RSEs")
        for _, rse, _pfns in entries(f"{where}.rses", given["rses"] or {}):
            if str(states.get(rse, "AVAILABLE")).upper() in _AVAILABLE:
                places.setdefault(rse, []).append(str(lfn))
    datasets = {
        dataset: {
            "files": list(of_dataset.values()),
            "replicas": {
                rse: {} if len(set(lfns)) == len(of_dataset) else {"lfns": sorted(set(lfns)), "total": len(of_dataset)}
                for rse, lfns in held[dataset].items()
            },
        }
        for dataset, of_dataset in files.items()
    }
    return Made({"datasets": datasets}, len(seen))


def _files(name: str, value: Any) -> Iterator[tuple[str, str, Row]]:
    """Pairs of a file and a dataset that contains it."""
    if isinstance(value, dict) and not value.keys() & OF_A_FILE:
        for at, dataset, listed in entries(name, value):
            for where, given in elements(at, listed):
                require(dict, where, given)
                yield where, name_of_did(dataset), given
        return
    scopes: dict[str, str] = {}
    for where, given in elements(name, value if isinstance(value, list) else [value]):
        require(dict, where, given)
        parents = given.get("parents")
        if not parents:
            fault = f"{where} names no dataset that the file is in"
            raise BadRequest(fault, 'ask Rucio with resolve_parents, or give {"SCOPE:DATASET": [files]}')
        for at, parent in elements(f"{where}.parents", parents):
            require(str, at, parent)
            if scopes.setdefault(name_of_did(parent), parent) != parent:
                fault = f"{name} has dataset {name_of_did(parent)} in two scopes"
                raise BadRequest(fault, "datasets are known by their names without the scope: load one of them")
            yield where, name_of_did(parent), given


def datasets(name: str, value: Any) -> Made:
    """Replicas of datasets, with the available and the total files and bytes. A count of files that is null or missing
    is 0: a copy of which nothing is known is not complete."""
    found: dict[str, Row] = {}
    seen: set[str] = set()
    for where, row in rows_of(name, value):
        for key in ("name", "rse"):
            require(str, f"{where}.{key}", row.get(key))
        once(name, f"the replica of {name_of_did(row['name'])} at {row['rse']}, whatever its scope,", seen)
        numbers = {
            "found": integer(f"{where}.available_length", row.get("available_length")) or 0,
            "total": integer(f"{where}.length", row.get("length")) or 0,
            "asize": integer(f"{where}.available_bytes", row.get("available_bytes")),
            "tsize": integer(f"{where}.bytes", row.get("bytes")),
        }
        replica = {key: number for key, number in numbers.items() if number is not None}
        found.setdefault(name_of_did(row["name"]), {"replicas": {}})["replicas"][row["rse"]] = replica
    return Made({"datasets": found}, len(seen))


def usage(name: str, value: Any) -> Made:
    """The space of storages in GB: free, total, expired, to be kept free, and not available."""
    found: dict[str, Row] = {}
    seen: set[str] = set()
    for where, rse, source, row in _usages(name, value):
        once(name, f"source {source} of {rse}", seen)
        of_storage = found.setdefault(rse, {})
        if source == "storage":
            used, free, total = (_gigabytes(f"{where}.{key}", row.get(key)) for key in ("used", "free", "total"))
            if total is None and used is not None and free is not None:
                total = used + free
            of_storage |= {"space_free": free, "space_total": total}
        elif source in _SOURCES:
            of_storage[_SOURCES[source]] = _gigabytes(f"{where}.used", row.get("used"))
    found = {rse: row for rse, row in found.items() if row}
    return Made({"storages": found}, len(found), only_known=frozenset(("storages",)))


def _usages(name: str, value: Any) -> Iterator[tuple[str, str, str, Row]]:
    """Usages with their storage and source."""
    if isinstance(value, dict) and "source" not in value:
        for at, rse, given in entries(name, value):
            if isinstance(given, dict):
                for where, source, row in entries(at, given):
                    require(dict, where, row)
                    yield where, rse, source, row
            else:
                for where, row in rows_of(at, given):
                    require(str, f"{where}.source", row.get("source"))
                    yield where, rse, row["source"], row
        return
    for where, row in rows_of(name, value):
        if not isinstance(row.get("rse"), str):
            raise BadRequest(f"{where} names no RSE", 'add "rse" to the row, or give {"RSE": [rows]}')
        require(str, f"{where}.source", row.get("source"))
        yield where, row["rse"], row["source"], row


def _gigabytes(where: str, value: Any) -> float | None:
    number = integer(where, value)
    return None if number is None else number / _GB
