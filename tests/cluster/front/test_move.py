"""A setup moves to another shard while agents work: nothing is lost or duplicated, even if the mover dies."""

import re
import threading
import time
import uuid
from collections import Counter
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from broker.client import JobAgent, Submitter
from broker.client.matcher import Match
from broker.cluster import move as mover
from broker.cluster.move import Moved, move
from broker.database import Target
from broker.errors import BrokerError, Busy
from broker.fronts import overlay
from broker.fronts.remote import own_words
from broker.upgrade.roles import Roles
from broker.upgrade.source import SCHEMAS
from tests.calls import Calls, requirements, resource
from tests.cluster.front.conftest import AtFront, Cluster, Placed
from tests.service.conftest import Db

STEPS = ("mark", "copy", "hand over", "open", "place", "remove")
JOBS = 3000


class Died(Exception):
    """The mover died."""


@pytest.fixture
def setup(front: Db, placed: Placed) -> str:
    """A setup on shard a, in which the agent may match."""
    name = placed("a")
    front.execute("select resource.set_identity(%s, 'cluster_agent')", [name])
    return name


def _move(cluster: Cluster, setup: str, shard: str, **more: Any) -> Moved:
    with cluster.connect() as front:
        return move(front, Target(cluster.front, "--dsn"), setup, shard, **more)


def _dies(cluster: Cluster, setup: str, shard: str, step: str) -> None:
    """Start a move whose mover dies after a step."""

    def die(done: str) -> None:
        if done == step:
            raise Died

    with pytest.raises(Died):
        _move(cluster, setup, shard, step=die)


def _shard(cluster: Cluster, name: str) -> Db:
    return psycopg.connect(cluster.shards[name], autocommit=True)


def _owners(cluster: Cluster, setup: str) -> list[str]:
    """The shards on which a call may change the setup."""
    found = []
    for name in cluster.shards:
        with _shard(cluster, name) as shard:
            if shard.execute("select from resource.setup where setup = %s", [setup]).fetchone() is None:
                continue
            try:
                shard.execute("select taskqueue.set_settings(%s, '{}')", [setup])
                found.append(name)
            except psycopg.Error as error:
                assert error.sqlstate == "PB006", error
    return found


def _whole(cluster: Cluster, setup: str, name: str) -> tuple[Counter[int], Counter[int]]:
    """The waiting and the leased jobs on a shard, after a check that matching and instances are consistent there."""
    with _shard(cluster, name) as shard:
        assert shard.execute("select * from taskqueue.check_matching(%s)", [setup]).fetchall() == []
        differing = "select * from {} where setup = %s"
        for view in ("monitor.instance_difference", "workload.count_difference", "monitor.matching_difference"):
            query = sql.SQL(differing).format(sql.Identifier(*view.split(".")))
            assert shard.execute(query, [setup]).fetchall() == [], view
        return (
            Counter(job for (job,) in shard.execute("select job_id from taskqueue.job where setup = %s", [setup])),
            Counter(job for (job,) in shard.execute("select job_id from taskqueue.lease where setup = %s", [setup])),
        )


def _fill(cluster: Cluster, setup: str, jobs: int) -> None:
    """Jobs with clauses that each resource of the tests meets."""
    with cluster.connect() as front:
        front.execute("select taskqueue.set_attributes(%s, %s)", [setup, Jsonb({"scratch": "number"})])
    with Submitter(setup, cluster.front) as submitter:
        for part in range(10):
            either = [{"TagExpression": "~tape"}, {"Attributes": {"scratch": {"min": part}}}]
            asked = requirements(OwnerGroup=f"group {part}", Sites=f"site {part % 3}", Alternatives=either)
            first = part * jobs // 10
            numbered = [[first + n + 1, n % 10] for n in range(jobs // 10)]
            submitter.submit_many([{"requirements": asked, "jobs": numbered}])


def test_agents_go_on_while_their_setup_moves(cluster: Cluster, setup: str) -> None:
    _fill(cluster, setup, JOBS)
    got: list[int] = []
    reports: Counter[str] = Counter()
    wrong: list[BaseException] = []
    moved = threading.Event()
    login = cluster.dsn("cluster_agent")

    def agent(number: int) -> None:
        held: list[Match] = []
        try:
            with JobAgent(setup, login, connections=1) as client:
                while not (moved.is_set() and len(held) > 30):
                    match = client.match(resource(Site=f"site {number % 3}"))
                    if match is None:
                        break
                    got.append(match.job_id)
                    held.append(match)
                for match in held:
                    reports[client.report(match).action] += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    while len(got) < 200:
        time.sleep(0.01)
    done = _move(cluster, setup, "b")
    matched = len(got)
    moved.set()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert done.rows > JOBS
    assert len(got) > matched, "nobody matched after the move"
    assert max(Counter(got).values()) == 1
    assert reports == {"continue": len(got)}
    waiting, leased = _whole(cluster, setup, "b")
    assert waiting + leased == Counter(range(1, JOBS + 1))
    assert leased == Counter(got)
    assert _owners(cluster, setup) == ["b"]
    with _shard(cluster, "a") as shard:
        tables = shard.execute(
            """select format('%%I.%%I', n.nspname, c.relname)
                 from pg_class c
                 join pg_namespace n on n.oid = c.relnamespace
                where n.nspname = any (%s) and c.relkind in ('r', 'p') and not c.relispartition
                  and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'setup')""",
            [list(SCHEMAS)],
        ).fetchall()
        left = [
            table
            for (table,) in tables
            if shard.execute(f"select from {table} where setup = %s limit 1".encode(), [setup]).fetchone() is not None
        ]
    assert left == ["resource.setup_move"]


@pytest.mark.parametrize("step", STEPS)
def test_a_move_that_dies_after_any_step_is_ended_by_the_next_move(cluster: Cluster, setup: str, step: str) -> None:
    """After each commit exactly one shard has the complete setup; the next move completes the interrupted one."""
    _fill(cluster, setup, 100)
    before = _whole(cluster, setup, "a")
    _dies(cluster, setup, "b", step)
    owners = _owners(cluster, setup)
    assert owners == (["a"] if step in ("mark", "copy") else [] if step == "hand over" else ["b"])
    if step not in ("place", "remove"):
        _move(cluster, setup, "b")
    assert _owners(cluster, setup) == ["b"]
    assert _whole(cluster, setup, "b") == before
    _move(cluster, setup, "a")
    assert _owners(cluster, setup) == ["a"]
    assert _whole(cluster, setup, "a") == before


def test_the_mark_of_a_killed_mover_does_not_count(cluster: Cluster, setup: str) -> None:
    """The session of the mover is killed between the mark and the copy."""
    _fill(cluster, setup, 10)

    def kill(done: str) -> None:
        if done == "mark":
            with _shard(cluster, "a") as shard:
                shard.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where usename = 'cluster_super' and datname = current_database()"
                )

    with pytest.raises((psycopg.Error, BrokerError)):
        _move(cluster, setup, "b", step=kill)
    with _shard(cluster, "a") as shard:
        marks = shard.execute("select state from resource.setup_move where setup = %s", [setup]).fetchall()
        watched = shard.execute("select * from lifecycle.setups()").fetchall()
    assert marks == [("leaving",)]
    assert (setup,) in watched
    assert _owners(cluster, setup) == ["a"]
    _move(cluster, setup, "b")
    assert _owners(cluster, setup) == ["b"]


def test_a_transaction_that_stays_open_stops_a_move(
    cluster: Cluster, setup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.cluster.move._PATIENCE", 0.3)
    _fill(cluster, setup, 10)
    with _shard(cluster, "a") as shard, shard.transaction():
        shard.execute("select 1")
        with pytest.raises(Busy) as raised:
            _move(cluster, setup, "b")
    assert raised.value.message.startswith(f"setup {setup} stays on its shard: a transaction there")
    assert _owners(cluster, setup) == ["a"]


def test_an_interrupted_move_must_end_before_another_begins(cluster: Cluster, setup: str) -> None:
    """The source may have been handed over: then its rows are old and may not be moved elsewhere."""
    _fill(cluster, setup, 10)
    _dies(cluster, setup, "b", "hand over")
    with pytest.raises(BrokerError) as raised:
        _move(cluster, setup, "c")
    assert raised.value.message == f"setup {setup} has moved to shard b, and that move was broken off"
    assert raised.value.hint == f"end it first: broker cluster move {setup} b"
    _move(cluster, setup, "b")
    assert _owners(cluster, setup) == ["b"]


def test_the_same_move_removes_the_rows_that_a_killed_mover_left_behind(cluster: Cluster, setup: str) -> None:
    """The mover died after the front had learned of the new shard."""
    _fill(cluster, setup, 10)
    _dies(cluster, setup, "b", "place")
    before = _whole(cluster, setup, "b")
    left = "select (select count(*) from taskqueue.job where setup = %(setup)s), state, shard from resource.setup_move"
    with _shard(cluster, "a") as source:
        assert source.execute(left + " where setup = %(setup)s", {"setup": setup}).fetchall() == [(10, "moved", "b")]
        _move(cluster, setup, "b")
        assert source.execute(left + " where setup = %(setup)s", {"setup": setup}).fetchall() == [(0, "moved", "b")]
    assert _owners(cluster, setup) == ["b"]
    assert _whole(cluster, setup, "b") == before
    with pytest.raises(BrokerError, match="is on shard b already"):
        _move(cluster, setup, "b")


def test_rows_are_not_removed_from_a_shard_to_which_the_setup_is_coming_back(
    cluster: Cluster, setup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows were left on a. One session would remove them, while another moves the setup back to a."""
    _fill(cluster, setup, 10)
    _dies(cluster, setup, "b", "place")
    whole = _whole(cluster, setup, "b")
    look = mover._require_superuser

    def back(connection: Db, name: str) -> None:
        monkeypatch.setattr(mover, "_require_superuser", look)
        _move(cluster, setup, "a")

    monkeypatch.setattr(mover, "_require_superuser", back)
    with pytest.raises(BrokerError, match="is on shard b already"):
        _move(cluster, setup, "b")
    assert _owners(cluster, setup) == ["a"]
    assert _whole(cluster, setup, "a") == whole


def test_leftovers_of_an_old_move_hinder_no_other_setup(cluster: Cluster, setup: str) -> None:
    """A copy that an interrupted move from a left on b is not one of b's own setups."""
    _fill(cluster, setup, 10)
    _dies(cluster, setup, "b", "copy")
    _move(cluster, setup, "c")
    before = _whole(cluster, setup, "c")
    _move(cluster, setup, "b")
    assert _owners(cluster, setup) == ["b"]
    assert _whole(cluster, setup, "b") == before


def test_sequences_never_go_back_after_a_move(cluster: Cluster, setup: str) -> None:
    """A sequence of the target that is ahead stays where it is; one that is behind goes beyond the source's."""
    last = "select coalesce(pg_sequence_last_value('taskqueue.entry_id'), 0)"
    _fill(cluster, setup, 10)
    with _shard(cluster, "a") as source, _shard(cluster, "b") as goal:
        goal.execute("select setval('taskqueue.entry_id', 50000000)")
        _move(cluster, setup, "b")
        assert goal.execute(last).fetchone() == (50_000_000,)
        _move(cluster, setup, "a")
        assert (source.execute(last).fetchone() or (0,))[0] > 50_000_000


def test_an_ended_job_is_retried_on_the_new_shard(cluster: Cluster, setup: str) -> None:
    """Its requirements have left the definitions before the move."""
    with _shard(cluster, "a") as shard:
        q = Calls(shard, setup)
        q.insert(1, 4, Sites=["A"])
        q.call("cancel_job", 1)
        q.call("delete_empty_queues")
        q.set_clock("2100-01-01 00:00:00+00")
        assert q.maintain()["definitions"] == 1
    _move(cluster, setup, "b")
    with _shard(cluster, "a") as shard:
        assert Calls(shard, setup).rows("select from taskqueue.past_definition where setup = %s", setup) == []
    with _shard(cluster, "b") as shard:
        q = Calls(shard, setup)
        assert q.rows("select answer from lifecycle.retry_jobs(%s, '{1}')", setup) == [("waits again",)]
        assert q.rows("select requirements -> 'Sites', user_priority from monitor.job where setup = %s", setup) == [
            (["A"], 4)
        ]
        assert q.inconsistencies() == []


def test_a_second_move_of_the_same_setup_is_refused(cluster: Cluster, setup: str) -> None:
    """The second move is refused while the first one runs."""
    _fill(cluster, setup, 10)
    refusals: list[str] = []

    def other(done: str) -> None:
        if done == "copy":
            try:
                _move(cluster, setup, "c")
            except Busy as error:
                refusals.append(error.message)

    _move(cluster, setup, "b", step=other)
    assert refusals == [f"setup {setup} is being moved by another session"]
    assert _owners(cluster, setup) == ["b"]


def test_a_move_to_a_wrong_shard_or_of_a_wrong_setup_is_refused(cluster: Cluster, front: Db, setup: str) -> None:
    for shard, message in (("d", "there is no shard d"), ("a", f"setup {setup} is on shard a already")):
        with pytest.raises(BrokerError) as raised:
            _move(cluster, setup, shard)
        assert raised.value.message == message and raised.value.hint
    with pytest.raises(BrokerError) as raised:
        _move(cluster, "no such setup", "b")
    assert raised.value.message == "setup no such setup is on no shard"
    with _shard(cluster, "c") as goal:
        goal.execute("insert into resource.setup (setup) values (%s)", [setup])
        try:
            with pytest.raises(BrokerError) as raised:
                _move(cluster, setup, "c")
        finally:
            goal.execute("delete from resource.setup where setup = %s", [setup])
    assert raised.value.message == f"shard c has a setup {setup} of its own"


def test_a_move_needs_the_roles_of_the_setup_on_the_new_shard(cluster: Cluster, setup: str) -> None:
    role = f"only_on_a_{uuid.uuid4().hex[:8]}"
    with _shard(cluster, "a") as source:
        source.execute(sql.SQL("create role {}").format(sql.Identifier(role)))
        try:
            source.execute("select resource.set_identity(%s, %s)", [setup, role])
            with pytest.raises(BrokerError) as raised:
                _move(cluster, setup, "b")
        finally:
            source.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))
    assert raised.value.message == f"shard b does not have the roles {role}"
    assert raised.value.hint == f'run there: create role "{role}" login;'


# Arguments after the setup, for calls that check their arguments first.
_VALID = {
    "brokerage.store": "'live_counter', '[]'", "resource.store": "'queue', '[]'",
    "lifecycle.watch_step": "'leases', false, 10", "taskqueue.clear_limit": "'running', 'X', null, 'JobType', 'x'",
    "taskqueue.set_limit": "'running', 'X', null, 'JobType', 'x', 1, 1",
    "resource.set_identity": "'cluster_agent', false",
    "resource.set_clock": "now()", "resource.clear_identity": "'cluster_agent'", "taskqueue.match_jobs": "'{}', 1",
    "taskqueue.match_jobs_with_seed": "'{}', 1, 1",
}  # fmt: skip
_ARGUMENTS = """
select array(select format_type(t, null) from unnest(p.proargtypes::oid[]) t)
  from pg_proc p where p.oid = %s::regprocedure
"""
_READS = {"brokerage.replay", "lifecycle.lead"}  # leads are not the setup's: they stay where they are


def test_every_call_that_writes_is_refused_during_a_move(cluster: Cluster, setup: str, at_front: AtFront) -> None:
    """Each function that is not stable raises PB006 first, unless its arguments are wrong."""
    _fill(cluster, setup, 10)
    with _shard(cluster, "a") as shard:
        shard.execute("insert into resource.setup_move (setup, state, shard) values (%s, 'moved', 'b')", [setup])
        functions = [r for r in overlay.routines(shard.cursor(), Roles("broker_")) if r.way == "setup"]
        wrong: list[tuple[str | None, ...]] = []
        tried = 0
        for routine in functions:
            if re.search(r"\n STABLE|\n IMMUTABLE", routine.definition) or routine.name in _READS:
                continue
            [(arguments,)] = shard.execute(_ARGUMENTS, [routine.title]).fetchall()
            values = _VALID.get(routine.name, "")
            given = values.count(",") + 1 if values else 0
            nulls = [f"null::{one}" for one in arguments[1 + given :]]
            call = f"select * from {routine.name}({', '.join(['%s', *([values] if values else []), *nulls])})"
            try:
                with shard.transaction(force_rollback=True):
                    shard.execute(call.encode(), [setup])
                wrong.append((routine.title, "answers"))
            except psycopg.Error as error:
                tried += error.sqlstate == "PB006"
                if error.sqlstate != "PB006":
                    wrong.append((routine.title, error.sqlstate, own_words(error.diag.message_primary)))
        shard.execute("delete from resource.setup_move where setup = %s", [setup])
        assert wrong == []
        assert tried > 80
        assert shard.execute("select taskqueue.insert_job(%s, 11, %s)", [setup, Jsonb(requirements())]).fetchone()
