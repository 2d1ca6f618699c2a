"""Rules about the needs of a job: cores, memory, scratch, walltime, input, software, network."""

from typing import Any

import psycopg
import pytest

from tests.core.brokerage.rules.facts import case, check

Db = psycopg.Connection[Any]
GIB, MIB = 2**30, 2**20


def test_a_queue_that_must_move_too_much_input_is_rejected(rolled_back: Db) -> None:
    busy = {"t_io_intensity": 201, "t_input_files": 1000, "t_input_bytes": 100 * GIB}
    few = {"t_io_intensity": 201, "t_input_files": 99, "t_input_bytes": 10 * GIB - 1}
    check(rolled_back, "rule_io_cutoff", [
        case("ioIntensity is 201", **busy),
        case(None, **{**busy, "t_io_intensity": 200}),
        case(None, **{**busy, "t_io_intensity": None}),
        case(None, **{**busy, "t_input_bytes": 0}),
        case(None, p_available_files=1000, p_available_bytes=100 * GIB, **busy),
        case(None, p_available_files=901, p_available_bytes=90 * GIB + 1, **busy),
        case("100 files are missing", p_available_files=900, p_available_bytes=90 * GIB + 1, **busy),
        case("10.000 GB", p_available_files=901, p_available_bytes=90 * GIB, **busy),
        case("1000 files", p_available_files=None, p_available_bytes=None, **busy),
        case(None, p_available_files=None, p_available_bytes=None, **few),
        case("100 files", p_available_files=None, p_available_bytes=None, **{**few, "t_input_files": 100}),
        case("10.000 GB", p_available_files=None, p_available_bytes=None, **{**few, "t_input_bytes": 10 * GIB}),
        case("files", p_reachable_files=1000, p_reachable_bytes=100 * GIB, **busy),
        case("files", p_is_preassigned=True, t_is_merging=True, t_event_service=1, **busy),
        case(None, t_num_cutoff_to_move_input=1001, t_size_cutoff_to_move_input=100.1, **busy),
    ])  # fmt: skip


def test_a_queue_over_its_disk_io_limit_is_rejected(rolled_back: Db) -> None:
    both = {"t_disk_io": 501, "q_average_diskio": 501, "q_maxdiskio": 500}
    check(rolled_back, "rule_disk_io", [
        case("diskIO of 501 kB/s per core and the queue's average of 501 are over the limit of 500", **both),
        case(None, **{**both, "t_disk_io": 500}),
        case(None, **{**both, "q_average_diskio": 500}),
        case(None, **{**both, "t_disk_io": None}),
        case(None, **{**both, "t_disk_io": 0}),
        case(None, **{**both, "q_average_diskio": None}),
        case(None, **{**both, "q_maxdiskio": None}),
        case(None, **{**both, "q_maxdiskio": 0}),
        case(None, **{**both, "q_maxdiskio": 0, "t_max_diskio_default": 0}),
        case("limit of 500", **{**both, "q_maxdiskio": None, "t_max_diskio_default": 500}),
        case("limit of 500", **{**both, "q_maxdiskio": 0, "t_max_diskio_default": 500}),
        case("limit of 500", **both, t_max_diskio_default=1000),
        case(None, **{**both, "q_maxdiskio": 600}, t_max_diskio_default=500),
        case(None, **both, t_task_core_count=8, q_unified_corecount=8),
        case(None, **{**both, "t_disk_io": 4000}, t_task_core_count=8, q_unified_corecount=8),
        case("diskIO of 500.125", **{**both, "t_disk_io": 4001}, t_task_core_count=8, q_unified_corecount=8),
        case("diskIO of 4000", **{**both, "t_disk_io": 4000}, t_task_core_count=0, q_unified_corecount=8),
        case("diskIO of 4000", **{**both, "t_disk_io": 4000}, t_task_core_count=None, q_unified_corecount=8),
        case("diskIO of 4000", **{**both, "t_disk_io": 4000}, t_task_core_count=8, q_unified_corecount=None),
        case(None, **{**both, "t_disk_io": 4000}, t_task_core_count=8, t_core_count=1, q_unified_corecount=8,
            q_corecount=1),
        # 0.1 * 3 is 0.30000000000000004 in float8, and 1.15 * 100 is 114.99999999999999
        case(None, t_disk_io=0.3, q_average_diskio=1, q_maxdiskio=0.1, t_task_core_count=3, q_unified_corecount=3),
        case(None, t_disk_io=115, q_average_diskio=2, q_maxdiskio=1.15, t_task_core_count=8, q_unified_corecount=100),
        case("limit", t_disk_io=115.000001, q_average_diskio=2, q_maxdiskio=1.15, t_task_core_count=8,
            q_unified_corecount=100),
    ])  # fmt: skip


def test_a_queue_with_unsuitable_core_count_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None), case(None, q_corecount=0), case(None, q_corecount=None),
        case("needs 1 core, a slot of the queue has 2", q_corecount=2),
        case("needs 1 core", t_core_count=None, q_corecount=8), case(None, t_core_count=None, q_corecount=None),
        case(None, t_core_count=0, q_corecount=1), case(None, t_core_count=0, q_corecount=8, t_current_priority=900),
        case("needs 8 cores, the queue has 1", t_core_count=8), case("needs 8 cores", t_core_count=8, q_corecount=None),
        case("needs 2 cores", t_core_count=2, q_corecount=0), case(None, t_core_count=8, q_corecount=2),
        case(None, t_core_count=2, q_corecount=8), case(None, t_core_count=8, t_task_core_count=1, q_corecount=8),
        case("needs 1 core", t_core_count=1, q_corecount=8, p_is_preassigned=True),
    ]  # fmt: skip
    urgent = [
        case("priority 900 wants several", t_core_count=0, t_current_priority=900),
        case("500, scouts", t_core_count=0, t_is_scout=True, q_corecount=0),
    ]
    alone = case("needs 1 core", q_corecount=8, p_is_preassigned=True, p_preassigned_alone=True)
    passing = case(None, t_core_count=0, t_current_priority=899)
    check(rolled_back, "rule_core_count", [*cases, *(each._replace(expected=None) for each in urgent), alone, passing])
    check(
        rolled_back, "rule_core_count", [*cases, *urgent, alone._replace(expected=None), passing],
        {"urgent_wants_several": True, "spares_preassigned_alone": True},
    )  # fmt: skip


def test_a_queue_with_more_cores_than_the_task_allows_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None, q_corecount=8), case(None, q_corecount=8, t_max_core_count=0),
        case(None, q_corecount=8, t_max_core_count=8),
        case("corecount is 9, maxCoreCount of the task is 8", q_corecount=9, t_max_core_count=8),
        case(None, q_corecount=7, t_max_core_count=8), case(None, q_corecount=None, t_max_core_count=8),
        case(None, q_corecount=0, t_max_core_count=8),
    ]  # fmt: skip
    alone = case("9", q_corecount=9, t_max_core_count=8, p_is_preassigned=True, p_preassigned_alone=True)
    check(rolled_back, "rule_max_core_count", [*cases, alone])
    check(
        rolled_back, "rule_max_core_count", [*cases, alone._replace(expected=None)], {"spares_preassigned_alone": True}
    )


def test_a_queue_without_the_software_is_rejected(rolled_back: Db) -> None:
    auto = {"t_has_software": True, "q_releases_any": False, "q_releases_auto": True, "q_publishes_software": True}
    cases = [
        case(None, **auto),
        case("no tag", **auto, p_software="no tag"),
        case("-regexpcmtconfig: nothing", **auto, p_software="-regexpcmtconfig: nothing"),
        case(None, **{**auto, "t_has_software": False}, p_software="no tag"),
        case(None, **{**auto, "t_has_software": None}, p_software="no tag"),
        case("AUTO is among its releases, but it publishes no", **{**auto, "q_publishes_software": False}),
        case("neither ANY nor AUTO", **{**auto, "q_releases_auto": False}),
        case("neither ANY nor AUTO", **{**auto, "q_releases_auto": None, "q_releases_any": None}),
        case("no tag", **auto, p_software="no tag", p_is_preassigned=True),
    ]
    both = {**auto, "q_releases_any": True}
    check(rolled_back, "rule_software", [*cases, case(None, **both), case(None, **both, p_software="no tag")])
    prepared = [
        case(None, t_has_software=True, q_releases_any=False),
        case("no tag", t_has_software=True, q_releases_any=True, p_software="no tag"),
        case(None, p_software="no tag"),
    ]
    check(rolled_back, "rule_software", prepared, {"as_prepared": True})


def test_a_queue_with_too_little_or_too_much_memory_is_rejected(rolled_back: Db) -> None:
    eight = {"q_corecount": 8, "t_ram_count": 2000, "t_base_ram_count": 1000}  # 0.9 * 17000
    check(rolled_back, "rule_memory", [
        case(None, **eight),
        case(None, **eight, q_maxrss=15300, q_minrss=15300),
        case("-lowmemory: needs 15300 MB, maxrss is 15299", **eight, q_maxrss=15299),
        case("-highmemory: needs 15300 MB, minrss is 15301", **eight, q_minrss=15301),
        case(None, **eight, q_maxrss=0, q_minrss=0),
        case("-lowmemory", **eight, q_maxrss=1, q_minrss=20000),
        case(None, **eight, t_ram_per_core=False, q_maxrss=2700, q_minrss=2700),
        case("needs 2700 MB", **eight, t_ram_per_core=False, q_maxrss=2699.9),
        case("needs 2700 MB", **eight, t_ram_per_core=False, q_minrss=2700.1),
        case(None, **eight, t_is_merging=True, q_maxrss=1800, q_minrss=1800),
        case("needs 1800 MB", **eight, t_is_merging=True, q_maxrss=1799),
        case("needs 1800.9 MB", t_ram_count=2001, q_maxrss=1800),
        case(None, t_ram_count=2001, q_maxrss=1801),
        case(None, t_ram_count=None, q_maxrss=1, q_minrss=9),
        case(None, t_ram_count=0, t_base_ram_count=5000, q_maxrss=1, q_minrss=9),
        case("needs 1800 MB", q_corecount=None, q_maxrss=1799),
        case("needs 1800 MB", q_corecount=0, q_maxrss=1799, p_is_preassigned=True),
        case("needs 1800 MB", t_base_ram_count=None, q_maxrss=1799),
        case("needs 3600 MB", q_corecount=2, q_unified_corecount=1, q_maxrss=3599),
    ])  # fmt: skip


def test_a_queue_without_direct_access_is_rejected_for_direct_io_tasks(rolled_back: Db) -> None:
    only = {"t_allow_input_lan": 2}
    cases = [
        case(None), case(None, t_allow_input_lan=1), case("no direct access", **only),
        case("no direct access", **only, q_direct_access_lan=None), case(None, **only, q_direct_access_lan=True),
        case(None, **only, q_reads_always_directly=True),
    ]  # fmt: skip
    merging = case("no direct access", **only, t_is_merging=True)
    check(rolled_back, "rule_direct_io_only", [*cases, merging])
    check(rolled_back, "rule_direct_io_only", [*cases, merging._replace(expected=None)], {"spares_merging": True})


def test_a_queue_with_too_little_scratch_disk_is_rejected(rolled_back: Db) -> None:
    """The first cases need 488 MiB of input and the floor of 512 MiB = 1000 MiB, which is not below 1000."""
    job = {"t_job_input_bytes": 488 * MIB, "t_job_input_mb": 100, "t_job_events": 1000}
    copies = {**job, "t_allow_input_lan": 1, "q_direct_access_lan": True}
    check(rolled_back, "rule_scratch_disk", [
        case(None, **job),
        case(None, **job, q_maxwdir=0),
        case("needs 1000 MiB of scratch a core, maxwdir is 1000 for 1 cores", **job, q_maxwdir=1000),
        case(None, **job, q_maxwdir=1000.001),
        case(None, **job, q_maxwdir=1000.0000001),
        case("999", **job, q_maxwdir=999),
        case("8000 for 8", **job, q_maxwdir=8000, q_unified_corecount=8, q_corecount=1),
        case(None, **job, q_maxwdir=8001, q_unified_corecount=8, q_corecount=1),
        case("for 1 cores", **job, q_maxwdir=1000, q_unified_corecount=None),
        case("needs 1100", **job, t_work_disk_bytes=100 * MIB, q_maxwdir=1100),
        case(None, **job, t_work_disk_bytes=100 * MIB, q_maxwdir=1100.5),
        case(None, **job, t_out_disk_bytes=5 * MIB, q_maxwdir=1000.001),  # 500 MiB of output
        case("needs 1088", **job, t_out_disk_bytes=6 * MIB, q_maxwdir=1088),
        case(None, **job, t_out_disk_bytes=6 * MIB, q_maxwdir=1088.01),
        case("needs 1488", **job, t_out_disk_bytes=MIB, t_out_disk_per_event=True, q_maxwdir=1488),
        case(None, **job, t_out_disk_bytes=MIB, t_out_disk_per_event=True, q_maxwdir=1489),
        case("needs 512", q_maxwdir=512, t_job_input_bytes=None, t_job_input_mb=None, t_out_disk_bytes=None),
        case(None, **copies, q_maxwdir=513),
        case("needs 512", **copies, q_maxwdir=512),
        case("needs 1000", **copies, t_is_merging=True, q_maxwdir=1000),
        case("needs 1000", **copies, t_use_local_io=True, q_maxwdir=1000),
        case(None, **copies, t_use_local_io=True, q_reads_always_directly=True, q_maxwdir=513),
        case("needs 1000", **{**copies, "q_direct_access_lan": False}, q_maxwdir=1000),
        case("needs 1000", **{**copies, "t_allow_input_lan": None}, q_maxwdir=1000),
        case(None, **job, q_reads_always_directly=True, q_maxwdir=513),
        # 1.15 MiB * 100 events * 10 cores, exactly: in float8, 1.15 * 100 is below 115
        case("needs 1150", t_job_events=1000, t_out_disk_bytes=1.15 * MIB, t_out_disk_per_event=True, q_maxwdir=11500,
            q_unified_corecount=10),
    ])  # fmt: skip


def test_a_queue_with_too_short_walltime_for_scouts_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_walltime_scout", [
        case(None, q_maxtime=1),
        case("-scout_walltime: maxtime is 86399 s, less than a day", t_is_scout=True, q_maxtime=86399),
        case("-min_walltime: maxtime is 86399 s", t_is_merging=True, q_maxtime=86399),
        case("-scout_walltime", t_is_merging=True, t_is_scout=True, q_maxtime=86399),
        case(None, t_is_scout=True, q_maxtime=86400),
        case(None, t_is_merging=True, q_maxtime=86400),
        case(None, t_is_scout=True, q_maxtime=86401),
        case(None, t_is_scout=True, q_maxtime=None),
        case(None, t_is_scout=True, q_maxtime=0),
        case("-scout", t_is_scout=True, q_maxtime=1, p_is_preassigned=True),
        case(None, t_walltime_is_undefined=True, q_maxtime=1),
    ])  # fmt: skip


def test_a_queue_with_too_short_or_too_long_walltime_is_rejected(rolled_back: Db) -> None:
    """The first cases need 90 HS06 s * 1000 events on 10 HS06 a core at 90 %: 10000 s on one core."""
    job = {"t_cpu_time": 90, "t_job_events": 1000}
    check(rolled_back, "rule_walltime", [
        case(None, **job),
        case(None, **job, q_maxtime=10000, q_mintime=10000),
        case("-shortwalltime: needs 10000 s, maxtime is 9999", **job, q_maxtime=9999),
        case("-longwalltime: needs 10000 s, mintime is 10001", **job, q_mintime=10001),
        case("-longwalltime: needs 10000.4 s", **job, t_base_walltime=0.4, q_mintime=10001),
        case("-shortwalltime: needs 10000.4 s", **job, t_base_walltime=0.4, q_maxtime=10000),
        case("-shortwalltime", **job, q_maxtime=5000, q_mintime=20000),
        case(None, **job, q_maxtime=0, q_mintime=0),
        case(None, **job, t_base_walltime=7, q_maxtime=10007, q_mintime=10007),
        case("needs 10007", **job, t_base_walltime=7, q_maxtime=10006),
        case("needs 10007", **job, t_base_walltime=7, q_mintime=10008),
        case(None, **job, q_corecount=8, q_unified_corecount=1, q_maxtime=1250, q_mintime=1250),
        case("needs 1250", **job, q_corecount=8, q_maxtime=1249),
        case(None, **job, q_corecount=0, q_corepower=0, t_cpu_efficiency=None, q_maxtime=10000, q_mintime=10000),
        case("needs 10000 s", **job, q_corepower=0, q_maxtime=9999),
        case("needs 900000 s", **job, t_cpu_efficiency=1, q_maxtime=1),
        case("needs Infinity s", **job, t_cpu_efficiency=0, q_maxtime=1e9),
        case(None, **job, t_cpu_efficiency=0, q_mintime=1e9),
        case(None, t_cpu_time=0, t_job_events=1000, t_cpu_efficiency=0, t_base_walltime=5, q_maxtime=5, q_mintime=5),
        case("needs 5 s, mintime is 6", t_cpu_time=90, t_job_events=0, t_base_walltime=5, q_mintime=6),
        case("needs 5 s, maxtime is 4", t_cpu_time=90, t_job_events=0, t_base_walltime=5, q_maxtime=4),
        case("needs 0", t_cpu_time=90, t_job_events=None, q_mintime=1),
        # no HS06: walltime per MB of input; base does not count
        case(None, t_cpu_time_is_hs06=False, t_walltime=3, t_job_input_mb=100, t_base_walltime=50, q_maxtime=300,
            q_mintime=300),
        case("needs 300", t_cpu_time_is_hs06=False, t_walltime=3, t_job_input_mb=100, q_maxtime=299),
        case("needs 300", t_cpu_time_is_hs06=False, t_walltime=3, t_job_input_mb=100, q_mintime=301),
        case(None, t_cpu_time_is_hs06=False, t_walltime=3, t_job_input_mb=100, q_corecount=8, q_maxtime=37.5,
            q_mintime=37.5),
        # not known
        case(None, t_cpu_time=None, q_maxtime=1),
        case("-longwalltime: needs an unknown number of s, mintime is 1", t_cpu_time=None, q_mintime=1),
        case(None, t_cpu_time_is_hs06=False, t_walltime=None, q_maxtime=1),
        case("an unknown number", t_cpu_time_is_hs06=None, t_walltime=None, q_mintime=1),
    ])  # fmt: skip


@pytest.mark.parametrize("exact", [
    (3320.9480304, 2000, 18.63, 84, 8, 53053),  # too long in float8
    (428.8037292, 1000, 9.87, 69, 1, 62964),  # likewise
    (2394.80376, 100, 18.1, 58, 4, 5703),  # too short in float8
    (10.179, 1000, 11.31, 90, 1, 1000),
])  # fmt: skip
def test_walltimes_are_compared_exactly(rolled_back: Db, exact: tuple[float, int, float, int, int, int]) -> None:
    cpu_time, events, corepower, efficiency, cores, limit = exact
    job = {"t_job_events": events, "q_corepower": corepower, "t_cpu_efficiency": efficiency, "q_corecount": cores}
    longer, shorter = cpu_time * (1 + 1e-12), cpu_time * (1 - 1e-12)
    check(rolled_back, "rule_walltime", [
        case(None, t_cpu_time=cpu_time, q_maxtime=limit, q_mintime=limit, **job),
        case("-shortwalltime", t_cpu_time=longer, q_maxtime=limit, q_mintime=limit, **job),
        case("-longwalltime", t_cpu_time=shorter, q_maxtime=limit, q_mintime=limit, **job),
        case("-shortwalltime", t_cpu_time=cpu_time, t_base_walltime=1e-6, q_maxtime=limit, **job),
    ])  # fmt: skip


def test_the_walltime_of_dynamic_jobs_is_bounded_by_their_smallest_and_largest(rolled_back: Db) -> None:
    """One event takes 10 s; the job has 1000, the smallest 100, the primary dataset 5000."""
    job = {"t_cpu_time": 90, "t_job_events": 1000, "t_dynamic_num_events": 100, "t_events": 5000}
    check(rolled_back, "rule_walltime", [
        case(None, **job, q_maxtime=10000),
        case("needs 10000", **job, q_maxtime=9999),
        case(None, **job, q_maxtime=1000, q_mintime=1),
        case("-shortwalltime: needs 1000", **job, q_maxtime=999, q_mintime=1),
        case(None, **job, q_mintime=50000),
        case("-longwalltime: needs 50000", **job, q_mintime=50001),
        case(None, **{**job, "t_events": 50}, q_mintime=1000),
        case("-longwalltime: needs 1000", **{**job, "t_events": 50}, q_mintime=1001),
        case(None, **{**job, "t_events": None}, q_mintime=1000),
        case("needs 10000", **{**job, "t_dynamic_num_events": None}, q_mintime=10001),
    ])  # fmt: skip


def test_a_queue_without_the_needed_network_or_ip_stack_is_rejected(rolled_back: Db) -> None:
    cases = [
        case(None),
        case(None, q_connectivity="none", q_ip_stack="IPv4"),
        case("needs network full, the queue has none", t_ip_connectivity="full"),
        case("needs network http, the queue has none", t_ip_connectivity="http"),
        case(None, t_ip_connectivity="none"),
        case(None, t_ip_connectivity="none", t_ip_stack="IPv4", q_ip_stack="IPv4"),
        case("needs stack IPv4, the queue has unset", t_ip_stack="IPv4"),
        case("needs stack IPv4, the queue has IPv6", t_ip_stack="IPv4", q_ip_stack="IPv6"),
        case(None, t_ip_stack="IPv6", q_ip_stack="IPv6"),
        case("the task names no IP stack, the queue has IPv4", t_ip_connectivity="full", q_connectivity="full",
            q_ip_stack="IPv4"),
        case(None, t_ip_connectivity="full", t_ip_stack="IPv4", q_connectivity="full", q_ip_stack="IPv4"),
        case("network full", t_ip_connectivity="full", p_is_preassigned=True, p_preassigned_alone=True),
    ]  # fmt: skip
    accepted = {"full": ["full"], "http": ["full", "http"], "none": ["full", "http", "none"]}
    for wanted, offers in accepted.items():
        for offered in ("full", "http", "none"):
            refused = None if offered in offers else f"needs network {wanted}, the queue has {offered}"
            cases.append(case(refused, t_ip_connectivity=wanted, q_connectivity=offered))
    check(rolled_back, "rule_wn_connectivity", cases)


def test_event_service_queues_and_other_queues_take_only_their_tasks(rolled_back: Db) -> None:
    events = {"t_event_service": 1}
    cases = [
        case(None, q_jobseed="std"),
        case(None, q_jobseed=None),
        case(None, q_jobseed="eshigh"),
        case("-nones", q_jobseed="es"),
        case("-nones", q_jobseed="es", t_event_service=None),
        case(None, **events),
        case(None, **events, q_jobseed="es"),
        case("-nones", q_jobseed="es", t_event_service=2),  # job cloning
        case("-nones", q_jobseed="es", t_event_service=3),  # fine-grained
        case("-es:", **events, q_jobseed="std"),
        case("-es:", **events, q_jobseed=None),
        case(None, t_event_service=2, q_jobseed=None),
        case("-eshigh: priority is 899", **events, q_jobseed="eshigh", t_current_priority=899),
        case(None, **events, q_jobseed="eshigh", t_current_priority=900),
        case(None, **events, q_jobseed="eshigh", t_is_scout=True),
        case("-es_ucore", **events, q_child_type="SCORE"),
        case("-es_ucore", **events, q_child_type="SCORE", q_corecount=None),
        case(None, **events, q_child_type="MCORE", q_corecount=8),
        case(None, q_child_type="SCORE"),
    ]
    alone = case("-es:", **events, q_jobseed="std", p_preassigned_alone=True)
    check(rolled_back, "rule_event_service", [*cases, alone])
    check(
        rolled_back, "rule_event_service", [*cases, alone._replace(expected=None)], {"spares_preassigned_alone": True}
    )


def test_a_task_with_t1_weight_minus_1_goes_only_to_queues_of_the_nucleus(rolled_back: Db) -> None:
    cases = [
        case(None), case(None, t_t1_weight=0), case(None, t_t1_weight=1),
        case("t1Weight is -1: only queues of NUC", t_t1_weight=-1),
        case("-1", t_t1_weight=-1, t_is_merging=None, p_is_near=None), case(None, t_t1_weight=-1, p_is_near=True),
        case(None, t_t1_weight=-1, t_is_merging=True),
    ]  # fmt: skip
    below = [case("-2", t_t1_weight=-2), case("-0.5", t_t1_weight=-0.5)]
    check(rolled_back, "rule_t1_weight", [*cases, *(each._replace(expected=None) for each in below)])
    check(rolled_back, "rule_t1_weight", [*cases, *below], {"negative": True})


def test_full_chain_tasks_stay_at_a_bare_nucleus_and_other_tasks_off_it(rolled_back: Db) -> None:
    cases = [
        case(None), case("-not_full_chain", q_bare_nucleus="only"), case(None, q_bare_nucleus="allow"),
        case(None, t_nucleus_mode="allow"), case("-not_full_chain", t_nucleus_mode="only", q_bare_nucleus="only"),
    ]  # fmt: skip
    for full_chain in (1, 2, 3):
        cases += [
            case(None, t_full_chain=full_chain),
            case("-not_full_chain", t_full_chain=full_chain, q_bare_nucleus="only"),
            case("-full_chain: the task stays at NUC", t_full_chain=full_chain, t_nucleus_mode="only"),
            case("-full_chain", t_full_chain=full_chain, t_nucleus_mode="allow", p_is_near=True),
            case(None, t_full_chain=full_chain, t_nucleus_mode="allow", p_is_nucleus_queue=True, q_bare_nucleus="only"),
        ]
    check(rolled_back, "rule_full_chain_job", cases)
