"""Jobs packed onto rented instances: placements per second for few and for only distinct shapes, and excess cost."""

import random
import statistics
import time
from typing import Any

import psycopg

from benchmarks.bench import SEED
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from broker import catalogue, database, world

DEFAULTS = Options(cases=((100_000, 200), (5_000, 5_000), (10_000, 10_000), (20_000, 20_000)), rounds=3)
_PIPELINE_SAMPLES = 1_000

Needs = tuple[float, int]


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each case (jobs:shapes), and a genomics pipeline: one schedule onto no instances, commit included."""
    with server.database() as where, database.connect(where.admin) as connection:
        world.load(connection, [{"instance_types": catalogue.shipped_types()}], "bench")
        rows = []
        for jobs, shapes in options.cases:
            say(f"{jobs:,} jobs of {shapes:,} shapes")
            rows.append({"jobs": jobs, "shapes": shapes, **_measured(connection, _synthetic(jobs, shapes), options)})
        if options.cases == DEFAULTS.cases:
            needs = [(float(s.cpu), s.ram) for s in catalogue.steps() for _ in range(_PIPELINE_SAMPLES * s.jobs)]
            say(f"the pipeline of {_PIPELINE_SAMPLES:,} samples: {len(needs):,} jobs")
            rows.append({"jobs": len(needs), "shapes": len(set(needs)), **_measured(connection, needs, options)})
        title = f"one schedule onto {catalogue.TYPES}; medians of {options.rounds} rounds; the last: {catalogue.STEPS}"
        return [Table(title, rows)]


def _synthetic(jobs: int, shapes: int) -> list[Needs]:
    """Cores from 0.01 to 32, memory to 128 GB; all shapes are distinct if there are as many as jobs."""
    draw = random.Random(SEED)
    whole = shapes < jobs
    made = [
        (float(draw.randint(1, 32)) if whole else draw.randint(1, 3200) / 100, draw.randint(512, 131_072))
        for _ in range(shapes)
    ]
    return [draw.choice(made) for _ in range(jobs)] if whole else made


def _measured(connection: psycopg.Connection[Any], needs: list[Needs], options: Options) -> Row:
    """Medians of the seconds of a schedule and of one update of all job rows; rented instances and their efficiency."""
    taken: list[tuple[float, float]] = []
    for _ in range(options.rounds):
        connection.execute("truncate instance.step, instance.instance")
        with (
            connection.cursor() as cursor,
            cursor.copy("copy instance.step (setup, step_id, task_id, cpu, ram) from stdin") as copy,
        ):
            for number, (cpu, ram) in enumerate(needs, 1):
                copy.write_row(("bench", number, 1, cpu, ram))
        connection.execute("vacuum analyze instance.step")
        floor = _seconds(connection, "update instance.step set reason = 'floor'")
        connection.execute("vacuum instance.step")
        taken.append((_seconds(connection, "call instance.schedule('bench', 1)"), floor))
    [row] = connection.execute("""
        select instances, steps, round(cpu_efficiency, 3), round(ram_efficiency, 3), round(price, 2), round(gap, 3)
          from monitor.instance_total where setup = 'bench'""").fetchall()
    instances, placed, cpu, ram, price, gap = row
    seconds, floor = (statistics.median(one) for one in zip(*taken, strict=True))
    return {
        "instances": instances, "seconds": seconds, "placements_per_s": placed / seconds,
        "of_the_floor": floor / seconds, "cores_used": float(cpu), "memory_used": float(ram),
        "price_per_h": float(price), "above_least_cost": float(gap),
    }  # fmt: skip


def _seconds(connection: psycopg.Connection[Any], query: str) -> float:
    begin = time.perf_counter()
    connection.execute(query.encode())
    return time.perf_counter() - begin
