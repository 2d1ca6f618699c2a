"""The figures of a run: PanDA's four goals, the effects of troubles, and proof that no job was lost or doubled.

Times of jobs are the database's (monitor.brokered_job); cores in use are the simulation's, step by step.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from broker.laboratory.simulation import failed
from broker.laboratory.simulation.engine import BEGIN, Run
from broker.laboratory.simulation.supply import Row

ENDS = ("finished", "failed", "cancelled", "closed")
BANDS = {"from 800": 800, "500 to 799": 500, "below 500": -(10**9)}


def figures(run: Run) -> Row:
    """All figures of a finished run. Reads the database."""
    rows = run.calls.all_jobs()
    faults = run.calls.faults()
    waiting = _waiting_cores(run, rows)
    return {
        "scenario": run.scenario.name, "seed": run.seed, "hours": round(run.over / 60, 2),
        "queues": len(run.supply.queues), "cores": run.supply.cores, "tasks": run.tasks, "jobs": len(rows),
        "jobs_an_hour": round(len(rows) / (max(run.over, run.scenario.tick) / 60)), "busy": _busy(run, waiting),
        "waits": _waits(run, rows), "shares": _shares(run, rows), "resources": _resources(run, rows),
        "sites": _sites(run, waiting), "clouds": _clouds(run), "troubles": _troubles(run),
        "failures": failed.failures(run, rows), "guard": failed.guard(run),
        "conservation": _conservation(run, rows, faults),
    }  # fmt: skip


def _minute(moment: datetime) -> float:
    return (moment - BEGIN) / timedelta(minutes=1)


def _waiting_cores(run: Run, rows: Iterable[Row]) -> dict[str, list[int]]:
    """Cores that jobs in TaskQueues waited for, by queue and step: from activation to the last match, or the end."""
    tick, steps = run.scenario.tick, len(run.steps)
    changes: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (steps + 1))
    for row in rows:
        if row["activated"] is None:
            continue
        job = run.jobs[row["job_id"]]
        until = job.matched if job.matched is not None else _minute(row["ended"]) if row["ended"] else run.over + 1
        begin, end = (min(steps, max(0, -int(-moment // tick))) for moment in (_minute(row["activated"]), until))
        if begin < end:
            changes[row["queue"]][begin] += row["cores"]
            changes[row["queue"]][end] -= row["cores"]
    waiting: dict[str, list[int]] = {}
    for queue, change in changes.items():
        total, waiting[queue] = 0, []
        for one in change[:steps]:
            total += one
            waiting[queue].append(total)
    return waiting


def _part(some: float, whole: float) -> float | None:
    return round(some / whole, 4) if whole else None


def _busy(run: Run, waiting: Mapping[str, Sequence[int]]) -> Row:
    """Goal 1, all CPUs busy. where_jobs_waited: counts cores for which their queue had a running or waiting job."""
    used = there = wanted = 0
    for queue, cores in run.used.items():
        none = [0] * len(cores)
        for now, slots, waits in zip(cores, run.slots[queue], waiting.get(queue, none), strict=True):
            used += min(now, slots)
            there += slots
            wanted += min(slots, now + waits)
    hours = run.scenario.tick / 60
    return {
        "used_core_hours": round(used * hours), "available_core_hours": round(there * hours),
        "utilisation": _part(used, there), "utilisation_where_jobs_waited": _part(used, wanted),
    }  # fmt: skip


def _quantiles(values: Sequence[float]) -> Row:
    ordered = sorted(values)
    if not ordered:
        return {"jobs": 0, "median": None, "p95": None}
    return {
        "jobs": len(ordered),
        "median": round(ordered[len(ordered) // 2], 1),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
    }


def band_of(priority: int) -> str:
    """The band of a priority."""
    return next(name for name, least in BANDS.items() if priority >= least)


def _waits(run: Run, rows: Sequence[Row]) -> Row:
    """Goal 2, short waits: minutes from the creation of a job to its start, and the part of them in TaskQueues, with
    its input there."""
    begun = [row for row in rows if row["started"] is not None]
    waits: defaultdict[str, list[float]] = defaultdict(list)
    bands: defaultdict[str, list[float]] = defaultdict(list)
    for row in begun:
        wait = _minute(row["started"]) - _minute(row["created"])
        waits[row["gshare"]].append(wait)
        bands[band_of(row["priority"])].append(wait)
    never = [row for row in rows if row["started"] is None and row["ended"] is None]
    return {
        "all": _quantiles([wait for values in waits.values() for wait in values]),
        "in_task_queues": _quantiles(
            [_minute(row["started"]) - _minute(row["activated"]) for row in begun if row["activated"]]
        ),
        "by_share": {gshare: _quantiles(waits[gshare]) for gshare in sorted(waits)},
        "by_priority": {band: _quantiles(bands[band]) for band in BANDS if band in bands},
        "still_waiting": _quantiles([run.over - _minute(row["created"]) for row in never]),
    }


def _shares(run: Run, rows: Sequence[Row]) -> Row:
    """Goal 3, allocations and priorities respected.

    by_share: fractions of the used core hours, and targets among shares that had jobs. away: the fraction of the core
    hours that went to other shares than in the targets. overtaken: matched jobs that were overtaken by a job of the
    same queue, share and cores that came later and had a lower priority.
    """
    had = {row["gshare"] for row in rows}
    targets = {gshare: target for gshare, target in run.scenario.shares.items() if gshare in had}
    used, wanted = sum(run.share_minutes.values()), sum(targets.values())
    by_share = {
        gshare: {"target": _part(targets[gshare], wanted), "used": _part(run.share_minutes[gshare], used)}
        for gshare in sorted(targets)
    }
    away = sum(abs((one["used"] or 0) - (one["target"] or 0)) for one in by_share.values()) / 2
    matched, overtaken = _overtaken(run, rows)
    return {
        "by_share": by_share, "away": round(away, 4) if used else None, "matched": matched, "overtaken": overtaken,
        "overtaken_part": _part(overtaken, matched),
    }  # fmt: skip


def _overtaken(run: Run, rows: Iterable[Row]) -> tuple[int, int]:
    """Matched jobs, and jobs overtaken by a job of lower priority that did not come earlier."""
    groups: defaultdict[tuple[Any, ...], list[tuple[float, int, float]]] = defaultdict(list)
    matched = overtaken = 0
    for row in rows:
        job = run.jobs[row["job_id"]]
        if job.matched is not None and job.matches == 1 and row["activated"] is not None:
            place = (row["queue"], row["gshare"], row["cores"])
            groups[place].append((job.matched, row["priority"], _minute(row["activated"])))
    for jobs in groups.values():
        matched += len(jobs)
        # earlier matches by priority: the latest arrival among those of lower priority decides
        latest: dict[int, float] = {}
        pending: list[tuple[float, int, float]] = []
        for moment, priority, came in sorted(jobs):
            while pending and pending[0][0] < moment:
                _, other, arrival = pending.pop(0)
                latest[other] = max(latest.get(other, arrival), arrival)
            pending.append((moment, priority, came))
            overtaken += any(other < priority and arrival >= came for other, arrival in latest.items())
    return matched, overtaken


def _resources(run: Run, rows: Sequence[Row]) -> Row:
    """Goal 4, the right resource: fractions of the jobs that agents got. local: all input was at the queue when the job
    was made. first_queue: never brokered again. out_of_time: failed because they exceeded the queue's time limit.
    never_placed: among all parts of tasks' input for which jobs were made, those whose jobs no agent got.
    """
    given = [row for row in rows if run.jobs[row["job_id"]].matches]
    reasons = Counter(reason for (_, _, reason), number in run.ends.items() for _ in range(number) if reason)
    lost = sum(job.core_minutes for job in run.jobs.values() if job.fate != "finished")
    used = sum(job.core_minutes for job in run.jobs.values())
    parts = {(row["task_id"], row["number"]) for row in rows}
    return {
        "given": len(given),
        "local": _part(sum(not run.jobs[row["job_id"]].transfer for row in given), len(given)),
        "first_queue": _part(sum(not row["previous_queues"] for row in given), len(given)),
        "finished": _part(
            sum(row["status"] == "finished" for row in given), sum(row["status"] in ENDS for row in given)
        ),
        "out_of_time": reasons["out of time"],
        "core_hours_of_failed_jobs": _part(lost, used),
        "never_placed": _part(len(parts - {(row["task_id"], row["number"]) for row in given}), len(parts)),
        "transfers": run.moved,
    }


def _sites(run: Run, waiting: Mapping[str, Sequence[int]]) -> dict[str, Row]:
    """The figures of each site: cores, utilisation, ended jobs by outcome."""
    sites: dict[str, Row] = {}
    for queue in run.supply.queues:
        site = sites.setdefault(queue.site, {"cores": 0, "used": 0, "there": 0, "waiting": 0})
        site["cores"] += max(run.slots[queue.name], default=0) if queue.cloud else queue.cores
        site["used"] += sum(run.used[queue.name])
        site["there"] += sum(run.slots[queue.name])
        site["waiting"] += sum(waiting.get(queue.name, ()))
    ends: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (site_name, how, reason), number in run.ends.items():
        ends[site_name][how] += number
        ends[site_name]["black hole"] += number * (reason == "black hole")
    return {
        name: {
            "cores": site["cores"],
            "utilisation": _part(site["used"], site["there"]),
            "waiting_core_hours": round(site["waiting"] * run.scenario.tick / 60),
            "finished": ends[name]["finished"],
            "failed": ends[name]["failed"],
            "lost": ends[name]["lost"],
            "failed_part": _part(ends[name]["failed"], sum(ends[name][how] for how in ("finished", "failed", "lost"))),
        }
        for name, site in sorted(sites.items(), key=lambda item: (-item[1]["cores"], item[0]))
    }


def _clouds(run: Run) -> Row | None:
    """The rented machines of the queues of kind cloud, and their use; None if there are no such queues.

    cost: from the request of each instance to its end, at list prices.
    """
    clouds = [queue.name for queue in run.supply.queues if queue.cloud]
    if not clouds:
        return None
    rented = run.calls.instances()
    over = BEGIN + timedelta(minutes=run.over)
    hours = [((one["released_at"] or over) - one["requested_at"]) / timedelta(hours=1) for one in rented]
    used = sum(sum(run.used[name]) for name in clouds) * run.scenario.tick / 60
    cores = sum(lasted * float(one["cpu"]) for lasted, one in zip(hours, rented, strict=True))
    changes = sorted(
        change
        for one in rented
        for change in [(one["requested_at"], 1), *([(one["released_at"], -1)] if one["released_at"] else [])]
    )
    return {
        "queues": clouds,
        "instances": len(rented),
        "most_at_once": max(accumulate(change for _, change in changes), default=0),
        "types": dict(Counter(one["type"] for one in rented).most_common()),
        "instance_hours": round(sum(hours), 1),
        "cost": round(sum(lasted * float(one["price"]) for lasted, one in zip(hours, rented, strict=True)), 2),
        "core_hours": round(cores, 1),
        "core_hours_used": round(used, 1),
        "used_part": _part(used, cores),
    }


def _troubles(run: Run) -> list[Row]:
    """Each trouble, and the jobs that ended at its site during it."""
    found: list[Row] = []
    for number, trouble in enumerate(run.scenario.troubles):
        begin, end = trouble.begin * run.minutes, trouble.end * run.minutes
        site = run.supply.site(trouble.site) if trouble.site is not None else None
        row: Row = {
            "kind": trouble.kind, "site": site, "from_hour": round(begin / 60, 2), "to_hour": round(end / 60, 2),
        }  # fmt: skip
        if site:
            steps = [step for step in run.steps if begin <= step.minute < end]
            row["core_hours_used"] = round(sum(step.used[site] for step in steps) * run.scenario.tick / 60)
        if trouble.kind == "black hole":
            row |= failed.hole(run, number)
        found.append(row)
    return found


def _conservation(run: Run, rows: Sequence[Row], faults: Mapping[str, int]) -> Row:
    """Check that each job exists once, ended or not, that each part of a task's input belongs to one job, and that
    counts are right."""
    states = Counter(row["status"] for row in rows)
    alive = sum(number for status, number in states.items() if status not in ENDS)
    parts = Counter(
        (row["task_id"], row["number"])
        for row in rows
        if row["status"] != "closed" and not (row["status"] == "failed" and row["rebrokered"])  # its part went back
    )
    counted = run.calls.counts()
    held = {row["job_id"] for row in rows if row["status"] in ("sent", "starting", "running")}
    return {
        "made": len(rows), "ended": len(rows) - alive, "alive": alive,
        "unknown": len({row["job_id"] for row in rows} ^ run.jobs.keys()), "states": dict(sorted(states.items())),
        "doubled": run.doubled, "parts_doubled": sum(number > 1 for number in parts.values()),
        "leases_too_many": run.calls.leases() - len(held),
        "counted_wrongly": sum(abs(counted[status] - states[status]) for status in {*counted, *states}),
        "faults": dict(faults),
    }  # fmt: skip


def holds(found: Row) -> bool:
    """Whether the conservation of figures holds: all of them except the sums are zero."""
    one = found["conservation"]
    wrong = ("unknown", "doubled", "parts_doubled", "leases_too_many", "counted_wrongly")
    return not any(one[name] for name in wrong) and not any(one["faults"].values())


def series(run: Run) -> list[Row]:
    """The steps as rows: minute, used and existing cores, jobs by status, sums."""
    states = sorted({status for step in run.steps for status in step.states})
    return [
        {
            "minute": step.minute, "cores_used": sum(step.used.values()), "cores": sum(step.slots.values()),
            **{status: step.states.get(status, 0) for status in states}, "ended_well": step.finished,
            "ended_badly": step.failed, "rebrokered": step.rebrokered, "transfers": step.transfers, "tasks": step.tasks,
        }
        for step in run.steps
    ]  # fmt: skip
