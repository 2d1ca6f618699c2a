"""Rules about the state of a queue, its links and its storages: each inequality on both sides and at equality."""

from typing import Any

import psycopg

from tests.core.brokerage.rules.facts import case, check

Db = psycopg.Connection[Any]


def test_a_queue_is_rejected_by_its_status_unless_it_is_preassigned(rolled_back: Db) -> None:
    cases = [
        case(None), case("status is test, not online", q_status="test"), case("status is offline", q_status="offline"),
        case("status is not set", q_status=None), case("status is not set", q_status=None, p_is_preassigned=None),
        case(None, q_status="offline", p_is_preassigned=True), case(None, q_status=None, p_is_preassigned=True),
    ]  # fmt: skip
    check(rolled_back, "rule_queue_status", [*cases, case("standby", q_status="standby")])
    check(rolled_back, "rule_queue_status", [*cases, case(None, q_status="standby")], {"standby": True})


def test_a_queue_on_a_blocked_link_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None, p_closeness=-0.5), case("blocked", p_closeness=-1), case(None, p_closeness=-1.5),
        case(None, p_closeness=0), case(None, p_closeness=None), case(None, p_closeness=-1, p_is_own=True),
        case("blocked", p_closeness=-1, p_is_own=None),
        case("blocked", p_closeness=-1, p_is_preassigned=True, p_is_near=True),
    ]  # fmt: skip
    over = case("blocked", p_closeness=-1, t_nucleus_queued=10001)
    check(rolled_back, "rule_link_blocked", [*cases, over])
    first = {"nucleus_first": True, "inclusive": True, "spares_own": True}
    check(rolled_back, "rule_link_blocked", [*cases, over._replace(expected=None)], first)
    check(rolled_back, "rule_link_blocked", [case(None, p_closeness=-1, t_nucleus_queued=10000)], first)
    check(rolled_back, "rule_link_blocked", [case("blocked", p_closeness=-1, t_nucleus_queued=9999)], first)
    shut = case("blocked", p_closeness=-1, t_nucleus_is_writable=False)
    check(rolled_back, "rule_link_blocked", [shut])
    spared = shut._replace(expected=None)
    at_nucleus = case("blocked", p_closeness=-1, t_nucleus_is_writable=False, p_is_nucleus_queue=True)
    check(rolled_back, "rule_link_blocked", [spared, at_nucleus], first)


def test_a_queue_on_a_link_over_its_cap_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None, p_queued=149), case("151 files are queued on the link to NUC, NQUEUED_SAT_CAP is 150", p_queued=151),
        case(None, p_queued=151, p_is_own=True), case("151", p_queued=151, p_is_near=True), case(None, p_queued=None),
        case(None, p_queued=0, t_nqueued_sat_cap=0.5), case("1 files", p_queued=1, t_nqueued_sat_cap=0),
        case(None, p_queued=151, t_nqueued_sat_cap=None), case(None, p_queued=151, t_processing_type="urgent"),
        case("151", p_queued=0, p_queued_express=151, t_processing_type="urgent"), case(None, p_queued_express=151),
        case("151", p_queued_express=151, t_current_priority=1001),
    ]  # fmt: skip
    check(rolled_back, "rule_link_queue_cap", [*cases, case(None, p_queued=150)])
    check(rolled_back, "rule_link_queue_cap", [*cases, case("150", p_queued=150)], {"inclusive": True})
    unknown = case(None, p_queued=None, p_queued_express=None, t_nqueued_sat_cap=0)
    check(rolled_back, "rule_link_queue_cap", [unknown, case("0", t_nqueued_sat_cap=0)], {"inclusive": True})
    full = case("151", p_queued=151, t_nucleus_queued=10000)
    check(rolled_back, "rule_link_queue_cap", [full])
    not_full = case("151", p_queued=151, t_nucleus_queued=9999)
    first = {"inclusive": True, "nucleus_first": True}
    shut = case(None, p_queued=151, t_nucleus_is_writable=False)
    check(rolled_back, "rule_link_queue_cap", [full._replace(expected=None), not_full, shut], first)


def test_a_task_is_express_if_urgent_or_of_priority_1000(rolled_back: Db) -> None:
    many = {"p_queued": 0, "p_queued_express": 1000}
    check(rolled_back, "rule_link_queue_cap", [
        case("1000", t_processing_type="very-urgent-pile", **many),
        case(None, t_processing_type="URGENT", **many),
        case(None, t_processing_type=None, t_current_priority=None, **many),
        case(None, t_current_priority=999, **many),
        case("1000", t_current_priority=1000, **many),
    ])  # fmt: skip
    check(
        rolled_back,
        "rule_link_queue_cap",
        [case(None, t_processing_type="very-urgent-pile", **many), case("1000", t_processing_type="urgent", **many),
         case(None, t_processing_type=None, t_current_priority=1000, **many),
         case("1000", t_processing_type=None, t_current_priority=1001, **many)],
        {"urgent_alone": True},
    )  # fmt: skip


def test_a_queue_is_rejected_when_links_into_the_nucleus_are_over_their_cap(rolled_back: Db) -> None:
    cases = [
        case(None, t_nucleus_queued=9999),
        case("10001 files are queued on the links into NUC, NQUEUED_NUC_CAP_FOR_JOBS is 10000", t_nucleus_queued=10001),
        case(None, t_nucleus_queued=None),
        case(None, t_nucleus_queued=10001, t_nqueued_nuc_cap_for_jobs=None),
        case(None, t_nucleus_queued=10001, t_processing_type="urgent"),
        case("10001", t_nucleus_queued_express=10001, t_processing_type="urgent"),
        case("10001", t_nucleus_queued=10001, p_is_nucleus_queue=True, p_is_near=True),
    ]
    own = case("10001", t_nucleus_queued=10001, p_is_own=True)
    check(rolled_back, "rule_nucleus_queue_cap", [*cases, own, case(None, t_nucleus_queued=10000)])
    check(
        rolled_back,
        "rule_nucleus_queue_cap",
        [*cases, own._replace(expected=None), case("10000", t_nucleus_queued=10000)],
        {"inclusive": True, "spares_own": True},
    )


def test_tasks_of_high_priority_go_only_to_queues_of_the_nucleus(rolled_back: Db) -> None:
    check(rolled_back, "rule_high_prio_opportunistic", [
        case(None, t_current_priority=799),
        case("priority 800: only queues of NUC", t_current_priority=800),
        case("priority 800: only queues of the nucleus", t_current_priority=800, t_nucleus=None),
        case("801", t_current_priority=801),
        case("500, scouts", t_is_scout=True),
        case(None, t_current_priority=None, t_is_scout=None),
        case(None, t_current_priority=800, p_is_near=True),
        case(None, t_is_scout=True, p_is_near=True),
        case("800", t_current_priority=800, p_is_near=None),
        case("800", t_current_priority=800, p_is_preassigned=True),
        case(None, t_current_priority=500, q_pledgedcpu=-1),
    ])  # fmt: skip


def test_a_queue_that_starts_no_jobs_is_rejected_for_urgent_tasks(rolled_back: Db) -> None:
    old, edge, new = "2026-03-01T09:59:59Z", "2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z"
    idle = {"q_laststart": old, "q_activated_all": 3}
    cases = [
        case(None, **idle), case("no job has started for 2 h though 3 are activated", t_current_priority=800, **idle),
        case(None, t_current_priority=799, **idle), case("no job", t_is_scout=True, **idle),
        case("no job", t_is_merging=True, **idle), case("no job", t_merge_output=True, **idle),
        case(None, t_is_scout=True, q_laststart=edge, q_activated_all=3),
        case(None, t_is_scout=True, q_laststart=new, q_activated_all=3),
        case(None, t_is_scout=True, q_laststart=None, q_activated_all=3),
        case(None, t_is_scout=True, q_laststart=old, q_activated_all=0),
        case(None, t_is_scout=True, q_laststart=old, q_activated_all=None),
        case("no job", t_is_scout=True, q_laststart=old, q_activated_all=1),
    ]  # fmt: skip
    starting = case(None, t_is_scout=True, q_laststart=old, q_starting_all=1)
    unknown = case(None, t_is_scout=True, q_laststart=old, q_activated_all=None, q_starting_all=None)
    chosen = case("no job", t_is_scout=True, p_is_preassigned=True, **idle)
    check(rolled_back, "rule_inactive_queue", [*cases, starting, unknown, chosen])
    check(
        rolled_back,
        "rule_inactive_queue",
        [*cases, starting._replace(expected="though 1 are"), unknown, chosen._replace(expected=None)],
        {"starting": True, "spares_preassigned": True},
    )


def test_a_queue_with_zero_share_for_the_task_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_zero_share", [case(None), case("type=any:0%", p_zero_share="type=any:0%")])


def test_a_queue_with_too_little_free_storage_space_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_storage_space", [
        case(None, q_space_free=200.5),
        case("200 GB are free in its output storage, not over 200", q_space_free=200),
        case("199.9", q_space_free=199.9),
        case("0 GB", q_space_free=None),
        case(None, q_space_free=None, q_has_output_storage=False),
        case(None, q_space_free=0, q_has_output_storage=None),
        case(None, q_space_free=201, q_space_usable=0),
    ])  # fmt: skip


def test_a_queue_without_usable_storages_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_storage_blacklist", [
        case(None),
        case("-read_lan_blacklist: none of its 2", q_input_storages=2, q_inputs_readable=0),
        case(None, q_input_storages=2, q_inputs_readable=1),
        case(None, q_input_storages=0, q_inputs_readable=0),
        case(None, q_input_storages=None, q_inputs_readable=None),
        case("-write_lan_blacklist: none of its 3", q_output_storages=3, q_outputs_writable=0),
        case(None, q_output_storages=3, q_outputs_writable=1),
        case(None, q_output_storages=0, q_outputs_writable=0),
        case("-read_lan", q_inputs_readable=0, q_outputs_writable=0),
        case(None, q_datadisk_read_lan=False, q_datadisk_write_wan=False),
    ])  # fmt: skip


def test_a_queue_over_its_transferring_limit_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_transferring_limit", [
        case(None, q_transferring_all=2000),
        case("2001 jobs are transferring, the limit is 2000", q_transferring_all=2001),
        case("2001", q_transferring_all=2001, q_transferringlimit=None),
        case("2001", q_transferring_all=2001, q_transferringlimit=0),
        case("the limit is 2000", q_transferring_all=2001, q_transferringlimit=0, q_running_all=None),
        case(None, q_transferring_all=2000, q_transferringlimit=0),
        case(None, q_transferring_all=0, q_transferringlimit=-1, q_running_all=None),
        case("the limit is 0", q_transferring_all=1, q_transferringlimit=-1, q_running_all=None),
        case(None, q_transferring_all=10, q_transferringlimit=10),
        case("11", q_transferring_all=11, q_transferringlimit=10),
        case(None, q_transferring_all=12, q_transferringlimit=10, q_running_all=6),
        case("13 jobs are transferring, the limit is 12", q_transferring_all=13, q_transferringlimit=10,
            q_running_all=6),
        case("11", q_transferring_all=11, q_transferringlimit=10, q_running_all=None),
        case(None, q_transferring_all=None),
        case("2001", q_transferring_all=2001, p_is_own=True, p_is_near=True, q_transferring_to_unwritable=2000),
    ])  # fmt: skip


def test_a_queue_without_pilots_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_no_pilot", [
        case(None, q_pilots=1),
        case("no pilot in the last 3 h", q_pilots=0),
        case("no pilot", q_pilots=None),
        case("no pilot", q_pilots=0, p_is_preassigned=True, q_has_slots=True, t_label="test"),
    ])  # fmt: skip


def test_a_queue_with_over_twice_its_running_jobs_waiting_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_cap", [
        case(None),
        case(None, p_running=3, p_activated=4, p_starting=2),
        case("activated + starting = 7, more than twice the running 3", p_running=3, p_activated=4, p_starting=3),
        case(None, p_running=3, p_defined=1, p_activated=2, p_starting=1, p_assigned=2, p_input_is_local=False),
        case("defined + activated + assigned + starting = 7", p_running=3, p_defined=2, p_activated=2, p_starting=1,
            p_assigned=2, p_input_is_local=False),
        case(None, p_running=3, p_defined=2, p_activated=2, p_starting=1, p_assigned=2, p_input_is_local=True),
        case("= 1,", p_activated=1),
        case("= 1,", p_defined=1),
        case("= 1,", p_assigned=1, p_input_is_local=False),
        case(None, p_assigned=1),
        case(None, p_running=None, p_activated=None, p_starting=None, p_assigned=None, p_defined=None),
        case("activated + starting = 1,", p_activated=1, p_starting=None),
        case("activated + starting = 1,", p_activated=None, p_starting=1),
        case("defined + activated + assigned + starting = 1,", p_defined=None, p_activated=None, p_starting=None,
            p_assigned=1, p_input_is_local=False),
        case("= 1,", p_activated=1, t_processing_type="urgent", q_child_type="SCORE"),
    ])  # fmt: skip


def test_the_running_figure_counts_workers_and_slots(rolled_back: Db) -> None:
    """R, seen through the cap: 2 R waiting jobs pass, one more does not."""
    facts: list[tuple[int, dict[str, Any]]] = [
        (5, {"p_running": 5}), (20, {"p_running": 5, "q_workers": 30}), (20, {"p_running": 5, "q_workers": 20}),
        (19, {"p_running": 5, "q_workers": 19}), (5, {"p_running": 5, "q_workers": 4}),
        (5, {"p_running": 5, "q_workers": None}), (20, {"p_running": 19, "q_workers": 50}),
        (20, {"p_running": 20, "q_workers": 50}), (21, {"p_running": 21, "q_workers": 50}),
        (7, {"p_running": 5, "p_numslots": 7}), (5, {"p_running": 5, "p_numslots": 4}),
        (6, {"p_running": 5, "p_numslots": 55, "q_corecount": 8}),
        (7, {"p_running": 5, "p_numslots": 56, "q_corecount": 8}),
        (9, {"p_running": 5, "p_numslots": 9, "q_corecount": 0}),
        (9, {"p_running": 5, "p_numslots": 9, "q_corecount": None}),
        (5, {"p_running": 5, "p_numslots": -1, "p_starting": 8}),
        (30, {"p_running": 5, "p_numslots": 30, "q_workers": 40}),
    ]  # fmt: skip
    cases = []
    for running, known in facts:
        waiting = 2 * running - known.get("p_starting", 0)
        cases += [case(None, p_activated=waiting, **known), case("than twice", p_activated=waiting + 1, **known)]
    check(rolled_back, "rule_cap", cases)
    slots = {"p_running": 5, "p_numslots": 0, "p_starting": 8}
    check(rolled_back, "rule_cap", [case(None, p_activated=8, **slots), case("running 8", p_activated=9, **slots)])


def test_an_express_task_needs_a_network_weight_over_the_threshold(rolled_back: Db) -> None:
    express = {"t_processing_type": "urgent"}
    check(rolled_back, "rule_express_network_threshold", [
        case(None, p_mbps=0),
        case(None, p_mbps=21, p_queued_express=30, **express),  # 0.5 * (1.9 + 1.5)
        case("network weight is 1.69", p_mbps=21, p_queued_express=31, **express),
        case(None, p_mbps=21, p_queued_express=29, **express),
        case(None, p_mbps=21, p_queued=300, **express),
        case("network weight", p_mbps=20, **express),  # 0.5 * (2 + 1.3)
        case("network weight", p_mbps=20, t_current_priority=1000),
        case(None, p_mbps=20, t_current_priority=999),
        case(None, p_mbps=20, t_nw_threshold=1.65, **express),
        case(None, p_mbps=20, t_nw_threshold=3.3, t_nw_weight_multiplier=0.5, **express),
        case("needs 1.700", p_mbps=20, t_nw_threshold=0.85, t_nw_weight_multiplier=2.0000001, **express),
        case(None, p_mbps=0, p_is_own=True, **express),
        case(None, p_mbps=0, t_nw_threshold=None, **express),
    ])  # fmt: skip
