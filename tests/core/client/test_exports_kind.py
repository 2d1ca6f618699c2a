"""A file given to the wrong option, or as a world, is refused with its kind and the option that takes it."""

import json
from typing import Any

import pytest

from broker import errors, world
from broker.known_exports import EXPORTS, recognise
from broker.world import exports
from tests.calls import Connection
from tests.core.client import (
    test_exports_cric,
    test_exports_dirac,
    test_exports_gdpconfig,
    test_exports_panda,
    test_exports_rucio,
)
from tests.exports import METRICS, QUEUES, STORAGES, TAGS

COUNTS = {"NORTH_PQ": {"MCORE": {"managed": {"activated": 1, "assigned": 0, "running": 4}}}}
FILES: dict[str, Any] = {
    "cric-queues": QUEUES,
    "cric-storages": STORAGES,
    "cric-sites": test_exports_cric.SITES,
    "cric-storage-states": {
        "A": {activity: {"status": {"value": "OFF"}} for activity in ("read_lan", "read_wan", "write_wan")}
    },
    "cric-closeness": [{"src": "A", "dst": "B", "closeness": 1}],
    "software": TAGS,
    "network-metrics": METRICS,
    "rucio-usage": {"NORTH_DISK": test_exports_rucio.ROWS},
    "pilots": {"NORTH_PQ": {"getJob": 5, "updateJob": 7}},
    "workers": {"NORTH_PQ": {"harvester_a": {"managed": {"SCORE": {"running": 3, "submitted": 4}}}}},
    "jedi-tasks": test_exports_panda.ROW,
    "rucio-datasets": [
        {"scope": "mc", "name": "set", "rse": "R", "length": 1, "available_length": 1, "available_bytes": 1}
    ],
    "rucio-replicas": test_exports_rucio.FILES,
    "job-counts": test_exports_panda.answer(COUNTS),
    "gdpconfig": test_exports_gdpconfig.ROWS,
    "dirac": test_exports_dirac.TABLES,
}


def test_every_export_is_known_by_its_fields() -> None:
    assert FILES.keys() == EXPORTS.keys()
    assert {name: found.name for name, value in FILES.items() if (found := recognise(value))} == {
        name: name for name in FILES
    }


@pytest.mark.parametrize("given", EXPORTS)
def test_an_export_is_refused_by_every_other_option(db: Connection, given: str) -> None:
    for option in EXPORTS:
        if option != given:
            with pytest.raises(errors.BadRequest, match=f"this looks like {EXPORTS[given].what}") as caught:
                exports.load(db, option, FILES[given])
            assert f"--{given};" in str(caught.value.hint)
    with pytest.raises(errors.BadRequest, match="this is a world"):
        exports.load(db, given, {"queues": QUEUES})


@pytest.mark.parametrize("given", EXPORTS)
def test_an_export_given_as_a_world_is_named(db: Connection, given: str) -> None:
    with pytest.raises(errors.BadRequest, match=f"looks like {EXPORTS[given].what}, not like a world") as caught:
        world.load(db, [world.parse(json.dumps(FILES[given]), "file")])
    assert caught.value.hint == f"broker load --{given} FILE"


@pytest.mark.parametrize("export", sorted(EXPORTS.keys() - {"job-counts"}))  # whose names are all names of queues
@pytest.mark.parametrize("form", [lambda row: {"a": row}, lambda row: [{"identifier": "a", **row}]])
def test_a_foreign_file_is_told_from_one_with_a_bad_record(db: Connection, export: str, form: Any) -> None:
    with pytest.raises(errors.BadRequest, match=f"this is not {EXPORTS[export].what}: it has none of"):
        exports.load(db, export, form({"colour": "red", "size": 5}))


def test_lines_of_an_export_given_as_a_world_are_named() -> None:
    lines = "".join(json.dumps(one) + "\n" for one in test_exports_rucio.FILES)
    with pytest.raises(errors.BadRequest, match="file looks like Rucio's file replicas"):
        world.parse(lines, "file")


def test_a_misspelt_section_is_not_taken_for_an_export(db: Connection) -> None:
    with pytest.raises(errors.BadRequest, match="not known here: section quebes") as caught:
        world.load(db, [{"quebes": QUEUES}])
    assert "nearest is queues" in str(caught.value.hint)
