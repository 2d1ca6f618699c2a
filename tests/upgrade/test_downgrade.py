"""Back to an older revision, with the code that was released with it; and away altogether."""

import psycopg
import pytest

from broker.upgrade import (
    CompatibilityError,
    UpgradeError,
    check,
    check_compatible,
    current,
    downgrade,
    prospect,
    upgrade,
)
from broker.upgrade.program import freeze
from broker.upgrade.roles import Roles
from broker.upgrade.state import read
from tests.upgrade.house import ADD_ONE, GRANTS, House


def catalogue(dsn: str) -> dict[tuple[str, str], str]:
    with psycopg.connect(dsn) as conn:
        conn.execute("set search_path = pg_catalog")
        return read(conn.cursor(), Roles("broker_"))


def release_two(house: House) -> None:
    """Freeze the release as it is, and make the next: a revision, a changed function, a new one, other grants."""
    frozen = house.program.frozen_path("0001")
    frozen.parent.mkdir()
    frozen.write_text(freeze(house.release, house.program.files))
    house.release = "1.1.0"
    house.revision("0002", "alter table taskqueue.thing add more int", "alter table taskqueue.thing drop more")
    house.write(
        "taskqueue/add_one.sql", ADD_ONE.replace("p_n int", "p_n int, p_more int").replace("(int)", "(int, int)")
    )
    house.write(
        "monitor/things.sql", "create or replace view monitor.things as select t.more, t.id from taskqueue.thing t;"
    )
    house.write("taskqueue/fresh.sql", "create or replace function taskqueue.fresh() returns int return 1;")
    house.write("roles.sql", GRANTS + "grant execute on function taskqueue.fresh to broker_viewer;")


def test_brings_the_older_code_back(empty_dsn: str, house: House) -> None:
    upgrade(empty_dsn, program=house.program)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("insert into taskqueue.thing values (1, 41)")
    one, first = house.program, catalogue(empty_dsn)
    older = House(house.folder.parent / "older").program  # the same files, as the older program has them
    release_two(house)
    upgrade(empty_dsn, program=house.program)
    second = catalogue(empty_dsn)
    assert check(empty_dsn, program=house.program).ok

    foreseen = prospect(empty_dsn, program=house.program)
    assert (foreseen.revision, foreseen.target, foreseen.everything) == ("0002", "0001", False)
    assert "newer than 0001" in str(foreseen)
    report = downgrade(empty_dsn, program=house.program)
    assert (report.revision_before, report.revision, report.release) == ("0002", "0001", "1.0.0")
    assert catalogue(empty_dsn) == first
    assert check(empty_dsn, program=older).ok
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select id, n from monitor.things").fetchall() == [(1, 42)]
        check_compatible(conn, program=older)
    assert one.release == "1.0.0"

    upgrade(empty_dsn, program=house.program)
    assert catalogue(empty_dsn) == second
    assert check(empty_dsn, program=house.program).ok


def test_a_fresh_install_of_the_newer_release_can_go_back_too(empty_dsn: str, house: House) -> None:
    older = House(house.folder.parent / "older").program
    release_two(house)
    upgrade(empty_dsn, program=house.program)
    downgrade(empty_dsn, "0001", program=house.program)
    assert check(empty_dsn, program=older).ok


def test_refuses_a_revision_without_a_release_and_nonsense(empty_dsn: str, house: House) -> None:
    with pytest.raises(UpgradeError, match="not installed in this database"):
        downgrade(empty_dsn, program=house.program)
    house.revision("0002", "alter table taskqueue.thing add more int", "alter table taskqueue.thing drop more")
    upgrade(empty_dsn, program=house.program)
    with pytest.raises(UpgradeError, match="no release ended at revision 0001") as caught:
        downgrade(empty_dsn, program=house.program)
    assert caught.value.hint == "downgrade to one of base, 0000"
    with pytest.raises(UpgradeError, match="no revision 0007"):
        downgrade(empty_dsn, "0007", program=house.program)
    with pytest.raises(UpgradeError, match="0002 is not before 0002"):
        downgrade(empty_dsn, "0002", program=house.program)
    assert current(empty_dsn) == "0002"


def test_base_leaves_a_database_as_it_was(empty_dsn: str, house: House) -> None:
    query = """
        select (select array_agg(nspname::text order by 1) from pg_namespace where nspname !~ '^pg_'), datacl::text,
               (select count(*) from pg_default_acl), (select count(*) from pg_proc where oid > 16384)
          from pg_database where datname = current_database()"""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create schema mine; create function mine.f() returns int return 1")
        before = conn.execute(query).fetchone()
        upgrade(empty_dsn, program=house.program)
        assert downgrade(empty_dsn, "0000", program=house.program).revision == "0000"
        report = downgrade(empty_dsn, program=house.program)
        assert report.revision is None
        after = conn.execute(query).fetchone()
        assert before is not None and after is not None
        # PostgreSQL writes its default privileges of a database out once they have been touched.
        assert after[0::2] == before[0::2] and after[3] == before[3] and "broker_" not in str(after[1])
        assert conn.execute("select count(*) from pg_roles where rolname = 'broker_owner'").fetchone() == (1,)
    upgrade(empty_dsn, program=house.program)
    assert len(downgrade(empty_dsn, "base", program=house.program).dropped) == 5


@pytest.mark.parametrize("target", ["0000", "base"])
def test_refuses_to_remove_what_others_stand_on(empty_dsn: str, house: House, target: str) -> None:
    upgrade(empty_dsn, program=house.program)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("create schema dba; create view dba.ids as select id from taskqueue.thing")
    with pytest.raises(UpgradeError, match=r"view dba\.ids"):
        downgrade(empty_dsn, target, program=house.program)
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("drop view dba.ids; create view dba.things as select id from monitor.things")
    with pytest.raises(UpgradeError, match=r"view dba\.things"):
        downgrade(empty_dsn, target, program=house.program)
    assert check(empty_dsn, program=house.program).ok


def test_an_older_program_refuses_a_newer_database(empty_dsn: str, house: House) -> None:
    older = House(house.folder.parent / "older").program
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        with pytest.raises(CompatibilityError, match="not installed"):
            check_compatible(conn, program=older)
        upgrade(empty_dsn, program=house.program)
        check_compatible(conn, program=older)
        release_two(house)
        with pytest.raises(CompatibilityError, match="the database is older") as caught:
            check_compatible(conn, program=house.program)
        assert caught.value.hint == "broker db upgrade"
        upgrade(empty_dsn, program=house.program)
        for refuse in (
            lambda: check_compatible(conn, program=older),
            lambda: upgrade(empty_dsn, program=older),
            lambda: downgrade(empty_dsn, program=older),
            lambda: check(empty_dsn, program=older),
            # The same revisions, a newer release.
            lambda: upgrade(empty_dsn, program=house.older("1.0.9")),
        ):
            with pytest.raises(CompatibilityError, match=r"the database is newer: 1\.1\.0") as caught:
                refuse()
            assert caught.value.sqlstate == "PB007"
            assert "\n" not in caught.value.message


def test_every_role_of_the_house_may_ask_what_is_installed(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        for kind in ("agent", "submitter", "operator", "viewer"):
            conn.execute(f"set role broker_{kind}".encode())
            check_compatible(conn)
        conn.execute("reset role; create role broker_test_nobody; set role broker_test_nobody")
        with pytest.raises(CompatibilityError, match="has no role of pgbroker"):
            check_compatible(conn)
        conn.execute("reset role; drop role broker_test_nobody")
