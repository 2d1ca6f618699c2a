"""Failures by site, host, class, error, task and job; request against use; host and errors in the views of jobs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, refused

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
PILOT = [{"source": "pilot", "code": 1305, "text": "the payload failed"}, {"source": "own", "code": 65}]
DISK = [{"source": "pilot", "code": 1098, "text": "no space"}]


def end(q: Calls, job: int, outcome: str = "failed", /, **facts: Any) -> None:
    """Insert a job, match it at a site and end it with facts: error, used, host."""
    site = facts.pop("site", "S")
    requirements = {key: facts.pop(key) for key in ("OwnerGroup", "MinRAM", "CPUTime") if key in facts}
    q.insert(job, Sites=[site], **requirements)
    lease = q.take(Site=site, JobID=job, MaxRAM=10**6, **({"HostName": facts["host"]} if "host" in facts else {}))
    error, used = facts.get("error"), facts.get("used")
    q.call("finish_job", job, lease.attempt, outcome, error and Jsonb(error), used and Jsonb(used))


def counted(q: Calls, by: str, names: str, **only: Any) -> list[tuple[Any, ...]]:
    """Columns of history.failures."""
    query = f"select {names} from history.failures(%s, null, %s, %s)"
    return [tuple(row) for row in q.rows(query, q.setup, by.split(","), Jsonb(only))]


def fill(q: Calls) -> None:
    for job in range(1, 4):
        end(q, job, host="n1", error=PILOT)
    end(q, 4, host="n2", error=DISK)
    end(q, 5, host="n1", site="T", error=[{"source": "pilot", "code": 1305, "text": "another text"}])
    end(q, 6, site="T")
    end(q, 7, "finished", host="n1", error=DISK)
    end(q, 8, "cancelled", host="n1")


def test_failures_are_counted_by_what_is_asked(q: Calls) -> None:
    fill(q)
    assert counted(q, "site", "site, host, class, source, jobs, example") == [
        ("S", None, None, None, 4, 3), ("T", None, None, None, 2, 6),
    ]  # fmt: skip
    assert counted(q, "error", "source, code, jobs, text, example") == [
        ("pilot", 1305, 4, "the payload failed", 3), (None, None, 1, None, 6), ("pilot", 1098, 1, "no space", 4),
    ]  # fmt: skip
    hosts = {row[:2]: row[2] for row in counted(q, "host", "site, host, jobs")}  # n1 of one site is not n1 of the other
    assert hosts == {("S", "n1"): 3, ("S", "n2"): 1, ("T", "n1"): 1, ("T", None): 1}
    assert counted(q, "class", "class, jobs") == q.rows(
        "select error_class, count(*) from taskqueue.history where error_class is not null group by 1 order by 2 desc"
    )
    assert counted(q, "job", "job_id, jobs", site="S", host="n2") == [(4, 1)]
    assert counted(q, "error", "code, jobs", site="T") == [(None, 1), (1305, 1)]
    assert counted(q, "site", "jobs", **{"class": "no class"}) == []


def test_texts_of_dirac_are_told_apart_by_their_meanings(q: Calls) -> None:
    texts = ["Payload failed", "Application not found", "Stalling for more than 900 sec",
             "Stalling for more than 60 sec", "Application not found", "own", "text"]  # fmt: skip
    for job, text in enumerate(texts, 1):
        end(q, job, error=[{"source": "dirac", "text": text}])
    shipped = "select meaning from taskqueue.shipped_error_of('dirac', null, %s)"
    meanings = {text: q.value(shipped, text) for text in texts[:5]}
    assert {row[0]: row[1:] for row in counted(q, "error", "meaning, jobs, example")} == {
        meanings[texts[1]]: (2, 5), meanings[texts[3]]: (2, 4), meanings[texts[0]]: (1, 1), None: (2, 7),
    }  # fmt: skip


def test_failures_of_other_setups_and_before_the_span_do_not_count(q: Calls) -> None:
    fill(q)
    q.connection.execute("update taskqueue.history set at = at - interval '2 hours' where job_id <= 2")
    query = "select sum(jobs)::int, min(looked_since) from history.failures(%s, now() - interval '1 hour')"
    assert q.rows(query, q.setup) == [(4, q.value("select now() - interval '1 hour'"))]
    assert q.rows(query, "other") == [(None, None)]


@pytest.mark.parametrize(
    ("by", "only", "words"),
    [
        (["place"], {}, ("p_by", "place")),
        (None, {}, ("p_by",)),
        (["site"], {"queue": "Q"}, ("queue", "Q")),
        (["site"], {"site": 7}, ("site is 7",)),
        (["site"], {"task": "7"}, ("task",)),
        (["site"], {"task": 1.5}, ("task is 1.5",)),
        (["site"], {"task": 10**30}, ("task",)),
        (["site"], ["S"], ("p_only",)),
    ],
)
def test_wrong_questions_are_refused(q: Calls, by: Any, only: Any, words: tuple[str, ...]) -> None:
    with refused("PB001") as caught:
        q.rows("select * from history.failures(%s, null, %s, %s)", q.setup, by, Jsonb(only))
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_number_of_rows_below_0_is_refused(q: Calls) -> None:
    with refused("PB001", "limit is -1"):
        q.rows("select * from history.failures(%s, p_limit => -1)", q.setup)


@pytest.mark.parametrize("since", ["now() + interval '1 second'", "now()", "'-infinity'", "'infinity'"])
def test_a_span_that_has_no_length_is_refused(q: Calls, since: str) -> None:
    with refused("PB001", "p_since"):
        q.rows(f"select * from history.failures(%s, {since})", q.setup)


def test_the_share_of_a_site_comes_from_the_figures(q: Calls) -> None:
    q.set_clock(NOON)
    fill(q)
    end(q, 9, "finished", site="T")
    end(q, 10, "finished", site="T")
    q.set_clock(NOON + timedelta(minutes=1))
    assert q.value("select history.sample(%s)", q.setup) is not None
    assert counted(q, "site", "site, jobs, share") == [("S", 4, 0.8), ("T", 2, 0.5)]
    [(error, share)] = counted(q, "error", "code, share", site="S", **{"class": "payload"})[:1]
    assert (error, share) == (1305, 0.6)
    assert {row[0] for row in counted(q, "host", "share")} == {None}  # no figure counts the ends of a host
    over = "select label, value from history.figure_over(%s, 'failures', %s, p_by => 'site')"
    assert q.rows(over, q.setup, NOON - timedelta(hours=1)) == [("S", 4), ("T", 2)]


def test_use_is_compared_with_the_request_by_group(q: Calls) -> None:
    for job, ram in ((1, 900), (2, 1100), (3, 4000)):
        end(q, job, "finished" if job > 1 else "failed", OwnerGroup="g", MinRAM=1000, used={"ram": ram, "cpu": 60})
    end(q, 4, OwnerGroup="h", used={"ram": 5, "wall": 7, "cores": 8})
    end(q, 5, OwnerGroup="nobody reports")
    names = "owner_group, measure, unit, jobs, request, median, most, above"
    assert q.rows(f"select {names} from monitor.use_by_group where setup = %s order by 1, 2", q.setup) == [
        ("g", "CPU time", "s", 3, 500, 60, 60, 0),
        ("g", "memory", "MB", 3, 1000, 1100, 4000, pytest.approx(2 / 3)),
        ("h", "memory", "MB", 1, None, 5, 5, None),
        ("h", "wall time", "s", 1, None, 7, 7, None),
    ]


def test_owner_and_request_are_known_after_the_end_of_the_task_queue(q: Calls) -> None:
    end(q, 1, OwnerGroup="g", MinRAM=1000, error=PILOT, used={"ram": 1500})
    owner = "select owner_dn, owner_group from monitor.failure"
    use = "select owner_group, request, above from monitor.use_by_group"
    before = q.rows(owner), q.rows(use)
    q.connection.execute("update taskqueue.definition set created_at = created_at - interval '1 day'")
    q.maintain()
    assert q.value("select count(*) from taskqueue.past_definition") == 1
    assert (q.rows(owner), q.rows(use)) == before == ([("alice", "g")], [("g", 1000, 1)])


def test_lease_event_and_failure_show_the_facts_of_a_run(q: Calls) -> None:
    q.insert(1, Sites=["S"])
    lease = q.take(Site="S", HostName="n1")
    q.call_rows("report_job", 1, lease.attempt, "running", Jsonb(PILOT), Jsonb({"cpu": 3}))
    [(meaning,)] = q.rows("select meaning from taskqueue.shipped_error_of('pilot', 1305)")
    words = f"pilot 1305: the payload failed ({meaning}); own 65"
    facts = "host, error, cpu_used, wall_used, ram_used, cores_used, error_text"
    assert q.rows(f"select {facts} from monitor.lease") == [("n1", PILOT, 3, None, None, None, words)]
    q.call("finish_job", 1, lease.attempt, "failed")
    order = "at, event <> 'matched', event <> 'running'"
    [*others, last] = q.rows(f"select event, {facts} from monitor.job_event where job_id = 1 order by {order}")
    assert [row[0] for row in others] == ["matched", "running"]
    assert {value for row in others for value in row[1:]} == {None}
    assert last == ("failed", "n1", PILOT, 3, None, None, None, words)
    assert q.rows(f"select owner_group, owner_dn, source, code, text, {facts} from monitor.failure") == [
        ("users", "alice", "pilot", 1305, "the payload failed", *last[1:])
    ]
