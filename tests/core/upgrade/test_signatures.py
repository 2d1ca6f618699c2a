"""The record of a release's public interface, and the changelog's entries about changes since."""

from pathlib import Path

import psycopg
import pytest

from broker.reference.public import of_program
from broker.upgrade import Program, upgrade
from broker.upgrade.signatures import of_last_release, signatures, undeprecated, unmentioned, unreleased
from tests.core.upgrade.small_release import ADD_ONE, GRANTS, ROOT, SmallRelease

CHANGELOG = """# Changelog

## [Unreleased]

{}

## [1.0.0] - 2027-01-01

- `taskqueue.add_one`, `monitor.things`, `taskqueue.fresh`
"""


def of(dsn: str, program: Program) -> list[str]:
    upgrade(dsn, program=program)
    with psycopg.connect(dsn) as conn:
        return signatures(conn)


@pytest.mark.slow
def test_a_change_of_a_signature_needs_an_entry_in_the_changelog(empty_dsn: str, small: SmallRelease) -> None:
    before = of(empty_dsn, small.program)
    assert before == [
        "function taskqueue.add_one(p_n integer) returns integer",
        "view monitor.things (id integer, n integer)",
    ]
    folder = small.folder / "migrations" / "signatures"
    folder.mkdir()
    (folder / "0.9.0.txt").write_text("")
    (folder / "1.0.0.txt").write_text("\n".join(before) + "\n")
    assert of_last_release(small.folder / "migrations") == before
    small.publish("1.1.0")
    small.write("taskqueue/add_one.sql", ADD_ONE.replace("p_n int)", "p_n int, p_m int default 0)"))
    small.write("taskqueue/add_one.sql", small.read("taskqueue/add_one.sql").replace("one(int)", "one(int, int)"))
    small.write("taskqueue/fresh.sql", "create or replace function taskqueue.fresh() returns int return 1;")
    small.write("roles.sql", GRANTS + "grant execute on function taskqueue.fresh to broker_viewer;")
    now = of(empty_dsn, small.program)
    assert unmentioned(before, now, CHANGELOG.format("- Nothing.")) == ["taskqueue.add_one", "taskqueue.fresh"]
    assert unmentioned(before, now, CHANGELOG.format("- `taskqueue.fresh()`")) == ["taskqueue.add_one"]
    assert unmentioned(before, now, CHANGELOG.format("- `taskqueue.add_one_more`, `taskqueue.fresh`")) == [
        "taskqueue.add_one"
    ]
    assert unmentioned(before, now, CHANGELOG.format("- `taskqueue.fresh`; taskqueue.add_one takes `p_m`.")) == []
    assert unmentioned(before, before, CHANGELOG.format("")) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        ("taskqueue/add_one.sql", "returns int", "returns bigint", "taskqueue.add_one"),
        ("monitor/things.sql", "select t.id,", "select t.id, t.note,", "monitor.things"),
        ("roles.sql", "grant select on monitor.things to broker_viewer;", "", "monitor.things"),
    ],
)
def test_each_kind_of_change_is_seen(empty_dsn: str, small: SmallRelease, change: tuple[str, str, str, str]) -> None:
    path, old, new, name = change
    before = of(empty_dsn, small.program)
    small.write(path, small.read(path).replace(old, new))
    now = of(empty_dsn, small.program)
    assert name in unmentioned(before, now, CHANGELOG.format(""))


BEFORE = [
    "command broker match (--json, --resource)",
    "function taskqueue.f(p_a text, p_b integer DEFAULT 1) returns TABLE(x integer, y numeric(10,2))",
    "list jobs (job_id, owner)",
    "object Match (attempt, job_id)",
    "procedure taskqueue.p()",
    "view monitor.v (id integer, n numeric(10,2))",
]
KEPT = {
    "an option more": (0, "command broker match (--host, --json, --resource)"),
    "an argument more": (1, BEFORE[1].replace("DEFAULT 1)", "DEFAULT 1, p_c text DEFAULT 'a, b'::text)")),
    "another default": (1, BEFORE[1].replace("DEFAULT 1)", "DEFAULT 2)")),
    "a column more at the end of the result": (1, BEFORE[1].replace("(10,2))", "(10,2), z text)")),
    "an argument for a procedure": (4, "procedure taskqueue.p(p_a text DEFAULT NULL::text)"),
    "a column in the middle": (5, "view monitor.v (id integer, m text, n numeric(10,2))"),
}
BROKEN = {
    "an option less": (0, "command broker match (--json)", "broker match"),
    "another result": (1, BEFORE[1].replace("x integer", "x bigint"), "taskqueue.f"),
    "a column in the middle of the result": (1, BEFORE[1].replace("y numeric", "z text, y numeric"), "taskqueue.f"),
    "another name of an argument": (1, BEFORE[1].replace("p_a", "p_z"), "taskqueue.f"),
    "a lost default": (1, BEFORE[1].replace(" DEFAULT 1", ""), "taskqueue.f"),
    "an argument without default": (1, BEFORE[1].replace("DEFAULT 1)", "DEFAULT 1, p_c text)"), "taskqueue.f"),
    "an argument less": (1, BEFORE[1].replace(", p_b integer DEFAULT 1", ""), "taskqueue.f"),
    "another name of a list": (2, "list works (job_id, owner)", "jobs"),
    "a key less": (3, "object Match (job_id)", "Match"),
    "another type of a column": (5, "view monitor.v (id integer, n numeric(12,2))", "monitor.v"),
}


@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT)
def test_an_addition_breaks_no_promise(change: tuple[int, str]) -> None:
    place, line = change
    now = [*BEFORE[:place], line, *BEFORE[place + 1 :]]
    assert len(unmentioned(BEFORE, now, CHANGELOG.format(""))) == 1
    assert undeprecated(BEFORE, [*now, "exit 9 ()"], CHANGELOG.format("")) == []


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_promise_needs_a_deprecation_in_an_earlier_release(change: tuple[int, str, str]) -> None:
    place, line, name = change
    now = [*BEFORE[:place], line, *BEFORE[place + 1 :]]
    for words, expected in (
        ("### Removed\n\n- `{}`.", [name]),
        ("### Deprecated\n\n- `{}`.", [name]),
        ("### Security\n\n- `{}`.", []),
    ):
        assert undeprecated(BEFORE, now, CHANGELOG.format(words.format(name))) == expected
    earlier = CHANGELOG.format("") + f"\n### Deprecated\n\n- `{name}`.\n\n## [0.9.0] - 2026-01-01\n"
    assert undeprecated(BEFORE, now, earlier) == []


OF_SERVICE = ("endpoint ", "object ", "metric ")  # tests/service compares these


def test_the_changelog_names_what_changed_since_the_last_release(db: psycopg.Connection[object]) -> None:
    now = [*signatures(db), *of_program()]
    assert len(now) > 300
    assert not [line for line in now if "compose" in line]  # an inner function
    assert not [line for line in now if "brokerage.rules_of" in line]  # its result is a type of ours; a view calls it
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    known = of_last_release(Program().migrations) or now
    before, now = ([line for line in lines if not line.startswith(OF_SERVICE)] for lines in (known, now))
    assert unmentioned(before, now, changelog) == []
    assert undeprecated(before, now, changelog) == []


def test_the_changelog_follows_its_format() -> None:
    text = (Path(ROOT) / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.startswith("# Changelog\n") and text.count("## [Unreleased]\n") == 1
    assert of_last_release(Program().migrations) or unreleased(text)
