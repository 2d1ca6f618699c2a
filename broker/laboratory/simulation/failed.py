"""The figures of failed jobs: classes of errors, retry rules, black holes and the guard."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from broker.laboratory.simulation.engine import Run
from broker.laboratory.simulation.nodes import Quarantine
from broker.laboratory.simulation.supply import Row


def failures(run: Run, rows: Iterable[Row]) -> Row:
    """Failed ends by class, by site and class, and by the retry rule that decided with its decision. parts: number
    of parts of tasks' input with a failed job; given_back: number of these parts that went back to their task;
    finished: number of these parts that another job has finished.
    """
    site_of = {queue.name: queue.site for queue in run.supply.queues}
    by_class: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    by_site: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in run.calls.failures():
        by_class[one["class"]] += one["ends"]
        by_site[site_of[one["queue"]]][one["class"]] += one["ends"]
        if one["rule"]:
            by_rule[one["rule"]] += one["ends"]
    failed: set[tuple[int, int]] = set()
    back: set[tuple[int, int]] = set()
    finished: set[tuple[int, int]] = set()
    for row in rows:
        part = (row["task_id"], row["number"])
        if row["status"] == "failed":
            failed.add(part)
            if row["rebrokered"]:
                back.add(part)
        elif row["status"] == "finished":
            finished.add(part)
    return {
        "by_class": dict(by_class.most_common()),
        "by_site": {site: dict(by_site[site].most_common()) for site in sorted(by_site)},
        "by_rule": dict(by_rule.most_common()),
        "parts": len(failed), "given_back": len(back), "finished": len(failed & finished),
    }  # fmt: skip


def hole(run: Run, number: int) -> Row:
    """The figures of a black hole, by its number among the troubles. jobs_ran: those of jobs_failed that ran on its
    worker nodes when it began. full_work_after: minutes from its end until its worker nodes had full work again, or all
    work that there was; None: not before the end of the run.
    """
    trouble, site = run.scenario.troubles[number], run.nodes.sites[number]
    eaten: Counter[str] = Counter()
    for (at, how, reason), ends in run.ends.items():
        if at == site and reason == "black hole":
            eaten["given back" if how == "released" else "failed"] += ends
    all_failed = sum(ends for (_, how, _), ends in run.ends.items() if how == "failed")
    row: Row = {
        "jobs_failed": eaten["failed"],
        "part_of_all_failed": round(eaten["failed"] / all_failed, 4) if all_failed else None,
    }
    if trouble.gives_back:
        row["jobs_given_back"] = eaten["given back"]
    if nodes := run.nodes.broken[number]:
        full = run.nodes.full.get(number)
        row["jobs_ran"] = run.nodes.ran[number]
        row["worker_nodes"] = [{"queue": queue, "host": host} for queue, host in sorted(nodes)]
        row["full_work_after"] = None if full is None else round(full - trouble.end * run.minutes, 1)
    return row


def guard(run: Run) -> Row | None:
    """The quarantines of a run with worker nodes; None without. broken, healthy: worker nodes that were refused (with
    the setting watch, that would be, since their site was not named); those of a black hole are broken until an hour
    after its end. Times are minutes of the run.
    """
    if not run.scenario.host_slots:
        return None
    hosts = sum(len(hosts) for queue, hosts in run.nodes.cores.items() if run.nodes.queues[queue].host_cores)
    listed = run.nodes.quarantines
    named = [one for one in listed if one.state == "named"]
    meant = {(one.queue, one.host): one.trouble for one in listed if _is_meant(run.scenario.guard, one, named)}
    healthy = Counter(trouble or "none" for trouble in meant.values() if trouble != "black hole")
    return {
        "setting": run.scenario.guard,
        "worker_nodes": hosts,
        "broken": len(meant) - healthy.total(),
        "healthy": healthy.total(),
        "healthy_by_trouble": dict(healthy.most_common()),
        "healthy_a_day_of_200": round(healthy.total() / max(run.over, 1) * 24 * 60 / hosts * 200, 2),
        "sites_named": sorted({one.queue for one in named}),
        "probes": sum(one.probes for one in listed),
        "quarantines": [
            {
                "state": one.state, "site": one.queue, "host": one.host or None, "from": one.begin, "to": one.end,
                "probes": one.probes, "trouble": one.trouble, "why": one.why,
            }
            for one in listed
        ],
    }  # fmt: skip


def _is_meant(setting: str, one: Quarantine, named: Iterable[Quarantine]) -> bool:
    """Whether a worker node is refused or, with the setting watch, would be."""
    if setting == "on":
        return one.state == "refused"
    return one.state == "watched" and not any(
        site.queue == one.queue and site.begin <= one.begin and (site.end is None or one.begin < site.end)
        for site in named
    )
