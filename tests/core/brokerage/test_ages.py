"""The clock of the setup judges the age of a figure at each decision; a decision that was taken stays as it is."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from broker import world
from broker.world import exports
from tests.core.brokerage.runs import NOW, Db, decided, open_world, ran

SECOND = timedelta(seconds=1)
AT = NOW.isoformat()


QUEUED = {"S:N": {"files": {"queued": {"Production Output": {"latest": 151, "timestamp": AT}}}}}
FAST = {"S:N": {"mbps": {"rucio": {"1h": 250, "timestamp": AT}}}}
WAITING = [{"computingSite": name, "jobStatus": "activated", "gshare": "G", "njobs": 1} for name in "AB"]
FIGURES: Mapping[str, tuple[dict[str, Any], timedelta]] = {
    "pilots": ({"pilots": {name: {"getJob": 5, "updateJob": 5} for name in "AB"}}, timedelta(hours=3)),
    "workers": ({"workers": {"A": {"h": {"l": {"r": {"running": 9}}}}}}, timedelta(hours=1)),
    "queued files": ({"network-metrics": QUEUED}, timedelta(hours=1)),
    "throughput": ({"network-metrics": FAST}, timedelta(hours=1)),
    "last start": (
        {
            "pilots": [{"site": name, "getJob": 5, "lastStart": AT, "lastMod": "2027-01-01T00:00:00"} for name in "AB"],
            "job-counts": WAITING,
        },
        timedelta(hours=2),
    ),
    "share": ({}, timedelta(minutes=15)),
}  # fmt: skip


def load(db: Db, figure: str) -> str:
    """Load a world with a due task and the figure of now; return the broker of the task."""
    given = open_world(["A", "B"], [{"id": 1, "gshare": "G", "nucleus": "N", "current_priority": 900}], files=2)
    given["queues"]["N"] = given["queues"]["A"] | {"panda_site": "N", "role": "nucleus", "status": "offline"}
    given["storages"]["DISK"]["site"] = "S"
    given["links"] = [{"src": "S", "dst": "N", "closeness": 11}]
    if figure == "share":
        given["tasks"][0] |= {"label": "user", "user": "u", "gshare": "User Analysis", "task_class": 0}
        given["shares"] = {"User Analysis": {"usage_percent": 2, "measured": AT}}
        given["shares"]["L1 User Analysis"] = {"equivalent_usage_percent": 2, "measured": AT}
        given["queues"] = {name: queue | {"type": "analysis"} for name, queue in given["queues"].items()}
        given["statistics"] = [
            {"queue": "A", "gshare": "User Analysis", "status": status, "njobs": 1000}
            for status in ("running", "activated")
        ]
    world.load(db, [given])
    for export, value in FIGURES[figure][0].items():
        exports.load(db, export, value)
    return "analysis_job" if figure == "share" else "production_job"


def explained(db: Db, moment: timedelta) -> list[Any]:
    """The decision as it would be taken after a time, and the reasons of all rules."""
    db.execute("select resource.set_clock('default', %s)", [NOW + moment])
    query = "select queue, verdict, rule, weight, all_reasons from brokerage.explain('default', 1) order by 1"
    return db.execute(query).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_grows_old_for_new_decisions_only(db: Db, figure: str) -> None:
    run = ran(db, load(db, figure), "default", seed=1)
    then = decided(db, run)
    limit = FIGURES[figure][1]
    fresh = explained(db, timedelta(0))
    assert explained(db, limit) == fresh
    assert explained(db, limit + SECOND) != fresh
    assert decided(db, run) == then
    query = "select differs from brokerage.replay('default', p_run_id => %s)"
    assert db.execute(query, [run]).fetchall() == [([],)]


def test_figures_without_an_age_count_until_the_next_load(db: Db) -> None:
    """PanDA gives no age to counts of jobs and to the space of storages; figures of a world need not have a time."""
    load(db, "workers")
    exports.load(db, "job-counts", WAITING)
    gigabyte = 1024**3
    exports.load(db, "rucio-usage", {"DISK": [{"source": "storage", "used": 0, "free": 1000 * gigabyte}]})
    world.load(db, [{"queues": {name: {"workers": {"running": 9}} for name in "AB"}}], merge=True)
    assert explained(db, timedelta(0)) == explained(db, timedelta(days=99))
