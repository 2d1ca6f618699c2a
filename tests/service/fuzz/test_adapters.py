"""Calls as clients of PanDA, DIRAC and DiracX make them, with valid, nearly valid and hostile fields: no call causes a
fault of the service, and each answer has the envelope that the client reads.

The examples are the same in each run. `BROKER_TEST_FUZZ_SERVICE=2000` makes 2,000 examples of each call, which
differ in each run.
"""

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from broker.service.endpoints import ENDPOINTS
from tests.service.fuzz.conftest import KINDS, Target

GIVEN = os.environ.get("BROKER_TEST_FUZZ_SERVICE")
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
HOSTILE: list[Any] = [
    "", "NULL", "None", " ", "0", "-1", "1.5", "1e3", "1E400", "NaN", "Infinity", "9" * 20, "9" * 400,
    str(2**63 - 1), str(2**63), "1" * 2000, "\0", "a\0b", "\ud800", "é\u202e", "'; select 1; --", "%s", "[]", "{}",
    "٣", None, True, False, 0, -1, 1, 1.5, 1e300, 2**31, 2**63 - 1, 2**63, 2**64, [], {}, [[]], [None], {"a": {}},
    "[" * 500, "true",
]  # fmt: skip
STATES = [
    "starting", "running", "holding", "transferring", "finished", "failed", "cancelled", "closed", "Matched", "Running",
    "Completing", "Done", "Completed", "Failed", "Killed", "Rescheduled", "Waiting", "Deleted", "Stalled", "started",
]  # fmt: skip
SITES = ["NORTH", "SOUTH", "nowhere"]
NUMBERS: list[Any] = [0, 1, 2, 86400, "1", "86400", 1000.5]
TIMES = [
    "2026-03-28T12:00:00Z", "2026-03-28 12:00:00", "2026-03-28", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59",
]  # fmt: skip
COLUMNS = [
    "JobID", "Site", "OwnerGroup", "LastUpdateTime", "Owner", "Status", "SubmissionTime", "UserPriority",
    "HeartBeatTime", "RescheduleCounter", "nothing",
]  # fmt: skip
OPERATORS = ["eq", "neq", "gt", "lt", "in", "not in", "like", "not like", "regex", "is"]
RESOURCE_KEYS = [
    "Site", "GridCE", "Platform", "JobType", "PilotType", "OwnerGroup", "Tag", "RequiredTag", "CPUTime", "MaxRAM",
    "Owner", "OwnerDN", "JobID", "NumberOfProcessors", "WholeNode", "DIRACVersion", "Setup", "HostName",
]  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A request. fields: those of a query (GET), a form, or JSON. raw: bytes that replace the body."""

    fields: Any
    media_type: str = JSON
    raw: bytes | None = None
    accept: str = "*/*"
    zipped: bool = False

    @property
    def body(self) -> bytes:
        """The body."""
        if self.raw is not None:
            return self.raw
        if self.media_type == FORM and isinstance(self.fields, Mapping):
            texts = {name: "" if value is None else value for name, value in self.fields.items()}
            text = urlencode(texts, errors="surrogatepass").encode()
        else:
            text = json.dumps(self.fields).encode()
        return gzip.compress(text) if self.zipped else text


def anything(*likely: Any) -> st.SearchStrategy[Any]:
    """Mostly one of the likely values, otherwise a hostile one."""
    hostile = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20), st.integers(), st.floats())
    if not likely:
        return hostile
    return st.one_of(*[st.sampled_from(likely)] * 4, hostile)


def some_of(values: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """An object that lacks a few of these members and may have an unknown one."""

    @st.composite
    def draw_one(draw: st.DrawFn) -> dict[str, Any]:
        found = {name: draw(of) for name, of in values.items() if draw(st.integers(0, 7))}
        return found | draw(st.sampled_from([{}, {}, {"unknown": "x"}, {"site": 5}]))

    return draw_one()


def rarely(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly the first, rarely the other."""
    return st.one_of(*[usual] * 7, anything())


def panda(target: Target, path: str) -> st.SearchStrategy[Request]:
    """Fields of PanDA's calls. They have the names of both APIs, since each API ignores the names of the other."""
    jobs = anything(*target.known["job_id"], *map(str, target.known["job_id"]))
    number, state, name = anything(*NUMBERS), anything(*STATES), anything("a", "b")
    site = anything(*SITES, *target.known["queue"])
    run = {"pilot_error_code": number, "pilotErrorDiag": name, "exeErrorCode": number, "exe_error_diag": name,
           "node": name, "maxRSS": number, "max_rss": number, "cpuConsumptionTime": number, "core_count": number,
           "startTime": anything(*TIMES, *NUMBERS), "endTime": anything(*TIMES, *NUMBERS),
           "cpuConsumptionUnit": anything("s", "s+Intel")}  # fmt: skip
    each = some_of({"job_id": jobs, "job_status": state, "attempt_nr": number, **run})
    fields = some_of({
        "jobId": jobs, "job_id": jobs, "state": state, "job_status": state, "attemptNr": number, "attempt_nr": number,
        "pilotErrorCode": number, **run, "siteName": site, "site_name": site, "nJobs": number,
        "n_jobs": number, "prodSourceLabel": anything("managed", "user", "unified"), "mem": number, "memory": number,
        "remaining_time": number, "computingElement": name, "resourceType": anything("SCORE", "MCORE_HIMEM"),
        "prodUserID": name, "taskID": anything("0", "1", None), "task_id": anything("0", None),
        "ids": st.one_of(jobs, st.lists(jobs, max_size=4).map(lambda ids: " ".join(map(str, ids)))),
        "job_ids": st.lists(jobs, max_size=4), "job_list": rarely(st.lists(each, max_size=4)),
        "workerID": name, "worker_id": name, "harvesterID": name, "harvester_id": name, "site": site,
        "status": anything("started", "finished"), "host_name": name, "cpu_model": name, "vendor": name, "model": name,
        "count": number,
    })  # fmt: skip
    types = st.sampled_from([FORM, FORM, JSON] if path.startswith("/server/") else [JSON, JSON, JSON, FORM, ""])
    return st.builds(
        Request, rarely(fields), types, raw(), st.sampled_from(["*/*", JSON]), st.sampled_from([False, False, True])
    )


def raw() -> st.SearchStrategy[bytes | None]:
    """Rarely a body that is not valid."""
    nothings = [b"", b"{", b"\xff", b"\x1f\x8b\x08", b"%ff=%fe&a=%00", b"[" * 5000, b"a=1&a=2", b'{"a": 1, "a": 2}']
    return st.one_of(*[st.none()] * 15, st.sampled_from(nothings))


def dirac(target: Target, _: str) -> st.SearchStrategy[Request]:
    """Methods of all services, with arguments of each."""
    job = anything(*target.known["job_id"], *map(str, target.known["job_id"]), "9" * 18, "9" * 19)
    status, name, many = anything(*STATES), anything("a", "b"), st.lists(job, max_size=4)
    values = anything("NORTH", ["NORTH", "SOUTH"], 86400, "86400", "1e3", ["GPU"], "['GPU', 'big']", 4, True)
    resource = some_of(dict.fromkeys(RESOURCE_KEYS, values))
    facts = ["HostName", "CPUConsumed", "WallClockTime", "MemoryUsed", "TotalCPUTime(s)", "NumberOfProcessors"]
    key = st.one_of(st.sampled_from(facts), st.text(max_size=5))
    by_name = st.dictionaries(key, anything(1, "x"), max_size=3)
    times = st.dictionaries(
        rarely(st.sampled_from(TIMES)).map(str),
        some_of(dict.fromkeys(["Status", "MinorStatus", "ApplicationStatus"], status)),
        max_size=3,
    )
    args = {
        "requestJob": [resource], "getMatchingTaskQueues": [resource], "getActiveTaskQueues": [], "ping": [],
        "getJobsStatus": [st.one_of(job, many)], "setJobStatus": [job, status, name, name, anything(None, "x"), name],
        "setJobStatusBulk": [job, rarely(times), name], "setJobAttribute": [job, anything("Status", "Site"), status],
        "setJobSite": [job, name], "setJobApplicationStatus": [job, name, name], "setJobParameter": [job, name, name],
        "setJobParameters": [job, st.one_of(st.lists(st.lists(name, min_size=1, max_size=3), max_size=3),
                                            by_name.map(lambda pairs: [list(pair) for pair in pairs.items()]))],
        "setJobsParameter": [st.dictionaries(job.map(str), st.lists(name, max_size=3), max_size=3)],
        "sendHeartBeat": [job, rarely(by_name), rarely(by_name)], "noSuchMethod": [name],
    }  # fmt: skip

    @st.composite
    def form(draw: st.DrawFn) -> dict[str, Any]:
        method = draw(st.sampled_from(list(args)))
        given = [draw(one) for one in args[method]]
        given = given[: len(given) - draw(st.sampled_from([0, 0, 0, 0, 0, 1]))]
        text = json.dumps(draw(rarely(st.just(given))))
        found = {"method": method, "args": draw(rarely(st.just(text)))}
        return found | draw(st.sampled_from([{}, {"clientVO": "vo"}, {"extraCredentials": '"x"'}]))

    return st.builds(Request, form(), st.sampled_from([FORM] * 7 + [JSON]), raw())


def diracx(target: Target, path: str) -> st.SearchStrategy[Request]:
    """Bodies of DiracX's calls."""
    job = anything(*target.known["job_id"], *map(str, target.known["job_id"])).map(str)
    column, value = anything(*COLUMNS), anything("NORTH", "Waiting", "1", 1, *TIMES)
    spec = some_of(
        {"parameter": column, "operator": anything(*OPERATORS), "value": value, "values": st.lists(value, max_size=3)}
    )
    spec = st.one_of(
        spec, some_of({"parameter": column, "operator": st.sampled_from(["eq", "neq", "gt", "lt"]), "value": value})
    )
    sort = some_of({"parameter": column, "direction": anything("asc", "desc")})
    listed = st.lists(spec, max_size=3)
    number = anything(1.5, 10, None)
    beat = some_of(dict.fromkeys(("HostName", "MemoryUsed", "CPUConsumed", "StandardOutput"), number))
    words = dict.fromkeys(("MinorStatus", "ApplicationStatus", "Source"), anything("x"))
    update = some_of({"Status": anything(*STATES), **words})
    bodies: dict[str, st.SearchStrategy[Any]] = {
        "search": some_of({
            "parameters": st.lists(column, max_size=3), "search": listed, "sort": st.lists(sort, max_size=2),
            "distinct": anything(True, False),
        }),
        "summary": some_of({"grouping": st.lists(column, max_size=3), "search": listed}),
        "heartbeat": st.dictionaries(job, beat, max_size=3), "metadata": st.dictionaries(job, beat, max_size=3),
        "status": st.dictionaries(job, st.dictionaries(anything(*TIMES).map(str), update, max_size=3), max_size=3),
    }  # fmt: skip
    return st.builds(Request, rarely(bodies[path.rpartition("/")[2]]), st.sampled_from([JSON] * 9 + [FORM]), raw())


def in_panda(path: str, answer: requests.Response, sent: Request) -> bool:
    """Whether PanDA's clients can read it."""
    if answer.status_code != 200:
        return answer.status_code in (403, 413) and answer.text.startswith("ERROR : ")
    if path.startswith("/api/"):
        found = answer.json()
        return [*found] == ["success", "message", "data"] and isinstance(found["success"], bool)
    found = answer.json() if sent.accept == JSON else parse_qs(answer.text, strict_parsing=True)
    return "StatusCode" in found and ("errorDialog" in found or str(found["StatusCode"]).strip("[']") in ("0", "20"))


def in_dirac(_: str, answer: requests.Response, __: Request) -> bool:
    """Whether DIRAC's clients can read it."""
    found = answer.json()
    if answer.status_code == 200 and found["OK"]:
        return [*found] == ["OK", "Value"]
    return answer.status_code in (200, 401, 403, 501) and [*found] == ["OK", "Errno", "Message"] and not found["OK"]


def in_diracx(path: str, answer: requests.Response, _: Request) -> bool:
    """Whether DiracX's clients can read it."""
    if answer.status_code == 204:
        return path.endswith("metadata") and not answer.content
    found = answer.json()
    if answer.status_code in (200, 206, 416):
        return isinstance(found, dict if path.endswith("status") else list)
    return answer.status_code in (400, 401, 403, 404, 413, 415, 422) and [*found] == ["detail"]


ADAPTERS: dict[str, tuple[Callable[[Target, str], st.SearchStrategy[Request]], Callable[..., bool], Sequence[str]]] = {
    "panda": (panda, in_panda, ["agent", "agent", "agent", *KINDS]),
    "DIRAC": (dirac, in_dirac, ["agent", "agent", "agent", *KINDS]),
    "diracx": (diracx, in_diracx, ["agent", *KINDS]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", list(ADAPTERS))
def test_an_adapter_gives_answers_that_its_clients_can_read(target: Target, adapter: str) -> None:
    requests_of, is_read, kinds = ADAPTERS[adapter]
    endpoints = [one for one in ENDPOINTS if one.adapter and one.adapter.name == adapter]
    drawn = st.sampled_from(endpoints).flatmap(
        lambda one: st.tuples(st.just(one), requests_of(target, one.path), st.sampled_from(kinds))
    )

    @settings(
        max_examples=int(GIVEN) * len(endpoints) if GIVEN else 240, deadline=None, derandomize=not GIVEN,
        database=None, phases=[Phase.generate, Phase.shrink] if GIVEN else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(drawn)
    def call(chosen: tuple[Any, Request, str]) -> None:
        endpoint, sent, kind = chosen
        headers = {"Content-Type": sent.media_type, "Accept": sent.accept, **target.headers(kind)}
        if endpoint.method == "GET":
            known = sent.fields if isinstance(sent.fields, dict) else {}
            query = urlencode({"job_ids": known.get("job_ids", [])}, doseq=True, errors="surrogatepass")
            answer = target.session.get(f"{target.url}{endpoint.path}?{query}", headers=headers)
        else:
            answer = target.session.request(
                endpoint.method, target.url + endpoint.path, data=sent.body, headers=headers
            )
        assert is_read(endpoint.path, answer, sent), f"{answer.status_code} {answer.text[:300]}"

    call()
