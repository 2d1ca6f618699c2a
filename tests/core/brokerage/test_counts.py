"""Statistics that brokerage reads: loaded statistics plus the jobs of this database."""

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from broker import world

Db = psycopg.Connection[Any]
Row = dict[str, Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FLAVOURS = ["documented", "panda2026"]
SHARE = "User Analysis"


def rows(lab: Db, query: str, given: Any = None) -> list[Row]:
    with lab.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query, given).fetchall()


def value(lab: Db, query: str) -> Any:
    [(one,)] = lab.execute(query).fetchall()
    return one


def ago(hours: float) -> str:
    return (NOW - timedelta(hours=hours)).isoformat()


def jobs(*kinds: tuple[int, Row], first: int = 1) -> list[Row]:
    """A number of jobs of each kind, of user ann at queue Q."""
    made: list[Row] = []
    for count, fields in kinds:
        for _ in range(count):
            of_ann = {"queue": "Q", "gshare": SHARE, "label": "user", "user": "ann", "cores": 2}
            made.append({"id": first + len(made), **of_ann, "created": ago(1), **fields})
    return made


def load(lab: Db, **sections: Any) -> None:
    """The setup w: queues Q and R, task 1 of ann, task 2 of ann in the group phys, and the sections."""
    task = {"label": "user", "gshare": SHARE, "user": "ann", "status": "ready"}
    given: Row = {"setup": "w", "now": NOW.isoformat(), "queues": {"Q": {}, "R": {}}}
    given["tasks"] = [{**task, "id": 1}, {**task, "id": 2, "working_group": "phys"}]
    world.load(lab, [{**given, **sections}])


def task_facts(lab: Db, base_profile: str = "documented") -> dict[int, Row]:
    query = "select * from brokerage.facts_of_analysis('w', '{1,2}', %s)"
    return {row["task_id"]: row for row in rows(lab, query, [base_profile])}


def queue_facts(lab: Db) -> dict[str, Row]:
    query = "select * from brokerage.facts_of_queues('w')"
    return {row["queue"]: row for row in rows(lab, query)}


def pairs(lab: Db, base_profile: str = "documented") -> dict[tuple[int, str], Row]:
    query = """
        select p.*, (a.tasks[p.task_number]).task_id, (b.queues[p.queue_number]).queue
          from (select array_agg(f) as tasks
                  from brokerage.facts_of_tasks('w', '{1,2}', %(base_profile)s, 'analysis_job') f) a
         cross join (select array_agg(f) as queues from brokerage.facts_of_queues('w', true) f) b
         cross join brokerage.facts_by_subject('w', 'analysis_job', a.tasks, b.queues, %(base_profile)s) s
         cross join brokerage.facts_of_analysis_pairs(s, a.tasks, b.queues) p"""
    return {(row["task_id"], row["queue"]): row for row in rows(lab, query, {"base_profile": base_profile})}


def move(lab: Db, ids: Sequence[int], before: str, after: str) -> None:
    lab.execute("select workload.change_status('w', %s, %s, %s, 'test')", [list(ids), before, after])


ACCOUNT = ["running_jobs", "queued_jobs", "running_cores", "queued_cores"]


@pytest.mark.parametrize("base_profile", FLAVOURS)
def test_jobs_of_users_and_groups_add_to_accounts(lab: Db, base_profile: str) -> None:
    """A user has jobs of groups only until they are activated. A group has the jobs of all its users."""
    phys = {"working_group": "phys"}
    counted = {"running_jobs": 10, "queued_jobs": 20, "running_cores": 30, "queued_cores": 40}
    load(lab, users={"ann": counted}, jobs=jobs(
        (1, {"status": "running"}), (2, {"status": "starting", "label": "panda"}), (3, {"status": "throttled"}),
        (4, {"status": "defined", "cores": None, **phys}), (5, {"status": "running", **phys}),
        (6, {"status": "activated", "user": "bob", **phys}), (7, {"status": "running", "label": "managed"}),
        (8, {"status": "holding"}), (9, {"status": "finished", "ended": ago(0.5)}), (1, {"status": "pending"}),
    ))  # fmt: skip
    facts = task_facts(lab, base_profile)
    assert [facts[1][f"account_{name}"] for name in ACCOUNT] == [11, 29, 32, 54]
    assert [facts[2][f"account_{name}"] for name in ACCOUNT] == [5, 10, 10, 16]
    move(lab, [1], "running", "finished")
    assert task_facts(lab, base_profile)[1]["account_running_jobs"] == 10


def test_loaded_jobs_add_to_the_job_counts_of_users_at_queues(lab: Db) -> None:
    """Activated, starting and running jobs of the task's label; users with jobs here are listed like those loaded."""
    load(
        lab,
        user_queue_statistics={
            "Q": {SHARE: {"ann": {"queued": 10, "running": 20}, "zero": {"queued": 0, "running": 0}}},
            "R": {SHARE: {"_total": {"queued": 100, "running": 200}, "ann": {"queued": 1, "running": 2}}},
        },
        jobs=jobs(
            (1, {"status": "running"}), (2, {"status": "starting"}), (3, {"status": "activated"}),
            (4, {"status": "defined"}), (5, {"status": "running", "processing_type": "pmerge"}),
            (6, {"status": "running", "label": "panda"}), (7, {"status": "running", "gshare": "Express"}),
            (1, {"status": "running", "user": "bob"}), (1, {"status": "holding", "user": "eve"}),
            (3, {"status": "running", "queue": "R", "user": "bob"}), (4, {"status": "activated", "queue": "R"}),
        ),
    )  # fmt: skip
    here, there = (pairs(lab)[1, queue] for queue in "QR")
    assert (here["user_queued"], here["user_running"]) == (15, 21)
    assert (here["users"], here["users_running"]) == (3, 22)  # ann, zero, bob
    assert (there["user_queued"], there["user_running"]) == (5, 2)
    assert (there["users"], there["users_running"]) == (2, 203)  # bob counts in the total, too
    assert pairs(lab, "panda2026")[1, "Q"]["users"] == 4


@pytest.mark.parametrize("base_profile", FLAVOURS)
def test_labels_of_a_share_have_separate_counts_but_a_common_load(lab: Db, base_profile: str) -> None:
    """Tasks of one run: users and starts are counted by share and label, the load by share."""
    task = {"gshare": SHARE, "user": "ann", "status": "ready"}
    load(
        lab, tasks=[{**task, "id": 1, "label": "user"}, {**task, "id": 2, "label": "panda"}],
        user_queue_statistics={"Q": {SHARE: {"ann": {"queued": 10, "running": 20}}}}, to_running_rate={"Q": {SHARE: 3}},
        jobs=jobs((2, {"status": "running"}), (5, {"status": "running", "label": "panda", "user": "bob"})),
    )  # fmt: skip
    found = pairs(lab, base_profile)
    user, panda = found[1, "Q"], found[2, "Q"]
    more = int(base_profile == "panda2026")
    assert [(one["user_queued"], one["user_running"]) for one in (user, panda)] == [(10, 22), (10, 20)]
    assert [(one["users"], one["users_running"]) for one in (user, panda)] == [(1 + more, 22), (2 + more, 25)]
    assert user["to_running_rate"] == panda["to_running_rate"] == 3
    assert user["running"] == panda["running"] == 7


def test_users_without_jobs_left_are_not_listed(lab: Db) -> None:
    load(lab, jobs=jobs((2, {"status": "running"}), (1, {"status": "running", "user": "bob"})))
    before = pairs(lab)[1, "Q"]
    assert (before["users"], before["users_running"], before["user_running"]) == (2, 3, 2)
    move(lab, [1, 2], "running", "finished")
    for fold in (False, True):
        if fold:
            lab.execute("select workload.fold_counts()")
        after = pairs(lab)[1, "Q"]
        assert (after["users"], after["users_running"], after["user_running"]) == (1, 1, None)


@pytest.mark.slow
def test_jobs_that_ended_add_to_results_of_the_task(lab: Db) -> None:
    """Jobs of the last TW_DONE_JOB_STAT hours count; cancelled jobs and jobs of other tasks do not."""
    of_task = {"task": 1}
    load(
        lab,
        config={"anal_jobbroker:TW_DONE_JOB_STAT": 4},
        tasks=[{"id": 1, "label": "user", "gshare": SHARE, "failures": {"Q": {"failed": 10, "closed": 20}}}, {"id": 2}],
        jobs=jobs(
            (1, {**of_task, "status": "failed", "ended": ago(3.9)}),
            (2, {**of_task, "status": "closed", "ended": ago(1)}),
            (3, {**of_task, "status": "finished", "ended": ago(0)}),
            (4, {**of_task, "status": "failed", "ended": ago(4.1)}),
            (5, {**of_task, "status": "cancelled", "ended": ago(1)}),
            (6, {"task": 2, "status": "failed", "ended": ago(1)}),
            (7, {**of_task, "status": "finished", "ended": ago(1), "queue": "R"}),
            (2, {**of_task, "status": "running"}),
        ),
    )

    def outcomes(queue: str) -> list[int]:
        return [pairs(lab)[1, queue][name] for name in ("failed", "closed", "finished")]

    assert (outcomes("Q"), outcomes("R")) == ([11, 22, 3], [0, 0, 7])
    move(lab, [29, 30], "running", "failed")
    assert outcomes("Q") == [13, 22, 3]
    lab.execute("select workload.fold_counts()")
    assert outcomes("Q") == [13, 22, 3]


def test_starts_in_this_database_raise_the_rate_and_set_the_last_start(lab: Db) -> None:
    """A share has its part of all starts; where its rate was loaded, its own starts are added."""
    load(
        lab,
        queues={"Q": {"laststart": ago(3)}, "R": {"laststart": ago(0.5)}, "NONE": {}},
        to_running_rate={"Q": 8, "R": {SHARE: 3}},
        jobs=jobs(
            (3, {"status": "running", "started": ago(2)}),
            (1, {"status": "running", "gshare": "Express", "started": ago(5.9)}),
            (2, {"status": "finished", "started": ago(1), "ended": ago(0.1)}),
            (9, {"status": "failed", "started": ago(6.1), "ended": ago(0.1)}),
            (6, {"status": "running", "started": ago(1), "queue": "R"}),
            (6, {"status": "running", "started": ago(1), "queue": "R", "gshare": "Express"}),
        ),
    )
    facts = pairs(lab)
    assert facts[1, "Q"]["to_running_rate"] == pytest.approx((8 + 6 / 6) * 3 / 4)
    assert facts[1, "R"]["to_running_rate"] == pytest.approx(3 + 6 / 6)
    assert facts[1, "NONE"]["to_running_rate"] == 0
    starts = {name: row["laststart"] for name, row in queue_facts(lab).items()}
    assert starts == {"Q": NOW - timedelta(hours=1), "R": NOW - timedelta(hours=0.5), "NONE": None}


def test_starts_through_change_status_count_before_and_after_folding(lab: Db) -> None:
    load(lab, jobs=jobs((12, {"status": "starting"}), (12, {"status": "running"})))
    assert queue_facts(lab)["Q"]["laststart"] is None
    move(lab, range(1, 13), "starting", "running")
    for fold in (False, True):
        if fold:
            lab.execute("select workload.fold_counts()")
        assert queue_facts(lab)["Q"]["laststart"] == NOW
        assert pairs(lab)[1, "Q"]["to_running_rate"] == pytest.approx(12 / 6)
    move(lab, range(1, 13), "running", "activated")  # back again, and started again: twice
    assert value(lab, "select count(*) from workload.job where started is not null") == 0


def test_loading_jobs_again_counts_their_times_once(lab: Db) -> None:
    """The counts change by the change of the jobs' times."""
    first = jobs((4, {"task": 1, "status": "finished", "started": ago(2), "ended": ago(1)}))
    load(lab, jobs=first)
    starts = "select coalesce(sum(jobs), 0)::int from workload.job_start where setup = 'w'"
    ends = starts.replace("job_start", "job_end")
    for _ in range(2):
        assert [value(lab, query) for query in (starts, ends)] == [4, 4]
        load(lab, jobs=first)
    load(lab, jobs=[{**job, "status": "running", "ended": None, "started": ago(1.5)} for job in first])
    assert [value(lab, query) for query in (starts, ends)] == [4, 0]
    assert queue_facts(lab)["Q"]["laststart"] == NOW - timedelta(hours=1.5)


def test_requests_of_pilots_are_noted_in_the_background(lab: Db) -> None:
    """Resources whose site is a queue count as requests of the queue for three hours."""
    load(lab, queues={"Q": {"pilots": {"getjob": 1, "updatejob": 2}}, "R": {}, "NONE": {}})
    seen = "insert into taskqueue.resource_seen values ('w', md5(%s)::uuid, %s, false, %s::jsonb)"
    for place, (hours, site) in enumerate([(0.5, '"R"'), (1, '["Q", "R"]'), (2.5, '"R"'), (4, '"NONE"'), (1, '"x"')]):
        lab.execute(seen, [str(place), ago(hours), f'{{"Site": {site}}}'])
    assert value(lab, "select taskqueue.roll_up_resources('w')") == 5
    assert {name: row["pilots"] for name, row in queue_facts(lab).items()} == {"Q": 4, "R": 3, "NONE": 0}
    later = (NOW + timedelta(days=2)).isoformat()
    lab.execute("select resource.set_clock('w', %s)", [later])
    lab.execute("select taskqueue.roll_up_resources('w')")
    assert value(lab, "select count(*) from resource.pilot_request") == 0


GPU = {"gpu.count": 2, "gpu.vendor": "nvidia", "gpu.model": "A100", "gpu.ram": "40960", "gpu.runtime": "12.4"}


def test_gpus_of_pilots_are_noted_in_the_background_for_a_day(lab: Db) -> None:
    """At most the hundred of a queue that were seen last, and none that brokerage could not read."""
    load(lab, queues={"Q": {}, "R": {}})
    seen = "insert into taskqueue.resource_seen values ('w', md5(%s)::uuid, %s, false, %s::jsonb)"
    kinds: list[tuple[float, Any, Any]] = [
        (1, "Q", GPU), (2, ["Q", "R"], GPU), (3, "R", GPU | {"gpu.vendor": ["nvidia", "amd"], "gpu.model": []}),
        (4, "R", {"gpu.count": 0}), (4, "R", {"gpu.vendor": "amd"}), (4, "R", None), (4, "x", GPU), (25, "R", GPU),
        *((5 + n / 1000, "Q", GPU | {"gpu.model": f"M{n}", "gpu.ram": "1e300"}) for n in range(120)),
    ]  # fmt: skip
    for hours, site, attributes in kinds:
        resource = json.dumps({"Site": site, "Attributes": attributes})
        lab.execute(seen, [f"{hours} {resource}", ago(hours), resource])
    for _ in range(2):
        lab.execute("select taskqueue.roll_up_resources('w')")
        noted = rows(
            lab,
            """select queue, vendor, model, vram, framework_version, last_seen from resource.pilot_gpu
                               order by queue, vendor, model""",
        )
        a100 = {"vendor": "nvidia", "model": "A100", "vram": 40960, "framework_version": "12.4"}
        assert [row for row in noted if row["queue"] == "Q" and row["model"] == "A100"] == [
            {"queue": "Q", **a100, "last_seen": NOW - timedelta(hours=1)}
        ]
        assert [row for row in noted if row["queue"] == "R"] == [
            {"queue": "R", **a100, "vendor": "amd", "model": None, "last_seen": NOW - timedelta(hours=3)},
            {"queue": "R", **a100, "last_seen": NOW - timedelta(hours=2)},
            {"queue": "R", **a100, "model": None, "last_seen": NOW - timedelta(hours=3)},
        ]
        others = {row["model"]: row["vram"] for row in noted if row["queue"] == "Q" and row["model"] != "A100"}
        assert others == {f"M{n}": None for n in range(99)}
    lab.execute("select resource.set_clock('w', %s)", [(NOW + timedelta(days=2)).isoformat()])
    lab.execute("select taskqueue.roll_up_resources('w')")
    assert value(lab, "select count(*) from resource.pilot_gpu") == 0


def test_classes_read_the_counts_of_tasks_and_waiting_jobs(lab: Db) -> None:
    """A task is nearly done by its counts; jobs that neither started nor ended are waiting."""
    load(lab, users={"ann": {"rem_slots_a": 5, "rem_slots_b": 5}}, jobs=jobs(
        (9, {"task": 1, "status": "finished", "started": ago(2), "ended": ago(1)}),
        (1, {"task": 1, "status": "running", "started": ago(1)}),
        (1, {"status": "activated", "created": ago(50)}),
        (1, {"status": "activated", "created": ago(50), "started": ago(40)}),
    ))  # fmt: skip
    classes = rows(lab, "select task_id, task_class from brokerage.task_classes('w')")
    assert {row["task_id"]: row["task_class"] for row in classes} == {1: 2, 2: 1}
    assert value(lab, "select long_jobs from brokerage.site_classes('w', 'documented')") == 1


def test_waiting_jobs_are_found_by_their_index(lab: Db) -> None:
    """Most jobs have ended: the computation of classes does not read ended jobs to find the waiting ones."""
    rng = random.Random(3)
    given = jobs((3000, {"status": "finished", "ended": ago(1)}), (20, {"status": "activated"}))
    load(lab, jobs=[{**row, "queue": rng.choice("QR"), "started": row.get("ended")} for row in given])
    lab.execute("select brokerage.refresh_statistics()")
    plan = [
        line for (line,) in lab.execute("explain select * from brokerage.site_classes('w', 'documented')").fetchall()
    ]
    assert any("job_analysis" in line for line in plan), plan
