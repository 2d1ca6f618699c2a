"""Production jobs, profile documented: whether a job fits a queue."""

from typing import Any

from tests.core.cases.production import (
    GIB,
    NUCLEUS,
    ONE,
    PASSES,
    QUEUE,
    STORAGES,
    Case,
    Given,
    Row,
    inputs,
    made,
    world,
)

EIGHT = {"core_count": 8}
DIRECT = {"direct_access_lan": True}
SHORT, LONG = "walltime -shortwalltime", "walltime -longwalltime"
HOURS = {"cpu_time": 900}  # 900 * 100 events * 100 / (1 core * 10 * 90 %) = 10000 s
UNIFIED: Row = {"capability": "ucore", "corecount": 8, "maxrss": 16000}


def _disk_io(task: Row, queue: Row, average: int, expected: str) -> Given:
    return world(queue | {"average_diskio": average}, task), {"Q": expected}


DISK_IO = made("disk-io", _disk_io, [
    ({"disk_io": 101}, {"maxdiskio": 100}, 101, "disk-io -diskIO"),
    ({"disk_io": 100}, {"maxdiskio": 100}, 101, PASSES),
    ({"disk_io": 101}, {"maxdiskio": 100}, 100, PASSES),
    ({"disk_io": 101}, {"maxdiskio": 0}, 1000, PASSES),  # no limit anywhere
    ({"disk_io": 803, "core_count": 8}, {"maxdiskio": 100, "corecount": 8}, 101, "disk-io -diskIO"),  # 100.375
    ({"disk_io": 800, "core_count": 8}, {"maxdiskio": 100, "corecount": 8}, 101, PASSES),
    ({"disk_io": 800, "core_count": 0}, {"maxdiskio": 100, "corecount": 8}, 101, "disk-io -diskIO"),
])  # fmt: skip


def _cores(task: Row, cores: int, expected: str) -> Given:
    return world({"corecount": cores}, task), {"Q": expected}


CORES = made("cores", _cores, [
    ({"core_count": 8}, 4, PASSES), ({"core_count": 8}, 1, "core-count -cpucore"),
    ({"core_count": 1}, 8, "core-count -cpucore"), ({"core_count": None}, 8, "core-count -cpucore"),
    ({"core_count": None}, 0, PASSES), ({"core_count": 0}, 8, PASSES),
    ({"core_count": 0, "split": {"maxCoreCount": 7}}, 8, "max-core-count -max_cpucore"),
    ({"core_count": 0, "split": {"maxCoreCount": 8}}, 8, PASSES),
    ({"core_count": 8, "merge_core_count": 1, "is_merging": True}, 1, PASSES),
    ({"core_count": 8, "merge_core_count": 1}, 1, "core-count -cpucore"),
])  # fmt: skip


def _memory(task: Row, queue: Row, expected: str) -> Given:
    return world(queue, task), {"Q": expected}


MEMORY = made("memory", _memory, [
    # 0.9 * (500 + 8 * 2000) = 14850
    (EIGHT | {"base_ram_count": 500}, {"corecount": 8, "maxrss": 14850, "minrss": 14850}, PASSES),
    (EIGHT | {"base_ram_count": 500}, {"corecount": 8, "maxrss": 14849}, "memory -lowmemory"),
    (EIGHT | {"base_ram_count": 500}, {"corecount": 8, "minrss": 14851}, "memory -highmemory"),
    # 0.9 * (500 + 2000) = 2250, whatever the cores
    (EIGHT | {"base_ram_count": 500, "ram_unit": "MB"}, {"corecount": 8, "maxrss": 2250, "minrss": 2250}, PASSES),
    ({"ram_count": 2001}, {"maxrss": 1800}, "memory -lowmemory"),  # 1800.9
    ({"ram_count": 2001}, {"minrss": 1801}, "memory -highmemory"),
    ({"chunk_ram_count": 2500}, {"maxrss": 2249}, "memory -lowmemory"),
    ({"ram_count": 0, "base_ram_count": 9000}, {"maxrss": 1}, PASSES),
    ({"ram_count": None}, {"minrss": 1}, PASSES),
    # merging: 0.9 * max(1000, 0, 2000), without base; nothing known of the chunk: no check
    ({"is_merging": True, "merge_ram_count": 1000, "base_ram_count": 500}, {"maxrss": 1800}, PASSES),
    ({"is_merging": True, "merge_ram_count": 1000}, {"maxrss": 1799}, "memory -lowmemory"),
    ({"is_merging": True, "ram_count": 9000}, {"maxrss": 1}, PASSES),
    ({"is_merging": True, "chunk_ram_count": 1000}, {"maxrss": 899}, "memory -lowmemory"),
    (EIGHT, {"corecount": 8, "maxrss": 1800, "catchall": "x, per_core_attr"}, PASSES),  # 14400 in all
])  # fmt: skip


def _direct_io(split: Row, queue: Row, expected: str) -> Given:
    return world(queue, {"split": split}), {"Q": expected}


DIRECT_IO = made("direct-io-only", _direct_io, [
    ({"allowInputLAN": 2}, {}, "direct-io-only -remoteio"), ({"allowInputLAN": "only"}, DIRECT, PASSES),
    ({"allowInputLAN": "only"}, {"maxinputsize": -1}, PASSES), ({"allowInputLAN": 1}, {}, PASSES),
])  # fmt: skip


def _scratch(slot: tuple[int, int], task: Row, size: int, queue: Row, expected: str) -> Given:
    maxwdir, cores = slot
    job = {"input": ["data0"], "core_count": cores} | task
    given = world(queue | {"corecount": cores, "maxwdir": maxwdir * cores}, job, datasets=inputs([("a1", size, 100)]))
    return given, {"Q": expected}


# The job, the size of its input, the queue, and the largest maxwdir per core (MiB) that is not enough.
SCRATCH_NEEDS: list[tuple[Row, int, Row, int]] = [
    ({}, GIB, {}, 1536),  # 1 GB and half a GB of output
    ({"out_disk_count": 6, "out_disk_unit": "MBPerEvent"}, GIB, {}, 1624),  # 100 events
    ({"out_disk_count": 1024, "out_disk_unit": "kB"}, GIB, {}, 2048),  # 1 MB for each of 1024 MB
    ({"out_disk_count": 600, "out_disk_unit": "MB"}, 0, {}, 600),  # a file of no size is one MB of input
    ({"out_disk_count": -1, "out_disk_unit": "MB"}, GIB, {}, 1536),
    ({"work_disk_count": 100, "work_disk_unit": "MB"}, GIB, {}, 1636),
    ({}, GIB, {"maxinputsize": -1}, 512),
    ({"split": {"allowInputLAN": 1}}, GIB, DIRECT, 512),
    ({"split": {"allowInputLAN": 1, "useLocalIO": 1}}, GIB, DIRECT, 1536),
    ({"split": {"allowInputLAN": 1}}, GIB, {}, 1536),
    ({"split": {}}, GIB, DIRECT, 1536),
    ({"is_merging": True, "split": {"allowInputLAN": 1}}, GIB, DIRECT, 1536),
]
SCRATCH = made("scratch-disk", _scratch, [
    ((maxwdir, cores), task, size, queue, expected)
    for task, size, queue, most in SCRATCH_NEEDS
    for cores in (1, 8)
    for maxwdir, expected in ((most, "scratch-disk -disk"), (most + 1, PASSES), (0, PASSES))
])  # fmt: skip


def _stores(changes: Row, queue: Row, expected: str) -> Given:
    changed = {name: row | changes.get(name, {}) for name, row in STORAGES.items()}
    return world(queue, storages=changed), {"Q": expected}


STORES = made("storages", _stores, [
    ({"DISK": {"space_free": 200}}, {}, "storage-space -disk"),
    ({"DISK": {"space_free": 200.1}}, {}, PASSES),
    ({"DISK": {"space_free": None, "space_expired": 999}}, {}, "storage-space -disk"),
    ({"DISK": {"space_free": None}}, {"astorages": {"read_lan": ["DISK"]}}, PASSES),
    ({"DISK": {"read_lan": "OFF"}}, {}, PASSES),
    ({"DISK": {"read_lan": "OFF"}, "SECOND": {"read_lan": "TEST"}}, {}, PASSES),  # there is a tape
    ({name: {"read_lan": "OFF"} for name in ("DISK", "SECOND", "TAPE")}, {}, "storage-blacklist -read_lan_blacklist"),
    ({"DISK": {"write_lan": "TEST"}}, {}, "storage-blacklist -write_lan_blacklist"),
    ({"DISK": {"write_wan": "OFF", "read_wan": "OFF"}}, {}, PASSES),
])  # fmt: skip


def _walltime(task: Row, queue: Row, expected: str) -> Given:
    return world(queue, {"input": ["data0"]} | task, datasets=inputs(ONE)), {"Q": expected}


WALLTIME = made("walltime", _walltime, [
    (HOURS, {"maxtime": 10000, "mintime": 10000}, PASSES),
    (HOURS, {"maxtime": 9999}, SHORT),
    (HOURS, {"mintime": 10001}, LONG),
    (HOURS, {"maxtime": 6878, "corepower": 14.54}, PASSES),  # 6877.579...
    (HOURS, {"maxtime": 6877, "corepower": 14.54}, SHORT),
    (HOURS | {"base_walltime": 60}, {"maxtime": 10059}, SHORT),
    (HOURS | {"cpu_efficiency": None}, {"maxtime": 10000, "corepower": None}, PASSES),
    (HOURS | {"core_count": 8}, {"corecount": 8, "maxtime": 1250, "mintime": 1250}, PASSES),
    ({"cpu_time": 900000, "cpu_time_unit": "mHS06sPerEvent"}, {"maxtime": 10000, "mintime": 10000}, PASSES),
    (HOURS | {"cpu_efficiency": 0}, {"maxtime": 10**9}, SHORT),
    (HOURS | {"cpu_efficiency": 0}, {"mintime": 10**9}, PASSES),
    ({"cpu_time": 0, "cpu_efficiency": 0, "base_walltime": 60}, {"mintime": 60, "maxtime": 60}, PASSES),
    ({"cpu_time": None}, {"maxtime": 1}, PASSES),
    ({"cpu_time": None}, {"mintime": 1}, LONG),
    # not HS06: 10 s for each of 1024 MB
    ({"cpu_time_unit": None, "walltime": 10}, {"maxtime": 10240, "mintime": 10240}, PASSES),
    ({"cpu_time_unit": None, "walltime": 10}, {"maxtime": 10239}, SHORT),
    ({"cpu_time_unit": None}, {"mintime": 1}, LONG),
    # 10 events at a time, 100 in all: between 1000 s and 10000 s
    (HOURS | {"split": {"dynamicNumEvents": 10}}, {"mintime": 10000, "maxtime": 1000}, PASSES),
    (HOURS | {"split": {"dynamicNumEvents": 10}}, {"mintime": 10001}, LONG),
    (HOURS | {"split": {"dynamicNumEvents": 10}}, {"mintime": 1, "maxtime": 999}, SHORT),
    (HOURS | {"split": {"dynamicNumEvents": 10}}, {"maxtime": 9999}, SHORT),  # without mintime: as before
    ({"is_merging": True}, {"maxtime": 86399}, "walltime-scout -min_walltime"),
    ({"is_merging": True}, {"maxtime": 86400}, PASSES),
    ({"is_merging": True}, {"maxtime": 0}, PASSES),
    ({"use_scout": True}, NUCLEUS | {"maxtime": 86399}, "walltime-scout -scout_walltime"),
])  # fmt: skip


def _connectivity(split: Row, offered: str | None, passes: bool) -> Given:
    return world({"wnconnectivity": offered}, {"split": split}), {"Q": PASSES if passes else "wn-connectivity -network"}


CONNECTIVITY = made("wn-connectivity", _connectivity, [
    ({}, "none#IPv6", True),
    ({"ipConnectivity": 1}, "full", True),
    ({"ipConnectivity": 1}, "http", False),
    ({"ipConnectivity": "http"}, "http", True),
    ({"ipConnectivity": 2}, "full", True),
    ({"ipConnectivity": 2}, "none", False),
    ({"ipConnectivity": 2}, None, False),
    ({"ipConnectivity": 1}, "full#IPv4", False),  # stacks must be equal
    ({"ipConnectivity": 1, "ipStack": 4}, "full#IPv4", True),
    ({"ipConnectivity": 1, "ipStack": 6}, "full", False),
    ({"ipStack": "IPv6"}, "#IPv6", True),
    ({"ipStack": "IPv6"}, "none#IPv4", False),
])  # fmt: skip


def _event_service(task: Row, seed: str | None, tag: str | None) -> Given:
    return world(NUCLEUS | {"jobseed": seed}, task), {"Q": f"event-service {tag}" if tag else PASSES}


EVENT_SERVICE = made("event-service", _event_service, [
    ({}, "es", "-nones"), ({}, "eshigh", None), ({"event_service": 1}, "std", "-es"),
    ({"event_service": 1}, None, "-es"), ({"event_service": 1}, "all", None),
    ({"event_service": 1, "current_priority": 899}, "eshigh", "-eshigh"),
    ({"event_service": 1, "current_priority": 900}, "eshigh", None),
])  # fmt: skip


def _transferring(limit: int | None, running: int, transferring: int, passes: bool) -> Given:
    counts = {"running": running, "transferring": transferring}
    statistics = [{"queue": "Q", "gshare": "Share B", "status": status, "njobs": n} for status, n in counts.items()]
    given = world({"transferringlimit": limit}, statistics=statistics)
    return given, {"Q": PASSES if passes else "transferring-limit -transferring"}


TRANSFERRING = made("transferring-limit", _transferring, [
    (0, 0, 2000, True), (None, 0, 2001, False), (10, 3, 10, True), (10, 5, 11, False), (10, 6, 12, True),
])  # fmt: skip


def _full_chain(chain: Any, nucleus: str | None, satellite: str | None, expected: dict[str, str]) -> Given:
    given = world({"catchall": satellite}, {"split": {"fullChain": chain}})
    given["queues"]["N"] = QUEUE | NUCLEUS | {"catchall": nucleus}
    return given, expected


FULL_CHAIN = made("full chain", _full_chain, [
    (1, "bareNucleus=only", None, {"Q": "full-chain-job -full_chain", "N": PASSES}),
    ("capable", "x,bareNucleus=allow", None, {"Q": "full-chain-job -full_chain", "N": PASSES}),
    (2, None, None, {"Q": PASSES, "N": PASSES}),
    (None, "bareNucleus=allow", None, {"Q": PASSES, "N": PASSES}),
    (None, "bareNucleus=only", None, {"Q": PASSES, "N": "full-chain-job -not_full_chain"}),
    (3, None, "bareNucleus=only", {"Q": "full-chain-job -not_full_chain", "N": PASSES}),
])  # fmt: skip


def _express(task: Row, config: Row, passes: bool) -> Given:
    return world(task=task, config=config), {"Q": PASSES if passes else "express-network-threshold -lowNetworkWeight"}


EXPRESS = made("express jobs", _express, [
    ({"processing_type": "urgent"}, {}, False),  # 1.65 is less than 1.7
    ({"processing_type": "Urgent"}, {}, True),
    ({"processing_type": "urgent"}, {"NW_THRESHOLD": 1.65}, True),
    ({"processing_type": "urgent"}, {"NW_THRESHOLD": 1.5, "NW_WEIGHT_MULTIPLIER": 1.1}, True),  # exactly 1.65
    ({"processing_type": "urgent"}, {"NW_THRESHOLD": 1.5, "NW_WEIGHT_MULTIPLIER": 1.11}, False),
])  # fmt: skip


AVERAGED = [
    {"queue": "Q", "gshare": "Share A", "status": "running", "njobs": 1, "diskio": 301},
    {"queue": "Q", "gshare": "Share B", "status": "running", "njobs": 2, "diskio": 0},
]
AWAY = NUCLEUS | {"storage_site": "S1"}  # a nucleus queue without a link of its own: 1.65

CASES = [
    *DISK_IO,
    Case("disk-io of the running jobs is averaged over all shares: 301 / 3 is over 100",
        world({"maxdiskio": 100}, {"disk_io": 200}, statistics=AVERAGED), {"Q": "disk-io -diskIO"}),
    *CORES,
    *MEMORY,
    *DIRECT_IO,
    *(
        Case(
            f"{case.name}, merging", case.world | {"tasks": [case.world["tasks"][0] | {"is_merging": True}]}, case.fates
        )
        for case in DIRECT_IO
    ),
    *SCRATCH,
    *STORES,
    *WALLTIME,
    *CONNECTIVITY,
    *EVENT_SERVICE,
    Case("event-service needs more than one core of a unified queue",
        world(UNIFIED, {"event_service": 1, "core_count": 0}),
        {"Q/SCORE": "event-service -es_ucore", "Q/MCORE": PASSES}),
    *TRANSFERRING,
    *FULL_CHAIN,
    Case("the bare nucleus of the table of nuclei counts for its queues",
        world({"panda_site": "BARE"}, nuclei={"BARE": {"bare_nucleus": "only"}}),
        {"Q": "full-chain-job -not_full_chain"}),
    Case("the table of nuclei comes before catchall",
        world({"panda_site": "BARE", "catchall": "bareNucleus=only"}, nuclei={"BARE": {"bare_nucleus": "allow"}}),
        {"Q": PASSES}),
    Case("params of a queue come before catchall",
        world({"params": {"bareNucleus": "allow"}, "catchall": "bareNucleus=only"}), {"Q": PASSES}),
    *EXPRESS,
    Case("priority 999 is not express", world(AWAY, {"current_priority": 999}), {"Q": PASSES}),
    Case("express starts at priority 1000", world(AWAY, {"current_priority": 1000}),
        {"Q": "express-network-threshold -lowNetworkWeight"}),
]  # fmt: skip
