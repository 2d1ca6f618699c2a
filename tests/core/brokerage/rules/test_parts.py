"""Small functions of facts and of the assignment, on literal values: each inequality on both sides and at equality."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.core.brokerage.rules.facts import case, check_numbers

Db = psycopg.Connection[Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY, QUARTER, SECOND = timedelta(days=1), timedelta(hours=6), timedelta(seconds=1)
OWN = (["C"], "prod-initial-preassigned")
MASTER = (["A", "B"], "preassigned-merge")
CHANGED = {"site": "A,B", "created": NOW - 3 * DAY, "modified": NOW - 2 * DAY}


def value(connection: Db, function: str, *arguments: Any) -> Any:
    """The answer of brokerage.<function>."""
    marks = ", ".join(["%s"] * len(arguments))
    row = connection.execute(f"select brokerage.{function}({marks})".encode(), arguments).fetchone()
    return row[0] if row else None


@pytest.mark.parametrize(
    ("task", "master", "documented", "panda2026"),
    [
        ({}, {}, (None, None), (None, None)),
        ({"site": ""}, {}, (None, None), (None, None)),
        ({"site": "C"}, {}, OWN, OWN),
        ({"site": "C"}, {"site": ""}, OWN, OWN),
        ({"site": "C"}, {"site": "A,B"}, MASTER, MASTER),
        ({}, CHANGED, MASTER, MASTER),
        ({"site": "C"}, CHANGED, MASTER, MASTER),
        ({"frozen": NOW - DAY}, {"site": "A,B"}, MASTER, MASTER),
        ({"frozen": NOW - DAY - SECOND}, {"site": "A,B"}, (None, None), MASTER),
        ({"frozen": NOW - DAY - SECOND, "site": "C"}, {"site": "A,B"}, (None, None), MASTER),
        ({"frozen": NOW - QUARTER}, CHANGED, MASTER, MASTER),
        ({"frozen": NOW - QUARTER - SECOND}, CHANGED, MASTER, (None, None)),
        ({"frozen": NOW - QUARTER - SECOND}, CHANGED | {"modified": NOW - DAY}, MASTER, MASTER),
        ({"frozen": NOW - QUARTER - SECOND}, CHANGED | {"created": NOW - 2 * DAY}, MASTER, MASTER),
        ({"frozen": NOW - QUARTER - SECOND}, {"site": "A,B", "modified": NOW - 2 * DAY}, MASTER, MASTER),
    ],
)
def test_a_task_is_preassigned_by_its_site_or_its_master(
    rolled_back: Db, task: dict[str, Any], master: dict[str, Any], documented: Any, panda2026: Any
) -> None:
    query = """select queues, by from brokerage.preassignment(
                 jsonb_populate_record(null::workload.task, %s), jsonb_populate_record(null::workload.dataset, %s),
                 %s, %s)"""
    rows = [Jsonb({name: str(each) for name, each in row.items()}) for row in (task, master)]
    found = [rolled_back.execute(query, [*rows, NOW, profile]).fetchone() for profile in ("documented", "panda2026")]
    assert found == [documented, panda2026]


def test_inputs_storages_and_nucleus_modes_are_read_by_their_texts(rolled_back: Db) -> None:
    names = {"ddo.a.b.c.d": False, "data.a.b.c.log": False, "data.a.b.log.d": True, "data.a.b.c.logs": True, "x": True}
    assert {name: value(rolled_back, "is_scanned", name) for name in names} == names
    states = {None: True, "": True, "ON": True, "OFF": False, "TEST": False}
    assert {state: value(rolled_back, "is_usable", state) for state in states} == states
    modes = {(None, "only"): "only", (None, "allow"): "allow", (None, "deny"): None, ("allow", "only"): "allow"}
    found = {each: value(rolled_back, "bare_nucleus", each[0], Jsonb({"bareNucleus": each[1]})) for each in modes}
    assert found == modes


def test_the_work_of_a_day_on_a_core_of_10_hs06_needs_a_quarter_of_a_gb(rolled_back: Db) -> None:
    assert value(rolled_back, "space_for", 864000.0) == 0.25


def test_names_with_stars_become_patterns(rolled_back: Db) -> None:
    assert value(rolled_back, "like_text", r"a%b_c\d") == r"a\%b\_c\\d"
    expressions = {"A*": None, "A.*": None, "A$*": "A$.*", "[AB]*": "[AB].*", "A$": None, "(A)*B*": "(A).*B.*"}
    assert {name: value(rolled_back, "name_expression", name) for name in expressions} == expressions


def test_the_wait_is_that_of_the_highest_priority_reached(rolled_back: Db) -> None:
    waits = {"wait": "2 hours", "950": "10 minutes", "900": "30 minutes", "1000000000": "1 minute", "x9": "1 second"}
    expected = {899: 120, 900: 30, 949: 30, 950: 10, 2000000000: 10, None: 120}
    found = {priority: value(rolled_back, "wait_of", Jsonb(waits), priority) for priority in expected}
    assert found == {priority: timedelta(minutes=minutes) for priority, minutes in expected.items()}
    assert value(rolled_back, "wait_of", Jsonb({}), 1000) == timedelta(hours=1)


@pytest.mark.parametrize("probabilities", [[0.0, 0.25, 0.0, 0.75], [-1.0, 0.5, 0.5], [0.3, 0.3]])
def test_the_first_nucleus_whose_cumulated_probability_reaches_the_draw_is_chosen(
    rolled_back: Db, probabilities: list[float]
) -> None:
    """Where rounding makes the sum less than 1, the last nucleus that can be drawn is chosen."""
    for seed in range(40):
        drawn = rolled_back.execute("select resource.draw(1, %s::bigint)", [seed]).fetchone()
        assert drawn is not None
        possible = [place for place, each in enumerate(probabilities) if each > 0]
        reached = [n for n in possible if sum(probabilities[m] for m in possible if m <= n) >= drawn[0]]
        place = value(rolled_back, "draw_nucleus", probabilities, seed)
        assert place == 1 + (reached[0] if reached else possible[-1])
    assert value(rolled_back, "draw_nucleus", [0.0, 1.0], None) == 2


def test_long_or_complex_expressions_have_a_problem(rolled_back: Db) -> None:
    problems = {
        "a" * 1000 + "+": "longer than 1000 characters", "a" * 999 + "+": None, "a" * 1001: None,
        "(a)\\1": "written with back-references", "a{1}" * 9: None, "a{0}" * 9: None, "a{3}" * 4: "too complex",
        "+".join("a" * 101): None, "a+" * 100: None, "a+" * 101: "too complex",
        "a{255}": None, "a{149}b+": None, "a{151}b+": "too complex", "a{999}": "too complex",
        "(": "not a regular expression",
    }  # fmt: skip
    query = "select resource.pattern_problem(%s)"
    found = {each: [row[0] for row in rolled_back.execute(query, [each])] for each in problems}
    assert found == {each: [problem] for each, problem in problems.items()}


def test_one_pair_of_parentheses_around_all_cpus_is_removed(rolled_back: Db) -> None:
    """The documentation removes one pair around all alternatives; pairs around each of them stay."""
    found = {
        text: [each["arch"] for each in value(rolled_back, "cpu_requirement", text, "documented")]
        for text in ("(a|b)", "(a)|(b)", "((a|b)|c)", "(a|b)|c")
    }
    assert found == {"(a|b)": ["a", "b"], "(a)|(b)": ["(a)", "(b)"], "((a|b)|c)": ["(a|b)", "c"],
                     "(a|b)|c": ["(a|b)", "c"]}  # fmt: skip


@pytest.mark.parametrize(("sums", "of_class"), [
    ([4, 3, 9], {1: [3.948, 3.05, 3.002], 0: [0.001, 2.9, 7.1], -1: [0.001, 0.001, 10]}),
    ([0, 0, 9], {1: [0, 0, 9], 0: [0.001, 0, 9], -1: [0.001, 0.001, 9]}),
])  # fmt: skip
def test_jobs_are_spread_over_the_class_of_the_task_and_lower_ones(
    rolled_back: Db, sums: list[float], of_class: dict[int, list[float]]
) -> None:
    found = {each: value(rolled_back, "jobs_of_classes", 10, each, sums) for each in of_class}
    assert found == {each: pytest.approx(wanted) for each, wanted in of_class.items()}


def test_readable_architectures_have_no_problem(rolled_back: Db) -> None:
    for readable in ("x86_64-centos7-gcc8-opt#*-intel", "#*", "#x86.*", "#x86_64-*-avx2&nvidia", "", None):
        assert value(rolled_back, "architecture_problem", readable, "panda2026") is None, readable
    for unreadable in ("#(", "#a+" + "a+" * 101):
        assert value(rolled_back, "architecture_problem", unreadable, "panda2026") is not None, unreadable


def test_published_hardware_is_grouped_by_type(rolled_back: Db) -> None:
    rows = [{"type": "cpu", "arch": ["x"], "vendor": "v", "n": 1}, {"type": "gpu", "model": []}, {"arch": ["y"]}, 7]
    found = value(rolled_back, "published_hardware", Jsonb(rows))
    assert found == {"cpu": {"arch": ["x"], "vendor": ["v"]}, "gpu": {"model": []}}
    assert value(rolled_back, "published_hardware", Jsonb([*rows, {"type": "cpu", "arch": "z"}]))["cpu"] == {
        "arch": ["z"]
    }
    assert value(rolled_back, "published_hardware", Jsonb({"type": "cpu"})) == {}
    assert value(rolled_back, "published_hardware", Jsonb([{"type": "CPU", "arch": ["x"]}])) == {"cpu": {"arch": ["x"]}}


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        (["excl"], "only tasks that ask for a cpu vendor are accepted"),
        (["excl", "intel"], "only tasks that ask for the cpu vendor intel are accepted"),
        (["intel", "amd", "excl"], "only tasks that ask for the cpu vendor intel, amd are accepted"),
    ],
)
def test_hardware_for_its_own_tasks_is_named_in_the_reason(rolled_back: Db, listed: list[str], text: str) -> None:
    assert value(rolled_back, "attribute_text", "cpu vendor", "*", Jsonb(listed)) == text


def test_caps_chunks_and_queued_jobs_have_their_literal_values(rolled_back: Db) -> None:
    check_numbers(rolled_back, "job_chunk", [
        case(25, t_is_scout=False), case(2, t_is_scout=True), case(2, t_hpo_workflow=True), case(25, t_is_scout=None),
        case(7, q_job_chunk_size=7, t_is_scout=True), case(1, q_job_chunk_size=1), case(25, q_job_chunk_size=0),
    ])  # fmt: skip
    check_numbers(rolled_back, "running_jobs_cap", [
        case(20, p_running=9), case(20, p_running=10), case(22, p_running=11), case(40, t_nqueuelimitsite=40),
        case(None, t_processing_type="urgent", p_running=11), case(None, t_current_priority=1000),
        case(20, t_current_priority=999),
    ])  # fmt: skip
    check_numbers(rolled_back, "running_jobs_cap_panda2026", [
        case(20, p_running=9), case(20, p_running=10), case(22, p_running=11), case(20, t_current_priority=1000),
        case(None, t_current_priority=1001), case(None, t_processing_type="urgent"),
        case(22, p_running=11, p_type_running=50), case(100, p_running=11, p_type_running=50, q_child_type="SCORE"),
        case(22, p_running=11, p_type_running=5, q_child_type="SCORE"), case(20, t_processing_type="x"),
    ])  # fmt: skip
    waiting = {"p_defined": 1, "p_activated": 20, "p_assigned": 300, "p_starting": 4000}
    check_numbers(rolled_back, "queued_jobs", [
        case(4021, **waiting), case(4321, **waiting, p_input_is_local=False),
    ])  # fmt: skip
    typed = {"p_type_defined": 2, "p_type_activated": 30, "p_type_assigned": 400, "p_type_starting": 5000}
    moving = {"p_input_is_local": False}
    check_numbers(rolled_back, "queued_jobs_panda2026", [
        case(4020, **waiting), case(4029, **waiting, q_live_jobs=9), case(4020, **waiting, q_live_jobs=None),
        case(4320, **waiting, **moving), case(4029, **waiting, **typed, q_live_jobs=9), case(4020, **waiting, **typed),
        case(5032, **waiting, **typed, q_child_type="SCORE"),
        case(5432, **waiting, **typed, **moving, q_child_type="SCORE"), case(4020, **waiting, q_child_type="SCORE"),
    ])  # fmt: skip


def test_needs_are_computed_where_facts_are_unknown(rolled_back: Db) -> None:
    dynamic = {"t_dynamic_num_events": 5, "t_events": 9}
    check_numbers(rolled_back, "most_events_panda2026", [
        case(0, t_job_events=None), case(7, t_job_events=7), case(9, t_job_events=7, **dynamic),
        case(6, **dynamic, t_max_events_per_job=6), case(5, **dynamic, t_max_events_per_job=4),
        case(9, **dynamic, t_max_events_per_job=10), case(5, t_dynamic_num_events=5, t_events=None),
    ])  # fmt: skip
    half = 536870912
    for function in ("scratch_need", "scratch_need_exactly"):
        check_numbers(rolled_back, function, [
            case(half, t_job_input_bytes=None), case(half + 1, t_job_input_bytes=1),
            case(half + 8, t_job_input_bytes=1, t_work_disk_bytes=7),
            case(half, t_job_input_bytes=1, q_reads_always_directly=True),
            case(half + 1, t_out_disk_bytes=half + 1, t_out_disk_per_event=True, t_job_events=1),
            case(half * 2, t_out_disk_bytes=half, t_job_input_mb=2, t_job_events=9),
        ])  # fmt: skip


def test_a_site_accepts_the_attributes_that_it_lists(rolled_back: Db) -> None:
    cases: dict[tuple[Any, str, bool], tuple[bool, bool]] = {
        ("a", "*", False): (True, True), ("excl", "*", False): (False, False), (None, "*", False): (True, True),
        (None, "a", True): (False, False), ("any", "a", False): (True, True), ("", "a", False): (True, False),
        ("a", "a", False): (True, True), ("b", "a", False): (False, False), ("excl", "excl", False): (False, True),
        ("abc", "a.c", True): (True, True), ("abc", "a.c", False): (False, False),
        ("xabc", "a.c", True): (False, False),
        ("excl", "ex.*", True): (False, True), ("a(", "a(", True): (True, True), ("b", "a(", True): (False, False),
    }  # fmt: skip
    found = {
        (listed, wanted, pattern): tuple(
            value(
                rolled_back, "accepts_attribute", None if listed is None else Jsonb([listed]), wanted, pattern, profile
            )
            for profile in ("documented", "panda2026")
        )
        for listed, wanted, pattern in cases
    }
    assert found == cases


def test_only_task_brokerage_of_panda2026_takes_the_first_of_zero_weights(rolled_back: Db) -> None:
    asked = [(profile, algorithm) for profile in ("documented", "panda2026")
             for algorithm in ("production_task", "production_job", "analysis_job")]  # fmt: skip
    query = "select brokerage.takes_first_of_zeros(brokerage.rules_of(%s), %s)"
    found = [each for each in asked if rolled_back.execute(query, each).fetchone() == (True,)]
    assert found == [("panda2026", "production_task")]
