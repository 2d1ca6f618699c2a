"""The simulated cluster is compared with known results of queueing theory, and with sums."""

import math
import random

import pytest

from benchmarks.pgbench import percentile
from benchmarks.simulated import Call, Layout, Load, simulate, spread

MS = 0.001


def _one_core(**more: float) -> Layout:
    """A shard with one core; only the core takes time."""
    return Layout([1.0], **{"cores": 1, "hop": 0.0, "flush": 0.0, "variation": 0.0, **more})  # type: ignore[arg-type]


def test_a_single_call_takes_the_sum_of_its_steps() -> None:
    layout = Layout([1.0], hop=0.5 * MS, flush=2 * MS, variation=0.0)
    found = simulate(layout, Load([Call(agent=9 * MS, front=1 * MS, shard=3 * MS)], clients=1, seconds=10))
    assert found.p50_ms == pytest.approx(1 + 3 + 2 + 4 * 0.5)
    assert found.p99_ms == pytest.approx(found.p50_ms)
    together = Layout([1.0], together=True, hop=0.5 * MS, flush=2 * MS, variation=0.0)
    found = simulate(together, Load([Call(agent=9 * MS, front=1 * MS, shard=3 * MS)], clients=1, seconds=10))
    assert found.p50_ms == pytest.approx(9 + 1 + 3 + 2)


@pytest.mark.parametrize("variation", [0.0, 1.0])
def test_calls_on_one_core_wait_as_in_the_recursion_of_lindley(variation: float) -> None:
    """A call on one core waits for the previous call's wait and work, less the pause between the two calls."""
    rng = random.Random(7)
    sigma = math.log(1 + variation**2)
    wait, latencies = 0.0, []
    for _ in range(200_000):
        length = rng.lognormvariate(-sigma / 2, math.sqrt(sigma))
        latencies.append(wait + length)
        wait = max(0.0, latencies[-1] - rng.expovariate(0.5))
    latencies.sort()
    found = simulate(_one_core(variation=variation), Load([Call(0, 0, 1 * MS)], rate=500, seconds=400))
    assert found.rate == pytest.approx(500, rel=0.02)
    assert found.shards == [pytest.approx(0.5, rel=0.03)]
    assert found.p50_ms == pytest.approx(percentile(latencies, 50), rel=0.05)
    assert found.p99_ms == pytest.approx(percentile(latencies, 99), rel=0.15)


def test_clients_without_a_pause_saturate_the_scarcest_part() -> None:
    calls = [Call(0, 1 * MS, 2 * MS)]
    found = simulate(Layout([1.0], variation=0.0), Load(calls, clients=50, seconds=20))
    assert found.first == "shard"
    assert found.rate == pytest.approx(2 / (2 * MS), rel=0.01)
    found = simulate(Layout([1.0] * 4, variation=0.0), Load(calls, clients=50, seconds=20))
    assert found.first == "front"
    assert found.rate == pytest.approx(2 / (1 * MS), rel=0.01)
    found = simulate(Layout([1.0], together=True, others=0.5, variation=0.0), Load(calls, clients=50, seconds=20))
    assert found.rate == pytest.approx(1.5 / (3 * MS), rel=0.01)


def test_a_flush_serves_all_earlier_commits() -> None:
    layout = Layout([1.0], cores=64, fronts=4, hop=0.0, flush=10 * MS, variation=0.0)
    assert simulate(layout, Load([Call(0, 0, 0.01 * MS)], clients=1, seconds=10)).rate == pytest.approx(100, rel=0.02)
    many = simulate(layout, Load([Call(0, 0, 0.01 * MS)], clients=50, seconds=10))
    assert many.rate == pytest.approx(50 * 50, rel=0.05), "one begins a flush, the others wait for the next"
    reads = simulate(layout, Load([Call(0, 0, 1 * MS, commits=False)], clients=1, seconds=10))
    assert reads.rate == pytest.approx(1000, rel=0.01)


def test_setups_are_spread_over_shards_by_load_or_by_number() -> None:
    assert spread(20, 0.0, 4, known=True) == pytest.approx([0.25] * 4)
    by_load, by_number = spread(30, 0.5, 3, known=True), spread(30, 0.5, 3, known=False)
    assert sum(by_load) == pytest.approx(1) and sum(by_number) == pytest.approx(1)
    assert max(by_load) < max(by_number)
    largest = 1 / sum(n**-2.0 for n in range(1, 31))
    assert max(spread(30, 2.0, 10, known=True)) == pytest.approx(largest), "a setup is not split"
