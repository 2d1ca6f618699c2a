"""Names with * in the lists of queues of a user's task: doc compares whole names, panda2026 searches in them."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from broker import world

Db = psycopg.Connection[Any]
Row = dict[str, Any]

UNIFIED: Row = {"capability": "ucore", "corecount": 8, "maxrss": 64000}
NAMES = ("CERN", "CERN-T0.X", "CERN_T0", "CERNXT0", "ANALY_CERN", "A%B", "A\\B", "BNL+", "A*", "(", "cern")
QUEUE: Row = {"type": "analysis", "pilots": {"getjob": 5}, "astorages": {"read_lan": ["D"], "write_lan": ["D"]}}
WORLD: Row = {
    "queues": {**dict.fromkeys(NAMES, QUEUE), "UNI": {**QUEUE, **UNIFIED}},
    "storages": {"D": {"space_free": 1000}},
    "tasks": [
        {"id": n, "label": "user", "gshare": "User Analysis", "user": "alice", "split": {"limitedSites": True}}
        for n in (1, 2)
    ],
}
LIKE = [
    "CERN", "CERN*", "*CERN", "*", "C*T*", "CERN_T0*", "CERN.T0*", "CERN.T0", "A%*", "A*", "cern*", "X*X", "***",
    "*UNI",
]  # fmt: skip
EXPRESSIONS = [
    "^CERN*", "*CERN$", "CERN$*", "^(CERN|BNL)*", "[AC]*_", "BNL\\+*", "CERN.?T0*", "A\\\\*", "*SCORE$", "UNI$*",
]  # fmt: skip
ALGORITHMS = ("analysis_job", "production_job")
PROFILES = ("documented", "panda2026", "acme")
INVALID = {
    "CERN(*": "not a regular expression", "+*": "not a regular expression", "(.)\\1*": "written with back-references",
}  # fmt: skip


@pytest.fixture(scope="module")
def loaded(_shared_dsn: str) -> Iterator[Db]:
    with psycopg.connect(_shared_dsn) as connection:
        connection.execute("select 1")
        world.load(connection, [WORLD], "w")
        yield connection
        connection.rollback()


@pytest.fixture
def db(loaded: Db) -> Iterator[Db]:
    """The world; changes of a test are undone."""
    with loaded.transaction(force_rollback=True):
        yield loaded


def found(db: Db, pattern: str, anywhere: bool) -> set[str]:
    """Queues that are named, by their own name or the unified one, as brokerage.is_named compares."""
    query = """select queue from resource.candidate_queue, brokerage.name_patterns('w', array[%s], %s) n(patterns)
                where setup = 'w' and (queue like any (n.patterns) or unified_name like any (n.patterns))"""
    return {queue for (queue,) in db.execute(query, (pattern, anywhere)).fetchall()}


def names(db: Db) -> list[tuple[str, str]]:
    return db.execute("select queue, unified_name from resource.candidate_queue where setup = 'w'").fetchall()


@pytest.mark.parametrize("pattern", [*LIKE, *EXPRESSIONS, *NAMES])
def test_panda2026_searches_for_a_pattern_and_doc_compares_whole_names(db: Db, pattern: str) -> None:
    """In panda2026 a name with * is an expression to search for; in doc * is any text within a whole name."""
    with_star = re.compile(pattern.replace("*", ".*")) if "*" in pattern else None
    searched = {queue for queue, unified in names(db) for n in (queue, unified) if with_star and with_star.search(n)}
    whole = re.compile(".*".join(re.escape(part) for part in pattern.split("*")))
    equal = {queue for queue, unified in names(db) for n in (queue, unified) if n == pattern}
    assert found(db, pattern, True) == (searched if with_star else equal)
    assert found(db, pattern, False) == {
        queue for queue, unified in names(db) for n in (queue, unified) if whole.fullmatch(n)
    }


def test_each_expression_finds_some_but_not_all_queues(db: Db) -> None:
    sizes = {pattern: len(found(db, pattern, True)) for pattern in EXPRESSIONS}
    assert all(0 < size < len(names(db)) for size in sizes.values()), sizes


def test_a_list_without_names_is_no_limit_but_an_unmatched_name_is(db: Db) -> None:
    query = "select brokerage.name_patterns('w', %s::text[], true)"
    for given, expected in (
        (None, None),
        ([], None),
        ([""], None),
        (["^Z*"], []),
        (["CERN(*"], []),
        (["", "a_"], ["a\\_"]),
    ):
        assert db.execute(query, [given]).fetchall() == [(expected,)]


def given(db: Db, **lists: list[str]) -> None:
    for field, patterns in lists.items():
        db.execute(f"update workload.task set {field} = %s where setup = 'w' and task_id = 1", [patterns])


@pytest.mark.parametrize("pattern", EXPRESSIONS)
def test_only_queues_that_a_pattern_finds_are_included_or_excluded(db: Db, pattern: str) -> None:
    """The decision includes and excludes them."""
    query = """select queue from brokerage.explain('w', 1, 'panda2026', 'analysis_job')
                where all_reasons::text like '%%include-exclude: %%'"""
    there, every = found(db, pattern, True), {queue for queue, _ in names(db)}
    given(db, included_site=[pattern])
    assert {queue for (queue,) in db.execute(query).fetchall()} == every - there
    given(db, included_site=[], excluded_site=[pattern])
    assert {queue for (queue,) in db.execute(query).fetchall()} == there


@pytest.mark.parametrize("field", ["included_site", "excluded_site"])
@pytest.mark.parametrize("pattern", INVALID)
def test_the_error_of_a_bad_pattern_names_its_field_and_value(db: Db, field: str, pattern: str) -> None:
    """The task leaves with its error, and the other task of the batch is decided; doc has no expressions."""
    given(db, **{field: ["CERN*", pattern]})
    query = "call brokerage.broker_analysis('w', '{1, 2}', %s, p_dry_run => true, p_tasks_a_commit => null)"
    [(run,)] = db.execute(query, ["panda2026"]).fetchall()
    query = "select task_id, status, errcode, reason from brokerage.task_decision where run_id = %s order by 1"
    shown = '"' + pattern.replace("\\", "\\\\") + '"'
    reason = f"{field}: the pattern {shown} is {INVALID[pattern]}"
    error, other = db.execute(query, [run]).fetchall()
    assert error == (1, "error", "PB001", reason) and other == (2, "candidates", None, None)
    query = "select verdict, reason from brokerage.explain('w', 1, 'panda2026', 'analysis_job')"
    assert db.execute(query).fetchall() == [("error", reason)]
    db.execute("select brokerage.set_profile('acme', 'panda2026')")
    query = "select brokerage.evaluate_task('w', 1, %s, %s) -> 'error' ->> 'message'"
    evaluated = {asked: db.execute(query, asked).fetchone() for asked in itertools.product(ALGORITHMS, PROFILES)}
    assert {asked for asked, message in evaluated.items() if message == (reason,)} == {
        ("analysis_job", "panda2026"),
        ("analysis_job", "acme"),
    }
    assert set(evaluated.values()) == {(reason,), (None,)}


def test_lists_of_names_are_read_as_the_world_gives_them(db: Db) -> None:
    changed = {**WORLD["tasks"][0], "params": {"included_site": ["^CERN*"], "excluded_site": ["*X$"]}}
    world.load(db, [{**WORLD, "tasks": [changed]}], "w")
    [(answer,)] = db.execute("select brokerage.evaluate_task('w', 1, 'analysis_job', 'panda2026')").fetchall()
    assert {row["queue"] for row in answer["candidates"]} == {"CERN", "CERN_T0", "CERNXT0"}
