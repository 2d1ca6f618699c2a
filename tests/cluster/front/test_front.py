"""A front: it has the calls of the release, and gives the same answers as the shard of the setup."""

import re
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from broker import upgrade
from broker.cluster import survey
from broker.database import Target
from broker.database_errors import from_database
from broker.fronts import overlay
from broker.fronts.remote import own_words
from broker.upgrade.roles import Roles
from tests.calls import requirements, resource
from tests.cluster.front.conftest import LOGINS, SETUPS, AtFront, Cluster, Placed
from tests.core.security.test_matrix import MAY_CALL, compare_calls
from tests.service.conftest import Db

ROLES = Roles("broker_")
# Functions without a setup: writes go to all shards, reads to any shard, and the front answers the rest.
ALL = {
    "brokerage.maintain", "brokerage.profile_faults", "brokerage.refresh_statistics", "brokerage.remove_profile",
    "brokerage.clear_rule", "brokerage.set_profile", "brokerage.set_rule",
    "lifecycle.make_partitions", "lifecycle.setups_due", "lifecycle.stand_down", "lifecycle.summarize_due",
    "resource.set_config_everywhere", "taskqueue.guard_due", "taskqueue.refresh_statistics", "taskqueue.setups_due",
    "workload.fold_counts",
}  # fmt: skip
ANY = {
    "brokerage.plan_steps", "brokerage.profile_name", "brokerage.rules_of",
    "resource.setups_of_claims", "taskqueue.shipped_error_of", "taskqueue.shipped_retry_rules",
    "taskqueue.shown_error", "taskqueue.requirements_in_words", "taskqueue.clauses_text", "taskqueue.clause_text",
    "taskqueue.value_order", "taskqueue.processors_given",
}  # fmt: skip
_BODIES = """
select p.oid::regprocedure::text, l.lanname, p.prosrc, coalesce(p.proargnames[1], '') = 'p_setup'
  from pg_proc p
  join pg_language l on l.oid = p.prolang
 where p.oid = any (%s::regprocedure[])
"""


def test_every_public_function_is_routed(front: Db, cluster: Cluster) -> None:
    """Each function in a shard's catalogue whose first argument is the setup is sent to the shard of the setup."""
    with cluster.connect("south") as shard:
        expected = {routine.title: routine for routine in overlay.routines(shard.cursor(), ROLES)}
    found = {title: (language, body, of_setup) for title, language, body, of_setup in
             front.execute(_BODIES, [list(expected)]).fetchall()}  # fmt: skip
    assert found.keys() == expected.keys()
    assert len(found) > 150
    for title, routine in expected.items():
        language, body, of_setup = found[title]
        if routine.way == "setup":
            assert of_setup and language == "plproxy", title
            assert body.strip() == "cluster 'pgbroker'; run on cluster.shard_of(p_setup);", title
        elif routine.way == "here":
            assert language != "plproxy", title
        else:
            assert routine.way == ("all" if routine.name in ALL else "any"), title
            assert f"run on {routine.way}" in body or f"{overlay.SCHEMA}." in body, title
    assert {routine.name for routine in expected.values() if routine.way == "all"} == ALL
    assert {routine.name for routine in expected.values() if routine.way == "any"} == ANY


def test_an_upgrade_of_a_new_front_finds_nothing_to_change(cluster: Cluster) -> None:
    """Grants, owners, comments: `broker db check` finds nothing, and an upgrade changes nothing."""
    assert upgrade.check(cluster.front).differences == ()
    report = upgrade.upgrade(cluster.front)
    assert (report.written, report.dropped, report.grants) == ((), (), ())
    assert upgrade.check(cluster.front).differences == ()


def test_a_new_front_and_its_shards_have_no_differences(front: Db, cluster: Cluster) -> None:
    target = Target(cluster.front, "--dsn")
    found = survey.states_of_shards(front, target, whole=True)
    assert [one.shard for one in found] == ["a", "b", "c"]
    assert [one.error for one in found] == [None] * 3
    assert survey.differences(front, found) == []


def test_differences_between_shards_are_named(front: Db, cluster: Cluster) -> None:
    with cluster.connect("south") as shard:
        shard.execute("select brokerage.set_profile('only here')")
        shard.execute("insert into resource.setup values ('stray')")
        try:
            states = survey.states_of_shards(front, Target(cluster.front, "--dsn"), whole=True)
            found = survey.differences(front, states)
        finally:
            shard.execute("select brokerage.remove_profile('only here')")
            shard.execute("delete from resource.setup where setup = 'stray'")
    assert "setup stray is on shard b and is placed nowhere" in found
    assert "profiles differ between shards: a, c; b" in found


@pytest.mark.parametrize("login", LOGINS)
def test_each_login_may_call_at_the_front_what_its_role_may(front: Db, at_front: AtFront, login: str) -> None:
    """The matrix of tests/core/security at the front: each login may call what its role may."""
    role = LOGINS[login]
    may = MAY_CALL[role or "nobody"]
    compare_calls(front, at_front(login), may)


def test_a_front_holds_nothing(front: Db) -> None:
    with pytest.raises(psycopg.Error) as raised:
        front.execute("insert into resource.setup (setup) values ('north')")
    assert (raised.value.sqlstate, raised.value.diag.message_primary) == (
        "PB005", "this database is a front: setup north is on a shard",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("call", "sqlstate", "message"),
    [
        ("select * from taskqueue.match_job('west', '{}')", "PB004", "setup west is on no shard"),
        ("select cluster.place('north', 'b')", "PB005", "setup north is on shard a"),
        ("select cluster.place('west', 'd')", "PB001", "there is no shard 'd'"),
        ("select cluster.place('', 'a')", "PB001", "setup is ''"),
        ("select resource.note_shard()", "PB005", "this database is a front"),
    ],
)
def test_wrong_calls_at_the_front_are_refused_with_a_hint(front: Db, call: str, sqlstate: str, message: str) -> None:
    with pytest.raises(psycopg.Error) as raised:
        front.execute(call.encode())
    assert (raised.value.sqlstate, raised.value.diag.message_primary) == (sqlstate, message)
    assert raised.value.diag.message_hint


def test_a_setup_is_placed_on_the_shard_with_the_fewest_setups(front: Db, placed: Placed) -> None:
    counts = dict(front.execute("select shard, setups from monitor.shard").fetchall())
    for _ in range(max(counts.values()) - counts["c"] + 1):
        placed("c")
    counts = dict(front.execute("select shard, setups from monitor.shard").fetchall())
    least = min(counts, key=lambda shard: (counts[shard], shard))
    assert front.execute("select cluster.place('somewhere')").fetchone() == (least,)
    assert front.execute("select cluster.place('somewhere')").fetchone() is not None
    assert front.execute("select cluster.unplace('somewhere'), cluster.unplace('somewhere')").fetchone() is not None
    assert front.execute("select cluster.unplace('somewhere')").fetchone() == (False,)


def test_a_database_that_is_no_front_places_no_setup(db: Db) -> None:
    with pytest.raises(psycopg.Error) as raised:
        db.execute("select cluster.place('north', 'a')")
    assert (raised.value.sqlstate, raised.value.diag.message_primary) == ("PB005", "this database is not a front")
    assert db.execute("select * from cluster.shard_dsn('north')").fetchall() == []


_OF_SETUP = """
select p.oid::regprocedure::text,
       array(select format_type(t, null) from unnest(p.proargtypes::oid[]) with ordinality u (t, n) order by n)
  from pg_proc p
 where p.oid = any (%s::regprocedure[])
 order by 1
"""
_HOSTILE: dict[str, list[Any]] = {
    "text": ["", "no such thing"], "bigint": [-1, 10**12], "integer": [-1, 5], "boolean": [True],
    "jsonb": ["{}", "[7]"],
    "uuid": ["d2ad1b6e-4e5a-4c43-bb54-d21b5a2c6f0e"], "interval": ["-1 day", "1 hour"], "numeric": [-1],
    "timestamp with time zone": ["2000-01-01"], "double precision": [-1.0], "bigint[]": [[-1]], "text[]": [["x"]],
    "uuid[]": [["d2ad1b6e-4e5a-4c43-bb54-d21b5a2c6f0e"]], "integer[]": [[-1]],
}  # fmt: skip
_CHANGES = {"taskqueue.remove_setup", "taskqueue.rebuild_matching"}  # one for the whole setup


def _outcome(connection: Db, call: sql.Composed, values: list[Any], *, keep: bool) -> Any:
    """The error as a caller of the program sees it, or the columns."""
    try:
        with connection.transaction(force_rollback=not keep):
            cursor = connection.execute(call, values)
            return [column.name for column in cursor.description or []]
    except psycopg.Error as error:
        return [error.sqlstate, own_words(error.diag.message_primary), own_words(error.diag.message_hint),
                own_words(error.diag.message_detail)]  # fmt: skip


def test_errors_are_those_of_the_shard(cluster: Cluster, at_front: AtFront, placed: Placed) -> None:
    """Routed functions get hostile arguments: first at the shard, where they are rolled back, then at the front."""
    login, setup = "cluster_operator", placed("b")
    direct, through = at_front(login, "south"), at_front(login)
    direct.execute("select taskqueue.insert_job(%s, 1, %s)", [setup, Jsonb(requirements())])
    with cluster.connect("south") as shard:
        titles = [routine.title for routine in overlay.routines(shard.cursor(), ROLES) if routine.way == "setup"]
        functions = shard.execute(_OF_SETUP, [titles]).fetchall()
    wrong, refused = [], 0
    for title, types in functions:
        name = title.partition("(")[0]
        if name in _CHANGES:
            continue
        call = sql.SQL("select * from {}({})").format(
            sql.Identifier(*name.split(".")), sql.SQL(", ").join(sql.SQL("%s::" + one) for one in types)
        )
        for choice in range(3):
            values: list[Any] = [setup]
            for kind in types[1:]:
                known = _HOSTILE.get(kind, [])
                values.append(None if choice == 0 or not known else known[min(choice - 1, len(known) - 1)])
            expected = _outcome(direct, call, values, keep=False)
            found = _outcome(through, call, values, keep=True)
            refused += len(expected) == 4 and str(expected[0]).startswith("PB")
            if found != expected:
                wrong.append((title, values, expected, found))
    assert refused > 100
    assert wrong == []


def test_an_error_reaches_the_program_in_the_shards_words(at_front: AtFront, placed: Placed) -> None:
    agent, setup = at_front("cluster_agent"), placed("a")
    with pytest.raises(psycopg.Error) as raised:
        agent.execute("select * from taskqueue.match_job(%s, %s)", [setup, Jsonb(resource())])
    found = from_database(raised.value)
    assert (found.sqlstate, found.message) == ("PB002", f"role cluster_agent may not use setup {setup}")
    assert found.hint and found.hint.startswith("An operator grants it")


def test_setups_live_on_their_shards(cluster: Cluster, at_front: AtFront, placed: Placed) -> None:
    """Jobs of three setups have the same ids: each is matched on its own shard, and views show all of them."""
    operator, agent = at_front("cluster_operator"), at_front("cluster_agent")
    setups = {placed(shard): shard for shard in cluster.shards}
    for setup in setups:
        operator.execute("select resource.set_identity(%s, 'cluster_agent')", [setup])
        for job in (71, 72):
            operator.execute("select taskqueue.insert_job(%s, %s, %s)", [setup, job, Jsonb(requirements())])
    listed = "select setup, job_id from monitor.listed_job where setup = any (%s) order by 1, 2"
    everything = [(setup, job) for setup in sorted(setups) for job in (71, 72)]
    assert operator.execute(listed, [list(setups)]).fetchall() == everything
    for setup, shard in setups.items():
        match = "select job_id from taskqueue.match_job(%s, %s, %s)"
        request = "d2ad1b6e-4e5a-4c43-bb54-d21b5a2c6f0e"
        first = agent.execute(match, [setup, Jsonb(resource()), request]).fetchall()
        assert first == agent.execute(match, [setup, Jsonb(resource()), request]).fetchall()
        with psycopg.connect(cluster.shards[shard]) as there:
            leases = "select setup, job_id from taskqueue.lease where setup = any (%s)"
            assert there.execute(leases, [list(setups)]).fetchall() == [(setup, first[0][0])]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("select from monitor.listed_job")
    assert at_front("cluster_viewer").execute(listed, [list(setups)]).fetchall() == everything


def test_views_have_the_columns_of_the_release(front: Db, cluster: Cluster) -> None:
    with cluster.connect("south") as shard:
        expected = overlay.views(shard.cursor(), ROLES)
    assert overlay.views(front.cursor(), ROLES) == expected
    for view in expected:
        front.execute(f"select * from {view.name} limit 3".encode()).fetchall()
    explained = front.execute("explain (verbose) select * from monitor.task where setup = 'north' and task_id = 5")
    text = "\n".join(line for (line,) in explained.fetchall())
    remote = re.findall(r"Remote SQL: .*", text)
    assert len(remote) == 3
    assert all("'north'" in one and "task_id = 5" in one for one in remote)


def test_procedures_are_loops_over_the_shard(front: Db, cluster: Cluster, placed: Placed) -> None:
    setup = placed("a")
    front.execute("select resource.set_identity(%s, 'cluster_agent')", [setup])
    with pytest.raises(psycopg.Error) as raised:
        front.execute("call brokerage.broker_jobs(%s, array[4711])", [setup])
    assert own_words(raised.value.diag.message_primary) == f"task 4711 is not in setup {setup}"
    run = front.execute("call brokerage.broker_jobs(%s)", [setup]).fetchone()
    with psycopg.connect(cluster.shards["a"]) as shard:
        query = "select run_id, ended_at is not null from monitor.run where setup = %s"
        found = shard.execute(query, [setup]).fetchall()
    assert run is not None and (run[0], True) in found
    front.execute("call brokerage.classify(%s)", [setup])
    front.execute("call lifecycle.watch(%s)", [setup])
    front.execute("call instance.schedule(%s)", [setup])


def test_calls_without_a_setup_run_on_every_shard(front: Db, cluster: Cluster) -> None:
    front.execute("select brokerage.set_profile('everywhere', 'documented', 'a test')")
    for setup in SETUPS:
        with cluster.connect(setup) as shard:
            assert shard.execute("select from monitor.profile where profile = 'everywhere'").fetchone() is not None
    assert front.execute("select count(*) from monitor.profile where profile = 'everywhere'").fetchone() == (1,)
    assert front.execute("select brokerage.remove_profile('everywhere')").fetchone() == (True,)
    assert front.execute("select brokerage.remove_profile('everywhere')").fetchone() == (False,)
    assert front.execute("select workload.fold_counts()").fetchone() == (0,)
