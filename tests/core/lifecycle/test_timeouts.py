"""Each timeout on both sides of its limit, its switches, and the outcome of the job, in both profiles."""

import random
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.core.lifecycle.timeouts import add, ago, job_state, lease, make, outcome, overdue, wait
from tests.core.oracle import timeouts as model
from tests.core.oracle.timeouts import Job, Queue, World

Connection = psycopg.Connection[Any]
SECOND = 1 / 3600
ENDS = {"cancel": "cancelled", "fail": "failed", "rebroker": "closed"}
IDLE, BUSY = Queue("IDLE", last_start=2 + SECOND), Queue("BUSY", last_start=2)
SLOW = Queue("SLOW", workflow="slow", transtimehi=1, transtimelo=4)
OFF, PAUSED, KEPT = (
    Queue("OFF", status="offline"),
    Queue("PAUSED", "paused"),
    Queue("KEPT", catchall="a,disableReassign"),
)
PLAIN = Queue("PLAIN", transtimehi=-1, transtimelo=0)
QUEUES = [IDLE, BUSY, SLOW, OFF, PAUSED, KEPT, PLAIN]
CONFIG = {"HEARTBEAT_TIMEOUT_slow": 6.0, "HEARTBEAT_TIMEOUT_analysis": 5.0, "ANALY_TIMEOUT_swift": 2.0}

# rule, action, the age that counts, its limit in hours, and the job
Case = tuple[str, str, str, float, dict[str, Any]]
DOC: list[Case] = [
    ("pending", "cancel", "created", 1, {"status": "pending"}),
    ("defined", "rebroker", "modified", 4, {"status": "defined"}),
    ("assigned", "rebroker", "modified", 12, {"status": "assigned"}),
    ("throttled", "cancel", "created", 168, {"status": "throttled"}),
    ("activated", "rebroker", "modified", 48, {"status": "activated"}),
    ("starting", "rebroker", "state_changed", 48, {"status": "starting"}),
    ("inactive-highprio", "rebroker", "modified", 4, {"status": "activated", "priority": 800, "queue": IDLE}),
    ("inactive-highprio", "rebroker", "state_changed", 4, {"status": "starting", "priority": 800, "queue": IDLE}),
    ("sent", "fail", "modified", 0.5, {"status": "sent"}),
    ("running", "fail", "state_changed", 504, {"status": "running"}),
    ("heartbeat", "fail", "modified", 2, {"status": "running"}),
    ("heartbeat", "fail", "modified", 2, {"status": "starting"}),
    ("heartbeat", "fail", "modified", 6, {"status": "running", "queue": SLOW}),
    ("heartbeat", "fail", "modified", 6, {"status": "running", "workflow": "slow"}),
    ("heartbeat-transferring", "fail", "modified", 6, {"status": "transferring", "sub_status": "x", "queue": SLOW}),
    ("holding", "fail", "modified", 3, {"status": "holding", "priority": 800}),
    ("holding", "fail", "modified", 48, {"status": "holding", "priority": 799}),
    ("transferring", "fail", "modified", 24, {"status": "transferring", "priority": 800, "queue": SLOW}),
    ("transferring", "fail", "modified", 96, {"status": "transferring", "priority": 799, "queue": SLOW}),
]
MANAGED = {"label": "managed", "task": 7}
HIGH = {**MANAGED, "priority": 800, "relocation_flag": 1}
PANDA: list[Case] = [
    ("pending", "cancel", "created", 1, {"status": "pending"}),
    ("defined", "rebroker", "modified", 4, {"status": "defined", **MANAGED}),
    ("defined", "cancel", "created", 4, {"status": "defined"}),
    ("assigned", "rebroker", "modified", 12, {"status": "assigned", **MANAGED}),
    ("assigned", "cancel", "created", 168, {"status": "assigned"}),
    ("throttled", "cancel", "created", 168, {"status": "throttled"}),
    ("activated", "rebroker", "modified", 48, {"status": "activated", **MANAGED}),
    ("activated", "cancel", "created", 168, {"status": "activated"}),
    ("starting", "rebroker", "state_changed", 48, {"status": "starting", **MANAGED}),
    ("inactive-highprio", "rebroker", "modified", 4, {"status": "activated", **HIGH, "queue": IDLE}),
    ("inactive-highprio", "rebroker", "modified", 4, {"status": "activated", **HIGH, "queue": OFF}),
    ("inactive-highprio", "rebroker", "state_changed", 4, {"status": "starting", **HIGH, "queue": IDLE}),
    ("sent", "fail", "modified", 0.5, {"status": "sent"}),
    ("running", "fail", "created", 504, {"status": "holding"}),
    ("heartbeat", "fail", "modified", 2, {"status": "running"}),
    ("heartbeat", "fail", "modified", 6, {"status": "starting", "queue": SLOW}),
    ("heartbeat", "fail", "modified", 5, {"status": "running", "label": "user", "queue": SLOW}),
    ("heartbeat-transferring", "fail", "modified", 5, {"status": "transferring", "label": "user", "sub_status": "x"}),
    ("holding", "fail", "modified", 3, {"status": "holding", "priority": 801}),
    ("holding", "fail", "modified", 3, {"status": "holding", "label": "user", "state_changed": 9}),
    ("holding", "fail", "modified", 48, {"status": "holding", "priority": 800}),
    ("transferring", "fail", "modified", 24, {"status": "transferring", "priority": 800, "queue": SLOW}),
    ("transferring", "fail", "modified", 96, {"status": "transferring", "priority": 799, "queue": SLOW}),
    ("analysis-rebroker", "rebroker", "activated", 12, {"status": "activated", "label": "user", "state_changed": 9}),
    ("analysis-rebroker", "rebroker", "created", 2,
     {"status": "assigned", "label": "user", "state_changed": 9, "group": "swift"}),
    ("analysis-rebroker", "rebroker", "created", 3, {"status": "defined", "label": "user", "task": 1, "queue": OFF}),
    ("analysis-old", "cancel", "modified", 168, {"status": "throttled", "label": "test"}),
]  # fmt: skip
PROFILES = {"documented": (DOC, model.doc), "panda2026": (PANDA, model.panda2026)}


@pytest.mark.parametrize("profile", PROFILES)
def test_each_timeout_applies_above_its_limit_and_not_at_it(rolled_back: Connection, profile: str) -> None:
    cases, _ = PROFILES[profile]
    world = World(dict(CONFIG))
    for _rule, _action, clock, limit, fields in cases:
        world.jobs += [Job(**{**fields, clock: limit}), Job(**{**fields, clock: limit + SECOND})]
    q = make(rolled_back, world, QUEUES, profile)
    at_limit, above = range(1, len(world.jobs), 2), range(2, len(world.jobs) + 1, 2)
    found = overdue(q)
    assert [found.get(number) for number in at_limit] == [None] * len(cases)
    assert [found.get(number) for number in above] == [(rule, action) for rule, action, *_ in cases]
    wanted: dict[tuple[str, str], int] = {}
    for rule, action, *_ in cases:
        wanted[rule, action] = wanted.get((rule, action), 0) + 1
    before = q.rows("select * from workload.job order by job_id")
    assert outcome(q, "watch_timeouts", True) == wanted  # a dry run touches nothing
    assert q.rows("select * from workload.job order by job_id") == before
    assert q.rows("select * from workload.job_history") == []
    assert outcome(q, "watch_timeouts") == wanted
    assert outcome(q, "watch_timeouts") == {}
    for number, (rule, action, *_) in zip(above, cases, strict=True):
        assert job_state(q, number) == (ENDS[action], "rebrokered" if action == "rebroker" else rule)
    for number in at_limit:
        job = world.jobs[number - 1]
        assert job_state(q, number) == (job.status, job.sub_status)
    whys = q.rows("select job_id, why from workload.job_history order by job_id")
    assert [(number, why.split(":")[0]) for number, why in whys] == [
        (number, rule) for number, (rule, *_) in zip(above, cases, strict=True)
    ]
    assert q.rows("select * from workload.count_difference") == []
    tested = {(rule, action) for rule, action, *_ in cases}
    assert tested == set(q.rows("select distinct rule, action from lifecycle.timeout_rule where profile = %s", profile))


def test_a_time_of_a_queue_that_means_never_stops_no_other_timeout(rolled_back: Connection) -> None:
    never = Queue("NEVER", transtimehi=9999999, transtimelo=9999999)
    jobs = [Job("running", never, modified=3), Job("transferring", never, modified=9999, priority=900)]
    q = make(rolled_back, World({}, jobs), [never])
    assert outcome(q, "watch_timeouts") == {("heartbeat", "fail"): 1}


def test_a_timeout_cancels_a_job_whose_agent_is_asked_to_stop(rolled_back: Connection) -> None:
    job = Job("starting", IDLE, priority=800, state_changed=4 + SECOND, modified=4 + SECOND, reported=1)
    q = make(rolled_back, World({}, [job]), QUEUES)
    q.rows("update taskqueue.lease set state = 'starting', kill_reason = 'not wanted' returning 1")
    assert outcome(q, "watch_timeouts") == {("inactive-highprio", "cancel"): 1}
    assert job_state(q, 1) == ("cancelled", "inactive-highprio")


@pytest.mark.parametrize("profile", PROFILES)
def test_the_page_lists_the_timeouts_of_each_profile(rolled_back: Connection, profile: str) -> None:
    page = (Path(__file__).parents[3] / "sql" / "lifecycle" / "timeout" / "README.md").read_text(encoding="utf-8")
    section = page.partition(f"## Profile {profile}\n")[2].partition("\n## ")[0]
    entries = [
        " ".join(entry.split()).replace("\\<", "<") for entry in re.findall(r"^- .*\n(?: .*\n)*", section, re.MULTILINE)
    ]
    rows = rolled_back.execute(
        "select format('- %%s `%%s` %%s: %%s', position, rule, action, description),"
        "       array_to_string(skipped_at, ', ') from lifecycle.timeout_rule where profile = %s order by position",
        [profile],
    ).fetchall()
    if profile == "documented":  # the page names the skipped states once, above the list
        assert {skipped for _, skipped in rows} == {"paused, disableReassign"}
        assert entries == [text for text, _ in rows]
    else:
        assert entries == [text + (f" [{skipped}]" if skipped else "") for text, skipped in rows]


SWITCHES: dict[str, list[dict[str, Any]]] = {
    "documented": [
        {"status": "activated", "modified": 99, "queue": PAUSED},
        {"status": "running", "modified": 99, "created": 999, "queue": KEPT},
        {"status": "sent", "modified": 99, "queue": KEPT},
        {"status": "activated", "priority": 800, "modified": 9, "queue": BUSY},
        {"status": "activated", "priority": 800, "modified": 9, "queue": OFF},  # its last start is not known
        {"status": "activated", "priority": 799, "modified": 9, "queue": IDLE},
        {"status": "transferring", "modified": 999, "queue": PLAIN},
        {"status": "transferring", "modified": 999, "priority": 900, "queue": PLAIN},
        {"status": "transferring", "modified": 7, "queue": SLOW},  # no sub status
        {"status": "transferring", "modified": 999, "sub_status": "x"},  # no value is configured
        {"status": "running", "modified": 3, "workflow": "slow"},
        {"status": "pending", "created": None, "modified": 999},
        {"status": "finished", "modified": 999, "created": 9999},
    ],
    "panda2026": [
        {"status": "running", "modified": 99, "queue": PAUSED},
        {"status": "starting", "modified": 1, "state_changed": 999, **HIGH, "queue": KEPT},
        {"status": "activated", "modified": 49, **MANAGED, "relocation_flag": 2},
        {"status": "activated", "modified": 9, **HIGH, "relocation_flag": None, "queue": IDLE},
        {"status": "activated", "modified": 9, **HIGH, "processing_type": "pmerge", "queue": IDLE},
        {"status": "activated", "modified": 9, **HIGH, "task": None, "queue": IDLE},
        {"status": "activated", "modified": 9, **HIGH, "queue": BUSY},
        {"status": "defined", "modified": 9, "label": "managed", "created": 3},
        {"status": "holding", "modified": 9, "label": "user", "state_changed": 9},
        {"status": "assigned", "created": 13, "label": "user", "state_changed": 1},
        {"status": "transferring", "modified": 9, "sub_status": "x", "label": "managed"},
    ],
}


@pytest.mark.parametrize("profile", SWITCHES)
def test_switches_keep_timeouts_from_applying(rolled_back: Connection, profile: str) -> None:
    q = make(rolled_back, World(dict(CONFIG), [Job(**fields) for fields in SWITCHES[profile]]), QUEUES, profile)
    assert overdue(q) == {}


def test_paused_queues_suspend_only_the_heartbeat_timeout_in_panda2026(rolled_back: Connection) -> None:
    jobs = [
        Job("running", PAUSED, created=505),
        Job("starting", KEPT, modified=9),
        Job("running", PAUSED, "user", modified=9),
    ]
    q = make(rolled_back, World({}, jobs), QUEUES, "panda2026")
    assert [found[0] for _, found in sorted(overdue(q).items())] == ["running", "heartbeat", "heartbeat"]


EXPLAINED = 25  # only some of the random jobs, since each takes a query
AGES = [0, 0.5, 1, 2, 3, 4, 5, 6, 12, 24, 48, 96, 168, 504]


def anything(chance: random.Random) -> World:
    """A world of jobs whose ages are at limits, or a second off them."""

    def age(none: float = 0.0) -> float | None:
        return None if chance.random() < none else max(chance.choice(AGES) + chance.choice([-1, 0, 1]) * SECOND, 0)

    jobs = [
        Job(
            chance.choice([*model.ACTIVE, *model.EARLY]),
            chance.choice([None, *QUEUES]),
            chance.choice([None, "managed", "test", "user", "panda"]),
            chance.choice([None, 0, 799, 800, 801]),
            chance.choice([None, "x"]),
            chance.choice([None, 1, 2, 3, 4]),
            chance.choice([None, "pmerge"]),
            chance.choice([None, 1, 2]),
            chance.choice([None, "slow", "fast"]),
            chance.choice([None, "swift", "other"]),
            age(0.1),
            age(0.1),
            age(0.1),
            age(0.5),
        )
        for _ in range(150)
    ]
    given = ["HEARTBEAT_TIMEOUT_fast", "HEARTBEAT_TIMEOUT_production", "ANALY_TIMEOUT", "TIMEOUT_defined"]
    given += ["TIMEOUT_holding", *CONFIG]
    return World({key: float(chance.choice(AGES[1:])) for key in given if chance.random() < 0.5}, jobs)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("seed", range(2))
def test_random_jobs_time_out_as_the_model_says_and_are_explained_so(
    rolled_back: Connection, profile: str, seed: int
) -> None:
    chance = random.Random(f"{profile} {seed}")
    world = anything(chance)
    q = make(rolled_back, world, QUEUES, profile)
    wanted = {number: PROFILES[profile][1](job, world) for number, job in enumerate(world.jobs, 1)}
    assert overdue(q) == {number: applied for number, applied in wanted.items() if applied}
    applied = q.rows(
        "select j, e.rule, e.action, count(*) from generate_series(1, %s) j"
        " cross join lateral lifecycle.explain_timeouts('default', j) e where e.verdict = 'applies' group by 1, 2, 3",
        EXPLAINED,
    )
    assert sorted(applied) == [(n, *found, 1) for n, found in sorted(wanted.items()) if found and n <= EXPLAINED]


def test_the_explanation_says_when_a_rule_would_apply(rolled_back: Connection) -> None:
    jobs = [Job("activated", IDLE, priority=900, modified=3), Job("activated", PAUSED, modified=99), Job("finished")]
    q = make(rolled_back, World({}, jobs), QUEUES)
    rows = q.rows(
        "select rule, verdict, due_at, why from lifecycle.explain_timeouts('default', 1) where verdict <> 'never'"
    )
    assert rows == [
        ("activated", "waits", ago(3 - 48), "activated, last heard of 03:00:00 ago, not above 2 days (fixed)"),
        ("inactive-highprio", "waits", ago(3 - 4), "activated, last heard of 03:00:00 ago, not above 04:00:00 (fixed)"),
    ]
    assert q.rows("select why from lifecycle.explain_timeouts('default', 2) where rule = 'activated'") == [
        ("queue PAUSED is paused: the timeout does not apply there",)
    ]
    assert q.rows("select distinct why from lifecycle.explain_timeouts('default', 3)") == [
        ("the job has ended: finished",)
    ]
    assert q.refusal(lambda: q.rows("select * from lifecycle.explain_timeouts('default', 4)"))[0] == "PB004"


OWN = {"position": 45, "statuses": ["activated"], "clock": "waiting", "constant": "6 hours", "action": "rebroker"}


def set_timeout(db: Connection, name: str, changes: Any) -> None:
    """Add a timeout to the setup, or change an existing one."""
    db.execute("select lifecycle.set_timeout('default', %s, %s)", [name, Jsonb(changes)])


def test_a_user_defined_timeout_decides_and_explains(rolled_back: Connection) -> None:
    jobs = [Job("activated", IDLE, created=7), Job("activated", BUSY, created=7), Job("activated", IDLE, created=5)]
    q = make(rolled_back, World({}, jobs), QUEUES)
    rolled_back.execute(
        "create schema acme;"
        "create function acme.many_cores(f lifecycle.timeout_facts) returns text language sql stable return"
        "  case when (f.cores >= 8) is not true then format('%s cores', coalesce(f.cores, 1)) end;"
        "grant usage on schema acme to public"
    )
    set_timeout(rolled_back, "late", {**OWN, "conditions": ["lifecycle.condition_idle"]})
    assert overdue(q) == {1: ("late", "rebroker")}
    why = "select verdict, why from lifecycle.explain_timeouts('default', %s) where rule = 'late'"
    assert q.rows(why, 2) == [("never", "the last job of queue BUSY started 02:00:00 ago")]
    assert q.rows(why, 3) == [("waits", "activated, activated or created 05:00:00 ago, not above 06:00:00 (fixed)")]
    set_timeout(rolled_back, "late", {"conditions": ["lifecycle.condition_idle", "acme.many_cores"]})
    assert overdue(q) == {}
    assert q.rows(why, 1) == [("never", "1 cores")]
    q.rows("update workload.job set cores = 8 where job_id = 1 returning 1")
    assert outcome(q, "watch_timeouts", True) == {("late", "rebroker"): 1}
    assert outcome(q, "watch_timeouts") == {("late", "rebroker"): 1}
    assert job_state(q, 1) == ("closed", "rebrokered")
    q.rows(
        "select resource.set_config('default', 'job_timeout:ACME_LATE', '4', p_app => 'pandaserver', p_force => true)"
    )
    set_timeout(rolled_back, "late", {"key": "job_timeout:ACME_LATE", "conditions": [], "action": "cancel"})
    assert overdue(q) == {2: ("late", "cancel"), 3: ("late", "cancel")}
    assert q.rows("select position, own from lifecycle.timeout_in_force where rule = 'late'") == [(45, True)]
    assert q.value("select lifecycle.remove_timeout('default', 'late')") is True
    assert overdue(q) == {}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("activated", OWN, "timeout activated comes with the program"),
        ("Late", OWN, 'invalid value "Late" for setting rule'),
        ("late", {**OWN, "position": 50}, "invalid value 50 for setting position"),
        ("late", {**OWN, "statuses": ["finished"]}, 'invalid value ["finished"] for setting statuses'),
        ("late", {**OWN, "constant": 0}, "invalid value 0 for setting constant"),
        ("late", {**OWN, "labels": []}, "invalid value [] for setting labels"),
        ("late", {**OWN, "limit": "1 h"}, 'setting limit is not known (its value is "1 h")'),
        ("late", {**OWN, "constant": None}, "timeout late is not with a key, a constant or both"),
        ("late", {"position": 45}, "timeout late has no statuses"),
        ("late", {**OWN, "conditions": ["acme.none"]}, "timeout late: 'acme.none' is not a condition"),
        ("late", {**OWN, "conditions": ["lower"]}, "timeout late: 'lower' is not a condition"),
        ("late", {**OWN, "conditions": ["a b; c"]}, "timeout late: 'a b; c' is not a condition"),
        ("late", {**OWN, "position": 46}, "timeout late is at position 46, as another timeout"),
    ],
)
def test_wrong_timeouts_are_refused(rolled_back: Connection, name: str, changes: Any, message: str) -> None:
    q = make(rolled_back, World(), QUEUES)
    set_timeout(rolled_back, "other", {**OWN, "position": 46})
    with pytest.raises(psycopg.Error) as caught, rolled_back.transaction():
        set_timeout(rolled_back, name, changes)
    assert (caught.value.sqlstate, caught.value.diag.message_primary) == ("PB001", message)
    assert caught.value.diag.message_hint
    assert q.rows("select rule from lifecycle.own_timeout") == [("other",)]


def test_a_timeout_also_ends_the_job_in_its_task_queue_or_lease(rolled_back: Connection) -> None:
    jobs = [Job("activated", modified=49), Job("running", modified=9), Job("running", modified=9, reported=1)]
    q = make(rolled_back, World(), QUEUES)
    add(q, jobs)
    wait(q, 1)
    lease(q, 2, "running", reported_at=ago(3))
    assert overdue(q) == {1: ("activated", "rebroker"), 2: ("heartbeat", "fail")}  # 3 was heard of an hour ago
    assert outcome(q, "watch_timeouts") == {("activated", "rebroker"): 1, ("heartbeat", "fail"): 1}
    assert [q.state(1), q.state(2), q.state(3)] == ["ended", "ended", "leased"]
    assert [job_state(q, n)[0] for n in (1, 2, 3)] == ["closed", "failed", "running"]
    q.rows("update taskqueue.lease set kill_reason = 'no longer wanted', reported_at = %s returning 1", ago(3))
    assert outcome(q, "watch_timeouts") == {("heartbeat", "cancel"): 1}
    assert q.inconsistencies() == []
    assert q.rows("select * from workload.count_difference") == []


def test_sent_jobs_go_back_and_fail_after_three_losses(rolled_back: Connection) -> None:
    q = make(rolled_back, World(), QUEUES)
    add(q, [Job("sent"), Job("sent", PAUSED)])
    for number in (1, 2):
        lease(q, number, "matched", matched_at=ago(0.6), expires_at=ago(0.1))
    why = "select rule, action, verdict from lifecycle.explain_timeouts('default', %s) where verdict <> 'never'"
    assert q.rows(why, 1) == [("sent", "return", "applies")]
    assert q.rows(why, 2) == []
    assert outcome(q, "watch_timeouts") == {}
    assert outcome(q, "expire_leases") == {("sent", "return"): 1}
    assert (job_state(q, 1)[0], q.state(1), q.state(2)) == ("activated", "waiting", "leased")
    for action in ("return", "fail"):
        assert q.take(Site="S1").job_id == 1
        q.rows(
            "update taskqueue.lease set matched_at = %s, expires_at = %s where job_id = 1 returning 1", ago(1), ago(0.1)
        )
        assert q.rows(why, 1) == [("sent", action, "applies")]
        assert outcome(q, "expire_leases") == {("sent", action): 1}
    assert job_state(q, 1) == ("failed", "sent")
    q.rows("select lifecycle.set_settings('default', '{\"timeouts\": \"panda2026\"}')")
    assert outcome(q, "expire_leases") == {("sent", "return"): 1}  # in panda2026 a paused queue is no exception


def test_one_call_changes_at_most_the_given_number_of_jobs(rolled_back: Connection) -> None:
    q = make(rolled_back, World(jobs=[Job("pending", created=2)] * 5 + [Job("defined", modified=5)] * 5), QUEUES)
    assert outcome(q, "watch_timeouts", True, 2) == {("pending", "cancel"): 2, ("defined", "rebroker"): 2}
    assert outcome(q, "watch_timeouts", False, 2) == {("pending", "cancel"): 2, ("defined", "rebroker"): 2}
    assert sorted(overdue(q)) == [3, 4, 5, 8, 9, 10]
    q.rows("select lifecycle.set_settings('default', '{\"most\": 1}')")
    assert sum(outcome(q, "watch_timeouts").values()) == 2
    assert q.refusal(lambda: outcome(q, "watch_timeouts", False, 0))[0] == "PB001"


@pytest.mark.parametrize("settings", ['{"timeouts": "x"}', '{"most": 0}', '{"jobs_kept": "0 days"}', '{"x": 1}', "[]"])
def test_wrong_settings_are_refused(rolled_back: Connection, settings: str) -> None:
    q = make(rolled_back, World(), [])
    assert q.refusal(lambda: q.rows("select lifecycle.set_settings('default', %s::jsonb)", settings))[0] == "PB001"
