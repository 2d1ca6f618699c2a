"""Rules and weights of task brokerage: each inequality on both sides and at equality, null and zero."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.core.brokerage.rules.facts import Case, call, check, check_numbers
from tests.core.brokerage.rules.facts import case as fact_case

Db = psycopg.Connection[Any]

GB = 1024**3
GB_OF_WORK = 4 * 10 * 86400  # HS06 s that will make one GB of output
LIMIT = 100 * 1024  # GB: 100 TB
NUCLEUS: dict[str, Any] = {
    "t_full_chain": None, "t_t1_weight": None, "t_is_preset": False, "t_io_intensity": 500, "t_located_files": 1000,
    "t_located_bytes": 100 * GB, "t_nqueued_nuc_cap": 2000, "t_disk_threshold": 100, "t_input_size_threshold": 1,
    "t_input_size_fraction": 10, "t_input_num_threshold": 100, "t_input_num_fraction": 10,
    "t_min_io_intensity_with_local_data": 200, "t_min_input_size_with_local_data": 10000,
    "t_max_task_prio_with_local_data": 800, "t_data_location_check_period": 7, "t_free_disk_cutoff": 1000,
    "q_queue": "NUC", "q_is_nucleus": True, "q_status": "ACTIVE", "q_bare_nucleus": None, "q_queued_into": 0,
    "q_remaining_work": 0, "p_remaining_work": 0, "p_located_files": 1000, "p_located_bytes": 100 * GB,
    "p_located_disk_files": 1000, "p_located_disk_bytes": 100 * GB, "p_space": 2 * LIMIT, "p_weighed_space": 2 * LIMIT,
    "p_space_total": 4 * LIMIT,
}  # fmt: skip
PRESET = {"t_is_preset": True, "p_is_preassigned": True}


def case(expected: Any, **facts: Any) -> Case:
    return fact_case(expected, **(NUCLEUS | facts))


def test_nuclei_and_allowed_satellites_are_candidates(rolled_back: Db) -> None:
    for satellites in (False, True):
        is_one = None if satellites else "no queue of role nucleus"
        cases = [
            case(None), case(None, t_full_chain=1, q_bare_nucleus="only"),
            case("no queue of role nucleus", q_is_nucleus=False),
            case("no queue of role nucleus", q_is_nucleus=False, q_bare_nucleus="allow"),
            case("no queue of role nucleus", q_is_nucleus=False, t_full_chain=3),
            case(is_one, q_is_nucleus=False, q_bare_nucleus="allow", t_full_chain=3),
            case(is_one, q_is_nucleus=False, q_bare_nucleus="only", t_full_chain=1), case(None, **PRESET),
            case(None, q_is_nucleus=False, **PRESET),
            case("nucleus of the task is NUC", t_is_preset=True, p_is_preassigned=False),
        ]  # fmt: skip
        check(rolled_back, "candidate_nucleus", cases, {"satellites": satellites})


def test_a_nucleus_that_is_not_active_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None), case("state is TEST, not ACTIVE", q_status="TEST"), case("state is active", q_status="active"),
        case("not set", q_status=None), case(None, q_status="TEST", **PRESET),
    ]  # fmt: skip
    check(rolled_back, "rule_nucleus_status", cases)


def test_a_nucleus_with_a_long_transfer_backlog_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None, q_queued_into=1999), case(None, q_queued_into=2000),
        case("2001 files are queued into it, NQUEUED_NUC_CAP is 2000", q_queued_into=2001),
        case(None, q_queued_into=None), case(None, q_queued_into=2001, t_t1_weight=-1),
        case("2001", q_queued_into=2001, t_t1_weight=0), case("2001", q_queued_into=2001, t_t1_weight=1),
        case("its backlog is marked as unlimited", q_queued_into="Infinity"),
        case(None, q_queued_into="Infinity", t_t1_weight=-1), case("1 files", q_queued_into=1, t_nqueued_nuc_cap=0),
        case(None, q_queued_into=0, t_nqueued_nuc_cap=0), case(None, q_queued_into=2001, **PRESET),
    ]  # fmt: skip
    check(rolled_back, "rule_transfer_backlog", cases)


def test_a_nucleus_without_storage_for_the_output_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None, q_has_output_storage=True),
        case("no output storage", q_has_output_storage=False),
        case(None, q_has_output_storage=False, **PRESET),
    ]
    check(rolled_back, "rule_nucleus_has_storage", cases)
    cases = [
        case(None),
        case(None, q_has_output_storage=False),
        case("no storage for X", p_output_problem="no storage for X"),
        case(None, p_output_problem="no storage for X", **PRESET),
    ]
    check(rolled_back, "rule_nucleus_has_storage_panda2026", cases)


def test_a_nucleus_with_storages_closed_over_wan_is_rejected(rolled_back: Db) -> None:
    problem = "-source_blacklist: read_wan of DISK is OFF"
    cases = [case(None), case(problem, p_wan_problem=problem), case(None, p_wan_problem=problem, **PRESET)]
    check(rolled_back, "rule_nucleus_wan", cases)


def test_a_nucleus_must_have_more_free_space_than_the_threshold(rolled_back: Db) -> None:
    """The free space must be over the threshold; space that remaining work will fill is not free."""
    cases = [
        case(None, p_space=LIMIT + 0.001), case("102400.000 GB are free, 0.000 will be filled", p_space=LIMIT),
        case("not over 102400 GB", p_space=LIMIT - 0.001), case("0.000 GB are free", p_space=0),
        case(None, p_space=0.001, t_disk_threshold=0), case("0.000 GB", p_space=0, t_disk_threshold=0),
        case(None, p_space=LIMIT + 1, q_remaining_work=GB_OF_WORK - 1),
        case("102401.000 GB are free, 1.000 will be filled", p_space=LIMIT + 1, q_remaining_work=GB_OF_WORK),
        case("102401.000", p_space=LIMIT + 1, q_remaining_work=GB_OF_WORK + 1), case(None, p_space=0, **PRESET),
    ]  # fmt: skip
    check(rolled_back, "rule_nucleus_space", cases)


def test_a_nucleus_of_panda2026_must_have_at_least_the_threshold_of_space(rolled_back: Db) -> None:
    """The space must be at least the threshold; work fills whole GB. A task without output needs no space."""
    cases = [
        case(None, p_space=LIMIT + 1), case(None, p_space=LIMIT),
        case(
            "102399.999 GB can be used, 0 will be filled by its remaining work: less than 102400 GB (DISK_THRESHOLD)",
            p_space=LIMIT - 0.001,
        ),
        case(None, p_space=0, t_disk_threshold=0), case(None, p_space=LIMIT, q_remaining_work=GB_OF_WORK - 1),
        case("1 will be filled", p_space=LIMIT, q_remaining_work=GB_OF_WORK),
        case(None, p_space=LIMIT + 1, q_remaining_work=2 * GB_OF_WORK - 1),
        case("2 will be filled", p_space=LIMIT + 1, q_remaining_work=2 * GB_OF_WORK), case(None, p_space=None),
        case(None, p_space=0, **PRESET),
    ]  # fmt: skip
    check(rolled_back, "rule_nucleus_space_panda2026", cases)


def test_a_nucleus_where_no_queue_could_run_the_jobs_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None, t_runnable_at=None), case(None, t_runnable_at={"OTHER": True, "NUC": True}),
        case("no queue there could run its jobs", t_runnable_at={"OTHER": True}),
        case("no queue there", t_runnable_at={}), case(None, t_runnable_at={}, **PRESET),
    ]  # fmt: skip
    check(rolled_back, "rule_task_job_check", cases)


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize(
    ("rule", "kind", "unit"), [("rule_task_locality_size", "size", GB), ("rule_task_locality_num", "num", 1)]
)
def test_a_nucleus_must_have_a_tenth_of_the_input_beyond_a_threshold(
    rolled_back: Db, inclusive: bool, rule: str, kind: str, unit: int
) -> None:
    """A tenth of the input must be there, beyond a threshold. Reasons without a ! may be ignored."""
    there, whole = ("p_located_bytes", "t_located_bytes") if kind == "size" else ("p_located_files", "t_located_files")
    limits = {f"t_input_{kind}_threshold": 10, whole: 100 * unit}

    def located(expected: Any, number: int, **facts: Any) -> Case:
        return case(expected, **(limits | {there: number} | facts))

    cases = [
        located(None, 10 * unit + 1),
        located(
            None if inclusive else f"!{10 * unit} of {100 * unit} ", 10 * unit, t_min_input_size_with_local_data=-1
        ),
        located(f"{10 * unit - 1} of {100 * unit} ", 10 * unit - 1), located("0 of", 0),
        located(None, 0, **{whole: 10 * unit}), located("0 of", 0, **{whole: 10 * unit + 1}),
        located(None, 0, **{whole: 0, f"t_input_{kind}_threshold": 0}),
        located(None, 1, **{f"t_input_{kind}_fraction": 0}),
        located(None if inclusive else "0 of", 0, **{f"t_input_{kind}_fraction": 0}),
        located(None, 100 * unit, **{f"t_input_{kind}_fraction": 99}),
        located(None if inclusive else "100%", 100 * unit, **{f"t_input_{kind}_fraction": 100}),
        located(None, 0, **PRESET), located(None, 0, t_input_pre_staging=True, p_located_files=1),
        located("0 of", 0, t_input_pre_staging=True, p_located_files=0),
        located("0 of", 0, t_input_pre_staging=False, **{there: 0}),
    ]  # fmt: skip
    check(rolled_back, rule, cases, {"inclusive": inclusive})


@pytest.mark.parametrize("rule", ["rule_task_locality_size", "rule_task_locality_num"])
def test_locality_is_ignored_for_small_or_urgent_tasks_when_all_nuclei_fail(rolled_back: Db, rule: str) -> None:
    """Tasks that are slow and small or of high priority ignore locality where all nuclei fail; others get a !."""
    nothing = {"p_located_files": 0, "p_located_bytes": 0, "t_task_priority": 500, "t_current_priority": 500}
    small = {"t_located_bytes": 10000 * GB}
    cases: list[tuple[str, dict[str, Any]]] = [
        ("", {"t_io_intensity": 200, **small}), ("!", {"t_io_intensity": 200.1, **small}),
        ("", {"t_io_intensity": None, **small}), ("", {"t_io_intensity": 0, **small}),
        ("!", {"t_io_intensity": 200, "t_located_bytes": 10000 * GB + 1}), ("!", {"t_task_priority": 799}),
        ("", {"t_task_priority": 800}), ("!", {"t_task_priority": None, "t_current_priority": 800}),
        ("!", {"t_current_priority": 800}),
    ]  # fmt: skip
    answers = call(rolled_back, rule, [case(None, **(nothing | facts)) for _, facts in cases])
    assert [answer[:1].replace("0", "") for answer in answers] == [mark for mark, _ in cases]
    swapped = {"t_task_priority": "t_current_priority", "t_current_priority": "t_task_priority"}
    now = [{swapped.get(key, key): value for key, value in facts.items()} for _, facts in cases]
    answers = call(rolled_back, rule, [case(None, **(nothing | facts)) for facts in now], {"current_priority": True})
    assert [answer[:1].replace("0", "") for answer in answers] == [mark for mark, _ in cases]


@pytest.mark.parametrize(("rule", "kind", "of"), [
    ("rule_task_locality_size", "size", "bytes"), ("rule_task_locality_num", "num", "files"),
])  # fmt: skip
def test_a_fraction_of_the_input_is_compared_exactly(rolled_back: Db, rule: str, kind: str, of: str) -> None:
    """In binary numbers 0.57 times 10,000 is below 5,700."""
    facts = {f"t_input_{kind}_threshold": 0, f"t_input_{kind}_fraction": 0.57, f"t_located_{of}": 10_000}
    cases = [case("57 of 10000 ", **facts, **{f"p_located_{of}": 57}), case(None, **facts, **{f"p_located_{of}": 58})]
    check(rolled_back, rule, cases)


@pytest.mark.parametrize("rule", ["rule_task_locality_size", "rule_task_locality_num"])
def test_locality_is_dropped_for_tasks_frozen_longer_than_the_period(rolled_back: Db, rule: str) -> None:
    nothing = {"p_located_files": 0, "p_located_bytes": 0}
    cases = [
        case("0 of", **nothing, t_frozen=None),
        case("0 of", **nothing, t_frozen="2026-02-22T12:00:00Z"),
        case(None, **nothing, t_frozen="2026-02-22T11:59:59Z"),
        case(None, **nothing, t_frozen="2026-02-28T11:00:00Z", t_data_location_check_period=1),
    ]
    check(rolled_back, rule, cases, {"period": True})
    check(rolled_back, rule, [each._replace(expected="0 of") for each in cases])


CHAINS: list[tuple[int | None, str | None, bool, bool]] = [  # wanted, mode, accepted by doc, by panda2026
    (None, None, True, True),
    (None, "allow", True, True),
    (None, "only", False, False),
    (1, None, False, False),
    (1, "allow", False, True),
    (1, "only", True, True),
    (2, None, False, False),
    (2, "allow", True, True),
    (2, "only", True, True),
    (3, None, True, True),
    (3, "allow", True, True),
    (3, "only", False, True),
]


@pytest.mark.parametrize("parent", [None, "NUC", "OTHER"])
@pytest.mark.parametrize("parent_mode", [None, "allow", "only"])
@pytest.mark.parametrize("parent_wants", [None, 1, 3])
def test_full_chain_tasks_go_where_mode_and_parent_allow(
    rolled_back: Db, parent: str | None, parent_mode: str | None, parent_wants: int | None
) -> None:
    """All combinations of what the task wants, the mode of the nucleus, and its parent's nucleus."""
    of_parent = {"t_parent_nucleus": parent, "t_parent_nucleus_mode": parent_mode, "t_parent_full_chain": parent_wants}
    is_bound = parent is not None and parent_mode is not None
    doc, panda = [], []
    for wanted, mode, by_doc, by_panda in CHAINS:
        facts = {"t_full_chain": wanted, "q_bare_nucleus": mode, **(of_parent if parent else {})}
        accepts = parent == "NUC" if wanted == 3 and is_bound else by_doc
        doc.append(case(None if accepts else "", **facts))
        binds = wanted is not None and is_bound and parent_wants is not None
        panda.append(case(None if by_panda and (not binds or parent == "NUC") else "", **facts))
    check(rolled_back, "rule_full_chain_task", doc)
    check(rolled_back, "rule_full_chain_task_panda2026", panda)
    for rule in ("rule_full_chain_task", "rule_full_chain_task_panda2026"):
        check(rolled_back, rule, [case(None, t_full_chain=1, **PRESET, **of_parent)])


def test_a_task_with_full_chain_capable_is_a_full_chain_without_its_rule(rolled_back: Db) -> None:
    """full-chain.md, full-chain-task: without a parent at a bare nucleus, capable is ignored."""
    ignored = "bareNucleus is only, and fullChain is capable, which is ignored: no parent of it is at a bare nucleus"
    cases = [
        case("bareNucleus is only, and the task is no full chain", q_bare_nucleus="only"),
        case(ignored, q_bare_nucleus="only", t_full_chain=3),
        case(ignored, q_bare_nucleus="only", t_full_chain=3, t_parent_nucleus="NUC"),
    ]
    check(rolled_back, "rule_full_chain_task", cases)


def test_a_task_whose_input_has_a_problem_is_refused_unless_preset(rolled_back: Db) -> None:
    query = "select brokerage.rule_task_input_scan(jsonb_populate_record(null::brokerage.task_facts, %s))"
    for facts, expected in [
        ({"is_preset": False}, None),
        ({"is_preset": False, "input_problem": "no copy"}, "no copy"),
        ({"is_preset": True, "input_problem": "no copy"}, None),
    ]:
        assert rolled_back.execute(query, [Jsonb(facts)]).fetchone() == (expected,)


# --- Weights ----------------------------------------------------------------------------------------------------------


def test_the_weight_falls_with_remaining_work_over_a_minimum(rolled_back: Db) -> None:
    large = [case(1 / 50, p_remaining_work=50), case(1 / 51, p_remaining_work=51), case(None, **PRESET)]
    little = [case(1 / 50, p_remaining_work=49.9), case(1 / 50, p_remaining_work=0)]
    check_numbers(rolled_back, "weight_remaining_work", [*large, *little])
    little = [each._replace(expected=1) for each in little]
    check_numbers(rolled_back, "weight_remaining_work", [*large, *little], {"little_counts_1": True})


def test_the_weight_of_io_intensive_tasks_follows_located_data(rolled_back: Db) -> None:
    half = {"p_located_bytes": 50 * GB}
    cases = [
        case(0.5, t_io_intensity=200.1, **half), case(1, t_io_intensity=200, **half),
        case(0.5, t_io_intensity=None, **half), case(1, t_io_intensity=0, **half), case(0, p_located_bytes=0),
        case(1, p_located_bytes=0, t_located_bytes=0), case(None, **PRESET),
    ]  # fmt: skip
    old, young = (
        case(number, t_frozen=f"2026-02-22T{at}Z", **half) for number, at in ((1, "11:59:59"), (0.5, "12:00"))
    )
    check_numbers(rolled_back, "weight_located_data", [*cases, young, old._replace(expected=0.5)])
    check_numbers(rolled_back, "weight_located_data", [*cases, young, old], {"period": True})


def test_the_weight_is_a_thousandth_where_data_is_only_on_tape(rolled_back: Db) -> None:
    cases = [
        case(1), case(0.001, p_located_disk_bytes=100 * GB - 1), case(0.001, p_located_disk_bytes=0, t_io_intensity=0),
        case(1, p_located_bytes=0, p_located_disk_bytes=0), case(None, **PRESET),
    ]  # fmt: skip
    old = case(1, p_located_disk_bytes=0, t_frozen="2026-02-22T11:59:59Z")
    check_numbers(rolled_back, "weight_tape", [*cases, old._replace(expected=0.001)])
    check_numbers(rolled_back, "weight_tape", [*cases, old], {"period": True})


def test_the_weight_of_a_nucleus_follows_its_free_share_of_space(rolled_back: Db) -> None:
    cases = [
        case(0.5), case(0, p_weighed_space=0), case(0.25, p_weighed_space=0.25, p_space_total=1),
        case(1, p_space_total=None), case(1, p_space_total=0),
        case(0.5, q_remaining_work=1000 * GB_OF_WORK), case(None, **PRESET),
    ]  # fmt: skip
    check_numbers(rolled_back, "weight_nucleus_space", cases)


def test_the_space_weight_of_panda2026_is_scaled_up_to_the_cutoff(rolled_back: Db) -> None:
    cases = [
        case(0.5 * 200), case(1, p_space_total=None), case(1, p_space_total=0),
        case(1, p_weighed_space=None, p_space_total=None), case(0.5 * 199, t_free_disk_cutoff=199),
        case(0.5 * 200, t_free_disk_cutoff=200.5),
        case((2 * LIMIT - 1) / (4 * LIMIT) * 199, p_weighed_space=2 * LIMIT - 1),
        case(0.5 * 200, q_remaining_work=GB_OF_WORK - 1),
        case((2 * LIMIT - 1) / (4 * LIMIT) * 199, q_remaining_work=GB_OF_WORK),
        case(0, p_weighed_space=1023, t_disk_threshold=0),
        case(1024 / (4 * LIMIT), p_weighed_space=1024, t_disk_threshold=0), case(None, **PRESET),
    ]  # fmt: skip
    check_numbers(rolled_back, "weight_nucleus_space_panda2026", cases)


@pytest.mark.parametrize(("weights", "first_of_zeros", "expected"), [
    ([3.0, 1.0], False, [0.75, 0.25]),
    ([3.0, 0.0], True, [1, 0]),
    ([0.0, 0.0], False, [0.5, 0.5]),
    ([None, 3.0], False, [0, 1]),
    ([0.0, 0.0], True, [1, 0]),
    ([None], False, [1]),
    ([None], True, [1]),
    ([1e-300, 3e-300], False, [0.25, 0.75]),
])  # fmt: skip
def test_probabilities_are_weights_over_their_sum(
    rolled_back: Db, weights: list[Any], first_of_zeros: bool, expected: list[float]
) -> None:
    row = rolled_back.execute("select brokerage.probabilities(%s::float8[], %s)", (weights, first_of_zeros)).fetchone()
    assert row is not None
    assert row[0] == pytest.approx(expected, rel=1e-12)
