"""The guard against worker nodes that eat jobs (sql/taskqueue/GUARD.md)."""

import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Connection, Match, refused, resource
from tests.core.taskqueue.ends import End, History, Model

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    q = Calls(rolled_back)
    q.set_clock(NOON)
    q.settings(guard="on")
    assert q.call_rows("guard") == []
    return q


def scores(q: Calls) -> dict[tuple[str, str], tuple[float, float, float, float]]:
    query = "select site, name, score, ends, failures, usual from taskqueue.health where kind = 'host'"
    return {(row[0], row[1]): row[2:] for row in q.rows(query)}


def definition(q: Calls, task_queue_id: int) -> int:
    query = "select definition_id from taskqueue.task_queue where task_queue_id = %s"
    return int(q.value(query, task_queue_id))


def drawn_ends(draw: random.Random, number: int, at: datetime) -> list[End]:
    """Ends of all kinds at two sites with equal host names; the times rise, some are equal."""
    ends = []
    for _ in range(number):
        at += timedelta(seconds=draw.choice([0, 1, 2]))
        event = draw.choice(["finished", "finished", "failed", "released", "expired", "cancelled"])
        error = draw.choice(["infrastructure", "payload", "input", "lost", "unknown"]) if event == "failed" else None
        ends.append(
            End(
                at, draw.choice([None, "n1", "n2", "n3"]), event, error, draw.choice(["A", "B", None]),
                draw.choice([None, 1, 2]), draw.choice([MINUTE, 10 * MINUTE, 20 * MINUTE]), draw.random() < 0.6,
            )
        )  # fmt: skip
    return ends


@pytest.mark.parametrize("seed", range(3))
def test_the_score_is_that_of_the_model(q: Calls, seed: int) -> None:
    draw = random.Random(seed)
    ids = [definition(q, q.insert(n, OwnerGroup=f"g{n}")) for n in (1, 2)]
    q.settings(most_quarantined=1)  # a site that is no longer named would set scores to 0
    history, model, at = History(q), Model(), NOON
    for _ in range(3):
        ends = drawn_ends(draw, 60, at)
        at = ends[-1].at + MINUTE
        named = [End(**{**vars(end), "family": end.family and ids[end.family - 1]}) for end in ends]
        history.write(named)
        q.set_clock(at)
        q.call_rows("guard")
        model.round(named)
        assert scores(q) == {key: pytest.approx(row, rel=1e-9, abs=1e-9) for key, row in model.hosts.items()}
    rows = q.rows("select name, ends, failures from taskqueue.health where kind = 'family' order by ends")
    assert [row[1:] for row in rows] == [pytest.approx(row) for row in sorted(model.families.values())]
    made = q.rows("select site, name from taskqueue.quarantine where kind = 'host'")
    assert set(made) <= model.above


def failures(host: str, number: int, at: datetime = NOON, site: str | None = "A", **keys: Any) -> list[End]:
    """Jobs of a worker node that fail within a minute."""
    shared: dict[str, Any] = {"event": "failed", "error": "infrastructure", "site": site, **keys}
    return [End(at + timedelta(seconds=n), host, **shared) for n in range(number)]


def others(number: int = 40, at: datetime = NOON, site: str | None = "A") -> list[End]:
    """Good ends of as many worker nodes."""
    return [End(at, f"good{n}", site=site) for n in range(number)]


def round_at(q: Calls, moment: datetime) -> list[tuple[str, ...]]:
    """A round of the guard: action, kind, site, name of each change."""
    q.set_clock(moment)
    changes = [row[:4] for row in q.call_rows("guard")]
    q.call("mark_guarded")
    return changes


def quarantined(q: Calls) -> list[tuple[object, ...]]:
    return q.rows("select kind, site, name, state, made_by from monitor.quarantine order by kind, site, name")


@pytest.fixture
def guarded(q: Calls) -> Calls:
    """Host n17 of site A is quarantined since noon; jobs 1 to 20 wait."""
    q.insert_many(range(1, 21))
    assert q.match(Site="A", HostName="n17", CPUTime=1) is None  # the description is known before
    History(q).write([*others(), *failures("n17", 6)])
    assert round_at(q, NOON) == [("quarantined", "host", "A", "n17")]
    return q


def test_a_worker_node_that_fails_its_jobs_gets_none(guarded: Calls) -> None:
    q = guarded
    for keys in ({}, {"OwnerGroup": "users"}):  # a known description, and a new one
        assert q.match(Site="A", HostName="n17", **keys) is None
        assert q.match_jobs(5, Site="A", HostName="n17", **keys) == []
        assert q.match(Site="A", HostName="n18", **keys)
        assert q.match(Site="A", **keys)  # a request without a worker node cannot be refused
    many = [{"resources": [resource(Site="A", HostName=host)], "n": 2} for host in ("n17", "n18", "n17")]
    assert [row[0] for row in q.call_rows("match_many", Jsonb(many))] == [2, 2]
    assert q.take(Site="B", HostName="n17")  # the worker node of another site
    assert q.take(Site="A", HostName="n17", JobID=20).job_id == 20  # an operator tries a job there


def test_a_quarantine_is_explained(guarded: Calls) -> None:
    q = guarded
    said = (
        "host n17 is quarantined since 2026-03-01 12:00 UTC: 6 of 6 jobs failed, the last one within a minute"
        " (class infrastructure), 5 % would be usual for them; next probe 2026-03-01 12:10 UTC"
    )
    [row] = q.call_rows("explain_resource", Jsonb(resource(Site="A", HostName="n17")))
    assert (row[0], row[2], row[5]) == (20, ["Quarantine"], f"Quarantine {said}")
    assert q.call_rows("explain_resource", Jsonb(resource(Site="A", HostName="n18")))[0][2] == []
    assert q.explain(1, Site="A", HostName="n17")["Quarantine"] is False
    assert q.explain(1, Site="A", HostName="n18")["Quarantine"] is True
    [why] = q.rows("select after ->> 'why' from monitor.change where object = 'quarantine' and before is null")
    assert why[0].startswith("6 of 6 jobs failed")


def probe(q: Calls, minutes: int) -> Match:
    """The probe that is due after as many minutes; nobody gets a second one, or one a minute before."""
    assert round_at(q, NOON + (minutes - 1) * MINUTE) == []
    assert q.match(Site="A", HostName="n17") is None
    q.set_clock(NOON + minutes * MINUTE)
    assert q.match(Site="A", HostName="n17", CPUTime=1) is None  # no job fits, so the probe is still due
    [match] = q.match_jobs(5, Site="A", HostName="n17")
    assert q.match(Site="A", HostName="n17") is None
    assert round_at(q, NOON + minutes * MINUTE) == []  # it runs
    return match


def test_a_good_probe_lifts_the_quarantine(guarded: Calls) -> None:
    q = guarded
    match = probe(q, 10)
    q.call("finish_job", match.job_id, match.attempt, "finished")
    assert q.match(Site="A", HostName="n17") is None  # the guard decides, not the end
    assert round_at(q, NOON + 11 * MINUTE) == [("lifted", "host", "A", "n17")]
    assert len(q.match_jobs(5, Site="A", HostName="n17")) == 5
    assert scores(q)["A", "n17"] == (0, 0, 0, 0)


@pytest.mark.parametrize("reported", [True, False])
def test_a_probe_that_runs_for_half_an_hour_lifts_the_quarantine(guarded: Calls, reported: bool) -> None:
    q = guarded
    match = probe(q, 10)
    if reported:
        q.set_clock(NOON + 11 * MINUTE)
        q.call_rows("report_job", match.job_id, match.attempt, "running")
    assert round_at(q, NOON + 39 * MINUTE) == []
    assert round_at(q, NOON + 40 * MINUTE) == ([("lifted", "host", "A", "n17")] if reported else [])
    assert scores(q).get(("A", "n17"), (1,))[0] == 0 or not reported


@pytest.mark.parametrize(
    ("end", "doubled"),
    [
        ("infrastructure", True), ("unknown", True), ("lost", True),
        ("payload", False), ("cancelled", False), ("closed", False), ("released", True), ("forgotten", False),
    ],
)  # fmt: skip
def test_a_probe_without_a_good_end_is_followed_by_another(guarded: Calls, end: str, doubled: bool) -> None:
    q = guarded
    match = probe(q, 10)
    q.call("set_error_classes", Jsonb([{"position": 1, "pattern": "x", "class": "infrastructure"}]))
    q.rows("select taskqueue.mark_guarded('default')")
    if end == "released":
        q.call("release_job", match.job_id, match.attempt)
    elif end == "lost":
        q.set_clock(NOON + 60 * MINUTE)
        assert q.rows("select * from lifecycle.expire_leases('default')")[0][2] == 1
    elif end == "forgotten":
        q.connection.execute("delete from taskqueue.lease")
    elif end in ("cancelled", "closed"):
        q.call("finish_job", match.job_id, match.attempt, end)
    else:
        error: dict[str, Any] = {"source": "pilot", "text": "x" if end == "infrastructure" else "y"}
        if end == "payload":
            error = {"source": "payload", "code": 1}
        q.call("finish_job", match.job_id, match.attempt, "failed", Jsonb([error]))
    at = q.value("select resource.clock('default')")
    assert round_at(q, at) == [("probed", "host", "A", "n17")]
    pause = (20 if doubled else 10) * MINUTE
    assert q.rows("select pause, next_probe_at, probe_job_id from monitor.quarantine") == [(pause, at + pause, None)]


def test_the_pause_between_two_probes_grows_up_to_twenty_minutes(guarded: Calls) -> None:
    q, at, pauses = guarded, NOON + 10 * MINUTE, []
    for _ in range(8):
        q.set_clock(at)
        match = q.take(Site="A", HostName="n17")
        q.call("finish_job", match.job_id, match.attempt, "failed")
        round_at(q, at)
        [(pause, at)] = q.rows("select pause, next_probe_at from monitor.quarantine")
        pauses.append(pause // MINUTE)
    assert pauses == [20] * 8


def test_one_request_of_a_call_gets_the_probe(guarded: Calls) -> None:
    q = guarded
    q.set_clock(NOON + 10 * MINUTE)
    none, some = resource(Site="A", HostName="n17", CPUTime=1), resource(Site="A", HostName="n17")
    many = [{"resources": [none, some], "n": 3}, {"resources": [some], "n": 3}, {"resources": [none]}]
    assert len(q.call_rows("match_many", Jsonb(many))) == 1
    assert q.value("select count(*) from taskqueue.lease") == 1
    assert q.value("select probe_job_id from monitor.quarantine") == q.value("select job_id from taskqueue.lease")


def test_a_repeated_request_gets_its_probe_again(guarded: Calls) -> None:
    q, request = guarded, uuid.uuid4()
    q.set_clock(NOON + 10 * MINUTE)
    first = q.match(request, Site="A", HostName="n17")
    assert first is not None and q.match(request, Site="A", HostName="n17") == first
    assert q.match(uuid.uuid4(), Site="A", HostName="n17") is None


def test_watch_says_and_refuses_nothing(q: Calls) -> None:
    q.settings(guard="watch")
    q.insert_many(range(1, 21))
    History(q).write([*others(), *failures("n17", 6)])
    assert round_at(q, NOON) == [("watched", "host", "A", "n17")]
    assert quarantined(q) == [("host", "A", "n17", "watched", "guard")]
    assert len(q.match_jobs(5, Site="A", HostName="n17")) == 5
    assert q.call_rows("explain_resource", Jsonb(resource(Site="A", HostName="n17")))[0][2] == []
    q.settings(guard="on")
    assert round_at(q, NOON + MINUTE) == [("quarantined", "host", "A", "n17")]
    assert q.match(Site="A", HostName="n17") is None
    q.settings(guard="watch")
    assert round_at(q, NOON + 2 * MINUTE) == [("watched", "host", "A", "n17")]
    assert q.match(Site="A", HostName="n17")
    History(q).write([End(NOON + 2 * MINUTE, "n17")] * 20)
    assert round_at(q, NOON + 3 * MINUTE) == [("lifted", "host", "A", "n17")]


def test_off_lifts_the_quarantines_of_the_guard_alone(guarded: Calls) -> None:
    q = guarded
    q.call("set_quarantine", "host", "A", "n18", "its disk is broken")
    q.settings(guard="off")
    assert round_at(q, NOON) == [("lifted", "host", "A", "n17")]
    assert q.match(Site="A", HostName="n17") and q.match(Site="A", HostName="n18") is None
    assert quarantined(q) == [("host", "A", "n18", "refused", "operator")]


def test_descriptions_of_refused_requests_are_forgotten(guarded: Calls) -> None:
    q = guarded
    q.call("set_quarantine", "site", "A", "A", "its disk is broken")
    for ram in range(5000, 5010):
        assert q.match(Site="A", HostName="n1", MaxRAM=ram) is None
    kept = "select count(*) from taskqueue.parsed_description where (resource ->> 'MaxRAM')::int >= 5000"
    assert q.value(kept) > 0
    q.set_clock(NOON + timedelta(days=2))
    q.maintain()
    assert q.value(kept) == 0


def test_a_lower_score_quarantines_a_worker_node_after_a_good_end(q: Calls) -> None:
    """No job of the round failed, so the reason names none."""
    q.settings(guard_score=30)
    History(q).write([*others(), *failures("n17", 8)])
    assert round_at(q, NOON) == []
    q.settings(guard_score=3)
    History(q).write([End(NOON + MINUTE, "n17")])
    assert round_at(q, NOON + MINUTE) == [("quarantined", "host", "A", "n17")]
    why = q.value("select why from monitor.quarantine")
    assert why.startswith("8 of 9 jobs failed, ")
    assert "class" not in why


def test_an_operator_quarantines_and_lifts(q: Calls) -> None:
    q.insert_many(range(1, 21))
    who = {"Site": "A", "GridCE": "ce1", "HostName": "n1"}
    assert q.match(**who)
    for kind, name in (("host", "n1"), ("ce", "ce1"), ("site", None)):
        q.call("set_quarantine", kind, "A", name, "it burns")
        assert q.match(**who) is None and q.match_jobs(2, **who) == []
        assert q.match(**{**who, "Site": "B"})
        assert round_at(q, NOON + timedelta(days=3)) == []  # the guard leaves it, and plans no probe
        assert q.match(**who) is None
        assert (q.match(Site="A", HostName="n2") is None) == (kind == "site")
        assert q.call("lift_quarantine", kind, "A", name) is True
        assert q.call("lift_quarantine", kind, "A", name) is False
        assert q.match(**who)
    query = (
        "select name, before is null, after is null from monitor.change where object = 'quarantine' order by change_id"
    )
    assert q.rows(query)[:2] == [("host A n1", True, False), ("host A n1", False, True)]
    q.call("set_quarantine", "host", None, "n9", "it has no site")
    assert q.match(HostName="n9") is None and q.match(Site="A", HostName="n9")


def test_a_quarantine_explains_a_waiting_job_and_tells_who_submits_pilots(q: Calls) -> None:
    queue = q.insert(1)
    offers = [{"Site": "A"}, {"Site": "A", "GridCE": "ce1"}, {"Site": "A", "GridCE": "ce2"}, {"Site": "B"}]
    for offer in offers:
        assert q.match(**offer, CPUTime=1) is None  # seen, but the job does not fit

    def said() -> dict[str, Any]:
        return {row[0]: (*row[2:4], row[5]) for row in q.call_rows("explain_job", 1)}

    def matching() -> list[bool]:
        return [q.queues(**offer) == {queue: 1} for offer in offers]

    q.call("set_quarantine", "host", "A", "n1", "kinds have no host")
    assert "Quarantine" not in said() and matching() == [True] * 4
    assert q.queues(Site="A", HostName="n1") == {} and q.queues(Site="A", HostName="n2") == {queue: 1}
    since = "quarantined since 2026-03-01 12:00 UTC"
    q.call("set_quarantine", "ce", "A", "ce1", "no disk")
    assert said()["Quarantine"] == (1, 4, f"ce ce1 is {since}: no disk")
    assert matching() == [True, False, True, True]
    q.call("set_quarantine", "site", "A", None, "power cut")
    assert said()["Quarantine"] == (3, 4, f"ce ce1 is {since}: no disk; and 1 more")
    assert matching() == [False, False, False, True]
    q.call("lift_quarantine", "ce", "A", "ce1")
    q.call("lift_quarantine", "site", "A", None)
    assert "Quarantine" not in said() and matching() == [True] * 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None, "A", "n"), "kind is null"),
        (("node", "A", "n"), "kind is .*node"),
        (("ce", None, "n"), "site is null"),
        (("site", "", None), "site is ''"),
        (("site", "A", "B"), "name is .*B.*site is .*A"),
        (("host", "A", None), "name is null"),
        (("host", "A", ""), "name is ''"),
        (("host", "A", "a\nb"), "name has a control"),
        (("host", "A" * 801, "n"), "site is a text of 801 bytes"),
        (("host", "A", "n" * 1021), "name is a text of 1021 bytes"),
    ],
)
def test_a_wrong_quarantine_is_refused(q: Calls, arguments: tuple[object, ...], said: str) -> None:
    for function, rest in (("set_quarantine", ("why",)), ("lift_quarantine", ())):
        with refused("PB001", said), q.connection.transaction():
            q.call(function, *arguments, *rest)
    assert quarantined(q) == []


@pytest.mark.parametrize("why", [None, "", "w" * 1001])
def test_a_quarantine_has_a_reason(q: Calls, why: str | None) -> None:
    with refused("PB001", "reason"), q.connection.transaction():
        q.call("set_quarantine", "host", "A", "n", why)


def test_the_case_of_a_host_does_not_count(q: Calls) -> None:
    q.insert_many([1, 2, 3])
    q.call("set_quarantine", "host", "A", "N17.CERN.ch", "its disk is broken")
    q.call("set_quarantine", "host", "A", "n17.cern.CH", "its disk is still broken")
    q.call("set_quarantine", "ce", "A", "CE", "names of computing elements keep their case")
    assert q.rows("select name from monitor.quarantine order by name") == [("CE",), ("n17.cern.ch",)]
    for host in ("n17.cern.ch", "N17.cern.ch"):
        assert q.match(Site="A", HostName=host) is None
        assert q.explain(1, Site="A", HostName=host)["Quarantine"] is False
    assert q.call("lift_quarantine", "host", "A", "n17.CERN.ch")
    assert q.match(Site="A", HostName="N17.cern.ch")
    assert q.call("lift_quarantine", "ce", "A", "ce") is False


def test_a_task_that_fails_everywhere_quarantines_few(q: Calls) -> None:
    bad, good = (
        definition(q, q.insert(n, OwnerGroup=f"g{n}")) for n in (1, 2)
    )  # fmt: skip
    draw, at, history, locked = random.Random(1), NOON, History(q), set()
    for _ in range(30):
        ends = []
        for _ in range(200):
            at += timedelta(seconds=1)
            host, fails = f"n{draw.randrange(200)}", draw.random() < 0.95
            ends.append(End(at, host, "failed", "unknown", family=bad) if fails else End(at, host, family=bad))
            ends.append(End(at, f"n{draw.randrange(200)}", family=good))
        history.write(ends)
        locked |= {change[3] for change in round_at(q, at) if change[0] == "quarantined"}
    assert len(locked) <= 4


def test_a_site_whose_storage_fails_is_named(q: Calls) -> None:
    history = History(q)
    history.write([*others(60, site="A"), *others(60, site="B")] * 10)
    round_at(q, NOON)
    at = NOON + MINUTE
    history.write(failures("good1", 4, at, "B"))
    assert round_at(q, at) == [("quarantined", "host", "B", "good1")]
    history.write([end for n in range(20) for end in failures(f"good{n}", 5, at, "A")])
    changes = round_at(q, at)
    assert changes[0] == ("named", "site", "A", "A") and {change[0] for change in changes[1:]} == {"watched"}
    assert len(changes) == 21
    why = "select why from monitor.quarantine where kind = 'site'"
    assert q.value(why) == "20 of 60 worker nodes fail their jobs"
    with q.connection.transaction(force_rollback=True):
        q.settings(guard="off")
        assert ("lifted", "site", "A", "A") in round_at(q, at)
        assert quarantined(q) == []
    q.insert(1)
    assert q.match(Site="A", HostName="good1")
    history.write([end for n in range(20) for end in [End(at + MINUTE, f"good{n}", site="A")] * 10])
    changes = round_at(q, at + 2 * MINUTE)
    assert changes[-1] == ("lifted", "site", "A", "A") and len(changes) == 21
    assert quarantined(q) == [("host", "B", "good1", "refused", "guard")]


def test_two_failures_on_other_worker_nodes_of_a_small_site_name_it_not(q: Calls) -> None:
    history = History(q)
    history.write([*others(20)] * 20)
    round_at(q, NOON)
    history.write([*failures("good0", 6), *failures("good1", 2), *failures("good2", 2)])
    assert round_at(q, NOON) == [("quarantined", "host", "A", "good0")]
    history.write(failures("good3", 2))
    assert ("named", "site", "A", "A") in round_at(q, NOON)


def test_worker_nodes_that_were_quarantined_just_before_their_site_is_named_are_released(q: Calls) -> None:
    history = History(q)
    history.write([*others(60)] * 20)
    round_at(q, NOON)
    history.write(failures("good1", 5))
    round_at(q, NOON)
    history.write(failures("good2", 5, NOON + 70 * MINUTE))
    round_at(q, NOON + 71 * MINUTE)
    history.write([end for n in range(3, 20) for end in failures(f"good{n}", 5, NOON + 80 * MINUTE)])
    changes = round_at(q, NOON + 81 * MINUTE)
    assert ("watched", "host", "A", "good2") in changes
    assert [row[2] for row in quarantined(q) if row[3] == "refused"] == ["good1"]


def test_three_worker_nodes_of_a_small_site_are_quarantined(q: Calls) -> None:
    history = History(q)
    for number, host in enumerate(("n1", "n2", "n3", "n4"), 1):
        history.write([*others(3) * 10, *failures(host, 5)])
        assert ("named", "site", "A", "A") in round_at(q, NOON) if number == 4 else round_at(q, NOON) != []
        assert sum(row[3] == "refused" for row in quarantined(q)) == number % 4


@pytest.mark.parametrize(
    ("matched", "failed", "is_quarantined"),
    [(0, 4, False), (-1, 4, True), (11, 4, True), (None, 4, True), (0, 8, True)],
    ids=["together", "before the failed ones", "lately", "none", "score above twice the limit"],
)
def test_jobs_that_run_on_a_worker_node_count_as_good(
    q: Calls, matched: int | None, failed: int, is_quarantined: bool
) -> None:
    """matched: minutes after NOON when the worker node got six jobs that run; the failed ones came at NOON."""
    family = definition(q, q.insert(1))
    q.insert_many(range(2, 40))
    History(q).write(End(NOON, f"good{n}", family=family) for n in range(300))
    round_at(q, NOON)
    taken = [(0, failed), *([] if matched is None else [(matched, 6)])]
    jobs = {}
    for minutes, number in sorted(taken):
        q.set_clock(NOON + minutes * MINUTE)
        jobs[number] = q.match_jobs(number, Site="A", HostName="n1")
        for job in jobs[number]:
            q.call("report_job", job.job_id, job.attempt)
    q.set_clock(NOON + 40 * MINUTE)
    for job in jobs[failed]:
        q.call("finish_job", job.job_id, job.attempt, "failed")
    assert round_at(q, NOON + 40 * MINUTE) == ([("quarantined", "host", "A", "n1")] if is_quarantined else [])


def test_payload_failures_count_nothing(q: Calls) -> None:
    History(q).write(failures("n1", 50, error="payload"))
    assert round_at(q, NOON) == [] and scores(q) == {}
    assert q.value("select count(*) from taskqueue.health") == 0


@pytest.mark.parametrize(
    ("end", "counts"),
    [
        ({"event": "released", "error": None}, True),
        ({"event": "released", "error": None, "ran": 11 * MINUTE}, False),
        ({"event": "expired", "error": None}, True),
        ({"event": "failed", "error": "lost", "reported": False}, True),
    ],
)
def test_a_hole_that_gives_jobs_back_is_quarantined(q: Calls, end: dict[str, Any], counts: bool) -> None:
    History(q).write(failures("n1", 6, **end))
    assert (round_at(q, NOON) == [("quarantined", "host", "A", "n1")]) == counts
    assert q.value("select count(*) from taskqueue.health where kind = 'family'") == 0


def test_health_is_forgotten_after_a_day(q: Calls) -> None:
    History(q).write(others(5))
    round_at(q, NOON)
    assert round_at(q, NOON + timedelta(hours=23, minutes=59)) == [] and len(scores(q)) == 5
    round_at(q, NOON + timedelta(days=1, minutes=1))
    assert q.value("select count(*) from taskqueue.health") == 0


def test_a_quarantine_that_nobody_asks_about_is_lifted_after_a_day(guarded: Calls) -> None:
    assert round_at(guarded, NOON + timedelta(days=1, minutes=9)) == []
    assert round_at(guarded, NOON + timedelta(days=1, minutes=11)) == [("lifted", "host", "A", "n17")]


def test_a_clock_that_is_set_back_delays_no_probe(guarded: Calls) -> None:
    q = guarded
    round_at(q, NOON - timedelta(days=2))
    q.set_clock(NOON - timedelta(days=2) + 10 * MINUTE)
    assert q.take(Site="A", HostName="n17")


@pytest.mark.parametrize("days", [-2, 2])
def test_a_jump_of_the_clock_loses_no_end_and_counts_none_twice(q: Calls, days: int) -> None:
    history, jump = History(q), timedelta(days=days)
    history.write(others(5))
    round_at(q, NOON)
    for at in (NOON + jump, NOON + jump + MINUTE, NOON + 2 * MINUTE):
        history.write([End(at, "n1", "failed", "unknown")])
        round_at(q, at)
        round_at(q, at)
    query = "select failures from taskqueue.health where kind = 'family'"
    assert q.value(query) == pytest.approx(3, abs=0.02)


def test_an_end_that_commits_late_is_counted_once(db: Connection, connect: Connect) -> None:
    """Open transactions, one of them with a subtransaction, while others commit: each end counts once."""
    q, late, sub = Calls(db), connect(), connect()
    q.settings(guard="on")
    q.call_rows("guard")
    history, now = History(q), datetime.now(UTC)
    one = [End(now, "n1", "failed", "unknown")]
    sub.execute("begin")
    sub.execute("select pg_current_xact_id()")
    late.execute("begin")
    history.write(one, late)
    counted = []

    def count() -> None:
        q.call_rows("guard")
        counted.append(q.value("select coalesce(sum(failures), 0)::float8 from taskqueue.health where kind = 'family'"))

    history.write(one)
    count()
    history.write(one, sub)  # a savepoint of a transaction that the last round saw open
    history.write(one)
    count()
    late.execute("commit")
    count()
    history.write(one)
    count()
    sub.execute("commit")
    count()
    count()
    assert counted == [pytest.approx(n, abs=0.02) for n in (1, 2, 3, 4, 5, 5)]
    # another session of the server may have an open transaction
    assert q.rows("select known_to <= all (counted), known_to <= next_to from taskqueue.guard_mark") == [(True, True)]


def test_a_round_counts_whole_transactions_up_to_its_limit(q: Calls) -> None:
    history = History(q)
    for _ in range(4):
        history.write([End(NOON, "n1", "failed", "unknown")] * 3)
    counted = []
    for _ in range(4):
        q.call_rows("guard", 4)
        counted.append(q.value("select failures from taskqueue.health where kind = 'family'"))
    assert counted == [pytest.approx(n, abs=0.1) for n in (6, 12, 12, 12)]
    for wrong in (None, 0, 100001):
        with refused("PB001", "limit"), q.connection.transaction():
            q.call_rows("guard", wrong)


def test_two_rounds_at_once_count_each_end_once(db: Connection, connect: Connect) -> None:
    q, other = Calls(db), connect()
    q.call("set_settings", Jsonb({"guard": "watch"}))
    q.call_rows("guard")
    History(q).write([End(datetime.now(UTC), "n1", "failed", "unknown")])
    other.execute("begin")
    Calls(other).call_rows("guard")
    db.execute("set lock_timeout = '1s'")
    assert q.call_rows("guard") == [] and scores(q) == {}  # it does not wait
    other.execute("commit")
    q.call_rows("guard")
    assert [row[1] for row in scores(q).values()] == [1]


def test_two_requests_at_once_get_one_probe(db: Connection, connect: Connect) -> None:
    q, other = Calls(db), connect()
    q.settings(guard="on")
    q.insert_many(range(1, 5))
    q.call_rows("guard")
    History(q).write([*others(at=datetime.now(UTC)), *failures("n17", 6, datetime.now(UTC))])
    q.call_rows("guard")
    q.call("mark_guarded")
    db.execute("update taskqueue.quarantine set next_probe_at = now()")
    other.execute("begin")
    assert Calls(other).match(Site="A", HostName="n17")
    db.execute("set lock_timeout = '1s'")
    assert q.match(Site="A", HostName="n17") is None
    assert q.call_rows("guard") == [] and q.call("mark_guarded") == 0  # a round does not wait either
    other.execute("rollback")  # the probe is due again
    assert q.match(Site="A", HostName="n17") and q.match(Site="A", HostName="n17") is None


def test_a_match_finds_a_quarantine_by_one_probe_of_an_index(q: Calls) -> None:
    q.connection.execute(
        "insert into taskqueue.quarantine (setup, site, kind, name, since, why, locks, is_automatic)"
        " select %s, 'S' || n %% 20, 'host', 'n' || n, now(), 'it fails', true, true from generate_series(1, 2000) n",
        [q.setup],
    )
    q.connection.execute("analyze taskqueue.quarantine")
    q.connection.execute("set local plan_cache_mode = force_generic_plan")
    q.connection.execute(
        """prepare probe (text, taskqueue.offer, text) as
           select exists (select from taskqueue.quarantine_of($1, $2, $3))"""
    )
    plan = "\n".join(row[0] for row in q.rows("explain execute probe ('default', null, 'n17')"))
    assert "using quarantine_pkey" in plan
    [condition] = [line for line in plan.splitlines() if "Index Cond" in line]
    assert all(f"({column} = " in condition for column in ("setup", "site", "name"))
