"""The pages of the service: how long each takes alone and beside matching, and what they cost the matching."""

import http.client
import json
import os
import ssl
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import background, cpu
from benchmarks.bench import SEED, SETUP, Bench, loaded
from benchmarks.measure import Say
from benchmarks.options import Options
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.scenarios.serve import refilled
from benchmarks.server import Server
from benchmarks.serving.agents import Plan
from benchmarks.serving.service import service, tokens_of
from broker import database, world
from broker.errors import BrokerError
from broker.laboratory import grid

DEFAULTS = Options(jobs=1_000_000, clients=(100,), seconds=120, rate=500, rounds=5)
_QUEUES, _TASKS = 300, 1000
_DAY = 1440  # minutes
_SEQUENCE = 1000  # matches of a round whose cost is measured

_ADDRESSES = """
with job as (
  select min(j.job_id) as job_id, min(j.task_queue_id) as task_queue_id from taskqueue.job j where j.setup = %(setup)s
), task as (
  select d.task_id from brokerage.task_decision d where d.setup = %(setup)s order by d.rejected desc limit 1
), site as (
  select (select min(q.queue) from monitor.queue q where q.setup = %(setup)s) as queue,
         (select min(s.site) from monitor.site s where s.setup = %(setup)s) as site
)
select array['', '?since=1d', '/task-queues', '/task-queues?sort=-cpu_time', '/jobs', '/jobs?status=activated',
             '/leases', '/tasks', '/queues', '/sites', '/shares', '/history?since=1d',
             '/history?about=site&since=1d', '/history?figure=jobs_waiting&since=1d',
             '/history?figure=brokered_jobs&since=1d', '/alerts', '/health', '/jobs/' || j.job_id,
             '/task-queues/' || j.task_queue_id, '/tasks/' || t.task_id, '/queues/' || s.queue, '/sites/' || s.site]
  from job j, task t, site s
"""
_MINUTES = """
insert into history.sample (setup, step, at, samples, mean)
select s.setup, s.step, s.at - m * interval '1 minute', 1,
       array(select (v * (1 + 0.5 * sin(m / 100.0 + p)))::real from unnest(s.mean) with ordinality u (v, p) order by p)
  from history.sample s cross join generate_series(1, %s) m
 where s.setup = %s and s.step = '1 minute'
"""
_COMPACT = "select history.compact(%s, %s::interval, %s::interval, max(at)) from history.sample where setup = %s"
_EXPLAIN = "explain (analyze, buffers, timing off, format json) select * from taskqueue.match_job(%s, %s)"


@dataclass(frozen=True)
class _Place:
    """Where the service is, and who looks."""

    port: int
    token: str


class _Browser:
    """Somebody who looks at pages over one connection."""

    def __init__(self, place: _Place) -> None:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self._connection = http.client.HTTPSConnection("127.0.0.1", place.port, context=context, timeout=60)
        self._headers = {"Authorization": f"Bearer {place.token}", "Accept": "text/html"}

    def open(self, path: str) -> float:
        """Seconds until the whole page is there. Raises BrokerError for any answer but 200."""
        begin = time.perf_counter()
        self._connection.request("GET", f"/setups/{SETUP}{path}", headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - begin
        if answer.status != 200:
            raise BrokerError(f"page {path or '/'} answered {answer.status}", body[:500].decode(errors="replace"))
        return took

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Two tables: latency of each page alone and beside matching, and the cost of a match with and without pages."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, options.make_workload(), options.jobs) as bench:
        bench.ask_once()
        with database.connect(bench.where.admin) as connection:
            say(f"loading {_TASKS:,} tasks and {_QUEUES} queues, and a day of history")
            _fill(bench, connection)
            tokens = tokens_of(connection, options.clients[0])
            token = connection.execute(
                "select token from resource.make_token(%s, 'somebody', 'viewer')", [SETUP]
            ).fetchone()
            found = connection.execute(_ADDRESSES.encode(), {"setup": SETUP}).fetchone()
            if not token or not found:
                raise BrokerError("the setup has no job, no task or no queue")
            addresses: list[str] = found[0]
            with service(bench, connection) as (port, _), _loops(bench):
                place = _Place(port, token[0])
                say("each page alone")
                alone = _looked(place, addresses, options.rounds)
                say(f"each page beside {options.rate:g} matches/s")
                with refilled(bench, options.rate):
                    plan = Plan(
                        "127.0.0.1", port, SETUP, options.clients[0], options.rate, options.seconds, tokens,
                        [dict(one) for one in bench.workload.requests(SEED)], tls=True,
                    )  # fmt: skip
                    beside = _looked_beside(place, addresses, plan)
                say("the cost of a match")
                cost = _cost(bench, place, addresses, options.rounds)
        title = f"{described(bench)}; {_TASKS:,} tasks over {_QUEUES} queues, a day of history"
        shape = {"workload": options.workload, "jobs": bench.jobs, "rate": options.rate}
        return [
            Table(f"{title}; pages in ms, alone and beside {options.rate:g} matches/s", _rows(alone, beside), shape),
            Table(
                f"{title}; a match in a fixed sequence of {_SEQUENCE}, with a page a second and without", cost, shape
            ),
        ]


def _fill(bench: Bench, connection: psycopg.Connection[Any]) -> None:
    world.load(connection, [grid.grid(SEED, _QUEUES, _TASKS)], SETUP)
    for broker in ("broker_tasks", "broker_jobs"):
        connection.execute(f"call brokerage.{broker}(%s)".encode(), [SETUP])
    for step in (
        "select * from taskqueue.find_reasons(%s, '10 minutes')", "select brokerage.find_reasons(%s)",
        "select taskqueue.summarize_waiting(%s)", "select history.sample(%s)",
    ):  # fmt: skip
        connection.execute(step.encode(), [SETUP])
    connection.execute(_MINUTES.encode(), [_DAY, SETUP])
    for step, finer in (("5 minutes", "1 minute"), ("1 hour", "5 minutes"), ("1 day", "1 hour")):
        connection.execute(_COMPACT.encode(), [SETUP, step, finer, SETUP])
    bench.settle()
    bench.call("vacuum analyze")


@contextmanager
def _loops(bench: Bench) -> Iterator[None]:
    """`broker run` with the loops that feed the pages, as they go on in production."""
    command = [str(Path(sys.executable).with_name("broker")), "run", "maintain", "watchdog", "summarize", "sample"]
    environment = {**os.environ, "BROKER_DSN": bench.where.admin.dsn}
    process = subprocess.Popen(
        [*command, "notify", "--quiet"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _looked(place: _Place, addresses: list[str], rounds: int) -> dict[str, list[float]]:
    """Open each page several times, the pages in turn; the first round is not counted."""
    seen: dict[str, list[float]] = defaultdict(list)
    browser = _Browser(place)
    for number in range(rounds + 1):
        for path in addresses:
            took = browser.open(path)
            if number:
                seen[path].append(took)
    browser.close()
    return seen


def _looked_beside(place: _Place, addresses: list[str], plan: Plan) -> dict[str, list[float]]:
    """Two pages a second, in turn, while the agents of a plan ask."""
    seen: dict[str, list[float]] = defaultdict(list)
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.serving.agents"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(asdict(plan)))
        process.stdin.close()
        process.stdout.readline()
        answers: list[str] = []
        reader = threading.Thread(target=lambda: answers.append(process.stdout.read()))  # type: ignore[union-attr]
        reader.start()
        browser = _Browser(place)
        number = 0
        while reader.is_alive():
            path = addresses[number % len(addresses)]
            seen[path].append(browser.open(path))
            number += 1
            time.sleep(0.5)
        browser.close()
    matched = json.loads(answers[0])
    latencies = sorted(latency for _, latency in matched["latencies"])
    seen["(a match)"] = latencies
    return seen


def _rows(alone: dict[str, list[float]], beside: dict[str, list[float]]) -> list[Row]:
    def cuts(values: list[float]) -> tuple[float | None, float | None]:
        if not values:
            return None, None
        ordered = sorted(values)
        return round(1000 * statistics.median(ordered), 1), round(
            1000 * ordered[int(0.95 * (len(ordered) - 1) + 0.5)], 1
        )

    rows: list[Row] = []
    for path, times in beside.items():
        p50_alone, p95_alone = cuts(alone.get(path, []))
        p50, p95 = cuts(times)
        rows.append(
            {"page": path or "/", "alone p50": p50_alone, "alone p95": p95_alone, "beside p50": p50,
             "beside p95": p95, "looks": len(times)}
        )  # fmt: skip
    every = cuts([took for path, times in beside.items() if path != "(a match)" for took in times])
    rows.append({"page": "(all pages)", "alone p50": None, "alone p95": None, "beside p50": every[0],
                 "beside p95": every[1], "looks": sum(len(times) for path, times in beside.items()) })  # fmt: skip
    return rows


def _cost(bench: Bench, place: _Place, addresses: list[str], rounds: int) -> list[Row]:
    """CPU and shared buffers of a match by its own backend, in rounds in turn: nobody looks, and a page a second."""
    requests = [dict(one) for one in bench.workload.requests(SEED)][:_SEQUENCE]
    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for number in range(2 * rounds):
        looks = bool(number % 2)
        bench.put_back()
        if looks:
            with background.every(1.0, _looker(place, addresses)):
                found[looks].append(_sequence(bench, requests))
        else:
            found[looks].append(_sequence(bench, requests))
    rows: list[Row] = []
    for looks, name in ((False, "nobody looks"), (True, "a page a second")):
        rows.append(
            {"while": name, "CPU us a match": round(1e6 * statistics.median(used for used, _ in found[looks]), 1),
             "buffers a match": round(statistics.median(buffers for _, buffers in found[looks]), 1)}
        )  # fmt: skip
    for column, ratio in (("CPU us a match", "ratio of CPU"), ("buffers a match", "ratio of buffers")):
        base = float(rows[0][column])  # type: ignore[arg-type]
        for row in rows:
            row[ratio] = round(float(row[column]) / base, 3)  # type: ignore[arg-type]
    return rows


def _looker(place: _Place, addresses: list[str]) -> Callable[[], object]:
    turn = iter(range(10**9))

    def look() -> None:
        browser = _Browser(place)
        browser.open(addresses[next(turn) % len(addresses)])
        browser.close()

    return look


def _sequence(bench: Bench, requests: list[dict[str, Any]]) -> tuple[float, float]:
    """CPU seconds of the backend a match, and shared buffers a match."""
    buffers = 0
    with database.connect(bench.where.admin) as connection:
        for resource in requests[:20]:
            connection.execute("select * from taskqueue.match_job(%s, %s)", [SETUP, Jsonb(resource)])
        pid = connection.info.backend_pid
        begin = cpu.of_process(pid)
        for resource in requests:
            connection.execute("select * from taskqueue.match_job(%s, %s)", [SETUP, Jsonb(resource)])
        used = cpu.of_process(pid) - begin
        for resource in requests[:200]:
            row = connection.execute(_EXPLAIN, [SETUP, Jsonb(resource)]).fetchone()
            plan = row[0][0]["Plan"] if row else {}
            buffers += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return used / len(requests), buffers / 200
