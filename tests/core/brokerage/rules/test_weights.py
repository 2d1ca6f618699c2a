"""Weights, to a relative 1e-9 of numbers worked out here by the formulas of production-weights.md, Factors."""

from typing import Any

import psycopg
import pytest

from tests.core.brokerage.rules.facts import case, check_numbers

Db = psycopg.Connection[Any]


def test_the_basic_weight_follows_its_formula(rolled_back: Db) -> None:
    moving = {"p_input_is_local": False}
    counts = {"p_running": 7, "p_activated": 3, "p_starting": 2, "p_defined": 1}
    check_numbers(rolled_back, "weight_basic", [
        case(1 / 10),
        case((7 + 1) / (3 + 2 + 1 + 10), **counts),
        case((7 + 1) / (3 + 2 + 1 + 10), **counts, p_assigned=100),
        case((7 + 1) / ((3 + 2 + 1 + 2 + 10) * 1), **counts, p_assigned=2, **moving),
        case((7 + 1) / ((3 + 2 + 1 + 3 + 10) * 1), **counts, p_assigned=3, **moving),
        case((7 + 1) / ((3 + 2 + 1 + 4 + 10) * (4 / 3)), **counts, p_assigned=4, **moving),
        case((7 + 1) / ((3 + 2 + 1 + 6 + 10) * 2), **counts, p_assigned=6, **moving),
        case((7 + 1) / ((3 + 2 + 1 + 7 + 10) * 2), **counts, p_assigned=7, **moving),
        case(1 / (0 + 10), **moving),
        case(1 / ((5 + 10) * 2), p_assigned=5, **moving),
        case(1 / ((5 + 10) * 2), p_assigned=5, p_activated=None, p_input_is_local=None),
        case((20 + 1) / 10, q_workers=30),
        case((4 + 1) / (4 + 10), p_numslots=0, p_starting=4),
        case((6 + 1) / 10, p_numslots=50, q_corecount=8),
        case(1 / 10, q_live_jobs=100),
        case(1 / 10, p_running=None, p_starting=None, p_assigned=None, p_defined=None),
        case(123456789 / (987654321 + 10), p_running=123456788, p_activated=987654321),
    ])  # fmt: skip


def test_the_data_weight_follows_its_formula(rolled_back: Db) -> None:
    input_ = {"t_input_bytes": 7_000_000_001, "t_input_files": 300}
    check_numbers(rolled_back, "weight_data", [
        case(1.0),
        case(1.0, t_input_bytes=0, t_input_files=5),
        case(1.0, t_input_bytes=None, t_input_files=None),
        case(1 / (300 / 100 + 1), **input_),
        case(2.0, **input_, p_available_bytes=7_000_000_001, p_available_files=300),
        case((3_000_000_000 + 7_000_000_001) / (7_000_000_001 * (187 / 100 + 1)), **input_,
            p_available_bytes=3_000_000_000, p_available_files=113),
        case(1 / (1 / 100 + 1), t_input_bytes=5, t_input_files=1, p_available_bytes=None, p_available_files=None),
    ])  # fmt: skip


STEPS = [
    (1000, 2.0), (200.001, 2.0), (200, 1.9), (100.001, 1.9), (100, 1.8), (75.001, 1.8), (75, 1.7), (50.001, 1.7),
    (50, 1.5), (20.001, 1.5), (20, 1.3), (10.001, 1.3), (10, 1.2), (2.001, 1.2), (2, 1.1), (1.001, 1.1), (1, 1.0),
    (0.5, 1.0), (0, 1.0),
]  # fmt: skip


def test_the_network_weight_follows_its_formula(rolled_back: Db) -> None:
    by_closeness = [(closeness, 1 + (11 - closeness) / 11) for closeness in (0, 1, 5, 7.7, 11)]
    check_numbers(rolled_back, "weight_network", [
        *(case(0.5 * (2 + throughput), p_mbps=mbps) for mbps, throughput in STEPS),
        *(case(0.5 * (2 + throughput), p_closeness=closeness) for closeness, throughput in by_closeness),
        case(0.5 * (2 + 1 + (11 - 7.7) / 11), p_closeness=None),
        case(0.5 * (2 - 100 / 300 + 1.5), p_mbps=30, p_queued=100),
        case(0.5 * (2 - 299 / 300 + 1.5), p_mbps=30, p_queued=299),
        case(0.5 * (1 + 1.5), p_mbps=30, p_queued=300),
        case(0.5 * (1 + 1.5), p_mbps=30, p_queued=301),
        case(0.5 * (2 + 1.5), p_mbps=30, p_queued=None),
        case(0.5 * (2 - 7 / 300 + 1.5), p_mbps=30, p_queued=100, p_queued_express=7, t_current_priority=1000),
        case(2.5, p_is_own=True, p_mbps=0, p_queued=300),
        case(0.5 * (2 + 1), p_mbps=0, p_is_own=None, p_is_near=True),
        case(0.5 * (2 - 100 / 300 + 1.0), p_mbps=0, p_queued=100, t_nw_queue_importance=0.1, t_nqueued_sat_cap=50),
    ])  # fmt: skip


@pytest.mark.parametrize("function", ["weight_basic", "weight_data", "weight_network"])
def test_no_weight_is_null_when_facts_are_missing(rolled_back: Db, function: str) -> None:
    found = rolled_back.execute(
        f"select brokerage.{function}(null::brokerage.task_facts, null::brokerage.queue_facts,"
        " null::brokerage.pair_facts)"
    ).fetchone()
    assert found is not None and found[0] > 0


def test_the_basic_weight_of_panda2026_follows_its_formula(rolled_back: Db) -> None:
    moving = {"p_input_is_local": False}
    counts = {"p_running": 7, "p_activated": 3, "p_starting": 2, "p_defined": 1}
    check_numbers(rolled_back, "weight_basic_panda2026", [
        case(1 / 10),
        case((7 + 1) / (3 + 2 + 1 + 10), **counts),
        case((7 + 1) / (3 + 2 + 1 + 10), **counts, p_assigned=100),
        case((7 + 1) / (3 + 2 + 1 + 4 + 10), **counts, q_live_jobs=4),
        case((7 + 1) / (3 + 2 + 1 + 3 + 10), **counts, p_assigned=3, **moving),
        case((7 + 1) / (3 + 2 + 1 + 4 + 10) / (5 / 4), **counts, p_assigned=4, **moving),
        case((7 + 1) / (3 + 2 + 1 + 6 + 10) / (7 / 4), **counts, p_assigned=6, **moving),
        case((7 + 1) / (3 + 2 + 1 + 7 + 10) / 2, **counts, p_assigned=7, **moving),
        case((7 + 1) / (3 + 2 + 1 + 99 + 10) / 2, **counts, p_assigned=99, **moving),
        case(1 / 11 / 2, p_assigned=1, **moving),
        case(1 / 10, q_workers=30, q_ups=True, q_pilots=1),
        case((20 + 1) / 10, q_workers=30, q_ups=True, q_pilots=1, t_current_priority=150),
    ])  # fmt: skip


def test_the_network_weight_of_panda2026_follows_its_formula(rolled_back: Db) -> None:
    active = {"t_nw_active": True}
    steps = [(mbps, 1.6 if throughput == 1.7 else throughput) for mbps, throughput in STEPS]
    check_numbers(rolled_back, "weight_network_panda2026", [
        case(1.0, p_mbps=1000),
        case(1.0, p_mbps=1000, t_nw_active=None),
        *(case(0.5 * (2 + throughput), p_mbps=mbps, **active) for mbps, throughput in steps),
        case(0.5 * 2 + 0.5 * (1 + (11 - 3) / 11), p_closeness=3, **active),
        case(0.5 * 2 + 0.5 * (1 + (11 - 7.7) / 11), p_closeness=None, **active),
        case(0.5 * (2 - 100 / 150 + 1.5), p_mbps=30, p_queued=100, **active),
        case(0.5 * (2 - 300 / 150 + 1.5), p_mbps=30, p_queued=300, **active),
        case(0.5 * (2 - 100 / 200 + 1.5), p_mbps=30, p_queued=100, t_nqueued_sat_cap=200, **active),
        case(0.3 * (2 - 100 / 150) + 0.7 * 1.5, p_mbps=30, p_queued=100, t_nw_queue_importance=0.3, **active),
        case(0.5 * (2 + 1.5), p_mbps=30, p_queued=100, t_current_priority=1001, **active),
        case(2.5, p_is_own=True, p_mbps=0, p_queued=300, **active),
        case(0.5 * (2 + 1.5), p_mbps=30, p_queued=None, t_nqueued_sat_cap=0, **active),
    ])  # fmt: skip


def test_the_architecture_weight_follows_the_platform_level(rolled_back: Db) -> None:
    levels = [case(1.0), case(1.0, p_platform_level_percent=0), case(1.355, p_platform_level_percent=35.5)]
    check_numbers(rolled_back, "weight_architecture", [*levels, case(2.0, p_platform_level_percent=100)])


def test_the_t1_weight_follows_io_intensity_priority_and_scouts(rolled_back: Db) -> None:
    near = {"p_is_near": True}
    check_numbers(rolled_back, "weight_t1", [
        case(1.0, t_t1_weight=7),
        case(7.0, t_t1_weight=7, **near),
        case(0.5, t_t1_weight=0.5, **near),
        case(1.0, **near),
        case(1.0, t_io_intensity=500, **near),
        case(4.0, t_io_intensity=501, **near),
        case(4.0, t_t1_weight=0, t_io_intensity=501, **near),
        case(7.0, t_t1_weight=7, t_io_intensity=501, **near),
        case(1.0, t_t1_weight=-1, t_io_intensity=501, **near),
        case(1.0, t_t1_weight=0, t_io_intensity=501),
        case(1.0, t_current_priority=899, **near),
        case(100.0, t_current_priority=900, **near),
        case(100.0, t_is_scout=True, t_t1_weight=7, **near),
        case(101.0, t_is_scout=True, t_t1_weight=101, **near),
        case(1.0, t_is_scout=True, t_event_service=1, **near),
        case(1.0, t_is_scout=True, t_event_service=2, **near),
        case(100.0, t_is_scout=True, t_event_service=3, **near),
        case(1.0, t_is_scout=True, p_is_preassigned=True, **near),
        case(7.0, t_t1_weight=7, p_is_preassigned=True, **near),
        case(1.0, t_is_scout=True),
    ])  # fmt: skip


def test_the_bootstrap_weight_is_0_only_for_an_empty_queue_and_a_low_priority(rolled_back: Db) -> None:
    low = {"t_current_priority": 150}
    waiting = "p_running p_activated p_assigned p_starting p_defined q_live_jobs"
    check_numbers(
        rolled_back,
        "weight_bootstrap",
        [
            case(0.0, **low), case(1.0, t_current_priority=151),
            *(case(1.0, **low, **{name: 1}) for name in f"{waiting} p_numslots".split()),
            case(1.0, **low, q_workers=1, q_ups=True), case(0.0, **low, q_workers=1), case(0.0, **low, p_numslots=0),
            case(0.0, **low, **dict.fromkeys(waiting.split())), case(1.0, **low, t_is_merging=True),
            case(1.0, **low, t_processing_type="urgent"),
        ],
    )  # fmt: skip


def test_the_running_value_counts_only_for_a_negative_t1_weight(rolled_back: Db) -> None:
    check_numbers(rolled_back, "value_running", [
        case(None, q_running_all=9),
        case(None, q_running_all=9, t_t1_weight=0),
        case(9.0, q_running_all=9, t_t1_weight=-1),
        case(0.0, q_running_all=None, t_t1_weight=-2),
        case(None, q_running_all=9, t_t1_weight=-1, t_is_merging=True),
    ])  # fmt: skip


def test_queued_jobs_of_a_share_are_the_sum_of_known_counts(rolled_back: Db) -> None:
    known = {"p_defined": 1, "p_activated": 2, "p_assigned": 4, "p_starting": 8}
    unknown = [case(15 - jobs, **{**known, name: None}) for name, jobs in known.items()]
    check_numbers(rolled_back, "queued_of_share", [case(15, **known), *unknown])
