"""The findings of the service's benchmark in the database after a run."""

import json

from benchmarks.scenarios.serve import false_answers, slow_slices
from tests.calls import Calls, Connection, resource

NEW = 100  # ids of jobs that arrived while agents asked


def test_an_answer_without_a_job_is_false_while_a_job_that_matches_waits(rolled_back: Connection) -> None:
    bench = Calls(rolled_back, "bench")
    bench.settings(policy="dirac")
    bench.insert(7, Sites=["S"])
    bench.insert(8, Sites=["Held"])
    bench.call("hold", "job", "8")
    bench.insert(NEW + 1, Sites=["Late"])
    nothing = {json.dumps(resource(Site=site)): 10 + n for n, site in enumerate(("S", "Held", "Late", "Other"))}
    assert false_answers(rolled_back, nothing, NEW) == 10
    assert bench.match(Site="S")
    assert false_answers(rolled_back, nothing, NEW) == 0


def test_a_stall_shows_as_slow_slices() -> None:
    latencies = [(second / 10, 0.02) for second in range(400)]
    assert slow_slices(latencies) == []
    stalled = [(due, 23 - due if 20 < due < 23 else latency) for due, latency in latencies]
    assert slow_slices(reversed(stalled)) == [(20.0, stalled[202][1])]
