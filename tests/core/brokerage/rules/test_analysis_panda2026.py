"""Rules of analysis job brokerage as PanDA's code has them: each inequality on both sides and at equality."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.core.brokerage.rules.facts import Case, call, case, check, check_numbers

Db = psycopg.Connection[Any]
GIB = 2**30


def test_a_task_of_an_overused_share_is_throttled_by_class(rolled_back: Db) -> None:
    share = {"t_gshare": "User Analysis", "t_user_usage_threshold_a": 1000}
    check(rolled_back, "rule_share_throttle_panda2026", [
        case(None, **share, t_task_class=-1, t_share_usage=0.9),
        case("class C", **share, t_task_class=-1, t_share_usage=0.9001),
        case(None, **share, t_task_class=-1, t_share_usage=0.91, t_share_usage_above=0.9),
        case("class B", **share, t_task_class=0, t_share_usage=0.9501, t_share_usage_above=2),
        case(None, **share, t_task_class=0, t_share_usage=0.95),
        case(None, **share, t_task_class=1, t_rem_slots_a=500, t_share_usage=2),
        case("times 0.5 over 100", **share, t_task_class=1, t_rem_slots_a=500, t_share_usage=2.001),
        case(None, **share, t_task_class=1, t_share_usage=2),
        case("times 0.5", **share, t_task_class=1, t_share_usage=2.01),
        case(None, **share, t_task_class=1, t_rem_slots_a=1000, t_share_usage=100),
        case("times 1 over", **share, t_task_class=1, t_rem_slots_a=0, t_share_usage=1.01),
        case(None, **share, t_task_class=2, t_share_usage=100),
        case(None, **share, t_task_class=-1),
        case(None, **share, t_task_class=-1, t_share_usage_above=2),
        case(None, t_gshare="Express Analysis", t_task_class=-1, t_share_usage=100),
        case("times 0.5", t_gshare="User Analysis", t_user_usage_threshold_a=0, t_rem_slots_a=0, t_task_class=1,
            t_share_usage=3),
    ])  # fmt: skip


FIGURES = {f"{state}_{what}": (what, times) for state, times in (("running", 1), ("queued", 2))
           for what in ("jobs", "cores")}  # fmt: skip


@pytest.mark.parametrize("figure", FIGURES)
def test_a_user_near_the_cap_is_throttled_and_released_at_a_lower_bound(rolled_back: Db, figure: str) -> None:
    """A cap of 20 throttles over 19 and releases at 17; the bounds of queued jobs and cores are twice as high."""
    what, times = FIGURES[figure]
    cap = {f"t_cap_{what}": 20, "t_user_name": "alice"}
    waits = cap | {"t_throttled_at": "2026-03-01T10:00:00Z"}  # two hours ago
    kinds = ({"t_is_merging": True}, {"t_is_scout": True})

    def of(expected: str | None, number: int, **facts: Any) -> Case:
        return case(expected, **facts, **{f"t_account_{figure}": times * number})

    said = (
        f"alice has {{}} {figure.replace('_', ' ')}, tasks are throttled over {19 * times} and released at {17 * times}"
    )
    bounds = {"throttle": 0.95, "release": 0.85}
    check(rolled_back, "rule_user_throttle", [
        of(None, 19, **cap),
        of("user " + said.format(20 * times), 20, **cap),
        of("group phys has", 20, **cap, t_working_group="phys"),
        of(None, 19, **waits),
        of(None, 20, **cap | {f"t_cap_{what}": 0}),
        of(None, 20, **cap | {f"t_cap_{what}": None}),
        *(of(None, 20, **cap, **kind) for kind in kinds),
        case(None, **cap),
    ], bounds)  # fmt: skip
    check(rolled_back, "rule_user_throttle", [
        of("throttled at 2026-03-01 10:00:00 UTC, for 2 h at most: user " + said.format(18 * times), 18, **waits),
        of(None, 17, **waits),
        of(None, 18, **cap),
        of("for 2 h at most", 18, **waits | {"t_throttled_at": "2026-03-01T12:00:00Z"}),
        of(None, 18, **waits | {"t_throttled_at": "2026-03-01T09:59:59.999Z"}),
        *(of(None, 18, **waits, **kind) for kind in kinds),
        case(None, **waits),
    ], {**bounds, "hours": 2})  # fmt: skip


def test_a_queue_is_rejected_by_its_status_unless_it_is_named(rolled_back: Db) -> None:
    check(rolled_back, "rule_queue_status_analysis_panda2026", [
        case(None),
        case(None, q_status="standby"),
        case(None, q_status=None),
        case("offline", q_status="offline", t_included_sites=["SATA"], p_is_preassigned=True),
        case("status is test", q_status="test"),
        case("status is brokeroff", q_status="brokeroff"),
        case(None, q_status="test", t_included_sites=["OTHER"], t_limited_sites=True),
        case("status is test", q_status="test", t_included_sites=["OTHER"]),
        case(None, q_status="brokeroff", p_is_preassigned=True),
    ])  # fmt: skip


def test_a_queue_with_virtually_placed_input_is_rejected_for_tasks_that_avoid_it(rolled_back: Db) -> None:
    vp = {"q_has_vp_input": True, "p_input_copies": 1}
    check(rolled_back, "rule_avoid_vp_panda2026", [
        case(None, **vp),
        case("the task avoids", **vp, t_avoid_vp=True),
        case("merge", **vp, t_is_merging=True),
        case("distributed", **vp, t_is_distributed=True),
        case("no queue has all", **vp, t_second_pass=True),
        case("no queue has all", q_has_vp_input=True, p_input_copies=None),
        case(None, t_avoid_vp=True, t_is_merging=True, t_second_pass=True),
    ])  # fmt: skip


def test_a_gpu_queue_needs_a_task_with_a_suitable_platform(rolled_back: Db) -> None:
    gpu = {"q_attributes": {"gpu": True}, "q_releases_any": False}
    check(rolled_back, "rule_gpu_queue", [
        case(None, q_attributes={}),
        case(None),
        case(None, **gpu, t_has_platform=True),
        case("names no platform", **gpu),
        case("no such GPU", **gpu, t_has_platform=True, p_software="no such GPU", p_is_preassigned=True),
        case(None, **gpu, t_has_platform=True, p_software="-cache: no tag Athena 22.0.1"),
        case(None, **gpu, t_has_platform=True, p_software="-regexpcmtconfig: x matches none of the 0 cmtconfigs"),
        case("releases are ANY", **gpu | {"q_releases_any": True}, t_has_platform=True),
        case(None, **gpu, t_hpo_workflow=True),
    ])  # fmt: skip


def test_a_queue_that_closed_jobs_of_the_task_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None), case(None, p_closed=0), case("1 jobs", p_closed=1), case(None, p_closed=1, p_is_preassigned=True),
        case(None, p_closed=1, t_is_merging=True),
    ]  # fmt: skip
    check(rolled_back, "rule_closed_jobs", cases)


def test_a_queue_with_too_little_scratch_disk_is_rejected(rolled_back: Db) -> None:
    need = {
        "t_job_input_bytes": 100 * 2**20, "t_job_input_mb": 100, "t_out_disk_bytes": 2**20, "t_work_disk_bytes": 2**20,
    }  # fmt: skip
    direct = {"q_reads_always_directly": True}
    check(rolled_back, "rule_scratch_disk_analysis_panda2026", [
        case(None, **need, q_maxwdir=501),
        case("needs 501 MiB of scratch, maxwdir is 500 for 1 jobs", **need, q_maxwdir=500),
        case(None, **need, **direct, q_maxwdir=401),
        case("needs 401", **need, **direct, q_maxwdir=400),
        case(None, **need, q_maxwdir=200, t_is_merging=True),
        case("needs 200", **need, q_maxwdir=199, t_is_merging=True),
        case(None, **need, q_maxwdir=1024, t_n_gb_per_job=1),
        case("needs 1024", **need, q_maxwdir=1023, t_n_gb_per_job=1),
        case(None, **need, **direct, q_maxwdir=1325, t_n_gb_per_job=1),
        case("needs 1325", **need, **direct, q_maxwdir=1324, t_n_gb_per_job=1),
        case(None, **need, **direct, q_maxwdir=401, t_n_gb_per_job=1, t_use_local_io=True),
        case(None, **need, q_maxwdir=501 * 8, q_unified_corecount=8),
        case("for 8 jobs", **need, q_maxwdir=501 * 8 - 1, q_unified_corecount=8),
        case(None, **need),
        case(None, **need, q_maxwdir=501, t_n_gb_per_job=0),
        case(None, **need, q_maxwdir=0),
        case(None, **need, q_maxwdir=None),
    ])  # fmt: skip


def test_a_queue_with_too_little_usable_storage_space_is_rejected(rolled_back: Db) -> None:
    limits = {"t_storage_min_free_size_output": 200, "t_storage_min_free_size": 300}
    check(rolled_back, "rule_storage_space_analysis_panda2026", [
        case(None, **limits, q_space_usable=200, q_input_space_usable=0),
        case("199 GB can be used in its output storage", **limits, q_space_usable=199),
        case(None, **limits, q_space_usable=200, q_input_space_usable=300, t_second_pass=True),
        case("299 GB can be used in its input", **limits, q_input_space_usable=299, t_second_pass=True),
        case(None, **limits, t_second_pass=True),
        case("no output storage", **limits, q_has_output_storage=False),
    ])  # fmt: skip


def test_a_queue_without_usable_storages_is_rejected(rolled_back: Db) -> None:
    wan = {"q_inputs_writable_wan": 1, "q_outputs_readable_wan": 1, "t_second_pass": True}
    check(rolled_back, "rule_storage_blacklist_analysis_panda2026", [
        case(None, q_inputs_writable_wan=0, q_outputs_readable_wan=0),
        case("no input storage can be read", q_inputs_readable=0),
        case("no output storage can be written", q_outputs_writable=None),
        case(None, **wan),
        case("no input storage can be written over WAN", **wan | {"q_inputs_writable_wan": 0}),
        case("no output storage can be read over WAN", **wan | {"q_outputs_readable_wan": None}),
    ])  # fmt: skip


def test_a_queue_at_a_storage_over_the_local_quota_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None), case(None, q_output_storage="A", t_over_local=["B"]),
        case("used up", q_output_storage="A", t_over_local=["B", "A"]), case(None, t_over_local=["A"]),
    ]  # fmt: skip
    check(rolled_back, "rule_local_quota", cases)


def test_a_queue_with_too_short_or_too_long_walltime_is_rejected(rolled_back: Db) -> None:
    work = {"t_job_events": 900, "t_cpu_time": 10}  # 9000 HS06 s: 1000 s at 90 percent of 10 HS06
    check(rolled_back, "rule_walltime_analysis_panda2026", [
        case(None, **work, q_maxtime=1000, q_mintime=1000),
        case("-shortwalltime", **work, q_maxtime=999),
        case("-longwalltime", **work, q_mintime=1001),
        case(None, **work, q_maxtime=999, t_is_merging=True),
        case(None, t_job_events=0, q_mintime=1001),
        case(None, t_job_events=900, t_cpu_time=None, q_mintime=1001),
        case("-shortwalltime", **work, q_maxtime=999, q_mintime=1, t_dynamic_num_events=1),
        case("-shortwalltime", **work, q_maxtime=999, q_mintime=1001, t_is_scout=True),
        case(None, **work, q_maxtime=1000, q_mintime=1001, t_is_scout=True),  # walltime-scout goes first
        case("-longwalltime", **work, q_maxtime=96000, q_mintime=1001, t_is_scout=True),
    ])  # fmt: skip


def test_a_queue_with_too_short_walltime_for_scouts_is_rejected(rolled_back: Db) -> None:
    day = {"q_maxtime": 95999}  # 864000 HS06 s take 96000 s at 90 percent of 10 HS06
    check(rolled_back, "rule_walltime_scout_analysis_panda2026", [
        case(None, **day),
        case(None, **day, t_is_merging=True),
        case("-scout_walltime", **day, t_is_scout=True),
        case("-min_walltime", **day, t_walltime_is_undefined=True),
        case(None, q_maxtime=96000, t_is_scout=True),
        case(None, **day, t_is_scout=True, t_is_merging=True, p_is_preassigned=True),
        case("-scout_walltime", **day, t_is_scout=True, t_is_merging=True),
        case("walltime: maxtime", **day, t_is_scout=True, t_walltime_is_undefined=True, p_is_preassigned=True),
    ])  # fmt: skip


def test_a_queue_without_pilots_is_rejected_except_for_tests(rolled_back: Db) -> None:
    check(rolled_back, "rule_no_pilot", [case("no pilot", q_pilots=0, t_label="test")])
    cases = [
        case(None, q_pilots=0, t_label="test"),
        case("no pilot", q_pilots=0),
        case("no pilot", q_pilots=None, t_label=None),
    ]
    check(rolled_back, "rule_no_pilot", cases, {"spares_test": True})


def test_pre_assigned_tasks_are_spared(rolled_back: Db) -> None:
    spared = {"spares_preassigned": True}
    for rule, fact in (("rule_zero_share", "p_zero_share"), ("rule_software", "p_software")):
        software = {
            "t_has_software": True, "q_releases_any": False, "q_releases_auto": True, "q_publishes_software": True,
        }  # fmt: skip
        cases = [case("refused", **software, **{fact: "refused"}), case(None, **software)]
        there = case(None, **software, **{fact: "refused"}, p_is_preassigned=True)
        check(rolled_back, rule, [*cases, there], spared)
        check(rolled_back, rule, [*cases, there._replace(expected="refused")])


def test_a_queue_of_another_cloud_or_site_is_rejected(rolled_back: Db) -> None:
    clouds = [
        case(None), case(None, t_cloud=""), case(None, t_cloud="any", q_cloud="US"), case(None, t_cloud="WORLD"),
        case("cloud is US, the task's is DE", t_cloud="DE", q_cloud="US"),
        case("cloud is not set", t_cloud="DE", q_cloud=None),
    ]  # fmt: skip
    check(rolled_back, "rule_cloud_mismatch", clouds)
    sites = [
        case(None),
        case("the task's site is A, B", t_preassigned=["A", "B"]),
        case(None, t_preassigned=["A"], p_is_preassigned=True),
    ]
    check(rolled_back, "rule_preassigned", sites)


def test_hospital_and_overloaded_queues_are_rejected(rolled_back: Db) -> None:
    hospitals = [
        case(None), case("hospital", q_unified_name="A_HOSPITAL"), case(None, q_unified_name="AXHOSPITAL"),
        case(None, q_unified_name="A_HOSPITAL_B"),
    ]  # fmt: skip
    check(rolled_back, "rule_hospital", hospitals)
    over = {"t_overload_min_queue": 20, "t_overload_ratio_offset": 1.2, "t_share_queued": 100, "t_share_running": 100}
    many = {**over, "p_activated": 61, "p_running": 50}
    cases = [
        case("-overloaded: 61 queued and 50 running jobs", **many),
        case("!-overloaded_vp: 61", **many, q_has_vp_input=True), case(None, **many | {"p_activated": 60}),
        case(None, **many, t_is_merging=True), case(None, **over, p_activated=20),
        case("-overloaded", **over, p_activated=21),
    ]  # fmt: skip
    check(rolled_back, "rule_overloaded", cases)
    idle = [
        case(None, **many),
        case("21 jobs", **over, p_activated=21),
        case(None, **over, p_activated=21, t_is_merging=True),
        case(None, **over, p_activated=21, p_is_preassigned=True),
    ]
    check(rolled_back, "rule_overloaded_idle", idle)


def test_a_second_pass_starts_for_persistent_or_any_rejections(rolled_back: Db) -> None:
    cutoff = {"t_io_intensity_cutoff_user": 10}
    frozen = {"t_frozen": "2026-03-01T10:00:00Z"}
    check(rolled_back, "rule_anal_loops_panda2026", [
        case("persistent", t_task_priority=1999),
        case(None, t_wan_problem="dataset d can be read over WAN nowhere", t_task_priority=2000),
        case("any", t_task_priority=2000),
        case("any", t_io_intensity=10, **cutoff),
        case("persistent", t_io_intensity=11, **cutoff),
        case("persistent", t_io_intensity=0, **cutoff),
        case("persistent", t_io_intensity=0, t_io_intensity_cutoff_user=0),
        case("persistent", **frozen, t_data_check_timeout_user=2),
        case("any", **frozen, t_data_check_timeout_user=1.9),
        case("persistent", **frozen),
        case("persistent", t_data_check_timeout_user=1),
    ])  # fmt: skip


def test_the_data_weight_and_the_used_sites_follow_their_formulas(rolled_back: Db) -> None:
    data = [
        case(2.001, p_input_copies=2.001, p_available_bytes=10 * GIB),
        case(1.5, p_input_copies=2, p_available_bytes=6 * GIB - 1, t_second_pass=True),
        case(1.1, p_input_copies=None, p_available_bytes=GIB),
        case(1.007, p_input_copies=None, p_available_bytes=0, p_reachable_bytes=7 * GIB),
        case(1.0, p_input_copies=None),
        case(1.0, p_input_copies=None, p_available_bytes=5, p_reachable_bytes=None),
        case(1.007, p_input_copies=None, p_available_bytes=None, p_reachable_bytes=7 * GIB),
    ]
    check_numbers(rolled_back, "weight_analysis_data", data)
    used = [case(0.0), case(0.0, t_sites_used=["B"]), case(1.0, t_sites_used=["B", "SATA_PQ"])]
    used.append(case(1.0, t_sites_used=["SATA_PQ"], q_queue="SATA_PQ/SCORE"))
    check_numbers(rolled_back, "value_used", used)


def _factor(db: Db, function: str, terms: list[float | None], sums: list[float], **parameters: float) -> float:
    query = f"select brokerage.{function}(%s::float8[], %s::float8[], %s::jsonb)"
    [(factor,)] = db.execute(query.encode(), (terms, sums, Jsonb(parameters))).fetchall()
    return float(factor)


def _terms(places: float, site: int, jobs: float, task: int | None, merging: int = 0) -> list[float | None]:
    """Terms of a queue: free places of the user there, its class, jobs and class of the task."""
    return [
        *(places if site == c else 0 for c in (1, 0, -1)), *(int(site == c) for c in (1, 0, -1)), places, site, jobs,
        task, merging,
    ]  # fmt: skip


def test_the_new_weight_of_panda2026_follows_its_formula(rolled_back: Db) -> None:
    """Sums: 30 in two hi queues, 20 in one mid, 50 in two lo."""
    sums: list[float] = [30, 20, 50, 2, 1, 2, 100, 0]
    tiny = 2**-20

    def weigh(places: float, site: int, jobs: float, task: int | None, merging: int = 0) -> float:
        return _factor(
            rolled_back, "weight_free_places_panda2026_factor", _terms(places, site, jobs, task, merging), sums
        )

    def near(found: float, wanted: float) -> bool:
        return abs(found - wanted) <= 1e-9 * abs(wanted)

    hi = 10 - 0.052
    assert near(weigh(20, 1, 10, 1), hi * (20 - hi / 2) / (30 - hi) + tiny)
    assert near(weigh(20, 1, 10, 2), weigh(20, 1, 10, 1))
    assert near(weigh(20, 0, 10, 1), 0.05 * (20 - 0.05) / (20 - 0.05) + tiny)
    assert near(weigh(20, -1, 10, 1), 0.002 * (20 - 0.001) / (50 - 0.002) + tiny)
    assert near(weigh(2, 1, 10, 1), hi * 0.001 * hi / (30 - hi) + tiny)  # fewer free places than its part
    assert near(weigh(20, 1, 10, 1, 1), hi * 20 / 30 + tiny)
    assert near(weigh(20, 0, 40, 1), 10.05 * (20 - 10.05) / (20 - 10.05) + tiny)
    assert near(weigh(25, -1, 200, 1), 50.002 * 25 / 50 + tiny)  # no free place is left over
    assert near(weigh(20, 0, 10, 0), 9.9 * (20 - 9.9) / (20 - 9.9) + tiny)
    assert near(weigh(20, 1, 10, 0), 0.001 * (20 - 0.0005) / (30 - 0.001) + tiny)
    assert near(weigh(20, -1, 10, -1), 10 * (20 - 5) / 40 + tiny)
    assert near(weigh(20, 1, 10, None), 10 * (20 - 2) / 90 + tiny)
    assert near(weigh(20, 1, 100, None), 100 * 20 / 100 + tiny)
    none = _factor(rolled_back, "weight_free_places_panda2026_factor", _terms(0, 1, 10, None), [0, 0, 0, 2, 1, 2, 0, 0])
    assert near(none, 10 / 5 + tiny)


def test_the_new_weight_of_the_documentation_follows_its_table(rolled_back: Db) -> None:
    sums: list[float] = [30, 20, 50, 2, 1, 2, 100, 0]
    table = {
        1: (10, 0.001, 0.0001), 2: (10, 0.001, 0.0001), 0: (0.0001, 10, 0.001), -1: (0.0001, 0.001, 10),
        None: (10, 10, 10),
    }  # fmt: skip
    for task, of_sites in table.items():
        for site, wanted in zip((1, 0, -1), of_sites, strict=True):
            found = _factor(rolled_back, "weight_free_places_factor", _terms(20, site, 10, task), sums)
            assert abs(found - wanted * 18 / 90) <= 1e-9 * found, (task, site)
    assert _factor(rolled_back, "weight_free_places_factor", _terms(1, 1, 10, 1), sums) == 0
    assert _factor(rolled_back, "weight_free_places_factor", _terms(20, 1, 100, 1), sums) == 100 / 5
    found = _factor(rolled_back, "weight_free_places_factor", _terms(20, 0, 10, 1), sums, epsilon_1=0.5)
    assert abs(found - 0.5 * 18 / 90) <= 1e-9


def test_the_terms_of_the_new_weight_are_read_from_facts(rolled_back: Db) -> None:
    # 70 jobs of the task's input, of which 7 are left; a merging task has 7 jobs by nFilesPerJob
    limits = {"t_base_default_queue_length_per_pq_user": 5, "p_user_queued": 2, "t_jobs": 70, "t_unassigned_jobs": 7}
    terms = [
        case(_terms(3, 1, 7, 2), **limits, q_site_class=1, t_gshare="User Analysis", t_task_class=2),
        case(_terms(3, 0, 7, 1), **limits, t_gshare="Express Analysis"),
        case(
            _terms(3, -1, 7, None, 1),
            **limits | {"t_jobs": 7, "t_unassigned_jobs": 70},
            q_site_class=-1,
            t_gshare="ART",
            t_task_class=0,
            t_is_merging=True,
        ),
        case(_terms(0, 0, 7, None), **limits | {"p_user_queued": 9}),
    ]
    assert call(rolled_back, "weight_free_places", terms) == [each.expected for each in terms]
    assert call(rolled_back, "weight_free_places_panda2026", terms) == [each.expected for each in terms]
