"""Facts of ends: host, errors and figures of a run reach the row of its end, from requests, reports and ends."""

import uuid
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Match, resource

ERROR = [{"source": "pilot", "code": 1305, "text": "the payload failed"}]
USED = {"cpu": 12.5, "wall": 60, "ram": 2000, "cores": 8}
COLUMNS = "host, error, error_class, cpu_used, wall_used, ram_used, cores_used"
EDGES: list[tuple[str, Any, tuple[str, ...]]] = [
    ("error", "text", ("error is", "not a list")),
    ("error", ERROR * 8, ("error has 8 elements",)),
    ("error", [7], ("error has 7",)),
    ("error", [{"source": "pilot", "cod": 1}], ("error has", "cod")),
    ("error", [{"code": 1}], ("source is missing",)),
    ("error", [{"source": "Pilot"}], ("source is", "Pilot")),
    ("error", [{"source": "p" * 33}], ("source is",)),
    ("error", [{"source": "pilot", "code": 1.5}], ("code is 1.5",)),
    ("error", [{"source": "pilot", "code": 2**31}], ("code is 2147483648",)),
    ("error", [{"source": "pilot", "code": "1305"}], ("code is",)),
    ("error", [{"source": "pilot", "text": 5}], ("error has",)),
    ("used", [1], ("used is [1]",)),
    ("used", {"cpus": 1}, ("used has the key 'cpus'",)),
    ("used", {"cpu": -1}, ("cpu of used is -1",)),
    ("used", {"wall": "60"}, ("wall of used is",)),
    ("used", {"ram": 2e15}, ("ram of used is",)),
    ("used", {"cores": 1.5}, ("cores of used is 1.5",)),
    ("used", {"cores": 32768}, ("cores of used is 32768",)),
    ("host", "", ("host is",)),
    ("host", "n" * 256, ("host is",)),
    ("host", "n17\nother", ("host is",)),
]


@pytest.fixture
def leased(q: Calls) -> Match:
    q.insert(7)
    return q.take(Site="S")


def end_of(q: Calls, job_id: int = 7) -> tuple[Any, ...]:
    """The facts of the last end of a lease; other rows of its history have none."""
    rows = q.rows(f"select event, {COLUMNS} from taskqueue.history where job_id = %s order by at, attempt", job_id)
    ends = [row[1:] for row in rows if row[0] not in ("matched", "running", "kill asked")]
    assert all(row[1:] == (None,) * 7 for row in rows if row[0] in ("matched", "running", "kill asked"))
    return tuple(ends[-1])


def test_an_end_has_the_facts_that_come_with_it(q: Calls, leased: Match) -> None:
    q.call("finish_job", 7, leased.attempt, "failed", Jsonb(ERROR), Jsonb(USED), "n17")
    assert end_of(q)[:2] == ("n17", ERROR)
    assert end_of(q)[3:] == (12.5, 60, 2000, 8)
    assert end_of(q)[2] is not None


def test_an_end_without_facts_takes_over_those_of_reports(q: Calls, leased: Match) -> None:
    q.call_rows("report_job", 7, leased.attempt, "running", None, Jsonb({"cpu": 1, "cores": 8}), "n17")
    q.call_rows("report_job", 7, leased.attempt, None, Jsonb(ERROR), Jsonb({"cpu": 2}), "n18")
    q.call_rows("report_job", 7, leased.attempt, None)
    for megabytes in (500, 2000, 900):
        q.call_rows("report_job", 7, leased.attempt, None, None, Jsonb({"ram": megabytes}))
    q.call("finish_job", 7, leased.attempt, "finished", None, Jsonb({"wall": 9, "ram": 1}))
    assert end_of(q) == ("n17", ERROR, None, 2, 9, 2000, 8)  # the first host, the largest memory, the last of others


def test_a_batch_gives_facts_and_refuses_a_wrong_element_alone(q: Calls) -> None:
    q.insert_many(range(1, 5))
    taken = {one.job_id: one.attempt for one in q.match_jobs(4)}
    facts = {"error": ERROR, "used": USED, "host": "n17"}
    reports = [{"job_id": i, "attempt": taken[i]} for i in sorted(taken)]
    reports[0] |= {"host": "n16"}
    reports[1] |= {"used": {"cpu": "much"}}
    answers = q.call_rows("report_jobs", Jsonb(reports))
    assert [row[1] for row in answers] == ["continue", "refused", "continue", "continue"]
    assert "cpu of used" in answers[1][2]
    ends: list[dict[str, Any]] = [{"job_id": i, "attempt": taken[i], "outcome": "failed"} for i in sorted(taken)]
    ends[0] |= facts
    ends[1] |= facts | {"error": "no list"}
    ends[3] |= facts
    answers = q.call_rows("finish_jobs", Jsonb([*ends, ends[3]]))  # the last job is named twice: it is handled alone
    assert [row[:2] for row in answers] == [(1, "failed"), (2, "refused"), (3, "failed"), (4, "failed"), (4, "failed")]
    assert "error is" in answers[1][2]
    assert q.state(2) == "leased"
    assert end_of(q, 1)[:2] == ("n16", ERROR)
    assert end_of(q, 3) == (None, None, "unknown", None, None, None, None)
    assert end_of(q, 4)[:2] + end_of(q, 4)[3:] == ("n17", ERROR, 12.5, 60, 2000, 8)


@pytest.mark.parametrize(("key", "value", "words"), EDGES)
def test_wrong_facts_are_refused(q: Calls, leased: Match, key: str, value: Any, words: tuple[str, ...]) -> None:
    given = {key: value if key == "host" else Jsonb(value)}
    facts = [given.get("error"), given.get("used"), given.get("host")]
    q.refuses(lambda: q.call("finish_job", 7, leased.attempt, "failed", *facts), "PB001", *words)
    q.refuses(lambda: q.call_rows("report_job", 7, leased.attempt, "running", *facts), "PB001", *words)
    [answer] = q.call_rows("finish_jobs", Jsonb([{"job_id": 7, "attempt": leased.attempt, key: value}]))
    assert answer[1] == "refused"
    assert [word for word in words if word not in answer[2]] == []
    assert q.state(7) == "leased"


def test_a_null_is_no_fact(q: Calls, leased: Match) -> None:
    nothing = {"error": None, "used": {"cpu": None}, "host": None}
    [answer] = q.call_rows("finish_jobs", Jsonb([{"job_id": 7, "attempt": leased.attempt, **nothing}]))
    assert answer[1] == "finished"
    assert end_of(q) == (None,) * 7


def test_the_text_of_an_error_is_cut_and_has_no_control_characters(q: Calls, leased: Match) -> None:
    text = "out of\x1b[31m memory\n" + "\u202e" + "é" * 300
    q.call("finish_job", 7, leased.attempt, "failed", Jsonb([{"source": "exe", "text": text}]))
    assert end_of(q)[1] == [{"source": "exe", "text": ("out of [31m memory  " + "é" * 300)[:200]}]


@pytest.mark.parametrize("call", ["match_job", "match_jobs", "match_many", "match_jobs_with_seed", "JobID"])
def test_each_way_to_a_job_keeps_the_host(q: Calls, call: str) -> None:
    q.insert(7, Sites=["S"])
    for host in ("n17", "n18"):  # the second request has a known description
        description = Jsonb(resource(Site="S", HostName=host))
        if call == "match_job":
            q.call_rows("match_job", description)
        elif call == "match_jobs":
            q.insert(8, Sites=["S"])
            assert len(q.call_rows("match_jobs", description, 2)) == 2
        elif call == "match_many":
            other = Jsonb([{"resources": [{"CPUTime": 1, "HostName": "n0", "Site": "T"}, description.obj]}])
            q.call_rows("match_many", other)
        elif call == "JobID":
            q.call_rows("match_job", Jsonb(description.obj | {"JobID": 7}))
        else:
            q.call_rows("match_jobs_with_seed", description, 1, 5)
        leases = q.rows("select job_id, host, taskqueue.attempt_text(attempt, token) from taskqueue.lease")
        assert {row[1] for row in leases} == {host}
        for job_id, _, attempt in leases:
            q.call("release_job", job_id, attempt)
            assert end_of(q, job_id)[0] == host
    assert q.value("select count(*) from taskqueue.parsed_description") <= 2  # the host is no part of a description
    kinds = q.rows("select resource from taskqueue.resource_seen union select resource from taskqueue.resource_class")
    assert not any("HostName" in kind for (kind,) in kinds)


@pytest.mark.parametrize("host", ["", None, 7, ["n17"], "n" * 256, "n17\n", "n\u202e17"])
def test_a_host_that_is_no_name_is_refused_with_a_known_description_too(q: Calls, host: Any) -> None:
    q.insert(7, Sites=["S"])
    lease = q.take(Site="S", HostName="n17")
    q.call("release_job", 7, lease.attempt)
    wrong = Jsonb({"CPUTime": 10**9, "Site": "S", "HostName": host})
    q.refuses(lambda: q.call_rows("match_job", wrong), "PB001", "HostName")
    q.refuses(lambda: q.call_rows("match_jobs", wrong, 2), "PB001", "HostName")
    q.refuses(lambda: q.call_rows("explain_resource", wrong), "PB001", "HostName")
    [answer] = q.rows("select * from taskqueue.match_many('default', %s)", Jsonb([{"resources": [wrong.obj]}]))
    assert answer[6]["code"] == "PB001"
    assert q.state(7) == "waiting"


def test_the_host_is_a_part_of_what_a_request_asked(q: Calls) -> None:
    q.insert(7)
    request = uuid.uuid4()
    first = q.match(request, HostName="n17")
    assert q.match(request, HostName="n17") == first
    q.refuses(lambda: q.match(request, HostName="n18"), "PB001", str(request))


def test_each_end_of_a_lease_has_the_host(q: Calls) -> None:
    q.insert(7)
    lease = q.take(HostName="n17")
    q.call("cancel_job", 7)
    q.call("release_job", 7, lease.attempt)  # it was marked for kill, so it ends
    assert (q.outcome(7), end_of(q)[0], end_of(q)[2]) == ("cancelled", "n17", None)


@pytest.mark.parametrize("reported", [None, ERROR])
def test_a_lost_job_is_lost_unless_its_errors_have_a_class(q: Calls, reported: Any) -> None:
    q.insert(7)
    lease = q.take(HostName="n17")
    q.call_rows("report_job", 7, lease.attempt, "running", reported and Jsonb(reported))
    q.connection.execute("update taskqueue.lease set expires_at = now() - interval '1 second'")
    q.rows("select * from lifecycle.expire_leases('default')")
    host, error, found = end_of(q)[:3]
    assert (q.outcome(7), host, error) == ("failed", "n17", reported)
    known = q.value("select taskqueue.error_class_of('default', %s)", Jsonb(reported) if reported else None)
    assert found == (known or "lost")


def test_a_dump_of_leases_has_the_facts(q: Calls, leased: Match) -> None:
    q.call_rows("report_job", 7, leased.attempt, "running", Jsonb(ERROR), Jsonb(USED), "n17")
    [(dumped,)] = q.call_rows("dump_leases")
    assert (dumped["host"], dumped["error"], dumped["used"]) == ("n17", ERROR, USED)
    q.connection.execute("delete from taskqueue.lease")
    q.call("load_leases", Jsonb([dumped]))
    assert q.call_rows("dump_leases") == [(dumped,)]
    q.refuses(lambda: q.call("load_leases", Jsonb([dumped | {"used": {"cpu": -1}}])), "PB001", "cpu of used")


@pytest.mark.parametrize("figure", [1e-50, 5e-324])
def test_a_figure_that_is_almost_nothing_is_0(q: Calls, leased: Match, figure: float) -> None:
    used = dict.fromkeys(("cpu", "wall", "ram"), figure)
    [answer] = q.call_rows("report_jobs", Jsonb([{"job_id": 7, "attempt": leased.attempt, "used": used}]))
    assert answer[1] == "continue"
    q.call("finish_job", 7, leased.attempt, "finished", None, Jsonb(used))
    assert end_of(q)[3:6] == (0, 0, 0)
