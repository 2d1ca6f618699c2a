"""DIRAC's own clients, from their released package, against the service over HTTPS.

BROKER_TEST_DIRAC names a Python that has DIRAC; `.ci/dirac` makes one.
"""

import hashlib
import ipaddress
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from tests.service.authority import make
from tests.service.conftest import SETUP, Credential, Db, Token, facts_of
from tests.service.dirac.conftest import JDL, SITE, Insert
from tests.service.issuer import AUDIENCE, Issuer
from tests.service.test_command import Program

PYTHON = os.environ.get("BROKER_TEST_DIRAC", "")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="BROKER_TEST_DIRAC names no Python that has DIRAC (.ci/dirac makes one)"
)
Clients = Callable[[str], "Dirac"]
CLIENT = Path(__file__).with_name("client.py")


class Dirac:
    """A process with DIRAC's clients, and their answers."""

    def __init__(self, url: str, bearer_token: str, authorities: Path, folder: Path) -> None:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "X509_CERT_DIR": str(authorities),
            "BEARER_TOKEN": bearer_token, "SERVICE": url, "DIRACSYSCONFIG": str(folder / "none.cfg"),
        }  # fmt: skip
        self._process = subprocess.Popen(
            [PYTHON, str(CLIENT)], env=environment, cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.about = self._next()

    def call(self, client: str, method: str, *args: Any) -> dict[str, Any]:
        """The result of a call of a client of DIRAC."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps([client, method, args]) + "\n")
        self._process.stdin.flush()
        return self._next()

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        raise AssertionError(f"DIRAC's process ended with {self._process.wait()}")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A folder with a certificate for this machine and its key, which is also the folder of authorities."""
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = make([(x509.NameOID.COMMON_NAME, "localhost")], None, (address, False))
    (tmp_path / "cert.pem").write_text(made.pem)
    (tmp_path / "key.pem").write_text(made.key_pem)
    # OpenSSL looks for an authority by the hash of its name, without the outer header
    name = made.certificate.subject.public_bytes()[2:]
    number = int.from_bytes(hashlib.sha1(name).digest()[:4], "little")
    (tmp_path / "authorities").mkdir()
    (tmp_path / "authorities" / f"{number:08x}.0").write_text(made.pem)
    return tmp_path


@pytest.fixture
def dirac(service_dsn: str, issuer: Issuer, credential: Credential, certificate: Path) -> Iterator[Clients]:
    """A function that starts DIRAC's clients with a token for the service with TLS."""
    credential("agent", issuer)
    files = ["--tls-cert", str(certificate / "cert.pem"), "--tls-key", str(certificate / "key.pem")]
    trusted = ["--issuer", issuer.url, "--audience", AUDIENCE]
    program = Program([*files, *trusted], {"BROKER_DSN": service_dsn})
    started: list[Dirac] = []

    def start(bearer_token: str) -> Dirac:
        started.append(Dirac(program.url, bearer_token, certificate / "authorities", certificate))
        return started[-1]

    yield start
    for one in started:
        one.close()
    program.stop()


def test_clients_of_dirac_get_report_and_end_a_job(dirac: Clients, issuer: Issuer, dirac_job: Insert, db: Db) -> None:
    dirac_job(7, {"JDL": JDL, "Owner": "alice"}, Tags=["8Processors"])
    pilot = dirac(issuer.token("pilot-1"))
    assert pilot.about["no match"] == 1510
    nothing = pilot.call("MatcherClient", "requestJob", SITE)
    assert (nothing["OK"], nothing["Errno"]) == (False, 1510), nothing
    found = pilot.call("MatcherClient", "requestJob", SITE | {"NumberOfProcessors": 8, "PilotReference": "p1"})
    assert (found["OK"], found["Value"]["JobID"], found["Value"]["Owner"]) == (True, 7, "alice")

    report = ("JobReport", "setJobStatus")
    assert pilot.call(*report, 7, "Running", "Job Initialization")["OK"]
    assert pilot.call("JobReport", "setJobParameters", 7, [["HostName", "wn1"]])["OK"]
    assert pilot.call("JobStateUpdateClient", "sendHeartBeat", 7, {"CPUConsumed": 1}, {})["Value"] == {}
    assert pilot.call("JobMonitoringClient", "getJobsStatus", [7])["Value"] == {"7": {"Status": "Running"}}
    db.execute("select taskqueue.cancel_job(%s, 7, 'not wanted')", [SETUP])
    assert pilot.call("JobStateUpdateClient", "sendHeartBeat", 7, {}, {})["Value"] == {"Kill": "not wanted"}
    assert pilot.call("JobStateUpdateClient", "setJobStatus", 7, "Killed", "", "JobWrapper")["OK"]
    assert pilot.call("JobReport", "commit", 7)["OK"]
    assert db.execute("select job_id, outcome from taskqueue.ended").fetchall() == [(7, "cancelled")]
    assert facts_of(db, 7)[:3] == ("wn1", None, 1)


def test_clients_of_dirac_give_the_facts_of_a_failed_job(
    dirac: Clients, issuer: Issuer, dirac_job: Insert, db: Db
) -> None:
    """The calls of DIRAC's Watchdog and JobWrapper."""
    dirac_job(7)
    pilot = dirac(issuer.token("pilot-1"))
    assert pilot.call("MatcherClient", "requestJob", SITE | {"HostName": "n17.org"})["OK"]
    assert pilot.call("JobReport", "setJobStatus", 7, "Running", "Application")["OK"]
    node = [["HostName", "n17"], ["Memory(MB)", 64000], ["ModelName", "x"]]
    assert pilot.call("JobStateUpdateClient", "setJobParameters", 7, node)["OK"]
    beat = {"CPUConsumed": 100, "WallClockTime": 120.5, "MemoryUsed": 1500.5, "Vsize": 9e5, "LoadAverage": 1.5}
    assert pilot.call("JobStateUpdateClient", "sendHeartBeat", 7, beat, {"StandardOutput": "x"})["OK"]
    assert pilot.call("JobReport", "setJobParameter", 7, "TotalCPUTime(s)", "130.5")["OK"]
    assert pilot.call("JobReport", "setApplicationStatus", 7, "exit code 3", False)["OK"]
    failed = ["Failed", "Application Finished With Errors"]
    assert pilot.call("JobReport", "setJobStatus", 7, *failed)["OK"]
    errors = [{"source": "dirac", "text": text} for text in (failed[1], "exit code 3")]
    assert facts_of(db, 7) == ("n17.org", errors, 130.5, 120.5, 1500.5, None)


def test_a_job_of_forty_minutes_is_given_out_once(dirac: Clients, issuer: Issuer, dirac_job: Insert, db: Db) -> None:
    dirac_job(7)
    began = datetime(2026, 11, 27, 12, tzinfo=UTC)
    clock = "select resource.set_clock(%s, %s)"
    db.execute(clock.encode(), [SETUP, began])
    first, second = (dirac(issuer.token(name)) for name in ("pilot-1", "pilot-2"))
    assert first.call("MatcherClient", "requestJob", SITE)["OK"]
    assert first.call("JobReport", "setJobStatus", 7, "Running")["OK"]
    for minutes in range(0, 41, 4):
        db.execute(clock.encode(), [SETUP, began + timedelta(minutes=minutes)])
        db.execute("call lifecycle.watch(%s)", [SETUP])
        assert first.call("JobStateUpdateClient", "sendHeartBeat", 7, {}, {})["Value"] == {}
        assert second.call("MatcherClient", "requestJob", SITE)["Errno"] == 1510
    assert first.call("JobReport", "setJobStatus", 7, "Completing")["OK"]
    assert first.call("JobReport", "setJobStatus", 7, "Done")["OK"]
    assert second.call("MatcherClient", "requestJob", SITE)["Errno"] == 1510
    matched = "select count(*) from taskqueue.history where job_id = 7 and event = 'matched'"
    assert db.execute(matched.encode()).fetchall() == [(1,)]
    assert db.execute("select outcome from taskqueue.ended").fetchall() == [("finished",)]


def test_clients_of_dirac_use_an_own_token_and_are_refused_with_a_wrong_one(
    dirac: Clients, token: Token, dirac_job: Insert
) -> None:
    dirac_job(7)
    refused = dirac(json.dumps({"access_token": "nonsense", "expires_at": 2**33}))
    assert refused.call("MatcherClient", "requestJob", SITE)["Errno"] == 13  # EACCES: DIRAC's client asks no further
    opaque = dirac(json.dumps({"access_token": token("agent", "pilot-1"), "expires_at": 2**33}))
    assert opaque.call("MatcherClient", "ping")["Value"]["name"] == "WorkloadManagement/Matcher"
    assert opaque.call("MatcherClient", "requestJob", SITE)["Value"]["JobID"] == 7
    other = dirac(json.dumps({"access_token": token("agent", "pilot-2"), "expires_at": 2**33}))
    assert other.call("JobStateUpdateClient", "setJobStatus", 7, "Done")["Errno"] == 1111
    assert opaque.call("JobStateUpdateClient", "setJobStatus", 7, "Done")["OK"]
