"""Production jobs, profile panda2026: cases that are easy to get wrong.

The queue Q is harmless unless the case changes it (tests/core/cases/production.py); an empty queue weighs 1/10.
"""

from typing import Any

from tests.core.cases.production import GIB, NUCLEUS, QUEUE, STORAGES, Case, Row, world

EMPTY = 0.1


def count(status: str, njobs: int, queue: str = "Q", **more: Any) -> Row:
    return {"queue": queue, "gshare": "Share A", "status": status, "njobs": njobs, "resource_type": "SCORE", **more}


def link(**more: Any) -> list[Row]:
    return [{"src": "S1", "dst": "NUC", **more}]


def one_file(replicas: Row, files: int = 1, size: int = GIB, **more: Any) -> Row:
    named = [{"lfn": f"f{number}", "size": size, "nevents": 100} for number in range(files)]
    return {"data": {"files": named, "replicas": replicas, **more}}


def storages(**changed: Row) -> Row:
    return {
        name: {**storage, **changed.get(name, {})} for name, storage in (STORAGES | {"FAR": {"site": "S9"}}).items()
    }


def queues(**more: Row) -> Row:
    return {"Q": QUEUE, **more}


AT_NUCLEUS = NUCLEUS | {"pilots": {"getjob": 1}}
INPUT = {"input": ["data"]}
OFFLINE = {"status": "offline"}
NEAR: Row = {"astorages": {"read_lan": ["DISK"], "write_lan": ["NUC_DISK"]}}
AS_IS = {"Q": EMPTY}
FAILS = {"task": "input-completeness"}
NO_CACHE = {"Q": "software -cache"}
SOME = one_file({"DISK": {}})
JOB = INPUT | {"cpu_time": 100, "cpu_efficiency": 100}
RUNNING_B = count("running", 1001, gshare="Share B")
STRICT: Row = {"config": {"MAX_MISSING_INPUT_FILES": 0}}
IDLE = {"laststart": {"hours_ago": 3}}
EXPRESS = {"processing_type": "urgent"}
AUTO = {"releases": ["AUTO"]}
RELEASE = {"trans_home": "Athena-21.0.38"}
GPU_SITE = {
    "Q": {"cmtconfigs": ["p"], "containers": ["any"], "cvmfs": ["any"],
        "architectures": [{"type": "cpu", "arch": ["any"]}, {"type": "gpu", "vendor": ["any"]}]},
}  # fmt: skip
NVIDIA = [{"vendor": "NVIDIA", "model": "A100", "vram": 40960, "driver_version": "535.11"}]
LINK = "-link_unusable"
OFF_WAN = storages(FAR={"read_wan": "OFF"})
LOW = {"current_priority": 150}
MOVES = one_file({"FAR": {}})
JUMBO: Row = {"task": INPUT | {"split": {"nJumboJobs": 1}}, "datasets": one_file({"DISK": {}})}

CASES = [
    Case("as it is", world(), AS_IS),
    Case("test in the name", world(queues={"TEST_Q": QUEUE}), {"TEST_Q": EMPTY}),
    Case("standby", world({"status": "standby"}), AS_IS),
    # Temporary problems: the first persistent reason, else the last mark
    Case("last mark", world({"pilots": {}}, links=link(queued=150)), {"Q": "no-pilot -nopilot"}),
    Case("persistent after marks", world({"pilots": {}, "maxrss": 100}, links=link(queued=150)),
        {"Q": "memory -lowmemory"}),
    # Links
    Case("at the cap", world(links=link(queued=150)), {"Q": f"link-queue-cap {LINK}"}),
    Case("below the cap", world(links=link(queued=149)), AS_IS),
    Case("no link, cap 0", world(config={"NQUEUED_SAT_CAP": 0}), AS_IS),
    Case("link of no files, cap 0", world(config={"NQUEUED_SAT_CAP": 0}, links=link()),
        {"Q": f"link-queue-cap {LINK}"}),
    Case("full nucleus: blocked links do not count", world(links=link(queued=10000, closeness=-1)),
        {"Q": "nucleus-queue-cap -links_full"}),
    Case("priority 1000 is not express", world(task={"current_priority": 1000}, links=link(queued_express=150)), AS_IS),
    Case("1001 is", world(task={"current_priority": 1001}, links=link(queued_express=150)),
        {"Q": f"link-queue-cap {LINK}"}),
    Case("urgent is a word", world(task={"processing_type": "urgent_x"}, links=link(queued_express=150)), AS_IS),
    Case("at home",
        world({"storage_site": "NUC"}, links=[{"src": "NUC", "dst": "NUC", "queued": 150, "closeness": -1}]), AS_IS),
    # Input
    Case("only LAN at the source", world(task=INPUT, datasets=MOVES, storages=OFF_WAN),
        {"Q": "storage-blacklist -source_blacklist"}),
    Case("nine of ten files can be read",
        world(task=INPUT, datasets=one_file({"FAR": {}, "DISK": {"found": 9, "total": 10}}, 10), storages=OFF_WAN),
        {"Q": 1 / 10 * (1 + 0.9) / 1.01}),
    Case("carousel needs no source",
        world(task=INPUT | {"split": {"inputPreStaging": 1}}, datasets=MOVES, storages=OFF_WAN), {"Q": 1 / 10 / 1.01}),
    Case("distributed neither", world(task=INPUT, datasets=one_file({"FAR": {}}, distributed=True), storages=OFF_WAN),
        {"Q": 1 / 10 / 1.01}),
    Case("local data only", world({"catchall": "use_only_local_data"}, INPUT, datasets=MOVES, storages=storages()),
        {"Q": "use-only-local-data -non_local"}),
    Case("local data only, and no input to speak of",
        world({"catchall": "use_only_local_data"}, INPUT, datasets=one_file({"FAR": {}}, size=0), storages=storages()),
        AS_IS),
    Case("a copy on tape passes where no disk has one",
        world(task=INPUT | {"io_intensity": 500}, config={"NUM_CUTOFF_TO_MOVE_INPUT": 0},
         datasets=one_file({"TAPE": {}}),
         queues=queues(N=QUEUE | {"astorages": {"read_lan": ["SECOND"], "write_lan": ["SECOND"]}})),
        {"Q": 1 / 10 / 1.01, "N": "io-cutoff -io"}),
    Case("everything is missing everywhere",
        world(task=INPUT | {"io_intensity": 500}, config={"NUM_CUTOFF_TO_MOVE_INPUT": 0}, datasets=MOVES,
         storages=storages()), {"Q": 1 / 10 / 1.01}),
    Case("all but ten files", world(task=INPUT, datasets=one_file({"FAR": {"found": 2, "total": 12}}, 12)),
        {"Q": 1 / 11.2}),
    Case("all but eleven", world(task=INPUT, datasets=one_file({"FAR": {"found": 1, "total": 12}}, 12)), FAILS),
    Case("none at all", world(task=INPUT, datasets=one_file({"FAR": {"found": 0, "total": 5}}, 5)), FAILS),
    Case("nine tenths", world(task=INPUT, datasets=one_file({"FAR": {"found": 9, "total": 10}}, 10), **STRICT),
        {"Q": 1 / 11}),
    Case("not quite", world(task=INPUT, datasets=one_file({"FAR": {"found": 8, "total": 9}}, 9), **STRICT), FAILS),
    Case("only LAN at the source, and that off",
        world(task=INPUT, datasets=MOVES, storages=storages(FAR={"read_wan": "OFF", "read_lan": "TEST"})), FAILS),
    Case("merge jobs move what they need",
        world(task=INPUT | {"io_intensity": 500, "is_merging": True}, config={"NUM_CUTOFF_TO_MOVE_INPUT": 0},
         datasets=one_file({"SECOND": {}}),
         queues={"Q": QUEUE | {"astorages": {"read_lan": ["DISK"], "write_lan": ["DISK"]}}, "N": QUEUE}),
        {"Q": 1 / 10 / 1.01, "N": 2 / 10}),
    Case("a nucleus queue needs WAN for what it lacks",
        world(AT_NUCLEUS, INPUT, datasets=MOVES, storages=storages(NUC_DISK={"write_wan": "OFF"})),
        {"Q": "storage-blacklist -write_wan_blacklist"}),
    Case("and for nothing else",
        world(AT_NUCLEUS, INPUT, datasets=one_file({"NUC_DISK": {}}), storages=storages(NUC_DISK={"write_wan": "OFF"})),
        {"Q": 2 / 10}),
    *(Case(f"{size} bytes are missing",
        world(task=INPUT | {"io_intensity": 500}, datasets=one_file({"SECOND": {}}, size=size),
         queues={"Q": QUEUE | {"astorages": {"read_lan": ["DISK"], "write_lan": ["DISK"]}}, "N": QUEUE}),
        {"Q": fate, "N": 2 / 10})
      for size, fate in ((10 * GIB + 2**20 - 1, 1 / 10 / 1.01), (10 * GIB + 2**20, "io-cutoff -io"))),
    # Cores, memory, scratch, walltime
    Case("0 cores of urgent tasks want several", world(task={"core_count": 0, "current_priority": 900}),
        {"Q": "core-count -cpucore"}),
    Case("whole MB of memory", world({"maxrss": 1800}, {"ram_count": 2001}), AS_IS),
    Case("no base without cores", world({"maxrss": 1800}, {"ram_unit": "MB", "base_ram_count": 500}), AS_IS),
    Case("1500 MiB of output", world({"maxwdir": 1500}), AS_IS),
    Case("and 300 of work", world({"maxwdir": 1799}, {"work_disk_count": 0}), {"Q": "scratch-disk -disk"}),
    Case("whole slot for several cores", world({"corecount": 8, "maxwdir": 1500}, {"core_count": 8}), AS_IS),
    Case("cpuTime 0 is no cpuTime", world({"maxtime": 86399}, {"cpu_time": 0}), {"Q": "walltime-scout -min_walltime"}),
    Case("walltime 0 is no walltime", world({"maxtime": 86399}, {"cpu_time_unit": None, "walltime": 0}),
        {"Q": "walltime-scout -min_walltime"}),
    Case("scouts: HS06 s, not s", world({"maxtime": 95999}, {"use_scout": True}),
        {"Q": "walltime-scout -scout_walltime"}),
    Case("scouts: enough HS06 s", world({"maxtime": 96000}, {"use_scout": True}), AS_IS),
    *(Case(f"a job of 10,000 HS06 s, {more} and maxtime {longest}",
        world({"maxtime": longest}, JOB | more, datasets=SOME), {"Q": fate})
      for longest, more, fate in (
        (1000, {}, 2 / 10), (999, {}, "walltime -shortwalltime"),
        (1060, {"base_walltime": 60}, 2 / 10), (1059, {"base_walltime": 60}, "walltime -shortwalltime"),
        (1112, {"cpu_efficiency": None}, 2 / 10), (1111, {"cpu_efficiency": None}, "walltime -shortwalltime"))),
    Case("merging takes 2000 MB at least", world({"maxrss": 1800}, {"is_merging": True, "merge_ram_count": 9}), AS_IS),
    Case("no less", world({"maxrss": 1799}, {"is_merging": True, "merge_ram_count": 9}), {"Q": "memory -lowmemory"}),
    # Transferring
    Case("twice the running of all shares", world(statistics=[count("transferring", 2002), RUNNING_B]), AS_IS),
    Case("more than that", world(statistics=[count("transferring", 2003), RUNNING_B]),
        {"Q": "transferring-limit -transferring"}),
    Case("more than that, without pilots", world({"pilots": {}}, statistics=[count("transferring", 2003), RUNNING_B]),
        {"Q": "no-pilot -nopilot"}),
    # Pre-assignment
    Case("the only site of the task",
        world({"status": "test", "pilots": {}, "corecount": 8, "jobseed": "es"}, {"site": "Q"}), AS_IS),
    Case("one of two sites", world(task={"site": "Q,N"}, queues=queues(N=QUEUE | {"corecount": 8})),
        {"Q": EMPTY, "N": "core-count -cpucore"}),
    Case("merge site that the task has waited 6 h for",
        world(task=INPUT | {"frozen": {"hours_ago": 6}},
         datasets=one_file({"DISK": {}}, site="Q", created={"hours_ago": 50}, modified={"hours_ago": 49}),
         queues=queues(N=QUEUE | {"astorages": {"read_lan": ["SECOND"], "write_lan": ["SECOND"]}}, M=QUEUE)),
        {"Q": 2 / 10, "N": "preassigned-merge", "M": 2 / 10}),
    Case("queues that run what the merge site runs",
        world(task=INPUT, datasets=one_file({"DISK": {}}, site="Q"),
         queues=queues(Q=QUEUE | {"type": "unified"}, M=QUEUE, U=QUEUE | {"catchall": "grandly_unified"})),
        {"Q": 2 / 10, "M": "preassigned-merge", "U": 2 / 10}),
    Case("analysis beside a merge site that runs analysis",
        world(task=INPUT, datasets=one_file({"DISK": {}}, site="A"),
         queues={"A": QUEUE | {"type": "analysis"}, "M": QUEUE, "B": QUEUE | {"type": "analysis"}}),
        {"A": 2 / 10, "M": "preassigned-merge", "B": 2 / 10}),
    Case("merge site of a dataset that nobody has touched",
        world(task=INPUT | {"frozen": {"hours_ago": 7}},
         datasets=one_file({"DISK": {}}, site="Q", created="2026-01-01T00:00:00Z", modified="2026-01-01T00:00:00Z"),
         now="2026-03-01T12:00:00Z", queues=queues(M=QUEUE | {"status": "standby"})),
        {"Q": 2 / 10, "M": "preassigned-merge"}),
    Case("merge site after 24 h",
        world(task=INPUT | {"frozen": {"hours_ago": 7}},
         datasets=one_file({"DISK": {}}, site="Q", created={"hours_ago": 50}, modified={"hours_ago": 25}),
         queues=queues(M=QUEUE | {"status": "standby"})), {"Q": 2 / 10, "M": 2 / 10}),
    Case("idle, and pre-assigned",
        world(IDLE, {"current_priority": 800, "site": "Q"}, statistics=[count("starting", 1)]), {"Q": 1 / 11}),
    Case("idle", world(IDLE, {"current_priority": 800}, statistics=[count("starting", 1)]),
        {"Q": "inactive-queue -inactive"}),
    # Jumbo jobs, disk I/O
    Case("jumbo jobs at the least", world({"catchall": "useJumboJobs", "params": {"minEventsForJumbo": 100}}, **JUMBO),
        {"Q": 2 / 10}),
    Case("jumbo jobs below", world({"catchall": "useJumboJobs", "params": {"minEventsForJumbo": 101}}, **JUMBO),
        {"Q": "jumbo-queue -fewevents"}),
    Case("average at the limit", world({"maxdiskio": 500, "average_diskio": 500}, {"disk_io": 501}), AS_IS),
    Case("both over it", world({"maxdiskio": 500, "average_diskio": 501}, {"disk_io": 501}), {"Q": "disk-io -diskIO"}),
    Case("0 cores do not divide",
        world({"maxdiskio": 500, "average_diskio": 501, "corecount": 8}, {"disk_io": 501, "core_count": 0}),
        {"Q": "disk-io -diskIO"}),
    # Software
    *(Case(f"{architecture} at {seen or 'no'} GPUs",
        world(AUTO, RELEASE | {"architecture": architecture}, software=GPU_SITE, worker_gpus={"Q": seen}), fate)
      for architecture, seen, fate in (
        ("p&nvidia", NVIDIA, AS_IS), ("p&nv", NVIDIA, AS_IS), ("p&vidia", NVIDIA, NO_CACHE),
        ("p&nvidia", [], NO_CACHE), ("p&*-*", [], AS_IS), ("p&nvidia-a1", NVIDIA, AS_IS),
        ("p&nvidia-100", NVIDIA, NO_CACHE), ("p&nvidia:model!=A1", NVIDIA, NO_CACHE),
        ("p&nvidia:model!=V1", NVIDIA, AS_IS), ("p&*:model!=V1", [], NO_CACHE),
        ("p&nvidia:vram>40960", NVIDIA, NO_CACHE), ("p&nvidia:vram>=40960", NVIDIA, AS_IS),
        ("p&nvidia:vram=40960", NVIDIA, AS_IS), ("p&nvidia:vram<40961", NVIDIA, AS_IS),
        ("p&nvidia:vram<40960", NVIDIA, NO_CACHE), ("p&nvidia:driver>535.9", NVIDIA, AS_IS),
        ("p&nvidia:driver<=535.9", NVIDIA, NO_CACHE), ("p&nvidia:driver!=1", NVIDIA, NO_CACHE))),
    Case("any release", world(task=RELEASE), AS_IS),
    Case("any release, but images of tags", world(task=RELEASE | {"container_name": "c", "only_tags_for_fc": True}),
        {"Q": "software -cache"}),
    Case("any release, and any image", world(task=RELEASE | {"container_name": "c"}), AS_IS),
    Case("any release, but a CPU", world(task=RELEASE | {"architecture": "x86_64-el9"}), {"Q": "software -cache"}),
    Case("no transHome", world({"releases": []}, {"architecture": "x86_64-el9", "container_name": "c"}), AS_IS),
    # Pilots
    Case("slots wait", world({"pilots": {}, "slots": [{"gshare": "Share A", "numslots": 0}]}), AS_IS),
    Case("slots of others", world({"pilots": {}, "slots": [{"gshare": "Share B", "numslots": 9}]}),
        {"Q": "no-pilot -nopilot"}),
    Case("test label", world({"pilots": {}}, {"label": "prod_test"}), AS_IS),
    # Weights and caps
    Case("bootstrap", world(task=LOW), {"Q": 0}),
    Case("no bootstrap with slots", world({"slots": [{"numslots": 4}]}, LOW), {"Q": 5 / 10}),
    Case("slots of no use", world({"slots": [{"numslots": 4}]}, {"current_priority": 151}), AS_IS),
    Case("0 slots", world({"slots": [{"numslots": 0}]}, LOW, statistics=[count("running", 5), count("starting", 8)]),
        {"Q": 14 / 18}),
    Case("workers do not pull", world({"workers": {"running": 9}}, LOW, statistics=[count("running", 1)]), {"Q": 0.2}),
    Case("workers of a pull queue",
        world({"workers": {"running": 9}, "ups": True}, LOW, statistics=[count("running", 1)]), {"Q": 1.0}),
    Case("floor of the cap", world(statistics=[count("activated", 20)]), {"Q": 1 / 30}),
    Case("over it", world(statistics=[count("activated", 21)]), {"Q": "cap -cap"}),
    Case("defined jobs do not count in cap", world(statistics=[count("defined", 20)]), {"Q": 1 / 30}),
    Case("but in cap-rt", world(statistics=[count("defined", 21)]), {"Q": "cap-rt -cap_rt"}),
    Case("of other types", world(statistics=[count("defined", 21, resource_type="MCORE")]), {"Q": 1 / 31}),
    Case("assigned against activated, with one each",
        world(task=INPUT, datasets=MOVES, storages=storages(),
         statistics=[count("assigned", 2), count("activated", 1)]), {"Q": 1 / 13 / 1.5 / 1.01}),
    Case("no network weight", world(links=link(mbps_1h=300)), AS_IS),
    Case("1.6 over 50 MB/s", world(config={"NW_ACTIVE": True}, links=link(mbps_1h=60)), {"Q": EMPTY * (2 + 1.6) / 2}),
    Case("queued files below 1", world(config={"NW_ACTIVE": True}, links=link(queued=30, mbps_1d=300)),
        {"Q": EMPTY * (1.8 + 2) / 2}),
    Case("express at the threshold",
        world(task=EXPRESS, config={"NW_ACTIVE": True}, links=link(queued_express=15, mbps_1w=30)), {"Q": 0.17}),
    Case("express below it", world(task=EXPRESS, config={"NW_ACTIVE": True}, links=link(queued_express=16, mbps_1w=30)),
        {"Q": "express-network-threshold -lowNetworkWeight"}),
    Case("levels of architecture",
        world(task={"architecture": '{"sw_platform": "p", "cpu_pref": {"preferred_architecture_level": "v3"}}'},
         architecture_levels={"Q": {"v2": 90, "v3": 50}}), {"Q": 0.15}),
    Case("workers without pilots",
        world({"pilots": {}, "ups": True, "workers": {"running": 9}}, LOW | {"label": "test"},
         statistics=[count("running", 1)]), {"Q": 0.2}),
    # t1Weight
    Case("near the nucleus by a storage that it reads", world(task={"split": {"t1Weight": -1}},
        queues={"A": AT_NUCLEUS | OFFLINE | {"type": "production"}, "Q": QUEUE | NEAR}),
        {"A": "queue-status -status", "Q": EMPTY}),
    Case("storage of a nucleus that runs analysis, too", world(task={"split": {"t1Weight": -1}},
        queues={"A": AT_NUCLEUS | OFFLINE | {"type": "unified"}, "P": QUEUE | NEAR,
                "U": QUEUE | NEAR | {"type": "unified"}}),
        {"A": "queue-status -status", "P": "t1-weight -t1weight", "U": EMPTY}),
    Case("merging", world(AT_NUCLEUS, {"split": {"t1Weight": -3}, "is_merging": True}), AS_IS),
    Case("the one queue that runs most, of those that take jobs",
        world(task={"split": {"t1Weight": -2}}, queues={"A": AT_NUCLEUS, "B": AT_NUCLEUS, "C": QUEUE, "D": AT_NUCLEUS},
         statistics=[count("running", 5, "A"), count("running", 3, "B"), count("running", 9, "D", gshare="Share B"),
             count("activated", 21, "D")]),
        {"A": 6 / 10, "B": "t1-weight -t1_weight", "C": "t1-weight -t1weight", "D": "cap -cap"}),
    Case("scouts at the nucleus", world(AT_NUCLEUS, {"use_scout": True}), {"Q": 10}),
    Case("scouts at the nucleus that they are pre-assigned to", world(AT_NUCLEUS, {"use_scout": True, "site": "Q"}),
        {"Q": EMPTY}),
    Case("a queue that the nucleus does not know", world(task={"io_intensity": 501, "split": {"t1Weight": 0}}), AS_IS),
]  # fmt: skip
