"""`check` finds changes by hand, and an upgrade restores the code."""

import psycopg
import pytest

from broker.upgrade import CheckReport, Report, check, upgrade
from tests.core.upgrade.small_release import SmallRelease


def tamper(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute(statement.encode())


def login(dsn: str) -> str:
    with psycopg.connect(dsn) as conn:
        return conn.info.user


# A change by hand, and the item and aspect that are named. The next upgrade restores code, grants and owners;
# changes of tables stay, and stay visible.
PUT_RIGHT = {
    "create or replace function taskqueue.add_one(p_n int) returns int language sql immutable as 'select 7'": (
        "function taskqueue.add_one(integer): definition"
    ),
    "alter function taskqueue.add_one(int) security definer": "function taskqueue.add_one(integer): definition",
    "comment on function taskqueue.add_one(int) is 'x'": "function taskqueue.add_one(integer): comment",
    "comment on column monitor.things.n is null": "column monitor.things.n: comment",
    "alter function taskqueue.add_one(int) owner to session_user": "function taskqueue.add_one(integer): owner",
    "alter table taskqueue.thing owner to session_user": "table taskqueue.thing: owner",
    "drop view monitor.things": "view monitor.things: existence",
    "create or replace view monitor.things as select 1 as id, 2 as n": "view monitor.things: definition",
    "drop trigger thing_touch on taskqueue.thing": "trigger thing_touch on taskqueue.thing: existence",
    "alter table taskqueue.thing disable trigger thing_touch": "trigger thing_touch on taskqueue.thing: definition",
    "grant execute on function taskqueue.add_one to public": "grants: too much",
    "grant select on taskqueue.thing to broker_agent": "grants: too much",
    "grant select (id) on taskqueue.thing to broker_agent": "grants: too much",
    "grant create on schema taskqueue to broker_operator": "grants: too much",
    "grant select on monitor.things to broker_viewer with grant option": "grants: too much",
    "revoke execute on function taskqueue.add_one from broker_agent": "grants: missing",
    "revoke select on taskqueue.thing from broker_owner": "grants: missing",
}
STAYS = {
    "create trigger x after delete on taskqueue.thing for each row execute function taskqueue.touch()": (
        "trigger x on taskqueue.thing: existence"
    ),
    "alter table taskqueue.thing add column more int": "column taskqueue.thing.more: existence",
    "alter table taskqueue.thing alter n drop not null": "column taskqueue.thing.n: definition",
    "alter table taskqueue.thing alter n set default 2": "column taskqueue.thing.n: definition",
    "drop index taskqueue.thing_n": "index thing_n on taskqueue.thing: existence",
    "create index x on taskqueue.thing (note)": "index x on taskqueue.thing: existence",
    "alter table taskqueue.thing add constraint c check (n > 0)": "constraint c on taskqueue.thing: existence",
    "alter table taskqueue.thing enable row level security": "table taskqueue.thing: definition",
    "create rule r as on delete to taskqueue.thing do instead nothing": "rule r on taskqueue.thing: existence",
    "comment on table taskqueue.thing is 'x'": "table taskqueue.thing: comment",
    "comment on schema taskqueue is 'x'": "schema taskqueue: comment",
    "alter type taskqueue.mood add value 'fair'": "type taskqueue.mood: definition",
    "set role broker_owner; create function taskqueue.add_one(text) returns int language sql as 'select 1'": (
        "function taskqueue.add_one(text): existence"
    ),
    "set role broker_owner; create table taskqueue.more (n int)": "table taskqueue.more: existence",
}


@pytest.mark.slow
@pytest.mark.parametrize("statement", [*PUT_RIGHT, *STAYS], ids=lambda statement: statement[:60])
def test_check_finds_each_kind_of_tampering(empty_dsn: str, installed: SmallRelease, statement: str) -> None:
    assert check(empty_dsn, program=installed.program) == CheckReport("1.0.0", "0001_baseline")
    tamper(empty_dsn, statement)
    found = check(empty_dsn, program=installed.program)
    named = {f"{difference.item}: {difference.aspect}" for difference in found.differences}
    assert (PUT_RIGHT | STAYS)[statement] in named
    upgrade(empty_dsn, program=installed.program)
    assert check(empty_dsn, program=installed.program).ok == (statement in PUT_RIGHT)


@pytest.mark.slow
def test_an_upgrade_with_a_revision_does_not_hide_tampering_with_a_table(
    empty_dsn: str, installed: SmallRelease
) -> None:
    tamper(
        empty_dsn,
        "drop index taskqueue.thing_n; create table taskqueue.mine (n int); grant usage on schema taskqueue to public",
    )
    installed.revision("0002_more", "alter table taskqueue.thing add more int", "alter table taskqueue.thing drop more")
    report = upgrade(empty_dsn, program=installed.program)
    assert report.revision == "0002_more"
    found = check(empty_dsn, program=installed.program)
    assert [difference.item for difference in found.differences] == ["index thing_n on taskqueue.thing"]
    assert found.guests == (f"table taskqueue.mine, owned by {login(empty_dsn)}",)


@pytest.mark.slow
def test_check_names_objects_of_others_without_failing(empty_dsn: str, installed: SmallRelease) -> None:
    tamper(empty_dsn, "create view monitor.of_dba as select 1 as a; grant select on monitor.things to pg_monitor")
    found = check(empty_dsn, program=installed.program)
    assert found.ok
    assert found.guests == (
        f"view monitor.of_dba, owned by {login(empty_dsn)}",
        "select on relation monitor.things to pg_monitor",
    )
    upgrade(empty_dsn, program=installed.program)
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select has_table_privilege('pg_monitor', 'monitor.things', 'select')").fetchone() == (
            True,
        )


def test_check_names_the_changes_that_an_upgrade_would_make(empty_dsn: str, small: SmallRelease) -> None:
    assert [difference.aspect for difference in check(empty_dsn, program=small.program).differences] == ["revision"]
    upgrade(empty_dsn, program=small.program)
    small.write("monitor/things.sql", "create or replace view monitor.things as select 1 as id, 2 as n;")
    small.write("monitor/more.sql", "create or replace view monitor.more as select 1 as id;")
    small.remove("taskqueue/thing_touch.sql")
    small.revision("0002_more", "alter table taskqueue.thing add more int", "alter table taskqueue.thing drop more")
    small.release = "1.1.0"
    items = {(difference.item, difference.aspect) for difference in check(empty_dsn, program=small.program).differences}
    assert items == {
        ("database", "revision"),
        ("database", "release"),
        ("sql/monitor/things.sql", "file"),
        ("sql/monitor/more.sql", "file"),
        ("sql/taskqueue/thing_touch.sql", "file"),
    }


@pytest.mark.slow
def test_check_works_in_a_read_only_database(empty_dsn: str, installed: SmallRelease) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(f"alter database {conn.info.dbname} set default_transaction_read_only = on".encode())
    assert check(empty_dsn, program=installed.program).ok


def test_the_report_of_an_upgrade_says_whether_it_changed_something() -> None:
    assert not Report("1.0.0", "0001_baseline", "0001_baseline").changed
    assert Report("1.0.0", "0001_baseline", "0001_baseline", grants=("grant",)).changed
