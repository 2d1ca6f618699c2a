"""Rules of analysis job brokerage, of doc and of both profiles: each inequality on both sides and at equality."""

from typing import Any

import psycopg

from tests.core.brokerage.rules.facts import case, check, check_numbers

Db = psycopg.Connection[Any]


def test_a_user_over_the_cap_on_jobs_or_cores_is_throttled(rolled_back: Db) -> None:
    jobs = {"t_cap_jobs": 10, "t_user_name": "alice"}
    cores = {"t_cap_cores": 10, "t_account_running_jobs": 10**6, "t_account_queued_jobs": 10**6}
    cases = [
        case(None, **jobs, t_account_running_jobs=10),
        case("user alice has 11 running jobs, the cap is 10", **jobs, t_account_running_jobs=11),
        case(None, **jobs, t_account_queued_jobs=20),
        case("user alice has 21 queued jobs, twice the cap is 20", **jobs, t_account_queued_jobs=21),
        case("running jobs", **jobs, t_account_running_jobs=11, t_account_queued_jobs=21),
        case(None, **cores, t_account_running_cores=10, t_account_queued_cores=20),
        case("has 11 running cores, the cap is 10", **cores, t_account_running_cores=11),
        case("has 21 queued cores, twice the cap is 20", **cores, t_account_queued_cores=21),
        case("group phys has 11", **jobs, t_account_running_jobs=11, t_working_group="phys"),
        case(None, t_cap_jobs=0, t_account_running_jobs=11),
        case(None, t_cap_jobs=None, t_account_running_jobs=11),
        case(None, **jobs),
    ]
    merging = case("11 running", **jobs, t_account_running_jobs=11, t_is_merging=True)
    check(rolled_back, "rule_user_cap", [*cases, merging])
    check(rolled_back, "rule_user_cap", [*cases, merging._replace(expected=None)], {"spares_merging": True})


def test_a_user_over_quota_is_throttled(rolled_back: Db) -> None:
    cases = [
        case(None),
        case(None, t_quota_is_kept=True, t_quota_used=11, t_quota_limit=10),
        case("11 bytes of disk are used, the quota is 10", t_quota_is_kept=False, t_quota_used=11, t_quota_limit=10),
        case("exceeded or cannot be read", t_quota_is_kept=False),
        case("exceeded or cannot be read", t_quota_is_kept=False, t_quota_used=9, t_quota_limit=10),
    ]
    near = case(None, t_quota_is_kept=True, t_quota_is_near=True)
    check(rolled_back, "rule_quota", [*cases, near])
    only = {"near_limit": True}
    check(rolled_back, "rule_quota", [*cases, near._replace(expected="only merge jobs")], only)
    check(rolled_back, "rule_quota", [case(None, t_quota_is_near=True, t_is_merging=True)], only)


def test_a_task_of_an_overused_share_is_throttled_by_class(rolled_back: Db) -> None:
    share = {"t_gshare": "User Analysis", "t_user_usage_threshold_a": 1000}
    check(rolled_back, "rule_share_throttle", [
        case(None, **share, t_task_class=-1, t_share_usage=0.9),
        case("class C, the share uses 0.91 of its target, over 0.9", **share, t_task_class=-1, t_share_usage=0.91),
        case(None, **share, t_task_class=0, t_share_usage=0.95),
        case("class B", **share, t_task_class=0, t_share_usage=0.96),
        case(None, **share, t_task_class=2, t_share_usage=100),
        case(None, **share, t_task_class=None, t_share_usage=100),
        case(None, **share, t_task_class=-1, t_share_usage=None),
        case(None, t_gshare="Express Analysis", t_task_class=-1, t_share_usage=100),
        case(None, t_gshare=None, t_task_class=-1, t_share_usage=100),
        case(None, **share, t_task_class=1, t_rem_slots_a=200, t_share_usage=1.25),
        case("800 slots in hi-sites", **share, t_task_class=1, t_rem_slots_a=200, t_share_usage=1.26),
        case(None, **share, t_task_class=1, t_rem_slots_a=-1000, t_share_usage=1),
        case("over 1", **share, t_task_class=1, t_rem_slots_a=-1000, t_share_usage=1.01),
        case(None, **share, t_task_class=1, t_rem_slots_a=1000, t_share_usage=100),
        case(None, **share, t_task_class=1, t_rem_slots_a=1001, t_share_usage=100),
        case(None, **share, t_task_class=1, t_share_usage=2),
        case("was not evaluated", **share, t_task_class=1, t_share_usage=2.01),
    ])  # fmt: skip


def test_only_analysis_and_unified_queues_are_candidates(rolled_back: Db) -> None:
    cases = [
        case(None), case(None, q_type="analysis"),
        case("type is production, not analysis or unified", q_type="production"), case("type is not set", q_type=None),
    ]  # fmt: skip
    marked = case("type is special", q_type="special", q_attributes={"grandly_unified": True})
    named = case("type is special", q_type="special", p_is_preassigned=True)
    check(rolled_back, "candidate_analysis", [*cases, marked, named])
    code = [each._replace(expected=None) for each in (marked, named)]
    check(rolled_back, "candidate_analysis", [*cases, *code], {"code": True})


def test_excluded_and_not_included_queues_are_rejected(rolled_back: Db) -> None:
    pseudo = {"q_queue": "SATA_PQ/SCORE"}
    named = [
        case(None, t_included_sites=["SATA\\_PQ"], **pseudo),
        case(None, t_included_sites=["SAT%"]),
        case("-excluded", t_excluded_sites=["SATA\\_PQ"], t_included_sites=["SATA\\_PQ"], t_limited_sites=True),
        case("-notincluded", t_included_sites=["SATA"], t_limited_sites=True),
        case(None, t_excluded_sites=["SATA"], t_limited_sites=True),
        case("-excluded", t_excluded_sites=["%PQ"], **pseudo, t_limited_sites=True),
    ]
    unlimited = case("-excluded: it is among excludedSite", t_excluded_sites=["SATA\\_PQ"])
    site = case("-nonpreassigned: the task's site is B, C", t_sites=["B", "C"], t_preassigned=["B", "C"])
    check(rolled_back, "rule_include_exclude", [*named, unlimited, site, case(None), case(None, t_sites=["SATA%"])])
    spared = [each._replace(expected=None) for each in (unlimited, site)]
    check(rolled_back, "rule_include_exclude", [*named, *spared], {"limited_alone": True})
    others = [
        case("!-notincluded", t_included_sites=["SATA"], t_limited_sites=True),
        case("-notincluded", t_included_sites=["SATA", "AUTO"], t_limited_sites=True),
        case("!-excluded", t_excluded_sites=["SATA%"], t_included_sites=["AUTO"], t_limited_sites=True),
    ]
    check(rolled_back, "rule_include_exclude", others, {"limited_alone": True})


def test_a_queue_without_the_input_is_rejected_unless_locality_is_suppressed(rolled_back: Db) -> None:
    missing = {"p_input_problem": "dataset d is not there", "t_io_intensity_cutoff_user": 10}
    always = [
        case(None), case("dataset d is not there", **missing), case(None, **missing, t_second_pass=True),
        case("d", **missing, t_task_priority=1999), case("d", **missing, t_io_intensity=11),
        case("d", **missing, t_io_intensity=None), case("d", p_input_problem="d", t_io_intensity=10),
    ]  # fmt: skip
    high = case(None, **missing, t_task_priority=2000)
    low = case(None, **missing, t_io_intensity=10)
    check(rolled_back, "rule_anal_locality", [*always, high, low], {"may_be_suppressed": True})
    check(rolled_back, "rule_anal_locality", [*always, *(each._replace(expected="d") for each in (high, low))])


def test_an_overloaded_queue_with_virtually_placed_input_is_rejected(rolled_back: Db) -> None:
    vp = {"q_has_vp_input": True, "t_overload_min_queue": 20, "t_overload_ratio_offset": 1.2}
    share = {"t_share_queued": 100, "t_share_running": 100}
    check(rolled_back, "rule_avoid_vp", [
        case(None, t_avoid_vp=True),
        case("the task avoids", **vp, t_avoid_vp=True),
        case(None, **vp, **share, p_defined=20),
        case("overloaded: 21 queued and 0 running", **vp, **share, p_defined=20, p_starting=1),
        case(None, **vp, **share, p_activated=60, p_running=50),
        case("61 queued and 50 running", **vp, **share, p_activated=60, p_assigned=1, p_running=50),
        case(None, **share, p_defined=2000),
        case("1000 queued and 1 running", **vp, p_defined=1000, p_running=1, t_share_queued=0, t_share_running=1),
        case(None, **vp),
    ])  # fmt: skip


def test_a_queue_with_too_little_scratch_disk_is_rejected(rolled_back: Db) -> None:
    need = {
        "t_job_input_bytes": 100 * 2**20, "t_job_input_mb": 100, "t_out_disk_bytes": 2**20, "t_work_disk_bytes": 2**20,
    }  # fmt: skip
    check(rolled_back, "rule_scratch_disk_analysis", [
        case(None, **need),
        case(None, **need, q_maxwdir=202),
        case("needs 201 MiB of scratch a core, maxwdir is 201 for 1 cores", **need, q_maxwdir=201),
        case(None, **need, q_maxwdir=1609, q_unified_corecount=8),
        case("for 8 cores", **need, q_maxwdir=1608, q_unified_corecount=8),
        case(None, **need, q_maxwdir=102, q_reads_always_directly=True),
        case("needs 101 MiB", **need, q_maxwdir=101, q_reads_always_directly=True),
        case("needs 201 MiB", **need, q_maxwdir=102, q_reads_always_directly=True, t_is_merging=True),
        case("needs 201 MiB", **need, q_maxwdir=201, t_out_disk_per_event=True, t_job_events=1),
        case(None, q_maxwdir=1),
        case(None, **need, q_maxwdir=0),
        *(one for fact, left in (("job_input_bytes", 101), ("job_input_mb", 101), ("out_disk_bytes", 101),
                                 ("work_disk_bytes", 200))
          for one in (case(None, **{**need, f"t_{fact}": None}, q_maxwdir=left + 1),
                      case(f"needs {left} MiB", **{**need, f"t_{fact}": None}, q_maxwdir=left))),
        case(None, t_work_disk_bytes=200_000 * 2**20 - 1, q_maxwdir=200_000),
        case("maxwdir is 200000", t_work_disk_bytes=200_000 * 2**20, q_maxwdir=200_000),
        case(None, **{**need, "t_out_disk_bytes": 2**21, "t_job_input_mb": None}, q_maxwdir=102),
    ])  # fmt: skip


def test_a_queue_without_usable_storages_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None),
        case("none of its 2 input storages can be read", q_input_storages=2, q_inputs_readable=0),
        case("none of its 1 output storages can be written", q_outputs_writable=0),
        case(None, q_input_storages=0, q_inputs_readable=0, q_output_storages=0, q_outputs_writable=0),
    ]
    check(rolled_back, "rule_storage_blacklist_analysis", cases)


def test_a_queue_where_most_jobs_of_the_task_failed_is_rejected(rolled_back: Db) -> None:
    least = {"t_min_bad_jobs_to_skip_pq": 5}
    cases = [
        case(None, **least, p_failed=2, p_closed=2, p_finished=0),
        case("4 jobs of the task failed and 2 were closed, 0 finished", **least, p_failed=4, p_closed=2, p_finished=0),
        case(None, **least, p_failed=19, p_closed=0, p_finished=10),
        case("21 jobs", **least, p_failed=21, p_closed=0, p_finished=10),
        case(None),
    ]
    equal = [
        case("3 jobs of the task failed and 2 were closed, 2 finished: less than 5 may", **least, p_failed=3,
            p_closed=2, p_finished=2),
        case("20 jobs", **least, p_failed=20, p_closed=0, p_finished=10),
        case("0 jobs", t_min_bad_jobs_to_skip_pq=0, p_failed=0, p_closed=0, p_finished=0),
    ]  # fmt: skip
    check(rolled_back, "rule_failed_jobs", [*cases, *equal])
    spared = [each._replace(expected=None) for each in equal]
    check(rolled_back, "rule_failed_jobs", [*cases, *spared], {"inclusive": True})
    bad = {**least, "p_failed": 6, "p_closed": 0, "p_finished": 0}
    where = [
        case(None, **bad), case("6 jobs", **bad, **LONG, p_user_queued=0), case(None, **bad, **LONG),
        case(None, **bad, **LONG, p_user_queued=0, t_is_merging=True),
        case(None, **bad, **LONG, p_user_queued=0, p_is_preassigned=True),
    ]  # fmt: skip
    check(rolled_back, "rule_failed_jobs", where, {"stabilized_alone": True, **SPARES})


def test_a_queue_with_over_twice_its_running_jobs_queued_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_cap_rt_analysis", [
        case(None, p_defined=10, p_activated=10, p_assigned=10, p_starting=10),
        case("41 jobs of the share are queued, twice the running 0 (20 at least) is 40", p_activated=41),
        case(None, p_activated=42, p_running=21),
        case("43", p_activated=43, p_running=21),
        case(None, p_activated=60, p_running=1, p_numslots=30),
        case("61", p_activated=61, p_running=1, p_numslots=30),
        case(None),
    ])  # fmt: skip


SPARES = {"spares_merging": True, "spares_absent": True, "spares_preassigned": True}
LIMITS: dict[str, Any] = {
    "t_base_queue_length_per_pq": 100, "t_base_expected_wait_hour_on_pq": 8,
    "t_base_default_queue_length_per_pq_user": 5, "t_base_queue_ratio_on_pq": 0.05,
    "t_static_max_queue_running_ratio": 2, "t_max_expected_wait_hour": 12,
}  # fmt: skip
LONG: dict[str, Any] = {**LIMITS, "p_activated": 100, "p_to_running_rate": 0, "p_users": 20, "p_users_running": 0}


def test_a_queue_where_the_user_has_too_many_queued_jobs_is_rejected(rolled_back: Db) -> None:
    busy = LONG | {"p_users_running": 140, "p_activated": 500}
    cases = [
        case(None, **LONG, p_user_queued=5),
        case("the user has 6 jobs queued, the limit is 5 of 100 for 20 users", **LONG, p_user_queued=6),
        case(None, **LONG | {"p_activated": 99}, p_user_queued=99),
        case(None, **LONG | {"p_to_running_rate": 12.6}, p_user_queued=50),
        case(None, **LONG | {"p_to_running_rate": 12.5}, p_user_queued=7),  # 12 h * 12.5 / 20 users = 7.5
        case("8 jobs", **LONG | {"p_to_running_rate": 12.5}, p_user_queued=8),
        case("the limit is 7.407 of 148.147 for", **LONG | {"p_to_running_rate": 12.3456}, p_user_queued=8),
        case(None, **busy, p_user_queued=14),  # 2 * 140 / 20
        case("15 jobs", **busy, p_user_queued=15),
        case(None, **busy, p_user_queued=60, p_user_running=30),  # 280 * 30 / 140
        case("61 jobs", **busy, p_user_queued=61, p_user_running=30),
        case(None, **busy | {"p_users": 1000, "p_users_running": 300}, p_user_queued=15),  # 0.05 * 300
        case("16 jobs", **busy | {"p_users": 1000, "p_users_running": 300}, p_user_queued=16),
        case(None, **LONG | {"p_users": 3}, p_user_queued=33),
        case("34 jobs", **LONG | {"p_users": 3}, p_user_queued=34),
        case("101 jobs", **LONG | {"p_users": 0}, p_user_queued=101),
        case(None, **LONG),
        case(None),
    ]
    merging = case("6 jobs", **LONG, p_user_queued=6, t_is_merging=True)
    absent = case(None, **LONG | {"t_base_default_queue_length_per_pq_user": -1, "p_users": 10**6}, p_user_queued=None)
    own = case("6 jobs", **LONG, p_user_queued=6, p_is_preassigned=True)
    check(rolled_back, "rule_stabilizer", [*cases, merging, own])
    spared = [each._replace(expected=None) for each in (merging, own)]
    check(rolled_back, "rule_stabilizer", [*cases, *spared, absent], SPARES)


def test_a_second_pass_starts_for_tasks_that_need_their_input(rolled_back: Db) -> None:
    cutoff = {"t_io_intensity_cutoff_user": 10}
    cases = [
        case("persistent"), case(None, t_task_priority=2000), case("persistent", t_task_priority=1999, **cutoff),
        case(None, t_io_intensity=10, **cutoff), case("persistent", t_io_intensity=11, **cutoff),
    ]  # fmt: skip
    check(rolled_back, "rule_anal_loops", cases)


def test_the_analysis_weight_is_the_ratio_of_running_to_queued_jobs(rolled_back: Db) -> None:
    check_numbers(rolled_back, "weight_analysis", [
        case(1.0),
        case(11 / 11, p_running=10, p_defined=1, p_assigned=2, p_activated=3, p_starting=4),
        case(6.0, p_numslots=5),
        case(21 / 2, p_running=19, q_workers=30, p_defined=1),
        case(1.0, p_running=None, p_defined=None, p_starting=None),
    ])  # fmt: skip
