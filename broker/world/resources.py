"""The sections of the schema resource: queues, nuclei, storages, links, software, shares, users, types of instances."""

from collections.abc import Iterable, Mapping
from typing import Any

from broker.world.section import Described, Rows, Section, listed, named
from broker.world.shape import NUMBER, Kind, Part, Reading, Row, elements, entries, fields, names, require

QUEUE = fields(
    "panda_site role type cloud status capability workflow corecount corepower maxrss minrss maxtime mintime maxwdir"
    " maxinputsize releases pledgedcpu transferringlimit transtimehi transtimelo fairsharepolicy wnconnectivity jobseed"
    " maxdiskio direct_access_lan direct_access_wan tier catchall storage_site resource_type",
    objects="params uconfig",
)
_ACTIVITY = fields("average_diskio ups site_class", times="laststart site_classified")
_MEASURED = {
    "pilots": fields("getjob updatejob", times="at", at="pilots_at"),
    "workers": fields("", times="at", running="workers_running", submitted="workers_submitted", at="workers_at"),
    "core_statistics": fields("", running="core_running", starting="core_starting"),
}
_SLOT = fields("gshare resource_type numslots")
_STORAGES = {
    ("read_lan", "default"): ("read_lan", "pr"),
    ("write_lan", "default"): ("write_lan", "pw"),
    ("read_lan", "analysis"): ("read_lan_analysis",),
    ("write_lan", "analysis"): ("write_lan_analysis",),
}
"""Direction and scope of storages: the names of the list in `astorages`, the world's first, then CRIC's."""

_LISTED = {
    "read_lan": "Storages that input is read from, in order; the first is the default.",
    "write_lan": "Storages that output is written to, in order; the first is the default.",
    "read_lan_analysis": "Storages that input of user analysis is read from, if they differ.",
    "write_lan_analysis": "Storages that output of user analysis is written to, if they differ.",
}
"""The meanings of the lists of `astorages`."""

_LISTS = [alias for aliases in _STORAGES.values() for alias in aliases]
_QUEUE_FIELDS = [*QUEUE.columns, *_ACTIVITY.columns, *_MEASURED, "slots", "astorages", "site"]

_STORAGE = fields(
    "type is_tape site space_free space_expired space_min_free space_unavailable space_total read_lan write_lan"
    " read_wan write_wan"
)
_SOFTWARE = fields("cmtconfigs containers cvmfs", objects="architectures")
_TAG = fields("tag cmtconfig project release container_name sources")
_QUOTA: Mapping[str, Kind] = {"used": NUMBER, "limit": NUMBER, "ok": bool, "near_limit": bool, "over_local": list}
_ACCOUNT = fields(
    "kind running_jobs queued_jobs running_cores queued_cores rem_slots_a rem_slots_b",
    times="evaluated",
    objects="quota",
)


def described_queues(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    """Queues as CRIC describes them, with their storages; fields that no rule reads are kept in `cric`.

    Measured figures of queues are not changed.
    """
    queues: list[Row] = []
    storages: list[Row] = []
    replaced: list[object] = []
    for where, queue, given in entries(name, value):
        require(dict, where, given)
        row, of_cric = _own(where, given, reading)
        reading.keep("queues", where, of_cric, _QUEUE_FIELDS)
        of_queue, others = _storages(f"{where}.astorages", given.get("astorages"))
        if others:
            reading.keep("queues", f"{where}.astorages", others, _LISTS)
            of_cric["astorages"] = others
        queues.append({"queue": queue, **row, **({"cric": of_cric} if of_cric else {})})
        storages += [{"queue": queue, **storage} for storage in of_queue]
        replaced += [{"queue": queue, **lists} for lists in _lists_of(given)] if reading.merging else [queue]
    yield Part("resource.queue", queues)
    yield Part("resource.queue_storage", storages, replaced)


def _lists_of(queue: Row) -> Iterable[Row]:
    """Direction and scope of the lists of storages that a queue gives; null in their place means that all lists are
    empty."""
    given = queue.get("astorages", {})
    for (direction, scope), aliases in _STORAGES.items():
        if given is None or any(alias in given for alias in aliases):
            yield {"direction": direction, "scope": scope}


def _own(where: str, given: Row, reading: Reading) -> tuple[Row, Row]:
    """The columns of a queue, and CRIC's other fields. `site` is an alias of panda_site."""
    row = dict(given)
    for name in (*_MEASURED, *_ACTIVITY.columns, "slots", "astorages"):
        row.pop(name, None)
    if row.get("panda_site") is None and "site" in row:
        row["panda_site"] = row.pop("site")
    if "releases" in row:
        row["releases"] = names(f"{where}.releases", row["releases"])
    known = {name: row.pop(name) for name in QUEUE.columns if name in row}
    return reading.row(where, known, QUEUE), row


def _storages(where: str, given: Any) -> tuple[list[Row], Row]:
    """The rows of a queue's storages, and the lists of unknown directions."""
    if given is None:
        return [], {}
    require(dict, where, given)
    others = dict(given)
    rows: list[Row] = []
    for (direction, scope), aliases in _STORAGES.items():
        used = next((alias for alias in aliases if given.get(alias)), aliases[0])
        listed_there = names(f"{where}.{used}", others.pop(used, None)) or []
        rows += [
            {"direction": direction, "scope": scope, "position": place, "storage": storage}
            for place, storage in enumerate(listed_there, 1)
        ]
        for alias in aliases:
            if not given.get(alias):
                others.pop(alias, None)
    return rows, others


def _read_queues(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    yield from described_queues(name, value, reading)
    activities: list[Row] = []
    slots: list[Row] = []
    for where, queue, given in entries(name, value):
        row = reading.row(where, {key: given[key] for key in _ACTIVITY.columns if key in given}, _ACTIVITY)
        for group, known in _MEASURED.items():
            if reading.merging and group in given:
                row |= dict.fromkeys(known.columns.values())
            if given.get(group) is not None:
                row |= reading.row(f"{where}.{group}", given[group], known)
        if row:
            activities.append({"queue": queue, **row})
        slots += _numbered(f"{where}.slots", queue, given.get("slots") or [], _SLOT, reading)
    yield Part("resource.queue_activity", activities, None if reading.merging else list(value))
    yield Part("resource.slot", slots, reading.parents(value, "slots"))


def _numbered(where: str, queue: str, value: Any, known: Any, reading: Reading) -> list[Row]:
    """Rows of a queue that have no key of their own, numbered from 1."""
    found = elements(where, value)
    return [{"queue": queue, "number": n, **reading.row(place, row, known)} for n, (place, row) in enumerate(found, 1)]


def _write_queue(_: Any, rows: Rows) -> Row:
    own = next(iter(rows["resource.queue"]), {})
    of_cric = dict(own.get("cric", {}))
    queue: Row = {**QUEUE.world(own), **of_cric}
    storages: dict[str, list[str]] = {}
    for storage in rows["resource.queue_storage"]:
        alias = _STORAGES[storage["direction"], storage.get("scope", "default")][0]
        storages.setdefault(alias, []).append(storage["storage"])
    if storages or "astorages" in of_cric:
        queue["astorages"] = {**storages, **of_cric.get("astorages", {})}
    for activity in rows["resource.queue_activity"]:
        queue |= _ACTIVITY.world(activity)
        queue |= {group: found for group, known in _MEASURED.items() if (found := known.world(activity))}
    if rows["resource.slot"]:
        queue["slots"] = [_SLOT.world(slot) for slot in rows["resource.slot"]]
    return queue


def _read_storages(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    rows: list[Row] = []
    for where, storage, given in entries(name, value):
        require(dict, where, given)
        own = {key: given[key] for key in _STORAGE.columns if key in given}
        of_cric = {key: entry for key, entry in given.items() if key not in own}
        reading.keep("storages", where, of_cric, _STORAGE.columns)
        row = {"storage": storage, **reading.row(where, own, _STORAGE)}
        rows.append({**row, **({"cric": of_cric} if of_cric else {})})
    yield Part("resource.storage", rows)


def _write_storage(_: Any, rows: Rows) -> Row:
    own = rows["resource.storage"][0]
    return {**_STORAGE.world(own), **own.get("cric", {})}


def _read_software(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    rows: list[Row] = []
    tags: list[Row] = []
    for where, queue, given in entries(name, value):
        require(dict, where, given)
        own = {key: entry for key, entry in given.items() if key != "tags"}
        row = reading.row(where, own, _SOFTWARE)
        for place, architecture in elements(f"{where}.architectures", row.get("architectures") or []):
            require(dict, place, architecture)
        rows.append({"queue": queue, **row})
        tags += _numbered(f"{where}.tags", queue, given.get("tags") or [], _TAG, reading)
    yield Part("resource.software", rows)
    yield Part("resource.software_tag", tags, reading.parents(value, "tags"))


def _write_software(_: Any, rows: Rows) -> Row:
    software = _SOFTWARE.world(next(iter(rows["resource.software"]), {}))
    if rows["resource.software_tag"]:
        software["tags"] = [_TAG.world(tag) for tag in rows["resource.software_tag"]]
    return software


def _read_levels(name: str, value: Any, _: Reading) -> Iterable[Part]:
    rows = [
        {"queue": queue, "level": level, "percent": percent}
        for where, queue, levels in entries(name, value)
        for _, level, percent in entries(where, levels)
    ]
    yield Part("resource.architecture_level", rows, list(value))


def _write_levels(_: Any, rows: Rows) -> Row:
    return {row["level"]: row.get("percent") for row in rows["resource.architecture_level"]}


_GPU = fields("vendor model vram architecture framework_version driver_version")


def _read_gpus(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    rows = [row for where, queue, gpus in entries(name, value) for row in _numbered(where, queue, gpus, _GPU, reading)]
    yield Part("resource.worker_gpu", rows, list(value))


def _read_users(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    """An object by name; or an array of rows with a name, if a user and a group have the same name."""
    if isinstance(value, list):
        pairs: list[tuple[str, Any, str | None]] = [(where, row, None) for where, row in elements(name, value)]
    else:
        pairs = [(where, row, key) for where, key, row in entries(name, value)]
    rows: list[Row] = []
    for where, given, key in pairs:
        require(dict, where, given)
        row = {"name": key, **given} if key is not None else dict(given)
        account = row.pop("name", None)
        require(str, f"{where}.name", account)
        if row.get("quota") is not None:
            row["quota"] = _quota(f"{where}.quota", row["quota"], reading)
        rows.append({"name": account, **reading.row(where, row, _ACCOUNT)})
    yield Part("resource.account", rows)


def _quota(where: str, given: Any, reading: Reading) -> Row:
    """A disk quota with its known fields; the database keeps it as one object, so that the types are checked here."""
    quota = reading.row(where, given, fields(" ".join(_QUOTA)))
    for key, entry in quota.items():
        if entry is not None:
            require(_QUOTA[key], f"{where}.{key}", entry)
    return quota


def _write_users(_: Any, rows: Rows) -> Any:
    accounts = [(row["name"], _ACCOUNT.world(row)) for row in rows["resource.account"]]
    if len({name for name, _ in accounts}) < len(accounts):
        return [{"name": name, **account} for name, account in accounts]
    return dict(sorted(accounts, key=lambda pair: pair[0]))


def _read_locks(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    """A list of queues; or an object from a queue to the time of its lock."""
    if isinstance(value, list):
        rows: list[Row] = [{"queue": queue} for queue in names(name, value) or []]
    else:
        rows = [{"queue": queue, "locked_at": reading.time(where, at)} for where, queue, at in entries(name, value)]
    yield Part("resource.queue_lock", rows, True)


def _write_locks(_: Any, rows: Rows) -> Any:
    locks = rows["resource.queue_lock"]
    if any("locked_at" in lock for lock in locks):
        return {lock["queue"]: lock.get("locked_at") for lock in locks}
    return [lock["queue"] for lock in locks]


SECTIONS = {
    "resource_types": listed(
        "resource.resource_type", fields("name mincore maxcore minrampercore maxrampercore"),
        "`[{...}]`, all that there are; without the section PanDA's six", replaces=True,
    ),
    "queues": Section(
        ("resource.queue", "resource.queue_activity", "resource.queue_storage", "resource.slot"),
        _read_queues, _write_queue, by="queue",
        looks="`{QUEUE: {...}}`; `site` is an alias of `panda_site`, CRIC's `pr` and `pw` are the lists `read_lan` and"
        " `write_lan`",
        described=[
            Described("resource.queue", "", QUEUE),
            *(
                Described("resource.queue_storage", f"astorages.{name}[]", fields("", **{"": "storage"}), words)
                for name, words in _LISTED.items()
            ),
            *(Described("resource.queue_activity", f"{group}.", known) for group, known in _MEASURED.items()),
            Described("resource.queue_activity", "", _ACTIVITY),
            Described("resource.slot", "slots[].", _SLOT),
        ],
    ),
    "nuclei": named(
        "resource.nucleus", "nucleus", fields("state bare_nucleus secondary_nucleus backlogged"),
        "`{PANDA_SITE: {...}}`; a site with a queue of role nucleus is a nucleus even without an entry",
    ),
    "storages": Section(
        ("resource.storage",), _read_storages, _write_storage, by="storage",
        looks="`{STORAGE: {...}}`",
        described=[Described("resource.storage", "", _STORAGE)],
    ),
    "links": listed(
        "resource.link",
        fields(
            "src dst closeness queued queued_express mbps_1h mbps_1d mbps_1w",
            times="queued_at queued_express_at mbps_at",
        ),
        "`[{...}]`, by their src and dst",
    ),
    "software": Section(
        ("resource.software", "resource.software_tag"), _read_software, _write_software, by="queue",
        looks='`{QUEUE or "ALL": {...}}`',
        described=[Described("resource.software", "", _SOFTWARE), Described("resource.software_tag", "tags[].", _TAG)],
    ),
    "architecture_levels": Section(
        ("resource.architecture_level",), _read_levels, _write_levels, by="queue",
        looks="`{QUEUE: {LEVEL: percent}}`",
        described=[Described("resource.architecture_level", "LEVEL", fields("", **{"": "percent"}))],
    ),
    "worker_gpus": Section(
        ("resource.worker_gpu",),
        _read_gpus, lambda _, rows: [_GPU.world(row) for row in rows["resource.worker_gpu"]], by="queue",
        looks="`{QUEUE: [{...}]}`",
        described=[Described("resource.worker_gpu", "[].", _GPU)],
    ),
    "shares": named(
        "resource.share",
        "gshare",
        fields("parent target running queued usage_percent equivalent_usage_percent", times="measured"),
        "`{SHARE: {...}}`",
    ),
    "users": Section(
        ("resource.account",), _read_users, _write_users, shape="whole",
        looks="`{NAME: {...}}`, or `[{name, ...}]` where a user and a group have the same name",
        described=[Described("resource.account", "", _ACCOUNT)],
    ),
    "instance_types": named("resource.instance_type", "name", fields("cpu ram price"), "`{TYPE: {...}}`"),
    "locks": Section(
        ("resource.queue_lock",), _read_locks, _write_locks, shape="whole",
        looks="`[QUEUE]`, or `{QUEUE: time}`; all that there are",
        described=[Described("resource.queue_lock", "QUEUE", fields("", **{"": "locked_at"}))],
    ),
}  # fmt: skip
