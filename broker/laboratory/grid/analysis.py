"""Tasks of users, their input, and the jobs of users at the queues."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from broker.laboratory.grid.data import Data, make_replicas
from broker.laboratory.grid.drawing import Row, ago, dealt, log, weighted
from broker.laboratory.grid.sites import Place, Queue
from broker.laboratory.grid.software import CONTAINER
from broker.laboratory.grid.waits import make_jobs

_FIRST_TASK = 48_000_001
_TASKS_A_USER = 6
_GIB = 1024**3

_CONFIG: Row = {
    "prio_mgr:CAP_RUNNING_USER_JOBS": 10_000, "prio_mgr:CAP_RUNNING_USER_CORES": 20_000,
    "prio_mgr:CAP_RUNNING_GROUP_JOBS": 20_000, "prio_mgr:CAP_RUNNING_GROUP_CORES": 40_000,
    "analy_eval:USER_USAGE_THRESHOLD_A": 1_000, "analy_eval:USER_USAGE_THRESHOLD_B": 10_000,
    "anal_jobbroker:IO_INTENSITY_CUTOFF_USER": 200, "anal_jobbroker:DATA_CHECK_TIMEOUT_USER": 48,
}  # fmt: skip

_SHARES = {"User Analysis": 85, "Group Analysis": 10, "Express Analysis": 5}
_ABOVE = "L1 User Analysis"
_GROUPS = [f"SYN_Physics{number}" for number in range(1, 6)]
_RELEASES = ("AthAnalysis-24.2.41", "AthAnalysis-25.2.30", "AnalysisBase-24.2.38", "Athena-24.0.41")
_PLATFORMS = ("x86_64-el9-gcc13-opt", "x86_64-el9-gcc13-opt", "x86_64-centos7-gcc11-opt")


def add(world: Row, rng: random.Random, places: Sequence[Place], queues: Sequence[Queue], number: int) -> None:
    """Tasks of users in a world, with their users, jobs and data."""
    users = [f"syn-user-{index}" for index in range(1, max(2, number // _TASKS_A_USER) + 1)]
    members = [queue for queue in queues if queue.row["type"] in ("analysis", "unified")]
    datasets = list(_datasets(rng, places, min(300, max(5, number * 3 // 10))))
    running = {queue.name: _users_at(rng, queue, users) for queue in members if "pilots" in queue.row}
    tasks = list(_tasks(rng, users, datasets, [queue.name for queue in members], number))
    for queue in members:
        queue.row["site_class"] = rng.choices((1, 0, -1), (25, 50, 25))[0]
    world["config"] |= _CONFIG
    world["datasets"] |= {item.name: item.row for item in datasets}
    world["statistics"] += [
        row for queue in members if queue.name in running for row in _counts(queue, running[queue.name])
    ]
    world["shares"] |= _share_figures(rng)
    world["users"] = _accounts(rng, users, running, list(world["storages"]))
    world["user_queue_statistics"] = running
    world["tasks"] += tasks
    world["jobs"] = list(make_jobs(rng, members, users))


def _datasets(rng: random.Random, places: Sequence[Place], number: int) -> Iterator[Data]:
    """Derived data: a few files of a few GiB, with one or more copies at nuclei, and more at satellites."""
    for index in range(number):
        name = f"syn.{900_000 + index}.deriv.DAOD.p{rng.randrange(5_000, 7_000)}"
        size = log(rng, 0.3, 5) * _GIB
        files = [
            {
                "lfn": f"syn.DAOD.{900_000 + index}._{number:06}.root",
                "size": round(size * rng.uniform(0.9, 1.1)),
                "nevents": 20_000,
            }
            for number in range(1, rng.randint(3, 40) + 1)
        ]
        homes, replicas = make_replicas(rng, places, (3, 4), files, raw=False)
        row: Row = {"type": "input", "created": ago(rng, 60, 2_000), "files": files, "replicas": replicas}
        yield Data(name, "DAOD", homes, row)


def _users_at(rng: random.Random, queue: Queue, users: Sequence[str]) -> Row:
    """Running and queued jobs of the users of each share at a queue. The first users have the most jobs."""
    cores = queue.size * rng.uniform(0.1, 0.4)
    present: Row = {}
    for share, part in _SHARES.items():
        count = min(len(users), max(1, round(log(rng, 3, 40) * part / 85)))
        there = {users[min(int(rng.expovariate(6) * len(users)), len(users) - 1)] for _ in range(count)}
        ratio = weighted(rng, {"0.1": 25, "0.8": 45, "2.5": 30})
        present[share] = {}
        for user in sorted(there):
            running = round(cores * part / 100 / len(there) * rng.expovariate(1))
            queued = round(max(running, 5) * float(ratio) * rng.expovariate(1))
            present[share][user] = {"queued": queued, "running": running}
    return present


def _counts(queue: Queue, present: Row) -> Iterator[Row]:
    """The job counts that agree with the jobs of the users."""
    for share, users in present.items():
        jobs = {
            "running": sum(user["running"] for user in users.values()),
            "activated": sum(user["queued"] for user in users.values()) * 9 // 10,
            "starting": sum(user["queued"] for user in users.values()) // 10,
        }
        for status, number in jobs.items():
            if number:
                yield {
                    "queue": queue.name, "gshare": share, "resource_type": "SCORE", "label": "user", "status": status,
                    "njobs": number, "ncores": number,
                }  # fmt: skip


def _share_figures(rng: random.Random) -> Row:
    figures: Row = {_ABOVE: {"target": 1_500_000, "equivalent_usage_percent": 0.92}}
    for share, part in _SHARES.items():
        usage = 0.88 if share == "User Analysis" else round(rng.uniform(0.7, 1.1), 3)
        target = 15_000 * part
        figures[share] = {
            "parent": _ABOVE, "target": target, "running": round(target * usage), "queued": target,
            "usage_percent": usage,
        }  # fmt: skip
    return figures


def _accounts(rng: random.Random, users: Sequence[str], running: Row, storages: Sequence[str]) -> Row:
    """Users and groups: jobs and cores, quotas (one in forty is nearly or fully used), remaining slots of class A."""
    jobs = dict.fromkeys(users, 0)
    queued = dict.fromkeys(users, 0)
    for shares in running.values():
        for present in shares.values():
            for user, figures in present.items():
                jobs[user] += figures["running"]
                queued[user] += figures["queued"]
    accounts: Row = {}
    for user in users:
        used = rng.uniform(0.1, 0.9) if rng.random() < 0.975 else rng.choice((0.95, 1.1))
        quota: Row = {"used": round(used * 20_000), "limit": 20_000}
        if rng.random() < 0.1:
            quota["over_local"] = sorted(rng.sample(storages, min(3, len(storages))))
        cores = round(jobs[user] * rng.uniform(1, 1.5))
        accounts[user] = {
            "running_jobs": jobs[user], "queued_jobs": queued[user], "running_cores": cores,
            "queued_cores": round(queued[user] * rng.uniform(1, 1.5)), "quota": quota,
            "rem_slots_a": max(0, 1_000 - cores), "rem_slots_b": max(0, 10_000 - cores),
        }  # fmt: skip
    for group in _GROUPS:
        running_jobs = round(log(rng, 100, 30_000))
        accounts[group] = {
            "kind": "group", "running_jobs": running_jobs, "queued_jobs": running_jobs // 2,
            "running_cores": running_jobs, "queued_cores": running_jobs // 2,
        }  # fmt: skip
    return accounts


def _tasks(
    rng: random.Random, users: Sequence[str], datasets: Sequence[Data], queues: Sequence[str], number: int
) -> Iterator[Row]:
    """Tasks of users: a few users have most of them, one in three runs in containers, and one in five already runs at
    some queues."""
    kinds = {"reading": 60, "container": 30, "merging": 4, "scout": 6}
    for index, kind in enumerate(dealt(rng, kinds, number)):
        user = users[min(int(rng.expovariate(5) * len(users)), len(users) - 1)]
        share = weighted(rng, _SHARES)
        release = rng.choice(_RELEASES)
        priority = rng.choice((1_000, 1_000, 900, 800, 2_000 if rng.random() < 0.1 else 700))
        cores = rng.choices((1, 8), (95, 5))[0]
        task: Row = {
            "id": _FIRST_TASK + index, "label": "user", "gshare": share,
            "status": rng.choice(("ready", "running", "running", "pending")), "user": user,
            "processing_type": "panda-client-jedi-athena", "task_priority": priority,
            "current_priority": priority - rng.choice((0, 0, 50, 200)), "core_count": cores,
            "ram_count": rng.choice((2_000, 2_000, 2_000, 2_000, 2_000, 2_000, 3_000, 4_000)), "ram_unit": "MBPerCore",
            "cpu_time": round(log(rng, 0.05, 5), 2), "cpu_time_unit": "HS06sPerEvent", "cpu_efficiency": 90,
            "base_walltime": 600, "out_disk_count": rng.choice((5, 50, 200)), "out_disk_unit": "kB",
            "work_disk_count": rng.choice((None, 500, 2_000)), "work_disk_unit": "MB",
            "io_intensity": round(log(rng, 10, 3_000)), "disk_io": round(log(rng, 50, 3_000)),
            "architecture": rng.choice(_PLATFORMS), "trans_home": f"AnalysisTransforms-{release.replace('-', '_')}",
            "trans_uses": None, "task_class": rng.choices((2, 1, 0, -1), (5, 45, 35, 15))[0],
            "resource_type": "MCORE" if cores > 1 else "SCORE", **_input(rng, datasets), **_of_kind(rng, kind),
        }  # fmt: skip
        if share == "Group Analysis":
            task["working_group"] = rng.choice(_GROUPS)
        yield task | _wishes(rng, task, queues) | _history(rng, queues)


def _input(rng: random.Random, datasets: Sequence[Data]) -> Row:
    """The input of a task: mostly one dataset, with as many files per job as usually fit on a node."""
    read = rng.sample(datasets, min(len(datasets), rng.choices((1, 2, 3, 10), (75, 15, 7, 3))[0]))
    largest = max(file["size"] for item in read for file in item.row["files"])
    files = max(1, min(rng.choice((1, 2, 5, 10)), 6 * _GIB // largest))
    return {"input": [item.name for item in read], "split": {"nFilesPerJob": files}}


def _of_kind(rng: random.Random, kind: str) -> Row:
    changes: dict[str, Row] = {
        "container": {"container_name": rng.choice((CONTAINER, "syn-analysis", "docker://synthetic/training:2.1"))},
        "merging": {"is_merging": True},
        "scout": {"use_scout": True, "status": "scouting"},
    }
    changes["container"] |= {"trans_home": None, "architecture": ""}
    return changes.get(kind, {})


def _wishes(rng: random.Random, task: Row, queues: Sequence[str]) -> Row:
    """The places where users allow their tasks: mostly anywhere; some exclude a site, or list trusted sites."""
    chance = rng.random()
    split: Row = dict(task["split"])
    params: dict[str, Any] = {}
    if chance < 0.15:
        params["excluded_site"] = sorted(rng.sample(queues, min(3, len(queues))))
        split["limitedSites"] = 1
    elif chance < 0.2:
        params["included_site"] = sorted(rng.sample(queues, min(5, len(queues))))
        split["limitedSites"] = 1
    elif chance < 0.23:
        return {"site": rng.choice(queues)}
    elif chance < 0.3:
        split["nGBPerJob"] = rng.choice((5, 10))
    elif chance < 0.35:
        split["avoidVP"] = 1
    elif chance < 0.4:
        split["allowInputLAN"] = 1
    return {"split": split} | ({"params": params} if params else {})


def _history(rng: random.Random, queues: Sequence[str]) -> Row:
    if rng.random() >= 0.2:
        return {}
    used = sorted(rng.sample(queues, min(len(queues), rng.randint(1, 6))))
    return {
        "sites_used": used,
        "failures": {
            queue: {
                "failed": rng.choice((0, 1, 3, 20)),
                "closed": rng.choice((0, 0, 0, 4)),
                "finished": rng.randrange(60),
            }
            for queue in used
        },
    }
