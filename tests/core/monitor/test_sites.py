"""monitor.site: the sites of queues, with their jobs, and the sites that only matching knows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from broker import world
from tests.calls import Calls, Connection

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
_COLUMNS = "status, waiting, starting, running, waiting_cores, starting_cores, running_cores"


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    q = Calls(rolled_back)
    q.set_clock(NOON)
    return q


def test_a_site_counts_the_jobs_of_its_queues_by_stage(q: Calls) -> None:
    counts = {"assigned": 1, "activated": 2, "sent": 4, "running": 8, "merging": 16, "finished": 32}
    statistics = [
        {"queue": queue, "status": status, "njobs": jobs, "gshare": share}
        for queue in ("Q1", "Q2", "Q3") for status, jobs in counts.items() for share in ("a", "b")
    ]  # fmt: skip
    statistics.append({"queue": "Q1", "status": "running", "njobs": 1, "ncores": 100})
    queues = {
        "Q1": {"panda_site": "P", "status": "online"}, "Q2": {"panda_site": "P", "status": "test"},
        "Q3": {"panda_site": "O"}, "Q4": {"panda_site": "N", "status": "offline"}, "Q5": {"status": "online"},
    }  # fmt: skip
    world.load(q.connection, [{"queues": queues, "statistics": statistics}])
    rows = q.rows(
        f"select site, {_COLUMNS} from monitor.site where setup = 'default' and site in ('P', 'N') order by 1"
    )
    assert rows == [("N", "offline", 0, 0, 0, 0, 0, 0), ("P", "online, test", 12, 16, 97, 12, 16, 196)]


def test_pilots_count_for_the_sites_that_their_resources_name(q: Calls) -> None:
    world.load(q.connection, [{"queues": {"Q": {"panda_site": "P"}}}])
    named: list[Any] = ["A", ["A", "B"], "[odd]", '["A"]', "Q", None]
    for minute, site in enumerate(named):
        q.set_clock(NOON + timedelta(minutes=minute))
        assert q.match(**({} if site is None else {"Site": site})) is None
    for _ in range(2):  # rolled up or not
        rows = q.rows("select site, pilots_seen from monitor.site where setup = 'default' order by site collate \"C\"")
        assert [(site, (seen - NOON).seconds // 60) for site, seen in rows] == [
            ("A", 1), ("B", 1), ("P", 4), ('["A"]', 3), ("[odd]", 2),
        ]  # fmt: skip
        q.set_clock(NOON + timedelta(hours=1))
        q.maintain()


def test_a_site_that_matching_knows_has_its_waiting_jobs(q: Calls) -> None:
    q.insert(1, Sites=["A", "B"], CPUTime=600)
    q.insert(2, Sites=["A"], CPUTime=90000)
    q.insert(3)
    q.insert(4, Sites=["C"])
    q.connection.execute("select taskqueue.cancel_job('default', 4)")
    query = "select site, waiting, waiting_at_queues from monitor.site where setup = 'default' order by site"
    assert q.rows(query) == [("A", 2, 0), ("B", 1, 0)]


def test_jobs_count_before_their_changes_are_folded(q: Calls) -> None:
    storages = {"read_lan": ["DISK"], "write_lan": ["DISK"]}
    queue = {"panda_site": "P", "pilots": {"getjob": 9, "updatejob": 9}, "astorages": storages}
    files = [{"lfn": f"f{n}", "size": 1} for n in range(4)]
    task = {"id": 1, "input": ["data"], "split": {"nFilesPerJob": 1}}
    made = {
        "now": NOON.isoformat(), "queues": {"Q": queue}, "storages": {"DISK": {"site": "P", "space_free": 1000}},
        "datasets": {"data": {"files": files, "replicas": {"DISK": {}}}}, "tasks": [task],
        "statistics": [{"queue": "Q", "status": "running", "njobs": 3, "ncores": 24}],
    }  # fmt: skip
    world.load(q.connection, [made])
    q.connection.execute("call brokerage.broker_jobs('default', p_tasks_a_commit => null)")
    query = f"select {_COLUMNS} from monitor.site where site = 'P'"
    unfolded = "select count(*) > 0 from workload.job_change"
    assert q.value(unfolded)
    before = q.rows(query)
    assert before == [("online", 4, 0, 3, 4, 0, 24)]
    q.rows("select workload.fold_counts()")
    assert not q.value(unfolded)
    assert q.rows(query) == before


def test_a_site_counts_the_failures_of_the_last_hour(q: Calls) -> None:
    """Failures at a queue count for its PanDA site, and a failure without a site nowhere."""
    world.load(q.connection, [{"queues": {"Q": {"panda_site": "P"}}}])
    for number, site in enumerate(["Q", "P", "A", "A", None, "B"]):
        q.set_clock(NOON + timedelta(minutes=10 * number))
        q.insert(number + 1)
        match = q.take(Site=site)
        q.call("finish_job", match.job_id, match.attempt, "finished" if site == "B" else "failed")
    counts = "select site, failures from monitor.site where setup = 'default' and failures > 0 order by site"
    assert q.rows(counts) == [("A", 2), ("P", 2)]
    q.set_clock(NOON + timedelta(minutes=65))
    assert q.rows(counts) == [("A", 2), ("P", 1)]


def test_a_site_counts_its_quarantines(q: Calls) -> None:
    """A quarantine at a queue counts for its PanDA site, and one of the guard only if it refuses requests."""
    world.load(q.connection, [{"queues": {"Q": {"panda_site": "P"}}}])
    for kind, site, name in [
        ("host", "Q", "n1"), ("ce", "Q", "c1"), ("host", "P", "n1"), ("site", "A", None), ("host", None, "n1")
    ]:  # fmt: skip
        q.call("set_quarantine", kind, site, name, "it burns")
    q.connection.execute(
        """insert into taskqueue.quarantine (setup, site, kind, name, since, why, locks, is_automatic)
           values ('default', 'B', 'site', 'B', now(), 'worker nodes fail', false, true),
                  ('default', 'B', 'host', 'n1', now(), 'jobs failed', false, true)"""
    )
    assert q.rows("select site, quarantined, quarantine from monitor.site where setup = 'default' order by 1") == [
        ("A", 1, "refused"), ("B", 0, "named"), ("P", 3, None)
    ]  # fmt: skip
    assert q.rows("select site, refused, watched, state from monitor.quarantine_by_site order by 1") == [
        ("", 1, 0, None), ("A", 1, 0, "refused"), ("B", 0, 1, "named"), ("P", 3, 0, None)
    ]  # fmt: skip


def test_a_panda_site_is_refused_if_each_of_its_queues_is(q: Calls) -> None:
    world.load(q.connection, [{"queues": {name: {"panda_site": "P"} for name in ("Q", "R", "P")}}])
    state = "select quarantine from monitor.site where setup = 'default' and site = 'P'"
    for queue, expected in (("P", None), ("Q", None), ("R", "refused")):
        q.call("set_quarantine", "site", queue, None, "it burns")
        assert q.value(state) == expected
    q.call("lift_quarantine", "site", "P", None)
    assert q.value(state) is None


def test_the_name_of_a_panda_site_refuses_none_of_its_queues(q: Calls) -> None:
    world.load(q.connection, [{"queues": {"Q": {"panda_site": "P"}}}])
    q.insert(1)
    q.call("set_quarantine", "site", "P", None, "it burns")
    assert q.rows("select site, refused, state from monitor.quarantine_by_site") == [("P", 1, None)]
    assert q.take(Site="Q").job_id == 1
