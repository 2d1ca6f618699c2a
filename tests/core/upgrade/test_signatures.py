"""The record of a release's public interface, and the changelog's entries about changes since."""

from pathlib import Path

import psycopg
import pytest

from broker.upgrade import Program, upgrade
from broker.upgrade.signatures import of_last_release, signatures, unmentioned, unreleased
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


def test_the_changelog_names_what_changed_since_the_last_release(db: psycopg.Connection[object]) -> None:
    now = signatures(db)
    assert len(now) > 100
    assert not [line for line in now if "compose" in line]  # an inner function
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    before = of_last_release(Program().migrations)
    assert before is None or unmentioned(before, now, changelog) == []


def test_the_changelog_follows_its_format() -> None:
    text = (Path(ROOT) / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.startswith("# Changelog\n") and text.count("## [Unreleased]\n") == 1
    assert of_last_release(Program().migrations) or unreleased(text)
