"""The peer: DIRAC's own TaskQueueDB on our own MariaDB, with the same jobs and the same requests of pilots.

DIRAC's class makes the tables and matches the jobs. This module configures, loads and calls it.
DIRAC 9 says Owner for OwnerDN, and does not know SubmitPools: SubmitPools are put among the JobTypes, which no pilot of
workloads U and N names.
"""

import importlib.metadata
import importlib.util
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from benchmarks import cpu, mariadb, processes
from benchmarks.bench import SEED, Bench, Meter, batches
from benchmarks.measure import Sample
from benchmarks.workloads import Workload
from broker.errors import BrokerError
from broker.laboratory.lhcb import Group
from broker.laboratory.pilots import Resource

Configuration = dict[str, Any]
"""Sections (mappings) and options (texts) of DIRAC's configuration."""

DATABASE = "TaskQueueDB"
VO = "bench"
_LISTS = ("Sites", "GridCEs", "BannedSites", "Platforms", "JobTypes", "Tags")  # of a queue; one table each
_SAME = ("OwnerGroup", "CPUTime", "MaxRAM", "GridCE", "Site", "Platform", "JobType", "RequiredTag")  # of a pilot
_WEIGHTS = {0: 1e-5, 10: 1e6}  # by user priority; for others, the weight is the priority
_SAMPLE_QUEUES, _SAMPLE_JOBS = 10, 30  # queues that insertJob also inserts; jobs of a queue
_PURGE_SECONDS = 30  # within which MariaDB purges deleted rows
_PACKAGES = {"DIRAC": "DIRAC", "MySQLdb": "mysqlclient"}

_TABLES = ["tq_TaskQueues", "tq_RAM_requirements", *(f"tq_TQTo{name}" for name in _LISTS), "tq_Jobs"]
_LISTED = "(select group_concat(Value order by Value) from tq_TQTo{} v where v.TQId = t.TQId)"
_JOBS_AND_QUEUES = f"""
select j.JobId, j.Priority, j.RealPriority, t.Owner, t.OwnerGroup, t.VO, t.CPUTime, t.Enabled, r.MinRAM, r.MaxRAM,
       {", ".join(map(_LISTED.format, _LISTS))}
  from tq_Jobs j join tq_TaskQueues t on t.TQId = j.TQId left join tq_RAM_requirements r on r.TQId = t.TQId
 where j.JobId in %s order by j.JobId
"""
_TAKE_BACK = """
insert into tq_Jobs
select k.* from bench_jobs k left join tq_Jobs j on j.JobId = k.JobId where j.JobId is null
"""


def require(more: Mapping[str, str] = MappingProxyType({})) -> None:
    """Raises BrokerError if DIRAC, its driver, MariaDB, or one of `more` (packages by module) is not installed."""
    for module, package in {**_PACKAGES, **more}.items():
        if importlib.util.find_spec(module) is None:
            raise BrokerError(f"{package} is not installed", "benchmarks/PEER.md names what to install")
    mariadb.require()


def definition(requirements: Mapping[str, Any]) -> dict[str, Any]:
    """A queue's requirements in the form that insertJob takes."""
    lists = {name: list(requirements[name]) for name in _LISTS if name in requirements}
    if "SubmitPools" in requirements:
        lists["JobTypes"] = [*lists.get("JobTypes", ()), *requirements["SubmitPools"]]
    owner, group = requirements["OwnerDN"], requirements["OwnerGroup"]
    return {"Owner": owner, "OwnerGroup": group, "CPUTime": requirements["CPUTime"], **lists}


def request(resource: Resource) -> Resource:
    """A resource description as DIRAC's Matcher passes it on: tags give the number of processors.

    The Matcher also lists all groups for a generic pilot, which changes nothing if all belong to one VO.
    """
    asked = {key: value for key, value in resource.items() if key in _SAME or key.startswith("Banned")}
    if "OwnerDN" in resource:
        asked["Owner"] = resource["OwnerDN"]
    tags = resource.get("Tag", [])
    assert isinstance(tags, list)
    processors = int(str(resource.get("NumberOfProcessors", 0)))
    tags = [*tags, *(f"{n}Processors" for n in range(1, processors + 1)), *["MultiProcessor"] * (processors > 1)]
    if tags:
        asked["Tag"] = sorted(set(tags))
    return asked


def configuration(workload: Workload, password: str) -> Configuration:
    """DIRAC's configuration for TaskQueueDB: the place of its database, owner groups, CPU buckets."""
    groups = {
        name: {"VO": VO, "JobShare": f"{group.share:g}", "Properties": "JobSharing" if group.job_sharing else ""}
        for name, group in workload.owner_groups.items()
    }
    buckets = ", ".join(map(str, workload.cpu_buckets))
    access = {"User": mariadb.USER, "Password": password, "Host": "localhost", "DBName": DATABASE}
    return {
        "DIRAC": {"VirtualOrganization": VO},
        "Systems": {"WorkloadManagement": {"Databases": {DATABASE: access}}},
        "Registry": {"Groups": groups},
        "Operations": {"Defaults": {"JobScheduling": {"taskQueueCPUTimeIntervals": buckets}}},
    }


@contextmanager
def matching(configured: Configuration) -> Iterator[processes.Ask]:
    """A client's call: matchAndGetJob."""
    tasks = _task_queue_db(configured)

    def ask(asked: Sequence[Resource]) -> None:
        [resource] = asked
        answer = tasks.matchAndGetJob(resource)
        if not answer["OK"] and "match retries" not in answer["Message"]:  # each chosen job was gone
            raise BrokerError(f"DIRAC's matchAndGetJob failed: {answer['Message']}")

    yield ask


class Peer:
    """A loaded TaskQueueDB, and matchAndGetJob by Python processes as a kind of calls (measure.Measured)."""

    name = "DIRAC: matchAndGetJob"
    batch = 1
    trial = 20

    def __init__(self, server: mariadb.Server, connection: Any, workload: Workload, jobs: int) -> None:
        self._server = server
        self._connection = connection
        self._workload = workload
        self._configured = configuration(workload, server.password)
        self._connect: Callable[[], AbstractContextManager[processes.Ask]] = partial(matching, self._configured)
        self._requests = [request(resource) for resource in workload.requests(SEED)]
        self.available = jobs
        self.load_seconds = 0.0

    @property
    def versions(self) -> str:
        """The versions of DIRAC and MariaDB."""
        [(version,)] = self._rows("select version()")
        return f"DIRAC {importlib.metadata.version('DIRAC')} on MariaDB {version.partition('-')[0]}"

    def load(self, priorities: Mapping[int, float]) -> None:
        """Make the tables, and load the workload; `priorities` of queues are by their first job.

        Jobs and queues are written straight into the tables. First insertJob inserts a sample; raises BrokerError if
        its rows differ.
        """
        sample = [
            (job_id, level, definition(group["requirements"]))
            for group in islice(self._workload.groups(self.available, SEED), _SAMPLE_QUEUES)
            for job_id, level in group["jobs"][:_SAMPLE_JOBS]
        ]
        inserted = self._inserted(sample)
        begin = time.perf_counter()
        number = 0
        for batch in batches(self._workload.groups(self.available, SEED)):
            self._load_batch(batch, number + 1, priorities)
            number += len(batch)
        self.load_seconds = time.perf_counter() - begin
        if self._described(sample) != inserted:
            raise BrokerError("what is loaded is not what insertJob would have inserted")
        self._execute("create table bench_jobs like tq_Jobs")
        self._execute("insert into bench_jobs select * from tq_Jobs")
        self._execute(f"analyze table {', '.join(_TABLES)}")
        self._settle()

    def sample(self, clients: int, calls: int, seed: int) -> Sample:
        """One run of `calls` calls of each client; afterwards all is as before."""
        before = self._meter()
        run = processes.run(processes.Client(self._connect, self._requests, calls, SEED + seed), clients)
        after = self._meter()
        [(left,)] = self._rows("select count(*) from tq_Jobs")
        self._take_back()
        self._settle()
        return Sample.of(run, before, after, self.available - left, self.available - left)

    def _inserted(self, sample: Sequence[tuple[int, int, dict[str, Any]]]) -> list[tuple[Any, ...]]:
        """The rows that insertJob makes for a sample, which is then removed."""
        tasks = _task_queue_db(self._configured)
        for job_id, level, wanted in sample:
            answer = tasks.insertJob(job_id, wanted, level)
            if not answer["OK"]:
                raise BrokerError(f"DIRAC's insertJob failed: {answer['Message']}")
        found = self._described(sample)
        for table in reversed(_TABLES):
            self._execute(f"delete from {table}")
        return found

    def _described(self, sample: Sequence[tuple[int, int, dict[str, Any]]]) -> list[tuple[Any, ...]]:
        """The jobs of a sample with all fields of their queues except ids and priorities."""
        return self._rows(_JOBS_AND_QUEUES, [[job_id for job_id, _, _ in sample]])

    def _load_batch(self, batch: Sequence[Group], first: int, priorities: Mapping[int, float]) -> None:
        self._insert(rows_of(batch, first, priorities))

    def _insert(self, rows: Mapping[str, Sequence[Sequence[object]]]) -> None:
        """Insert rows in one transaction, by table, or by table with its columns in parentheses."""
        with self._connection.cursor() as cursor:
            cursor.execute("start transaction")
            for table, values in rows.items():
                marks = ", ".join(["%s"] * len(values[0]))
                cursor.executemany(f"insert into {table} values ({marks})", values)
            cursor.execute("commit")

    def _take_back(self) -> None:
        """Make each job wait again."""
        self._execute(_TAKE_BACK)

    def _settle(self) -> None:
        """Wait until deleted rows are also gone from the indexes; the counterpart of a vacuum."""
        until = time.monotonic() + _PURGE_SECONDS
        while self._status("Innodb_history_list_length") > 100 and time.monotonic() < until:
            time.sleep(0.1)

    def _meter(self) -> Meter:
        """Redo log written, CPU, and reads of pages in the buffer pool so far."""
        pages = self._status("Innodb_buffer_pool_read_requests")
        return Meter(self._status("Innodb_os_log_written"), cpu.seconds(self._server.pid), pages)

    def _status(self, name: str) -> int:
        [(_, value)] = self._rows("show global status like %s", [name])
        return int(value)

    def _rows(self, query: str, parameters: Sequence[object] | None = None) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(query, parameters)
            return list(cursor.fetchall())

    def _execute(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)


P = TypeVar("P", bound=Peer)


@contextmanager
def loaded(
    bench: Bench, priorities: Mapping[int, float], folder: Path | None, make: Callable[..., P], databases: Sequence[str]
) -> Iterator[P]:
    """A peer with the workload of a loaded bench, in as much memory for pages; gone at the end. `priorities` of queues
    are by their first job."""
    memory = int(bench.one("select pg_size_bytes(current_setting('shared_buffers'))"))
    with mariadb.running([DATABASE, *databases], memory, folder) as server, closing(server.connect()) as connection:
        peer = make(server, connection, bench.workload, bench.jobs)
        peer.load(priorities)
        yield peer


def rows_of(
    groups: Iterable[Group], first: int, priorities: Mapping[int, float]
) -> dict[str, list[tuple[object, ...]]]:
    """The rows of queues and their jobs, by table, for those tables that have some; queues are numbered from `first`
    on."""
    rows: dict[str, list[tuple[object, ...]]] = {table: [] for table in _TABLES}
    for number, group in enumerate(groups, first):
        wanted = definition(group["requirements"])
        priority = priorities[group["jobs"][0][0]]
        rows["tq_TaskQueues"].append(
            (number, wanted["Owner"], wanted["OwnerGroup"], VO, wanted["CPUTime"], priority, 1)
        )
        for name in _LISTS:
            rows[f"tq_TQTo{name}"] += [(number, value) for value in wanted.get(name, ())]
        rows["tq_Jobs"] += [(number, job_id, level, _WEIGHTS.get(level, level)) for job_id, level in group["jobs"]]
    return {table: values for table, values in rows.items() if values}


@cache
def _make_task_queue_db() -> Any:
    """DIRAC's TaskQueueDB, which makes its tables. The object is kept: at its end it deletes emptied queues."""
    from DIRAC.WorkloadManagementSystem.DB.TaskQueueDB import TaskQueueDB

    return TaskQueueDB()


def _task_queue_db(configured: Configuration) -> Any:
    """DIRAC's TaskQueueDB of this process. Raises BrokerError if it cannot be imported."""
    try:
        from DIRAC import gLogger
        from DIRAC.ConfigurationSystem.Client.ConfigurationData import gConfigurationData
        from diraccfg import CFG

        gLogger.setLevel("FATAL")
        parts = CFG()
        parts.loadFromDict(configured)
        gConfigurationData.mergeWithLocal(parts)
        return _make_task_queue_db()
    except ImportError as error:
        raise BrokerError(f"DIRAC cannot be imported: {error}", "benchmarks/PEER.md names what to install") from None
