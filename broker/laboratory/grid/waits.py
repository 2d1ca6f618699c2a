"""Recent jobs of users, with the waiting times by which queues are classified."""

import random
from collections.abc import Iterator, Sequence

from broker.laboratory.grid.drawing import Row, log
from broker.laboratory.grid.sites import Queue

_FIRST_JOB = 7_000_000_001
_USUAL = {1: 0.15, 0: 1.5, -1: 9.0}
"""Hours that jobs wait at hi, mid and lo sites."""


def make_jobs(rng: random.Random, queues: Sequence[Queue], users: Sequence[str]) -> Iterator[Row]:
    """Merge jobs of User Analysis that started in the last three days at queues that have pilots."""
    number = _FIRST_JOB
    for queue in queues:
        usual = _USUAL[queue.row["site_class"]] * rng.uniform(0.7, 1.3)
        for _ in range(rng.randint(5, 15) if "pilots" in queue.row else 0):
            started = log(rng, 0.5, 72)
            ended = started * rng.uniform(0.3, 0.9)
            waited = usual * rng.uniform(0.5, 1.5)
            yield {
                "id": number, "queue": queue.name, "status": "finished", "gshare": "User Analysis", "label": "user",
                "processing_type": "pmerge", "user": rng.choice(users), "cores": 1,
                "created": {"hours_ago": round(started + waited, 3)}, "started": {"hours_ago": round(started, 3)},
                "ended": {"hours_ago": round(ended, 3)},
            }  # fmt: skip
            number += 1
