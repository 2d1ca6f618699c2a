"""A lifelike grid as a world: sites, queues, storages, links, data, users and tasks, all of them synthetic.

The grid is for demos and benchmarks, which show SYNTHETIC beside every figure. No site, task or figure is real; every
site is named SYN-<country>-<number>, and queues, storages, datasets, users and working groups carry the same mark.
These properties are lifelike:

- the kinds of queues and their limits, with the usual exceptions (offline, without pilots, unpublished, reserved);
- nuclei hold most of the data, satellites hold some, or have no storage and use a nucleus's;
- waiting jobs follow running ones, with some queues full, some empty, some links blocked or busy;
- the usual mix of tasks, a few of which no queue can take, each for a different reason;
- a few users have most of the tasks of users, and some are over a cap or a quota.

Times are hours before the clock of the database, so that a world does not age. Each part draws from its own
random stream, so the number of tasks does not change queues and links.
"""

import random

from broker.laboratory.grid import analysis, counts, data, production, sites, software
from broker.laboratory.grid.drawing import Row

SYNTHETIC = "synthetic: invented sites, tasks and figures"

_CONFIG: Row = {
    "jobbroker:NQUEUED_SAT_CAP": 150, "jobbroker:NQUEUED_NUC_CAP_FOR_JOBS": 10_000,
    "jobbroker:IO_INTENSITY_CUTOFF": 200, "jobbroker:SIZE_CUTOFF_TO_MOVE_INPUT": 10,
    "jobbroker:NUM_CUTOFF_TO_MOVE_INPUT": 100, "jobbroker:MAX_DISKIO_DEFAULT": 4_000, "jobbroker:NW_THRESHOLD": 1.7,
    "jobbroker:NW_WEIGHT_MULTIPLIER": 1, "taskbrokerage:NQUEUED_NUC_CAP": 2_000, "taskbrokerage:DISK_THRESHOLD": 100,
    "taskbrokerage:INPUT_SIZE_THRESHOLD": 1, "taskbrokerage:INPUT_SIZE_FRACTION": 10,
    "taskbrokerage:INPUT_NUM_THRESHOLD": 100, "taskbrokerage:INPUT_NUM_FRACTION": 10,
    "taskbrokerage:MIN_IO_INTENSITY_WITH_LOCAL_DATA": 200, "taskbrokerage:MIN_INPUT_SIZE_WITH_LOCAL_DATA": 10_000,
    "taskbrokerage:MAX_TASK_PRIO_WITH_LOCAL_DATA": 800,
}  # fmt: skip


def grid(
    seed: int = 1,
    queues: int = 300,
    tasks: int = 1000,
    *,
    nuclei: int | None = None,
    user_tasks: int = 0,
    setup: str = "grid",
) -> Row:
    """A synthetic grid as a world (worlds.md) with these numbers of queues and tasks; the same for the same arguments.
    There are queues / 2.6 sites, of which some are nuclei (by default a tenth of the number of queues, at most 30), and
    at most 400 datasets of at most 100 files each besides the pseudo datasets that make the jobs of event generation.
    User tasks are added, with the users, their jobs at the queues, and their data. Raises ValueError when there is no
    queue, no nucleus, fewer sites than nuclei, or a negative number of tasks.
    """
    if queues < 1 or tasks < 0 or user_tasks < 0:
        raise ValueError(
            f"queues is {queues}, tasks is {tasks} and user_tasks is {user_tasks}; "
            "a grid has a queue or more and no fewer than 0 tasks"
        )

    def stream(part: str) -> random.Random:
        return random.Random(f"{seed} {part}")

    places = sites.make_places(stream("places"), queues, nuclei)
    nucleus_places = [place for place in places if place.nucleus]
    members = sites.make_queues(stream("queues"), places, queues)
    busy = sites.busy_nuclei(stream("busy"), places)
    datasets = list(data.make_datasets(stream("datasets"), places, members, min(400, max(7, tasks * 2 // 5))))
    made = list(
        production.make_tasks(stream("tasks"), production.supply_of(members, nucleus_places, busy, datasets), tasks)
    )
    world = {
        "setup": setup, "config": dict(_CONFIG), "queues": {queue.name: queue.row for queue in members},
        "nuclei": {place.name: sites.nucleus_row(place) for place in nucleus_places},
        "storages": sites.make_storages(stream("storages"), places),
        "links": list(sites.make_links(stream("links"), places, busy)),
        "datasets": {item.name: item.row for item in datasets} | data.pseudo_datasets(made),
        "statistics": list(counts.make_statistics(stream("statistics"), members, nucleus_places)),
        "software": software.make_software(stream("software"), members), "worker_gpus": software.worker_gpus(members),
        "shares": counts.share_figures(stream("shares")),
        "to_running_rate": counts.to_running_rates(stream("rates"), members),
        "remaining_work": counts.remaining_work(stream("work"), nucleus_places), "tasks": made,
    }  # fmt: skip
    if user_tasks:
        analysis.add(world, stream("analysis"), places, members, user_tasks)
    return world
