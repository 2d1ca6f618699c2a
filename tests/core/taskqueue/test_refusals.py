"""Refused calls: the message names key and value, and nothing is stored."""

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements, resource

LISTS = [
    "SubmitPools", "GridMiddlewares", "PilotTypes", "Sites", "BannedSites", "GridCEs", "Platforms", "LHCbPlatforms",
    "JobTypes", "Tags",
]  # fmt: skip
BIG = 2**63  # one more than the largest bigint

# requirements, and the words that the message must name
BAD_REQUIREMENTS: list[tuple[dict[str, Any], list[str]]] = [
    *[(requirements(**{key: value}), [key, *shown]) for key, value, *shown in (
        ("Setup", "other", "other", "default"), ("Setup", 5, "5"), ("Owner", "bob", "OwnerDN", "bob", "alice"),
        ("OwnerDN", None), ("OwnerGroup", None), ("CPUTime", None),
    )],
    ({**requirements(), "OwnerDN": None}, ["OwnerDN"]),
    ({**requirements(), "OwnerGroup": None}, ["OwnerGroup"]),
    ({**requirements(), "CPUTime": None}, ["CPUTime"]),
    *[(requirements(**{key: value}), [key, *shown]) for key, value, *shown in (
        ("OwnerDN", ""), ("OwnerGroup", ""), ("OwnerDN", 7, "7"), ("OwnerDN", ["alice"], "alice"),
        ("OwnerGroup", ["users"], "users"), ("OwnerGroup", {"a": 1}), ("CPUTime", -1, "-1"),
        ("CPUTime", -0.001, "-0.001"), ("CPUTime", "500", "500"), ("CPUTime", [500], "500"),
        ("CPUTime", True, "true"), ("CPUTime", 10**400), ("MinRAM", "1", "1"), ("MaxRAM", [1], "1"),
        ("MinRAM", -1, "-1"), ("MaxRAM", -1, "-1"),
    )],
    (requirements(MinRAM=2001, MaxRAM=2000), ["MinRAM", "2001", "MaxRAM", "2000"]),
    (requirements(Platforms=["a"], LHCbPlatforms=["b"]), ["Platforms", "LHCbPlatforms", "a", "b"]),
    *[(requirements(**{key: ["A"]}), [key]) for key in ("Sitess", "Site", "sites")],
    *[(requirements(**{key: [""]}), [key]) for key in LISTS],
    *[(requirements(**{key: ["a", ""]}), [key]) for key in LISTS],
    *[(requirements(**{key: ["a", 5]}), [key, "5"]) for key in LISTS],
    *[(requirements(**{key: [["a"]]}), [key]) for key in LISTS],
    *[(requirements(**{key: 5}), [key, "5"]) for key in LISTS],
    *[(requirements(**{key: {"a": 1}}), [key]) for key in LISTS],
    *[(requirements(**{key: True}), [key, "true"]) for key in LISTS],
    *[(requirements(**{key: [None]}), [key]) for key in LISTS],
]  # fmt: skip


@pytest.fixture(scope="module")
def _settled_once() -> Iterator[list[psycopg.Connection[Any]]]:
    opened: list[psycopg.Connection[Any]] = []
    yield opened
    for connection in opened:
        connection.close()


@pytest.fixture
def settled(new_database: Callable[..., str], _settled_once: list[psycopg.Connection[Any]]) -> Iterator[Calls]:
    """A setup with a waiting job (1), a leased one (2) and an ended one (3), and all kinds of configuration.

    It is filled once; each test is rolled back.
    """
    if not _settled_once:
        connection = psycopg.connect(new_database(kept=True))
        _fill(Calls(connection))
        connection.commit()
        _settled_once.append(connection)
    yield Calls(_settled_once[0])
    _settled_once[0].rollback()


def _fill(q: Calls) -> None:
    for job_id in (2, 3, 1):
        q.insert(job_id, 5, JobTypes=["T"], PilotTypes=["private"])
        if job_id != 1:
            match = q.take(Site="S", PilotType="private")
            if job_id == 3:
                q.call("finish_job", 3, match.attempt)
    q.set_group("users", 500, True)
    q.running_limit("JobTypes", "T", 5)


def refused(q: Calls, sqlstate: str, words: list[str], function: str, *arguments: Any) -> None:
    """The call is refused with these words, and every table is as before."""
    before = q.stored()
    q.refuses(lambda: q.call_rows(function, *arguments), sqlstate, *words)
    assert q.stored() == before


@pytest.mark.parametrize(("bad", "words"), BAD_REQUIREMENTS, ids=lambda value: str(value)[:60])
def test_bad_requirements_are_refused_by_key_and_value(settled: Calls, bad: dict[str, Any], words: list[str]) -> None:
    before = settled.stored()
    good = {"job_id": 10, "requirements": requirements(Sites=["new"])}
    for call, arguments in (
        ("insert_job", (11, Jsonb(bad))),
        ("insert_jobs", (Jsonb([good, {"job_id": 11, "requirements": bad}]),)),
        ("insert_jobs", (Jsonb([good, {"requirements": bad, "jobs": [[11, 1]]}]),)),
    ):
        settled.refuses(partial(settled.call, call, *arguments), "PB001", *words)
    assert settled.stored() == before


@pytest.mark.parametrize("bad", [None, [], "text", 5, True, [requirements()]], ids=str)
def test_requirements_that_are_no_object_are_refused(settled: Calls, bad: Any) -> None:
    refused(settled, "PB001", ["requirements"], "insert_job", 11, Jsonb(bad))
    refused(settled, "PB001", [], "insert_jobs", Jsonb([{"job_id": 11, "requirements": bad}]))
    refused(settled, "PB001", [], "insert_jobs", Jsonb([{"jobs": [[11, 1]], "requirements": bad}]))


def test_missing_requirements_are_refused(settled: Calls) -> None:
    refused(settled, "PB001", ["requirements"], "insert_job", 11, None)
    refused(settled, "PB001", ['{"job_id": 11}'], "insert_jobs", Jsonb([{"job_id": 11}]))


@pytest.mark.parametrize("job_id", [0, -1, None, -(2**63)])
def test_a_job_id_that_is_not_positive_is_refused(settled: Calls, job_id: int | None) -> None:
    word = [str(job_id)] if job_id is not None else []
    refused(settled, "PB001", ["job_id", *word], "insert_job", job_id, Jsonb(requirements()))


@pytest.mark.parametrize("job_id", [0, -1, None, 1.5, BIG, 10**30, "7", True, [7], {}], ids=str)
def test_a_job_id_in_a_batch_that_is_not_a_positive_bigint_is_refused(settled: Calls, job_id: Any) -> None:
    refused(settled, "PB001", ["job"], "insert_jobs", Jsonb([{"job_id": job_id, "requirements": requirements()}]))
    refused(settled, "PB001", ["job"], "insert_jobs", Jsonb([{"jobs": [[job_id, 1]], "requirements": requirements()}]))


@pytest.mark.parametrize("priority", [-1, 11, 1000, None])
def test_a_user_priority_outside_0_to_10_is_refused(settled: Calls, priority: int | None) -> None:
    word = [str(priority)] if priority is not None else []
    refused(settled, "PB001", ["riority", *word], "insert_job", 11, Jsonb(requirements()), priority)


@pytest.mark.parametrize("priority", [-1, 11, 1.5, "1", True, [1], 10**30], ids=str)
def test_a_wrong_user_priority_in_a_batch_is_refused(settled: Calls, priority: Any) -> None:
    single = {"job_id": 11, "requirements": requirements(), "user_priority": priority}
    refused(settled, "PB001", ["riority"], "insert_jobs", Jsonb([single]))
    refused(
        settled,
        "PB001",
        ["riority"],
        "insert_jobs",
        Jsonb([{"jobs": [[11, priority]], "requirements": requirements()}]),
    )


@pytest.mark.parametrize(
    "batch",
    [
        None, {}, "text", 5, [5], ["text"], [None], [[]], [{}], [{"jobs": [[11, 1]]}],
        [{"requirements": requirements(), "jobs": 5}],
        [{"requirements": requirements(), "jobs": [11]}],
        [{"requirements": requirements(), "jobs": [[11, 1, 1, 1]]}],
        [{"requirements": requirements(), "jobs": [[]]}],
        [{"requirements": requirements(), "jobs": [None]}],
        [{"requirements": requirements(), "jobs": [[11, 1]], "job_id": 12}],
        [{"requirements": requirements(), "job_id": 11, "prio": 5}],
    ],
    ids=lambda batch: str(batch).replace(str(requirements()), "…")[:50],
)  # fmt: skip
def test_a_batch_of_a_wrong_shape_is_refused(settled: Calls, batch: Any) -> None:
    refused(settled, "PB001", [], "insert_jobs", Jsonb(batch))


def test_a_batch_that_is_no_array_is_shown_by_its_first_100_characters(q: Calls) -> None:
    found = q.refusal(lambda: q.call("insert_jobs", Jsonb("x" * 200)))
    assert found == ("PB001", f'jobs are "{"x" * 95}...", not a JSON array')


@pytest.mark.slow
def test_a_batch_of_more_than_100000_jobs_is_refused(settled: Calls) -> None:
    jobs = [[job_id, 1] for job_id in range(10, 100_011)]
    element = {"requirements": requirements(), "jobs": jobs}
    refused(settled, "PB001", ["100", "100001"], "insert_jobs", Jsonb([element]))
    halves = [{**element, "jobs": jobs[:60_000]}, {**element, "jobs": jobs[60_000:]}]
    refused(settled, "PB001", ["100", "100001"], "insert_jobs", Jsonb(halves))


@pytest.mark.parametrize("setup", [None, ""])
def test_a_missing_setup_is_refused(settled: Calls, setup: str | None) -> None:
    before = settled.stored()
    for query in (
        "select taskqueue.insert_job(%s, 11, %s)",
        "select taskqueue.insert_jobs(%s, jsonb_build_array(jsonb_build_object('job_id', 11,"
        " 'requirements', %s::jsonb)))",
        "select * from taskqueue.match_job(%s, %s)",
        "select * from taskqueue.matching_queues(%s, %s)",
    ):
        body = requirements() if "insert" in query else resource()
        settled.refuses(partial(settled.rows, query, setup, Jsonb(body)), "PB001", "etup")
    assert settled.stored() == before


# Resource descriptions

TEXTS = [
    "PilotType", "Site", "GridCE", "Platform", "JobType", "Tag", "RequiredTag", "OwnerGroup",
    "BannedSite", "BannedGridCE", "BannedPlatform", "BannedJobType", "BannedTag",
]  # fmt: skip
BAD_RESOURCES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["CPUTime"]),
    ({"Site": "S"}, ["CPUTime"]),
    ({"CPUTime": None}, ["CPUTime"]),
    *[(resource(**{key: value}), [key, *shown]) for key, value, *shown in (
        ("CPUTime", -1, "-1"), ("CPUTime", "500", "500"), ("CPUTime", "Infinity", "Infinity"),
        ("CPUTime", "NaN", "NaN"), ("CPUTime", [500], "500"), ("CPUTime", True, "true"), ("CPUTime", 10**400),
        ("MaxRAM", -1, "-1"), ("MaxRAM", "2000", "2000"), ("MaxRAM", "-Infinity", "-Infinity"),
        ("MaxRAM", [2000], "2000"), ("Setup", "other", "other", "default"), ("Setup", ["default"]),
        ("OwnerDN", 5, "5"), ("OwnerDN", ["alice"], "alice"), ("Sites", "S"), ("site", "S"), ("MinRAM", 5),
        ("SubmitPool", "p"), ("NumberOfProcessors", 0, "0"), ("NumberOfProcessors", -1, "-1"),
        ("NumberOfProcessors", 1025, "1025"), ("NumberOfProcessors", 1.5, "1.5"), ("NumberOfProcessors", "4", "4"),
        ("NumberOfProcessors", True, "true"), ("WholeNode", "yes", "yes"), ("WholeNode", 1, "1"),
        ("JobID", "5", "5"), ("JobID", 0, "0"), ("JobID", -1, "-1"), ("JobID", 1.5, "1.5"), ("JobID", [1], "1"),
        ("JobID", True, "true"),
    )],
    (resource(JobID=BIG), ["JobID", str(BIG)]),
    (resource(RequiredTag="t"), ["RequiredTag", "t"]),
    (resource(RequiredTag=["t", "u"], Tag=["u"]), ["RequiredTag", "t"]),
    (resource(RequiredTag="5Processors", NumberOfProcessors=4), ["RequiredTag", "5Processors"]),
    (resource(RequiredTag="MultiProcessor", NumberOfProcessors=1), ["RequiredTag", "MultiProcessor"]),
    (resource(RequiredTag="WholeNode", WholeNode=False), ["RequiredTag", "WholeNode"]),
    *[(resource(**{key: 5}), [key, "5"]) for key in TEXTS],
    *[(resource(**{key: {"a": 1}}), [key]) for key in TEXTS],
    *[(resource(**{key: True}), [key, "true"]) for key in TEXTS],
    *[(resource(**{key: ["a", 5]}), [key, "5"]) for key in TEXTS],
    *[(resource(**{key: [None]}), [key]) for key in TEXTS],
    *[(resource(**{key: [["a"]]}), [key]) for key in TEXTS],
    (resource(OwnerGroup=["a", ""]), ["OwnerGroup"]),
    *[(resource(**{key: ""}), [key]) for key in ("OwnerGroup", "OwnerDN")],
]  # fmt: skip


@pytest.mark.parametrize(("bad", "words"), BAD_RESOURCES, ids=lambda value: str(value)[:60])
def test_bad_resources_are_refused_by_key_and_value(settled: Calls, bad: dict[str, Any], words: list[str]) -> None:
    before = settled.stored()
    for function, arguments in (
        ("match_job", (Jsonb(bad),)),
        ("match_jobs", (Jsonb(bad), 5)),
        ("match_jobs_with_seed", (Jsonb(bad), 5, 1)),
        ("matching_queues", (Jsonb(bad),)),
        ("explain_match", (1, Jsonb(bad))),
    ):
        settled.refuses(partial(settled.call_rows, function, *arguments), "PB001", *words)
    assert settled.stored() == before


@pytest.mark.parametrize("bad", [None, [], "text", 5, [resource()]], ids=str)
def test_a_resource_that_is_no_object_is_refused(settled: Calls, bad: Any) -> None:
    refused(settled, "PB001", ["esource"], "match_job", Jsonb(bad))


def test_a_missing_resource_is_refused(settled: Calls) -> None:
    refused(settled, "PB001", ["esource"], "match_job", None)


def test_a_match_may_leave_out_a_cpu_time_that_its_setup_does_not_require(q: Calls) -> None:
    q.insert(1, CPUTime=10**6)
    q.settings(required_keys=[])
    assert q.match(CPUTime=None) is not None


@pytest.mark.parametrize("limit", [0, -1, 1001, None])
def test_a_batch_limit_outside_1_to_1000_is_refused(settled: Calls, limit: int | None) -> None:
    words = ["limit is null" if limit is None else f"limit is {limit},"]
    refused(settled, "PB001", words, "match_jobs", Jsonb(resource()), limit)
    refused(settled, "PB001", words, "match_jobs_with_seed", Jsonb(resource()), limit, 1)


# After the match


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("report_job", ()), ("finish_job", ()), ("finish_job", ("failed",)), ("release_job", ())],
    ids=str,
)
def test_wrong_attempts_are_refused(settled: Calls, function: str, arguments: tuple[Any, ...]) -> None:
    wrong = f"1-{uuid.uuid4().hex}"
    refused(settled, "PB003", ["2"], function, 2, wrong, *arguments)  # leased, another token
    refused(settled, "PB003", ["3"], function, 3, wrong, *arguments)  # ended, another token
    for job_id in (1, 99):  # never matched; unknown
        before = settled.stored()
        state, message = settled.refusal(partial(settled.call_rows, function, job_id, wrong, *arguments))
        assert state in ("PB003", "PB004")
        assert str(job_id) in message
        assert settled.stored() == before
    for garbage in (None, "", "1", "1-", "one", f"2-{'z' * 32}", "9" * 60):
        before = settled.stored()
        state, _ = settled.refusal(partial(settled.call_rows, function, 2, garbage, *arguments))
        assert state in ("PB001", "PB003")
        assert settled.stored() == before


@pytest.mark.parametrize("function", ["report_job", "finish_job", "release_job"])
def test_an_attempt_of_an_unknown_job_is_not_called_stale(q: Calls, function: str) -> None:
    """The code is still PB003, so that the agent stops: the job may have ended and be forgotten."""
    q.insert(1)
    q.insert(2)
    q.call("delete_job", 2)
    attempt = f"1-{'0' * 32}"
    state, message = q.refusal(partial(q.call_rows, function, 424242, attempt))
    assert (state, message) == ("PB003", "there is no job 424242 in setup default")
    for known in (1, 2):  # waits; ended
        state, message = q.refusal(partial(q.call_rows, function, known, attempt))
        assert (state, message) == ("PB003", f"attempt 1 of job {known} is stale")
    state, message = q.refusal(partial(q.call_rows, function, 1, "x"))
    assert (state, message) == ("PB001", "invalid attempt 'x'")
    state, message = q.refusal(partial(q.call_rows, function, 1, f"1-{'0' * 32}\n"))  # a token is in no message
    assert (state, message) == ("PB001", f"invalid attempt '1-{'0' * 18}...'")


@pytest.mark.parametrize("outcome", ["done", "", "Finished", None])
def test_an_unknown_outcome_is_refused(q: Calls, outcome: str | None) -> None:
    q.insert(1)
    match = q.take()
    refused(q, "PB001", ["utcome", *([outcome] if outcome else [])], "finish_job", 1, match.attempt, outcome)


@pytest.mark.parametrize(
    ("reason", "message"),
    [(None, "reason is null"), ("", "reason is ''"), ("é" * 501, "reason has 1002 bytes, more than 1000")],
    ids=["none", "empty", "long"],
)
def test_an_empty_or_long_reason_of_a_cancellation_is_refused(settled: Calls, reason: str | None, message: str) -> None:
    for job_id in (1, 2):  # waits; leased
        refused(settled, "PB001", [message], "cancel_job", job_id, reason)


@pytest.mark.parametrize("function", ["cancel_job", "explain_job"])
def test_cancelling_or_explaining_an_unknown_job_is_refused(settled: Calls, function: str) -> None:
    refused(settled, "PB004", ["99"], function, 99)


def test_explaining_a_match_of_an_unknown_job_is_refused(settled: Calls) -> None:
    refused(settled, "PB004", ["99"], "explain_match", 99, Jsonb(resource()))


def test_disabling_or_holding_an_unknown_queue_is_refused(settled: Calls) -> None:
    refused(settled, "PB004", ["987654"], "set_task_queue_enabled", 987654, False)
    refused(settled, "PB004", ["987654"], "hold", "task_queue", "987654")


def test_a_hold_of_a_wrong_kind_is_refused(settled: Calls) -> None:
    refused(settled, "PB001", ["site"], "hold", "site", "S")
    refused(settled, "PB001", ["site"], "resume", "site", "S")
    refused(settled, "PB001", ["seven"], "hold", "job", "seven")
    refused(settled, "PB004", ["99"], "hold", "job", "99")


# Configuration


@pytest.mark.parametrize(("arguments", "words"), [
    (("walking", "S", None, "JobTypes", "T", 1), ["walking"]), ((None, "S", None, "JobTypes", "T", 1), []),
    (("running", "S", None, "Colour", "red", 1), ["Colour"]), (("delay", "S", None, "Colour", "red", 1), ["Colour"]),
    (("running", "S", None, None, "red", 1), []), (("running", "S", None, "JobTypes", None, 1), []),
    (("running", "S", None, "JobTypes", "", 1), []), (("running", "", None, "JobTypes", "T", 1), []),
    (("running", None, None, "JobTypes", "T", 1), []), (("running", "S", "", "JobTypes", "T", 1), []),
    (("running", "S", None, "JobTypes", "T", -1), ["-1"]), (("running", "S", None, "JobTypes", "T", None), []),
    (("running", "S", None, "JobTypes", "T", "NaN"), ["NaN"]),
    (("running", "S", None, "JobTypes", "T", "Infinity"), ["Infinity"]),
    (("running", "S", None, "JobTypes", "T", 1.5), ["1.5"]), (("delay", "S", None, "JobTypes", "T", -1), ["-1"]),
    (("delay", "S", None, "JobTypes", "T", "NaN"), ["NaN"]), (("delay", "S", None, "JobTypes", "T", 10, 0), ["0"]),
    (("delay", "S", None, "JobTypes", "T", 10, -1), ["-1"]),
], ids=str)  # fmt: skip
def test_bad_limits_are_refused(settled: Calls, arguments: tuple[Any, ...], words: list[str]) -> None:
    marks = ", ".join(["%s::text"] * 5 + ["%s::numeric"] + ["%s::int"] * (len(arguments) - 6))
    before = settled.stored()
    settled.refuses(
        lambda: settled.rows(f"select taskqueue.set_limit('default', {marks})", *arguments), "PB001", *words
    )
    assert settled.stored() == before


@pytest.mark.parametrize("place", ["waiting", "leased", "ended"])
def test_a_job_of_another_setup_is_not_known(settled: Calls, place: str) -> None:
    other = Calls(settled.connection, "other")
    other.insert(77)
    if place != "waiting":
        match = other.take()
    if place == "ended":
        other.call("finish_job", 77, match.attempt)
    assert other.state(77) == place
    refused(settled, "PB003", ["no job 77"], "release_job", 77, "1-" + 32 * "0")


def test_the_refusal_of_an_unknown_attribute_lists_the_known_ones(settled: Calls) -> None:
    limit = "select taskqueue.set_limit('default', 'running', 'S', null, 'Color', 'red', 1)"
    hint = str(settled.error_of(lambda: settled.rows(limit)).diag.message_hint)
    keys = hint.partition("Attributes are ")[2].partition(", and their singular forms.")[0].split(", ")
    assert {"OwnerDN", "JobTypes", "Sites"} <= set(keys) and "Setup" not in keys


@pytest.mark.parametrize(("settings", "words"), [
    *[({key: value}, [key, *shown]) for key, value, *shown in (
        ("colour", "red"), ("ten_first", "yes", "yes"), ("ten_first", 1, "1"),
        ("strict_keys", ["CPUTime"], "CPUTime"), ("strict_keys", "Colour", "Colour"),
        ("required_keys", ["Colour"], "Colour"), ("required_keys", 5, "5"), ("queue_size", 0, "0"),
        ("queue_size", "5", "5"), ("policy", "fair", "fair"), ("lease_time", 0, "0"), ("lease_time", "long", "long"),
        ("heartbeat_time", -1, "-1"), ("attempts", 0, "0"), ("share_delay", -1, "-1"),
        ("share_correction", "x", "x"), ("correction_window", 0, "0"), ("history_kept", -5, "-5"),
    )],
    (5, []), (None, []), ([], []),
], ids=str)  # fmt: skip
def test_bad_settings_are_refused(settled: Calls, settings: Any, words: list[str]) -> None:
    refused(settled, "PB001", words, "set_settings", Jsonb(settings))


@pytest.mark.parametrize("share", [0, -1, "NaN", "Infinity", 1.1e15, 1.7e308])
def test_bad_group_shares_are_refused(settled: Calls, share: Any) -> None:
    before = settled.stored()
    settled.refuses(
        lambda: settled.rows("select taskqueue.set_group('default', 'users', %s::float8)", share), "PB001", "hare"
    )
    assert settled.stored() == before


@pytest.mark.parametrize(("arguments", "message"), [
    (("x" * 200, 0.0), f"invalid share 0 of group {'x' * 100}"),
    (("x" * 1001, 1.0), f"group is a text of 1001 bytes: {'x' * 40}..."),
], ids=["share", "name"])  # fmt: skip
def test_refusals_of_a_group_name_its_first_letters(settled: Calls, arguments: tuple[Any, ...], message: str) -> None:
    before = settled.stored()
    assert settled.refusal(lambda: settled.call("set_group", *arguments)) == ("PB001", message)
    assert settled.stored() == before


@pytest.mark.parametrize("group", [None, ""])
def test_a_group_without_a_name_is_refused(settled: Calls, group: str | None) -> None:
    refused(settled, "PB001", ["roup"], "set_group", group)


@pytest.mark.parametrize(("offered", "accepted"), [("", ["p"]), (None, ["p"]), ("p", [""]), ("p", [None]), ("p", None)])
def test_a_bad_platform_compatibility_is_refused(settled: Calls, offered: str | None, accepted: Any) -> None:
    before = settled.stored()
    query = "select taskqueue.set_platform_compatibility('default', %s, %s::text[])"
    settled.refuses(lambda: settled.rows(query, offered, accepted), "PB001")
    assert settled.stored() == before
