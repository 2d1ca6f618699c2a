"""What a file of sql/ must be, and in which order the files are run."""

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
def test_says_what_a_file_creates(text: str, expected: Created) -> None:
    assert created(text, "f.sql") == expected


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("taskqueue/f.sql", "select 1;", "holds `select 1"),
        ("taskqueue/f.sql", "create table taskqueue.f (a int);", "holds `create table"),
        ("taskqueue/f.sql", "", "creates 0 objects"),
        (
            "taskqueue/f.sql",
            "create view taskqueue.f as select 1; create view taskqueue.g as select 1",
            "creates 2 objects",
        ),
        ("taskqueue/f.sql", "create view taskqueue.g as select 1", "named after its object"),
        ("taskqueue/f.sql", "create view monitor.f as select 1", "in the folder of the schema taskqueue"),
        ("taskqueue/f.sql", "create view f as select 1", "must be written schema.name"),
        ("cellar/f.sql", "create view cellar.f as select 1", "not in the folder of a schema"),
        (
            "taskqueue/f.sql",
            "create view taskqueue.f as select 1; grant select on taskqueue.f to x",
            "holds `grant select",
        ),
        (
            "taskqueue/f.sql",
            "-- after: taskqueue.g\ncreate view taskqueue.f as select 1",
            "no file creates taskqueue.g",
        ),
    ],
)
def test_refuses_a_file_that_is_not_one_object_of_its_name(path: str, text: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        parse_files({path: text})
    assert path in str(caught.value)


def test_orders_by_room_and_kind_except_where_declared() -> None:
    files = {
        "monitor/a.sql": "create view monitor.a as select 1",
        "monitor/z.sql": "create function monitor.z() returns int language sql as ''",
        "resource/y.sql": "create view resource.y as select 1",
        "taskqueue/b.sql": "-- after: taskqueue.c\ncreate view taskqueue.b as select 1",
        "taskqueue/c.sql": "create view taskqueue.c as select 1",
        "taskqueue/rule/d.sql": "-- after: taskqueue.b, taskqueue.c\ncreate view taskqueue.d as select 1",
        "taskqueue/e.sql": "create function taskqueue.e() returns int return 1",
        "taskqueue/e__2.sql": "create function taskqueue.e(p_a int) returns int return 1",
    }
    assert [thing.path for thing in parse_files(files)] == [
        "resource/y.sql",
        "taskqueue/e.sql",
        "taskqueue/e__2.sql",
        "taskqueue/c.sql",
        "taskqueue/b.sql",
        "taskqueue/rule/d.sql",
        "monitor/z.sql",
        "monitor/a.sql",
    ]


def test_names_the_files_of_a_circle() -> None:
    files = {
        "taskqueue/a.sql": "-- after: taskqueue.b\ncreate view taskqueue.a as select 1",
        "taskqueue/b.sql": "-- after: taskqueue.a\ncreate view taskqueue.b as select 1",
        "taskqueue/c.sql": "create view taskqueue.c as select 1",
    }
    with pytest.raises(ParseError, match=r"circle through taskqueue/a\.sql, taskqueue/b\.sql$"):
        parse_files(files)
