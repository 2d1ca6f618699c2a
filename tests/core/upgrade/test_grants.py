"""Roles and grants: the database has those of roles.sql; they are made without a superuser, and under any prefix."""

from collections.abc import Callable

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker.upgrade import UpgradeError, check, downgrade, upgrade
from broker.upgrade.grants import parse
from tests.core.upgrade.small_release import GRANTS, Creator, SmallRelease

PRIVILEGES = """
select grantee::regrole::text, privilege_type from (
  select (aclexplode(proacl)).* from pg_proc where oid = 'taskqueue.add_one(int)'::regprocedure) x order by 1
"""


def rows(dsn: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn) as conn:
        return conn.execute(query.encode()).fetchall()


@pytest.mark.slow
def test_a_grant_that_leaves_the_file_leaves_the_database(empty_dsn: str, installed: SmallRelease) -> None:
    assert rows(empty_dsn, PRIVILEGES) == [("broker_agent", "EXECUTE"), ("broker_owner", "EXECUTE")]
    installed.write("roles.sql", GRANTS.replace("add_one to broker_agent", "add_one to broker_viewer, broker_operator"))
    report = upgrade(empty_dsn, program=installed.program)
    assert rows(empty_dsn, PRIVILEGES) == [
        ("broker_operator", "EXECUTE"),
        ("broker_owner", "EXECUTE"),
        ("broker_viewer", "EXECUTE"),
    ]
    assert len(report.grants) == 3 and not report.written
    installed.write("roles.sql", "")
    upgrade(empty_dsn, program=installed.program)
    assert rows(empty_dsn, PRIVILEGES) == [("broker_owner", "EXECUTE")]
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
def test_a_grant_names_one_overload_or_all(empty_dsn: str, small: SmallRelease) -> None:
    small.write(
        "taskqueue/add_one__2.sql",
        "create or replace function taskqueue.add_one(p_n numeric(5,2)) returns int return 1;",
    )
    small.write("roles.sql", GRANTS.replace("add_one to", "add_one(decimal) to"))
    upgrade(empty_dsn, program=small.program)
    who = """
        select has_function_privilege('broker_agent', oid, 'execute')
          from pg_proc where proname = 'add_one' order by oid"""
    assert rows(empty_dsn, who) == [(False,), (True,)]
    small.write("roles.sql", GRANTS)
    upgrade(empty_dsn, program=small.program)
    assert rows(empty_dsn, who) == [(True,), (True,)]


@pytest.mark.slow
def test_a_procedure_is_granted_like_a_function(empty_dsn: str, small: SmallRelease) -> None:
    small.write(
        "taskqueue/work.sql",
        "create or replace procedure taskqueue.work(p_n int, inout p_run bigint default null)"
        " language plpgsql as $$ begin p_run := p_n; end $$;",
    )
    small.write("roles.sql", GRANTS + "grant execute on procedure taskqueue.work to broker_operator;")
    upgrade(empty_dsn, program=small.program)
    who = """
        select has_function_privilege(role, 'taskqueue.work(int, bigint)', 'execute')
          from unnest(array['broker_operator', 'broker_viewer']) role"""
    assert rows(empty_dsn, who) == [(True,), (False,)]
    small.write("roles.sql", GRANTS)
    upgrade(empty_dsn, program=small.program)
    assert rows(empty_dsn, who) == [(False,), (False,)]
    assert check(empty_dsn, program=small.program).ok


@pytest.mark.parametrize("line", [
    "grant select on public.t to broker_agent;", "grant select on taskqueue.thing, public.t to broker_agent;",
    "grant select on taskqueue.thing, to broker_agent;", "grant all on taskqueue.thing to broker_agent;",
    "grant select on taskqueue.thing to public;", "grant select on taskqueue.thing to somebody;",
    "grant execute on all functions in schema taskqueue to broker_agent;",
    "revoke select on taskqueue.thing from broker_agent;", "drop table taskqueue.thing;",
])  # fmt: skip
def test_roles_sql_holds_plain_grants_only(line: str) -> None:
    with pytest.raises(UpgradeError, match=r"roles\.sql: `"):
        parse(line)


def test_a_grant_may_list_several_functions_and_roles() -> None:
    listed = parse("grant execute on function taskqueue.f, taskqueue.g(int) to broker_agent, broker_operator;")
    single = "grant execute on function {} to broker_agent, broker_operator;"
    assert listed == parse(single.format("taskqueue.f") + single.format("taskqueue.g(int)"))


@pytest.mark.slow
def test_a_grant_on_nothing_is_refused(empty_dsn: str, small: SmallRelease) -> None:
    small.write("roles.sql", GRANTS + "grant execute on function taskqueue.add_two to broker_agent;")
    with pytest.raises(UpgradeError, match=r"roles\.sql grants on routine taskqueue\.add_two"):
        upgrade(empty_dsn, program=small.program)
    small.write("roles.sql", GRANTS)
    upgrade(empty_dsn, program=small.program)
    small.write("roles.sql", GRANTS + "grant execute on function taskqueue.add_one(text) to broker_agent;")
    assert [difference.found for difference in check(empty_dsn, program=small.program).differences] == ["no such thing"]


def test_public_gets_no_rights_by_an_upgrade(dsn: str) -> None:
    found = rows(
        dsn,
        """
        select 'schema', nspname from pg_namespace, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) x
         where pg_get_userbyid(nspowner) = 'broker_owner' and x.grantee = 0
        union all
        select 'routine', p.oid::regprocedure::text
          from pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) x
         where pg_get_userbyid(proowner) = 'broker_owner' and x.grantee = 0
        union all
        select 'relation', c.oid::regclass::text
          from pg_class c, aclexplode(coalesce(relacl, acldefault('r', relowner))) x
         where pg_get_userbyid(relowner) = 'broker_owner' and x.grantee = 0
        """,
    )
    assert found == []


def test_everything_belongs_to_the_owner(dsn: str) -> None:
    strangers = rows(
        dsn,
        """
        select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = pronamespace
         where pg_get_userbyid(nspowner) = 'broker_owner' and pg_get_userbyid(proowner) <> 'broker_owner'
        union all
        select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = relnamespace
         where pg_get_userbyid(nspowner) = 'broker_owner' and pg_get_userbyid(relowner) <> 'broker_owner'
        """,
    )
    assert strangers == []


@pytest.mark.slow
def test_an_installation_may_use_another_prefix_of_roles(empty_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(empty_dsn) as conn:
        prefix = f"of_{conn.info.dbname}_"
    upgrade(empty_dsn, role_prefix=prefix, program=small.program)
    owners = "select distinct nspowner::regrole::text from pg_namespace where nspname in ('resource', 'taskqueue')"
    assert rows(empty_dsn, owners) == [(f"{prefix}owner",)]
    assert ("agent", f"{prefix}agent") in rows(empty_dsn, "select kind, role_name from resource.installation_role")
    assert rows(empty_dsn, PRIVILEGES) == [(f"{prefix}agent", "EXECUTE"), (f"{prefix}owner", "EXECUTE")]
    # The database knows its prefix from here on.
    assert not upgrade(empty_dsn, program=small.program).changed
    assert check(empty_dsn, program=small.program).ok
    with pytest.raises(UpgradeError, match=f"role prefix {prefix}, not other_"):
        upgrade(empty_dsn, role_prefix="other_", program=small.program)
    downgrade(empty_dsn, "base", program=small.program)


@pytest.mark.parametrize("prefix", ["", "pg_x", "Broker", "a b", "x" * 51, '"; drop'])
def test_a_prefix_is_the_beginning_of_a_name(empty_dsn: str, small: SmallRelease, prefix: str) -> None:
    with pytest.raises(UpgradeError, match="not the beginning of a role's name"):
        upgrade(empty_dsn, role_prefix=prefix, program=small.program)


@pytest.mark.slow
def test_a_small_release_is_installed_without_a_superuser(creator: Creator, small: SmallRelease) -> None:
    dsn, prefix = creator
    upgrade(dsn, role_prefix=prefix, program=small.program)
    assert not upgrade(dsn, program=small.program).changed
    assert check(dsn, program=small.program).ok
    small.write("roles.sql", "")
    assert len(upgrade(dsn, program=small.program).grants) == 5
    assert downgrade(dsn, "base", program=small.program).revision is None


@pytest.mark.slow
def test_the_whole_release_is_installed_without_a_superuser(creator: Creator) -> None:
    dsn, prefix = creator
    upgrade(dsn, role_prefix=prefix)
    assert check(dsn).ok


@pytest.mark.slow
def test_a_service_role_that_inherits_is_mended(creator: Creator, empty_dsn: str, small: SmallRelease) -> None:
    """Otherwise the service could use the rights of its roles while it acts as none of them."""
    dsn, prefix = creator
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in ("create role {}agent", "create role {}service login", "grant {}agent to {}service"):
            conn.execute(statement.replace("{}", prefix).encode())
    upgrade(dsn, role_prefix=prefix, program=small.program)
    may = "select pg_has_role(%s, %s, 'USAGE'), pg_has_role(%s, %s, 'MEMBER')"
    with psycopg.connect(empty_dsn) as conn:
        for kind in ("agent", "submitter", "operator", "viewer"):
            names = [f"{prefix}service", f"{prefix}{kind}"]
            assert conn.execute(may, names * 2).fetchone() == (False, True), kind
    assert not upgrade(dsn, program=small.program).changed


@pytest.mark.slow
def test_an_installer_without_the_right_gets_the_sql_to_run(
    creator: Creator, empty_dsn: str, small: SmallRelease
) -> None:
    dsn, prefix = creator
    with psycopg.connect(dsn) as conn:
        name = conn.info.user
    with psycopg.connect(empty_dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("alter role {} nocreaterole").format(sql.Identifier(name)))
        with pytest.raises(UpgradeError, match="may not make the roles") as caught:
            upgrade(dsn, role_prefix=prefix, program=small.program)
        hint = str(caught.value.hint)
        assert f'create role "{prefix}agent" nologin;' in hint and f'grant "{prefix}owner" to "{name}";' in hint
        assert rows(empty_dsn, "select count(*) from pg_namespace where nspname = 'resource'") == [(0,)]
        # The printed statements are enough: once a superuser has run them, the login can go on.
        admin.execute(hint.split("\n", 1)[1].encode())
        upgrade(dsn, role_prefix=prefix, program=small.program)
    assert check(dsn, program=small.program).ok


@pytest.mark.slow
def test_a_second_dba_learns_which_role_may_grant_the_owner(
    creator: Creator, new_database: Callable[..., str], small: SmallRelease
) -> None:
    dsn, prefix = creator
    first = str(conninfo_to_dict(dsn)["user"])
    upgrade(dsn, role_prefix=prefix, program=small.program)
    second, empty = f"second_{first}", new_database("template0")
    database = str(conninfo_to_dict(empty)["dbname"])
    with psycopg.connect(empty, autocommit=True) as admin:
        admin.execute(sql.SQL("create role {} login createrole password 'x'").format(sql.Identifier(second)))
        admin.execute(sql.SQL("alter database {} owner to {}").format(sql.Identifier(database), sql.Identifier(second)))
        server_version = admin.info.server_version
    elsewhere = make_conninfo(empty, user=second, password="x")
    # Only members of the owner see the state of the installation, in the database that has it ...
    with pytest.raises(UpgradeError, match="may not see") as caught:
        upgrade(make_conninfo(dsn, user=second, password="x"), program=small.program)
    assert f'grant "{prefix}owner" to "{second}"' in str(caught.value.hint)
    if server_version < 160000:
        assert upgrade(elsewhere, role_prefix=prefix, program=small.program).changed
        return
    # ... and in the second login's own database, CREATEROLE and ownership do not help: the maker has to grant the role.
    with pytest.raises(UpgradeError, match="act as their owner") as caught:
        upgrade(elsewhere, role_prefix=prefix, program=small.program)
    who, script = str(caught.value.hint).split("\n", 1)
    assert f"the ADMIN option on {prefix}owner ({first} has it)" in who and "CREATEROLE" not in who
    assert script.splitlines()[0] == f'grant "{prefix}owner" to "{second}";'
    with psycopg.connect(dsn, autocommit=True) as maker:
        maker.execute(script.splitlines()[0].encode())
    assert upgrade(elsewhere, role_prefix=prefix, program=small.program).changed
