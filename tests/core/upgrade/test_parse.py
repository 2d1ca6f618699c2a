"""The form of a file of sql/, and the order in which the files are run."""

import pytest

from broker.upgrade.parse import Created, ParseError, created
from broker.upgrade.source import parse_files


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create function taskqueue.f() returns int language sql as 'select 1'", Created("function", "taskqueue", "f")),
        (
            "-- create view a.b\ncreate or replace function taskqueue.f(p_a text, p_b int default 1, out c text,"
            " variadic p_d text[]) returns text language plpgsql as $x$ begin; create view y; end $x$;",
            Created("function", "taskqueue", "f", ("text", "int", "text[]")),
        ),
        (
            "create function taskqueue.f(double precision, p_t timestamp with time zone, numeric(10,2) = 0,"
            " p_q brokerage.queue_facts, character varying) returns int language sql return 1;",
            Created(
                "function",
                "taskqueue",
                "f",
                (
                    "double precision",
                    "timestamp with time zone",
                    "numeric(10,2)",
                    "brokerage.queue_facts",
                    "character varying",
                ),
            ),
        ),
        (
            "create procedure taskqueue.p(p_a text default 'a;,)b') begin atomic select case when true then 1 end;"
            " select 2; end; comment on procedure taskqueue.p(text) is 'x; y';",
            Created("procedure", "taskqueue", "p", ("text",)),
        ),
        ('create or replace view monitor."Odd" as select 1;', Created("view", "monitor", "Odd")),
        (
            "create or replace trigger t after insert or update of a on taskqueue.x for each row"
            " execute function taskqueue.f();",
            Created("trigger", "taskqueue", "t", relation="x"),
        ),
    ],
)
def test_the_object_that_a_file_creates_is_recognised(text: str, expected: Created) -> None:
    assert created(text, "f.sql") == expected


@pytest.mark.parametrize(("path", "text", "complaint"), [
    ("taskqueue/f.sql", "select 1;", "holds `select 1"),
    ("taskqueue/f.sql", "create table taskqueue.f (a int);", "holds `create table"),
    ("taskqueue/f.sql", "", "creates 0 objects"),
    ("taskqueue/f.sql", "create view taskqueue.f as select 1; create view taskqueue.g as select 1",
     "creates 2 objects"),
    ("taskqueue/f.sql", "create view taskqueue.g as select 1", "named after its object"),
    ("taskqueue/f.sql", "create view monitor.f as select 1", "in the folder of the schema taskqueue"),
    ("taskqueue/f.sql", "create view f as select 1", "must be written schema.name"),
    ("cellar/f.sql", "create view cellar.f as select 1", "not in the folder of a schema"),
    ("taskqueue/f.sql", "create view taskqueue.f as select 1; grant select on taskqueue.f to x", "holds `grant select"),
])  # fmt: skip
def test_a_file_that_is_not_one_object_of_its_name_is_refused(path: str, text: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        parse_files({path: text})
    assert path in str(caught.value)


def order(files: dict[str, str]) -> list[str]:
    """The paths in the order in which the objects are made."""
    return [thing.path for thing in parse_files(files)]


def test_objects_are_ordered_by_schema_kind_and_path_after_those_they_use() -> None:
    files = {
        "monitor/a.sql": "create view monitor.a as select 1",
        "monitor/z.sql": "create function monitor.z() returns int language sql as ''",
        "resource/y.sql": "create view resource.y as select 1",
        "taskqueue/b.sql": "create view taskqueue.b as select * from taskqueue.c",
        "taskqueue/c.sql": "create view taskqueue.c as select 1",
        "taskqueue/rule/d.sql": "create view taskqueue.d as select b.*, taskqueue.c.x from taskqueue.b, taskqueue.c",
        "taskqueue/e.sql": "create function taskqueue.e() returns int return 1",
        "taskqueue/e__2.sql": "create function taskqueue.e(p_a int) returns int return 1",
    }
    expected = [
        "resource/y.sql", "taskqueue/e.sql", "taskqueue/e__2.sql", "taskqueue/c.sql", "taskqueue/b.sql",
        "taskqueue/rule/d.sql", "monitor/z.sql", "monitor/a.sql",
    ]  # fmt: skip
    assert order(files) == expected
    assert order(dict(reversed(files.items()))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "create view taskqueue.a as select taskqueue.z(1)",
        'create view taskqueue.a as select 1 union select * from "taskqueue" . "z"',
        "create view taskqueue.a as select taskqueue.z.n from x",
        "create function taskqueue.a() returns int return (select taskqueue.z(1))",
        "create procedure taskqueue.a() begin atomic select 1; select taskqueue.z(1); end",
        "create function taskqueue.a(p_row taskqueue.z) returns int language sql as ''",
        "create function taskqueue.a(p_n int default taskqueue.z(1)) returns int language sql as ''",
        "create function taskqueue.a() returns setof taskqueue.z language plpgsql as $$ $$",
        "create function taskqueue.a(out p_rows taskqueue.z[]) language plpgsql as $$ $$",
        "create trigger a before insert on taskqueue.t for each row execute function taskqueue.z()",
        "create trigger a instead of insert on taskqueue.z for each row execute function x()",
        "create trigger a before insert on taskqueue.t for each row when (taskqueue.z(new.n)) execute function x()",
    ],
)
def test_an_object_is_made_after_what_it_uses(text: str) -> None:
    used = "create view taskqueue.z as select 1"
    assert order({"taskqueue/a.sql": text, "taskqueue/z.sql": used}) == ["taskqueue/z.sql", "taskqueue/a.sql"]


@pytest.mark.parametrize(
    "text",
    [
        "-- taskqueue.z\ncreate view taskqueue.a as /* taskqueue.z */ select 1",
        "create view taskqueue.a as select 'taskqueue.z'",
        "create view taskqueue.a as select other.taskqueue.z, ztaskqueue.z, taskqueue.zz from x",
        "create view taskqueue.a as select 1; comment on view taskqueue.a is 'taskqueue.z'",
        "create function taskqueue.a() returns int language sql as 'select taskqueue.z(1)'",
        "create function taskqueue.a() returns int language plpgsql as $x$ begin return taskqueue.z(1); end $x$",
    ],
)
def test_a_name_that_is_not_looked_up_does_not_affect_the_order(text: str) -> None:
    used = "create view taskqueue.z as select 1"
    assert order({"taskqueue/a.sql": text, "taskqueue/z.sql": used}) == ["taskqueue/a.sql", "taskqueue/z.sql"]


def test_an_object_uses_all_routines_of_a_name_and_may_use_its_own() -> None:
    files = {
        "taskqueue/e.sql": "create function taskqueue.e() returns int return taskqueue.e(1)",
        "taskqueue/e__2.sql": "create function taskqueue.e(p_n int) returns int language sql as 'select taskqueue.e()'",
        "resource/b.sql": "create view resource.b as select taskqueue.e()",
        "taskqueue/t.sql": "create trigger t before insert on taskqueue.t for each row execute function taskqueue.f()",
        "taskqueue/f.sql": "create function taskqueue.f() returns trigger language plpgsql as $$ $$",
    }
    assert order(files) == [
        "taskqueue/e__2.sql",
        "taskqueue/e.sql",
        "resource/b.sql",
        "taskqueue/f.sql",
        "taskqueue/t.sql",
    ]


def test_the_error_of_a_circle_names_its_files() -> None:
    files = {
        "taskqueue/a.sql": "create view taskqueue.a as select * from taskqueue.b",
        "taskqueue/b.sql": "create view taskqueue.b as select taskqueue.c()",
        "taskqueue/c.sql": "create function taskqueue.c() returns taskqueue.a language sql as ''",
        "taskqueue/d.sql": "create view taskqueue.d as select * from taskqueue.c()",
        "taskqueue/e.sql": "create view taskqueue.e as select 1",
    }
    with pytest.raises(ParseError, match="in a circle: ") as caught:
        parse_files(files)
    assert sorted(str(caught.value).split(": ")[1].split(", ")) == [
        "taskqueue/a.sql",
        "taskqueue/b.sql",
        "taskqueue/c.sql",
    ]
