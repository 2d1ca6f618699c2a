"""The demo of instances: a genomics pipeline whose samples come in waves, packed onto rented instances."""

import time
from collections.abc import Iterator

from psycopg.types.json import Jsonb

from broker import catalogue, world
from broker.database import Connection
from broker.operate.reading import Row, rows_of

_TASK = 1
_WAVES = 10


def run(connection: Connection, setup: str, samples: int) -> Iterator[Row]:
    """Add the steps of the samples in up to ten waves, schedule after each, and yield the figures of each wave."""
    types, steps = catalogue.shipped_types(), catalogue.steps()
    world.load(connection, [{"instance_types": types}], setup)
    sample = [{"task": _TASK, "cpu": step.cpu, "ram": step.ram} for step in steps for _ in range(step.jobs)]
    alone = sum(step.jobs * catalogue.cheapest(types, step.cpu, step.ram)["price"] for step in steps)
    waves = min(_WAVES, samples)
    for wave in range(waves):
        size = (wave + 1) * samples // waves - wave * samples // waves
        connection.execute("select instance.add_steps(%s, %s)", [setup, Jsonb(sample * size)])
        packed = _scheduled(connection, setup)
        yield packed | {"one_instance_a_step": round(alone * packed["steps"] / len(sample), 2)}


def finish_half(connection: Connection, setup: str) -> Row:
    """Finish every second step, schedule, and return the figures."""
    half = "select step_id from monitor.instance_step where setup = %s and state = 'placed' and step_id %% 2 = 0"
    connection.execute(f"select count(*) from instance.finish_steps(%s, array({half}))", [setup, setup])
    return _scheduled(connection, setup)


def _scheduled(connection: Connection, setup: str) -> Row:
    """Call the scheduler once; return its changes, and the instances after them."""
    started = time.perf_counter()
    [done] = rows_of(connection, "call instance.schedule(%s)", setup)
    seconds = time.perf_counter() - started
    total = rows_of(connection, "select * from monitor.instance_total where setup = %s", setup)
    empty = dict.fromkeys(("steps", "instances", "price", "lower_bound"), 0) | {"cpu_efficiency": None}
    return {
        "seconds": round(seconds, 2), "placed": done["p_placed"], "requested": done["p_requested"],
        "released": done["p_released"], **(total[0] if total else empty),
    }  # fmt: skip
