"""CLAUSES.md, Numbers: the bits of clauses, their numbers, and the offers that know them."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, refused, requirements

Connect = Callable[..., psycopg.Connection[Any]]
CERN_OR_EL9 = {"Sites": ["CERN"], "Tags": ["el9"]}


def either(*tags: str) -> dict[str, Any]:
    """A clause that one of these tags fulfils."""
    return {"Tags": sorted(tags)}


def bits(q: Calls, job_id: int) -> set[int] | None:
    """The numbers of the clauses of the definition of a job."""
    [(found,)] = q.rows(
        """select d.clauses::text from taskqueue.job j join taskqueue.task_queue q using (setup, task_queue_id)
             join taskqueue.definition d using (setup, definition_id) where j.setup = %s and j.job_id = %s""",
        q.setup, job_id,
    )  # fmt: skip
    return None if found is None else {place for place, bit in enumerate(found, 1) if bit == "1"}


def maintain(q: Calls) -> dict[str, int]:
    return dict(q.rows("select step, changed from taskqueue.maintain(%s)", q.setup))


def right(q: Calls) -> bool:
    return q.call_rows("check_matching") == []


def test_a_clause_has_one_number_in_all_definitions(q: Calls) -> None:
    q.insert(1, Clauses=[either("a", "b"), either("c", "d")])
    q.insert(2, Clauses=[either("c", "d"), either("e", "f")])
    q.insert(3)
    assert bits(q, 1) == {1, 2}
    assert bits(q, 2) == {2, 3}
    assert bits(q, 3) == set()
    assert right(q)


@pytest.mark.parametrize("known", [False, True], ids=["a new description", "a known description"])
def test_a_job_goes_where_each_of_its_clauses_holds(q: Calls, known: bool) -> None:
    if known:  # the description was parsed before the clauses came
        for tags in (["a"], ["a", "c"], ["b", "d"], ["c"]):
            assert q.match(Tag=tags) is None
    q.insert(1, Clauses=[either("a", "b"), either("c", "d")])
    for tags in (["a"], ["c"], ["a", "b"], []):
        assert q.match(Tag=tags) is None, tags
        assert q.queues(Tag=tags) == {}
    for tags in (["a", "c"], ["b", "d"]):
        found = q.match(Tag=tags)
        assert found is not None
        q.call("release_job", 1, found.attempt)


def test_maintenance_tests_new_clauses_for_known_descriptions(q: Calls) -> None:
    q.insert(1, Clauses=[either("a", "b")])
    assert q.match(Tag=["c"]) is None
    q.insert(2, Clauses=[either("c", "d")])
    query = "select (offer).clauses_known::text, (offer).clauses_held::text from taskqueue.parsed_description"
    assert q.rows(query) == [("1", "0")]
    assert maintain(q)["clauses"] > 0
    assert q.rows(query) == [("11", "01")]
    assert maintain(q)["clauses"] == 0
    found = q.match(Tag=["c"])
    assert found is not None
    assert found.job_id == 2


def test_a_definition_beyond_the_last_number_is_tested_clause_by_clause(q: Calls) -> None:
    q.insert(9, Tags=["other"])
    q.rows("insert into taskqueue.clause (setup, clause_id, clause) values (%s, 4096, '{}') returning 1", q.setup)
    q.insert(1, Clauses=[either("a", "b")])
    assert bits(q, 1) is None
    assert q.match(Tag=["c"]) is None
    q.rows("delete from taskqueue.clause returning 1")
    maintain(q)
    assert bits(q, 1) == {1}
    assert q.match(Tag=["a"]) is not None


def test_several_sites_are_tested_one_by_one(q: Calls) -> None:
    """One site must pass all clauses: the first such site, by name, is that of the lease."""
    q.insert(1, Clauses=[CERN_OR_EL9, {"Sites": ["RAL"], "Tags": ["el8"]}], BannedSites=["ABC"])
    assert q.match(Site=["CERN", "RAL"]) is None
    assert q.match(Site=["ABC", "CERN", "RAL"], Tag=["el7"]) is None
    assert q.match(Site=["CERN", "RAL"], Tag=["el9"]) is not None
    assert q.value("select site from taskqueue.lease") == "RAL"


def test_without_a_site_each_part_about_sites_holds(q: Calls) -> None:
    q.insert(1, Clauses=[CERN_OR_EL9])
    assert q.match(Site="any") is not None


def test_any_tag_fulfils_each_part_about_tags(q: Calls) -> None:
    q.insert(1, Clauses=[{"NoTags": ["a"], "Tags": ["b"]}, {"NoTags": ["b"], "Sites": ["CERN"]}])
    assert q.match(Site="RAL", Tag="a") is None
    assert q.match(Site="RAL", Tag="any") is not None


def test_rebuilding_gives_the_same_numbers_to_equal_clauses(q: Calls) -> None:
    for job in range(1, 30):
        q.insert(job, Clauses=[either(f"a{job}", f"b{job}"), either("c", "d")])
    q.rows("update taskqueue.definition set clauses = B'1' where clauses <> '' returning 1")
    assert not right(q)
    q.call("rebuild_matching")
    assert right(q)
    assert q.match(Tag=["a7", "d"]) is not None


@pytest.mark.slow
def test_unused_numbers_are_free_after_a_renumbering(q: Calls) -> None:
    clauses = [[either(f"a{job}-{n}", f"b{job}-{n}") for n in range(4)] for job in range(1, 301)]
    wanted = [requirements(Clauses=each) for each in clauses]
    q.call("insert_jobs", Jsonb([{"job_id": job, "requirements": keys} for job, keys in enumerate(wanted, 1)]))
    assert q.value("select count(*) from taskqueue.clause where clause is not null") == 1200
    for job in range(1, 300):
        q.call("delete_job", job)
    q.rows("update taskqueue.definition set created_at = '2000-01-01' returning 1")
    q.call("delete_empty_queues")
    q.rows("select * from taskqueue.maintain(%s)", q.setup)  # retires the definitions
    q.rows("select * from taskqueue.maintain(%s)", q.setup)
    assert bits(q, 300) == {1, 2, 3, 4}
    assert right(q)
    assert q.match(Tag=[f"b300-{n}" for n in range(4)]) is not None


def test_two_insertions_of_one_new_clause_do_not_wait(db: psycopg.Connection[Any], connect: Connect) -> None:
    """Each of both gives the clause a number, and later ones use the lower number."""
    Calls(db).insert(1, Clauses=[either("x", "y")])  # makes numbers
    one, two = Calls(connect()), Calls(connect())
    two.connection.execute("set lock_timeout = '2s'")
    with one.connection.transaction():
        one.insert(2, Clauses=[either("a", "b")], OwnerDN="bob")
        two.insert(3, Clauses=[either("a", "b")], OwnerDN="carol")
    q = Calls(db)
    assert [bits(q, 2), bits(q, 3)] == [{2}, {3}]
    assert right(q)
    q.insert(4, Clauses=[either("a", "b")], OwnerDN="dan")
    assert bits(q, 4) == {2}


def test_a_lower_number_that_commits_later_is_not_taken_for_known(
    db: psycopg.Connection[Any], connect: Connect
) -> None:
    Calls(db).insert(1, Clauses=[either("x", "y")])
    one, q = Calls(connect()), Calls(db)
    with one.connection.transaction():
        one.insert(2, Clauses=[either("a", "b")])
        q.insert(3, Clauses=[either("c", "d")])
        assert q.match(Tag=["a", "z"]) is None  # this description knows 1 and 3
    known = "select (offer).clauses_known::text from taskqueue.parsed_description"
    assert q.rows(known) == [("101",)]
    found = q.match(Tag=["a", "z"])
    assert found is not None
    assert found.job_id == 2


def test_a_rollback_gives_the_number_back(db: psycopg.Connection[Any], connect: Connect) -> None:
    Calls(db).insert(1, Clauses=[either("x", "y")])
    one = Calls(connect())
    with one.connection.transaction(force_rollback=True):
        one.insert(2, Clauses=[either("a", "b")])
    q = Calls(db)
    q.insert(3, Clauses=[either("c", "d")])
    assert bits(q, 3) == {2}
    assert right(q)


@pytest.mark.slow
def test_a_renumbering_waits_for_agents_and_keeps_them_out(db: psycopg.Connection[Any], connect: Connect) -> None:
    q = Calls(db)
    q.insert(1, Clauses=[either("a", "b")])
    agent = Calls(connect())
    with agent.connection.transaction():
        assert agent.match(Tag=["c"]) is None
        with refused("PB006"):
            q.rows("select taskqueue.renumber_clauses(%s)", q.setup)
    with q.connection.transaction():
        q.rows("select taskqueue.renumber_clauses(%s)", q.setup)
        agent.connection.execute("set lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            agent.match(Tag=["a"])
    assert agent.match(Tag=["a"]) is not None


def test_the_requirements_of_a_job_can_be_given_back(q: Calls) -> None:
    q.insert(1, Clauses=[either("b", "a"), CERN_OR_EL9])
    [(given,)] = q.rows("select requirements from taskqueue.definition")
    q.rows("select taskqueue.insert_job(%s, 2, %s)", q.setup, Jsonb(given))
    assert q.value("select count(*) from taskqueue.definition") == 1


def test_two_maintenances_do_not_list_bounds_together(db: psycopg.Connection[Any], connect: Connect) -> None:
    q, one, two = Calls(db), Calls(connect()), Calls(connect())
    q.call("set_attributes", Jsonb({"scratch": "number"}))
    q.insert(1, Attributes={"scratch": {"min": 5}})
    two.connection.execute("set lock_timeout = '2s'")
    with one.connection.transaction():
        one.rows("select taskqueue.maintain_clauses(%s, now() + '1 minute')", q.setup)
        two.rows("select taskqueue.maintain_clauses(%s, now() + '1 minute')", q.setup)
    assert q.rows("select version, bounds from taskqueue.attribute_bounds") == [(2, [5])]
    assert right(q)


def test_attributes_that_go_and_come_back_have_their_bounds(q: Calls) -> None:
    """Clauses keep their numbers when no definition has them, and versions of the lists begin again."""
    for least in (5, 6, 7):
        q.call("set_attributes", Jsonb({"scratch": "number"}))
        q.insert(1, Attributes={"scratch": {"min": least}})
        maintain(q)
        q.call("delete_job", 1)
        q.rows("update taskqueue.definition set created_at = '2000-01-01' returning 1")
        q.call("delete_empty_queues")
        maintain(q)
        q.call("set_attributes", Jsonb({}))
    q.call("set_attributes", Jsonb({"scratch": "number"}))
    versions = "select max(c.version), max(b.version) from taskqueue.clause c, taskqueue.attribute_bounds b"
    assert q.rows(versions) == [(1, 1)]
    q.insert(1, Attributes={"scratch": {"min": 6}})
    assert q.match(Attributes={"scratch": 5.5}) is None
    assert q.match(Attributes={"scratch": 6.5}) is not None


@pytest.mark.parametrize(
    "damage",
    [
        "delete from taskqueue.literal", "update taskqueue.literal set name = 'b' where kind = 'tag'",
        "update taskqueue.literal set lower = '{4}' where kind = 'range'", "delete from taskqueue.clause",
        """update taskqueue.clause set clause = '{"Tags": ["a", "b"]}' where clause is not null""",
        "update taskqueue.clause set version = 0 where version = 2",
        "update taskqueue.clause set version = 9 where version = 2",
        "update taskqueue.clause set version = 1 where version = 0",
        "update taskqueue.attribute_bounds set bounds = '{}'", "delete from taskqueue.attribute_bounds",
        "update taskqueue.attribute_bounds set bounds = '{9,5}'",
        "update taskqueue.definition set clauses = '' where clauses <> ''",
        "update taskqueue.definition set clauses = clauses >> 1 where clauses <> ''",
    ],
)  # fmt: skip
def test_damage_is_found_and_mended(q: Calls, damage: str) -> None:
    q.call("set_attributes", Jsonb({"scratch": "number"}))
    q.insert(1, Alternatives=[{"Tags": ["a"]}, {"Attributes": {"scratch": {"min": 5}}}])
    q.insert(2, Clauses=[either("c", "d")])
    maintain(q)
    assert right(q)
    assert q.rows(f"{damage} returning 1")
    assert not right(q)
    q.call("rebuild_matching")
    assert right(q)
    assert q.match(Attributes={"scratch": 4}) is None
    found = [q.take(Attributes={"scratch": 5}), q.take(Tag=["d"])]
    assert [one.job_id for one in found] == [1, 2]


def test_a_clause_with_known_bounds_leaves_the_list_as_it_is(q: Calls) -> None:
    """Known descriptions are found by the version of the list, so a new one lets all be parsed again."""
    q.call("set_attributes", Jsonb({"scratch": "number", "arch": "text"}))
    wanted = [{"scratch": {"min": 5}}, {"scratch": {"min": 5}, "arch": "a"}, {"scratch": {"max": 5}}]
    for job_id, attributes in enumerate(wanted, 1):
        q.insert(job_id, Attributes=attributes, OwnerDN=f"owner {job_id}")
        q.maintain()
        assert q.inconsistencies() == []
        assert len(q.queues(Attributes={"scratch": 4, "arch": "b"})) == (job_id == 3)
        assert len(q.queues(Attributes={"scratch": 5, "arch": "a"})) == job_id
    versions = "select distinct version from taskqueue.{} where setup = %s and version > 0"
    assert q.rows(versions.format("clause"), q.setup) == q.rows(versions.format("attribute_bounds"), q.setup)
