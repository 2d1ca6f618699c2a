"""history.sample and history.figure_over: which figures are sampled, combined into hours and days, and read."""

import json
import random
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.calls import Calls

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
At = Callable[[float], datetime]


@pytest.fixture
def at(q: Calls) -> At:
    """Set the clock of the setup: minutes after noon."""

    def to(minutes: float) -> datetime:
        moment = NOON + timedelta(minutes=minutes)
        q.set_clock(moment)
        return moment

    to(0)
    return to


def sample(q: Calls) -> int | None:
    """Do the work of the loops in a minute."""
    q.connection.execute("delete from taskqueue.summary where setup = %s", [q.setup])
    q.call("summarize_waiting")
    count: int | None = q.value("select history.sample(%s)", q.setup)
    return count


def over(q: Calls, figure: str, since: datetime, by: str | None = None, **more: Any) -> dict[tuple[datetime, str], Any]:
    """Mean by the beginning of its span, and the value of the label."""
    labels, points, until = json.dumps(more.pop("labels", {})), more.pop("points", 300), more.pop("until", None)
    assert not more
    rows = q.rows(
        "select at, label, value from history.figure_over(%s, %s, %s, %s, %s, %s, %s)",
        q.setup, figure, since, until, by, labels, points,
    )  # fmt: skip
    found = {(moment, label): value for moment, label, value in rows}
    assert len(found) == len(rows)
    return found


def test_a_sample_counts_the_jobs_that_wait_are_leased_matched_or_ended(q: Calls, at: At) -> None:
    q.settings(policy="dirac")
    for job in range(1, 6):
        q.insert(job, OwnerGroup="users", Sites=["A"])
    q.insert(6, OwnerGroup="prod", Sites=["B"])
    at(0.5)
    first, second = q.take(Site="A"), q.take(Site="A")
    q.call("report_job", first.job_id, first.attempt)
    q.call("finish_job", second.job_id, second.attempt, "failed")
    at(1.2)
    assert q.take(Site="B").job_id == 6  # of the next minute
    q.insert(7, OwnerGroup="prod", Sites=["B"])
    assert sample(q) == len(q.rows("select from history.series where setup = %s", q.setup))
    assert over(q, "jobs_waiting", NOON, "owner_group") == {(NOON, "users"): 3, (NOON, "prod"): 1}
    assert over(q, "jobs_waiting_at_site", NOON, "site") == {(NOON, "A"): 3, (NOON, "B"): 1}
    assert over(q, "leases", NOON, "state") == {(NOON, "matched"): 1, (NOON, "running"): 1}
    assert over(q, "leases_at_site", NOON, "site") == {(NOON, "A"): 1, (NOON, "B"): 1}
    assert over(q, "matches", NOON) == {(NOON, ""): 2}
    assert over(q, "matches_at_site", NOON, "site") == {(NOON, "A"): 2}
    assert over(q, "ends", NOON, "outcome") == {(NOON, "failed"): 1}
    assert over(q, "ends_at_site", NOON, "outcome", labels={"site": "A"}) == {(NOON, "failed"): 1}
    assert over(q, "group_use", NOON, "owner_group") == {(NOON, "users"): 0.5, (NOON, "prod"): 0.5}
    at(2.1)
    assert sample(q) is not None
    assert over(q, "matches_at_site", NOON, "site") == {
        (NOON, "A"): 2, (NOON, "B"): 0, (NOON + MINUTE, "A"): 0, (NOON + MINUTE, "B"): 1,
    }  # fmt: skip
    assert over(q, "oldest_wait", NOON + MINUTE) == {(NOON + MINUTE, ""): pytest.approx(126)}


def test_a_minute_is_sampled_once(q: Calls, at: At) -> None:
    q.insert(1)
    at(1)
    assert sample(q) is not None
    at(1.9)
    assert sample(q) is None
    at(0.5)  # a clock that was put back
    assert sample(q) is None
    at(2)
    assert sample(q) is not None
    assert q.value("select array_agg(at order by at) from history.sample where setup = %s", q.setup) == [
        NOON, NOON + MINUTE,
    ]  # fmt: skip


def test_an_empty_setup_is_sampled_with_zeros(q: Calls, at: At) -> None:
    at(1)
    assert sample(q) == len(q.rows("select from history.series where figure = 'findings'"))
    assert over(q, "jobs_waiting", NOON) == {}
    q.insert(1)
    at(2)
    sample(q)
    assert over(q, "jobs_waiting", NOON) == {(NOON, ""): 0, (NOON + MINUTE, ""): 1}


def test_series_beyond_the_limit_are_added_up(q: Calls, at: At) -> None:
    q.connection.execute("select lifecycle.set_settings(%s, '{\"most_series\": 4}')", [q.setup])
    jobs = iter(range(1, 1000))
    for group, number in (("a", 1), ("b", 4), ("c", 2), ("d", 3)):
        for _ in range(number):
            q.insert(next(jobs), OwnerGroup=group)
    at(1)
    sample(q)
    waiting = over(q, "jobs_waiting", NOON, "owner_group")
    assert waiting[NOON, "b"] == 4
    assert waiting[NOON, "other"] == sum(n for g, n in (("a", 1), ("c", 2), ("d", 3)) if (NOON, g) not in waiting)
    assert sum(waiting.values()) == 10
    assert over(q, "oldest_wait", NOON) == {(NOON, ""): pytest.approx(60)}
    apart = q.value(
        "select count(*) from history.series where setup = %s and not labels::text like '%%other%%'", q.setup
    )
    assert apart == 4
    at(2)
    sample(q)  # separate series stay separate
    assert over(q, "jobs_waiting", NOON + MINUTE, "owner_group").keys() == {(NOON + MINUTE, g) for _, g in waiting}


def test_hours_and_days_agree_with_the_minutes(q: Calls, at: At) -> None:
    """Random values are written as samples: for any span, the means and maxima are those of the minutes."""
    chance = random.Random(5)
    minutes = sorted(chance.sample(range(4 * 1440), 900))
    values: dict[str, dict[int, float]] = defaultdict(dict)
    insert = "insert into history.sample (setup, step, at, samples, mean) values (%s, '1 minute', %s, 1, %s)"
    for n, site in enumerate("AB", 1):
        q.connection.execute(
            "insert into history.series values (%s, %s, 'leases_at_site', %s, %s, %s)",
            [q.setup, n, json.dumps({"site": site, "state": "running"}), NOON, NOON],
        )  # fmt: skip
    for minute in minutes:
        row = [float(chance.randrange(50)) for _ in range(1 if minute < 700 else 2)]  # B came later
        values["A"][minute] = row[0]
        values["B"][minute] = row[1] if len(row) > 1 else 0.0
        q.connection.execute(insert.encode(), [q.setup, NOON + minute * MINUTE, row])
    at(4 * 1440 + 0.5)
    sample(q)
    last = 4 * 1440 - 1
    for of in values.values():
        of.setdefault(last, 0.0)
    for since, until, points in ((0, 4 * 1440, 4), (0, 4 * 1440, 100), (1440, 1700, 300), (100, 3000, 30), (0, 60, 1)):
        found = q.rows(
            "select at, width, label, value, most, samples from"
            " history.figure_over(%s, 'leases_at_site', %s, %s, 'site', '{}', %s)",
            q.setup, NOON + since * MINUTE, NOON + until * MINUTE, points,
        )  # fmt: skip
        width = found[0][1]
        expected: dict[tuple[datetime, str], list[float]] = defaultdict(list)
        begin = _bin(NOON + since * MINUTE, width)
        for site, of in values.items():
            for minute, value in of.items():
                moment = NOON + minute * MINUTE
                if begin <= moment < _bin(NOON + (until - 1) * MINUTE, width) + width:
                    expected[_bin(moment, width), site].append(value)
        assert {(row[0], row[2]): row[4:] for row in found} == {
            key: (max(of), len(of)) for key, of in expected.items()
        }, (since, until, points, width)
        for row in found:
            all_of = expected[row[0], row[2]]
            assert row[3] == pytest.approx(sum(all_of) / len(all_of), rel=1e-5)


def _bin(moment: datetime, width: timedelta) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (moment - epoch) // width * width


@pytest.mark.slow
def test_old_samples_are_removed_and_their_places_reused(q: Calls, at: At) -> None:
    q.connection.execute(
        "select lifecycle.set_settings(%s, %s)",
        [q.setup, '{"minute_samples_kept": "3 hours", "hour_samples_kept": "3 days", "day_samples_kept": "5 days"}'],
    )
    q.insert(1, OwnerGroup="early")
    at(1)
    sample(q)
    early = dict(q.rows("select labels ->> 'owner_group', place from history.series where figure = 'jobs_waiting'"))
    q.call("delete_job", 1)
    for minute in range(60, 10 * 1440, 30):
        at(minute)
        sample(q)
    kept = dict(q.rows("select step, min(at) from history.sample where setup = %s group by step", q.setup))
    now = NOON + (10 * 1440 - 30) * MINUTE - MINUTE
    assert kept[MINUTE] >= now - 3 * HOUR
    assert now - 3 * DAY <= kept[HOUR] <= now - 3 * DAY + HOUR
    assert now - 5 * DAY <= kept[DAY] <= now - 4 * DAY
    assert not q.rows("select from history.series where setup = %s and figure <> 'findings'", q.setup)
    q.insert(2, OwnerGroup="late")
    at(10 * 1440)
    sample(q)
    late = dict(q.rows("select labels ->> 'owner_group', place from history.series where figure = 'jobs_waiting'"))
    assert late.keys() == {"late"}
    places = q.value("select count(*) from history.series where setup = %s", q.setup)
    assert set(late.values()) <= set(range(1, 1 + places + len(early)))
    assert over(q, "jobs_waiting", NOON + 9 * DAY, "owner_group", points=1)[NOON + 10 * DAY - 12 * HOUR, "late"] > 0


def test_a_sample_is_fresh_for_five_minutes(q: Calls, at: At) -> None:
    freshness = "select sampled_at, figures_end, is_sampled from history.freshness where setup = %s"
    last = "select distinct at from history.last_sample(%s)"
    assert q.rows(freshness, q.setup) == [(None, None, False)]
    q.insert(1)
    at(1)
    sample(q)
    at(4.99)
    assert q.rows(freshness, q.setup) == [(NOON, NOON + MINUTE, True)]
    assert q.rows(last, q.setup) == [(NOON,)]
    at(5)
    assert q.rows(freshness, q.setup) == [(NOON, NOON + MINUTE, False)]
    assert q.rows(last, q.setup) == []


def test_counts_are_fresh_for_five_minutes_or_40_times_the_duration_of_counting(q: Calls, at: At) -> None:
    freshness = "select counted_at, is_counted from history.freshness where setup = %s"
    assert q.rows(freshness, q.setup) == [(None, False)]
    q.call("summarize_waiting")
    at(4.99)
    assert q.rows(freshness, q.setup) == [(NOON, True)]
    at(5)
    assert q.rows(freshness, q.setup) == [(NOON, False)]
    q.connection.execute("update taskqueue.summary set took = '10 seconds' where setup = %s", [q.setup])
    assert q.rows(freshness, q.setup) == [(NOON, True)]
    at(6.67)
    assert q.rows(freshness, q.setup) == [(NOON, False)]


def test_lines_beyond_the_largest_are_added_up(q: Calls, at: At) -> None:
    values = {"a": [5, 0], "b": [0, 9], "c": [1, 2], "other": [3, 0], "d": [2, 1]}
    for place, site in enumerate(values, 1):
        q.connection.execute(
            b"insert into history.series values (%s, %s, 'leases_at_site', %s, %s, %s)",
            [q.setup, place, json.dumps({"site": site}), NOON, NOON],
        )
    for minute in (0, 1):
        row = [float(of[minute]) for of in values.values()]
        q.connection.execute(
            b"insert into history.sample values (%s, '1 minute', %s, 1, %s)", [q.setup, NOON + minute * MINUTE, row]
        )
    at(2)
    found = q.rows(
        "select label, spans, samples, value, most from history.figures_over(%s,"
        """ '[{"figure": "leases_at_site", "by": "site"}]', %s, p_points => 2, p_lines => 2)""",
        q.setup, NOON,
    )  # fmt: skip
    assert found == [
        ("a", [0, 1], [1, 1], [5, 0], [5, 0]), ("b", [0, 1], [1, 1], [0, 9], [0, 9]),
        ("other", [0, 1], [1, 1], [6, 3], [6, 3]),
    ]  # fmt: skip


@pytest.mark.parametrize(("figure", "values", "most"), [("leases_at_site", 15, 46), ("oldest_wait", 5, 12)])
def test_a_line_of_many_series_is_their_sum_or_their_maximum(
    q: Calls, at: At, figure: str, values: float, most: float
) -> None:
    label = "site" if figure == "leases_at_site" else "owner_group"
    for place in range(1, 6):
        q.connection.execute(
            b"insert into history.series values (%s, %s, %s, %s, %s, %s)",
            [q.setup, place, figure, json.dumps({label: f"of {place}"}), NOON, NOON],
        )
    q.connection.execute(
        b"insert into history.sample values (%s, '5 minutes', %s, 5, '{1,2,3,5,4}', '{10,7,8,9,12}')", [q.setup, NOON]
    )
    at(60)
    asked = json.dumps([{"figure": figure}, {"figure": figure, "by": label}])
    query = "select label, value, most from history.figures_over(%s, %s::jsonb, %s, p_points => 12, p_lines => 1)"
    found = q.rows(query, q.setup, asked, NOON)
    others = (15 - 5, 46 - 9) if figure == "leases_at_site" else (4, 12)
    assert found == [("", [values], [most]), ("of 4", [5], [9]), ("other", [others[0]], [others[1]])]


def test_several_figures_in_one_call_have_the_values_of_separate_calls(q: Calls, at: At) -> None:
    q.settings(policy="dirac")
    for job in range(1, 4):
        q.insert(job, OwnerGroup="users", Sites=["A"])
    at(0.5)
    q.take(Site="A")
    at(1.5)
    sample(q)
    figures: list[dict[str, Any]] = [
        {"figure": "jobs_waiting", "by": "reason"},
        {"figure": "matches"},
        {"figure": "leases_at_site", "by": "site", "labels": {"state": "matched"}},
        {"figure": "instances"},
    ]
    rows = q.rows(
        "select f.number, f.began + u.span * f.width, f.label, u.value from history.figures_over(%s, %s, %s) f"
        " cross join lateral unnest(f.spans, f.value) u (span, value)",
        q.setup, json.dumps(figures), NOON,
    )  # fmt: skip
    assert rows
    for number, of in enumerate(figures, 1):
        alone = over(q, of["figure"], NOON, of.get("by"), labels=of.get("labels", {}))
        assert {(moment, label): value for place, moment, label, value in rows if place == number} == alone
        assert bool(alone) == (of["figure"] != "instances")


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (None, "p_figures is null, which is not an array"),
        ("{}", "p_figures is {}, which is not an array"),
        ("[1]", "there is no figure null"),
        ('[{"figure": "matches"}, {"figure": "jobs"}]', 'there is no figure "jobs"'),
        ('[{"figure": "matches", "labels": 1}]', "labels are 1, which is not an object"),
    ],
)
def test_wrong_lists_of_figures_are_refused(q: Calls, at: At, figures: str | None, words: str) -> None:
    at(5)
    with pytest.raises(psycopg.DatabaseError) as caught:
        q.rows("select * from history.figures_over(%s, %s, %s)", q.setup, figures, NOON)
    assert caught.value.sqlstate == "PB001"
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"figure": "jobs"}, 'there is no figure "jobs"'),
        ({"figure": None}, "there is no figure null"),
        ({"by": "site"}, 'figure matches has no label "site"'),
        ({"labels": '{"queue": "x"}'}, 'figure matches has no label "queue"'),
        ({"labels": "[]"}, "labels are [], which is not an object"),
        ({"since": None}, "p_since is null"),
        ({"since": NOON + DAY}, "p_since is 2026-03-29"),
        ({"since": "-infinity"}, "the span -infinity to"),
        ({"since": "4000-01-01 BC"}, "the span 4000-01-01"),
        ({"until": "infinity"}, "the span 2026-03-28"),
        ({"points": 0}, "p_points is 0"),
        ({"points": None}, "p_points is null"),
    ],
)
def test_wrong_questions_to_the_history_are_refused(q: Calls, at: At, changed: dict[str, Any], words: str) -> None:
    at(5)
    given = {
        "setup": q.setup,
        "figure": "matches",
        "since": NOON,
        "until": None,
        "by": None,
        "labels": "{}",
        "points": 300,
    } | changed
    with pytest.raises(psycopg.DatabaseError) as caught:
        q.connection.execute(
            "select * from history.figure_over(%(setup)s, %(figure)s, %(since)s, %(until)s, %(by)s, %(labels)s,"
            " %(points)s)",
            given,
        )
    assert caught.value.sqlstate == "PB001"
    assert str(caught.value).startswith(words)
