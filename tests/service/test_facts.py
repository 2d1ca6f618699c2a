"""Facts of runs: what the service takes from bodies, and what it makes of the values that clients of others send."""

import asyncio
import json
import math
from typing import Any

import httpx
import pytest

from broker.service.adapters import facts
from broker.service.callers import Caller, Subject
from broker.service.reports import FINISH, Reporter, Unproven
from tests.service.conftest import WANTED, Db, Jobs, facts_of

ERROR = [{"source": "pilot", "code": 1305, "text": "the payload failed"}]
USED = {"cpu": 12.5, "wall": 60, "ram": 2000, "cores": 8}
ODD: list[Any] = [
    "", " ", "NULL", "None", None, True, False, 0, -1, "-1", 1.5, "1.5", 1e-50, 1e300, "1E400", "9" * 400, 10**290,
    2**31, -(2**31) - 1, math.nan, math.inf, -math.inf, "nan", "a\0b", "\ud800", "\udfff" * 300, "é\u202e\x1b[31m",
    "x" * 50_000, "n17\nother", [], ["n17"], [[]], {}, {"a": {}}, "slot1@" + "n" * 300, "@", "'; select 1; --", "%s",
]  # fmt: skip
"""Values of any field of a client: text that no database holds, numbers out of all bounds, other types."""


def odd_fields(*names: str) -> list[dict[str, Any]]:
    """Fields with these names for some jobs, in which each odd value occurs."""
    rounds = -(-len(ODD) // len(names))
    return [dict(zip(names, (ODD * 2)[start * len(names) :], strict=False)) for start in range(rounds)]


def are_bounded(found: tuple[Any, ...]) -> bool:
    """Whether facts (facts_of) have a text and figures within the bounds of the database."""
    host, error, *used = found
    texts = [host or "n", *(one.get("text", "") for one in error or [])]
    return max(map(len, texts)) <= 255 and all(figure is None or 0 <= figure <= 1e15 for figure in used)


def leases(agent: httpx.Client, jobs: Jobs, count: int) -> list[dict[str, Any]]:
    """Leases of the agent."""
    jobs(count)
    matches = agent.post("/match", json={**WANTED, "n": count}).json()["matches"]
    return [{"job_id": one["job_id"], "attempt": one["attempt"]} for one in matches]


def test_a_body_has_the_facts_of_reports_and_ends(agent: httpx.Client, jobs: Jobs, db: Db) -> None:
    jobs(2)
    described = {"resources": [{"CPUTime": 86400, "HostName": "n17"}], "n": 2}
    first, second = (
        {"job_id": one["job_id"], "attempt": one["attempt"]}
        for one in agent.post("/match", json=described).json()["matches"]
    )
    assert agent.post("/jobs/report", json=[{**first, "used": {"cpu": 3}, "host": "n18"}]).json()[0]["action"]
    assert facts_of(db, first["job_id"]) == ("n17", None, 3, None, None, None)
    ends = [{**one, "outcome": "failed", "error": ERROR, "used": USED} for one in (first, second)]
    assert [one["outcome"] for one in agent.post("/jobs/finish", json=ends).json()] == ["failed", "failed"]
    for one in (first, second):
        assert facts_of(db, one["job_id"]) == ("n17", ERROR, 12.5, 60, 2000, 8)


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ({"error": [{"code": 1}]}, "source is missing"), ({"error": ERROR * 8}, "error has 8"),
        ({"error": [{"source": "pilot", "code": 10**30}]}, "code is"), ({"used": {"cpu": -1}}, "cpu of used is -1"),
        ({"used": {"hours": 1}}, "'hours'"), ({"host": ""}, "host is"), ({"host": "n17\n"}, "host is"),
    ],
)  # fmt: skip
def test_a_wrong_fact_is_refused_without_harm_to_other_jobs(
    agent: httpx.Client, jobs: Jobs, db: Db, fact: dict[str, Any], words: str
) -> None:
    wrong, right = leases(agent, jobs, 2)
    wrong |= fact
    for path, word in (("/jobs/report", "action"), ("/jobs/finish", "outcome")):
        for body in ([wrong], [wrong, right]):
            refused, *others = agent.post(path, json=body).json()
            assert (refused[word], words in refused["reason"]) == ("refused", True), refused
            assert [one[word] for one in others] in ([], ["continue"], ["finished"])
    assert facts_of(db, wrong["job_id"]) == (None,) * 6


@pytest.mark.parametrize(("key", "value"), [("error", "text"), ("used", [1]), ("host", 7), ("host", None)])
def test_a_fact_of_another_type_is_refused_with_its_key(agent: httpx.Client, jobs: Jobs, key: str, value: Any) -> None:
    [lease] = leases(agent, jobs, 1)
    refused = agent.post("/jobs/finish", json=[{**lease, key: value}])
    assert (refused.status_code, refused.json()["key"]) == (422, key)


def test_a_long_text_is_cut(agent: httpx.Client, jobs: Jobs, db: Db) -> None:
    [lease] = leases(agent, jobs, 1)
    end = {**lease, "error": [{"source": "exe", "text": "x" * 900_000}]}
    assert agent.post("/jobs/finish", json=[end]).json()[0]["outcome"] == "finished"
    assert facts_of(db, 1)[1] == [{"source": "exe", "text": "x" * 200}]


class _Database:
    """A database that answers after a moment and keeps the lengths of what it is asked."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    async def as_role(self, _: str, __: str, ___: str, values: list[str]) -> list[tuple[Any, ...]]:
        self.lengths.append(len(values[1]))
        await asyncio.sleep(0.01)
        return [(one["job_id"], "finished", None) for one in json.loads(values[1])]


def test_long_texts_of_many_callers_are_several_calls_of_the_database() -> None:
    database = _Database()
    reporter = Reporter(database, FINISH, lambda _: None)  # type: ignore[arg-type]
    caller = Caller("default", "broker_agent", Subject("a", "default"), "")
    error = [{"source": "exe", "text": "x" * 2**20}]

    async def end_all() -> list[Any]:
        ends = [Unproven(number, outcome="failed", error=error) for number in range(20)]
        return list(await asyncio.gather(*(reporter.answer(caller, one) for one in ends)))

    assert [row[0] for row in asyncio.run(end_all())] == list(range(20))
    assert max(database.lengths) < 5 * 2**20


def test_a_host_that_an_adapter_takes_is_taken_by_the_database(db: Db) -> None:
    taken = [char for char in map(chr, range(1, 0x110000)) if not 0xD800 <= ord(char) < 0xE000 and facts.host(char)]
    assert len(taken) > 100_000
    refused = db.execute("select c from unnest(%s::text[]) c where resource.unprintable(c)", [taken]).fetchall()
    assert refused == []


@pytest.mark.parametrize(
    ("given", "found"),
    [("n17", "n17"), ("slot1_3@n17.org", "n17.org"), (" n17 ", "n17"), ("n" * 255, "n" * 255), ("n" * 256, None)],
)
def test_a_host_is_the_node_without_the_slot(given: str, found: str | None) -> None:
    assert facts.host(given) == found


FIELDS = [
    *(f"{source}Error{part}" for source in ("pilot", "exe", "sup", "ddm", "brokerage", "jobDispatcher", "taskBuffer")
      for part in ("Code", "Diag")),
    "node", "cpuConsumptionTime", "cpuConsumptionUnit", "maxRSS", "coreCount", "startTime", "endTime",
]  # fmt: skip
PARAMETERS = [
    "HostName", "TotalCPUTime(s)", "LastUpdateCPU(s)", "CPUConsumed", "WallClockTime(s)", "WallClockTime", "MemoryUsed",
    "MemoryUsed(MB)", "NumberOfProcessors",
]  # fmt: skip


def test_facts_of_any_values_are_those_that_the_database_takes(db: Db) -> None:
    """All pairs of two odd values, so that a field is odd beside another one that is odd in another way."""
    pairs = [(one, other) for one in ODD for other in ODD]
    found = []
    for one, other in pairs:
        mixed = [one if number % 2 else other for number in range(len(FIELDS))]
        found += [
            facts.of_pilot(dict(zip(FIELDS, mixed, strict=True))),
            facts.of_parameters(dict(zip(PARAMETERS, mixed, strict=False))),
            facts.of_parameters(one), facts.of_failure([(one, other), (other, one)]),
        ]  # fmt: skip
    texts = [json.dumps(each, allow_nan=False) for each in found]
    query = """select r.fault, length(r::text) from unnest(%s::text[]) f (f)
                cross join lateral (select * from taskqueue.read_facts(f.f::jsonb)) r"""
    faults, lengths = zip(*db.execute(query, [texts]).fetchall(), strict=True)
    assert set(faults) == {None}
    assert max(lengths) < 4000
    assert max(map(len, texts)) < 8 * 200 * 14  # a character is at most 12 in JSON


PILOT = {
    "pilotErrorCode": 1305, "pilotErrorDiag": "the payload failed", "exeErrorCode": "65", "exeErrorDiag": "",
    "node": "slot1@n17", "cpuConsumptionTime": 3600, "cpuConsumptionUnit": "s+Intel Xeon", "maxRSS": 2048000,
    "coreCount": "8", "startTime": 1000.5, "endTime": 1100.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {}),
        ({"pilotErrorCode": 0, "exeErrorCode": "0"}, {"error": None}),
        ({"pilotErrorCode": "NULL", "exeErrorCode": None}, {"error": None}),
        ({"pilotErrorCode": -1}, {"error": [{"source": "pilot", "code": -1, "text": "the payload failed"},
                                            {"source": "exe", "code": 65}]}),
        ({"pilotErrorCode": 2**40}, {"error": [{"source": "pilot", "text": "the payload failed"},
                                               {"source": "exe", "code": 65}]}),
        ({"jobDispatcherErrorCode": 100, "ddmErrorCode": 200},
         {"error": [{"source": "pilot", "code": 1305, "text": "the payload failed"}, {"source": "exe", "code": 65},
                    {"source": "ddm", "code": 200}, {"source": "jobdispatcher", "code": 100}]}),
        ({"cpuConsumptionUnit": "HS06sec+Intel"}, {"cpu": None}),
        ({"cpuConsumptionUnit": None}, {}), ({"cpuConsumptionUnit": "+UNKNOWN"}, {}),
        ({"cpuConsumptionTime": -1}, {"cpu": None}), ({"maxRSS": -1}, {"ram": None}), ({"maxRSS": 0}, {"ram": None}),
        ({"coreCount": 0}, {"cores": None}), ({"coreCount": 2**20}, {"cores": None}),
        ({"startTime": "2026-03-28 12:00:00", "endTime": "2026-03-28 12:01:40"}, {}),
        ({"endTime": 1000}, {"wall": None}), ({"startTime": None}, {"wall": None}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("api", ["older", "v1"])
def test_the_fields_of_a_pilot_have_its_units(changed: dict[str, Any], expected: dict[str, Any], api: str) -> None:
    given = PILOT | changed
    if api == "v1":
        given = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): one for name, one in given.items()}
        given["max_rss"] = given.pop("max_r_s_s")
    error = [{"source": "pilot", "code": 1305, "text": "the payload failed"}, {"source": "exe", "code": 65}]
    all_ = {"error": error, "host": "n17", "cpu": 3600, "wall": 100, "ram": 2000, "cores": 8} | expected
    found = facts.of_pilot(given)
    assert {"error": found.get("error"), "host": found.get("host"),
            **{key: found["used"].get(key) for key in USED}} == all_  # fmt: skip
