"""The peer of brokerage without PanDA: places of files, the comparison of decisions, and the error without PanDA."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import panda
from benchmarks.panda.data import StoredData
from benchmarks.panda.server import Server
from benchmarks.scenarios import panda as scenario
from broker.errors import BrokerError
from broker.laboratory.grid import grid
from tests.laboratory.benchmarks.test_benchmarks import needs

FILES = [SimpleNamespace(lfn=name) for name in "abc"]
REPLICAS: dict[str, dict[str, Any]] = {"DISK": {"found": 2}, "LIST": {"found": 1, "lfns": ["c"]}, "TAPE": {}}
STORAGES = {name: {"is_tape": name == "TAPE"} for name in REPLICAS}
DATA = StoredData({"datasets": {"d": {"files": [{}] * 3, "replicas": REPLICAS}}, "storages": STORAGES})


def available(storages: list[str], *, check: bool = True, complete_only: bool = False) -> dict[str, str]:
    """The files on disk and on tape at the storages of a queue, as two texts."""
    asked: dict[str, Any] = {"check_completeness": check, "storage_token": None, "complete_only": complete_only}
    held = DATA.getAvailableFiles(SimpleNamespace(datasetName="d", Files=FILES), {"Q": storages}, None, **asked)["Q"]
    return {kind: "".join(file.lfn for file in files) for kind, files in held.items() if files}


def test_files_of_incomplete_replicas_count_without_a_complete_replica() -> None:
    assert available(["DISK"]) == {"localdisk": "ab"}
    assert available(["LIST"]) == {"localdisk": "c"}
    assert available(["DISK", "TAPE"]) == {"localtape": "abc"}
    assert available(["DISK"], complete_only=True) == {}
    assert available(["DISK"], check=False) == {"localdisk": "abc"}
    assert available(["NONE"]) == {}


def test_replicas_say_how_many_files_they_have() -> None:
    found = {name: rows[0]["found"] for name, rows in DATA.listDatasetReplicas("d", use_vp=True).items()}
    assert found == {"DISK": 2, "LIST": 1, "TAPE": 3}


def test_candidates_are_compared_up_to_equal_weights() -> None:
    theirs = {1: {"A": 2.0, "B": 1.0}, 2: {"A": 2.0, "B": 1.0}, 3: {"A": 2.0}, 4: {}, 5: {"A": 1.0}}
    ours = {1: {"A": 2.0, "B": 1.5}, 2: {"A": 2.0, "C": 1.0}, 3: {"B": 1.0}, 5: {"A": 1.0, "B": 1.0}}
    assert scenario.compared(theirs, ours) == {
        "tasks": 5, "same candidates": 2, "of these none": 1, "others of the same weight": 1, "different": 2,
        "candidates of both": 4, "of another weight": 1,
    }  # fmt: skip


def test_criteria_are_compared_up_to_the_choice_of_the_best() -> None:
    theirs = {(1, "A"): "+use", (1, "B"): "-low_weight", (1, "C"): "-cap", (1, "D"): "-disk"}
    ours = {
        (1, "A"): "-low_weight", (1, "B"): "+use", (1, "C"): "-disk", (1, "D"): "-disk", (1, "E"): "",
        (1, "F"): "-io",
    }  # fmt: skip
    assert dict(scenario.differences(theirs, ours)) == {("-cap", "-disk"): 1, ("", "-io"): 1}


def test_the_error_of_a_missing_panda_names_the_commands_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    panda._imported.cache_clear()
    monkeypatch.setitem(sys.modules, "pandacommon", None)
    monkeypatch.setitem(sys.modules, "pandacommon.liveconfigparser", None)
    with pytest.raises(BrokerError) as raised:
        panda.require()
    assert "pip install --no-deps panda-server-source" in str(raised.value.hint)


def test_links_get_the_names_that_panda_uses() -> None:
    needs(panda)
    world = grid(1, 12, 4)
    link = {"src": "S", "closeness": 3, "queued": 4, "mbps_1w": 2.5}
    world["links"] = [{**link, "dst": nucleus} for nucleus in world["nuclei"]]
    for nucleus in world["nuclei"]:
        found = Server(world).getNetworkMetrics(nucleus, [])
        assert found["S"] == {"AGIS_closeness": 3, "Production Output_queued": 4, "dashb_mbps_1w": 2.5}
        assert found["total"] == found["S"]
