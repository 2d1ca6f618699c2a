"""The cost of keeping the facts of a run, and the time to decide it again, with the same and with other rules."""

import statistics
import time
from dataclasses import replace

from benchmarks import cpu
from benchmarks.brokering import PROFILES, Batch, Measuring, World
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios import analysis, brokerage, tasks
from benchmarks.server import Server
from broker import database, world
from broker.laboratory.grid import SYNTHETIC

DEFAULTS = Options(cases=((1000, 300),), rounds=3)
_MAKE = {"production_job": brokerage.make, "analysis_job": analysis.make, "production_task": tasks.make}
_NUCLEI = 3  # a third of the candidates, which is the ratio of nuclei to queues in scenario tasks


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each case (tasks:candidates), algorithm and profile: a real run without and with recording, in turn."""
    rows: list[Row] = []
    for count, candidates in options.cases:
        for algorithm, make in _MAKE.items():
            fewer = max(1, candidates // _NUCLEI) if algorithm == "production_task" else candidates
            setup = f"{count}x{fewer}"
            with server.database() as where, database.connect(where.admin) as connection:
                say(f"loading {setup} for {algorithm} ({SYNTHETIC})")
                given: World = make(count, fewer, setup)
                world.load(connection, [given])
                connection.execute("vacuum analyze")
                measuring = Measuring(connection, where.admin, cpu.postmaster_of(connection))
                for profile in PROFILES:
                    say(f"{setup}, {algorithm}, {profile}: {options.rounds} rounds")
                    batch = Batch(setup, fewer, profile, 1, algorithm != "production_task")
                    kind = {"tasks_x_candidates": setup, "algorithm": algorithm, "profile": profile}
                    rows.append(kind | _measured(measuring, batch, algorithm, options.rounds))
    about = f"real runs without and with recording, and replays of them, {SYNTHETIC}"
    return [Table(f"{about}; medians of {options.rounds} rounds", rows)]


def _measured(measuring: Measuring, batch: Batch, algorithm: str, rounds: int) -> Row:
    other = _other_rules(measuring, algorithm, batch.profile)

    def look() -> dict[str, float]:
        return {"tape_mb": _tape(measuring) / 1e6, **_replayed(measuring, batch.setup, other)}

    samples: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for number in range(rounds):
        for kept in (False, True) if number % 2 == 0 else (True, False):
            samples[kept].append(measuring.batch(replace(batch, keep_facts=kept), algorithm, look if kept else dict))
    without, with_tape = (
        {name: statistics.median(one[name] for one in samples[kept]) for name in samples[kept][0]}
        for kept in (False, True)
    )
    return {
        "cpu_us_per_pair": without["cpu_us_per_pair"],
        "with_tape_us": with_tape["cpu_us_per_pair"],
        "ratio": statistics.median(
            one["cpu_us_per_pair"] / two["cpu_us_per_pair"]
            for one, two in zip(samples[True], samples[False], strict=True)
        ),
        **{name: with_tape[name] for name in ("tape_mb", "replay_s", "differing", "other_rules_s", "otherwise")},
    }


def _tape(measuring: Measuring) -> int:
    """The stored bytes of the tables of recordings."""
    query = """select sum(pg_total_relation_size(inhrelid)) from pg_inherits
                where inhparent in ('brokerage.recording'::regclass, 'brokerage.recorded_value'::regclass)"""
    [(size,)] = measuring.connection.execute(query).fetchall()
    return int(size)


def _other_rules(measuring: Measuring, algorithm: str, profile: str) -> str:
    """The rule of the profile that a replay leaves out: the first row rule after the candidates."""
    query = """select rule from brokerage.rule_in_force
                where profile = %s and algorithm = %s and kind = 'row rule' and enabled
                order by position, rule limit 1"""
    [(rule,)] = measuring.connection.execute(query, [profile, algorithm]).fetchall()
    return str(rule)


def _replayed(measuring: Measuring, setup: str, rule: str) -> dict[str, float]:
    found: dict[str, float] = {}
    query = "select count(*) filter (where differs <> '{}') from brokerage.replay(%s, p_without => %s::text[])"
    for names, without in ((("replay_s", "differing"), []), (("other_rules_s", "otherwise"), [rule])):
        begin = time.perf_counter()
        [(differing,)] = measuring.connection.execute(query, [setup, without]).fetchall()
        found |= dict(zip(names, (time.perf_counter() - begin, differing), strict=True))
    return found
