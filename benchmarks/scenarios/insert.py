"""Insertion: in bulk, one by one, with new queues, and beside matching."""

import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from uuid import uuid4

from benchmarks import pgbench
from benchmarks.bench import SEED, SETUP, Bench, loading
from benchmarks.measure import Kind, in_turn, ratio
from benchmarks.options import Options, Say
from benchmarks.pgbench import Script
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from broker import database

DEFAULTS = Options(jobs=1_000_000, rate=500, rounds=3)
_ARRIVING_CLIENTS = 2

Element = dict[str, object]


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Insert into a loaded database. The ratio is jobs/s matched while jobs arrive to jobs/s without arrivals."""
    with loading(server, options, say) as bench:
        bench.ask_once()
        about = described(bench)
        matching = _beside_matching(bench, options, say)  # first, since it needs the unchanged workload
        return [
            Table(f"{about}; insertion, medians of {options.rounds} rounds", _inserting(bench, options, say)),
            Table(
                f"{about}; matching while {options.rate:g} jobs/s arrive, medians of {options.rounds} rounds", matching
            ),
        ]


@contextmanager
def arriving(bench: Bench, rate: float) -> Iterator[None]:
    """Call `insert_job` at a rate per second, by two submitters, until the block ends."""
    script = Script("insert.pgbench", _ARRIVING_CLIENTS, SEED, _any_template(bench), seconds=86_400, rate=rate)
    with pgbench.running(bench.where.logins["submitter"], script):
        yield


def _beside_matching(bench: Bench, options: Options, say: Say) -> list[Row]:
    beside_arrivals = partial(arriving, bench, options.rate)
    kinds = [Kind("no job arrives", bench), Kind(f"{options.rate:g} jobs/s arrive", bench, beside=beside_arrivals)]
    alone, beside = in_turn(kinds, options.clients[0], options.seconds, options.rounds, say)
    beside["ratio"] = ratio(beside["jobs_per_s"], alone["jobs_per_s"])
    return [alone, beside]


def _inserting(bench: Bench, options: Options, say: Say) -> list[Row]:
    clients = options.clients[0]
    singles, groups = partial(_singles, bench), partial(_groups, bench)
    ways: list[tuple[str, Callable[[int], tuple[int, float, list[float]]]]] = [
        ("insert_jobs, groups, into queues there", lambda _: _bulk(bench, options, groups(), 20_000)),
        ("insert_jobs, groups, each a new queue", lambda _: _bulk(bench, options, _new(groups()), 20_000)),
        ("insert_jobs, each job with its requirements", lambda _: _bulk(bench, options, singles(), 5_000)),
        ("insert_jobs, each job a new queue", lambda _: _bulk(bench, options, _new(singles()), 1_000)),
        (f"insert_job, {clients} clients", lambda n: _single_calls(bench, options, "insert.pgbench", n)),
        (
            f"insert_job, {clients} clients, each a new queue",
            lambda n: _single_calls(bench, options, "open.pgbench", n),
        ),
    ]
    rows: list[Row] = []
    for name, way in ways:
        say(f"inserting: {name}")
        rows.append({"what": name, **_medians(bench, [partial(way, n) for n in range(options.rounds)])})
    return rows


def _medians(bench: Bench, rounds: Sequence[Callable[[], tuple[int, float, list[float]]]]) -> Row:
    """Rates and latencies from rounds with their jobs, seconds, and latencies of calls."""
    jobs_per_s, queues_per_s, p50, p99 = [], [], [], []
    for one_round in rounds:
        queues = bench.queues()
        jobs, seconds, latencies = one_round()
        jobs_per_s.append(jobs / seconds)
        queues_per_s.append((bench.queues() - queues) / seconds)
        p50.append(pgbench.percentile(latencies, 50))
        p99.append(pgbench.percentile(latencies, 99))
    found = {"jobs_per_s": jobs_per_s, "queues_per_s": queues_per_s, "p50_ms": p50, "p99_ms": p99}
    return {key: statistics.median(values) for key, values in found.items()}


def _bulk(bench: Bench, options: Options, elements: Iterator[Element], size: int) -> tuple[int, float, list[float]]:
    """Call insert_jobs in one session, with about `size` jobs per call, for about the given seconds."""
    jobs, latencies = 0, list[float]()
    with database.connect(bench.where.logins["submitter"]) as connection:
        while sum(latencies) < options.seconds * 1000:
            batch, held = [], 0
            while held < size:
                batch.append(next(elements))
                held += _jobs_in(batch[-1])
            text = json.dumps(batch)
            begin = time.perf_counter()
            connection.execute("select taskqueue.insert_jobs(%s, %s::jsonb)", [SETUP, text])
            latencies.append((time.perf_counter() - begin) * 1000)
            jobs += held
    return jobs, sum(latencies) / 1000, sorted(latencies)


def _single_calls(bench: Bench, options: Options, file: str, number: int) -> tuple[int, float, list[float]]:
    """Call insert_job by all clients, for the given seconds."""
    clients, seconds = options.clients[0], max(1, round(options.seconds))
    script = Script(file, clients, SEED + number, _any_template(bench), seconds=seconds)
    run = pgbench.run(bench.where.logins["submitter"], script)
    return run.calls, run.calls / run.rate, run.latencies


def _groups(bench: Bench) -> Iterator[Element]:
    """The groups of the workload, repeated under new ids."""
    while True:
        for group in bench.workload.groups(bench.jobs, SEED):
            first = bench.reserve_ids(len(group["jobs"]))
            jobs = [[job_id, level] for job_id, (_, level) in enumerate(group["jobs"], first)]
            yield {"requirements": group["requirements"], "jobs": jobs}


def _singles(bench: Bench) -> Iterator[Element]:
    """Jobs of the workload in random order, under new ids, each with its requirements."""
    templates = bench.rows("select requirements, user_priority from bench.template")
    rng = random.Random(SEED)
    while True:
        requirements, level = rng.choice(templates)
        yield {"job_id": bench.reserve_ids(1), "requirements": requirements, "user_priority": level}


def _new(elements: Iterator[Element]) -> Iterator[Element]:
    """The same elements, each with its own SubmitPool, so that each opens a queue."""
    for element in elements:
        requirements = element["requirements"]
        assert isinstance(requirements, dict)
        yield {**element, "requirements": {**requirements, "SubmitPools": [str(uuid4())]}}


def _jobs_in(element: Element) -> int:
    jobs = element.get("jobs")
    return len(jobs) if isinstance(jobs, list) else 1


def _any_template(bench: Bench) -> dict[str, int]:
    return {"first": 1, "last": bench.templates}
