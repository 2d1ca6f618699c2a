"""Random worlds for production job brokerage: one task and a few queues, near the limits of the rules.

A world is made harmless first: every queue would take the task. Then *themes* spoil it. A theme belongs to a rule or
two; it names attributes and the values that they may take (both sides of a limit, the limit itself, zero, null,
missing), so that its rule rejects some queues and lets others pass. Attributes of the task and of the configuration are
drawn once per world, those of queues for every queue; most are left unchanged.

`worlds()` is the strategy, which shrinks; Hypothesis likes to repeat itself, so give every theme its turn:
`worlds(theme)` for each of `THEMES`. `random_world(number)` makes such worlds from a number, evenly and reproducibly.

The profile `panda2026` has rules that the profile `documented` does not know: `PANDA_THEMES`. They are separate, so
that `random_world` gives the same world for a number whatever is added to them; `random_panda_world(number)` draws from
both.
"""

import copy
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]
Pick = Callable[[Sequence[Any]], Any]  # picks one of the values

TASK = 1000
SHARE, OTHER_SHARE = "Share A", "Share B"
GIB = 1024**3
AS_IS = ...  # the attribute is unchanged

TIMES = [0, None, 59, 60, 61, 4999, 5000, 5001, 9999, 10000, 10001, 10060, 86399, 86400, 86401, 100000]
RAM = [0, None, 900, 901, 1799, 1800, 1801, 2249, 2250, 2251, 14399, 14400, 14401, 14849, 14850, 14851, 20000]
SCRATCH = [0, None, 511, 512, 513, 1024, 1025, 1536, 1537, 2048, 2049, 4096, 8192, 12289, 65536]
RATES = [0, 0.5, 1, 1.1, 2, 2.5, 10, 10.5, 20, 21, 50, 50.5, 75, 76, 100, 100.5, 200, 200.5, None]
QUEUED = [0, 1, 149, 150, 151, 299, 300, 301, None]
COUNTS = [0, 1, 2, 10, 40, 41, 99, 100, 101, 200]
SIZES: dict[str, list[Any]] = {
    "split.nEventsPerJob": [AS_IS, AS_IS, AS_IS, 1, 15, 40, 150], "split.nGBPerJob": [AS_IS, AS_IS, 0.5, 1, 3],
    "split.tgtNumEventsPerJob": [AS_IS, AS_IS, AS_IS, 30, 120], "split.nMaxFilesPerJob": [AS_IS, AS_IS, 1, 2],
}  # fmt: skip
REPLICAS = ["full", "counted", "part", "one", "named", "none", "none", "full", "vp"]

POLICIES = [
    "type=evgensimul:100%", "type=evgen:100%,type=simul:100%,type=any:0%", "type=simul:0%",
    "type=reprocessing:60%,type=pile:40%", "type=reprocessing:60%,type=pile:39%", "type=repro*:0%,type=any:100%",
    "group=AP_*:50%,group=any:0%", "group=:0%,group=any:100%", "gshare=Share A:0%",
    "gshare=Share B:0%,gshare=Share*:10%", "type=any:priority>600:0%", "priority<600:0,type=any:100%",
    "type=evgen:priority>=500:0%,type=evgen:100%", "type=any:00%", "type=others:0%", "", None,
]  # fmt: skip

PLATFORM = "x86_64-centos7-gcc8-opt"
ARCHITECTURES = [
    PLATFORM, PLATFORM, None, "", "x86_64-slc6-gcc62-opt", "aarch64-centos7-gcc11-opt", f"{PLATFORM}@centos7",
    f"{PLATFORM}@", f"{PLATFORM}#x86_64", f"{PLATFORM}#x86_64-intel", f"{PLATFORM}#x86_64-amd-avx2",
    f"{PLATFORM}#x86_64-*-avx2", f"{PLATFORM}#(x86_64|aarch64)", f"{PLATFORM}#(x86_64|aarch64)-intel",
    f"{PLATFORM}#x86_64-intel|aarch64", f"{PLATFORM}#x86.*", f"{PLATFORM}#aarch64@centos7", f"{PLATFORM}&nvidia",
    f"{PLATFORM}&nvidia-kt100", f"{PLATFORM}&amd:vram>=1000", f"{PLATFORM}@centos7#x86_64-intel&nvidia", "#x86_64",
    "#aarch64&nvidia", "x86_64-(centos7|slc6)-gcc62-opt", "x86_64-(centos7|slc6)-gcc8[12]-opt",
    "x86_64-slc[67]-gcc8-opt", "x86_64-(el9|alma9)-gcc13-opt", "x86_64-(el9|alma9)-gcc13-opt@el9", "x86_64-.*-gcc8-opt",
    '{"sw_platform": "x86_64-centos7-gcc8-opt", "cpu_specs": [{"arch": "x86_64", "vendor": "intel", "instr": "*"}]}',
    '{"sw_platform": "x86_64-centos7-gcc8-opt", "gpu_spec": {"vendor": "nvidia", "model": "*"}}',
]  # fmt: skip
HARDWARE: list[list[Row]] = [
    [{"type": "cpu", "arch": ["x86_64"], "vendor": ["intel"], "instr": ["avx2"]}],
    [{"type": "cpu", "arch": ["x86_64"]}, {"type": "gpu", "vendor": ["nvidia"], "model": ["kt100"]}],
    [{"type": "cpu", "arch": ["x86_64", "excl"]}],
    [{"type": "cpu", "arch": ["any"], "vendor": ["intel", "excl"], "instr": ["any"]}],
    [{"type": "cpu", "arch": [""], "vendor": [""]}], [{"type": "cpu", "arch": ["aarch64"]}],
    [{"type": "cpu", "vendor": ["intel"]}], [{"type": "gpu", "vendor": ["nvidia", "excl"]}],
    [{"type": "cpu", "arch": ["x86_64"]}, {"type": "gpu", "vendor": ["nvidia", "excl"], "model": ["any"]}],
    [{"type": "cpu", "arch": ["aarch64"]}, {"type": "cpu", "arch": ["x86_64", "aarch64"]}], [],
]  # fmt: skip
IMAGE = "docker://atlas/athena:21.0.38"
TAGS: list[Row] = [
    {"cmtconfig": PLATFORM, "container_name": "", "project": "Athena", "release": "21.0.38", "sources": []},
    {"cmtconfig": "x86_64-slc6-gcc62-opt", "container_name": "athena", "project": "AthDerivation",
        "release": "21.2.2.0"},
    {"cmtconfig": PLATFORM, "container_name": "athena", "project": "Athena", "release": "21.0.39", "sources": [IMAGE]},
]  # fmt: skip
PUBLISHED: Row = {
    "cmtconfigs": [PLATFORM, "x86_64-slc6-gcc62-opt"], "containers": ["any", "/cvmfs"], "cvmfs": ["atlas", "nightlies"],
    "architectures": HARDWARE[0], "tags": TAGS,
}  # fmt: skip

Theme = dict[str, list[Any]]

THEMES: dict[str, Theme] = {
    "initial": {"queue.type": ["analysis", "unified", "special"], "queue.name": ["TEST_", "LATEST_", "Test_"]},
    "status": {"queue.status": ["online", "test", "offline", "brokeroff", "standby", "paused"]},
    "links": {"link.closeness": [-1, -1, 0, 4, 7.7, 11, None], "link.queued": QUEUED, "link.queued_express": QUEUED,
        "link.mbps_1h": RATES, "link.mbps_1d": RATES, "link.mbps_1w": RATES,
        "queue.storage_site": ["NUC", "S1", "ELSEWHERE"], "task.processing_type": [AS_IS, AS_IS, "urgent"],
        "config.NQUEUED_SAT_CAP": [AS_IS, AS_IS, 0, 10, 299, 300]},
    "nucleus cap": {"link.queued": [50, 75, 100, 149, 150], "link.queued_express": [50, 100],
        "task.processing_type": [AS_IS, AS_IS, "urgent"],
        "config.NQUEUED_NUC_CAP_FOR_JOBS": [0, 49, 50, 99, 100, 149, 150, 200, 300, 450]},
    "high priority": {"task.current_priority": [799, 800, 801, 900], "task.use_scout": [AS_IS, True, False],
        "queue.status": ["offline"], "queue.role": ["nucleus", "satellite"]},
    "inactive": {"task.current_priority": [AS_IS, AS_IS, 800], "split.mergeOutput": [1, 1, 0, AS_IS],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, True],
        "queue.laststart": [{"hours_ago": hours} for hours in (0.5, 1.99, 2, 2.01, 3, 30)] + [None],
        "stats.activated": [0, 1], "other.activated": [0, 1, 3]},
    "zero share": {"queue.fairsharepolicy": POLICIES,
        "task.processing_type": [AS_IS, "evgen", "simul", "pile", "validation", "recon", None],
        "task.working_group": [AS_IS, "AP_HIGG", "GP_TOP"], "task.current_priority": [AS_IS, 599, 600, 601],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, True]},
    "io": {"task.io_intensity": [199, 200, 201, 500, 500, None], "split.inputPreStaging": [AS_IS, AS_IS, 1],
        "split.nFilesPerJob": [AS_IS, 2], "config.IO_INTENSITY_CUTOFF": [AS_IS, AS_IS, AS_IS, 500, 499],
        "config.SIZE_CUTOFF_TO_MOVE_INPUT": [AS_IS, AS_IS, 1, 20], "config.NUM_CUTOFF_TO_MOVE_INPUT": [AS_IS, 1, 2, 3],
        "disk.0": REPLICAS, "disk.1": REPLICAS, "scratch.0": REPLICAS, "tape.0": REPLICAS, "tape.1": REPLICAS,
        "stats.assigned": [0, 1, 5, 20], "stats.activated": [0, 1, 5, 10]},
    "disk io": {"task.disk_io": [99, 100, 101, 101, 800, 808, 0, None], "task.core_count": [AS_IS, AS_IS, 8],
        "config.MAX_DISKIO_DEFAULT": [AS_IS, 100, 100, 0], "queue.maxdiskio": [0, None, 50, 100, 101],
        "queue.average_diskio": [0, None, 99, 100, 101, 200], "stats.diskio": [99, 100, 101]},
    "cores": {"task.core_count": [1, 8, 4, 0, None], "task.merge_core_count": [AS_IS, AS_IS, 1, 8, None],
        "task.is_merging": [AS_IS, AS_IS, True], "split.maxCoreCount": [AS_IS, AS_IS, AS_IS, 4, 7, 8, 0],
        "queue.corecount": [1, 8, 4, 0, None, 16], "task.current_priority": [AS_IS, 900]},
    "most cores": {"task.core_count": [8, 8, 0], "split.maxCoreCount": [4, 7, 8, 8],
        "queue.corecount": [2, 4, 7, 8, 9, 16]},
    "memory": {"task.ram_count": [2000, 2000, 2001, 1000, 1999, 0, None],
        "task.ram_unit": ["MBPerCore", "MBPerCore", "MBPerCoreFixed", "MB"], "task.base_ram_count": [AS_IS, 500, None],
        "task.chunk_ram_count": [AS_IS, 2500, 1000, None], "task.merge_ram_count": [AS_IS, 1000, 2500, None],
        "task.is_merging": [AS_IS, AS_IS, True], "queue.maxrss": RAM, "queue.minrss": RAM,
        "queue.catchall": ["per_core_attr", "x=1,per_core_attr"]},
    "direct io": {"split.allowInputLAN": [2, "only", "only", 1, AS_IS], "task.is_merging": [AS_IS, AS_IS, True],
        "queue.direct_access_lan": [True, True, False, None], "queue.maxinputsize": [-1, 0, 10000, None]},
    "scratch": {"split.allowInputLAN": [AS_IS, AS_IS, 1, "use", "only"], "split.useLocalIO": [AS_IS, AS_IS, 1],
        "split.nFilesPerJob": [AS_IS, 1, 2, 3], **SIZES,
        "task.out_disk_count": [AS_IS, 0, 1, 0.5, 100, 1048576, -1, None],
        "task.out_disk_unit": ["kB", "kBPerEvent", "MB", "MBPerEvent", "kBPerEventFixed"],
        "task.work_disk_count": [AS_IS, 0, 512, 512.5, None], "task.work_disk_unit": ["MB", "MB", "kB"],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, True], "split.nFilesPerMergeJob": [AS_IS, 2], "queue.maxwdir": SCRATCH,
        "queue.direct_access_lan": [True, False], "queue.maxinputsize": [-1], "queue.catchall": ["per_core_attr"]},
    "space": {"storage.space_free": [199, 200, 201, 199.9, 200.1, 0, None], "storage.space_expired": [500],
        "storage.space_min_free": [900], "queue.outputs": [[]]},
    "blacklist": {"storage.read_lan": ["OFF", "TEST", "ON", None], "storage.write_lan": ["OFF", "TEST", "ON", None],
        "storage.read_wan": ["OFF"], "second.read_lan": ["OFF", "TEST", "OFF", "ON"],
        "second.write_lan": ["OFF", "TEST", "OFF", "ON"], "queue.outputs": [[]]},
    "scouts": {"task.use_scout": [True, True, AS_IS], "task.is_merging": [AS_IS, True],
        "queue.maxtime": [0, None, 86399, 86400, 86401], "queue.role": ["nucleus"]},
    "walltime": {"task.cpu_time": [900, 900, 450, 0, None, 0.5, 900000],
        "task.cpu_time_unit": ["HS06sPerEvent", "HS06sPerEvent", "mHS06sPerEvent", "secondsPerEvent", None],
        "task.walltime": [AS_IS, None, 0, 5, 100], "task.cpu_efficiency": [90, 90, 100, 45, 0, None],
        "task.base_walltime": [AS_IS, 60, None], "task.is_merging": [AS_IS, AS_IS, AS_IS, True],
        "split.nFilesPerJob": [AS_IS, 2], **SIZES, "split.dynamicNumEvents": [AS_IS, AS_IS, 10, 50, 100, 200],
        "queue.maxtime": TIMES, "queue.mintime": TIMES, "queue.corepower": [10, 20, 0, None, 14.54]},
    "connectivity": {"split.ipConnectivity": [AS_IS, 1, 2, "full", "http"],
        "split.ipStack": [AS_IS, AS_IS, 4, 6, "IPv4"],
        "queue.wnconnectivity": ["full", "http", "none", "full#IPv4", "http#IPv4", "full#IPv6", "full#", "#IPv4", "",
            None]},
    "event service": {"task.event_service": [1, 1, 1, 0, 2, 3, AS_IS],
        "task.current_priority": [AS_IS, AS_IS, 899, 900], "task.use_scout": [AS_IS, AS_IS, True],
        "queue.jobseed": ["std", "es", "eshigh", "all", None],
        "queue.role": ["nucleus"]},
    "transferring": {"stats.transferring": [0, 99, 100, 101, 2000, 2001], "other.transferring": [0, 1, 1900],
        "other.running": [0, 10, 1000], "queue.transferringlimit": [0, None, 100, 101, 2000]},
    "t1 weight": {"split.t1Weight": [-1, -1, -1, -2, 0, 1], "task.is_merging": [AS_IS, AS_IS, True],
        "queue.role": ["nucleus", "satellite"], "queue.status": ["test"]},
    "full chain": {"split.fullChain": [1, 2, 3, "only", "require", "capable", AS_IS, AS_IS],
        "queue.catchall": ["bareNucleus=only", "bareNucleus=allow", "a,bareNucleus=only,b=2", "bareNucleusX=only"],
        "queue.params": [{"bareNucleus": "only"}, {"bareNucleus": "allow"}], "queue.role": ["nucleus"],
        "nucleus.bare_nucleus": ["only", "allow", AS_IS, AS_IS, AS_IS]},
    "pilots": {
        "queue.pilots": [{"getjob": 0, "updatejob": 0}, {"getjob": 1, "updatejob": 0}, {"getjob": 0, "updatejob": 3},
            {"getjob": 0}, None]},
    "express": {"task.processing_type": ["urgent", "urgent", "my_urgent_x", "Urgent"],
        "task.current_priority": [AS_IS, AS_IS, AS_IS, AS_IS, 999, 1000],
        "config.NW_THRESHOLD": [AS_IS, AS_IS, 1.65, 1.85, 2.0, 1.0],
        "config.NW_WEIGHT_MULTIPLIER": [AS_IS, AS_IS, 1, 1.1], "link.closeness": [0, 4, 11, None],
        "link.queued": QUEUED, "link.queued_express": [0, 30, 150, None], "link.mbps_1h": RATES, "link.mbps_1d": RATES},
    "running": {"task.resource_type": [AS_IS, "MCORE", None], "stats.running": [0, 1, 5, 19, 20, 21],
        "stats.activated": COUNTS, "stats.starting": COUNTS, "stats.assigned": COUNTS, "stats.defined": COUNTS,
        "other.running": [0, 1000],
        "queue.workers": [{"running": 0, "submitted": 0}, {"running": 5, "submitted": 5},
            {"running": 20, "submitted": 1}, {"running": 300, "submitted": 10}],
        "queue.slots": [[{"gshare": None, "resource_type": None, "numslots": 100}],
            [{"gshare": SHARE, "resource_type": None, "numslots": 0}],
            [{"gshare": SHARE, "resource_type": "SCORE", "numslots": 99}],
            [{"gshare": SHARE, "resource_type": "MCORE", "numslots": 80},
             {"gshare": None, "resource_type": None, "numslots": 200}],
            [{"gshare": SHARE, "resource_type": "SCORE", "numslots": 30},
             {"gshare": SHARE, "resource_type": None, "numslots": 60},
             {"gshare": OTHER_SHARE, "resource_type": None, "numslots": 500}]]},
    "software": {
        "task.trans_home": ["Athena-21.0.38", "Athena-21.0.38", "AthDerivation-21.2.2.0", "AtlasOffline-rel_3",
            "Athena-master-2026-03-01T0300", "Athena-rel_1-21.0.38", "Athena", AS_IS],
        "task.architecture": ARCHITECTURES,
        "task.container_name": [AS_IS, AS_IS, AS_IS, "athena", IMAGE, "/cvmfs/atlas/x.img", "docker://other"],
        "task.only_tags_for_fc": [AS_IS, AS_IS, True],
        "queue.releases": [["AUTO"]] * 12 + [["ANY"], ["21.0.38"], ["AUTO", "ANY"], []],
        "software.cmtconfigs": [[PLATFORM], ["x86_64-slc6-gcc62-opt", "x86_64-slc6-gcc8-opt"], []],
        "software.containers": [["any"], ["/cvmfs"], ["docker://atlas"], ["/cvmfs/atlas"], []],
        "software.cvmfs": [["any"], ["atlas"], ["nightlies"], []], "software.architectures": HARDWARE,
        "software.tags": [TAGS[:1], TAGS[1:], []]},
    "pre-assigned": {"task.site": ["half", "half", "all", "first", AS_IS], "queue.status": ["test", "offline"],
        "queue.type": ["analysis"], "queue.name": ["TEST_"]},
    "pre-merged": {"dataset.site": ["half", "first"], "dataset.created": [{"hours_ago": 48}, {"hours_ago": 25}, None],
        "task.frozen": [AS_IS] + [{"hours_ago": hours} for hours in (6.5, 23, 24, 24.5, 48)],
        "dataset.modified": [{"hours_ago": hours} for hours in (23, 24, 24.5, 25, 48)] + [None],
        "task.is_merging": [AS_IS, True], "task.site": [AS_IS, AS_IS, "half"], "queue.status": ["test", "offline"],
        "queue.type": ["analysis", "unified", "special"]},
    "many queues": {"stats.running": [60, 100, 200], "link.mbps_1h": RATES, "link.closeness": [0, 4, 11]},
}  # fmt: skip

SEEN_GPUS: list[list[Row]] = [
    [{"vendor": "NVIDIA", "model": "kt100", "vram": 16384, "driver_version": "535.10", "framework_version": "12.2"}],
    [
        {"vendor": "NVIDIA", "model": "A100", "vram": 40960, "architecture": "ampere", "driver_version": "535.9"},
        {"vendor": "NVIDIA", "model": "A100", "vram": 999, "architecture": "ampere", "driver_version": "535.11"},
    ],
    [{"vendor": "AMD", "model": "MI250", "vram": 65536}],
    [],
]
LEVELS = json.dumps({"sw_platform": PLATFORM, "cpu_pref": {"preferred_architecture_level": "x86_64-v3"}})
GPUS = json.dumps({"sw_platform": PLATFORM, "gpu_spec": {"vendor": "nvidia", "model": "*", "vram": ">1000"}})

PANDA_THEMES: dict[str, Theme] = {
    "panda: initial": {"queue.type": ["analysis", "special", "unified"], "queue.cloud": ["", "", "DE"],
        "queue.name": ["TEST_"], "queue.catchall": ["grandly_unified", "x=1,grandly_unified", "grandly_unifiedX"]},
    "panda: pre-assigned alone": {"task.site": ["first", "first", "half", "all", "unknown"],
        "task.use_scout": [AS_IS, True], "task.event_service": [AS_IS, AS_IS, 1],
        "task.core_count": [AS_IS, 8, 0], "task.io_intensity": [AS_IS, 500],
        "split.maxCoreCount": [AS_IS, 4], "split.ipConnectivity": [AS_IS, "full"], "split.ipStack": [AS_IS, 6],
        "core.WORK_SHORTAGE": [AS_IS, True], "queue.corecount": [1, 8, None], "queue.jobseed": ["es", "std", "eshigh"],
        "queue.wnconnectivity": ["http", "none", None], "queue.pledgedcpu": [-1], "queue.status": ["test", "offline"],
        "queue.pilots": [None, {}], "queue.catchall": ["useJumboJobs"], "queue.maxtime": [1000],
        "queue.laststart": [{"hours_ago": 3}]},
    "panda: pre-merged": {"dataset.site": ["first", "first", "half"],
        "dataset.created": [{"hours_ago": 48}, {"hours_ago": 48}, None],
        "dataset.modified": [{"hours_ago": hours} for hours in (23, 25, 25, 48)],
        "task.frozen": [AS_IS] + [{"hours_ago": hours} for hours in (5, 6, 6.5, 30)], "task.is_merging": [AS_IS, True],
        "queue.status": ["standby", "offline"], "queue.outputs": [["SHARED_DISK"], ["SHARED_DISK"], []],
        "queue.inputs": [["SHARED_DISK"], ["SHARED_DISK"]], "queue.type": ["analysis", "unified"],
        "queue.catchall": ["", "", "grandly_unified"]},
    "panda: nucleus": {"nucleus.write_wan": ["OFF", "TEST", "ON", None],
        "config.NQUEUED_NUC_CAP_FOR_JOBS": [AS_IS, AS_IS, AS_IS, 100], "link.closeness": [-1],
        "link.queued": [149, 150], "queue.storage_site": ["NUC"], "task.nucleus": ["NUC", "NUC", "NUC", "SHUT"]},
    "panda: opportunistic": {"task.current_priority": [799, 800, 900], "task.use_scout": [AS_IS, True],
        "queue.pledgedcpu": [-1, -1, 0, 100]},
    "panda: inactive": {"task.current_priority": [800],
        "queue.laststart": [{"hours_ago": 3}, {"hours_ago": 3}, {"hours_ago": 1}], "stats.activated": [0],
        "stats.starting": [0, 1], "other.starting": [0, 1]},
    "panda: jumbo": {"split.nJumboJobs": [AS_IS, 0, 1, 5],
        "queue.catchall": ["useJumboJobs", "useJumboJobs", "useJumboJobs,minEventsForJumbo=100", "useJumboJobsX"],
        "queue.params": [{"minEventsForJumbo": least} for least in (99, 100, 101, 200, 201)],
        "queue.pilots": [None, {"getjob": 0}]},
    "panda: disk io": {"task.disk_io": [100, 800, 807, 808, 816], "task.core_count": [8], "queue.average_diskio": [101],
        "queue.maxdiskio": [100, 100.5]},
    "panda: cores": {"task.core_count": [0, 0, 1, None], "task.current_priority": [AS_IS, 899, 900],
        "task.use_scout": [AS_IS, AS_IS, True], "queue.corecount": [1, 8, 0, None]},
    "panda: memory": {"task.ram_count": [1001, 2001, 2003], "task.ram_unit": ["MB", "MBPerCore", "MBPerCoreFixed"],
        "task.base_ram_count": [500, 501], "queue.maxrss": [900, 1350, 1351, 1800, 1801, 2250, 2251],
        "queue.minrss": [900, 900.5, 1350, 1351, 1800, 1800.5, 1801, 2252]},
    "panda: scratch": {"task.out_disk_count": [0, 1024, 2000], "task.out_disk_unit": ["kB", "MBPerEvent", "kBPerEvent"],
        "task.work_disk_count": [AS_IS, 0, 100], "task.work_disk_unit": ["MB"], "task.core_count": [1, 8, 0, None],
        "task.event_service": [AS_IS, AS_IS, 1], "queue.corecount": [1, 8],
        "queue.maxwdir": [1499, 1500, 1799, 1800, 1900, 2523, 2524, 2524.5, 2823, 2824, 3824, 12000, 14400]},
    "panda: space": {"storage.space_free": [100, 199, 200, 300], "storage.space_expired": [100, 1],
        "storage.space_min_free": [100, 101], "storage.space_unavailable": [100],
        "config.STORAGE_MIN_FREE_SIZE": [AS_IS, 0, 100, 1000, 1001], "queue.outputs": [[], ["NUC_DISK"]]},
    "panda: activities": {"storage.read_lan": ["OFF"], "storage.write_lan": ["TEST"],
        "storage.read_wan": ["OFF", "TEST"], "storage.write_wan": ["OFF", "TEST", "PROBING"],
        "storage.type": ["SCRATCHDISK", None], "second.type": ["DATADISK"], "second.read_wan": ["OFF"],
        "second.write_wan": ["OFF"], "disk.0": REPLICAS},
    "panda: sources": {"source.read_wan": ["OFF", "TEST", None], "source.read_lan": [AS_IS, AS_IS, "OFF"],
        "source.replica": ["full", "part", "one", "none"], "source.alone": [AS_IS, True],
        "dataset.distributed": [AS_IS, AS_IS, AS_IS, True], "split.inputPreStaging": [AS_IS, AS_IS, AS_IS, 1],
        "config.MAX_MISSING_INPUT_FILES": [AS_IS, 0, 1], "config.MIN_INPUT_COMPLETENESS": [AS_IS, AS_IS, 50, 51],
        "storage.read_wan": ["OFF", "TEST"], "storage.read_lan": ["OFF"], "disk.0": REPLICAS},
    "panda: walltime": {"task.cpu_time": [900, 900, None, 0, 10.001],
        "task.cpu_time_unit": ["HS06sPerEvent", "HS06sPerEvent", "mHS06sPerEvent", None, ""],
        "task.walltime": [None, None, 0, 100], "task.walltime_unit": [AS_IS, AS_IS, "kSPerMB"],
        "task.base_walltime": [AS_IS, 60], "task.use_scout": [AS_IS, AS_IS, True],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, True], "task.core_count": [AS_IS, 8],
        "task.event_service": [AS_IS, AS_IS, 1, 2], "split.nEsConsumers": [AS_IS, 1, 2],
        "split.maxAttemptES": [AS_IS, AS_IS, 0, 1], "split.maxAttemptEsJob": [AS_IS, AS_IS, 0, 4],
        "split.dynamicNumEvents": [AS_IS, AS_IS, 10, 50, 100], "split.maxEventsPerJob": [AS_IS, 50, 100],
        "queue.maxtime": [59, 60, 61, 9999, 10000, 10001, 86399, 86400, 96000, 95999, 96060, 864000],
        "queue.mintime": [60, 100, 9999, 10000, 10001, 10060, 10061], "queue.corepower": [10, 20, 0]},
    "panda: stacks": {"split.ipConnectivity": [AS_IS, "full", "http"], "split.ipStack": [AS_IS, 4, 6],
        "queue.wnconnectivity": ["full#IPv4", "full#IPv6", "http#IPv4", "http", "none", None]},
    "panda: transferring": {"world.other_nucleus": [True], "stats.transferring": [100, 101, 1999, 2000],
        "shut.transferring": [1, 2, 100], "other.transferring": [0, 1], "queue.transferringlimit": [100, 100, 0],
        "stats.running": [0, 50, 51], "queue.storage_site": ["NUC"], "queue.outputs": [[], ["SHARED_DISK"]]},
    "panda: shortage": {"core.WORK_SHORTAGE": [True, True, False], "queue.pledgedcpu": [-1, 0, 100, 100],
        "queue.core_statistics": [{"running": 90, "starting": 10}, {"running": 101}, {"running": 100, "starting": 1}]},
    "panda: t1 weight": {"split.t1Weight": [-1, -2, 0, 10, 150], "task.current_priority": [AS_IS, 899, 900],
        "task.event_service": [AS_IS, AS_IS, 1], "task.is_merging": [AS_IS, AS_IS, AS_IS, True],
        "task.io_intensity": [AS_IS, 500, 501], "stats.running": [20, 30, 50], "other.running": [0, 30]},
    "panda: io intensity": {"task.io_intensity": [299, 300, 301, None], "task.is_merging": [AS_IS, AS_IS, True],
        "queue.params": [{"max_io_intensity": 300}, {"max_io_intensity": 300}, {"max_io_intensity": "299"}],
        "queue.catchall": ["max_io_intensity=300"], "disk.0": REPLICAS},
    "panda: pilots": {"task.label": ["managed", "managed", "prod_test", "test"],
        "queue.pilots": [None, {}, {"getjob": 0, "updatejob": 0}],
        "queue.slots": [[{"gshare": None, "resource_type": None, "numslots": 0}],
            [{"gshare": OTHER_SHARE, "resource_type": None, "numslots": 10}],
            [{"gshare": SHARE, "resource_type": "MCORE", "numslots": 10}]]},
    "panda: io": {"task.io_intensity": [500], "task.event_service": [AS_IS, AS_IS, AS_IS, 1],
        "split.inputPreStaging": [AS_IS, AS_IS, 1], "config.SIZE_CUTOFF_TO_MOVE_INPUT": [AS_IS, 0, 1, 2, 3],
        "config.NUM_CUTOFF_TO_MOVE_INPUT": [AS_IS, 0, 1, 2], "disk.0": [*REPLICAS, "none", "none"],
        "disk.1": [*REPLICAS, "none"], "tape.0": REPLICAS, "tape.1": REPLICAS, "queue.pilots": [None]},
    "panda: workers": {"task.current_priority": [149, 150, 151], "config.MAX_PRIO_TO_BOOTSTRAP": [AS_IS, AS_IS, 149],
        "stats.running": [0, 1, 19, 20], "stats.activated": COUNTS, "stats.starting": [0, 1, 5],
        "queue.ups": [True, True, False], "queue.pilots": [None],
        "queue.workers": [{"running": 5, "submitted": 5}, {"running": 300, "submitted": 10}, {"running": 0}],
        "queue.slots": [[{"gshare": None, "resource_type": None, "numslots": 100}],
            [{"gshare": SHARE, "resource_type": "SCORE", "numslots": 0}],
            [{"gshare": SHARE, "resource_type": None, "numslots": 33}]]},
    "panda: bootstrap": {"task.current_priority": [149, 150, 150, 151], "task.is_merging": [AS_IS, AS_IS, AS_IS, True],
        "task.processing_type": [AS_IS, AS_IS, AS_IS, "urgent"], "config.MIN_WEIGHT_managed": [AS_IS, AS_IS, 0.1],
        "stats.": [{}, {}, {}, {"running": 1}, {"defined": 1}, {"assigned": 1}, {"starting": 1}], "live.counter": [1]},
    "panda: network": {"config.NW_ACTIVE": [True, True, True, AS_IS], "config.NW_QUEUE_IMPORTANCE": [AS_IS, 0.25, 1],
        "config.NQUEUED_SAT_CAP": [AS_IS, AS_IS, 300], "config.NW_THRESHOLD": [AS_IS, 1.4, 1.9],
        "task.processing_type": [AS_IS, "urgent", "urgent", "my_urgent_x"],
        "task.current_priority": [AS_IS, AS_IS, 1000, 1001], "link.closeness": [0, 4, 11, None], "link.queued": QUEUED,
        "link.queued_express": [0, 30, 150, None], "link.mbps_1h": RATES, "link.mbps_1d": RATES},
    "panda: cap": {"config.NQUEUELIMITSITE_Share A": [AS_IS, AS_IS, 0, 5, 40],
        "task.processing_type": [AS_IS, AS_IS, "urgent"], "task.resource_type": ["SCORE", "SCORE", "MCORE", None],
        "stats.running": [0, 5, 10, 11], "stats.activated": [0, 1, 10, 18, 20], "stats.starting": [0, 1, 3],
        "stats.assigned": [0, 1, 5, 20], "stats.defined": [0, 1, 20], "mcore.running": [1, 10],
        "mcore.activated": [0, 20, 21], "mcore.defined": [5, 21], "mcore.assigned": [5],
        "at.resource_types": [["SCORE"], ["MCORE"], ["SCORE", "MCORE"], ["VHIMEM"]], "live.counter": [3, 30]},
    "panda: local data": {"queue.catchall": ["use_only_local_data", "use_only_local_data", "x,use_only_local_data"],
        "disk.0": REPLICAS, "disk.1": REPLICAS, "at.lock": [True]},
    "panda: least weight": {"config.MIN_WEIGHT_managed": [AS_IS, 0.5, 1],
        "config.MIN_WEIGHT_managed_Share A": [AS_IS, AS_IS, 0.7, 2], "stats.running": [5, 20, 100],
        "stats.activated": [0, 10, 30]},
    "panda: architecture": {"task.trans_home": ["Athena-21.0.38", "Athena-21.0.38", AS_IS],
        "task.architecture": [LEVELS, LEVELS, f"{PLATFORM}&nvidia", f"{PLATFORM}&nv-A1",
            f"{PLATFORM}&*-model:model!=A1.*", f"{PLATFORM}&nvidia:vram>=1000", f"{PLATFORM}&nvidia:vram!=1000",
            f"{PLATFORM}&nvidia:driver>535.9", f"{PLATFORM}&nvidia:cuda=12.2:vram>999", f"{PLATFORM}&*-*:uarch=ampere",
            f"{PLATFORM}#(x86_64-intel|aarch64)&nvidia", f"{PLATFORM}@centos7", GPUS, "x86_64-slc[67]-gcc8-opt", ""],
        "task.container_name": [AS_IS, AS_IS, AS_IS, "athena", IMAGE], "task.only_tags_for_fc": [AS_IS, True],
        "queue.releases": [["AUTO"]] * 8 + [["ANY"], ["ANY", "AUTO"]],
        "software.cmtconfigs": [["x86_64-slc6-gcc62-opt", "x86_64-slc6-gcc8-opt"]],
        "software.containers": [["any"], ["/cvmfs"], ["docker://atlas"], []], "software.cvmfs": [[], ["nightlies"]],
        "software.architectures": [[{"type": "cpu", "arch": ["x86_64"]}, {"type": "gpu", "vendor": ["any"]}],
            [{"type": "cpu", "arch": ["any"]}, {"type": "gpu", "vendor": ["nvidia", "excl"]}], *HARDWARE],
        "at.gpus": SEEN_GPUS,
        "at.levels": [{"x86_64-v3": 50}, {"x86_64-v3": 12.5, "x86_64-v2": 80}, {"x86_64-v2": 100}]},
}  # fmt: skip
OF_DOC = ("queue", "link", "storage", "second", "stats", "other", "software", "disk", "scratch", "tape")
OF_PANDA = ("mcore", "shut", "live", "at")  # more statistics, and the data of other sections about a queue
OF_QUEUES = (*OF_DOC, *OF_PANDA)


def _queue_paths(themes: dict[str, Theme]) -> list[tuple[str, list[Any]]]:
    return [
        (path, values)
        for name, theme in themes.items()
        if name not in ("software", "panda: architecture")
        for path, values in theme.items()
        if path.split(".")[0] in OF_QUEUES
    ]


@dataclass
class Parts:
    """The parts of a world for one queue."""

    number: int
    name: str
    queue: Row
    storage: Row
    second: Row  # another storage of the queue
    link: Row
    replicas: dict[str, dict[int, str]] = field(default_factory=dict)  # storage -> dataset -> kind of replica
    stats: dict[str, Any] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=dict)
    mcore: dict[str, Any] = field(default_factory=dict)  # statistics of the share, of resource type MCORE
    shut: dict[str, Any] = field(default_factory=dict)  # the same, for a nucleus that cannot be written to
    live: dict[str, Any] = field(default_factory=dict)
    at: dict[str, Any] = field(default_factory=dict)
    software: Row | None = None

    def change(self, path: str, value: Any) -> None:
        """Sets one attribute. An unknown kind is an error of the tables above."""
        kind, key = path.split(".")
        if kind in ("disk", "scratch", "tape"):
            self.replicas.setdefault(kind, {})[int(key)] = value
        elif path == "queue.name":
            self.name = f"{value}{self.name}"
        elif path == "queue.outputs":
            self.queue["astorages"] = {**self.queue["astorages"], "write_lan": value}
        elif path == "queue.inputs":
            self.queue["astorages"] = {**self.queue["astorages"], "read_lan": value}
        elif path == "stats.":
            self.stats = dict(value)
        elif kind == "software":
            self.software = {**(self.software or PUBLISHED), key: value}
        else:
            getattr(self, kind)[key] = value


INPUTS: list[list[tuple[str, list[tuple[str, Any, Any]]]]] = [
    [], [("input", [("a1", GIB, 100)])], [("input", [("a1", GIB, 100), ("a2", GIB, 50), ("a3", 2 * GIB, 25)])],
    [("input", [("a1", 5 * GIB, 100), ("a2", 5 * GIB, 100)])], [("input", [("a1", 0, 100), ("a2", None, 10)])],
    [("input", [("a1", GIB, 100), ("a2", GIB, 100)]), ("input", [("b1", GIB, 7)])],
    [("input", [("a1", GIB, 100), ("a2", 3 * GIB, 10)]), ("input", [("a1", GIB, 100), ("b2", 2 * GIB, 1)])],
    [("input", [("a1", 1024**2, None)]), ("input", [("b1", 10 * GIB, 1), ("b2", 10 * GIB, 1)])],
    [("pseudo_input", [("p1", 0, 100), ("p2", 0, 100)])],
    [("input", [("a1", GIB, 100)]), ("pseudo_input", [("p1", 0, 10)])],
]  # fmt: skip

STATISTICS: list[dict[str, int]] = [
    {"running": 50, "activated": 10, "starting": 2, "defined": 1, "assigned": 4},
    {"running": 20, "activated": 0, "starting": 0, "defined": 0, "assigned": 3},
    {"running": 21, "activated": 4, "assigned": 8},
    {"running": 100, "activated": 100, "starting": 20, "defined": 10, "assigned": 50},
]
RESOURCE_TYPES: list[Row] = [
    {"name": "SCORE", "mincore": 1, "maxcore": 1, "minrampercore": None, "maxrampercore": 2000},
    {"name": "MCORE", "mincore": 2, "maxcore": 6, "minrampercore": 1000, "maxrampercore": 2500},
]
KINDS = ["satellite"] * 8 + ["nucleus", "nucleus", "near", "neighbour", "unified", "unified nucleus"]
NEAR_KINDS = ["nucleus", "nucleus", "satellite", "near", "neighbour", "unified nucleus"]
NEAR_THEMES = {"high priority", "scouts", "event service", "express", "t1 weight", "full chain"}
NEAR_THEMES |= {f"panda: {name}" for name in ("t1 weight", "transferring", "nucleus", "activities", "pre-merged")}


def unified(pick: Pick) -> Row:
    """The fields of a unified queue."""
    cores, maxrss, minrss = pick([8, 8, 1, 4]), pick([16000, 0, 32000]), pick([0, 0, 1000])
    return {"type": "unified", "capability": "ucore", "corecount": cores, "maxrss": maxrss, "minrss": minrss}


def _parts(pick: Pick, number: int, kind: str, cores: int) -> Parts:
    """A harmless queue, of a kind."""
    own, second, tape = f"DISK{number}", f"SECOND{number}", f"TAPE{number}"
    reads, writes = [own, second, tape], [own, second]
    queue: Row = {"panda_site": f"S{number}", "type": "production", "corecount": cores}
    if "nucleus" in kind:
        queue |= {"panda_site": "NUC", "role": "nucleus"}
        reads, writes = [*reads, "NUC_DISK", "SHARED_DISK"], ["NUC_DISK", own]
    elif kind == "near":
        writes = ["SHARED_DISK"]
    elif kind == "neighbour":
        writes = ["NUC_DISK", own]
    if "unified" in kind:
        queue |= unified(pick)
    queue["astorages"] = {"read_lan": reads, "write_lan": writes}
    queue |= {"pilots": {"getjob": 5, "updatejob": 7}, "wnconnectivity": "full"}
    disk = {"site": f"S{number}", "type": "DATADISK", "space_free": 1000, "space_total": 5000}
    scratch = {"site": f"S{number}", "type": "SCRATCHDISK", "space_free": 1000}
    link = pick([{}, {"closeness": 4, "queued": 10, "mbps_1h": 80}, {"mbps_1w": 15}])
    parts = Parts(number, f"Q{number}", queue, disk, scratch, link, stats=dict(pick(STATISTICS)))
    for dataset, replica in enumerate(pick([["full", "full"], [], ["full"], ["part", "full"]])):
        parts.change(f"disk.{dataset}", replica)
    return parts


def replica_of(kind: str, lfns: list[str]) -> Row | None:
    count = len(lfns)
    kinds: dict[str, Row | None] = {
        "full": {}, "counted": {"found": count, "total": count}, "part": {"found": count - 1, "total": count},
        "one": {"found": 1, "total": count}, "named": {"found": 1, "total": count, "lfns": lfns[-1:]},
        "vp": {"vp": True}, "vp part": {"vp": True, "found": count - 1, "total": count}, "none": None,
        "empty": {"found": 0, "total": 0}, "unknown": {"found": None, "total": count},
    }  # fmt: skip
    return kinds[kind]


def _datasets(inputs: list[tuple[str, list[tuple[str, Any, Any]]]], queues: list[Parts]) -> Row:
    datasets: Row = {}
    for number, (kind, files) in enumerate(inputs):
        replicas = {}
        for parts in queues:
            for where, at in (("disk", "DISK"), ("scratch", "SECOND"), ("tape", "TAPE")):
                replica = replica_of(parts.replicas.get(where, {}).get(number, "none"), [file[0] for file in files])
                if replica is not None:
                    replicas[f"{at}{parts.number}"] = replica
        rows = [known(lfn=lfn, size=size, nevents=nevents) for lfn, size, nevents in files]
        datasets[f"data{number}"] = {"type": kind, "files": rows, "replicas": replicas}
    return datasets


def known(**fields: Any) -> Row:
    """A row of the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _statistics(queues: list[Parts], apart: bool) -> list[Row]:
    """Rows of job counts; `apart`: each count as two rows with different resource types, nuclei and labels."""
    rows = []
    for parts in queues:
        diskio = parts.stats.pop("diskio", None)
        for share, counts in ((SHARE, parts.stats), (OTHER_SHARE, parts.other)):
            for status, njobs in counts.items():
                row = {"queue": parts.name, "gshare": share, "status": status, "resource_type": "SCORE"}
                if status == "running" and diskio is not None:
                    row["diskio"] = diskio
                if apart and njobs > 1:
                    rows.append({**row, "njobs": 1, "resource_type": "MCORE", "nucleus": "NUC", "label": "user"})
                    njobs -= 1  # noqa: PLW2901  (the rest follows)
                rows.append({**row, "njobs": njobs})
        for special, more in (({"resource_type": "MCORE"}, parts.mcore), ({"nucleus": "SHUT"}, parts.shut)):
            rows += [
                {"queue": parts.name, "gshare": SHARE, "status": status, "njobs": njobs, **special}
                for status, njobs in more.items()
            ]
    return rows


def _some_names(choice: str, names: list[str]) -> str:
    chosen = {"half": names[::2], "all": names, "first": names[:1], "unknown": [*names[:1], "NOWHERE_PQ"]}
    return ",".join(chosen[choice])


@st.composite
def worlds(draw: Draw, *themes: str) -> Row:
    """A world with one task, `TASK`, and its queues; of these themes, or of one or two random ones."""
    return build_world(lambda values: draw(st.sampled_from(values)), themes)


def random_world(number: int, *themes: str) -> Row:
    """The world of this number, like those of `worlds`."""
    return with_failed_parts(build_world(random.Random(number).choice, themes), number)


def random_panda_world(number: int, *themes: str) -> Row:
    """The world of this number for the profile panda2026, of these themes or of some of all."""
    return with_failed_parts(build_world(random.Random(number).choice, themes, THEMES | PANDA_THEMES), number)


def with_failed_parts(world: Row, number: int) -> Row:
    """The world, in which the part to be brokered has failed at some queues for one number in ten."""
    own = random.Random(f"failed parts {number}")
    if own.random() < 0.1:
        names = [*world["queues"], *(f"{name}/SCORE" for name in world["queues"]), "GONE"]
        failed = own.sample(names, min(own.randint(1, 5), len(names)))
        world["failed_parts"] = [{"task": TASK, "number": 1, "failures": 1, "failed_queues": failed}]
    return world


def drawn_once(
    pick: Pick, attributes: Theme, is_of_world: Callable[[str], bool]
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The attributes that are drawn once per world, and the others, not drawn yet."""
    drawn = {path: pick(values) for path, values in attributes.items() if is_of_world(path.split(".")[0])}
    once = {path: copy.deepcopy(value) for path, value in drawn.items() if value is not AS_IS}
    return once, {path: values for path, values in attributes.items() if path not in drawn}


def build_world(pick: Pick, themes: Sequence[str], catalogue: dict[str, Theme] = THEMES) -> Row:
    chosen = list(themes) or [pick(list(catalogue)) for _ in range(pick([1, 2]))]
    attributes: dict[str, list[Any]] = {}
    for name in chosen:
        attributes |= catalogue[name]
    once, each = drawn_once(pick, attributes, lambda kind: kind not in OF_QUEUES)
    many = "many queues" in chosen
    merging = once.get("task.is_merging") and once.get("task.merge_core_count") is not None
    cores = once.get("task.merge_core_count" if merging else "task.core_count", 1)
    harmless_cores = 8 if (cores or 1) > 1 else 1

    kinds = NEAR_KINDS if NEAR_THEMES & set(chosen) else KINDS
    queues = []
    for number in range(1, pick(range(9, 13) if many else range(1, 9)) + 1):
        parts = _parts(pick, number, pick(kinds), harmless_cores)
        for path, values in each.items():
            usual = [] if path == "queue.releases" else [AS_IS] * max(3, 1 + len(values) // 2)
            value = pick(usual + values)
            if value is not AS_IS:
                parts.change(path, copy.deepcopy(value))
        if not many and pick([False] * 4 + [True]):
            path, values = pick(_queue_paths(catalogue))
            parts.change(path, copy.deepcopy(pick(values)))
        if "software" in chosen and parts.software is None and pick([True] * 7 + [False]):
            parts.software = dict(PUBLISHED)
        queues.append(parts)

    inputs = pick(INPUTS)
    names = [f"data{number}" for number in range(len(inputs))]
    nucleus = pick(["NUC"] * 12 + [None, "NOWHERE"])
    task: Row = {"id": TASK, "gshare": SHARE, "nucleus": nucleus, "input": names, "split": {}}
    world: Row = {
        "queues": {parts.name: parts.queue for parts in queues}, "nuclei": {"NUC": {}, "NOWHERE": {}},
        "storages": {
            "NUC_DISK": {"site": "NUC", "type": "DATADISK", "space_free": 1000},
            "SHARED_DISK": {"site": "SHARED", "type": "DATADISK", "space_free": 1000},
        },
        "links": [{"src": "NUC", "dst": "NUC", "queued": 1}, {"src": "S1", "dst": "NOWHERE", "queued": 1000}],
        "datasets": _datasets(inputs, queues), "statistics": _statistics(queues, apart=pick([False, True])),
        "software": {parts.name: parts.software for parts in queues if parts.software is not None}, "config": {},
        "tasks": [task],
    }  # fmt: skip
    world["software"]["ALL"] = {"tags": TAGS}
    for parts in queues:
        number = parts.number
        world["storages"][f"DISK{number}"] = parts.storage
        world["storages"][f"SECOND{number}"] = parts.second
        world["storages"][f"TAPE{number}"] = {"site": f"S{number}", "is_tape": True, "read_lan": "OFF"}
        if parts.link:
            world["links"].append({"src": f"S{number}", "dst": "NUC", **parts.link})
    if pick([False] * 7 + [True]):
        world["jobs"] = [_job(pick, number, pick(queues).name) for number in range(1, pick([2, 4, 8]))]
    if pick([False] * 7 + [True]):
        world["resource_types"] = RESOURCE_TYPES
    if catalogue is not THEMES:
        _add_for_panda(world, queues, once, inputs)
    _spoil_once(world, once, [parts.name for parts in queues])
    return world


def _add_for_panda(world: Row, queues: list[Parts], once: dict[str, Any], inputs: list[Any]) -> None:
    """A source of the input that is at no queue, another nucleus, and the sections beside the queues."""
    source = {key: once.pop(f"source.{key}", None) for key in ("read_lan", "read_wan")}
    kind, alone = once.pop("source.replica", "full"), once.pop("source.alone", False)
    for parts in queues:
        world["storages"][f"TAPE{parts.number}"]["type"] = "DATATAPE"
    world["storages"] |= {"SOURCE": {"site": "SOURCE", **source}, "SHUT_DISK": {"site": "SHUT", "write_wan": "OFF"}}
    for number, (_, files) in enumerate(inputs):
        replica = replica_of(kind, [file[0] for file in files])
        others = {} if alone else world["datasets"][f"data{number}"]["replicas"]
        world["datasets"][f"data{number}"]["replicas"] = others | ({} if replica is None else {"SOURCE": replica})
    world["storages"]["NUC_DISK"]["write_wan"] = once.pop("nucleus.write_wan", None)
    world["nuclei"]["SHUT"] = {}
    if once.pop("world.other_nucleus", False) or once.get("task.nucleus") == "SHUT":
        storages = {"read_lan": ["SHUT_DISK"], "write_lan": ["SHUT_DISK"]}
        world["queues"]["SHUT_QUEUE"] = {
            "panda_site": "SHUT", "role": "nucleus", "type": "analysis", "astorages": storages,
        }  # fmt: skip
    if "core.WORK_SHORTAGE" in once:
        world["config"]["core:WORK_SHORTAGE"] = once.pop("core.WORK_SHORTAGE")
    for key, section in (("gpus", "worker_gpus"), ("levels", "architecture_levels")):
        world[section] = {parts.name: parts.at[key] for parts in queues if key in parts.at}
    world["locks"] = [parts.name for parts in queues if parts.at.get("lock")]
    world["live_counter"] = {parts.name: parts.live["counter"] for parts in queues if parts.live}
    types = {parts.name: parts.at["resource_types"] for parts in queues if "resource_types" in parts.at}
    if types:
        world["tasks"][0]["resource_types_at"] = types


def _job(pick: Pick, number: int, queue: str) -> Row:
    """A job in the database, which counts like those of the statistics, and starts at its queue."""
    status = pick(["running", "activated", "assigned", "starting", "defined", "transferring", "finished"])
    hours = pick([0.5, 1.99, 2, 2.01, 30, None]) if status in ("running", "transferring", "finished") else None
    return {
        "id": number, "task": TASK, "queue": queue, "gshare": pick([SHARE, SHARE, OTHER_SHARE]), "status": status,
        "created": {"hours_ago": 1}, "modified": {"hours_ago": 1}, "started": hours and {"hours_ago": hours},
    }  # fmt: skip


def _spoil_once(world: Row, once: dict[str, Any], names: list[str]) -> None:
    """Sets attributes drawn once per world: of the task, its split rules, its first dataset, and the configuration."""
    task = world["tasks"][0]
    first = world["datasets"].get("data0")
    for path, value in once.items():
        kind, key = path.split(".")
        chosen = _some_names(value, names) if key == "site" else value
        if kind == "task":
            task[key] = chosen
        elif kind == "split":
            task["split"][key] = chosen
        elif kind == "config":
            world["config"][f"jobbroker:{key}"] = chosen
        elif kind == "nucleus":
            world["nuclei"]["NUC"][key] = chosen
        elif first is not None:
            first[key] = chosen
