"""An upgrade writes only changed objects, and leaves nothing behind."""

import psycopg
import pytest

from broker.upgrade import UpgradeError, check, current, upgrade
from tests.core.upgrade.small_release import ADD_ONE, THINGS, SmallRelease


def one(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as conn:
        row = conn.execute(query.encode()).fetchone()
    return row[0] if row else None


@pytest.mark.representative
def test_a_second_upgrade_changes_nothing(empty_dsn: str, small: SmallRelease) -> None:
    first = upgrade(empty_dsn, program=small.program)
    before = one(
        empty_dsn,
        "select array_agg((oid, xmin) order by oid) from pg_proc where pronamespace = 'taskqueue'::regnamespace",
    )
    again = upgrade(empty_dsn, program=small.program)
    assert (first.revision_before, first.revision, len(first.written)) == (None, "0001_baseline", 5)
    assert not again.changed
    assert check(empty_dsn, program=small.program).ok
    assert before == one(
        empty_dsn,
        "select array_agg((oid, xmin) order by oid) from pg_proc where pronamespace = 'taskqueue'::regnamespace",
    )
    assert current(empty_dsn) == "0001_baseline"


@pytest.mark.slow
def test_only_what_changed_is_written(empty_dsn: str, installed: SmallRelease) -> None:
    installed.write("taskqueue/add_one.sql", ADD_ONE.replace("p_n + 1", "1 + p_n"))
    report = upgrade(empty_dsn, program=installed.program)
    assert report.written == ("function taskqueue.add_one(integer)",)
    assert not report.dropped and not report.grants
    assert "1 + p_n" in str(one(empty_dsn, "select prosrc from pg_proc where proname = 'add_one'"))


@pytest.mark.slow
def test_no_stale_overload_stays(empty_dsn: str, installed: SmallRelease) -> None:
    installed.write(
        "taskqueue/add_one.sql",
        ADD_ONE.replace("p_n int", "p_n int, p_more int default 1").replace("(int)", "(int, int)"),
    )
    report = upgrade(empty_dsn, program=installed.program)
    assert report.dropped == ("function taskqueue.add_one(integer)",)
    # The view that uses it was made again as well.
    assert set(report.written) == {"function taskqueue.add_one(integer, integer)", "view monitor.things"}
    assert one(empty_dsn, "select count(*) from pg_proc where proname = 'add_one'") == 1
    assert one(empty_dsn, "select has_function_privilege('broker_agent', 'taskqueue.add_one(int, int)', 'execute')")
    assert one(empty_dsn, "select has_table_privilege('broker_viewer', 'monitor.things', 'select')")
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
@pytest.mark.parametrize("change", [
    ("returns int", "returns bigint"), ("p_n int", "p_number int"), ("returns int", "returns setof int"),
    ("p_n + 1", "2"), ("immutable", "stable"),
])  # fmt: skip
def test_every_change_of_a_function_arrives_with_its_grants(
    empty_dsn: str, installed: SmallRelease, change: tuple[str, str]
) -> None:
    text = ADD_ONE.replace(*change)
    installed.write("taskqueue/add_one.sql", text.replace("p_n + 1", "1") if "p_number" in text else text)
    if "setof" in text:
        installed.write("monitor/things.sql", THINGS.replace("taskqueue.add_one(t.n) as n", "t.n"))
    upgrade(empty_dsn, program=installed.program)
    assert check(empty_dsn, program=installed.program).ok
    assert one(empty_dsn, "select has_function_privilege('broker_agent', 'taskqueue.add_one(int)', 'execute')")


@pytest.mark.slow
def test_an_upgrade_can_turn_functions_into_procedures_and_drop_view_columns(
    empty_dsn: str, installed: SmallRelease
) -> None:
    installed.write("monitor/things.sql", "create or replace view monitor.things as select 'x'::text as id;")
    installed.write(
        "taskqueue/add_one.sql", "create or replace procedure taskqueue.add_one(p_n int) language sql as '';"
    )
    upgrade(empty_dsn, program=installed.program)
    assert one(empty_dsn, "select prokind from pg_proc where proname = 'add_one'") == "p"
    assert one(empty_dsn, "select id from monitor.things") == "x"
    assert one(empty_dsn, "select obj_description('monitor.things'::regclass)") is None
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
def test_objects_without_a_file_go(empty_dsn: str, installed: SmallRelease) -> None:
    installed.remove("taskqueue/thing_touch.sql")
    installed.remove("taskqueue/touch.sql")
    installed.remove("monitor/things.sql")
    installed.write("roles.sql", "grant usage on schema taskqueue to broker_agent;")
    report = upgrade(empty_dsn, program=installed.program)
    assert set(report.dropped) == {
        "function taskqueue.touch()",
        "trigger thing_touch on taskqueue.thing",
        "view monitor.things",
    }
    assert one(empty_dsn, "select count(*) from pg_trigger where not tgisinternal") == 0
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.representative
def test_a_comment_that_leaves_the_file_leaves_the_database(empty_dsn: str, installed: SmallRelease) -> None:
    installed.write("taskqueue/add_one.sql", ADD_ONE.split("comment on")[0])
    upgrade(empty_dsn, program=installed.program)
    assert one(empty_dsn, "select obj_description('taskqueue.add_one(int)'::regprocedure)") is None


@pytest.mark.slow
def test_columns_of_views_show_the_words_of_what_they_show(empty_dsn: str, small: SmallRelease) -> None:
    """A column has the text of the closest relation, else that of a reader; a revision and a repair change it, too."""
    small.revision("0002_words", "comment on column taskqueue.thing.id is 'Number.'", "")
    small.write("monitor/ids.sql", "create or replace view monitor.ids as select id, 1 as one from monitor.things;")
    small.write("monitor/ones.sql", "create or replace view monitor.ones as select id, one from monitor.ids;")
    own = "comment on column monitor.ones.one is 'One.';"
    small.write("monitor/ones.sql", small.read("monitor/ones.sql") + own)
    words = (
        "select string_agg(concat_ws(' ', attrelid::regclass, attname, col_description(attrelid, attnum)), ', '"
        " order by relname, attnum) from pg_attribute join pg_class c on c.oid = attrelid where relkind = 'v'"
        " and relnamespace = 'monitor'::regnamespace"
    )
    expected = (
        "monitor.ids id {0}, monitor.ids one One., monitor.ones id {0}, monitor.ones one One.,"
        " monitor.things id {0}, monitor.things n Number and one."
    )
    upgrade(empty_dsn, program=small.program)
    assert one(empty_dsn, words) == expected.format("Number.")
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("comment on column monitor.ids.id is 'x'")
    assert [found.item for found in check(empty_dsn, program=small.program).differences] == ["column monitor.ids.id"]
    upgrade(empty_dsn, program=small.program)
    assert one(empty_dsn, words) == expected.format("Number.")
    small.revision("0003_words", "comment on column taskqueue.thing.id is 'Id.'", "")
    upgrade(empty_dsn, program=small.program)
    assert one(empty_dsn, words) == expected.format("Id.")
    assert check(empty_dsn, program=small.program).ok
    small.write("monitor/ones.sql", small.read("monitor/ones.sql").replace(own, ""))
    upgrade(empty_dsn, program=small.program)
    assert one(empty_dsn, words) == expected.format("Id.").replace(" One.", "")


@pytest.mark.slow
def test_moving_a_file_changes_nothing_in_the_database(empty_dsn: str, installed: SmallRelease) -> None:
    installed.remove("taskqueue/add_one.sql")
    installed.write("taskqueue/numbers/add_one.sql", ADD_ONE)
    report = upgrade(empty_dsn, program=installed.program)
    assert not report.written and not report.dropped
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
def test_functions_over_the_row_type_of_a_view_follow_its_change(empty_dsn: str, small: SmallRelease) -> None:
    small.write(
        "monitor/all_things.sql",
        """
        create or replace function monitor.all_things() returns setof monitor.things
        begin atomic select id, n from monitor.things; end;
        """,
    )
    upgrade(empty_dsn, program=small.program)
    # One more column in front: the view must be dropped, and with it the function over its row type.
    small.write("monitor/things.sql", THINGS.replace("select t.id", "select 'a' as kind, t.id"))
    small.write(
        "monitor/all_things.sql",
        """
        create or replace function monitor.all_things() returns setof monitor.things
        begin atomic select kind, id, n from monitor.things; end;
        """,
    )
    upgrade(empty_dsn, program=small.program)
    assert one(empty_dsn, "select count(*) from monitor.all_things()") == 0
    assert check(empty_dsn, program=small.program).ok


@pytest.mark.slow
def test_an_error_names_the_file_and_changes_nothing(empty_dsn: str, installed: SmallRelease) -> None:
    installed.write("taskqueue/add_one.sql", ADD_ONE.replace("p_n + 1", "3"))
    installed.write("monitor/things.sql", "create or replace view monitor.things as select nothing from nowhere;")
    with pytest.raises(UpgradeError, match=r"monitor/things\.sql: relation \"nowhere\" does not exist"):
        upgrade(empty_dsn, program=installed.program)
    assert "p_n + 1" in str(one(empty_dsn, "select prosrc from pg_proc where proname = 'add_one'"))


@pytest.mark.parametrize("name", ["resource", "monitor"])
def test_a_schema_of_the_same_name_is_not_taken_over(empty_dsn: str, small: SmallRelease, name: str) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute(f"create schema {name}".encode())
    with pytest.raises(UpgradeError, match=f'schema "{name}" already exists, and it is not ours'):
        upgrade(empty_dsn, program=small.program)
    assert current(empty_dsn) is None


@pytest.mark.slow
def test_a_default_that_uses_a_function_of_ours_is_not_lost(empty_dsn: str, installed: SmallRelease) -> None:
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("create table public.mine (n int default taskqueue.add_one(1))")
    installed.write("taskqueue/add_one.sql", ADD_ONE.replace("returns int", "returns bigint"))
    with pytest.raises(
        UpgradeError, match=r"function taskqueue.add_one\(integer\) must be dropped.*column n of table public.mine"
    ):
        upgrade(empty_dsn, program=installed.program)
    assert check(empty_dsn, program=installed.program).differences[0].item == "sql/taskqueue/add_one.sql"


@pytest.mark.slow
def test_an_object_that_a_revision_dropped_comes_back(empty_dsn: str, installed: SmallRelease) -> None:
    installed.revision(
        "0002_more",
        "drop view monitor.things; alter table taskqueue.thing alter n type bigint;",
        "alter table taskqueue.thing alter n type int",
    )
    installed.write(
        "taskqueue/add_one.sql",
        ADD_ONE.replace("p_n int", "p_n bigint").replace("(int)", "(bigint)").replace("returns int", "returns bigint"),
    )
    upgrade(empty_dsn, program=installed.program)
    assert one(empty_dsn, "select count(*) from monitor.things") == 0
    assert check(empty_dsn, program=installed.program).ok
