"""Records of an export are judged one by one: a bad one is left out and named, one that is gone is removed."""

from typing import Any

import pytest

from broker import errors, world
from broker.known_exports import EXPORTS
from broker.world import exports
from tests.calls import Connection
from tests.exports import held

QUEUE: dict[str, Any] = {"status": "online", "panda_site": "NORTH", "corecount": 8, "maxrss": 16000}
BAD = QUEUE | {"status": None}
AT = "2026-04-01T12:00:00+00:00"


def queues(number: int) -> dict[str, Any]:
    return {f"Q{place:02}": QUEUE for place in range(number)}


@pytest.mark.parametrize(
    ("export", "value", "found"),
    [
        ("cric-queues", {"Q": QUEUE | {"corecount": "8", "pledgedcpu": "-1"}}, ("queues", "Q", "pledgedcpu", -1)),
        ("cric-queues", {"Q": QUEUE | {"astorages": [], "corepower": "9.5"}}, ("queues", "Q", "corepower", 9.5)),
        ("cric-queues", {"Q": QUEUE | {"direct_access_lan": "True"}}, ("queues", "Q", "direct_access_lan", True)),
        ("cric-queues", {"Q": QUEUE | {"cloud": "7"}}, ("queues", "Q", "cloud", "7")),
        ("cric-storages", {"D": {"type": "DATATAPE", "is_tape": "True"}}, ("storages", "D", "is_tape", True)),
        ("cric-storages", {"D": {"type": "DATADISK", "space_free": "7.5"}}, ("storages", "D", "space_free", 7.5)),
        ("cric-closeness", [{"src": "A", "dst": "B", "closeness": "5"}], ("links", 0, "closeness", 5)),
        ("network-metrics", {"A:B": {"mbps": {"rucio": {"1h": "7.5"}}}}, ("links", 0, "mbps_1h", 7.5)),
        ("jedi-tasks", {"7": {"taskName": "x", "coreCount": "8", "ramCount": "1000"}}, ("tasks", 0, "core_count", 8)),
        (
            "rucio-datasets",
            [{"name": "d", "rse": "D", "length": "4"}],
            ("datasets", "d", "replicas", {"D": {"found": 0, "total": 4}}),
        ),
    ],
)
def test_digits_as_text_are_numbers(db: Connection, export: str, value: Any, found: tuple[Any, ...]) -> None:
    section, key, field, number = found
    exports.load(db, export, value)
    assert held(db)[section][key].get(field) == number


WRONG: list[Any] = [BAD, QUEUE | {"maxrss": "much"}, QUEUE | {"astorages": {"pr": 7}}]


@pytest.mark.parametrize(
    ("wrong", "is_list"), [*((one, False) for one in (*WRONG, 7, None)), *((one, True) for one in WRONG)]
)
def test_a_bad_record_is_left_out_and_its_row_stays(db: Connection, wrong: Any, is_list: bool) -> None:
    exports.load(db, "cric-queues", queues(3))
    given = queues(3) | {"Q00": QUEUE | {"maxrss": 5}, "Q01": wrong}
    value = [{"panda_resource": name, **record} for name, record in given.items()] if is_list else given
    imported = exports.load(db, "cric-queues", value)
    assert imported.lacking[0].startswith("left out, cannot be read: Q01: ")
    assert imported.lacking[1] == "1 stale, as last loaded: Q01"
    found = held(db)["queues"]
    assert (found["Q00"]["maxrss"], found["Q01"]["maxrss"]) == (5, 16000)
    query = "select record from resource.loaded_record where stale is not null"
    assert db.execute(query).fetchall() == [("Q01",)]
    exports.load(db, "cric-queues", queues(3))
    assert db.execute(query).fetchall() == []


@pytest.mark.parametrize(("bad", "is_refused"), [(1, False), (2, False), (3, True)])
def test_more_than_a_tenth_of_bad_records_is_refused(db: Connection, bad: int, is_refused: bool) -> None:
    given = queues(20) | {f"Q{place:02}": BAD for place in range(bad)}
    if is_refused:
        with pytest.raises(errors.BadRequest, match="3 of 20 records cannot be read, such as Q00") as caught:
            exports.load(db, "cric-queues", given)
        assert "--force" in str(caught.value.hint)
        assert "queues" not in held_or_nothing(db)
    assert exports.load(db, "cric-queues", given, force=is_refused).rows == 20 - bad


@pytest.mark.parametrize(("gone", "is_refused"), [(1, False), (2, False), (3, True)])
def test_more_than_a_fifth_does_not_disappear(db: Connection, gone: int, is_refused: bool) -> None:
    world.load(db, [{"queues": {"OWN": {"maxrss": 1}}}])
    exports.load(db, "cric-queues", queues(10))
    left = dict(list(queues(10).items())[gone:])
    if is_refused:
        with pytest.raises(errors.BadRequest, match="3 of 10 records of the last load are not in it, such as Q00"):
            exports.load(db, "cric-queues", left)
        assert len(held(db)["queues"]) == 11
    exports.load(db, "cric-queues", left, force=is_refused)
    assert held(db)["queues"].keys() == left.keys() | {"OWN"}


def test_a_part_of_an_export_removes_nothing(db: Connection) -> None:
    exports.load(db, "cric-queues", queues(10))
    exports.load(db, "cric-queues", {"Q00": QUEUE}, is_whole=False)
    assert len(held(db)["queues"]) == 10


@pytest.mark.parametrize(
    ("export", "record", "before", "after"),
    [
        ("cric-storages", {"type": "DATADISK", "site": "S"}, {"storages": {"A"}}, {}),
        ("cric-storage-states", {"read_wan": {"status": {"value": "OFF"}}}, {"read_wan": "OFF"}, {"read_wan": None}),
        (
            "pilots",
            {"getJob": 5, "updateJob": 1, "lastMod": AT, "lastStart": AT},
            {"pilots": {"getjob": 5, "updatejob": 1, "at": AT}, "laststart": AT},
            {"pilots": None, "laststart": None},
        ),
        (
            "workers",
            {"h": {"l": {"r": {"running": 5}}}},
            {"workers": {"running": 5, "submitted": 0, "at": AT}},
            {"workers": None},
        ),
        ("software", {"cvmfs": ["atlas"]}, {"software": {"A"}}, {}),
    ],
)
def test_what_is_gone_in_the_export_is_gone_here(
    db: Connection, export: str, record: Any, before: dict[str, Any], after: dict[str, Any]
) -> None:
    names = ["A", "B", "C", "D", "E"]
    world.load(db, [{"now": AT}])
    if after:
        world.load(db, [{section: {name: {} for name in names} for section in ("queues", "storages")}])
    exports.load(db, export, dict.fromkeys(names, record))

    def found() -> dict[str, Any]:
        dumped = held(db)
        section = {"storages": "storages", "software": "software"}.get(next(iter(before)))
        if not after:
            assert section
            return {section: {"A"} & dumped[section].keys()}
        row = dumped["storages" if export == "cric-storage-states" else "queues"]["A"]
        return {key: row.get(key) for key in before}

    assert found() == before
    exports.load(db, export, dict.fromkeys(names[1:], record))
    assert found() == (after or {key: set() for key in before})


def test_a_site_that_is_no_nucleus_any_more_is_none_here(db: Connection) -> None:
    exports.load(db, "cric-queues", {"Q": QUEUE | {"atlas_site": "A"}})
    site = {"datapolicies": ["Nucleus"], "tier_level": 2}
    exports.load(db, "cric-sites", dict.fromkeys("ABCDE", site))
    assert held(db)["queues"]["Q"]["role"] == "nucleus"
    exports.load(db, "cric-sites", dict.fromkeys("BCDE", site))
    assert (held(db)["nuclei"].keys(), held(db)["queues"]["Q"].get("role")) == (set("BCDE"), None)


def test_closeness_that_is_gone_leaves_the_figures_of_the_link(db: Connection) -> None:
    rows = [{"src": src, "dst": "Z", "closeness": 1} for src in "ABCDE"]
    exports.load(db, "cric-closeness", rows)
    world.load(db, [{"links": [{"src": "A", "dst": "Z", "mbps_1d": 5}]}], merge=True)
    exports.load(db, "cric-closeness", rows[1:])
    assert held(db)["links"][0] == {"src": "A", "dst": "Z", "mbps_1d": 5}


@pytest.mark.parametrize("export", ["cric-queues", "cric-storage-states", "pilots", "job-counts", "rucio-usage"])
@pytest.mark.parametrize("value", [{}, []])
def test_a_load_that_read_nothing_fails(db: Connection, export: str, value: Any) -> None:
    with pytest.raises(errors.BadRequest, match="nothing was read from it"):
        exports.load(db, export, value)


@pytest.mark.parametrize("export", ["network-metrics", "cric-sites", "cric-storage-states", "jedi-tasks"])
def test_a_foreign_file_is_refused(db: Connection, export: str) -> None:
    foreign = {"7": {"bandwidth": "165.74Mbps", "latency": "26ms"}}
    with pytest.raises(errors.BadRequest, match=r"this is not .*: it has none of"):
        exports.load(db, export, foreign)


REPLICA = {"scope": "mc", "name": "in", "rse": "D", "length": 10, "available_length": 10}
FILE = {"scope": "mc", "name": "f", "rses": {}, "parents": ["mc:in"]}


@pytest.mark.parametrize(
    ("export", "value", "named"),
    [
        ("cric-queues", [QUEUE | {"name": "Q"}] * 2, "Q is given twice"),
        ("cric-sites", [{"name": "A", "datapolicies": []}] * 2, "A is given twice"),
        ("rucio-datasets", [REPLICA] * 2, "replica of in at D.* is given twice"),
        ("rucio-datasets", [REPLICA, REPLICA | {"scope": "mc2"}], "whatever its scope, is given twice"),
        ("rucio-replicas", [FILE] * 2, "file f of in is given twice"),
        ("rucio-replicas", [FILE, FILE | {"name": "g", "parents": ["mc2:in"]}], "dataset in in two scopes"),
        ("rucio-usage", [{"rse": "D", "source": "storage", "used": 1, "free": 1}] * 2, "source storage of D"),
        ("pilots", [{"site": "Q", "getjob": 1}] * 2, "Q is given twice"),
        ("cric-closeness", [{"src": "A", "dst": "B", "closeness": 1}] * 2, "is given 2 times"),
    ],
)
def test_a_record_that_stands_twice_is_refused(db: Connection, export: str, value: Any, named: str) -> None:
    with pytest.raises(Exception, match=named):
        exports.load(db, export, value)


def held_or_nothing(db: Connection) -> dict[str, Any]:
    return held(db) if db.execute("select from resource.setup").fetchall() else {}


@pytest.mark.parametrize("value", [{}, []], ids=["object", "list"])
def test_an_export_without_records_is_refused_at_once(db: Connection, value: Any) -> None:
    for export in EXPORTS:
        with pytest.raises(errors.BadRequest):
            exports.load(db, export, value)
