"""The peer of the service: DIRAC's own Matcher, as DIRAC starts it, on its databases in our own MariaDB.

In DIRAC 9 the Matcher is a service of the protocol DISET (TLS with certificates on both sides), not of HTTPS. The
Matcher asks the service ResourceStatus, which runs beside it, whether a site is banned.
"""

import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import dirac, mariadb, pilot
from benchmarks.serving.authority import ORGANIZATION, Authority
from benchmarks.serving.service import free_port
from benchmarks.workloads import Workload
from broker.errors import BrokerError
from broker.laboratory.lhcb import Group
from broker.laboratory.pilots import Resource

JDL = (
    '[ Executable = "/bin/run"; Arguments = "--events 1000"; JobName = "bench"; JobType = "User"; CPUTime = 500;'
    ' StdOutput = "std.out"; StdError = "std.err"; InputSandbox = { "SB:SandboxSE|/sandbox/input.tar.bz2" };'
    ' OutputSandbox = { "std.out", "std.err" }; Priority = 1; JobID = JOB; ]'
)
"""The JDL of each job, with its id for JOB."""

_SERVICES = ("ResourceStatus/ResourceStatus", "WorkloadManagement/Matcher")  # in the order in which they start
_DATABASES = {"WorkloadManagement": ("JobDB", "JobLoggingDB", "PilotAgentsDB"), "ResourceStatus": ("ResourceStatusDB",)}
DATABASES = [name for names in _DATABASES.values() for name in names]
_THREADS = 20  # as in DIRAC's template of the Matcher; DIRAC advises against a second one
_START_SECONDS = 60
_PACKAGES = {"opensearchpy": "opensearch-py", "psutil": "psutil"}

_JOBS = (
    "JobDB.Jobs (JobID, Owner, OwnerGroup, VO, JobType, Status, MinorStatus, SubmissionTime, LastUpdateTime)"
    " select j.JobId, t.Owner, t.OwnerGroup, t.VO, 'User', 'Waiting', 'Pilot Agent Submission', now(), now()"
    " from TaskQueueDB.tq_Jobs j join TaskQueueDB.tq_TaskQueues t on t.TQId = j.TQId"
)
_LOGGED = (
    "JobLoggingDB.LoggingInfo (JobID, Status, StatusTime, StatusTimeOrder)"
    " select JobID, 'Waiting', SubmissionTime, timestampdiff(second, '2010-01-01', SubmissionTime)"
    " from JobDB.Jobs order by JobID"
)
_TAKE_BACK = (
    "update JobDB.Jobs set Status = 'Waiting', MinorStatus = 'Pilot Agent Submission', Site = 'ANY'"
    " where Status = 'Matched'",
    "delete from JobLoggingDB.LoggingInfo where Status = 'Matched'",
    "delete from PilotAgentsDB.JobToPilotMapping",
)


def require() -> None:
    """Raises BrokerError if MariaDB, DIRAC or an import of its services is not installed."""
    dirac.require(_PACKAGES)


def configuration(base: dirac.Configuration, ports: Mapping[str, int], host: tuple[Path, Path]) -> dirac.Configuration:
    """DIRAC's configuration for the services: `base` is the part that TaskQueueDB reads."""
    access = base["Systems"]["WorkloadManagement"]["Databases"][dirac.DATABASE]
    systems: dirac.Configuration = {}
    for system, databases in _DATABASES.items():
        sections = {name: {**access, "DBName": name} for name in databases}
        systems[system] = {"Databases": sections, "Services": {}, "URLs": {}}
    systems["WorkloadManagement"]["Databases"][dirac.DATABASE] = access
    for name, port in ports.items():
        system, _, service = name.partition("/")
        allowed = {"Default": "authenticated", "select": "all"}
        systems[system]["Services"][service] = {"Port": port, "MaxThreads": _THREADS, "Authorization": allowed}
        systems[system]["URLs"][service] = f"dips://localhost:{port}/{name}"
    pilots = {"Users": "pilot", "VO": dirac.VO, "Properties": "GenericPilot, LimitedDelegation"}
    certificate, key = map(str, host)
    return {
        "DIRAC": {**base["DIRAC"], "Hostname": "localhost", "Security": {"CertFile": certificate, "KeyFile": key}},
        "Systems": systems,
        "Registry": {
            "Users": {"pilot": {"DN": f"/O={ORGANIZATION}/CN=pilot"}},
            "Groups": {**base["Registry"]["Groups"], pilot.GROUP: pilots},
            "Hosts": {"localhost": {"DN": f"/O={ORGANIZATION}/CN=localhost", "Properties": "TrustedHost"}},
        },
        "Operations": {"Defaults": {**base["Operations"]["Defaults"], "Pilot": {"CheckVersion": "False"}}},
    }


class Peer(dirac.Peer):
    """The data that the Matcher reads, and DIRAC's agents that ask it, as a kind of calls (measure.Measured)."""

    name = "DIRAC: Matcher"
    pids: Sequence[int] = ()

    def __init__(
        self, server: mariadb.Server, connection: Any, workload: Workload, jobs: int, requests: Sequence[Resource]
    ) -> None:
        super().__init__(server, connection, workload, jobs)
        self._requests = list(requests)

    def load(self, priorities: Mapping[int, float]) -> None:
        """Make the tables with DIRAC's own files; load TaskQueueDB, and fill the other databases by statements."""
        for database in _DATABASES["WorkloadManagement"]:
            for statement in _statements(database):
                self._execute(statement)
        self._execute(f"use {dirac.DATABASE}")
        super().load(priorities)
        self._execute(f"insert into {_JOBS}")
        self._execute(f"insert into {_LOGGED}")
        pilots = [(name, dirac.VO) for name in pilot.NAMES]
        self._insert({"PilotAgentsDB.PilotAgents (PilotJobReference, VO)": pilots})

    def serve(self, authority: Authority, host: tuple[Path, Path], folder: Path, stack: ExitStack) -> None:
        """Start the services with a host's certificate, and have the agents ask them. They end with `stack`."""
        from diraccfg import CFG

        ports = {name: free_port() for name in _SERVICES}
        parts = CFG()
        parts.loadFromDict(configuration(self._configured, ports, host))
        parts.writeToFile(str(folder / "dirac.cfg"))
        environment = {
            **os.environ, "DIRACSYSCONFIG": str(folder / "dirac.cfg"), "X509_CERT_DIR": str(authority.trusted),
            "DIRAC": str(folder), "HOME": str(folder),
        }  # fmt: skip
        pids = []
        for name, port in ports.items():
            pids.append(stack.enter_context(_service(name, port, environment, folder)))
            if name == _SERVICES[0]:  # the service has made its tables
                sites = sorted({str(resource["Site"]) for resource in self._requests})
                columns = "Name, Status, ElementType, DateEffective"
                rows = [(site, "Active", "Site", "2026-01-01") for site in sites]
                self._insert({f"ResourceStatusDB.SiteStatus ({columns})": rows})
        self.pids = pids
        proxy = pilot.proxy_of(authority.certify("pilot"), folder)
        url = f"dips://localhost:{ports[_SERVICES[1]]}/{_SERVICES[1]}"
        self._connect = partial(pilot.asking, url, proxy, authority.trusted)

    def _load_batch(self, batch: Sequence[Group], first: int, priorities: Mapping[int, float]) -> None:
        from DIRACCommon.WorkloadManagementSystem.DB.JobDBUtils import compressJDL

        super()._load_batch(batch, first, priorities)
        texts = [(job_id, JDL.replace("JOB", str(job_id))) for group in batch for job_id, _ in group["jobs"]]
        rows = [(job_id, compressJDL(text), "[]", compressJDL(text)) for job_id, text in texts]
        self._insert({"JobDB.JobJDLs (JobID, JDL, JobRequirements, OriginalJDL)": rows})

    def _take_back(self) -> None:
        super()._take_back()
        for statement in _TAKE_BACK:
            self._execute(statement)


def _statements(database: str) -> list[str]:
    """The statements in DIRAC's file for the tables of a database."""
    found = importlib.util.find_spec("DIRAC.WorkloadManagementSystem.DB")
    assert found and found.submodule_search_locations
    text = (Path(next(iter(found.submodule_search_locations))) / f"{database}.sql").read_text()
    return [one for one in re.sub(r"(?m)^\s*--.*$", "", text).split(";") if one.strip()]


@contextmanager
def _service(name: str, port: int, environment: Mapping[str, str], folder: Path) -> Iterator[int]:
    """The process of a running service of DIRAC."""
    file = folder / f"{name.replace('/', '-')}.log"
    command = [str(Path(sys.executable).with_name("dirac-service")), name]
    with file.open("w") as log:
        process = subprocess.Popen(command, env=dict(environment), cwd=folder, stdout=log, stderr=log)
    try:
        until = time.monotonic() + _START_SECONDS
        while process.poll() is None and time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise BrokerError(f"DIRAC's service {name} did not start", file.read_text(errors="replace")[-2000:])
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
