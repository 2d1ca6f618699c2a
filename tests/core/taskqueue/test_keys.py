"""The views of the keys of descriptions and requirements, compared with the functions that read the keys."""

import re
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements, resource

VALUES: dict[str, Any] = {
    "text": "default",
    "number": 1000,
    "cpu_time": 500,
    "integer": 4,
    "boolean": True,
    "processors": 4,
    "object": {},
    "clauses": None,
}
TEXTS: tuple[Any, ...] = (["default"], "default", None, [])


def keys(q: Calls, view: str) -> dict[str, str]:
    return dict(q.rows(f"select key, type from taskqueue.{view}"))


def source(q: Calls, function: str) -> str:
    return str(q.value("select prosrc from pg_proc where oid = %s::regproc", f"taskqueue.{function}"))


def test_offer_of_reads_exactly_the_keys_of_the_view(q: Calls) -> None:
    branches = re.findall(r"\bwhen ('\w+'(?:,\s*'\w+')*)\s*then", source(q, "offer_of"))
    assert sorted(re.findall(r"\w+", " ".join(branches))) == sorted(keys(q, "description_key"))


def test_each_key_of_a_description_is_accepted_with_its_type(q: Calls) -> None:
    for key, kind in keys(q, "description_key").items():
        for value in TEXTS if kind == "texts" else (VALUES[kind],):
            given = {"Tag": ["default"], **resource(), key: value}
            q.call_rows("matching_queues", Jsonb(given))
        q.refuses(partial(q.queues, **{key: {"a": 1}}), "PB001", key)


def test_each_requirement_is_accepted_with_its_type(q: Calls) -> None:
    canonical = dict(q.rows("select key, canonical_key from taskqueue.requirement_key"))
    q.insert(1)
    for key, kind in keys(q, "requirement_key").items():
        for value in TEXTS if kind == "texts" else (VALUES[kind],):
            given = requirements(**{"OwnerDN": None} if key == "Owner" else {}, **{key: value})
            found = q.call("canonical_requirements", Jsonb(given))
            stored = [value] if isinstance(value, str) and kind == "texts" else value
            assert found.get(canonical[key]) == (stored or None if canonical[key] else None), (key, value)
        q.refuses(partial(q.insert, 2, **{key: {"a": 1}}), "PB001", key)


@pytest.mark.parametrize("first", ["ANY", "any", ["any", "X"], ["X"]], ids=str)
def test_a_requirement_is_read_as_if_it_were_the_only_one(q: Calls, first: Any) -> None:
    """A list with "any" is left out, and no other key with it."""
    q.insert(1)
    plain = requirements()
    canonical = dict(q.rows("select key, canonical_key from taskqueue.requirement_key where type = 'texts'"))
    for key in canonical.keys() - {"Setup", "Tags"}:
        listed = q.call("canonical_requirements", Jsonb(plain | {key: first}))
        for other, given in (("MinNumberOfProcessors", 8), ("MinRAM", 1000), ("Tags", ["T"]), ("JobTypes", ["MC"])):
            if other not in (key, canonical[key]):
                alone = q.call("canonical_requirements", Jsonb(plain | {other: given}))
                both = q.call("canonical_requirements", Jsonb(plain | {key: first, other: given}))
                assert both == {**listed, **alone}, (key, other)


def test_a_requirement_is_required_where_the_view_says_so(q: Calls) -> None:
    required = {key for (key,) in q.rows("select key from taskqueue.requirement_key where is_required")}
    assert required == set(requirements()) == {"OwnerDN", "OwnerGroup", "CPUTime"}
    for key in required:
        state, message = q.refusal(partial(q.insert, 1, **{key: None}))
        assert (state, message.startswith(f"{key} is missing")) == ("PB001", True)


def test_each_requirement_that_is_a_list_has_its_partition(q: Calls) -> None:
    lists = {key for (key,) in q.rows("select canonical_key from taskqueue.requirement_key where type = 'texts'")} | {
        "Clauses"
    }
    partitions = q.rows(
        """select pg_get_expr(c.relpartbound, c.oid), obj_description(c.oid, 'pg_class')
             from pg_inherits i join pg_class c on c.oid = i.inhrelid
            where i.inhparent = 'taskqueue.task_queue_requirement'::regclass"""
    )
    assert sorted(bound for bound, _ in partitions) == sorted(f"FOR VALUES IN ('{key}')" for key in lists)
    assert all(comment for _, comment in partitions)


@pytest.mark.slow
def test_settings_take_the_keys_of_the_view(q: Calls) -> None:
    keys = q.rows("select key, may_be_strict from taskqueue.description_key")
    assert {key for key, strict in keys if strict} == {"Site", "GridCE", "Platform", "JobType"}
    for key, strict in keys:
        if key in ("LHCbPlatform", "HostName"):  # an alias; a known description serves requests with and without a host
            assert q.refusal(partial(q.settings, required_keys=[key]))[0] == "PB001"
            continue
        q.settings(required_keys=[key])
        if strict:
            q.settings(strict_keys=[key])
        else:
            assert q.refusal(partial(q.settings, strict_keys=[key])) == (
                "PB001",
                f'invalid value ["{key}"] for setting strict_keys',
            )
    assert q.refusal(partial(q.settings, required_keys=["Sites"]))[0] == "PB001"
    assert "offered('" not in re.sub(r"offered\('(Site|GridCE|Platform|JobType)'", "", source(q, "offer_of")), (
        "strict_keys acts on the keys that may be strict"
    )


@pytest.mark.parametrize("view", ["description_key", "requirement_key"])
def test_each_condition_of_a_key_is_one_that_explain_match_shows(q: Calls, view: str) -> None:
    q.insert(1)
    assert {name for (name,) in q.rows(f"select condition from taskqueue.{view} where condition is not null")} <= set(
        q.explain(1)
    )


def test_the_refusal_of_an_unknown_key_lists_the_known_keys(q: Calls) -> None:
    for view, query in (
        ("description_key", "select taskqueue.matching_queues('default', '{\"CPUTime\": 1, \"Sit\": 1}')"),
        ("requirement_key", "select taskqueue.canonical_requirements('default', '{\"Sit\": 1}')"),
    ):
        error = q.error_of(partial(q.rows, query))
        nearest, _, known = (error.diag.message_hint or "").partition(". Keys are ")
        assert nearest == "The nearest is " + {"description_key": "Site", "requirement_key": "Sites"}[view]
        assert re.findall(r"\w+", known) == list(keys(q, view))
