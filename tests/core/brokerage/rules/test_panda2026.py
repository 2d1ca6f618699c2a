"""Rules that only the profile panda2026 has, or that have another form in it."""

from typing import Any

import psycopg

from tests.core.brokerage.rules.facts import case, check

Db = psycopg.Connection[Any]
GIB, MIB = 2**30, 2**20
ALONE = {"p_is_preassigned": True, "p_preassigned_alone": True}
SCOUTS = {"t_is_scout": True}


def test_a_merge_preassignment_is_a_list(rolled_back: Db) -> None:
    """Some rules are left out for the task's own site alone, and none for the site of a master dataset."""
    jumbo = {"q_uses_jumbo": True, **ALONE}
    by_task = case(None, t_preassigned_by="prod-initial-preassigned", **jumbo)
    check(rolled_back, "rule_jumbo_queue", [by_task, case("-jumbo:", t_preassigned_by="preassigned-merge", **jumbo)])


def test_candidates_run_production_and_have_a_cloud(rolled_back: Db) -> None:
    check(rolled_back, "candidate_all_panda2026", [
        case(None),
        case(None, q_queue="SITE_TEST"),
        case(None, q_type="analysis"),
        case("type is analysis: it runs no production", q_type="analysis", q_is_production=False),
        case("type is not set", q_type=None, q_is_production=None),
        case("it has no cloud", q_cloud=""),
        case("it has no cloud", q_cloud=None),
        case(None, t_preassigned=["A"], q_is_production=False, q_cloud=None),
    ])  # fmt: skip


def test_a_nucleus_not_writable_over_wan_keeps_out_queues_elsewhere(rolled_back: Db) -> None:
    shut = {"t_nucleus_is_writable": False}
    check(rolled_back, "rule_nucleus_unwritable", [
        case(None),
        case(None, t_nucleus_is_writable=None),
        case("the storage of NUC cannot be written over WAN", **shut),
        case("NUC", **shut, p_is_near=True, p_is_own=True),
        case(None, **shut, p_is_nucleus_queue=True),
    ])  # fmt: skip


def test_tasks_of_high_priority_go_to_no_opportunistic_queue(rolled_back: Db) -> None:
    check(rolled_back, "rule_high_prio_opportunistic_panda2026", [
        case(None, q_pledgedcpu=-1),
        case(None, q_pledgedcpu=-1, t_current_priority=799),
        case("priority 800: no opportunistic queue", q_pledgedcpu=-1, t_current_priority=800),
        case("500, scouts", q_pledgedcpu=-1, **SCOUTS),
        case(None, q_pledgedcpu=-1, **SCOUTS, p_is_preassigned=True),
        case(None, q_pledgedcpu=0, **SCOUTS),
        case(None, q_pledgedcpu=-2, **SCOUTS),
        case(None, q_pledgedcpu=None, **SCOUTS),
    ])  # fmt: skip


def test_a_jumbo_queue_takes_only_jumbo_jobs_with_enough_events(rolled_back: Db) -> None:
    jumbo = {"q_uses_jumbo": True}
    check(rolled_back, "rule_jumbo_queue", [
        case(None),
        case(None, t_n_jumbo_jobs=3),
        case("-jumbo:", **jumbo),
        case("-jumbo:", **jumbo, t_n_jumbo_jobs=0),
        case(None, **jumbo, **ALONE),
        case(None, **jumbo, p_is_preassigned=True, t_n_jumbo_jobs=1),
        case("-fewevents: 99 events", **jumbo, t_n_jumbo_jobs=1, t_events=99, q_min_events_for_jumbo=100),
        case(None, **jumbo, t_n_jumbo_jobs=1, t_events=100, q_min_events_for_jumbo=100),
        case(None, **jumbo, t_n_jumbo_jobs=1, t_events=101, q_min_events_for_jumbo=100),
        case(None, **jumbo, t_n_jumbo_jobs=1, t_events=0),
    ])  # fmt: skip


def test_disk_io_is_compared_in_whole_numbers(rolled_back: Db) -> None:
    both = {"t_disk_io": 501, "q_average_diskio": 501, "q_maxdiskio": 500}
    eight = {"t_task_core_count": 8, "q_unified_corecount": 8}
    check(rolled_back, "rule_disk_io_panda2026", [
        case("over the limit of 500", **both),
        case(None, **{**both, "t_disk_io": 500}),
        case(None, **{**both, "q_average_diskio": 500}),
        case(None, **{**both, "t_disk_io": None}),
        case(None, **{**both, "t_disk_io": 0}),
        case(None, **{**both, "q_average_diskio": None}),
        case(None, **{**both, "q_maxdiskio": None}),
        case("limit of 500", **{**both, "q_maxdiskio": None}, t_max_diskio_default=500),
        case("limit of 500", **{**both, "q_maxdiskio": 0}, t_max_diskio_default=500),
        case(None, **{**both, "t_disk_io": 4007}, **eight),  # 500.875, in whole numbers 500
        case("for 8 cores", **{**both, "t_disk_io": 4008}, **eight),
        case("for 1 cores", **{**both, "t_disk_io": 4007}, t_task_core_count=0, q_unified_corecount=8),
        case("for 1 cores", **{**both, "t_disk_io": 4007}, t_task_core_count=None, q_unified_corecount=8),
        case("for 1 cores", **{**both, "t_disk_io": 501.5}, t_task_core_count=8, q_unified_corecount=0),
        case("limit of 500", **{**both, "t_disk_io": 500.5}),
        case(None, **{**both, "t_disk_io": 500.5}, t_task_core_count=8, q_unified_corecount=1),
    ])  # fmt: skip


def test_memory_is_rounded_down_to_whole_MB(rolled_back: Db) -> None:
    eight = {"q_corecount": 8, "t_ram_count": 2000, "t_base_ram_count": 1000}
    check(rolled_back, "rule_memory_panda2026", [
        case(None, **eight),
        case(None, **eight, q_maxrss=15300, q_minrss=15300),
        case("-lowmemory: needs 15300 MB, maxrss is 15299", **eight, q_maxrss=15299),
        case("-highmemory: needs 15300 MB, minrss is 15301", **eight, q_minrss=15301),
        case(None, **eight, q_maxrss=0, q_minrss=0),
        case(None, **eight, t_ram_per_core=False, q_maxrss=1800, q_minrss=1800),
        case("needs 1800 MB", **eight, t_ram_per_core=False, q_maxrss=1799),
        case(None, **eight, t_is_merging=True, q_maxrss=1800, q_minrss=1800),
        case(None, t_ram_count=2001, q_maxrss=1800),  # 1800.9
        case("-highmemory: needs 1800", t_ram_count=2001, q_minrss=1800.5),
        case("needs 1800", t_ram_count=2001, q_maxrss=1799),
        case(None, t_ram_count=None, q_maxrss=1, q_minrss=9),
        case(None, t_ram_count=0, q_maxrss=1, q_minrss=9),
    ])  # fmt: skip


def test_a_queue_with_too_little_scratch_disk_is_rejected(rolled_back: Db) -> None:
    """The first cases need 500 MiB of input and 1500 of output = 2000 MiB, which may be all of the scratch disk."""
    job = {"t_job_input_bytes": 500 * MIB, "t_job_input_mb": 100, "t_job_events": 1000}
    direct = {"q_reads_always_directly": True}
    check(rolled_back, "rule_scratch_disk_panda2026", [
        case(None, **job),
        case(None, **job, q_maxwdir=0),
        case(None, **job, q_maxwdir=2000),
        case("needs 2000 MiB of scratch, maxwdir is 1999", **job, q_maxwdir=1999),
        case(None, **{**job, "t_job_input_bytes": 501 * MIB - 1}, q_maxwdir=2000),
        case("2001", **{**job, "t_job_input_bytes": 501 * MIB}, q_maxwdir=2000),
        case(None, **job, **direct, q_maxwdir=1500),
        case("1500", **job, **direct, q_maxwdir=1499),
        case(None, **job, t_work_disk_bytes=0, q_maxwdir=2300),
        case("2300", **job, t_work_disk_bytes=0, q_maxwdir=2299),
        case("2400", **job, t_work_disk_bytes=100 * MIB, q_maxwdir=2399),
        case(None, **job, t_out_disk_bytes=15 * MIB, q_maxwdir=2000),
        case("2100", **job, t_out_disk_bytes=16 * MIB, q_maxwdir=2099),
        case("2500", **job, t_out_disk_bytes=2 * MIB, t_out_disk_per_event=True, q_maxwdir=2499),
        case(None, **job, t_out_disk_bytes=2 * MIB, t_out_disk_per_event=True, q_maxwdir=2500),
        case("for 8 jobs", **job, q_maxwdir=15999, q_unified_corecount=8),
        case(None, **job, q_maxwdir=16000, q_unified_corecount=8),
        case("for 8 jobs", **job, q_maxwdir=15999, q_unified_corecount=8, t_task_core_count=0),
        case("for 8 jobs", **job, q_maxwdir=15999, q_unified_corecount=8, t_task_core_count=None),
        case(None, **job, q_maxwdir=2000, q_unified_corecount=8, t_task_core_count=8),
        case(None, **job, q_maxwdir=2000, q_unified_corecount=8, t_event_service=1),
        case(None, **job, q_maxwdir=2000, q_unified_corecount=8, t_event_service=2),
        case("for 8 jobs", **job, q_maxwdir=15999, q_unified_corecount=8, t_event_service=3),
        case("for 8 jobs", **job, q_maxwdir=15999, q_unified_corecount=8, t_event_service=None),
        case("1500", t_job_input_bytes=None, t_out_disk_bytes=None, q_maxwdir=1499),
    ])  # fmt: skip


def test_a_queue_with_too_little_usable_storage_space_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_storage_space_panda2026", [
        case(None, q_space_usable=200),
        case("199.9 GB can be used in its output storage, STORAGE_MIN_FREE_SIZE is 200", q_space_usable=199.9),
        case("0 GB", q_space_usable=None),
        case(None, q_space_usable=0, q_has_output_storage=False),
        case(None, q_space_free=0),
        case(None, q_space_usable=300, t_storage_min_free_size=300),
        case("299", q_space_usable=299, t_storage_min_free_size=300),
        case("0 GB", q_space_usable=None, t_storage_min_free_size=1),
    ])  # fmt: skip


def test_a_queue_with_a_blacklisted_storage_is_rejected(rolled_back: Db) -> None:
    nucleus = {"p_is_nucleus_queue": True}
    shut = {"q_datadisk_read_lan": False, "q_datadisk_write_lan": False, "q_datadisk_write_wan": False}
    check(rolled_back, "rule_storage_blacklist_panda2026", [
        case(None),
        case("-read_lan_blacklist", q_datadisk_read_lan=False),
        case("-read_lan_blacklist", q_datadisk_read_lan=None, **nucleus),
        case("-write_lan_blacklist", q_datadisk_write_lan=False, **nucleus),
        case("-write_wan_blacklist", q_datadisk_write_wan=False),
        case("-write_wan_blacklist", q_datadisk_write_wan=False, p_is_near=True),
        case(None, q_datadisk_write_wan=False, **nucleus),
        case("-write_wan_blacklist", q_datadisk_write_wan=False, **nucleus, p_input_is_local=False),
        case("-read_wan_blacklist", q_datadisk_read_wan=False),
        case(None, q_datadisk_read_wan=False, **nucleus, p_input_is_local=False),
        case("-source_blacklist", p_has_readable_source=False),
        case(None, p_has_readable_source=False, **nucleus),
        case("-read_lan", **shut),
        case("-write_lan", **{**shut, "q_datadisk_read_lan": True}),
        case("-write_wan", q_datadisk_write_wan=False, q_datadisk_read_wan=False),
        case("-read_wan", q_datadisk_read_wan=False, p_has_readable_source=False),
        case(None, **shut, q_space_usable=199),
        case(None, q_input_storages=1, q_inputs_readable=0),
    ])  # fmt: skip


def test_a_queue_with_too_short_or_too_long_walltime_is_rejected(rolled_back: Db) -> None:
    """90 HS06 s * 1000 events; a queue of 10 HS06 at 90 % gives 9 HS06 s each s and core."""
    job = {"t_cpu_time": 90, "t_job_events": 1000}
    other = {"t_cpu_time_is_hs06": False, "t_walltime": 3, "t_job_input_mb": 100}
    check(rolled_back, "rule_walltime_panda2026", [
        case(None, **job),
        case(None, **job, q_maxtime=10000, q_mintime=10000),
        case("-shortwalltime: takes 90000, maxtime of 9999 s allows 89991", **job, q_maxtime=9999),
        case("-longwalltime: takes 90000, mintime of 10001 s asks for 90009", **job, q_mintime=10001),
        case(None, **job, q_maxtime=0, q_mintime=0),
        case(None, **job, t_base_walltime=7, q_maxtime=10007, q_mintime=10007),
        case("-shortwalltime", **job, t_base_walltime=7, q_maxtime=10006),
        case(None, **job, q_corecount=8, q_maxtime=1250, q_mintime=1250),
        case(None, **job, q_corecount=None, q_corepower=None, t_cpu_efficiency=None, q_maxtime=10000),
        case(None, **job, q_corepower=0, q_maxtime=10000, q_mintime=10000),
        case("maxtime of 10000 s allows 9000", **job, q_corepower=1, q_maxtime=10000),
        case(None, t_cpu_time=90.0009, t_job_events=1000, q_mintime=10000.1),  # 90000.9 is truncated
        case("-longwalltime", t_cpu_time=89.9999, t_job_events=1000, q_mintime=10000.1),
        case("-shortwalltime", **job, t_cpu_efficiency=0, q_maxtime=1e9),
        case(None, t_cpu_time=90, t_job_events=0, t_base_walltime=9, q_maxtime=1),
        case("-longwalltime: takes 0", t_cpu_time=90, t_job_events=0, q_mintime=1),
        case(None, t_cpu_time=None, q_maxtime=1),
        case("-longwalltime: takes an unknown time", t_cpu_time=None, q_mintime=1),
        case(None, **other, q_maxtime=300, q_mintime=300),
        case("-shortwalltime: takes 300, maxtime of 299 s allows 299", **other, q_maxtime=299),
        case("-longwalltime", **other, q_mintime=301),
        case(None, **other, q_corecount=8, q_maxtime=37.5, q_mintime=37.5, t_base_walltime=5),
        # walltime-scout comes in between
        case("-shortwalltime", **job, **SCOUTS, q_maxtime=9999),
        case(None, **job, **SCOUTS, q_maxtime=10000, q_mintime=10001),
        case("-longwalltime", **job, **SCOUTS, q_maxtime=100000, q_mintime=10001),
    ])  # fmt: skip


def test_the_walltime_of_event_service_jobs_is_divided_by_their_parts(rolled_back: Db) -> None:
    """The work of a job is divided; the smallest and the largest job of a dynamic number of events are not."""
    job = {"t_cpu_time": 90, "t_job_events": 1000, "t_event_service": 1, "t_event_service_parts": 3}
    other = {"t_cpu_time_is_hs06": False, "t_walltime": 3, "t_job_input_mb": 100, "t_event_service_parts": 3}
    dynamic = {**job, "t_dynamic_num_events": 100, "t_events": 5000}
    check(rolled_back, "rule_walltime_panda2026", [
        case(None, **job, q_maxtime=3334, q_mintime=3333),
        case("-shortwalltime: takes 30000, maxtime of 3333 s allows 29997", **job, q_maxtime=3333),
        case("-longwalltime: takes 30000, mintime of 3334 s asks for 30006", **job, q_mintime=3334),
        case(None, **other, q_maxtime=100, q_mintime=100),
        case("-shortwalltime: takes 100", **other, q_maxtime=99),
        case("-longwalltime: takes 100", **other, q_mintime=101),
        case(None, **dynamic, q_maxtime=3334),
        case("-shortwalltime: takes 30000", **dynamic, q_maxtime=3333),
        case(None, **dynamic, q_maxtime=1000, q_mintime=50000),
        case("-shortwalltime: takes 9000", **dynamic, q_maxtime=999, q_mintime=1),
        case("-longwalltime: takes 450000", **dynamic, q_mintime=50001),
        case(None, **other, t_dynamic_num_events=5, q_maxtime=100, q_mintime=100),
    ])  # fmt: skip


def test_the_walltime_of_dynamic_jobs_is_bounded_by_their_smallest_and_largest(rolled_back: Db) -> None:
    job = {"t_cpu_time": 90, "t_job_events": 1000, "t_dynamic_num_events": 100, "t_events": 5000}
    most = {"t_max_events_per_job": 3000}
    check(rolled_back, "rule_walltime_panda2026", [
        case(None, **job, q_maxtime=10000),
        case("-shortwalltime", **job, q_maxtime=9999),
        case(None, **job, q_maxtime=1000, q_mintime=1),
        case("-shortwalltime: takes 9000", **job, q_maxtime=999, q_mintime=1),
        case(None, **job, q_mintime=50000),
        case("-longwalltime", **job, q_mintime=50001),
        case(None, **job, **most, q_mintime=30000),
        case("-longwalltime: takes 270000", **job, **most, q_mintime=30001),
        case(None, **job, t_max_events_per_job=50, q_mintime=1000),
        case("-longwalltime: takes 9000", **job, t_max_events_per_job=50, q_mintime=1001),
    ])  # fmt: skip


def test_a_queue_with_too_short_walltime_for_scouts_is_rejected(rolled_back: Db) -> None:
    """864000 HS06 s take 96000 s at 9 HS06 s each s and core."""
    check(rolled_back, "rule_walltime_scout_panda2026", [
        case(None, q_maxtime=1),
        case(None, **SCOUTS, q_maxtime=96000),
        case("-scout_walltime: maxtime of 95999 s", **SCOUTS, q_maxtime=95999),
        case("-min_walltime: maxtime of 95999 s", t_is_merging=True, q_maxtime=95999),
        case("-min_walltime", t_walltime_is_undefined=True, q_maxtime=95999),
        case(None, **SCOUTS, **ALONE, q_maxtime=1),
        case("-scout", **SCOUTS, p_is_preassigned=True, q_maxtime=1),
        case("-min_walltime", t_is_merging=True, **ALONE, q_maxtime=1),
        case(None, **SCOUTS, q_maxtime=0),
        case(None, **SCOUTS, q_maxtime=None, t_base_walltime=100),
        case(None, **SCOUTS, q_maxtime=100, t_base_walltime=100),  # the bound is 0
        case("-scout", **SCOUTS, q_maxtime=100, t_base_walltime=101),
        case(None, **SCOUTS, q_maxtime=96000, q_corecount=8),
        case("-scout", **SCOUTS, q_maxtime=95999, q_corecount=8),
        case("-scout", **SCOUTS, q_maxtime=95999, q_corecount=100000),
        case(None, **SCOUTS, q_maxtime=48000, q_corepower=20),
        case("-scout", **SCOUTS, q_maxtime=863999, t_cpu_time_is_hs06=False),
        case(None, **SCOUTS, q_maxtime=864000, t_cpu_time_is_hs06=False, q_corecount=2),
    ])  # fmt: skip


def test_a_queue_without_the_needed_network_or_ip_stack_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_wn_connectivity_panda2026", [
        case(None),
        case(None, q_connectivity="none", q_ip_stack="IPv4"),
        case(None, t_ip_connectivity="full", q_connectivity="full"),
        case("needs network full, the queue has http", t_ip_connectivity="full", q_connectivity="http"),
        case("needs network full, the queue has none", t_ip_connectivity="full"),
        case(None, t_ip_connectivity="http", q_connectivity="full"),
        case(None, t_ip_connectivity="http", q_connectivity="http"),
        case("needs network http, the queue has none", t_ip_connectivity="http", q_connectivity="none"),
        case("needs network http, the queue has none", t_ip_connectivity="http"),
        case(None, t_ip_connectivity="none", q_connectivity="none"),
        case(None, t_ip_connectivity="full", **ALONE),
        case("needs network", t_ip_connectivity="full", p_is_preassigned=True),
        case(None, t_ip_connectivity="full", q_connectivity="full", q_ip_stack="IPv4"),
        case("needs stack IPv4, the queue has unset", t_ip_stack="IPv4"),
        case("needs stack IPv4, the queue has IPv6", t_ip_stack="IPv4", q_ip_stack="IPv6"),
        case(None, t_ip_stack="IPv4", q_ip_stack="IPv4"),
    ])  # fmt: skip


def test_a_queue_over_its_transferring_limit_is_rejected(rolled_back: Db) -> None:
    over = {"q_transferring_all": 2001}
    check(rolled_back, "rule_transferring_limit_panda2026", [
        case(None, q_transferring_all=2000),
        case("2001 jobs are transferring, the limit is 2000", **over),
        case("2001", **over, q_transferringlimit=0),
        case("the limit is 2000", **over, q_transferringlimit=0, q_running_all=None),
        case(None, q_transferring_all=2000, q_transferringlimit=0),
        case(None, q_transferring_all=0, q_transferringlimit=-1, q_running_all=None),
        case("the limit is 0", q_transferring_all=1, q_transferringlimit=-1, q_running_all=None),
        case("2001 jobs are transferring, the limit is 2000", **over, q_transferringlimit=None,
            q_transferring_to_unwritable=None),
        case(None, **over, q_transferring_to_unwritable=1),
        case("2001", q_transferring_all=2005, q_transferring_to_unwritable=4),
        case(None, q_transferring_all=12, q_transferringlimit=10, q_running_all=6),
        case("13", q_transferring_all=13, q_transferringlimit=10, q_running_all=6),
        case(None, **over, p_is_near=True),
        case(None, **over, p_is_own=True),
        case(None, **over, q_storage_site=None),
        case(None, q_transferring_all=None, q_transferring_to_unwritable=None),
    ])  # fmt: skip


def test_a_queue_without_free_pledged_cores_is_rejected_when_work_is_short(rolled_back: Db) -> None:
    short = {"t_work_shortage": True}
    check(rolled_back, "rule_work_shortage", [
        case(None, q_pledgedcpu=-1),
        case("-non_pledged", **short, q_pledgedcpu=-1),
        case(None, **short, q_pledgedcpu=-1, **ALONE),
        case("-non_pledged", **short, q_pledgedcpu=-1, p_is_preassigned=True),
        case(None, **short, q_pledgedcpu=0, q_core_running=1),
        case("2 cores are in use, 1 pledged", **short, q_pledgedcpu=1, q_core_running=2),
        case(None, **short, q_pledgedcpu=None, q_core_running=1),
        case(None, **short, q_pledgedcpu=100, q_core_running=100),
        case("-over_pledged: work is short, 101 cores are in use, 100", **short, q_pledgedcpu=100, q_core_running=101),
        case(None, **short, q_pledgedcpu=100, q_core_running=None),
        case(None, q_pledgedcpu=100, q_core_running=101),
    ])  # fmt: skip


def test_a_task_over_the_io_intensity_of_a_queue_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_max_io_intensity", [
        case(None, t_io_intensity=1000),
        case(None, t_io_intensity=1000, q_max_io_intensity=1000),
        case("ioIntensity is 1001, max_io_intensity", t_io_intensity=1001, q_max_io_intensity=1000),
        case(None, t_io_intensity=None, q_max_io_intensity=1000),
        case("is 0", t_io_intensity=1, q_max_io_intensity=0),
        case(None, t_io_intensity=1001, q_max_io_intensity=1000, t_is_merging=True),
    ])  # fmt: skip


def test_a_queue_without_pilots_is_rejected(rolled_back: Db) -> None:
    none = {"q_pilots": 0}
    check(rolled_back, "rule_no_pilot_panda2026", [
        case(None, q_pilots=1),
        case("no pilot in the last 3 h", **none),
        case("no pilot", q_pilots=None, t_label=None),
        case(None, **none, p_is_preassigned=True),
        case(None, **none, t_label="ptest"),
        case(None, **none, p_numslots=0),
        case("no pilot", **none, q_has_slots=True),
        case(None, **none, t_n_jumbo_jobs=1, q_uses_jumbo=True),
        case("no pilot", **none, t_n_jumbo_jobs=0, q_uses_jumbo=True),
        case("no pilot", **none, q_uses_jumbo=True),
        case("no pilot", **none, t_n_jumbo_jobs=1),
        case("no pilot", **none, t_processing_type="urgent"),
    ])  # fmt: skip


def test_a_queue_that_must_move_too_much_input_is_rejected(rolled_back: Db) -> None:
    busy = {"t_io_intensity": 201, "t_input_files": 1000, "t_input_bytes": 100 * GIB}
    disk = {"p_available_files": 900, "p_available_bytes": 90 * GIB}
    cases = [
        case(None, **{**busy, "t_io_intensity": 200}), case(None, **{**busy, "t_io_intensity": None}),
        case(None, **{**busy, "t_input_bytes": 0}), case(None, **busy, t_is_merging=True),
        case(None, **busy, t_event_service=1), case(None, **busy, **ALONE),
        case("1000 files are missing", **busy, t_event_service=2), case("1000 files are missing", **busy),
        case("1000 files", **busy, p_is_preassigned=True), case("1000 files", **busy, t_event_service=None),
    ]  # fmt: skip
    unknown = dict.fromkeys(("p_available_bytes", "p_available_files", "p_reachable_bytes", "p_reachable_files"))
    limit = {"t_io_intensity": 201, "t_input_files": 100, "t_input_bytes": 10 * GIB + MIB - 1}
    cases += [
        case(None, **limit, **unknown),
        case("10.001 GB and 100 files", **{**limit, "t_input_bytes": 10 * GIB + MIB}, **unknown),
        case("GB and 101 files", **{**limit, "t_input_files": 101}, **unknown),
    ]
    only_disk = [
        case(None, **busy, **disk),
        case(None, **busy, **{**disk, "p_available_bytes": 90 * GIB - MIB + 1}),
        case("10.001 GB", **busy, **{**disk, "p_available_bytes": 90 * GIB - MIB}),
        case("101 files", **busy, **{**disk, "p_available_files": 899}),
    ]
    check(rolled_back, "rule_io_cutoff_panda2026", [*cases, *only_disk])
    tape = [
        case(wanted, **{name.replace("available", "reachable"): value for name, value in facts.items()})
        for wanted, facts in only_disk
    ]
    check(rolled_back, "rule_io_cutoff_panda2026", [*cases, *tape], {"tape": True})
    check(rolled_back, "rule_io_cutoff_panda2026", [case("even with tape", **busy, **disk)], {"tape": True})


def test_a_queue_locked_by_another_broker_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_lock", [
        case(None),
        case("another broker has locked the queue for 0 s", q_lock_age="0 seconds"),
        case("for 299 s", q_lock_age="299 seconds"),
        case(None, q_lock_age="5 minutes"),
    ])  # fmt: skip


def test_a_queue_for_only_local_data_rejects_tasks_with_missing_files(rolled_back: Db) -> None:
    check(rolled_back, "rule_use_only_local_data", [
        case(None, t_input_files=5, t_input_bytes=1),
        case(None, q_uses_only_local_data=True),
        case("3 files are missing", q_uses_only_local_data=True, p_available_files=2, t_input_files=5, t_input_bytes=9),
        case("5 files", q_uses_only_local_data=True, p_available_files=None, t_input_files=5, t_input_bytes=9),
        case("1 files", q_uses_only_local_data=True, p_available_files=None, t_input_files=1, t_input_bytes=9),
        case(None, q_uses_only_local_data=True, p_available_files=5, t_input_files=5, t_input_bytes=9),
        case(None, q_uses_only_local_data=True, p_available_files=2, t_input_files=5, t_input_bytes=0),
    ])  # fmt: skip


def test_a_queue_over_its_cap_on_waiting_jobs_is_rejected(rolled_back: Db) -> None:
    moving = {"p_input_is_local": False}
    check(rolled_back, "rule_cap_panda2026", [
        case(None, p_activated=12, p_starting=8),
        case("21 jobs are waiting, more than 20 and than twice the running 0", p_activated=12, p_starting=9),
        case(None, p_activated=20, p_defined=100, p_assigned=100),
        case("21 jobs", p_activated=10, p_starting=8, p_assigned=3, **moving),
        case(None, p_activated=10, p_starting=8, p_assigned=2, **moving),
        case(None, p_running=11, p_activated=22),
        case("23 jobs", p_running=11, p_activated=23),
        case(None, p_activated=21, t_nqueuelimitsite=21),
        case("running 0", p_activated=22, t_nqueuelimitsite=21),
        case("21 jobs", p_activated=21, q_live_jobs=0, t_current_priority=1000),
        case(None, p_activated=21, t_current_priority=1001),
        case(None, p_activated=21, t_processing_type="urgent"),
        case("21 jobs", p_activated=21, t_processing_type="urgent-not"),
        case(None, p_activated=21, q_child_type="SCORE"),
        case(None, p_activated=20, q_live_jobs=100),
    ])  # fmt: skip


def test_the_running_figure_counts_workers_and_slots_as_panda_does(rolled_back: Db) -> None:
    """R as PanDA counts it, seen through the cap: 2 R waiting jobs pass, one more does not."""
    free = {"t_current_priority": 150, "t_nqueuelimitsite": 0}
    pull = {"q_workers": 30, "q_ups": True, "q_pilots": 1}
    facts: list[tuple[int, dict[str, Any]]] = [
        (5, {"p_running": 5}), (20, {"p_running": 5, **pull}), (20, {"p_running": 19, **pull}),
        (21, {"p_running": 21, **pull}), (5, {"p_running": 5, **pull, "q_ups": False}),
        (5, {"p_running": 5, **pull, "q_pilots": 0}), (5, {"p_running": 5, **pull, "q_workers": None}),
        (5, {"p_running": 5, **pull, "t_current_priority": 151}),
        (6, {"p_running": 5, "p_numslots": 55, "q_corecount": 8}),
        (5, {"p_running": 5, "p_numslots": 39, "q_corecount": 8}),
        (5, {"p_running": 5, "p_numslots": 55, "q_corecount": 8, "t_current_priority": 151}),
        (40, {"p_running": 5, "p_numslots": 40, **pull}), (20, {"p_running": 5, "p_numslots": 7, **pull}),
        (13, {"p_running": 5, "p_numslots": 0, "p_starting": 8}),
        (5, {"p_running": 5, "p_numslots": 0, "p_starting": 8, "t_current_priority": 151}),
    ]  # fmt: skip
    cases = []
    for running, known in facts:
        waiting = 2 * running - known.get("p_starting", 0)
        at_queue = {**free, **known}
        cases += [case(None, p_activated=waiting, **at_queue), case("twice", p_activated=waiting + 1, **at_queue)]
    check(rolled_back, "rule_cap_panda2026", cases)


def test_an_express_task_needs_a_network_weight_over_the_threshold(rolled_back: Db) -> None:
    express = {"t_processing_type": "urgent", "t_nw_active": True}
    check(rolled_back, "rule_express_network_threshold_panda2026", [
        case(None, p_mbps=0, t_nw_active=True),
        case(None, p_mbps=0, **{**express, "t_nw_active": False}),
        case(None, p_mbps=0, **{**express, "t_nw_active": None}),
        case("network weight is 1.5, express needs 1.7", p_mbps=0, **express),
        case(None, p_mbps=21, p_queued_express=15, **express),  # 0.5 * (1.9 + 1.5)
        case("network weight", p_mbps=21, p_queued_express=16, **express),
        case("network weight", p_mbps=0, t_current_priority=1001, t_nw_active=True),
        case(None, p_mbps=0, t_current_priority=1000, t_nw_active=True),
        case(None, p_mbps=0, p_is_own=True, **express),
        case(None, p_mbps=0, t_nw_threshold=3, t_nw_weight_multiplier=0.5, **express),
    ])  # fmt: skip


def test_a_queue_over_its_cap_on_jobs_of_a_resource_type_is_rejected(rolled_back: Db) -> None:
    known = {f"p_type_{status}": 0 for status in ("running", "starting", "activated", "assigned", "defined")}
    moving = {"p_input_is_local": False}
    check(rolled_back, "rule_cap_rt", [
        case(None, p_activated=100, p_defined=100),
        case(None,
            **{**known, "p_type_defined": 8, "p_type_activated": 6, "p_type_starting": 6, "p_type_assigned": 50}),
        case("21 jobs of its resource types",
            **{**known, "p_type_defined": 9, "p_type_activated": 6, "p_type_starting": 6}),
        case("21 jobs", **{**known, "p_type_assigned": 21}, **moving),
        case(None, **{**known, "p_type_assigned": 20}, **moving),
        case(None, **{**known, "p_type_defined": 30, "p_type_running": 15}),
        case("31 jobs", **{**known, "p_type_defined": 31, "p_type_running": 15}),
        case(None, **{**known, "p_type_defined": 30}, p_running=15),
        case("31 jobs", **{**known, "p_type_defined": 31}, p_running=15, q_child_type="SCORE"),
        case(None, **{**known, "p_type_defined": 21}, t_nqueuelimitsite=21),
        case(None, **{**known, "p_type_defined": 21}, t_current_priority=1001),
    ])  # fmt: skip


def test_a_queue_below_the_minimum_weight_is_rejected(rolled_back: Db) -> None:
    check(rolled_back, "rule_min_weight", [
        case(None, p_weight=0.1),
        case(None, p_weight=0.5, t_min_weight=0.5),
        case("weight is 0.49, MIN_WEIGHT is 0.5", p_weight=0.49, t_min_weight=0.5),
        case(None, p_weight=0, t_min_weight=0.5),
        case(None, p_weight=None, t_min_weight=0.5),
        case(None, p_weight=0.1, t_min_weight=None),
        case(None, p_weight=0.1, t_min_weight=-1),
        case("weight is 0.49", p_weight=0.49, t_min_weight=0.5, p_is_preassigned=True),
    ])  # fmt: skip
    cases = [
        case(None, p_weight=0.49, t_min_weight=0.5, p_is_preassigned=True),
        case("weight is 0.49", p_weight=0.49, t_min_weight=0.5),
    ]
    check(rolled_back, "rule_min_weight", cases, {"spares_preassigned": True})
