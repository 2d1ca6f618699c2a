"""A small grid whose jobs are made here: two queues with a storage each, and tasks that read a dataset."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg

from broker import world

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLENTY = {"CPUTime": 10**8, "MaxRAM": 10**6, "NumberOfProcessors": 64}


def grid(
    tasks: Sequence[Row] = ({"id": 1},), *, files: int = 6, at: Sequence[str] = ("DISKA", "DISKB"), **queue: Any
) -> Row:
    """A world: queues QA and QB, the files of the dataset at some storages, tasks of one-file jobs."""
    queues = {
        name: {
            "panda_site": f"S{name[-1]}",
            "status": "online",
            "corecount": 1,
            "pilots": {"getjob": 9, "updatejob": 9},
            "astorages": {"read_lan": [f"DISK{name[-1]}"], "write_lan": [f"DISK{name[-1]}"]},
            **queue,
        }
        for name in ("QA", "QB")
    }
    return {
        "now": NOON.isoformat(),
        "queues": queues,
        "storages": {f"DISK{x}": {"site": f"S{x}", "space_free": 1000} for x in "AB"},
        "datasets": {
            "data": {
                "files": [{"lfn": f"f{n}", "size": 10 * n, "nevents": n} for n in range(1, files + 1)],
                "replicas": {storage: {} for storage in at},
            }
        },
        "tasks": [{"input": ["data"], "split": {"nFilesPerJob": 1}, "label": "managed", **task} for task in tasks],
    }


def load(db: Connection, setup: str, **options: Any) -> None:
    """Load the grid into a setup, whose clock is stopped at noon."""
    load_world(db, setup, grid(**options))


def load_world(db: Connection, setup: str, given: Row) -> None:
    """Load a world within the transaction."""
    db.execute("select 1")  # a transaction that is rolled back later is open now: the load commits none of its own
    world.load(db, [given], setup=setup)


def make(db: Connection, setup: str, queue: str = "QA", jobs: int = 1, task: int = 1) -> list[int]:
    """Make jobs of a task for a queue, as a brokerage run does; returns their ids."""
    before = set(job_ids(db, setup))
    db.execute(
        "select workload.make_jobs(%s, %s::bigint[], %s::text[], %s::bigint[], 'test')",
        (setup, [task], [queue], [jobs]),
    )
    return sorted(set(job_ids(db, setup)) - before)


def activate(db: Connection, setup: str) -> dict[str, int]:
    """Assign and activate the ready jobs."""
    return dict(db.execute("select * from lifecycle.activate(%s)", (setup,)).fetchall())


def match(db: Connection, setup: str, queue: str = "QA") -> tuple[int, str] | None:
    """Match as an agent at the queue: a job and its attempt."""
    resource = psycopg.types.json.Jsonb({**PLENTY, "Site": queue})
    found = db.execute("select job_id, attempt from taskqueue.match_job(%s, %s)", (setup, resource)).fetchone()
    return None if found is None else (found[0], found[1])


def job_ids(db: Connection, setup: str) -> list[int]:
    """All jobs of the setup."""
    return [
        i for (i,) in db.execute("select job_id from workload.job where setup = %s order by 1", (setup,)).fetchall()
    ]


def status(db: Connection, setup: str, job: int) -> str:
    """Status of a job."""
    [(found,)] = db.execute("select status from workload.job where setup = %s and job_id = %s", (setup, job)).fetchall()
    return str(found)


def differences(db: Connection, setup: str) -> list[Any]:
    """The differences between counts and jobs, of which there should be none."""
    return db.execute("select * from workload.count_difference where setup = %s", (setup,)).fetchall()


def counted(db: Connection, setup: str) -> dict[tuple[str, str], int]:
    """Jobs by queue and status as brokerage counts them."""
    query = """select queue, status, sum(jobs)::int from workload.job_by_queue
                where setup = %s group by 1, 2 having sum(jobs) <> 0"""
    return {(queue, state): jobs for queue, state, jobs in db.execute(query, (setup,)).fetchall()}


def history(db: Connection, setup: str, job: int) -> list[tuple[str | None, str]]:
    """Statuses that a job went through."""
    query = (
        "select from_status, to_status from workload.job_history where setup = %s and job_id = %s order by at, number"
    )
    return db.execute(query, (setup, job)).fetchall()
