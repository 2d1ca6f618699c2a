"""Filters, columns and reasons of the lists."""

import re

import pytest

from broker import world
from broker.laboratory import grid
from tests.calls import Calls, Connection
from tests.commands import Cli
from tests.core.lifecycle import grids

pytestmark = pytest.mark.slow

TASKS = [
    {"id": 1, "user": "ann", "gshare": "A", "status": "running"},
    {"id": 2, "user": "bob", "gshare": "B", "status": "done", "nucleus": "N"},
    {"id": 3, "user": "ann", "gshare": "B", "status": "assigning"},
]


@pytest.mark.parametrize(("filters", "tasks"), [
    (["--owner", "ann"], [3, 1]), (["--share", "B"], [3, 2]), (["--nucleus", "N"], [2]), (["--status", "done"], [2]),
    (["--waiting"], [3, 1]), (["--waiting", "--owner", "bob"], []), (["--after", 3], [2, 1]),
    (["--after", 3, "--owner", "ann"], [1]),
])  # fmt: skip
def test_filters_of_tasks_choose_the_right_tasks(
    cli: Cli, db: Connection, filters: list[object], tasks: list[int]
) -> None:
    grids.load(db, "default", tasks=TASKS)
    assert [row["task_id"] for row in cli("tasks", *filters, "--json").json] == tasks
    assert [row["task_id"] for row in cli("tasks", *filters, "--limit", 5, "--json").json] == tasks


def test_tasks_show_why_they_wait_and_their_next_try(cli: Cli, db: Connection) -> None:
    def why() -> dict[int, tuple[str | None, str | None]]:
        return {row["task_id"]: (row["why"], row["next_try"]) for row in cli("tasks", "--json").json}

    world.load(db, [{
        "queues": {f"Q{n}": {"pilots": {"getjob": 1}, "maxrss": 1000 if n else 0} for n in range(4)},
        "datasets": {"d": {"type": "pseudo_input", "files": [{"lfn": "a"}]}},
        "tasks": [{"id": 1, "input": ["d"], "ram_count": 5000, "status": "running"},
                  {"id": 2, "input": ["d"], "status": "done"}, {"id": 3, "input": ["d"], "status": "assigning"}],
    }])  # fmt: skip
    undecided = ("no run has decided it yet", "the next run")
    assert why() == {1: undecided, 2: (None, None), 3: undecided}
    db.execute("update resource.queue set maxrss = 1000")
    cli("assign", "jobs", "--task", 1)
    run = db.execute("select max(run_id) from monitor.run").fetchone()
    assert run
    rejected = f"run {run[0]} found none for it; memory rejected 4 of 4 queues"
    words, next_try = why()[1]
    assert words == rejected
    assert next_try is not None
    assert re.fullmatch(r"from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC on", next_try)
    db.execute("update brokerage.task_state set retry_at = now()")
    assert why()[1] == (rejected, "the next run"), "the reason of the last run stays while the task is due"
    [decided] = cli("decisions", "--task", 1, "--json").json
    assert (decided["status"], decided["algorithm"]) == ("pending", "production_job")
    assert cli("decisions", "--task", 1, "--algorithm", "production_task", "--json").json == []


def test_filters_of_jobs_and_leases_choose_the_right_rows(cli: Cli, db: Connection) -> None:
    grids.load(db, "s", tasks=[{"id": 1, "user": "ann"}, {"id": 2, "user": "bob"}])
    [first] = grids.make(db, "s", "QA", task=1)
    [second] = grids.make(db, "s", "QB", task=2)
    grids.activate(db, "s")
    assert grids.match(db, "s", "QB")

    def jobs(*filters: object) -> list[int]:
        found = [row["job_id"] for row in cli("jobs", "--setup", "s", *filters, "--json").json]
        assert found == [row["job_id"] for row in cli("jobs", "--setup", "s", *filters, "--limit", 9, "--json").json]
        return found

    assert jobs() == [second, first]
    assert jobs("--owner", "ann") == jobs("--queue", "QA") == jobs("--site", "SA") == jobs("--task", 1) == [first]
    assert jobs("--site", "QB") == jobs("--status", "sent") == jobs("--state", "sent") == [second]
    assert jobs("--task", 1, "--status", "sent") == []
    assert jobs("--after", second) == [first]
    [lease] = cli("leases", "--setup", "s", "--json").json
    assert (lease["site"], lease["owner"], lease["heard_at"] is None) == ("QB", "bob", False)
    assert cli("leases", "--setup", "s", "--overdue", "--json").json == []
    db.execute("update taskqueue.lease set expires_at = '2020-01-01'")
    assert len(cli("leases", "--setup", "s", "--overdue", "--limit", 3, "--json").json) == 1
    shown = cli("leases", "--setup", "s").out
    assert "now" in shown and "d ago" in shown  # heard; expired


def test_sites_show_status_limits_and_pilots(cli: Cli, db: Connection) -> None:
    q = Calls(db)
    q.running_limit("JobTypes", "T", 1, site="DIRAC.Site.org")
    q.insert(1, JobTypes=["T"], Sites=["DIRAC.Site.org"])
    q.insert(2, JobTypes=["T"], Sites=["DIRAC.Site.org"])
    assert q.take(Site="DIRAC.Site.org")
    world.load(db, [{"queues": {"Q": {"panda_site": "P", "status": "brokeroff"}}}], merge=True)
    rows = {row["site"]: row for row in cli("sites", "--json").json}
    assert rows["P"]["status"] == "brokeroff"
    found = rows["DIRAC.Site.org"]
    assert (found["waiting_cores"], found["starting_cores"], found["running_cores"]) == (1, 1, 0)
    assert (found["limits"], found["limits_reached"], found["pilots_seen"] is None) == (1, 1, False)
    assert [row["site"] for row in cli("sites", "--full", "--json").json] == ["DIRAC.Site.org"]
    assert [row["reached"] for row in cli("limits", "--reached", "--json").json] == [True]
    assert [row["resource"]["Site"] for row in cli("resources", "--site", "DIRAC.Site.org", "--json").json]


def test_filters_of_quarantines_choose_the_right_rows(cli: Cli, db: Connection) -> None:
    q = Calls(db)
    q.insert(1, Sites=["IDLE"])
    q.call("set_quarantine", "host", "CERN", "n17", "its disk is full")
    q.call("set_quarantine", "site", "RAL", None, "it is closed")
    db.execute(
        """insert into taskqueue.quarantine (setup, site, kind, name, since, why, locks, is_automatic)
           values ('default', 'CERN', 'site', 'CERN', now(), '5 of 9 worker nodes fail their jobs', false, true)"""
    )

    def listed(*filters: object) -> list[tuple[str, str]]:
        return [(row["kind"], row["name"]) for row in cli("quarantine", "list", *filters, "--json").json]

    assert listed() == [("host", "n17"), ("site", "CERN"), ("site", "RAL")]
    assert listed("--site", "CERN") == listed()[:2]
    assert listed("--site", "CERN", "--state", "named") == [("site", "CERN")]
    assert listed("--kind", "site", "--state", "refused") == [("site", "RAL")]
    assert listed("--site", "IDLE") == listed("--state", "watched") == []
    cli("quarantine", "list", "--site", "CENR").refuses("--site is CENR, which is none of", "the nearest is CERN")
    cli("quarantine", "list", "--state", "lost").refuses("--state is lost, which is none of: refused, watched, named")
    assert cli("quarantine", "list", "-o", "name,score", "--limit", 1, "--json").json == [
        {"name": "n17", "score": None}
    ]
    assert "their jobs" in " ".join(cli("quarantine", "list").out.split())
    assert [row["quarantined"] for row in cli("sites", "--json").json] == [1, 0, 1]


def test_a_list_shows_the_columns_asked_for(cli: Cli, db: Connection) -> None:
    grids.load(db, "default", tasks=TASKS)
    assert cli("tasks", "-o", "status,task_id", "--limit", 1, "--json").json == [{"status": "assigning", "task_id": 3}]
    more = cli("tasks", "-o", "+label", "--limit", 1, "--json").json[0]
    assert {"label", "why", "task_id"} <= more.keys()
    wrong = cli("tasks", "-o", "stats")
    assert wrong.code == 1
    assert "there is no column stats" in wrong.err and "task_id, status" in wrong.err
    assert "Others: label" in " ".join(cli("tasks", "--help").out.split())
    assert cli("jobs", "--after", "x").code == 2


def test_a_page_of_a_list_names_the_next_page(cli: Cli, db: Connection) -> None:
    world.load(db, [grid.grid(1, 5, 30)])
    tasks = [row["task_id"] for row in cli("tasks", "--setup", "grid", "--json").json]
    seen: list[int] = []
    after: list[object] = []
    while len(seen) < len(tasks):
        page = cli("tasks", "--setup", "grid", "--limit", 7, "-o", "task_id", *after, "--json").json
        printed = cli("tasks", "--setup", "grid", "--limit", 7, *after).out
        seen += [row["task_id"] for row in page]
        after = ["--after", seen[-1]]
        assert (f"--after {seen[-1]} is the next page" in printed) == (len(seen) < len(tasks))
    assert seen == tasks
