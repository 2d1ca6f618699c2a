"""A day of an invented grid, the same each time: brokered tasks, JobAgents, figures over time, and alerts that fire."""

import json
import math
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory import grid
from broker.operate import loops
from tests.calls import Calls
from tests.service.conftest import SETUP, Db

NOW = datetime(2026, 3, 28, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DAY = 1440  # minutes
_JUDGED = 150  # the last minutes, in which sites begin to fail
FAILS = 130  # minutes for which a site has failed
_STOPPED = 40  # minutes for which nothing has run at another site

# Owner groups: share, jobs that a site runs, jobs that wait.
_GROUPS = {
    "simulation": (400, 7, 5200),
    "reconstruction": (300, 3, 2900),
    "analysis": (200, 6, 1400),
    "calibration": (100, 1, 300),
}
_SITES = 8

_LASTING = ("group_target", "share_target", "limits", "limit_slots")  # figures that do not change
_PARTS = ("group_use", "share_use")  # figures whose series add up to 1

Series = tuple[str, tuple[tuple[str, str], ...]]


def fill(db: Db) -> None:
    """Fill the setup `default`."""
    q = Calls(db, SETUP)
    q.set_clock(NOW)
    db.execute("select lifecycle.set_settings('default', '{\"loops\": []}')")
    world.load(db, [grid.grid(1, 24, 60, user_tasks=20)], SETUP)
    for broker in ("broker_tasks", "broker_jobs", "broker_analysis"):
        db.execute(f"call brokerage.{broker}('default', p_seed => 1)".encode())
    sites = [site for (site,) in q.rows("select distinct site from monitor.queue where setup = %s order by 1", SETUP)]
    fails, stopped, *others = sites[: _SITES + 2]
    _agents(q, [fails, *others])
    _history(q, fails, stopped)


def _agents(q: Calls, sites: list[str]) -> None:
    """Jobs that JobAgents of the sites have, and jobs that wait for different reasons."""
    ids = iter(range(1_000_000, 2_000_000))

    def insert(group: str, count: int, minutes: int, **more: Any) -> None:
        q.set_clock(NOW - minutes * MINUTE)
        q.insert_many([next(ids) for _ in range(count)], OwnerDN=f"/CN={group}", OwnerGroup=group, **more)

    for group, (share, runs, _) in _GROUPS.items():
        q.set_group(group, share)
        for site in sites:
            insert(group, runs, 20, Sites=[site], JobTypes=["Now"])
            for match in q.match_jobs(runs, Site=site, JobType="Now")[: max(1, runs - 2)]:
                q.call("report_job", match.job_id, match.attempt)
    insert("simulation", 9, 20, Sites=[sites[0]], JobTypes=["Failing"])
    for number, match in enumerate(q.match_jobs(9, Site=sites[0], JobType="Failing")):
        error = {"source": "pilot", "code": 1099, "text": f"no answer from se1.{sites[0].lower()}.example.org"}
        q.call("report_job", match.job_id, match.attempt)
        q.set_clock(NOW - (19 - number) * MINUTE)
        host = f"n{1 + number % 4}.example.org"
        q.call("finish_job", match.job_id, match.attempt, "failed", Jsonb([error]), None, host)
    q.running_limit("JobType", "Merge", 0, sites[-1])
    for group, (_, _, waits) in _GROUPS.items():
        insert(group, waits // 20, 260, Tags=["GPU"])
        insert(group, waits // 5, 150, Sites=[sites[-1]], JobTypes=["Merge"])
    q.set_clock(NOW - 15 * MINUTE)
    assert q.match(Site=sites[-1], JobType="Merge") is None
    for group, (_, runs, waits) in _GROUPS.items():
        insert(group, waits * 3 // 4, 10 if runs > 5 else 40)
    q.set_clock(NOW)
    q.maintain()
    q.call_rows("find_reasons", timedelta(days=1))  # all of them, even on a slow machine
    loops.summarize(q.connection, SETUP)


def _history(q: Calls, fails: str, stopped: str) -> None:
    """Write the figures of each minute of the day up to now. Alerts are judged on the last minutes."""
    now: dict[Series, float] = {
        (figure, tuple(sorted(labels.items()))): value
        for figure, labels, value in q.rows(
            "select figure, labels, value from history.state_now where setup = %s and value > 0"
            ' order by figure collate "C", labels::text collate "C"',
            SETUP,
        )
    }
    minutes = list(_minutes(now, fails, stopped))
    places = {series: place for place, series in enumerate({one: None for values in minutes for one in values}, 1)}
    begin = NOW - DAY * MINUTE
    with q.connection.cursor() as cursor:
        cursor.executemany(
            "insert into history.series values (%s, %s, %s, %s, %s, %s)",
            [(SETUP, place, name, json.dumps(dict(labels)), begin, NOW) for (name, labels), place in places.items()],
        )
        for number, values in enumerate(minutes):
            at = begin + number * MINUTE
            cursor.execute(
                "insert into history.sample (setup, step, at, samples, mean) values (%s, '1 minute', %s, 1, %s)",
                [SETUP, at, [float(values.get(series, 0)) for series in places]],
            )
            if number >= DAY - _JUDGED:
                q.set_clock(at + MINUTE)
                q.rows("select alert.judge(%s)", SETUP)


def _minutes(now: Mapping[Series, float], fails: str, stopped: str) -> Iterator[dict[Series, float]]:
    """The value of each minute up to now."""
    drawn = random.Random(1)
    phases = {series: drawn.uniform(0, 2 * math.pi) for series in now}
    sites = sorted({dict(labels)["site"] for figure, labels in now if figure == "leases_at_site"})
    noise: dict[object, float] = {}
    for left in range(DAY - 1, -1, -1):
        fade = 1 - math.exp(-left / 60)  # 0 is now, 1 is long ago

        def wave(key: object, phase: float, size: float) -> float:
            noise[key] = 0.97 * noise.get(key, 0) + drawn.gauss(0, 0.02)
            return 1 + fade * (size * math.sin(left / 160 + phase) + noise[key])  # noqa: B023

        values = {
            (figure, labels): value * (1 if figure in _LASTING else wave((figure, labels), phases[figure, labels], 0.3))
            for (figure, labels), value in now.items()
        }
        for figure in _PARTS:
            whole = sum(value for (name, _), value in values.items() if name == figure)
            values |= {series: value / whole for series, value in values.items() if series[0] == figure}
        for site in sites:
            ended = 3 * wave(("ends", site), len(site), 0.2)
            failed = 0.93 if site == fails and left < FAILS else 0.04
            for outcome, part in (("finished", 1 - failed), ("failed", failed)):
                values["ends_at_site", (("outcome", outcome), ("site", site))] = ended * part
        for group, (_, runs, _) in _GROUPS.items():
            matched = runs * 1.5 * wave(("matches", group), runs, 0.2)
            values["matches", (("owner_group", group),)] = matched
            for outcome, part in (("finished", 0.86), ("failed", 0.14 if left < FAILS else 0.04)):
                values["ends", (("outcome", outcome), ("owner_group", group))] = matched * part
        if left >= _STOPPED:
            values["leases_at_site", (("site", stopped), ("state", "running"))] = 12 * wave(stopped, 1, 0.2)
        yield values
