"""Idle agents that wait at the service by long polls: their cost, and the time until an arriving job is handed over."""

import json
import random
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import cpu
from benchmarks.bench import SEED, SETUP, Bench, loading
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from benchmarks.serving.service import cpu_of, service, tokens_of
from benchmarks.serving.waiters import Waiters
from broker import database
from broker.errors import BrokerError

DEFAULTS = Options(jobs=100_000, clients=(10_000,), seconds=60, rate=10, rounds=1)
_JOBS = 200  # jobs that come, at the rate
_WAIT = 300.0  # seconds of a long poll
_SITES = 100  # sites, each with one description
_GROUP = "waits"  # no job of the workload belongs to this group
_SETTLE = 6.0  # seconds until all new waiting requests have been checked
_FIRST = 700_000_000


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each number of agents: CPU while nothing comes, and seconds from an insertion's commit to an agent."""
    with loading(server, options, say) as bench:
        rows = [_measured(bench, agents, options, say) for agents in options.clients for _ in range(options.rounds)]
        title = (
            f"{described(bench)}; agents of {_SITES} sites wait by long polls of {_WAIT:g} s; CPU while nothing comes"
            f" for {options.seconds:g} s, in percent of a core; then {_JOBS} jobs, {options.rate:g}/s, from the commit"
            " of the insertion to the agent"
        )
        return [Table(title, rows, {"workload": options.workload, "jobs": bench.jobs})]


def _measured(bench: Bench, agents: int, options: Options, say: Say) -> Row:
    with database.connect(bench.where.admin) as connection:
        tokens = tokens_of(connection, agents)
        postmaster = cpu.postmaster_of(connection)
        with service(bench, connection) as (port, pids):
            descriptions = [{"CPUTime": 10**7, "Site": f"W{n}", "OwnerGroup": _GROUP} for n in range(_SITES)]
            plan = Waiters(port, SETUP, tokens, descriptions, _WAIT)
            waiters = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.serving.waiters"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert waiters.stdin
            assert waiters.stdout
            try:
                waiters.stdin.write(json.dumps(asdict(plan)) + "\n")
                waiters.stdin.flush()
                if waiters.stdout.readline().strip() != "parked":
                    raise BrokerError("the agents do not wait", "look at their standard error")
                came: dict[int, float] = {}
                reader = threading.Thread(target=_read, args=(waiters, came))
                reader.start()
                time.sleep(_SETTLE)
                say(f"{agents:,} agents wait")
                before = cpu_of(postmaster, pids)
                time.sleep(options.seconds)
                idle = [after - was for was, after in zip(before, cpu_of(postmaster, pids), strict=True)]
                committed = _insert(bench, options.rate)
                time.sleep(2)
            finally:
                waiters.stdin.close()
                waiters.wait(60)
            reader.join()
    late = sorted(came[job] - at for job, at in committed.items() if job in came)
    cuts = statistics.quantiles(late, n=100, method="inclusive")
    return {
        "agents": agents, "service %": round(100 * idle[0] / options.seconds, 1),
        "database %": round(100 * idle[1] / options.seconds, 1), "jobs": len(committed), "handed over": len(late),
        "p50 ms": round(cuts[49] * 1000), "p99 ms": round(cuts[98] * 1000), "last ms": round(late[-1] * 1000),
    }  # fmt: skip


def _read(waiters: "subprocess.Popen[str]", came: dict[int, float]) -> None:
    assert waiters.stdout
    for line in waiters.stdout:
        seen: dict[str, Any] = json.loads(line)
        if "refused" in seen:
            raise BrokerError(f"an agent that waits was refused with {seen['refused']}", "see the log of the service")
        came[seen["job"]] = seen["at"]


def _insert(bench: Bench, rate: float) -> dict[int, float]:
    """Insert jobs one by one; returns the time of each commit."""
    chance = random.Random(SEED)
    committed: dict[int, float] = {}
    with psycopg.connect(bench.where.logins["submitter"].dsn, autocommit=True) as connection:
        for number in range(_JOBS):
            requirements = {
                "OwnerDN": "/CN=w", "OwnerGroup": _GROUP, "CPUTime": 600, "Sites": [f"W{chance.randrange(_SITES)}"]
            }  # fmt: skip
            job = [{"job_id": _FIRST + number, "requirements": requirements}]
            connection.execute("select taskqueue.insert_jobs(%s, %s)", [SETUP, Jsonb(job)])
            committed[_FIRST + number] = time.time()
            time.sleep(1 / rate)
    return committed
