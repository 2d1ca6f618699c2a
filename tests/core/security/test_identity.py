"""The identity of an agent or submitter is looked up by its role, and not taken from its arguments."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from psycopg import sql

from tests.calls import PLENTY, Calls, Connect, Connection, refused
from tests.core.lifecycle import grids
from tests.core.security.conftest import Login, Session, identify

CANCEL = "select * from lifecycle.cancel_jobs(%s, %s::bigint[])"


@pytest.fixture
def operator(db: Connection) -> Calls:
    """Three jobs: alice's in g1, bob's in g1, alice's in g2."""
    q = Calls(db)
    for job_id, owner, group in ((1, "alice", "g1"), (2, "bob", "g1"), (3, "alice", "g2")):
        q.insert(job_id, OwnerDN=owner, OwnerGroup=group)
    return q


def all_of(q: Calls, **keys: Any) -> set[int]:
    return {match.job_id for match in q.match_jobs(100, **keys)}


def test_an_agent_without_an_identity_is_refused(operator: Calls, login: Login, session: Session) -> None:
    agent = session(login("broker_agent"))
    before = operator.stored()
    for function, arguments in (
        ("match_job", [json.dumps({"CPUTime": PLENTY})]), ("match_jobs", [json.dumps({"CPUTime": PLENTY}), 5]),
        ("report_job", [1, "1-x"]), ("finish_job", [1, "1-x"]), ("release_job", [1, "1-x"]),
    ):  # fmt: skip
        agent.refuses(partial(agent.call_rows, function, *arguments), "PB002", "default")
    assert operator.stored() == before


def test_a_submitter_without_an_identity_is_refused(operator: Calls, login: Login, session: Session) -> None:
    submitter = session(login("broker_submitter"))
    before = operator.stored()
    assert submitter.refusal(lambda: submitter.insert(9))[0] == "PB002"
    assert submitter.refusal(lambda: submitter.insert_many([9]))[0] == "PB002"
    for function in ("cancel_job", "delete_job", "queue_of_job"):
        assert submitter.refusal(partial(submitter.call, function, 1))[0] == "PB002", function
    assert submitter.refusal(lambda: submitter.rows(CANCEL, "default", [1]))[0] == "PB002"
    assert operator.stored() == before


def test_an_identity_belongs_to_one_setup_only(operator: Calls, login: Login, session: Session) -> None:
    user = login("broker_agent", "broker_submitter")
    identify(operator, user)
    Calls(operator.connection, "other").insert(1)
    assert all_of(session(user)) == {1, 2, 3}
    other = session(user, "other")
    assert other.refusal(other.match)[0] == "PB002"
    assert other.refusal(lambda: other.insert(5))[0] == "PB002"
    new = session(user, "a setup that is not there")
    assert new.refusal(lambda: new.insert(5))[0] == "PB002"
    assert operator.rows("select from resource.setup where setup like 'a setup%%'", *()) == []


def test_a_generic_identity_may_narrow_itself(operator: Calls, identified: Session) -> None:
    agent = identified("broker_agent")
    assert all_of(agent, OwnerGroup="g2") == {3}
    assert all_of(agent) == {1, 2}


@pytest.mark.parametrize(
    ("group", "owner", "jobs"),
    [("g1", None, {1, 2}), ("g1", "alice", {1}), (None, "alice", {1, 3}), ("g3", None, set[int]())],
    ids=str,
)
@pytest.mark.parametrize("claim", [
    {},
    {"OwnerGroup": "g2"},
    {"OwnerGroup": ["g1", "g2"]},
    {"OwnerDN": "bob"},
    {"OwnerDN": "bob", "OwnerGroup": ["g1", "g2"]},
], ids=str)  # fmt: skip
def test_a_private_identity_overrides_what_is_claimed(  # noqa: PLR0917
    operator: Calls, identified: Session, group: str | None, owner: str | None, jobs: set[int], claim: dict[str, Any]
) -> None:
    agent = identified("broker_agent", group, owner)
    for job_id in (1, 2, 3):
        if job_id not in jobs:
            assert agent.match(JobID=job_id, **claim) is None
    assert all_of(agent, **claim) == jobs


def test_a_private_identity_in_a_sharing_group_takes_jobs_of_all_owners(operator: Calls, identified: Session) -> None:
    operator.set_group("g1", sharing=True)
    assert all_of(identified("broker_agent", "g1", "alice")) == {1, 2}


def test_a_private_submitter_submits_for_itself(operator: Calls, identified: Session) -> None:
    submitter = identified("broker_submitter", "g1", "alice")
    before = operator.stored()
    for keys in ({"OwnerGroup": "g2", "OwnerDN": "alice"}, {"OwnerGroup": "g1", "OwnerDN": "bob"}):
        for insert in (
            partial(submitter.insert, 10),
            partial(submitter.insert_many, [10]),
            partial(submitter.insert, 1),
        ):
            assert submitter.refusal(partial(insert, **keys))[0] == "PB002"
    for function in ("cancel_job", "delete_job"):
        assert submitter.refusal(partial(submitter.call, function, 2))[0] == "PB002"
    assert submitter.refusal(lambda: submitter.rows(CANCEL, "default", [1, 2]))[0] == "PB002"
    assert operator.stored() == before
    submitter.insert(10, OwnerGroup="g1", OwnerDN="alice")
    assert submitter.call("cancel_job", 1) == "ended"
    assert submitter.call("delete_job", 10) is not None


def test_a_private_submitter_cancels_only_its_own_waiting_or_leased_jobs(db: Connection, identified: Session) -> None:
    """The owner of a brokered job that waits for its input, or of an ended job, is not shown."""
    grids.load(db, "s")
    activated, ended = grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    [defined] = grids.make(db, "s")
    db.execute("select lifecycle.cancel_jobs('s', %s)", ([ended],))
    submitter = identified("broker_submitter", "Reprocessing default", "managed", "s")
    for job in (defined, ended):
        assert submitter.refusal(partial(submitter.rows, CANCEL, "s", [job]))[0] == "PB004"
    assert submitter.rows(CANCEL, "s", [activated]) == [(activated, "ended")]


def test_a_private_submitter_cannot_take_over_the_job_of_another(operator: Calls, identified: Session) -> None:
    """Inserting the id of a waiting job moves the job, if it is the submitter's own."""
    submitter = identified("broker_submitter", "g1", "alice")
    before = operator.stored()
    for job_id in (2, 3):
        for insert in (partial(submitter.insert, job_id), partial(submitter.insert_many, [job_id])):
            assert submitter.refusal(partial(insert, OwnerGroup="g1", OwnerDN="alice"))[0] == "PB002"
    assert operator.stored() == before


def test_a_private_submitter_sees_no_queue_of_another(operator: Calls, identified: Session) -> None:
    submitter = identified("broker_submitter", "g1", "alice")
    assert submitter.queue_of(1) is not None
    assert submitter.refusal(lambda: submitter.queue_of(2))[0] == "PB002"


def test_the_identity_is_that_of_the_set_role_or_of_the_login(operator: Calls, login: Login, session: Session) -> None:
    """A pooler logs in once and sets the role of its client."""
    first, second = login("broker_agent"), login("broker_agent")
    identify(operator, first, "g1")
    identify(operator, second, "g2")
    pool = login(first, second)
    agent = session(pool)
    assert agent.refusal(agent.match)[0] == "PB002"  # as a member it may call, but it has no identity of its own
    for role, jobs in ((first, {1, 2}), (second, {3})):
        agent.connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
        assert all_of(agent) == jobs
    agent.connection.execute("reset role")
    assert agent.refusal(agent.match)[0] == "PB002"
    with agent.connection.transaction():
        agent.connection.execute(sql.SQL("set local role {}").format(sql.Identifier(first)))
        assert agent.match() is None
    assert agent.refusal(agent.match)[0] == "PB002"


@pytest.mark.slow
def test_identities_count_through_pgbouncer(
    operator: Calls, through: Callable[[str], Connection], login: Login
) -> None:
    """Agents of two logins, more than the pooler has connections, interleaved: each gets its own group's jobs only."""
    operator.insert_many(range(100, 160), OwnerGroup="g1")
    operator.insert_many(range(200, 260), OwnerGroup="g2")
    first, second = login("broker_agent"), login("broker_agent")
    identify(operator, first, "g1")
    identify(operator, second, "g2")
    agents = [(Calls(through(user)), group) for _ in range(6) for user, group in ((first, "g1"), (second, "g2"))]
    for n in range(96):
        agent, group = agents[n % len(agents)]
        match = agent.take(OwnerGroup=["g1", "g2"])
        assert match.requirements["OwnerGroup"] == group
        assert agent.call_rows("report_job", match.job_id, match.attempt)[0][0] == "continue"
        assert agent.call("finish_job", match.job_id, match.attempt) == "finished"


def test_an_identity_can_be_changed_and_taken_away(operator: Calls, login: Login, session: Session) -> None:
    user = login("broker_agent")
    identify(operator, user, "g1")
    agent = session(user)
    assert agent.take().job_id in (1, 2)
    identify(operator, user, "g2")
    assert agent.take().job_id == 3
    assert operator.value("select resource.clear_identity('default', %s)", user) is True
    assert operator.value("select resource.clear_identity('default', %s)", user) is False
    assert agent.refusal(agent.match)[0] == "PB002"


def test_operators_need_no_identity(operator: Calls, login: Login, session: Session) -> None:
    assert all_of(session(login("broker_operator"))) == {1, 2, 3}


@pytest.mark.parametrize(
    ("private", "group", "owner"), [(True, None, None), (False, "g1", None), (False, None, "alice"), (None, None, None)]
)
def test_wrong_identities_are_refused(
    operator: Calls, private: bool | None, group: str | None, owner: str | None
) -> None:
    query = "select resource.set_identity('default', 'somebody', %s, %s, %s)"
    assert operator.refusal(lambda: operator.rows(query, private, group, owner))[0] == "PB001"


# Attackers


@pytest.mark.slow
def test_temporary_tables_and_shadowing_schemas_give_no_rights(
    operator: Calls, connect: Connect, login: Login, session: Session
) -> None:
    """Temporary tables, and a schema of the attacker's first in its search path, full of objects named like ours."""
    user = login("broker_agent", "broker_submitter")
    identify(operator, user, "g1", "alice")
    admin = operator.connection
    admin.execute(sql.SQL("create schema evil authorization {}").format(sql.Identifier(user)))
    attacker = session(user)
    evil = attacker.connection
    signatures = [
        "now() returns timestamptz", "md5(text) returns text", "gen_random_uuid() returns uuid",
        "caller() returns text", "identify(text) returns resource.identity", "hashtext(text) returns int",
        "unnest(text[]) returns setof text", "jsonb_typeof(jsonb) returns text", "current_setting(text) returns text",
        "pg_has_role(text, text, text) returns boolean", "clock(text) returns timestamptz",
        "accepts(text) returns boolean",
    ]  # fmt: skip
    for signature in signatures:
        body = "begin raise exception 'evil runs as %', current_user using errcode = 'EVIL1'; end"
        evil.execute(
            f"create function evil.{signature} language plpgsql as $${body}$$".replace(
                "resource.identity", "text"
            ).encode()
        )
    for table in (
        "job",
        "lease",
        "task_queue",
        "posting",
        "definition",
        "setting",
        "identity",
        "installation_role",
        "ended",
        "pg_class",
    ):
        evil.execute(f"create temp table {table} (setup text, job_id bigint, role_name text)".encode())
        evil.execute(f"create table evil.{table} (setup text, job_id bigint, role_name text)".encode())
    evil.execute("set search_path = evil, pg_temp, pg_catalog, taskqueue, resource")
    assert attacker.match(OwnerGroup="g2", OwnerDN="bob", JobID=3) is None
    attacker.insert(50, OwnerGroup="g1", OwnerDN="alice")
    matches = attacker.match_jobs(10, OwnerGroup=["g1", "g2"])
    assert {match.job_id for match in matches} == {1, 50}
    for match in matches:
        attacker.call_rows("report_job", match.job_id, match.attempt)
    attacker.call("finish_job", matches[0].job_id, matches[0].attempt)
    attacker.call("release_job", matches[1].job_id, matches[1].attempt)
    assert operator.state(2) == operator.state(3) == "waiting"
    assert operator.inconsistencies() == []


def test_an_agent_cannot_turn_the_clock_or_choose_the_draw(operator: Calls, identified: Session) -> None:
    agent = identified("broker_agent")
    for query in (
        "select resource.set_clock('default', '2030-01-01')",
        "select * from taskqueue.match_jobs_with_seed('default', '{\"CPUTime\": 1000}', 1, 1)",
        "select resource.set_identity('default', session_user)",
    ):
        assert agent.error_of(partial(agent.rows, query)).sqlstate == "42501"


def test_setting_variables_does_not_change_the_identity(operator: Calls, login: Login, session: Session) -> None:
    user = login("broker_agent")
    identify(operator, user, "g2")
    agent = session(user)
    assert agent.error_of(lambda: agent.rows("select set_config('role', 'broker_operator', false)")).sqlstate == "42501"
    assert (
        agent.error_of(lambda: agent.rows("select set_config('session_authorization', 'postgres', false)")).sqlstate
        == "42501"
    )
    agent.rows("select set_config('role', 'none', false)")
    agent.rows("select set_config('role', %s, false)", user)
    assert all_of(agent) == {3}


@pytest.mark.parametrize("empty", [{"p_owner_dn": ""}, {"p_owner_group": ""}])
def test_an_identity_of_nobody_is_refused(rolled_back: Connection, empty: dict[str, str]) -> None:
    """A private identity with an empty owner would match no job, and look like one that matches every job."""
    [(name, value)] = empty.items()
    with refused("PB001", "an empty text names nobody"):
        rolled_back.execute(f"select resource.set_identity('s', 'pilot', true, {name} => %s)".encode(), [value])


@pytest.mark.parametrize(("group", "owner", "named"), [
    ("g1", None, "owner (any), group g1"), (None, "bob", "owner bob, group (any)"),
    ("g1", "bob", "owner bob, group g1"),
], ids=str)  # fmt: skip
def test_the_refusal_of_a_private_submitter_names_its_identity(
    rolled_back: Connection, group: str | None, owner: str | None, named: str
) -> None:
    q = Calls(rolled_back)
    identify(q, q.value("select resource.caller()"), group, owner)
    error = q.error_of(lambda: q.insert(1))
    assert (error.sqlstate, error.diag.message_hint) == ("PB002", f"Its identity in setup default is {named}.")
