"""The pages of the service: the latency of each, alone and beside matching, and their cost to matching."""

import http.client
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import background, cpu
from benchmarks.bench import SEED, SETUP, Bench, loading
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.scenarios.serve import refilled
from benchmarks.server import Server
from benchmarks.serving.agents import unverified
from benchmarks.serving.service import agents_at_work, service, tokens_of
from broker import database, world
from broker.errors import BrokerError
from broker.laboratory import grid

DEFAULTS = Options(jobs=1_000_000, clients=(100,), seconds=120, rate=500, rounds=5)
_QUEUES, _TASKS = 300, 1000
_DAY = 1440  # minutes
_SEQUENCE = 1000  # measured matches per round

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
    """The address of the service, and the viewer."""

    port: int
    token: str


class _Browser:
    """A viewer who opens pages over one connection."""

    def __init__(self, place: _Place) -> None:
        context = unverified()
        self._connection = http.client.HTTPSConnection("127.0.0.1", place.port, context=context, timeout=60)
        self._headers = {"Authorization": f"Bearer {place.token}", "Accept": "text/html"}

    def open(self, path: str) -> float:
        """Seconds until the complete page has arrived. Raises BrokerError for any answer but 200."""
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
    with loading(server, options, say) as bench:
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
                agents = agents_at_work(bench, port, tokens, options.clients[0], options)
                with refilled(bench, options.rate), agents as process:
                    beside = _looked_beside(place, addresses, process)
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
    """`broker run` with the loops that feed the pages, as in production."""
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
    with closing(_Browser(place)) as browser:
        for number in range(rounds + 1):
            for path in addresses:
                took = browser.open(path)
                if number:
                    seen[path].append(took)
    return seen


def _looked_beside(place: _Place, addresses: list[str], agents: "subprocess.Popen[str]") -> dict[str, list[float]]:
    """Open two pages per second, in turn, while the agents match."""
    seen: dict[str, list[float]] = defaultdict(list)
    with ThreadPoolExecutor(1) as pool, closing(_Browser(place)) as browser:
        answer = pool.submit(lambda: agents.stdout.read() if agents.stdout else "")
        for path in itertools.cycle(addresses):
            if answer.done():
                break
            seen[path].append(browser.open(path))
            time.sleep(0.5)
    seen["(a match)"] = sorted(latency for _, latency in json.loads(answer.result())["latencies"])
    return seen


def _rows(alone: dict[str, list[float]], beside: dict[str, list[float]]) -> list[Row]:
    def cuts(name: str, values: list[float]) -> Row:
        if not values:
            return {f"{name} p50": None, f"{name} p95": None}
        p95 = sorted(values)[int(0.95 * (len(values) - 1) + 0.5)]
        return {f"{name} p50": round(1000 * statistics.median(values), 1), f"{name} p95": round(1000 * p95, 1)}

    def row(page: str, before: list[float], times: list[float], looks: int) -> Row:
        return {"page": page, **cuts("alone", before), **cuts("beside", times), "looks": looks}

    every = [took for path, times in beside.items() if path != "(a match)" for took in times]
    return [
        *(row(path or "/", alone.get(path, []), times, len(times)) for path, times in beside.items()),
        row("(all pages)", [], every, sum(map(len, beside.values()))),
    ]


def _cost(bench: Bench, place: _Place, addresses: list[str], rounds: int) -> list[Row]:
    """CPU and shared buffers of a match by its own backend, in turn without pages and with one page per second."""
    requests = [dict(one) for one in bench.workload.requests(SEED)][:_SEQUENCE]
    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for number in range(2 * rounds):
        looks = bool(number % 2)
        bench.put_back()
        with background.every(1.0, _looker(place, addresses)) if looks else nullcontext():
            found[looks].append(_sequence(bench, requests))
    rows: list[Row] = []
    for looks, name in ((False, "nobody looks"), (True, "a page a second")):
        used, buffers = (statistics.median(values) for values in zip(*found[looks], strict=True))
        rows.append({"while": name, "CPU us a match": round(1e6 * used, 1), "buffers a match": round(buffers, 1)})
    for column, ratio in (("CPU us a match", "ratio of CPU"), ("buffers a match", "ratio of buffers")):
        base = float(rows[0][column])  # type: ignore[arg-type]
        for row in rows:
            row[ratio] = round(float(row[column]) / base, 3)  # type: ignore[arg-type]
    return rows


def _looker(place: _Place, addresses: list[str]) -> Callable[[], object]:
    paths = itertools.cycle(addresses)

    def look() -> None:
        with closing(_Browser(place)) as browser:
            browser.open(next(paths))

    return look


def _sequence(bench: Bench, requests: list[dict[str, Any]]) -> tuple[float, float]:
    """CPU seconds of the backend and shared buffers, both per match."""
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
