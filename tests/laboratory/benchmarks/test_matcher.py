"""DIRAC's Matcher as a peer, without DIRAC: configuration, requests of agents, certificates, and the cost of a job."""

import importlib.util
import os
import socket
import ssl
import threading
from pathlib import Path

import pytest

from benchmarks import dirac, mariadb, matcher, pilot
from benchmarks.measure import Sample
from benchmarks.scenarios.matcher import Served
from benchmarks.serving.authority import Authority
from benchmarks.workloads import WORKLOADS
from broker.errors import BrokerError

PORTS = {"ResourceStatus/ResourceStatus": 1, "WorkloadManagement/Matcher": 2}


def test_the_services_find_their_databases_and_each_other() -> None:
    base = dirac.configuration(WORKLOADS["U"](), "secret")
    configured = matcher.configuration(base, PORTS, (Path("host.pem"), Path("key.pem")))
    work, status = configured["Systems"]["WorkloadManagement"], configured["Systems"]["ResourceStatus"]
    for system, names in ((work, "TaskQueueDB JobDB JobLoggingDB PilotAgentsDB"), (status, "ResourceStatusDB")):
        assert {name: one["DBName"] for name, one in system["Databases"].items()} == {n: n for n in names.split()}
        assert {one["Password"] for one in system["Databases"].values()} == {"secret"}
    assert work["Services"]["Matcher"]["Port"] == 2
    assert work["URLs"] == {"Matcher": "dips://localhost:2/WorkloadManagement/Matcher"}
    assert status["URLs"] == {"ResourceStatus": "dips://localhost:1/ResourceStatus/ResourceStatus"}


def test_pilots_take_any_jobs_of_their_own_organisation() -> None:
    base = dirac.configuration(WORKLOADS["U"](), "secret")
    registry = matcher.configuration(base, PORTS, (Path("host.pem"), Path("key.pem")))["Registry"]
    group = registry["Groups"][pilot.GROUP]
    assert group["VO"] == registry["Groups"]["group_0"]["VO"]
    assert "GenericPilot" in group["Properties"]
    assert registry["Users"]["pilot"]["DN"] == "/O=bench/CN=pilot"


def test_agents_send_only_fields_that_the_matcher_understands() -> None:
    resources: list[dict[str, object]] = [
        {"Site": "A", "CPUTime": 1, "OwnerDN": "/CN=a", "BannedSite": ["B"]}, {"CPUTime": 2}
    ]  # fmt: skip
    understood = pilot.understood(resources)
    assert understood == [{"Site": "A", "CPUTime": 1, "OwnerDN": "/CN=a"}]
    assert pilot.described(understood[0]) == {"Site": "A", "CPUTime": 1, "Owner": "/CN=a"}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("by_folder", [False, True])
def test_a_client_that_trusts_the_authority_connects(tmp_path: Path, host: str, by_folder: bool) -> None:
    """Plain agents get the authority as a file; DIRAC's agents find it by its name in the folder."""
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.certify("localhost"))
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.load_verify_locations(
        cafile=None if by_folder else authority.file, capath=authority.trusted if by_folder else None
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        server = threading.Thread(target=lambda: context.wrap_socket(theirs, server_side=True).recv(1))
        server.start()
        with trusting.wrap_socket(ours, server_hostname=host) as connected:
            assert connected.version() == "TLSv1.3"
            connected.send(b"x")
        server.join()


class Fixed:
    """A kind of calls with one sample."""

    name, batch, available, trial = "fixed", 1, 100, 1

    def __init__(self, found: int) -> None:
        self._found = found

    def sample(self, clients: int, calls: int, seed: int) -> Sample:
        """The sample; its agents take as many milliseconds as the seed."""
        return Sample(calls, self._found, 1.0, (1.0, 1.0, 1.0, 1.0), 0.0, 1.0, 0.0, float(seed))


def test_costs_are_medians_of_the_rounds_without_the_trial() -> None:
    served = Served(Fixed(5), [os.getpid()])
    for seed in (90, 1, 2, 3):
        served.sample(1, 10, seed)
    costs = served.costs(3)
    assert costs["agents_ms"] == 2.0
    assert isinstance(costs["service_ms"], float) and costs["service_ms"] >= 0


def test_a_run_without_a_job_is_an_error() -> None:
    with pytest.raises(BrokerError, match="fixed: no agent got a job"):
        Served(Fixed(0), []).sample(1, 10, 1)


def test_a_missing_package_of_the_services_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb, "require", lambda: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "opensearchpy" else name)
    with pytest.raises(BrokerError, match="opensearch-py is not installed") as raised:
        matcher.require()
    assert "benchmarks/PEER.md" in str(raised.value.hint)
    assert " opensearch-py" in (Path(matcher.__file__).parent / "PEER.md").read_text()
