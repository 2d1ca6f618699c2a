"""Random worlds of brokerage: odd names, odd numbers, null and nothing, over the fields of all sections.

Numbers and words are those that the constraints allow.
"""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]

# without what resource.unprintable refuses, of which some characters are not assigned yet
UNASSIGNED = [chr(number) for number in (0x2065, *range(0xE0002, 0xE0020))]
LETTER = st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"], exclude_characters=UNASSIGNED)
TEXT = st.text(LETTER, max_size=8)
NAME = st.one_of(st.sampled_from(["A", "B", "C"]), TEXT.filter(bool))
NUMBER = st.one_of(st.floats(-1e14, 1e14), st.integers(-(10**14), 10**14))
PLENTY = st.floats(0, 1e8) | st.integers(0, 10**8)
COUNT = st.integers(0, 10**15 - 1)
LIMIT = st.just(-1) | PLENTY
STATE = st.sampled_from(["ON", "OFF", "TEST", "PROBING"])
INTEGER = st.integers(1 - 10**9, 10**9 - 1)
LARGE = st.integers(1 - 10**15, 10**15 - 1)
ID = st.integers(-(2**63), 2**63 - 1)
FLAG = st.booleans()
TIME = st.datetimes().map(lambda at: f"{at.isoformat()}Z") | st.just("2026-04-01T12:00:00+02:00")
CLOCK = st.datetimes(datetime(1900, 1, 2), datetime(2999, 12, 30)).map(lambda at: f"{at.isoformat()}Z")
TEXTS = st.lists(TEXT, max_size=3)
NAMES = st.lists(NAME, max_size=3)
JSON = st.recursive(
    st.none() | FLAG | ID | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=2)


def row(*groups: tuple[Strategy, str], **more: Strategy) -> Strategy:
    """A row with some of the fields: groups of names (separated by blanks) with their values, or null."""
    plain = {name: st.none() | kind for kind, names in groups for name in names.split()}
    return st.fixed_dictionaries({}, optional={**plain, **more})


def named(entry: Strategy) -> Strategy:
    """An object of entries by name."""
    return st.dictionaries(NAME, entry, max_size=3)


def once(entry: Strategy, *keys: str) -> Strategy:
    """A list of rows, each key once."""
    return st.lists(entry, max_size=3, unique_by=lambda found: tuple(found[key] for key in keys))


QUEUE = row(
    (
        TEXT,
        "panda_site role type cloud status capability workflow fairsharepolicy wnconnectivity jobseed tier catchall",
    ),
    (PLENTY, "corepower average_diskio"),
    (LIMIT, "maxrss minrss maxtime mintime maxwdir maxinputsize pledgedcpu transferringlimit"),
    (st.integers(-1, 10**9 - 1), "corecount"), (FLAG, "direct_access_lan direct_access_wan ups"), (TEXTS, "releases"),
    (OBJECT, "params uconfig"), (st.integers(-1, 1), "site_class"), (TIME, "laststart"), (TEXT, "site"),
    (JSON, "x_one x_two"),
    astorages=st.dictionaries(
        st.sampled_from(["read_lan", "write_lan", "pr", "pw", "write_lan_analysis", "es_events"]), NAMES
    ),
    pilots=row((COUNT, "getjob updatejob"), (TIME, "at")), workers=row((COUNT, "running submitted"), (TIME, "at")),
    core_statistics=row((COUNT, "running starting")),
    slots=st.lists(row((TEXT, "gshare resource_type"), (COUNT, "numslots")), max_size=3),
)  # fmt: skip
STORAGE = row(
    (TEXT, "type site"), (STATE, "read_lan write_wan"), (NUMBER, "space_free space_total"), (FLAG, "is_tape"),
    (JSON, "x"),
)  # fmt: skip
LINK = st.builds(
    lambda ends, rest: {**rest, **ends},
    st.fixed_dictionaries({"src": NAME, "dst": NAME}),
    row((st.floats(-1, 11), "closeness"), (PLENTY, "mbps_1h mbps_1d mbps_1w"), (COUNT, "queued queued_express")),
)
TAG = row((TEXT, "tag cmtconfig project release container_name"), (TEXTS, "sources"))
SOFTWARE = row(
    (TEXTS, "cmtconfigs containers cvmfs"),
    (st.lists(OBJECT, max_size=2), "architectures"),
    tags=st.lists(TAG, max_size=2),
)
ACCOUNT = row(
    (COUNT, "running_jobs queued_jobs running_cores queued_cores"),
    (NUMBER, "rem_slots_a rem_slots_b"),
    (row((LARGE, "used limit"), (FLAG, "ok near_limit"), (NAMES, "over_local")), "quota"),
    kind=st.sampled_from(["user", "group"]),
)
FILE = st.builds(
    lambda lfn, rest: {"lfn": lfn, **rest}, TEXT, row((st.integers(0, 10**12), "size nevents"), (LARGE, "start_event"))
)


def _with_files_of_its_own(dataset: dict[str, Any]) -> dict[str, Any]:
    """A dataset whose replicas name its files by their numbers, with their names."""
    lfns = [file["lfn"] for file in dataset.get("files") or []]
    for replica in (dataset.get("replicas") or {}).values():
        if replica and replica.get("lfns") is not None:
            replica["lfns"] = [lfns[number] for number in replica["lfns"] if number < len(lfns)]
    return dataset


DATASET = row(
    (TEXT, "type site"), (FLAG, "distributed"), (TIME, "created modified"),
    files=st.lists(FILE, max_size=4, unique_by=lambda file: file["lfn"]),
    replicas=named(row((COUNT, "found total asize tsize"), (FLAG, "vp"), (st.lists(st.integers(0, 3)), "lfns"))),
).map(_with_files_of_its_own)  # fmt: skip
SPLIT = row(
    (NUMBER, "t1Weight"), (PLENTY, "nGBPerJob"),
    (st.integers(1, 10**15 - 1), "nFilesPerJob nFilesPerMergeJob nEventsPerJob"),
    (st.integers(0, 10**9 - 1), "maxCoreCount"),
    (st.sampled_from([0, 1, True, False]), "useLocalIO mergeOutput avoidVP limitedSites"),
    (st.sampled_from([1, 2, "full", "http", "none"]), "ipConnectivity"),
    (st.sampled_from([1, 2, 3, "only", "require", "capable"]), "fullChain"), (st.sampled_from([1, 2]), "useScout"),
)  # fmt: skip
TASK = st.builds(
    lambda number, rest: {"id": number, **rest},
    st.integers(1, 5) | st.integers(0, 2**63 - 1),
    row(
        (TEXT, "label gshare user processing_type architecture trans_home nucleus site resource_type"),
        (st.sampled_from(["ready", "running", "done", "toreassign"]), "status"),
        (st.sampled_from(["", "MB", "MBPerCore", "MBPerCoreFixed"]), "ram_unit"),
        (NUMBER, "out_disk_count work_disk_count walltime"),
        (PLENTY, "ram_count cpu_time cpu_efficiency base_walltime io_intensity"),
        (INTEGER, "task_priority current_priority"), (st.integers(0, 10**9 - 1), "core_count"),
        (st.integers(0, 2**15 - 1), "event_service"), (st.integers(-1, 2), "task_class"),
        (st.integers(1, 1000), "max_attempt"),
        (FLAG, "is_merging use_scout only_tags_for_fc"), (ID, "parent"), (TIME, "frozen"), (TEXTS, "sites_used"),
        (named(TEXTS), "resource_types_at"), split=SPLIT,
        params=row((NAMES, "included_site excluded_site"), (FLAG, "task_broker_on_master")),
        input=st.lists(NAME, max_size=3, unique=True), output=st.lists(NAME | row((TEXT, "name token")), max_size=2),
        failures=named(row((COUNT, "failed closed finished"))),
        payload=st.recursive(FLAG | INTEGER | NAME, lambda some: st.lists(some) | st.dictionaries(NAME, some)),
    ),
)  # fmt: skip
STATUS = st.sampled_from(["defined", "waiting", "activated", "running", "merging", "finished", "cancelled"])
JOB = st.builds(
    lambda number, rest: {"id": number, **rest},
    st.integers(1, 10**15 - 1),
    row(
        (TEXT, "queue gshare label user"), (STATUS, "status"), (ID, "task"), (INTEGER, "priority"),
        (st.integers(0, 10**9 - 1), "cores"), (TIME, "created started"),
    ),
)  # fmt: skip
STATISTIC = row(
    (TEXT, "queue gshare resource_type nucleus label"), (STATUS, "status"), (COUNT, "njobs ncores"), (PLENTY, "diskio")
)
CONFIG = st.dictionaries(
    st.sampled_from(
        ["NQUEUED_SAT_CAP", "jobbroker:NQUEUED_SAT_CAP", "rebroker:ANALY_TIMEOUT_x:y", "NQUEUELIMITSITE_é"]
    ),
    PLENTY.filter(lambda value: value == 0 or value > 1e-15).map(lambda value: min(value, 10**6)),
)
RATE = st.none() | PLENTY
SIZE = PLENTY.filter(bool)
INSTANCE_TYPE = st.fixed_dictionaries({"cpu": SIZE, "ram": SIZE, "price": PLENTY})
NUMBERED = st.integers(1, 10**18)
SIZE = st.floats(0, 1e8) | st.integers(0, 10**8)
INSTANCE = st.builds(
    lambda number, kind, rest: {"id": number, "type": kind, **rest}, NUMBERED, NAME,
    row(
        (ID, "task"),
        (SIZE.filter(bool), "cpu ram"),
        (SIZE, "price"),
        (TIME, "requested_at started_at released_at"),
        state=st.sampled_from(["requested", "running", "released"]),
    ),
)  # fmt: skip
FACTOR = st.floats(1, 10**6).map(lambda factor: round(factor, 6))
FAILED_PART = st.builds(
    lambda task, number, rest: {"task": task, "number": number, **rest}, ID, st.integers(1, 2**63 - 1),
    st.fixed_dictionaries({}, optional={
        "failures": st.integers(0, 2**15 - 1), "memory_factor": FACTOR, "time_factor": FACTOR,
        "failed_queues": NAMES, "less_input": FLAG}),
)  # fmt: skip
NEED = SIZE | st.sampled_from(["size", "2 * (size + 1)", "max(x, ceil(size / 3))"])
INSTANCE_JOB = st.builds(
    lambda number, rest: {"id": number, **rest},
    NUMBERED,
    row(
        (NEED, "cpu ram"), (ID, "task instance"), (TEXT, "instance_type reason"), (TIME, "placed_at ended_at"),
        inputs=st.dictionaries(st.sampled_from(["size", "x", "y"]), SIZE | TEXT, max_size=3),
        state=st.sampled_from(["waiting", "placed", "finished", "cancelled", "unschedulable"]),
    ),
).filter(lambda job: job.get("state") != "placed" or job.get("instance") is not None)  # fmt: skip


def worlds() -> Strategy:
    """Worlds with some of the sections."""
    return st.fixed_dictionaries(
        {},
        optional={
            "now": CLOCK, "config": CONFIG,
            "resource_types": once(
                row((st.integers(0, 10**9 - 1), "mincore maxcore minrampercore maxrampercore"), name=NAME).filter(
                    lambda r: "name" in r
                ),
                "name",
            ),
            "queues": named(QUEUE),
            "nuclei": named(
                row(
                    (TEXT, "state secondary_nucleus"),
                    (st.sampled_from(["only", "allow"]), "bare_nucleus"),
                    (FLAG, "backlogged"),
                )
            ),
            "storages": named(STORAGE), "links": once(LINK, "src", "dst"), "software": named(SOFTWARE),
            "architecture_levels": named(st.dictionaries(NAME, st.floats(0, 100), max_size=2)),
            "worker_gpus": named(st.lists(row((TEXT, "vendor model"), (PLENTY, "vram")), max_size=2)),
            "shares": named(row((TEXT, "parent"), (NUMBER, "target running queued usage_percent"))),
            "users": named(ACCOUNT), "locks": st.lists(NAME, unique=True, max_size=3) | named(st.none() | TIME),
            "datasets": named(DATASET), "tasks": once(TASK, "id"), "jobs": once(JOB, "id"),
            "failed_parts": once(FAILED_PART, "task", "number"),
            "statistics": st.lists(STATISTIC, max_size=3),
            "user_queue_statistics": named(named(named(row((COUNT, "queued running"))))),
            "to_running_rate": named(RATE | st.dictionaries(TEXT, RATE, max_size=2)),
            "remaining_work": named(
                row((PLENTY, "all"), by_gshare=named(st.dictionaries(INTEGER.map(str), RATE, max_size=2)))
            ),
            "live_counter": named(COUNT), "instance_types": named(INSTANCE_TYPE), "instances": once(INSTANCE, "id"),
            "instance_steps": once(INSTANCE_JOB, "id"),
        },
    )  # fmt: skip
