"""A setup moves from shard to shard while agents work in it, and in another setup of the same shard."""

import time

from benchmarks import cluster, interleaved
from benchmarks.bench import SEED
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from broker.client import JobAgent

DEFAULTS = Options(jobs=100_000, requests=500, clients=(4,), rate=40, seconds=10, rounds=5)
_SHARDS = ("a", "b")


def run(_: Server, options: Options, say: Say) -> list[Table]:
    """Two tables: the moves, each with the findings of the agents of both setups; and whether all jobs are in place.

    Each shard is a separate server. The setup moves to and fro, once per round.
    """
    workload = options.make_workload()
    with cluster.started(options.folder, _SHARDS) as place:
        for setup in ("moving", "staying"):
            say(f"loading workload {options.workload} into setup {setup}: {options.jobs:,} jobs")
            place.make_setup(setup, "a", workload, options.jobs)
        agents = dict.fromkeys(("moving", "staying"), options.clients[0])
        rows: list[Row] = []
        with interleaved.at_work(place.agent, agents, workload.requests(SEED), options.rate) as seen:
            for number in range(options.rounds):
                time.sleep(options.seconds)
                say(f"move {number + 1} of {options.rounds}")
                rows.append(_moved(place, seen, _SHARDS[(number + 1) % 2], options.seconds))
            time.sleep(options.seconds)
        ends = interleaved.ends(place, options.jobs, seen)
    title = f"Workload {options.workload}: a setup of {options.jobs:,} jobs moves, {options.rate:g} turns/s"
    return [Table(title, [*rows, interleaved.medians(rows, "to")]), Table("Afterwards", ends)]


def _moved(place: cluster.Cluster, seen: dict[str, interleaved.Seen], shard: str, seconds: float) -> Row:
    """One move. The setup that stays is observed for some seconds before and during the move."""
    steps: dict[str, float] = {}

    def step(done: str) -> None:
        steps[done] = time.monotonic()

    begin = time.monotonic()
    done = place.move("moving", shard, step)
    end = time.monotonic()
    time.sleep(1)  # within which the waiting calls end
    old = [match for at, match in seen["moving"].kept if at < begin]
    with JobAgent("moving", place.agent, connections=1) as client:
        going_on = sum(client.report(match).action == "continue" for match in old)
    p50, p99 = seen["staying"].latencies(begin - seconds, begin)
    p50_during, p99_during = seen["staying"].latencies(begin, end)
    return {
        "to": shard, "rows": done.rows, "move s": end - begin, "refused s": done.seconds,
        "mark s": steps["mark"] - begin, "copy s": steps["copy"] - steps["mark"],
        "remove s": steps["remove"] - steps["place"], "statistics s": end - steps["remove"],
        "longest call s": max(seen["moving"].between(begin, end), default=0.0),
        "old attempts": len(old), "of them go on": going_on,
        "others' p50_ms": p50, "during it p50_ms": p50_during,
        "others' p99_ms": p99, "during it p99_ms": p99_during,
    }  # fmt: skip
