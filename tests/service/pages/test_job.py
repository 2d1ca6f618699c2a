"""The page of a job: where it failed, its path through states, and its events, the newest first."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

from broker.service.pages import job
from tests.calls import Calls
from tests.service.conftest import SETUP
from tests.service.pages.conftest import BASE, HOSTILE, Look, Tab, faults

BEGIN = datetime(2026, 3, 28, 9, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


def event(word: str, minutes: int, attempt: int, **more: Any) -> dict[str, Any]:
    names = ("site", "grid_ce", "host", "subject", "error_class", "error_text", "cpu_used", "wall_used", "ram_used",
             "cores_used", "retry_rule", "passive_rule", "why")  # fmt: skip
    return {"event": word, "at": at(minutes), "attempt_number": attempt} | dict.fromkeys(names) | more


EVENTS = [
    event("matched", 1, 1, site="A"), event("expired", 21, 1, site="A"),
    event("matched", 30, 2, site="B"), event("running", 31, 2, site="B"),
    event("failed", 35, 2, site="B", host="n1", error_class="payload", error_text="exit 65", cpu_used=3.0,
          ram_used=9.0),
]  # fmt: skip
JOB = {"status": "failed", "site": "B", "created_at": at(0)}


def test_a_path_has_the_states_of_the_last_attempt_with_their_times() -> None:
    steps = job.path(JOB, EVENTS, [], has_ended=True)
    assert [(step["word"], step["note"], step["mark"]) for step in steps] == [
        ("inserted", "for 30 min", ""), ("matched", "for 60 s", ""), ("running", "for 4 min", ""),
        ("failed", "", "bad"),
    ]  # fmt: skip
    waits = job.path(JOB, EVENTS[:2], [], has_ended=False)
    assert [(step["word"], step["mark"]) for step in waits] == [
        ("inserted", ""), ("matched", ""), ("waits again", "now"),
    ]  # fmt: skip
    history = [{"at": at(n), "before": f"s{n}" if n else None, "after": f"s{n + 1}"} for n in range(20)]
    steps = job.path(JOB | {"created_at": at(0)}, EVENTS, history, has_ended=False)
    assert [step["word"] for step in steps] == ["s1", *(f"s{n}" for n in range(15, 21))]


def test_a_failure_says_where_and_after_how_long_and_whether_the_site_fails_others() -> None:
    alerts: list[dict[str, Any]] = [{"site": None, "summary": "x"}, {"site": "B", "summary": "93 % fail"}]
    found = job.failure(JOB, EVENTS, alerts)
    assert found == {
        "attempt": 2, "site": "B", "after": timedelta(minutes=4), "error": "payload: exit 65", "host": "n1",
        "alert": alerts[1],
    }  # fmt: skip
    assert job.failure(JOB | {"status": "finished"}, EVENTS, alerts) is None
    assert job.failure(JOB | {"site": None}, [], alerts) == {
        "attempt": None, "site": None, "after": None, "error": "", "host": None, "alert": None,
    }  # fmt: skip


def test_a_timeline_begins_with_the_newest_event() -> None:
    found = job.timeline(EVENTS, [{"at": at(40), "before": "running", "after": "held", "why": None, "role": "x"}])
    assert [(one["title"], one["mark"]) for one in found] == [
        ("Held", "hold"), ("Failed", "bad"), ("Running", "run"), ("Matched", "run"), ("Lease expired", "warn"),
        ("Matched", "run"),
    ]  # fmt: skip
    assert found[1]["words"] == "attempt 2; host n1; used CPU time 3 s, memory 9 MB"
    same = job.timeline([event("running", 1, 1), event("matched", 1, 1)], [])
    assert [one["title"] for one in same] == ["Running", "Matched"]


def test_the_page_of_a_failed_job_shows_its_error_as_text(look: Look, filled: Calls, tab: Tab) -> None:
    [(failed, site)] = filled.rows(
        "select job_id, site from monitor.job_event where setup = %s and event = 'failed' limit 1", SETUP
    )
    page = look(f"/jobs/{failed}").text
    verdict = re.search(r'<section class="card verdict bad">(.*?)</section>', page, re.DOTALL)
    assert verdict is not None
    words = unescape(re.sub(r"<[^>]*>", "", verdict[1]))
    assert f"Attempt 1 failed at {site} after " in words and f"{HOSTILE} failed" in words
    assert "<script>alert" not in page
    assert re.findall(r'<li class="(\w+)"><time', page)[0] == "bad"
    assert "used CPU time 5 s, memory 9 MB" in page
    for width in (360, 1920):
        shown = tab(width)
        shown.goto(f"{BASE}/jobs/{failed}")
        assert faults(shown) == []


def test_a_held_job_says_so_once(look: Look, filled: Calls) -> None:
    filled.call("hold", "job", "6000000001")
    heading = re.search(r"<h1>Job 6000000001 (.*?)</h1>", look("/jobs/6000000001").text, re.DOTALL)
    assert heading is not None and heading[1].count("badge hold") == 1
