"""What is easy to get wrong in panda2026, as worlds worked out by hand; the engine is asked the same.

A case is a world with one task and what becomes of its queues: a weight, or rule and tag of the rejection. The queue Q
is harmless unless the case says otherwise (tests/brokerage/test_model.py); its weight is that of an empty queue, 1/10.
"""

from typing import Any, NamedTuple

import pytest

from tests.brokerage.test_model import GIB, NUCLEUS, QUEUE, STORAGES, world
from tests.oracle.job_panda2026 import broker_job, read_architecture

Row = dict[str, Any]

EMPTY = 0.1


class Literal(NamedTuple):
    """A world, and the fate of some of its queues."""

    name: str
    world: Row
    fates: dict[str, Any]


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
PASSES = {"Q": EMPTY}
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
    "Q": {
        "cmtconfigs": ["p"],
        "containers": ["any"],
        "cvmfs": ["any"],
        "architectures": [{"type": "cpu", "arch": ["any"]}, {"type": "gpu", "vendor": ["any"]}],
    }
}
NVIDIA = [{"vendor": "NVIDIA", "model": "A100", "vram": 40960, "driver_version": "535.11"}]
LINK = "-link_unusable"
OFF_WAN = storages(FAR={"read_wan": "OFF"})
LOW = {"current_priority": 150}
MOVES = one_file({"FAR": {}})
JUMBO: Row = {"task": INPUT | {"split": {"nJumboJobs": 1}}, "datasets": one_file({"DISK": {}})}

CASES = [
    Literal("as it is", world(), PASSES),
    Literal("test in the name", world(queues={"TEST_Q": QUEUE}), {"TEST_Q": EMPTY}),
    Literal("standby", world({"status": "standby"}), PASSES),
    # Temporary problems: the first persistent reason, else the last mark
    Literal("last mark", world({"pilots": {}}, links=link(queued=150)), {"Q": "no-pilot -nopilot"}),
    Literal(
        "persistent after marks",
        world({"pilots": {}, "maxrss": 100}, links=link(queued=150)),
        {"Q": "memory -lowmemory"},
    ),
    # Links
    Literal("at the cap", world(links=link(queued=150)), {"Q": f"link-queue-cap {LINK}"}),
    Literal("below the cap", world(links=link(queued=149)), PASSES),
    Literal("no link, cap 0", world(config={"NQUEUED_SAT_CAP": 0}), PASSES),
    Literal(
        "link of no files, cap 0", world(config={"NQUEUED_SAT_CAP": 0}, links=link()), {"Q": f"link-queue-cap {LINK}"}
    ),
    Literal(
        "full nucleus: blocked links are not looked at",
        world(links=link(queued=10000, closeness=-1)),
        {"Q": "nucleus-queue-cap -links_full"},
    ),
    Literal(
        "priority 1000 is not express", world(task={"current_priority": 1000}, links=link(queued_express=150)), PASSES
    ),
    Literal(
        "1001 is",
        world(task={"current_priority": 1001}, links=link(queued_express=150)),
        {"Q": f"link-queue-cap {LINK}"},
    ),
    Literal("urgent is a word", world(task={"processing_type": "urgent_x"}, links=link(queued_express=150)), PASSES),
    Literal(
        "at home",
        world({"storage_site": "NUC"}, links=[{"src": "NUC", "dst": "NUC", "queued": 150, "closeness": -1}]),
        PASSES,
    ),
    # Input
    Literal(
        "only LAN at the source",
        world(task=INPUT, datasets=MOVES, storages=OFF_WAN),
        {"Q": "storage-blacklist -source_blacklist"},
    ),
    Literal(
        "nine of ten files can be read",
        world(task=INPUT, datasets=one_file({"FAR": {}, "DISK": {"found": 9, "total": 10}}, 10), storages=OFF_WAN),
        {"Q": 1 / 10 * (1 + 0.9) / 1.01},
    ),
    Literal(
        "carousel needs no source",
        world(task=INPUT | {"split": {"inputPreStaging": 1}}, datasets=MOVES, storages=OFF_WAN),
        {"Q": 1 / 10 / 1.01},
    ),
    Literal(
        "distributed neither",
        world(task=INPUT, datasets=one_file({"FAR": {}}, distributed=True), storages=OFF_WAN),
        {"Q": 1 / 10 / 1.01},
    ),
    Literal(
        "local data only",
        world({"catchall": "use_only_local_data"}, INPUT, datasets=MOVES, storages=storages()),
        {"Q": "use-only-local-data -non_local"},
    ),
    Literal(
        "local data only, and no input to speak of",
        world({"catchall": "use_only_local_data"}, INPUT, datasets=one_file({"FAR": {}}, size=0), storages=storages()),
        PASSES,
    ),
    Literal(
        "a copy on tape passes where no disk has one",
        world(
            task=INPUT | {"io_intensity": 500},
            config={"NUM_CUTOFF_TO_MOVE_INPUT": 0},
            datasets=one_file({"TAPE": {}}),
            queues=queues(N=QUEUE | {"astorages": {"read_lan": ["SECOND"], "write_lan": ["SECOND"]}}),
        ),
        {"Q": 1 / 10 / 1.01, "N": "io-cutoff -io"},
    ),
    Literal(
        "everything is missing everywhere",
        world(
            task=INPUT | {"io_intensity": 500},
            config={"NUM_CUTOFF_TO_MOVE_INPUT": 0},
            datasets=MOVES,
            storages=storages(),
        ),
        {"Q": 1 / 10 / 1.01},
    ),
    Literal(
        "all but ten files",
        world(task=INPUT, datasets=one_file({"FAR": {"found": 2, "total": 12}}, 12)),
        {"Q": 1 / 11.2},
    ),
    Literal("all but eleven", world(task=INPUT, datasets=one_file({"FAR": {"found": 1, "total": 12}}, 12)), FAILS),
    Literal("none at all", world(task=INPUT, datasets=one_file({"FAR": {"found": 0, "total": 5}}, 5)), FAILS),
    Literal(
        "nine tenths",
        world(task=INPUT, datasets=one_file({"FAR": {"found": 9, "total": 10}}, 10), **STRICT),
        {"Q": 1 / 11},
    ),
    Literal("not quite", world(task=INPUT, datasets=one_file({"FAR": {"found": 8, "total": 9}}, 9), **STRICT), FAILS),
    Literal(
        "only LAN at the source, and that off",
        world(task=INPUT, datasets=MOVES, storages=storages(FAR={"read_wan": "OFF", "read_lan": "TEST"})),
        FAILS,
    ),
    Literal(
        "merge jobs move what they need",
        world(
            task=INPUT | {"io_intensity": 500, "is_merging": True},
            config={"NUM_CUTOFF_TO_MOVE_INPUT": 0},
            datasets=one_file({"SECOND": {}}),
            queues={"Q": QUEUE | {"astorages": {"read_lan": ["DISK"], "write_lan": ["DISK"]}}, "N": QUEUE},
        ),
        {"Q": 1 / 10 / 1.01, "N": 2 / 10},
    ),
    Literal(
        "a nucleus queue needs WAN for what it lacks",
        world(AT_NUCLEUS, INPUT, datasets=MOVES, storages=storages(NUC_DISK={"write_wan": "OFF"})),
        {"Q": "storage-blacklist -write_wan_blacklist"},
    ),
    Literal(
        "and for nothing else",
        world(AT_NUCLEUS, INPUT, datasets=one_file({"NUC_DISK": {}}), storages=storages(NUC_DISK={"write_wan": "OFF"})),
        {"Q": 2 / 10},
    ),
    *(
        Literal(
            f"{size} bytes are missing",
            world(
                task=INPUT | {"io_intensity": 500},
                datasets=one_file({"SECOND": {}}, size=size),
                queues={"Q": QUEUE | {"astorages": {"read_lan": ["DISK"], "write_lan": ["DISK"]}}, "N": QUEUE},
            ),
            {"Q": fate, "N": 2 / 10},
        )
        for size, fate in ((10 * GIB + 2**20 - 1, 1 / 10 / 1.01), (10 * GIB + 2**20, "io-cutoff -io"))
    ),
    # Cores, memory, scratch, walltime
    Literal(
        "0 cores of urgent tasks want several",
        world(task={"core_count": 0, "current_priority": 900}),
        {"Q": "core-count -cpucore"},
    ),
    Literal("whole MB of memory", world({"maxrss": 1800}, {"ram_count": 2001}), PASSES),
    Literal("no base without cores", world({"maxrss": 1800}, {"ram_unit": "MB", "base_ram_count": 500}), PASSES),
    Literal("1500 MiB of output", world({"maxwdir": 1500}), PASSES),
    Literal("and 300 of work", world({"maxwdir": 1799}, {"work_disk_count": 0}), {"Q": "scratch-disk -disk"}),
    Literal("whole slot for several cores", world({"corecount": 8, "maxwdir": 1500}, {"core_count": 8}), PASSES),
    Literal(
        "cpuTime 0 is no cpuTime",
        world({"maxtime": 86399}, {"cpu_time": 0}),
        {"Q": "walltime-scout -min_walltime"},
    ),
    Literal(
        "walltime 0 is no walltime",
        world({"maxtime": 86399}, {"cpu_time_unit": None, "walltime": 0}),
        {"Q": "walltime-scout -min_walltime"},
    ),
    Literal(
        "scouts: HS06 s, not s",
        world({"maxtime": 95999}, {"use_scout": True}),
        {"Q": "walltime-scout -scout_walltime"},
    ),
    Literal("scouts: enough HS06 s", world({"maxtime": 96000}, {"use_scout": True}), PASSES),
    *(
        Literal(
            f"a job of 10,000 HS06 s, {more} and maxtime {longest}",
            world({"maxtime": longest}, JOB | more, datasets=SOME),
            fate,
        )
        for longest, more, fate in (
            (1000, {}, {"Q": 2 / 10}),
            (999, {}, {"Q": "walltime -shortwalltime"}),
            (1060, {"base_walltime": 60}, {"Q": 2 / 10}),
            (1059, {"base_walltime": 60}, {"Q": "walltime -shortwalltime"}),
            (1112, {"cpu_efficiency": None}, {"Q": 2 / 10}),
            (1111, {"cpu_efficiency": None}, {"Q": "walltime -shortwalltime"}),
        )
    ),
    Literal(
        "merging takes 2000 MB at least", world({"maxrss": 1800}, {"is_merging": True, "merge_ram_count": 9}), PASSES
    ),
    Literal("no less", world({"maxrss": 1799}, {"is_merging": True, "merge_ram_count": 9}), {"Q": "memory -lowmemory"}),
    # Transferring
    Literal("twice the running of all shares", world(statistics=[count("transferring", 2002), RUNNING_B]), PASSES),
    Literal(
        "more than that",
        world(statistics=[count("transferring", 2003), RUNNING_B]),
        {"Q": "transferring-limit -transferring"},
    ),
    Literal(
        "more than that, without pilots",
        world({"pilots": {}}, statistics=[count("transferring", 2003), RUNNING_B]),
        {"Q": "no-pilot -nopilot"},
    ),
    # Pre-assignment
    Literal(
        "the only site of the task",
        world({"status": "test", "pilots": {}, "corecount": 8, "jobseed": "es"}, {"site": "Q"}),
        PASSES,
    ),
    Literal(
        "one of two sites",
        world(task={"site": "Q,N"}, queues=queues(N=QUEUE | {"corecount": 8})),
        {"Q": EMPTY, "N": "core-count -cpucore"},
    ),
    Literal(
        "merge site that the task has waited 6 h for",
        world(
            task=INPUT | {"frozen": {"hours_ago": 6}},
            datasets=one_file({"DISK": {}}, site="Q", created={"hours_ago": 50}, modified={"hours_ago": 49}),
            queues=queues(N=QUEUE | {"astorages": {"read_lan": ["SECOND"], "write_lan": ["SECOND"]}}, M=QUEUE),
        ),
        {"Q": 2 / 10, "N": "preassigned-merge", "M": 2 / 10},
    ),
    Literal(
        "merge site of a dataset that nobody has touched",
        world(
            task=INPUT | {"frozen": {"hours_ago": 7}},
            datasets=one_file({"DISK": {}}, site="Q", created="2026-01-01T00:00:00Z", modified="2026-01-01T00:00:00Z"),
            now="2026-03-01T12:00:00Z",
            queues=queues(M=QUEUE | {"status": "standby"}),
        ),
        {"Q": 2 / 10, "M": "preassigned-merge"},
    ),
    Literal(
        "merge site after 24 h",
        world(
            task=INPUT | {"frozen": {"hours_ago": 7}},
            datasets=one_file({"DISK": {}}, site="Q", created={"hours_ago": 50}, modified={"hours_ago": 25}),
            queues=queues(M=QUEUE | {"status": "standby"}),
        ),
        {"Q": 2 / 10, "M": 2 / 10},
    ),
    Literal(
        "idle, and pre-assigned",
        world(IDLE, {"current_priority": 800, "site": "Q"}, statistics=[count("starting", 1)]),
        {"Q": 1 / 11},
    ),
    Literal(
        "idle",
        world(IDLE, {"current_priority": 800}, statistics=[count("starting", 1)]),
        {"Q": "inactive-queue -inactive"},
    ),
    # Jumbo jobs, disk I/O
    Literal(
        "jumbo jobs at the least",
        world({"catchall": "useJumboJobs", "params": {"minEventsForJumbo": 100}}, **JUMBO),
        {"Q": 2 / 10},
    ),
    Literal(
        "jumbo jobs below",
        world({"catchall": "useJumboJobs", "params": {"minEventsForJumbo": 101}}, **JUMBO),
        {"Q": "jumbo-queue -fewevents"},
    ),
    Literal("average at the limit", world({"maxdiskio": 500, "average_diskio": 500}, {"disk_io": 501}), PASSES),
    Literal(
        "both over it", world({"maxdiskio": 500, "average_diskio": 501}, {"disk_io": 501}), {"Q": "disk-io -diskIO"}
    ),
    Literal(
        "0 cores do not divide",
        world({"maxdiskio": 500, "average_diskio": 501, "corecount": 8}, {"disk_io": 501, "core_count": 0}),
        {"Q": "disk-io -diskIO"},
    ),
    # Software
    *(
        Literal(
            f"{architecture} at {seen or 'no'} GPUs",
            world(AUTO, RELEASE | {"architecture": architecture}, software=GPU_SITE, worker_gpus={"Q": seen}),
            fate,
        )
        for architecture, seen, fate in (
            ("p&nvidia", NVIDIA, PASSES),
            ("p&nv", NVIDIA, PASSES),
            ("p&vidia", NVIDIA, NO_CACHE),
            ("p&nvidia", [], NO_CACHE),
            ("p&*-*", [], PASSES),
            ("p&nvidia-a1", NVIDIA, PASSES),
            ("p&nvidia-100", NVIDIA, NO_CACHE),
            ("p&nvidia:model!=A1", NVIDIA, NO_CACHE),
            ("p&nvidia:model!=V1", NVIDIA, PASSES),
            ("p&*:model!=V1", [], NO_CACHE),
            ("p&nvidia:vram>40960", NVIDIA, NO_CACHE),
            ("p&nvidia:vram>=40960", NVIDIA, PASSES),
            ("p&nvidia:vram=40960", NVIDIA, PASSES),
            ("p&nvidia:vram<40961", NVIDIA, PASSES),
            ("p&nvidia:vram<40960", NVIDIA, NO_CACHE),
            ("p&nvidia:driver>535.9", NVIDIA, PASSES),
            ("p&nvidia:driver<=535.9", NVIDIA, NO_CACHE),
            ("p&nvidia:driver!=1", NVIDIA, NO_CACHE),
        )
    ),
    Literal("any release", world(task=RELEASE), PASSES),
    Literal(
        "any release, but images of tags",
        world(task=RELEASE | {"container_name": "c", "only_tags_for_fc": True}),
        {"Q": "software -cache"},
    ),
    Literal("any release, and any image", world(task=RELEASE | {"container_name": "c"}), PASSES),
    Literal("any release, but a CPU", world(task=RELEASE | {"architecture": "x86_64-el9"}), {"Q": "software -cache"}),
    Literal("no transHome", world({"releases": []}, {"architecture": "x86_64-el9", "container_name": "c"}), PASSES),
    # Pilots
    Literal("slots wait", world({"pilots": {}, "slots": [{"gshare": "Share A", "numslots": 0}]}), PASSES),
    Literal(
        "slots of others",
        world({"pilots": {}, "slots": [{"gshare": "Share B", "numslots": 9}]}),
        {"Q": "no-pilot -nopilot"},
    ),
    Literal("test label", world({"pilots": {}}, {"label": "prod_test"}), PASSES),
    # Weights and caps
    Literal("bootstrap", world(task=LOW), {"Q": 0}),
    Literal("no bootstrap with slots", world({"slots": [{"numslots": 4}]}, LOW), {"Q": 5 / 10}),
    Literal("slots of no use", world({"slots": [{"numslots": 4}]}, {"current_priority": 151}), PASSES),
    Literal(
        "0 slots",
        world({"slots": [{"numslots": 0}]}, LOW, statistics=[count("running", 5), count("starting", 8)]),
        {"Q": 14 / 18},
    ),
    Literal(
        "workers do not pull", world({"workers": {"running": 9}}, LOW, statistics=[count("running", 1)]), {"Q": 0.2}
    ),
    Literal(
        "workers of a pull queue",
        world({"workers": {"running": 9}, "ups": True}, LOW, statistics=[count("running", 1)]),
        {"Q": 1.0},
    ),
    Literal("floor of the cap", world(statistics=[count("activated", 20)]), {"Q": 1 / 30}),
    Literal("over it", world(statistics=[count("activated", 21)]), {"Q": "cap -cap"}),
    Literal("defined jobs do not count in cap", world(statistics=[count("defined", 20)]), {"Q": 1 / 30}),
    Literal("but in cap-rt", world(statistics=[count("defined", 21)]), {"Q": "cap-rt -cap_rt"}),
    Literal("of other types", world(statistics=[count("defined", 21, resource_type="MCORE")]), {"Q": 1 / 31}),
    Literal(
        "assigned against activated, with one each",
        world(
            task=INPUT, datasets=MOVES, storages=storages(), statistics=[count("assigned", 2), count("activated", 1)]
        ),
        {"Q": 1 / 13 / 1.5 / 1.01},
    ),
    Literal("no network weight", world(links=link(mbps_1h=300)), PASSES),
    Literal(
        "1.6 over 50 MB/s", world(config={"NW_ACTIVE": True}, links=link(mbps_1h=60)), {"Q": EMPTY * (2 + 1.6) / 2}
    ),
    Literal(
        "queued files below 1",
        world(config={"NW_ACTIVE": True}, links=link(queued=30, mbps_1d=300)),
        {"Q": EMPTY * (1.8 + 2) / 2},
    ),
    Literal(
        "express at the threshold",
        world(task=EXPRESS, config={"NW_ACTIVE": True}, links=link(queued_express=15, mbps_1w=30)),
        {"Q": 0.17},
    ),
    Literal(
        "express below it",
        world(task=EXPRESS, config={"NW_ACTIVE": True}, links=link(queued_express=16, mbps_1w=30)),
        {"Q": "express-network-threshold -lowNetworkWeight"},
    ),
    Literal(
        "levels of architecture",
        world(
            task={"architecture": '{"sw_platform": "p", "cpu_pref": {"preferred_architecture_level": "v3"}}'},
            architecture_levels={"Q": {"v2": 90, "v3": 50}},
        ),
        {"Q": 0.15},
    ),
    Literal(
        "workers without pilots",
        world(
            {"pilots": {}, "ups": True, "workers": {"running": 9}},
            LOW | {"label": "test"},
            statistics=[count("running", 1)],
        ),
        {"Q": 0.2},
    ),
    # t1Weight
    Literal("merging", world(AT_NUCLEUS, {"split": {"t1Weight": -3}, "is_merging": True}), PASSES),
    Literal(
        "the one queue that runs most, of those that have room",
        world(
            task={"split": {"t1Weight": -2}},
            queues={"A": AT_NUCLEUS, "B": AT_NUCLEUS, "C": QUEUE, "D": AT_NUCLEUS},
            statistics=[
                count("running", 5, "A"),
                count("running", 3, "B"),
                count("running", 9, "D", gshare="Share B"),
                count("activated", 21, "D"),
            ],
        ),
        {"A": 6 / 10, "B": "t1-weight -t1_weight", "C": "t1-weight -t1weight", "D": "cap -cap"},
    ),
    Literal("scouts at the nucleus", world(AT_NUCLEUS, {"use_scout": True}), {"Q": 10}),
    Literal(
        "scouts at the nucleus that they are pre-assigned to",
        world(AT_NUCLEUS, {"use_scout": True, "site": "Q"}),
        {"Q": EMPTY},
    ),
    Literal(
        "whom the nucleus does not know",
        world(task={"io_intensity": 501, "split": {"t1Weight": 0}}),
        PASSES,
    ),
]


def fates(answer: Row) -> dict[str, Any]:
    """What becomes of each queue, or of the task as a whole."""
    found: dict[str, Any] = {row["queue"]: pytest.approx(row["weight"], rel=1e-9) for row in answer["candidates"]}
    found |= {row["queue"]: f"{row['rule']} {row['criteria']}" for row in answer["rejected"]}
    found |= {row["queue"]: row["rule"] for row in answer["not_candidates"]}
    return found | ({"task": answer["explanation"]["rule"]} if answer["explanation"] else {})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_world(case: Literal) -> None:
    assert fates(broker_job(case.world, 1)) == case.fates


def test_architecture() -> None:
    """One pair of parentheses goes; without # the first word of the whole text is the CPU."""
    assert [cpu["arch"] for cpu in read_architecture("p#(x86_64|aarch64)").cpus] == ["x86_64", "aarch64"]
    assert read_architecture("x86_64-el9&nvidia").cpus == [{"arch": "x86_64", "vendor": "*", "instr": "*"}]
    assert read_architecture("&nvidia-A100:vram>=10:cuda=12").gpu == {
        "vendor": "nvidia",
        "model": "A100",
        "vram": ">=10",
        "version": "==12",
    }
    assert read_architecture("#x86_64").platform == ""
