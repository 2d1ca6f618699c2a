"""The peer without DIRAC and MariaDB: its configuration, its requests, and the errors of missing packages."""

import importlib.util
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import dirac, mariadb, processes
from benchmarks.workloads import WORKLOADS
from broker.errors import BrokerError
from broker.laboratory.lhcb import Group
from broker.laboratory.pilots import Resource

ASKED: list[Resource] = [{"CPUTime": 1}, {"CPUTime": 2}]


def test_a_queue_names_its_owner_and_lists_its_pool_as_job_type() -> None:
    wanted = {"OwnerDN": "/CN=a", "OwnerGroup": "g", "CPUTime": 500, "Sites": ["A", "B"], "SubmitPools": ["pool-1"]}
    assert dirac.definition(wanted) == {
        "Owner": "/CN=a", "OwnerGroup": "g", "CPUTime": 500, "Sites": ["A", "B"], "JobTypes": ["pool-1"],
    }  # fmt: skip
    assert dirac.definition({**wanted, "JobTypes": ["User"]})["JobTypes"] == ["User", "pool-1"]


@pytest.mark.parametrize("letter", "UN")
def test_no_pilot_of_workloads_with_pools_names_a_job_type(letter: str) -> None:
    assert not any("JobType" in key for resource in WORKLOADS[letter]().requests(1) for key in resource)


def test_a_description_is_handed_on_as_the_matcher_does() -> None:
    resource: Resource = {
        "Site": "A", "CPUTime": 700, "PilotType": "private", "OwnerGroup": "g", "OwnerDN": "/CN=a",
        "NumberOfProcessors": 2, "Tag": ["GPU"], "BannedSite": ["B"], "MaxRAM": 2000,
    }  # fmt: skip
    assert dirac.request(resource) == {
        "Site": "A", "CPUTime": 700, "OwnerGroup": "g", "Owner": "/CN=a",
        "Tag": ["1Processors", "2Processors", "GPU", "MultiProcessor"], "BannedSite": ["B"], "MaxRAM": 2000,
    }  # fmt: skip
    assert "Tag" not in dirac.request({"CPUTime": 1})


def test_the_rows_of_a_queue_are_those_of_its_tables() -> None:
    wanted = {"OwnerDN": "/CN=a", "OwnerGroup": "g", "CPUTime": 500, "Sites": ["A", "B"]}
    groups: list[Group] = [
        {"requirements": {**wanted, "Tags": ["GPU"]}, "jobs": [[11, 0], [12, 3]]},
        {"requirements": wanted, "jobs": [[13, 10]]},
    ]
    assert dirac.rows_of(groups, 7, {11: 2.5, 13: 0.5}) == {
        "tq_TaskQueues": [(7, "/CN=a", "g", "bench", 500, 2.5, 1), (8, "/CN=a", "g", "bench", 500, 0.5, 1)],
        "tq_TQToSites": [(7, "A"), (7, "B"), (8, "A"), (8, "B")],
        "tq_TQToTags": [(7, "GPU")],
        "tq_Jobs": [(7, 11, 0, 1e-5), (7, 12, 3, 3), (8, 13, 10, 1e6)],
    }


def test_dirac_is_configured_with_the_groups_and_cpu_buckets_of_the_workload() -> None:
    configured = dirac.configuration(WORKLOADS["U"](), "secret")
    groups = configured["Registry"]["Groups"]
    assert groups["group_0"] == {"VO": "bench", "JobShare": "1000", "Properties": "JobSharing"}
    assert groups["group_4"]["Properties"] == ""
    segments = configured["Operations"]["Defaults"]["JobScheduling"]["taskQueueCPUTimeIntervals"]
    assert segments == "500, 5000, 50000, 300000"
    assert configured["Systems"]["WorkloadManagement"]["Databases"]["TaskQueueDB"]["Password"] == "secret"


def test_the_error_of_a_missing_dirac_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object:
        return None if name == "DIRAC" else real(name)

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", find)
    with pytest.raises(BrokerError, match="DIRAC is not installed") as raised:
        dirac.require()
    assert "benchmarks/PEER.md" in str(raised.value.hint)
    assert "pip install --no-deps DIRAC" in (Path(dirac.__file__).parent / "PEER.md").read_text()


def test_the_error_of_a_missing_mariadb_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(mariadb, "_FOLDERS", ())
    with pytest.raises(BrokerError, match="MariaDB's server is not installed") as raised:
        mariadb.require()
    assert "mariadb-server" in str(raised.value.hint)


@contextmanager
def asking(failing: bool) -> Iterator[processes.Ask]:
    """A client's call."""

    def ask(resources: Sequence[Resource]) -> Any:
        [resource] = resources
        if failing:
            raise BrokerError(f"no answer to {resource['CPUTime']}")
        time.sleep(0.001)

    yield ask


def test_processes_make_their_calls_and_end() -> None:
    run = processes.run(processes.Client(partial(asking, False), ASKED, 50, seed=1), 2)
    assert run.calls == len(run.latencies) == 100
    assert run.rate > 0
    assert multiprocessing.active_children() == []


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(BrokerError, match="no answer to"):
        processes.run(processes.Client(partial(asking, True), ASKED, 50, seed=1), 2)
    assert multiprocessing.active_children() == []
