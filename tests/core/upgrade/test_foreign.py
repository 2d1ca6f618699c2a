"""Objects of others that use ours survive an upgrade, or the upgrade refuses and names them."""

import re

import psycopg
import pytest

from broker.upgrade import UpgradeError, check, upgrade
from tests.core.upgrade.small_release import ADD_ONE, THINGS, SmallRelease

pytestmark = pytest.mark.slow

# An organisation's view, a view over it, functions and a trigger, all with owners, grants and comments of their own.
FOREIGN = """
create role broker_test_dba;
create role broker_test_reader;
create schema dba authorization broker_test_dba;
grant usage on schema monitor, taskqueue to broker_test_dba;
grant select on monitor.things to broker_test_dba;
grant select, insert on taskqueue.thing to broker_test_dba;
grant execute on function taskqueue.add_one to broker_test_dba;
grant trigger on taskqueue.thing to broker_test_dba;
set role broker_test_dba;
create view dba.report with (security_barrier) as select id, n, taskqueue.add_one(n) as more from monitor.things;
comment on view dba.report is 'Of the DBA''s.';
comment on column dba.report.more is 'One more.';
alter view dba.report alter column id set default 7;
grant select on dba.report to broker_test_reader with grant option;
grant select (id) on dba.report to public;
create view dba.summary as select count(*) as n from dba.report;
create function dba.twice(p_n int) returns int return taskqueue.add_one(p_n) * 2;
comment on function dba.twice(int) is 'Twice.';
revoke execute on function dba.twice(int) from public;
grant execute on function dba.twice(int) to broker_test_reader;
create function dba.late(p_n int) returns int language plpgsql as $$ begin return taskqueue.add_one(p_n); end $$;
create procedure dba.all_of_it(p_things monitor.things[]) language plpgsql as $$ begin end $$;
reset role;
create trigger of_dba after insert on taskqueue.thing for each statement execute function taskqueue.touch();
comment on trigger of_dba on taskqueue.thing is 'Ours, said the DBA.';
alter table taskqueue.thing enable always trigger of_dba;
create function dba.put() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger of_view instead of insert on monitor.things for each row execute function dba.put();
comment on trigger of_view on monitor.things is 'Inserts.';
"""
LOOKS = r"""
select array_agg(x order by x::text) from (
  select ('view', relname, pg_get_viewdef(c.oid), reloptions, relowner::regrole, relacl::text,
          obj_description(c.oid, 'pg_class'),
          (select array_agg((attname, attacl::text, col_description(c.oid, attnum), atthasdef) order by attnum)
             from pg_attribute where attrelid = c.oid and attnum > 0))::text as x
    from pg_class c where relnamespace = 'dba'::regnamespace
  union all
  select ('routine', pg_get_functiondef(oid), proowner::regrole, proacl::text, obj_description(oid, 'pg_proc'))::text
    from pg_proc where pronamespace = 'dba'::regnamespace
  union all
  select ('trigger', pg_get_triggerdef(oid), tgenabled, obj_description(oid, 'pg_trigger'))::text
    from pg_trigger where tgname in ('of_dba', 'of_view')) t
"""


@pytest.fixture
def foreign_dsn(empty_dsn: str, installed: SmallRelease) -> str:
    """A database with the installed release and others' objects on it, in roles of this database's own name."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(named(conn, FOREIGN))
    return empty_dsn


def named(conn: psycopg.Connection[tuple[object, ...]], script: str) -> bytes:
    """The script with roles of this database alone, since all databases share the cluster's roles."""
    return re.sub("broker_test_(dba|reader)", rf"\1_{conn.info.dbname}", script).encode()


def test_objects_of_others_survive_changes_that_need_a_drop(foreign_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(foreign_dsn, autocommit=True) as conn:
        before = conn.execute(LOOKS.encode()).fetchone()
        small.write("taskqueue/add_one.sql", ADD_ONE.replace("p_n int", "p_number int").replace("p_n + 1", "$1 + 1"))
        small.write("monitor/things.sql", THINGS.replace("select t.id", "select t.note, t.id"))
        small.write(
            "taskqueue/touch.sql",
            "create or replace function taskqueue.touch() returns trigger language plpgsql"
            " as $$ begin return null; end $$;",
        )
        report = upgrade(foreign_dsn, program=small.program)
        assert len(report.foreign) == 5
        after = conn.execute(LOOKS.encode()).fetchone()
        assert str(after) == str(before)
        conn.execute("insert into taskqueue.thing values (1, 1)")
        assert conn.execute("select dba.twice(1), dba.late(1)").fetchone() == (4, 2)
        found = check(foreign_dsn, program=small.program).differences
        assert {difference.item for difference in found} == {
            "trigger of_dba on taskqueue.thing",
            "trigger of_view on monitor.things",
        }


def test_a_change_without_a_drop_does_not_touch_objects_of_others(foreign_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(foreign_dsn) as conn:
        oids = "select array_agg(oid order by oid) from pg_class where relnamespace = 'dba'::regnamespace"
        before = conn.execute(oids.encode()).fetchone()
        small.write("taskqueue/add_one.sql", ADD_ONE.replace("p_n + 1", "1 + p_n"))
        small.write("monitor/things.sql", THINGS.replace("as n from", "as n, t.note from"))
        assert not upgrade(foreign_dsn, program=small.program).foreign
        assert conn.execute(oids.encode()).fetchone() == before


def test_an_upgrade_refuses_a_change_that_objects_of_others_do_not_fit(foreign_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(foreign_dsn, autocommit=True) as conn:
        before = conn.execute(LOOKS.encode()).fetchone()
        small.write(
            "monitor/things.sql", "create or replace view monitor.things as select t.id from taskqueue.thing t;"
        )
        with pytest.raises(
            UpgradeError, match=r"view dba\.report, owned by dba_\w+, does not fit.*column .* does not exist"
        ):
            upgrade(foreign_dsn, program=small.program)
        assert conn.execute(LOOKS.encode()).fetchone() == before
        small.remove("monitor/things.sql")
        small.write("roles.sql", "grant usage on schema taskqueue to broker_agent;")
        with pytest.raises(UpgradeError, match=r"dba\.\w+.*does not fit.*monitor\.things"):
            upgrade(foreign_dsn, program=small.program)
        assert conn.execute(LOOKS.encode()).fetchone() == before


def test_an_upgrade_refuses_to_drop_objects_that_it_cannot_recreate(foreign_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(foreign_dsn, autocommit=True) as conn:
        conn.execute("create materialized view dba.kept as select * from monitor.things")
    small.write("monitor/things.sql", THINGS.replace("select t.id", "select t.note, t.id"))
    with pytest.raises(
        UpgradeError, match=r"view monitor\.things must be dropped.*materialized view dba\.kept depends"
    ):
        upgrade(foreign_dsn, program=small.program)


def test_a_login_without_superuser_may_not_drop_objects_of_others(foreign_dsn: str, small: SmallRelease) -> None:
    """The login may not drop objects of others: the upgrade names them. As a member of the owner's role it may."""
    with psycopg.connect(foreign_dsn, autocommit=True) as conn:
        conn.execute("drop trigger of_dba on taskqueue.thing; drop trigger of_view on monitor.things")
        before = conn.execute(LOOKS.encode()).fetchone()
        name = f"installer_{conn.info.dbname}"
        conn.execute(f"create role {name} login password 'x'; grant broker_owner to {name}".encode())
    login = psycopg.conninfo.make_conninfo(foreign_dsn, user=name, password="x")
    small.write("monitor/things.sql", THINGS.replace("select t.id", "select t.note, t.id"))
    with pytest.raises(
        UpgradeError, match=r"view dba\.\w+, owned by dba_\w+, stands on what must be dropped"
    ) as caught:
        upgrade(login, program=small.program)
    assert "member of dba_" in str(caught.value.hint)
    with psycopg.connect(foreign_dsn, autocommit=True) as conn:
        conn.execute(named(conn, f"grant broker_test_dba to {name}"))
        assert len(upgrade(login, program=small.program).foreign) == 3
        assert str(conn.execute(LOOKS.encode()).fetchone()) == str(before)
