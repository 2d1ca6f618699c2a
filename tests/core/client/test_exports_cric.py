"""CRIC's exports and PanDA's network metrics: their shapes, and the fields that they change and leave alone."""

from typing import Any

import psycopg
import pytest

from broker import errors, world
from broker.world import exports
from tests.calls import Connection
from tests.exports import METRICS, NOW, QUEUES, STORAGES, TAGS, held


def test_queues_are_loaded_from_an_export_of_cric(db: Connection) -> None:
    assert exports.load(db, "cric-queues", QUEUES).rows == 2
    queues = held(db)["queues"]
    queue = queues["AGLT2"]
    assert queue["astorages"] == {
        "read_lan": ["AGLT2_DATADISK"],
        "write_lan": ["AGLT2_DATADISK", "AGLT2_SCRATCHDISK"],
        "es_events": ["OS_X"],
    }
    assert (queue["panda_site"], queue["mintime"], queue["pledgedcpu"]) == ("AGLT2", None, None)
    kept = {
        key: QUEUES["AGLT2"][key] for key in ("site", "atlas_site", "availablecpu", "coreenergy", "queues", "state")
    }
    assert queue.items() >= kept.items()
    assert queue["uconfig"] == QUEUES["AGLT2"]["uconfig"]
    assert queues["SPARSE_QUEUE"] == {"status": "offline", "cloud": "DE", "country": "Germany", "maxrss": 2000}


def test_a_list_of_queues_is_loaded_like_an_object(db: Connection) -> None:
    exports.load(db, "cric-queues", QUEUES)
    first = held(db)
    records = [{"name": name, **record} for name, record in QUEUES.items()]
    exports.load(db, "cric-queues", records)
    again = held(db)
    for name in QUEUES:
        again["queues"][name].pop("name")
    assert again == first


def test_an_import_keeps_fields_that_it_does_not_contain(db: Connection) -> None:
    measured = {"pilots": {"getjob": 5, "updatejob": 1}, "slots": [{"gshare": "A", "numslots": 9}]}
    world.load(
        db,
        [
            {
                "queues": {"AGLT2": {"role": "nucleus", **measured}, "OTHER": {"maxrss": 7}},
                "storages": {"AGLT2_DATADISK": {"space_total": 9000, "space_free": 1}},
                "links": [{"src": "AGLT2", "dst": "CERN", "closeness": 3, "queued": 40}],
            }
        ],
    )
    exports.load(db, "cric-queues", QUEUES)
    exports.load(db, "cric-storages", STORAGES)
    exports.load(db, "cric-closeness", [{"src": "AGLT2", "dst": "CERN", "closeness": 5}])
    found = held(db)
    assert found["queues"]["AGLT2"].items() >= {"role": "nucleus", "corecount": 8, **measured}.items()
    assert found["queues"]["OTHER"] == {"maxrss": 7}
    assert found["storages"]["AGLT2_DATADISK"].items() >= {"space_total": 9000, "space_free": 1500.5}.items()
    assert found["links"] == [{"src": "AGLT2", "dst": "CERN", "closeness": 5, "queued": 40}]


def test_storages_are_loaded_with_their_states(db: Connection) -> None:
    assert exports.load(db, "cric-storages", STORAGES).rows == 1
    storages = held(db)["storages"]
    assert list(storages) == ["AGLT2_DATADISK"]
    storage = storages["AGLT2_DATADISK"]
    assert storage.items() >= {"site": "AGLT2", "read_lan": "ON", "write_wan": "OFF", "token": "ATLASDATADISK"}.items()
    assert storage["detailed_status"] == STORAGES["AGLT2_DATADISK"]["detailed_status"]


def test_an_unknown_state_of_a_storage_is_kept_and_hinders_nothing(db: Connection) -> None:
    record = {"type": "DATADISK", "detailed_status": {"read_lan": "DEGRADED", "write_lan": "off", "read_wan": "TEST"}}
    exports.load(db, "cric-storages", {"A": record}, "w")
    storage = held(db, "w")["storages"]["A"]
    assert (storage.get("read_lan"), storage.get("write_lan"), storage["read_wan"]) == (None, None, "TEST")
    assert storage["detailed_status"] == record["detailed_status"]


SITES: dict[str, Any] = {
    "AGLT2": {"name": "AGLT2", "state": "DISABLED", "tier_level": 2, "datapolicies": ["Nucleus"], "country": "USA"},
    "CERN": {"name": "CERN", "state": "ACTIVE", "tier_level": 0, "datapolicies": [], "country": "Switzerland"},
}


@pytest.mark.parametrize("first", ["cric-sites", "cric-queues"])
def test_the_site_of_a_queue_gives_its_role(db: Connection, first: str) -> None:
    plain = {"NORTH_PQ": {"status": "online", "atlas_site": "AGLT2", "panda_site": "GreatLakesT2"}}
    given = {"cric-sites": SITES, "cric-queues": plain | {"SOUTH_PQ": {"status": "online", "atlas_site": "CERN"}}}
    world.load(db, [{"queues": {"SOUTH_PQ": {"panda_site": "CERN", "role": "nucleus"}, "OTHER": {"role": "nucleus"}}}])
    for export in sorted(given, key=lambda export: export != first):
        assert exports.load(db, export, given[export]).rows
    found = held(db)
    assert found["nuclei"] == {"AGLT2": {"state": "DISABLED"}}
    assert found["queues"]["NORTH_PQ"].items() >= {"panda_site": "AGLT2", "role": "nucleus"}.items()
    assert found["queues"]["OTHER"]["role"] == "nucleus"
    if first == "cric-queues":
        assert (found["queues"]["NORTH_PQ"]["tier"], found["queues"]["SOUTH_PQ"].get("role")) == ("T2", None)


def test_states_of_storages_end_with_the_downtime(db: Connection) -> None:
    off = {"status": {"value": "OFF"}, "reason": "downtime", "expiration": "2026-06-01T00:00:00"}
    world.load(db, [{"storages": {"A": {"site": "NORTH", "read_lan": "TEST"}}}])
    imported = exports.load(
        db, "cric-storage-states", {"A": {"read_wan": off, "write_wan": off}, "B": {"read_lan": off}}
    )
    assert imported.lacking == ["1 storage is not loaded and left out: B (--cric-storages)"]
    assert held(db)["storages"] == {"A": {"site": "NORTH", "read_wan": "OFF", "write_wan": "OFF"}}
    exports.load(db, "cric-storage-states", {"A": {"read_wan": off | {"status": {"value": "ON"}}}})
    assert held(db)["storages"] == {"A": {"site": "NORTH", "read_wan": "ON"}}


@pytest.mark.parametrize(
    "matrix",
    [
        [{"src": "A", "dst": "B", "closeness": -1, "id": 7}, {"src": "", "dst": "B", "closeness": 1}],
        {"A_B": {"src": "A", "dst": "B", "closeness": -1}},
    ],
)
def test_closeness_becomes_links(db: Connection, matrix: Any) -> None:
    exports.load(db, "cric-closeness", matrix)
    assert held(db)["links"] == [{"src": "A", "dst": "B", "closeness": -1}]


def test_software_tags_are_loaded(db: Connection) -> None:
    assert exports.load(db, "software", TAGS).rows == 1
    tag = {key: value for key, value in TAGS["AGLT2"]["tags"][0].items() if value != []}
    assert held(db)["software"]["AGLT2"] == {**TAGS["AGLT2"], "tags": [tag]}


def test_unknown_fields_of_software_are_left_out_and_named(db: Connection) -> None:
    """CRIC adds fields, and a typing error in a field that is read leaves the others."""
    tag = {"cmtconfig": "x", "tag": "y", "modtime": 5}
    given = {name: {"colour": [], "cvmfs": ["atlas"], "tags": [tag], "modtime": 5} for name in "AB"}
    imported = exports.load(db, "software", given)
    assert imported.rows == 2
    assert imported.ignored == ["software.A: field colour and 1 more", "software.A: field modtime and 3 more"]
    assert held(db)["software"]["B"] == {"cvmfs": ["atlas"], "tags": [{"tag": "y", "cmtconfig": "x"}]}


def test_network_metrics_become_links_with_their_times(db: Connection) -> None:
    world.load(db, [{"now": NOW, "links": [{"src": "AGLT2", "dst": "CERN", "closeness": 3, "mbps_1d": 9}]}])
    imported = exports.load(db, "network-metrics", METRICS)
    assert (imported.rows, imported.lacking) == (3, [])
    found = {f"{link['src']}:{link['dst']}": link for link in held(db)["links"]}
    first = found["AGLT2:CERN"]
    assert first.pop("queued_express_at") == "2026-04-01T10:59:00+00:00"
    assert first == {
        "src": "AGLT2", "dst": "CERN", "closeness": 3, "queued": 12, "queued_express": 3, "mbps_1h": 2.5,
        "mbps_1w": 1.5, "queued_at": "2026-04-01T11:30:00+00:00", "mbps_at": "2026-04-01T12:00:00+00:00",
    }  # fmt: skip
    assert found["CERN:AGLT2"] == {"src": "CERN", "dst": "AGLT2", "mbps_1d": 4}


def test_figures_grow_old_after_they_were_loaded(db: Connection) -> None:
    world.load(db, [{"now": NOW}])
    exports.load(db, "network-metrics", METRICS)
    query = """select src || ':' || dst, queued, queued_express, mbps from brokerage.link_figures('default')
                order by src collate "C" """
    old = ("OLD:AGLT2", None, None, None)
    assert db.execute(query).fetchall() == [("AGLT2:CERN", 12, None, 2.5), ("CERN:AGLT2", None, None, 4), old]
    db.execute("select resource.set_clock('default', '2026-04-01T12:30:01Z')")
    assert db.execute(query).fetchall() == [("AGLT2:CERN", None, None, 2.5), ("CERN:AGLT2", None, None, 4), old]
    db.execute("select resource.set_clock('default', '2026-04-01T13:00:01Z')")
    assert db.execute(query).fetchall() == [("AGLT2:CERN", None, None, None), ("CERN:AGLT2", None, None, 4), old]


@pytest.mark.parametrize(
    ("measured", "chosen"),
    [
        ({"rucio": "11:10", "dashb": "11:30", "fts": "11:20"}, "dashb"),
        ({"rucio": "11:30", "fts": "11:30"}, "rucio"),
        ({"rucio": "11:30", "fts": None}, "fts"),
        ({"perfsonar": "11:50", "rucio": "08:00"}, "rucio"),
    ],
)
def test_the_newest_figures_count_whenever_they_are_loaded(
    db: Connection, measured: dict[str, str | None], chosen: str
) -> None:
    """They are then too old only if those of every system are."""
    systems = {
        system: {"1h": place, **({"timestamp": f"2026-04-01T{at}:00"} if at else {})}
        for place, (system, at) in enumerate(measured.items())
    }
    for now in ("2026-04-01T11:55:00Z", "2026-04-01T12:15:00Z", "2026-04-03T12:00:00Z"):
        world.load(db, [{"now": now}])
        exports.load(db, "network-metrics", {"A:B": {"mbps": systems}})
        assert held(db)["links"][0]["mbps_1h"] == list(measured).index(chosen)


def test_a_file_of_old_figures_alone_is_named(db: Connection) -> None:
    world.load(db, [{"now": NOW}])
    imported = exports.load(db, "network-metrics", {"OLD:AGLT2": METRICS["OLD:AGLT2"]})
    assert imported.lacking == ["all figures are older than an hour: brokerage reads none of them"]


@pytest.mark.parametrize(("export", "value", "named"), [
    ("cric-queues", 7, "cric-queues is 7"),
    ("cric-queues", [{"corecount": 1}], r"cric-queues\[0\]\.panda_resource is null"),
    ("cric-queues", {"A": {"status": "online", "maxrss": "much"}}, 'queue A: maxrss is "much", not a number'),
    ("cric-queues", {"A": {"status": "online", "astorages": {"pr": "X", "pw": 7}}},
     r"cric-queues\.A\.astorages\.pw is 7"),
    ("cric-storages", {"A": {"type": "DATADISK", "detailed_status": {"read_lan": 1}}},
     r"A\.detailed_status\.read_lan is 1"),
    ("cric-closeness", [{"src": "A", "dst": "B"}], r"cric-closeness\[0\]\.closeness is missing"),
    ("cric-closeness", [{"src": "A", "dst": "B", "closeness": "x"}], r"\[0\]\.closeness is"),
    ("software", {"A": {"tags": [], "cvmfs": 7}}, "software A: cvmfs is 7"),
    ("software", {"A": {"colour": []}}, "this is not CRIC's export of releases and tags by queue: it has none of arch"),
    ("network-metrics", {"A-B": {}}, 'network-metrics.A-B is "A-B", not a pair'),
    ("network-metrics", {"A:B": {"files": []}}, r"A:B\.files is \[\]"),
    ("network-metrics", {"A:B": {"files": {"queued": {"Express": {"n": 1}}}}}, r"Express\.latest is missing"),
    ("network-metrics", {"A:B": {"mbps": {"fts": {"1h": "x"}}}}, r"mbps\.fts\.1h is"),
    ("network-metrics", {"A:B": {"mbps": {"fts": {"timestamp": "x"}}}}, r"mbps\.fts\.timestamp is"),
])  # fmt: skip
def test_exports_of_another_shape_are_refused_by_field(db: Connection, export: str, value: Any, named: str) -> None:
    with pytest.raises((errors.BadRequest, psycopg.Error), match=named):
        exports.load(db, export, value)
    assert db.execute("select count(*) from resource.queue").fetchone() == (0,)
