"""A shard is killed while agents work on three shards through a front; the agents of the other shards are watched."""

import time

from benchmarks import cluster, interleaved
from benchmarks.bench import SEED
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from broker.errors import BrokerError

DEFAULTS = Options(jobs=20_000, requests=500, clients=(8,), rate=40, seconds=10, rounds=5)
_SETUPS = {"north": "a", "south": "b", "east": "c"}
_KILLED = "east"
_BACK_SECONDS = 60  # within which the agents of the killed shard must continue


def run(_: Server, options: Options, say: Say) -> list[Table]:
    """Two tables: findings of the agents of the other shards and of the killed one; and the places of all jobs.

    Each shard is a separate server. A round is one kill: `seconds` before it and `seconds` without the shard.
    """
    workload = options.make_workload()
    with cluster.started(options.folder, list(_SETUPS.values())) as place:
        for setup, shard in _SETUPS.items():
            say(f"loading workload {options.workload} into setup {setup}: {options.jobs:,} jobs")
            place.make_setup(setup, shard, workload, options.jobs)
        each, more = divmod(options.clients[0], len(_SETUPS))
        agents = {setup: each + (number < more) for number, setup in enumerate(_SETUPS)}
        rows: list[Row] = []
        with interleaved.at_work(place.agent, agents, workload.requests(SEED), options.rate) as seen:
            for number in range(options.rounds):
                time.sleep(options.seconds)
                say(f"kill {number + 1} of {options.rounds}")
                rows.append(_killed(place.shards[_SETUPS[_KILLED]], seen, options.seconds))
        ends: list[Row] = []
        for setup, row in zip(agents, interleaved.ends(place, options.jobs, seen), strict=True):
            killed = "yes" if setup == _KILLED else "no"
            ends.append({"setup": setup, "killed": killed, "agents": agents[setup], **row})
    title = f"Workload {options.workload}: one of three shards is killed, {options.rate:g} turns/s on three setups"
    return [
        Table(title, [*({**row, "kill": n} for n, row in enumerate(rows, 1)), interleaved.medians(rows, "kill")]),
        Table("Afterwards", ends),
    ]


def _killed(shard: cluster.Shard, seen: dict[str, interleaved.Seen], seconds: float) -> Row:
    """One kill, and the start of the shard after a while."""
    down = time.monotonic()
    shard.kill()
    time.sleep(seconds)
    starts = time.monotonic()
    shard.start()
    up = time.monotonic()
    goes_on = _first_call_after(up, seen[_KILLED])
    calls = [call for setup, one in seen.items() if setup != _KILLED for call in list(one.calls)]
    others = interleaved.Seen(calls)
    before, away = others.latencies(down - seconds, down), others.latencies(down, starts)
    return {
        "kill": 0, "away s": up - down, "goes on after s": goes_on - up,
        "its longest call s": max(seen[_KILLED].between(down, goes_on)),
        "others' p50_ms": before[0], "meanwhile p50_ms": away[0],
        "others' p99_ms": before[1], "meanwhile p99_ms": away[1], "p99 ratio": away[1] / before[1],
    }  # fmt: skip


def _first_call_after(up: float, seen: interleaved.Seen) -> float:
    """The time of the killed shard's first ended call after its restart. Raises BrokerError if none ends."""
    while time.monotonic() < up + _BACK_SECONDS:
        ends = [end for _, end in list(seen.calls) if end > up]
        if ends:
            return min(ends)
        time.sleep(0.02)
    raise BrokerError(f"no agent of the killed shard went on in {_BACK_SECONDS} s", "see the log of its server")
