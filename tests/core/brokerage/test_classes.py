"""Classes of queues, users and tasks (classes.md, Classes of queues): against a model, and at their limits."""

import math
import random
import statistics
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import scipy.stats

from broker import world

Db = psycopg.Connection[Any]
Row = dict[str, Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FLAVOURS = ["documented", "panda2026"]
CRITICAL = {0.5: 41.136, 1: 6.31375, 1.5: 3.70518, 2: 2.91999, 5: 2.01505, 10: 1.81246, 30: 1.69726, 120: 1.65765}
"""Upper 5 percent points of Student's t, as printed tables have them."""


def bound(freedom: float) -> float:
    """The upper 5 percent point of Student's t."""
    return float(scipy.stats.t.isf(0.05, freedom))


# The expansion of the point in 1 / freedom around z, the point of the normal distribution (Abramowitz and Stegun,
# 26.7.5): the divisor of each order, and the factors by the power of z.
EXPANSION: list[tuple[int, dict[int, int]]] = [
    (1, {1: 1}), (4, {3: 1, 1: 1}), (96, {5: 5, 3: 16, 1: 3}), (384, {7: 3, 5: 19, 3: 17, 1: -15}),
    (92160, {9: 79, 7: 776, 5: 1482, 3: -1920, 1: -945}),
]  # fmt: skip


def test_the_bound_of_students_t_is_that_of_the_tables(lab: Db) -> None:
    query = "select brokerage.student_t_bound(%s)"

    def found(freedom: float) -> float:
        return float(lab.execute(query, [freedom]).fetchall()[0][0])

    for freedom, value in CRITICAL.items():
        assert found(freedom) == pytest.approx(value, rel=1e-5)
    for freedom in (0.3, 0.7, 1.2, 2.6, 3.9, 7.7, 19, 41.5, 59.99, 60.01, 75, 400):
        assert found(freedom) == pytest.approx(bound(freedom), rel=1e-9), freedom
    z = statistics.NormalDist().inv_cdf(0.95)
    for freedom in (60, 90):
        terms = [
            sum(factor * z**power for power, factor in factors.items()) / divisor / freedom**order
            for order, (divisor, factors) in enumerate(EXPANSION)
        ]
        assert found(freedom) == pytest.approx(sum(terms), rel=1e-14)
    assert found(1e9) == pytest.approx(statistics.NormalDist().inv_cdf(0.95), rel=1e-8)
    assert found(0.01) == pytest.approx(bound(0.01), rel=1e-9)
    assert found(0.001) == math.inf


def ago(hours: float) -> str:
    return (NOW - timedelta(hours=hours)).isoformat()


def job(number: int, queue: str, wait: float, age: float, **fields: Any) -> Row:
    """A job of User Analysis that started `age` hours ago, after `wait` hours."""
    times = {"created": ago(age + wait), "started": ago(age)}
    of_share = {"gshare": "User Analysis", "label": "user", "user": "ann", "status": "finished"}
    return {"id": number, "queue": queue, **of_share, **times, **fields}


def waiting(number: int, queue: str, since: float, **fields: Any) -> Row:
    return {**job(number, queue, 0, since), "started": None, "status": "activated", **fields}


def quantile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    low = math.floor(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def model(jobs: list[Row], queues: Row, base_profile: str) -> dict[str, int]:
    """Classes of queues, as classes.md, Classes of queues, describes them."""
    half = 6 if base_profile == "documented" else 12

    def since(row: Row, field: str) -> float:
        return (NOW - datetime.fromisoformat(row[field])).total_seconds()

    counted = [
        row
        for row in jobs
        if row["gshare"] == "User Analysis" and (base_profile == "documented" or row.get("processing_type") == "pmerge")
    ]
    found: dict[str, tuple[float, float, int]] = {}
    for queue in queues:
        ages = [
            (since(row, "activated" if row.get("activated") else "created"), since(row, "started"))
            for row in counted
            if row["queue"] == queue and row["started"]
        ]
        samples = [(waited - age, age) for waited, age in ages if waited >= age and 0 <= age < 96 * 3600]
        if len(samples) < 2:
            continue
        weights = [2 ** (-age / half / 3600) for _, age in samples]
        total = sum(weights)
        mean = sum(w * wait for w, (wait, _) in zip(weights, samples, strict=True)) / total
        spread = math.sqrt(sum(w * (wait - mean) ** 2 for w, (wait, _) in zip(weights, samples, strict=True)) / total)
        upper = min(mean + (bound(total) * spread if spread > 1e-9 * max(mean, 1) else 0), 999999)
        waits = [
            since(row, "activated" if base_profile == "documented" and row.get("activated") else "created")
            for row in counted
            if row["queue"] == queue
            and (
                row["status"] in ("activated", "sent")
                or (row["status"] == "starting" and queues[queue].get("workflow") == "push")
            )
        ]
        long = [wait for wait in waits if wait > mean]
        found[queue] = (upper, statistics.fmean(long) if long else mean, len(long))
    ranks = [max(found[q][:2]) for q in found if queues[q].get("resource_type", "GRID") == "GRID"]
    hi = max([3600, *([quantile(ranks, 0.333)] if ranks else [])])
    lo = max([10800, *([quantile(ranks, 0.667)] if ranks else [])])
    classes: dict[str, int] = {}
    for queue, (upper, mean_long, number) in found.items():
        rank = max(upper, mean_long)
        lately = any(row["queue"] == queue and row["started"] and 0 <= since(row, "started") <= 86400 for row in jobs)
        if base_profile == "documented":
            is_hi = lately and rank < hi and number < 3
        else:
            is_hi = lately and (rank <= hi or (upper <= hi and number <= 3))
        classes[queue] = 1 if is_hi else -1 if rank > lo else 0
    return classes


def random_jobs(draw: random.Random) -> tuple[list[Row], Row]:
    queues: Row = {}
    jobs: list[Row] = []
    for place in range(draw.randint(3, 7)):
        queue = f"Q{place}"
        queues[queue] = {"resource_type": draw.choice(["GRID", "GRID", "GRID", "hpc"])}
        queues[queue]["workflow"] = draw.choice(["push", "pull_ups"])
        wait = draw.choice([0.05, 0.5, 1, 2, 6, 30])
        oldest = draw.choice([2, 20, 90, 120])
        for _ in range(draw.choice([1, 2, 3, 8, 30])):
            fields: Row = {"gshare": draw.choice(["User Analysis"] * 4 + ["Group Analysis"])}
            fields["processing_type"] = draw.choice(["pmerge", "pmerge", "panda"])
            started = job(len(jobs) + 1, queue, wait * draw.choice([0, 0.5, 1, 2]), draw.uniform(0, oldest), **fields)
            if draw.random() < 0.3:
                started["activated"] = started["created"]
                started["created"] = (datetime.fromisoformat(started["created"]) - timedelta(hours=5)).isoformat()
            jobs.append(started)
        for _ in range(draw.choice([0, 0, 1, 3, 6])):
            fields = {"status": draw.choice(["activated", "sent", "starting", "defined"]), "processing_type": "pmerge"}
            jobs.append(waiting(len(jobs) + 1, queue, wait * draw.uniform(0, 3), **fields))
    return jobs, queues


def classes(db: Db, base_profile: str) -> dict[str, int]:
    rows = db.execute("select queue, site_class from brokerage.site_classes('w', %s)", [base_profile])
    return dict(rows.fetchall())


@pytest.mark.slow
@pytest.mark.parametrize("base_profile", FLAVOURS)
def test_classes_of_queues_are_those_of_the_model(lab: Db, base_profile: str) -> None:
    """Another setup has jobs at queues of the same names."""
    seen: set[int] = set()
    jobs, queues = random_jobs(random.Random(1000))
    world.load(lab, [{"now": NOW.isoformat(), "queues": queues, "jobs": jobs}], "beside")
    for number in range(40):
        jobs, queues = random_jobs(random.Random(number))
        with lab.transaction(force_rollback=True):
            world.load(lab, [{"now": NOW.isoformat(), "queues": queues, "jobs": jobs}], "w")
            expected = model(jobs, queues, base_profile)
            assert classes(lab, base_profile) == expected, number
            seen |= set(expected.values())
    assert seen == {-1, 0, 1}


def test_a_queue_is_hi_within_the_limits_of_its_profile(lab: Db) -> None:
    """An hour is hi in the code, but not in the documentation; the same holds for three jobs that wait long."""
    jobs = [job(number, "AT", 1, 2) for number in (1, 2)] + [job(number, "LONG", 0.1, 2) for number in (3, 4)]
    jobs += [waiting(number, "LONG", 2) for number in (5, 6, 7)]
    jobs += [job(number, "IDLE", 0.1, 30) for number in (8, 9)] + [job(10, "ONE", 0.1, 2)]
    jobs = [{**row, "processing_type": "pmerge"} for row in jobs]
    world.load(lab, [{"now": NOW.isoformat(), "queues": {n: {} for n in ("AT", "LONG", "IDLE", "ONE")}}], "w")
    world.load(lab, [{"jobs": jobs}], "w", merge=True)
    assert classes(lab, "documented") == {"AT": 0, "LONG": 0, "IDLE": 0}
    assert classes(lab, "panda2026") == {"AT": 1, "LONG": 1, "IDLE": 0}
    started = "insert into resource.queue_activity (setup, queue, laststart) values ('w', 'IDLE', %s)"
    lab.execute(started, [NOW - timedelta(hours=23)])
    assert classes(lab, "documented")["IDLE"] == 1


GRID: Row = {
    "now": NOW.isoformat(),
    "queues": {"HI": {"site_class": 1}, "MID": {"site_class": 0}, "LO": {"site_class": -1},
        "HPC": {"site_class": 1, "resource_type": "hpc"}, "OLD": {"site_class": 1, "site_classified": ago(1.01)},
        "NONE": {}},
}  # fmt: skip


def slots(db: Db, *sections: Row) -> Row:
    with db.transaction(force_rollback=True):
        world.load(db, [GRID, *sections], "w", merge=True)
        query = "select user_name, slots_hi, slots_mid, rem_slots_a, rem_slots_b from brokerage.user_slots('w')"
        return {user: tuple(row) for user, *row in db.execute(query).fetchall()}


def running(number: int, queue: str, user: str, cores: int | None = 8, **fields: Any) -> Row:
    return job(number, queue, 1, 1, user=user, cores=cores, **{"status": "running", **fields})


def test_slots_are_running_cores_at_hi_and_mid_sites(lab: Db) -> None:
    jobs = [
        running(1, "HI", "ann"), running(2, "MID", "ann", gshare="Express Analysis"), running(3, "MID", "ann", None),
        running(4, "LO", "ann"), running(5, "HPC", "ann"), running(6, "OLD", "ann"), running(7, "NONE", "ann"),
        running(8, "HI", "ann", gshare="Group Analysis"), running(9, "HI", "ann", label="managed"),
        running(10, "HI", "ann", processing_type="pmerge"), running(11, "HI", "ann", status="activated"),
        running(12, "HI", "bob", status="activated"), running(13, "HI", "cid", status="finished"),
        running(14, "NONE", "dan"),
    ]  # fmt: skip
    assert slots(lab, {"jobs": jobs}) == {"ann": (8, 9, 992, 9983), "bob": (0, 0, 1000, 10000)}
    elsewhere = {"HI": {"User Analysis": {"ann": {"running": 5, "running_cores": 20}, "_total": {"running": 99}}}}
    elsewhere["MID"] = {"User Analysis": {"ann": {"running": 5}}, "Group Analysis": {"ann": {"running": 7}}}
    said = slots(lab, {"jobs": jobs[:1], "user_queue_statistics": elsewhere})
    assert said == {"ann": (28, 5, 972, 9967)}


def test_jobs_of_merge_tasks_take_no_slots(lab: Db) -> None:
    """This also holds where the job itself is not marked as merging."""
    of_ann: Row = {"label": "user", "gshare": "User Analysis", "user": "ann"}
    tasks: list[Row] = [{"id": 1, "is_merging": True}, {"id": 2, "processing_type": "pmerge"}, {"id": 3}]
    jobs = [
        running(1, "HI", "ann", task=1, processing_type="panda"), running(2, "HI", "ann", task=2, processing_type=None),
        running(3, "HI", "ann", task=3, processing_type=None), running(4, "HI", "ann", task=2, processing_type="panda"),
        running(5, "MID", "ann", task=1, processing_type=None, status="activated"),
        running(6, "MID", "ann", task=1, processing_type=None, gshare="Group Analysis"),
        running(7, "MID", "ann", task=1, processing_type=None, label="managed"),
        running(8, "MID", "ann", task=1, processing_type=None, status="finished"),
        running(9, "MID", "ann", None, task=2, processing_type=None), running(10, "MID", "ann", 3, task=3),
        running(11, "HI", "bob", task=1, processing_type=None), running(12, "HI", "cid", task=3, status="activated"),
    ]  # fmt: skip
    found = slots(lab, {"tasks": [of_ann | task for task in tasks], "jobs": jobs})
    assert found == {"ann": (16, 3, 984, 9981), "cid": (0, 0, 1000, 10000)}


def test_no_slots_are_left_at_the_threshold(lab: Db) -> None:
    config = {"config": {"analy_eval:USER_USAGE_THRESHOLD_A": 8, "analy_eval:USER_USAGE_THRESHOLD_B": 12}}
    jobs = [running(1, "HI", "ann"), running(2, "MID", "ann", 7), running(3, "HI", "bob", 7)]
    assert slots(lab, config, {"jobs": jobs}) == {"ann": (8, 7, 0, 0), "bob": (7, 0, 1, 5)}


def of_task(
    db: Db, jobs: dict[str, int] | None = None, user: Row | None = None, datasets: Row | None = None, **fields: Any
) -> int | None:
    """The class of a task of User Analysis with the given jobs by status, of a user with slots left."""
    left: Row = {"rem_slots_a": 1, "rem_slots_b": 1} if user is None else user
    task: Row = {"id": 1, "label": "user", "gshare": "User Analysis", "user": "ann", "status": "running"}
    states = [status for status, number in (jobs or {}).items() for _ in range(number)]
    given: Row = {
        "now": NOW.isoformat(), "users": {"ann": left}, "tasks": [{**task, **fields}],
        "jobs": [{"id": place + 1, "task": 1, "status": status} for place, status in enumerate(states)],
        "datasets": datasets or {},
    }  # fmt: skip
    with db.transaction(force_rollback=True):
        world.load(db, [given], "w")
        rows = db.execute("select task_class from brokerage.task_classes('w')").fetchall()
        return rows[0][0] if rows else None


def test_a_task_has_the_class_of_its_user_share_and_status(lab: Db) -> None:
    a, b, c = ({"rem_slots_a": left_a, "rem_slots_b": left_b} for left_a, left_b in ((1, 0), (0, 1), (0, 0)))
    assert of_task(lab, user=a) == 1
    assert of_task(lab, user=b) == 0
    assert of_task(lab, user=c) == -1
    assert of_task(lab, user={}) is None
    assert of_task(lab, user=c, gshare="Express Analysis") == 2
    assert of_task(lab, user={}, gshare="Express Analysis") == 2
    assert of_task(lab, status="finished") is None
    assert of_task(lab, label="managed") is None
    assert of_task(lab, user={**a, "evaluated": ago(0.33)}) == 1
    assert of_task(lab, user={**a, "evaluated": ago(0.34)}) is None


@pytest.mark.slow
def test_nearly_done_tasks_are_class_s(lab: Db) -> None:
    b = {"rem_slots_a": 0, "rem_slots_b": 1}
    assert of_task(lab, {"finished": 9, "running": 1}) == 2
    assert of_task(lab, {"finished": 89, "running": 11}) == 1
    assert of_task(lab, {"finished": 90, "failed": 9, "running": 1}) == 2
    assert of_task(lab, {"finished": 95, "failed": 5}) == 1  # nothing is left
    assert of_task(lab, {"finished": 4500, "activated": 500}) == 2
    assert of_task(lab, {"finished": 5000, "activated": 501}) == 1
    assert of_task(lab, {"finished": 19, "running": 1}, b) == 2
    assert of_task(lab, {"finished": 94, "running": 6}, b) == 0
    assert of_task(lab, {"finished": 19, "running": 1}, {"rem_slots_a": 0, "rem_slots_b": 0}) == -1
    files = [{"lfn": f"f{number}", "size": 1, "nevents": 1} for number in range(20)]
    for left, expected in ((2, 2), (3, 1)):  # 18 of 20 jobs have finished, or 18 of 21
        datasets = {"in": {"files": files[:left]}}
        given: Row = {"input": ["in"], "split": {"nFilesPerJob": 1}}
        assert of_task(lab, {"finished": 18}, datasets=datasets, **given) == expected


OF_USER: Row = {"id": 1, "label": "user"}


def fact(db: Db, column: str, given: Row) -> object:
    of = (
        "facts_of_queues('w', true)"
        if column == "site_class"
        else "facts_of_tasks('w', '{1}', 'documented', 'analysis_job')"
    )
    with db.transaction(force_rollback=True):
        world.load(db, [{"now": NOW.isoformat()}, given], "w", merge=True)
        return db.execute(f"select {column} from brokerage.{of}").fetchall()[0][0]


@pytest.mark.parametrize(("column", "minutes", "given"), [
    ("site_class", 60, lambda at: {"queues": {"Q": {"site_class": 1, "site_classified": at}}}),
    ("task_class", 15, lambda at: {"tasks": [{**OF_USER, "task_class": 1, "task_classified": at}]}),
    ("rem_slots_a", 20, lambda at: {
        "tasks": [{**OF_USER, "user": "ann"}], "users": {"ann": {"rem_slots_a": 1, "evaluated": at}}}),
    ("share_usage", 15, lambda at: {
        "tasks": [{**OF_USER, "gshare": "g"}], "shares": {"g": {"target": 4, "running": 4, "measured": at}}}),
    ("share_usage_above", 15, lambda at: {
        "tasks": [OF_USER], "shares": {"L1 User Analysis": {"equivalent_usage_percent": 1, "measured": at}}}),
])  # fmt: skip
def test_old_classes_do_not_count(lab: Db, column: str, minutes: int, given: Callable[[str | None], Row]) -> None:
    assert fact(lab, column, given(ago(minutes / 60))) == 1
    assert fact(lab, column, given(ago((minutes + 0.1) / 60))) is None
    assert fact(lab, column, given(None)) == 1


BUSY: Row = {
    "now": NOW.isoformat(), "queues": {"Q": {}, "LOADED": {"site_class": -1}}, "users": {"bob": {"rem_slots_a": 5}},
    "tasks": [
        {"id": 1, "label": "user", "gshare": "User Analysis", "user": "ann", "status": "running"},
        {"id": 2, "label": "user", "gshare": "Express Analysis", "user": "cid", "status": "running"},
        {"id": 3, "label": "user", "gshare": "User Analysis", "user": "cid", "status": "running", "task_class": 0},
    ],
    "jobs": [job(1, "Q", 0.1, 2), job(2, "Q", 0.2, 2), running(3, "Q", "ann", task=1, created=ago(1.1))],
}  # fmt: skip


def test_classify_stores_known_classes_and_leaves_the_others(lab: Db) -> None:
    world.load(lab, [BUSY], "w")
    lab.execute("call brokerage.classify('w')")
    rows = lab.execute("select queue, site_class, site_classified from resource.queue_activity").fetchall()
    assert sorted(rows) == [("LOADED", -1, None), ("Q", 1, NOW)]
    rows = lab.execute("select name, rem_slots_a, rem_slots_b, evaluated from resource.account").fetchall()
    assert sorted(rows) == [("ann", 992, 9992, NOW), ("bob", 5, None, None)]
    rows = lab.execute("select task_id, task_class, task_classified from workload.task").fetchall()
    assert sorted(rows) == [(1, 1, NOW), (2, 2, NOW), (3, 0, None)]
    rows = lab.execute("select kind, name, class from brokerage.classes('w')").fetchall()
    assert rows == [("queue", "Q", "hi"), ("task", "1", "A"), ("task", "2", "S"), ("user", "ann", "A")]


def test_classify_leaves_other_setups_and_other_users(lab: Db) -> None:
    """Queues, users and tasks of the same names; those without a figure keep theirs."""
    stored = """select 1, name, rem_slots_a::text, evaluated from resource.account where setup = 'other'
                union all
                select 2, queue, site_class::text, site_classified from resource.queue_activity where setup = 'other'
                union all
                select 3, task_id::text, task_class::text, task_classified from workload.task where setup = 'other'"""
    busy = {**BUSY, "jobs": [*BUSY["jobs"], running(4, "Q", "zoe", 3, created=ago(1.1))]}
    busy["tasks"] = [*BUSY["tasks"], {**BUSY["tasks"][1], "id": 10}]
    world.load(lab, [{**BUSY, "users": {name: {"rem_slots_a": 7} for name in ("ann", "bob", "zoe")}}], "other")
    world.load(lab, [{**busy, "users": {"zoe": {"rem_slots_a": 5}, "bob": {"rem_slots_a": 6}, "ann": {}}}], "w")
    before = sorted(lab.execute(stored).fetchall())
    for _ in range(2):
        lab.execute("call brokerage.classify('w')")
        rows = lab.execute("select name, rem_slots_a from resource.account where setup = 'w'").fetchall()
        assert sorted(rows) == [("ann", 992), ("bob", 6), ("zoe", 997)]
    assert sorted(lab.execute(stored).fetchall()) == before
    rows = lab.execute("select kind, name from brokerage.classes('w')").fetchall()
    assert rows == sorted(rows) and len(rows) == 6


@pytest.mark.parametrize("profile", FLAVOURS)
def test_users_of_many_slots_are_throttled(lab: Db, profile: str) -> None:
    """The decision follows from the jobs of this database; only the usage of the share is set by hand."""
    jobs = [job(number, "Q", 0.1 * number, 2, processing_type="pmerge") for number in (1, 2)]
    jobs += [running(3, "Q", "ann", task=1, created=ago(1.1)), running(4, "Q", "bob", 3, task=2, created=ago(1.1))]
    task = {"label": "user", "gshare": "User Analysis", "status": "running", "input": ["d"]}
    given = {
        "now": NOW.isoformat(),
        "config": {"analy_eval:USER_USAGE_THRESHOLD_A": 4, "analy_eval:USER_USAGE_THRESHOLD_B": 8},
        "queues": {
            "Q": {"type": "analysis", "pilots": {"getjob": 1}, "astorages": {"read_lan": ["S"], "write_lan": ["S"]}}
        },
        "storages": {"S": {"space_free": 1000}}, "datasets": {"d": {"type": "pseudo_input", "files": [{"lfn": "a"}]}},
        "shares": {"User Analysis": {"usage_percent": 0.97, "measured": ago(0.1)}},
        "tasks": [{**task, "id": 1, "user": "ann"}, {**task, "id": 2, "user": "bob"}], "jobs": jobs,
    }  # fmt: skip
    world.load(lab, [given], "w")
    query = "call brokerage.broker_analysis('w', p_profile => %s, p_tasks_a_commit => null)"
    lab.execute("call brokerage.classify('w', %s)", [profile])
    lab.execute(query, [profile])
    query = "select task_id, status, rule, reason from monitor.task_decision where setup = 'w' order by 1"
    throttled, candidates = lab.execute(query).fetchall()
    assert throttled[:3] == (1, "throttled", "share-throttle") and "class C" in throttled[3]
    assert candidates[:2] == (2, "candidates")
    query = "select retry_at from brokerage.task_state where setup = 'w' and task_id = 1"
    [(retry,)] = lab.execute(query).fetchall()
    for view in ("brokerage.outcomes", "monitor.task_decision"):
        query = f"select retry_at from {view} where setup = 'w' and status = 'throttled'"
        assert retry is not None and lab.execute(query).fetchall() == [(retry,)]


@pytest.mark.slow
def test_classify_does_not_wait_for_rows_that_others_hold(connect: Callable[..., Db]) -> None:
    """A queue, a user and a task that another session holds keep their values; the others beside them do not."""
    holder, caller = connect(), connect()
    jobs = [job(4, "P", 0.1, 2), job(5, "P", 0.2, 2), running(6, "P", "zoe", 3, created=ago(1.1))]
    for setup in ("w", "other"):  # in which the same names are free
        world.load(holder, [{**BUSY, "queues": {"P": {}, "Q": {}}, "jobs": [*BUSY["jobs"], *jobs]}], setup)
        holder.execute("call brokerage.classify(%s)", [setup])
    query = """select queue, site_class from resource.queue_activity where setup = 'w'
               union all select name, rem_slots_a from resource.account where setup = 'w'
               union all select task_id::text, task_class from workload.task where setup = 'w'"""

    def classes_after_a_call() -> Row:
        caller.execute("call brokerage.classify('w')")
        return dict(caller.execute(query).fetchall())

    classified = {"P": 1, "Q": 1, "ann": 992, "bob": 5, "zoe": 997, "1": 1, "2": 2, "3": 0}
    assert classes_after_a_call() == classified
    holder.execute("update resource.queue_activity set site_class = 0")
    holder.execute("update resource.account set rem_slots_a = 0")
    holder.execute("update workload.task set task_class = 0")
    holder.execute("begin")
    holder.execute("select from resource.queue_activity where setup = 'w' and queue = 'Q' for update")
    holder.execute("select from resource.account where setup = 'w' and name = 'ann' for update")
    holder.execute("select from workload.task where setup = 'w' and task_id = 1 for update")
    caller.execute("set lock_timeout = '5s'")
    assert classes_after_a_call() == classified | {"Q": 0, "ann": 0, "1": 0, "bob": 0}
    holder.execute("rollback")
    assert classes_after_a_call() == classified | {"bob": 0}


@pytest.mark.slow
def test_several_sessions_may_classify_at_once(connect: Callable[..., Db]) -> None:
    callers = [connect() for _ in range(3)]
    world.load(callers[0], [BUSY], "w")
    failed: list[Exception] = []

    def classify(db: Db) -> None:
        try:
            for _ in range(20):
                db.execute("call brokerage.classify('w')")
        except Exception as error:  # the main thread reports it
            failed.append(error)

    threads = [threading.Thread(target=classify, args=[db]) for db in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert callers[0].execute("select count(*) from resource.queue_activity where queue = 'Q'").fetchall() == [(1,)]


@pytest.mark.parametrize(("setup", "profile", "named"), [("nowhere", None, "nowhere"), ("w", "dok", "dok")])
def test_classify_names_an_unknown_setup_or_profile(lab: Db, setup: str, profile: str | None, named: str) -> None:
    world.load(lab, [BUSY], "w")
    with pytest.raises(psycopg.Error, match=named) as raised, lab.transaction():
        lab.execute("call brokerage.classify(%s, %s)", [setup, profile])
    assert raised.value.sqlstate == "PB001"


@pytest.mark.slow
def test_jobs_of_other_shares_are_not_read(lab: Db) -> None:
    world.load(lab, [{"now": NOW.isoformat(), "queues": {f"Q{place}": {} for place in range(20)}}], "w")
    lab.execute(
        """insert into workload.job (setup, job_id, queue, gshare, label, user_name, status, created, started)
           select 'w', n, 'Q' || n %% 20, case n %% 50 when 0 then 'User Analysis' else 'Production' end, 'user', 'ann',
                  'running', %s::timestamptz - n * interval '1 minute', %s::timestamptz - n * interval '50 seconds'
             from generate_series(1, 50000) n""",
        [NOW, NOW],
    )
    lab.execute("analyze workload.job, resource.queue")
    for base_profile in FLAVOURS:
        query = "explain select * from brokerage.site_classes('w', %s)"
        plan = "\n".join(line for (line,) in lab.execute(query, [base_profile]).fetchall())
        assert "job_analysis" in plan and "Seq Scan on job " not in plan
    plan = "\n".join(line for (line,) in lab.execute("explain select * from brokerage.user_slots('w')").fetchall())
    assert "Seq Scan on job " not in plan
    plan = "\n".join(line for (line,) in lab.execute("explain select * from brokerage.task_classes('w')").fetchall())
    assert "Seq Scan on job " not in plan
