"""Jobs with clauses in the calls that change, move, dump and retry jobs."""

import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, requirements

ATTRIBUTES = {"scratch": "number", "glibc": "version", "gpu.count": {"type": "number", "absent": {"value": 0}}}
WANTED: dict[str, Any] = {
    "TagExpression": "el9 | el8",
    "Alternatives": [{"Attributes": {"scratch": {"min": 5}}}, {"Attributes": {"glibc": {"min": "2.28"}}}],
}
GOOD: dict[str, Any] = {"Tag": ["el9"], "Attributes": {"scratch": 5}}
BAD: dict[str, Any] = {"Tag": ["el9"], "Attributes": {"scratch": 4.9}}


@pytest.fixture
def c(q: Calls) -> Calls:
    q.call("set_attributes", Jsonb(ATTRIBUTES))
    return q


def right(q: Calls, *job_ids: int, **more: Any) -> None:
    """These jobs, and no others, go to resources that meet the clauses, before and after a rebuild."""
    for _ in range(2):
        assert q.inconsistencies() == []
        assert q.match(**BAD, **more) is None
        taken = q.match_jobs(10, **GOOD, **more)
        assert sorted(found.job_id for found in taken) == list(job_ids)
        for found in taken:
            q.call("release_job", found.job_id, found.attempt)
        q.call("rebuild_matching")


def test_new_buckets(c: Calls) -> None:
    c.insert(1, **WANTED)
    c.insert(2, **WANTED, CPUTime=5000)
    c.call("set_cpu_buckets", [100000])
    assert c.queue_of(1) == c.queue_of(2)
    right(c, 1, 2)


def test_a_removed_setup_leaves_nothing(c: Calls) -> None:
    c.insert(1, **WANTED)
    c.match(**BAD)
    c.maintain()
    c.call("remove_setup")
    for table in ("clause", "literal", "attribute", "attribute_bounds", "parsed_description", "known_condition"):
        assert c.rows(f"select * from taskqueue.{table} where setup = %s", c.setup) == [], table
    c.call("set_attributes", Jsonb(ATTRIBUTES))
    c.insert(1, **WANTED)
    right(c, 1)


def test_a_retry_rule_gives_more_memory(c: Calls) -> None:
    """The range of processors stays as it is, and more memory is for the least number."""
    c.call("set_retry_rules", Jsonb([{"position": 1, "name": "more", "decision": "retry", "memory_factor": 2}]))
    processors = {"MinNumberOfProcessors": 4, "MaxNumberOfProcessors": 8, "RAMPerProcessor": 512}
    c.insert(1, **WANTED, **processors)
    found = c.take(**GOOD, NumberOfProcessors=4, MaxRAM=2048)
    assert found.requirements["MinRAM"] == 2048
    c.call("finish_job", 1, found.attempt, "failed")
    c.maintain()
    assert c.match(**GOOD, NumberOfProcessors=4, MaxRAM=4095) is None
    again = c.take(**GOOD, NumberOfProcessors=4, MaxRAM=4096)
    assert again.requirements == found.requirements | {"MinRAM": 4096}
    c.call("release_job", 1, again.attempt)
    right(c, 1, NumberOfProcessors=4)


def test_an_ended_job_is_retried(c: Calls) -> None:
    c.insert(1, **WANTED)
    c.call("finish_job", 1, c.take(**GOOD).attempt, "failed")
    c.call("delete_empty_queues")
    c.rows("update taskqueue.definition set created_at = '2000-01-01' returning 1")
    c.maintain()
    assert c.rows("select from taskqueue.definition") == []
    c.rows("select lifecycle.retry_jobs(%s, '{1}')", c.setup)
    right(c, 1)


def test_an_ended_job_is_retried_by_the_settings_of_today(c: Calls) -> None:
    c.insert(1, **WANTED)
    c.insert(2, **WANTED, OwnerDN="bob")
    for job_id in (1, 2):
        c.call("finish_job", job_id, c.take(**GOOD, JobID=job_id).attempt, "failed")
    c.settings(keep_gpus=True)
    c.insert(2, **WANTED, OwnerDN="bob")
    c.rows("select lifecycle.retry_jobs(%s, '{1}')", c.setup)
    gpu = {**GOOD, "Attributes": {**GOOD["Attributes"], "gpu.count": 1}}
    assert c.match_jobs(2, **gpu) == []
    right(c, 1, 2)


@pytest.mark.parametrize("change", ["attributes", "settings", "retry"])
def test_a_job_keeps_its_own_clause_about_gpus_while_keep_gpus_is_off(c: Calls, change: str) -> None:
    c.insert(1, Attributes={"gpu.count": {"max": 0}})
    if change == "attributes":
        c.call("set_attributes", Jsonb(ATTRIBUTES | {"arch": "text"}))
    elif change == "settings":
        c.settings(keep_gpus=False)
    else:
        c.call("finish_job", 1, c.take().attempt, "failed")
        c.rows("select lifecycle.retry_jobs(%s, '{1}')", c.setup)
    assert c.match(Attributes={"gpu.count": 1}) is None
    assert c.take().job_id == 1


@pytest.mark.parametrize("gpus", [{}, {"Attributes": {"gpu.count": {"max": 9}}}])
def test_requirements_with_keep_gpus_are_the_form_of_themselves(c: Calls, gpus: dict[str, Any]) -> None:
    """The clause of the setting comes on top of as many tags as are allowed, and another demand replaces it."""
    c.settings(keep_gpus=True)
    wanted = requirements(TagExpression=" | ".join(f"t{n}" for n in range(64 - len(gpus)))) | gpus

    def form(given: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = c.value("select taskqueue.canonical_requirements(%s, %s)", c.setup, Jsonb(given))
        return found

    made = form(wanted)
    assert form(made) == made
    kept = {"Attributes": {"gpu.count": [{"max": 0}]}}
    assert (kept in made["Clauses"]) is (gpus == {})
    assert kept in form(requirements(Clauses=[kept]) | gpus)["Clauses"]
    c.settings(keep_gpus=False)
    assert form(made) == made
    c.call("set_attributes", Jsonb({}))
    c.refuses(lambda: form(requirements(Clauses=[kept])), "PB001", "gpu.count")


def test_conditions_of_a_transaction_take_no_further_locks(c: Calls) -> None:
    """The server has a few thousand locks for all transactions, and a call takes 100,000 jobs."""
    held = set()
    for number in range(3):
        c.insert(number + 1, TagExpression=f"a{number} | b")
        held.add(c.value("select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'"))
    assert len(held) == 1


@pytest.mark.parametrize(("key", "value"), [("MaxNumberOfProcessors", "8"), ("RAMPerProcessor", "512")])
def test_a_limit_on_a_key_of_processors(c: Calls, key: str, value: str) -> None:
    c.running_limit(key, value, 1)
    c.insert(1, **{key: int(value)})
    c.insert(2, **{key: int(value)})
    c.insert(3, **{key: 2 * int(value)})
    assert len(c.match_jobs(3, Site="S", MaxRAM=4096)) == 2


def test_an_ended_job_that_names_an_attribute_of_the_past_is_not_retried(c: Calls) -> None:
    c.insert(1, **WANTED)
    c.call("finish_job", 1, c.take(**GOOD).attempt, "failed")
    c.call("delete_empty_queues")
    c.rows("update taskqueue.definition set created_at = '2000-01-01' returning 1")
    c.maintain()
    c.call("set_attributes", Jsonb({"glibc": "version"}))
    c.refuses(lambda: c.rows("select lifecycle.retry_jobs(%s, '{1}')", c.setup), "PB001", "scratch")


def test_a_world_with_clauses_comes_back(db: psycopg.Connection[Any]) -> None:
    first, second = Calls(db, "first"), Calls(db, "second")
    first.call("set_attributes", Jsonb(ATTRIBUTES))
    first.settings(keep_gpus=True)
    first.insert(1, **WANTED)
    first.insert(2, Attributes={"gpu.count": 1}, MaxNumberOfProcessors=8, RAMPerProcessor=512)
    first.insert(3, **WANTED, OwnerDN="bob")
    first.take(**GOOD, JobID=3)
    text = "".join(world.dump(db, "first", with_leases=True))
    for merge in (False, True):
        world.load(db, [json.loads(text)], "second", merge=merge)
        assert "".join(world.dump(db, "second", with_leases=True)) == text.replace('"first"', '"second"')
    right(second, 1)
