"""Back to the release before, with the code of its tag, and removal. Releases are tags in git, as real ones."""

from dataclasses import replace

import psycopg
import pytest

from broker.upgrade import (
    CompatibilityError,
    Program,
    UpgradeError,
    check,
    check_compatible,
    current,
    downgrade,
    prospect,
    upgrade,
)
from broker.upgrade.roles import Roles
from broker.upgrade.state import read
from tests.core.upgrade.small_release import ADD_ONE, GRANTS, SmallRelease


def catalogue(dsn: str) -> dict[tuple[str, str], str]:
    with psycopg.connect(dsn) as conn:
        conn.execute("set search_path = pg_catalog")
        return read(conn.cursor(), Roles("broker_"))


def release_two(small: SmallRelease) -> Program:
    """Publish 1.0.0, and make 1.1.0 of it: a revision, a changed function, a new one, other grants. Returns 1.0.0."""
    first = small.publish("1.1.0")
    small.revision("0002_more", "alter table taskqueue.thing add more int", "alter table taskqueue.thing drop more")
    small.write(
        "taskqueue/add_one.sql", ADD_ONE.replace("p_n int", "p_n int, p_more int").replace("(int)", "(int, int)")
    )
    small.write(
        "monitor/things.sql", "create or replace view monitor.things as select t.more, t.id from taskqueue.thing t;"
    )
    small.write("taskqueue/fresh.sql", "create or replace function taskqueue.fresh() returns int return 1;")
    small.write("roles.sql", GRANTS + "grant execute on function taskqueue.fresh to broker_viewer;")
    return first


@pytest.mark.representative
def test_a_downgrade_brings_the_older_code_back(empty_dsn: str, installed: SmallRelease) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("insert into taskqueue.thing values (1, 41)")
    first = catalogue(empty_dsn)
    older = release_two(installed)
    upgrade(empty_dsn, program=installed.program)
    second = catalogue(empty_dsn)
    assert check(empty_dsn, program=installed.program).ok

    foreseen = prospect(empty_dsn, program=installed.program)
    assert (foreseen.release, foreseen.target) == ("1.1.0", "1.0.0")
    assert "newer than 1.0.0" in str(foreseen)
    report = downgrade(empty_dsn, program=installed.program)
    assert (report.revision_before, report.revision, report.release) == ("0002_more", "0001_baseline", "1.0.0")
    assert catalogue(empty_dsn) == first
    assert check(empty_dsn, program=older).ok
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select id, n from monitor.things").fetchall() == [(1, 42)]
        check_compatible(conn, program=older)

    upgrade(empty_dsn, program=installed.program)
    assert catalogue(empty_dsn) == second
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
def test_a_fresh_install_of_the_newer_release_can_go_back_too(empty_dsn: str, small: SmallRelease) -> None:
    older = release_two(small)
    upgrade(empty_dsn, program=small.program)
    downgrade(empty_dsn, "1.0.0", program=small.program)
    assert check(empty_dsn, program=older).ok


def signed(small: SmallRelease, *versions: str) -> None:
    """Let releases have their files of signatures."""
    signatures = small.folder / "migrations" / "signatures"
    signatures.mkdir()
    for version in versions:
        (signatures / f"{version}.txt").write_text("")


@pytest.mark.slow
def test_each_program_goes_back_one_release(empty_dsn: str, small: SmallRelease) -> None:
    first = release_two(small)
    second = small.publish("1.2.0")
    small.write("taskqueue/fresh.sql", "create or replace function taskqueue.fresh() returns int return 2;")
    upgrade(empty_dsn, program=small.program)
    # 1.2.0 has no revision of its own.
    report = downgrade(empty_dsn, program=small.program)
    assert (report.release, report.revision_before, report.revision) == ("1.1.0", "0002_more", "0002_more")
    assert check(empty_dsn, program=second).ok
    with pytest.raises(UpgradeError, match=r"goes back to 1\.1\.0, the database is at release 1\.1\.0") as caught:
        downgrade(empty_dsn, program=small.program)
    assert str(caught.value.hint).startswith("1.1.0 is the first release")
    signed(small, "1.0.0", "1.1.0")
    with pytest.raises(UpgradeError) as caught:
        downgrade(empty_dsn, program=small.program)
    assert str(caught.value.hint).startswith("a build of v1.1.0 in a clone with its history carries 1.0.0: pip install")
    downgrade(empty_dsn, program=second)
    assert check(empty_dsn, program=first).ok
    upgrade(empty_dsn, program=small.program)
    assert check(empty_dsn, program=small.program).ok


@pytest.mark.slow
def test_a_build_stops_at_once_without_an_earlier_release(empty_dsn: str, small: SmallRelease) -> None:
    with pytest.raises(UpgradeError, match="not installed in this database"):
        downgrade(empty_dsn, program=small.program)
    upgrade(empty_dsn, program=small.program)
    for refuse in (downgrade, prospect):
        with pytest.raises(UpgradeError, match="this build carries no earlier release") as caught:
            refuse(empty_dsn, program=small.program)
        assert str(caught.value.hint).startswith("1.0.0 is the first release")
    release_two(small)
    signed(small, "1.0.0", "1.1.0")
    upgrade(empty_dsn, program=small.program)
    clone = replace(small.program, earlier_folder=small.folder / "nowhere")
    with pytest.raises(UpgradeError, match="this build carries no earlier release") as caught:
        prospect(empty_dsn, program=clone)
    assert str(caught.value.hint).startswith("a build of v1.1.0 in a clone with its history carries 1.0.0: pip install")
    with pytest.raises(UpgradeError, match=r"this build cannot go back to 0\.9\.0") as caught:
        downgrade(empty_dsn, "0.9.0", program=small.program)
    assert caught.value.hint == "it can go back to 1.0.0 and to base"
    assert current(empty_dsn) == "0002_more"


@pytest.mark.slow
def test_a_downgrade_to_base_leaves_the_database_as_before_the_installation(
    empty_dsn: str, small: SmallRelease
) -> None:
    query = """
        select (select array_agg(nspname::text order by 1) from pg_namespace where nspname !~ '^pg_'), datacl::text,
               (select count(*) from pg_default_acl), (select count(*) from pg_proc where oid > 16384)
          from pg_database where datname = current_database()"""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create schema mine; create function mine.f() returns int return 1")
        before = conn.execute(query).fetchone()
        upgrade(empty_dsn, program=small.program)
        assert downgrade(empty_dsn, "base", program=small.program).revision is None
        after = conn.execute(query).fetchone()
        assert before is not None and after is not None
        # PostgreSQL writes out the default privileges of a database once they have been changed.
        assert after[0::2] == before[0::2] and after[3] == before[3] and "broker_" not in str(after[1])
        assert conn.execute("select count(*) from pg_roles where rolname = 'broker_owner'").fetchone() == (1,)
    upgrade(empty_dsn, program=small.program)
    assert len(downgrade(empty_dsn, "base", program=small.program).dropped) == 5


@pytest.mark.slow
@pytest.mark.parametrize("target", ["1.0.0", "base"])
def test_a_downgrade_refuses_to_remove_what_objects_of_others_use(
    empty_dsn: str, small: SmallRelease, target: str
) -> None:
    release_two(small)
    upgrade(empty_dsn, program=small.program)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("create schema dba; create view dba.ids as select more as id from taskqueue.thing")
    with pytest.raises(UpgradeError, match=r"view dba\.ids"):
        downgrade(empty_dsn, target, program=small.program)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("drop view dba.ids; create view dba.things as select more from monitor.things")
    with pytest.raises(UpgradeError, match=r"view dba\.things"):
        downgrade(empty_dsn, target, program=small.program)
    assert check(empty_dsn, program=small.program).ok


@pytest.mark.slow
def test_a_downgrade_refuses_to_remove_a_schema_with_tables_of_others(empty_dsn: str, installed: SmallRelease) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("create table taskqueue.of_dba as select 1 as kept")
    with pytest.raises(UpgradeError, match=r"table taskqueue\.of_dba"):
        downgrade(empty_dsn, "base", program=installed.program)
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select kept from taskqueue.of_dba").fetchall() == [(1,)]
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
def test_an_older_program_refuses_a_newer_database(empty_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        with pytest.raises(CompatibilityError, match="not installed"):
            check_compatible(conn, program=small.program)
        upgrade(empty_dsn, program=small.program)
        check_compatible(conn, program=small.program)
        older = release_two(small)
        with pytest.raises(CompatibilityError, match="the database is older") as caught:
            check_compatible(conn, program=small.program)
        assert caught.value.hint == "broker db upgrade"
        upgrade(empty_dsn, program=small.program)
        for refuse in (
            lambda: check_compatible(conn, program=older),
            lambda: upgrade(empty_dsn, program=older),
            lambda: downgrade(empty_dsn, program=older),
            lambda: check(empty_dsn, program=older),
            # The same revisions, a newer release.
            lambda: upgrade(empty_dsn, program=small.older("1.0.9")),
        ):
            with pytest.raises(CompatibilityError, match=r"the database is newer: 1\.1\.0") as caught:
                refuse()
            assert caught.value.sqlstate == "PB007"
            assert "\n" not in caught.value.message


def test_every_role_of_pgbroker_may_ask_what_is_installed(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        for kind in ("agent", "submitter", "operator", "viewer"):
            conn.execute(f"set role broker_{kind}".encode())
            check_compatible(conn)
        conn.execute("reset role; create role broker_test_nobody; set role broker_test_nobody")
        with pytest.raises(CompatibilityError, match="has no role of pgbroker"):
            check_compatible(conn)
        conn.execute("reset role; drop role broker_test_nobody")
