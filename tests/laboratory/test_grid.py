"""The synthetic grid: the same for the same seed, consistent in itself and with the world format, and realistic."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from broker.laboratory import grid
from broker.laboratory.grid.drawing import Row

# The fields of the world format that a grid uses or may use. `name` is used in rows; the format lists the rest.
SECTIONS = set(
    """now setup vo config resource_types queues nuclei storages links datasets statistics software architecture_levels
    worker_gpus shares users user_queue_statistics to_running_rate remaining_work locks live_counter tasks jobs
    task_queues cpu_buckets groups platform_compatibility limits task_queue_settings instance_types instances
    instance_steps""".split()
)
QUEUE = set(
    """panda_site site role type cloud status capability workflow corecount corepower maxrss minrss maxtime mintime
    maxwdir maxinputsize releases pledgedcpu transferringlimit transtimehi transtimelo fairsharepolicy wnconnectivity
    jobseed maxdiskio direct_access_lan direct_access_wan tier catchall params uconfig astorages storage_site pilots
    laststart average_diskio workers ups slots core_statistics site_class""".split()
)
TASK = set(
    """id label gshare status user orig_user working_group processing_type task_priority current_priority core_count
    merge_core_count ram_count ram_unit base_ram_count merge_ram_count chunk_ram_count cpu_time cpu_time_unit
    cpu_efficiency base_walltime walltime walltime_unit out_disk_count out_disk_unit work_disk_count work_disk_unit
    io_intensity disk_io architecture trans_home trans_uses container_name only_tags_for_fc nucleus cloud site parent
    resource_type event_service frozen task_class is_merging use_scout input output failures resource_types_at
    sites_used params split""".split()
)
SPLIT = set(
    """t1Weight ipConnectivity ipStack allowInputLAN allowInputWAN useLocalIO inputPreStaging mergeOutput fullChain
    limitedSites avoidVP useScout nFilesPerJob nFilesPerMergeJob nEventsPerJob nGBPerJob dynamicNumEvents
    maxEventsPerJob maxCoreCount nEsConsumers maxAttemptES maxAttemptEsJob allowIncompleteInDS
    nJumboJobs hpoWorkflow""".split()
)
NUCLEUS = {"state", "bare_nucleus", "secondary_nucleus", "backlogged"}
STORAGE = set(
    """type is_tape site space_free space_expired space_min_free space_unavailable space_total read_lan write_lan
    read_wan write_wan""".split()
)
LINK = set("src dst closeness queued queued_express mbps_1h mbps_1d mbps_1w".split())
DATASET = {"type", "site", "created", "modified", "distributed", "files", "replicas"}
FILE = {"lfn", "size", "nevents", "start_event", "end_event"}
REPLICA = {"found", "total", "asize", "tsize", "vp", "lfns"}
STATISTIC = set("queue gshare resource_type nucleus label status njobs ncores diskio".split())
SOFTWARE = {"cmtconfigs", "containers", "cvmfs", "architectures", "tags"}
GPU = {"vendor", "model", "vram", "architecture", "framework_version", "driver_version"}
SHARE = {"parent", "target", "running", "queued", "usage_percent", "equivalent_usage_percent"}

SIZES = [(1, 0), (1, 1), (5, 3), (12, 40), (60, 100), (300, 1000)]


@pytest.fixture(scope="module")
def usual() -> Row:
    return grid.grid()


def fields(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    return {name for row in rows for name in row}


def test_the_same_arguments_give_the_same_world(usual: Row) -> None:
    text = json.dumps(usual, allow_nan=False)
    assert json.dumps(grid.grid()) == text
    assert json.dumps(grid.grid(seed=2)) != text
    assert len(text) < 10_000_000


def test_another_process_makes_the_same_world() -> None:
    """The hashes of strings, and so the order of sets, differ between processes."""
    program = "import json; from broker.laboratory import grid; print(json.dumps(grid.grid(5, 60, 50)))"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1


def test_the_number_of_tasks_leaves_queues_and_links_as_they_are(usual: Row) -> None:
    fewer = grid.grid(tasks=10)
    parts = ("queues", "storages", "links", "statistics", "software", "nuclei")
    assert all(fewer[part] == usual[part] for part in parts)


def test_a_synthetic_grid_has_the_setup_and_sizes_asked_for() -> None:
    for queues, tasks in SIZES:
        world = grid.grid(3, queues, tasks, setup="somewhere")
        assert world["setup"] == "somewhere"
        assert (len(world["queues"]), len(world["tasks"])) == (queues, tasks)
    for queues, tasks in ((0, 3), (3, -1)):
        with pytest.raises(ValueError, match="a queue or more"):
            grid.grid(1, queues, tasks)


def test_a_synthetic_grid_has_known_sections_and_fields_only(usual: Row) -> None:
    datasets = usual["datasets"].values()
    assert usual.keys() <= SECTIONS - {"now"}
    assert fields(usual["queues"].values()) <= QUEUE
    assert fields(usual["tasks"]) <= TASK
    assert fields(task["split"] for task in usual["tasks"] if "split" in task) <= SPLIT
    assert fields(usual["nuclei"].values()) <= NUCLEUS
    assert fields(usual["storages"].values()) <= STORAGE
    assert fields(usual["links"]) <= LINK
    assert fields(datasets) <= DATASET
    assert fields(file for row in datasets for file in row["files"]) <= FILE
    assert fields(replica for row in datasets for replica in row["replicas"].values()) <= REPLICA
    assert fields(usual["statistics"]) <= STATISTIC
    assert fields(usual["software"].values()) <= SOFTWARE
    assert fields(row for rows in usual["worker_gpus"].values() for row in rows) <= GPU
    assert fields(usual["shares"].values()) <= SHARE
    assert fields(usual["remaining_work"].values()) <= {"all", "by_gshare"}


@pytest.mark.parametrize(("queues", "tasks"), SIZES)
@pytest.mark.parametrize("seed", [1, 7])
def test_every_name_in_a_synthetic_grid_refers_to_something(seed: int, queues: int, tasks: int) -> None:
    world = grid.grid(seed, queues, tasks)
    nuclei = {row["panda_site"] for row in world["queues"].values() if row["role"] == "nucleus"}
    assert nuclei
    assert world["nuclei"].keys() == nuclei == world["remaining_work"].keys()
    assert {
        storage for row in world["queues"].values() for names in row["astorages"].values() for storage in names
    } <= (world["storages"].keys())
    for task in world["tasks"]:
        assert task["nucleus"] is None or task["nucleus"] in nuclei
        assert task.get("site") is None or task["site"] in world["queues"]
        assert set(task.get("input", [])) <= world["datasets"].keys()
        assert task["gshare"] in world["shares"]
    sites = {row["site"] for row in world["storages"].values()}
    assert {row["src"] for row in world["links"]} <= sites
    assert {row["dst"] for row in world["links"]} <= nuclei
    assert {row["queue"] for row in world["statistics"]} <= world["queues"].keys()
    assert {row["nucleus"] for row in world["statistics"]} <= nuclei
    assert {row["gshare"] for row in world["statistics"]} <= world["shares"].keys()
    assert world["software"].keys() - {"ALL"} <= world["queues"].keys()
    assert world["worker_gpus"].keys() | world["to_running_rate"].keys() <= world["queues"].keys()


def test_no_row_of_a_synthetic_grid_is_repeated(usual: Row) -> None:
    key = ("queue", "gshare", "resource_type", "nucleus", "label", "status")
    counts = Counter(tuple(row[name] for name in key) for row in usual["statistics"])
    assert max(counts.values()) == 1
    assert max(Counter((row["src"], row["dst"]) for row in usual["links"]).values()) == 1
    assert max(Counter(task["id"] for task in usual["tasks"]).values()) == 1


def test_datasets_are_bounded_and_their_replicas_hold_what_they_say(usual: Row) -> None:
    names: Counter[str] = Counter()
    with_data = [row for row in usual["datasets"].values() if row["type"] == "input"]
    assert 200 <= len(with_data) <= 400
    for row in usual["datasets"].values():
        files = row["files"]
        names.update(file["lfn"] for file in files)
        assert 1 <= len(files) <= 100
        assert row.get("site") is None or row["site"] in usual["queues"]
        assert row["replicas"].keys() <= usual["storages"].keys()
        for replica in filter(None, row["replicas"].values()):
            held = replica.get("lfns", [file["lfn"] for file in files[: replica["found"]]])
            assert len(held) == replica["found"] < replica["total"] == len(files)
            assert replica["asize"] == sum(file["size"] for file in files if file["lfn"] in held)
    assert max(names.values()) == 1


def test_every_task_has_jobs(usual: Row) -> None:
    """The first input of each task has files: they are read or, for event generation, made up."""
    assert all(usual["datasets"][task["input"][0]]["files"] for task in usual["tasks"])
    made_up = {name for name, row in usual["datasets"].items() if row["type"] == "pseudo_input"}
    assert len(made_up) == 3
    reading = [task for task in usual["tasks"] if set(task["input"]) & made_up]
    assert {task["processing_type"] for task in reading} == {"evgen"}
    assert all(row["type"] == "input" for row in grid.grid(tasks=0)["datasets"].values())


def test_every_name_says_that_it_is_synthetic(usual: Row) -> None:
    assert grid.SYNTHETIC.startswith("synthetic")
    assert all(name.startswith("SYN-") for name in [*usual["queues"], *usual["storages"], *usual["nuclei"]])
    assert all(name.startswith("syn.") for name in usual["datasets"])


def test_a_synthetic_grid_has_all_kinds_of_queues(usual: Row) -> None:
    queues = usual["queues"]
    rows = list(queues.values())
    assert {row["status"] for row in rows} == {"online", "offline", "brokeroff", "test", "standby"}
    assert {row["type"] for row in rows} == {"unified", "production", "analysis"}
    assert {row["jobseed"] for row in rows} == {"all", "std", "eshigh", "es"}
    assert sum(row["capability"] == "ucore" for row in rows) > 100
    assert len({row["panda_site"] for row in rows if row["role"] == "nucleus"}) == 30
    assert max(Counter(row["panda_site"] for row in rows).values()) >= 4
    for kind in ("MCORE", "SCORE", "HIMEM", "HPC", "CLOUD", "GPU", "ARM", "TEST"):
        assert any(f"_{kind}" in name for name in queues), kind
    assert any(row["corecount"] >= 32 and row["pledgedcpu"] == -1 for row in rows)
    assert {"http", "none", "full", "full#IPv4"} <= {row["wnconnectivity"] for row in rows}
    assert {"bareNucleus=only", "bareNucleus=allow"} <= {row["catchall"] for row in rows}
    assert any(row["fairsharepolicy"] for row in rows)
    assert sum(row["releases"] == ["AUTO"] for row in rows) > sum(row["releases"] == ["ANY"] for row in rows) > 0
    assert any(row["status"] == "online" and "pilots" not in row for row in rows)
    assert {(8 <= row["corepower"] <= 25) for row in rows} == {True}


def test_rules_on_storages_and_links_make_their_documented_exceptions(usual: Row) -> None:
    storages = usual["storages"].values()
    assert any(row["is_tape"] for row in storages)
    assert any(row["space_free"] < 200 for row in storages)
    assert any(row["write_lan"] in ("OFF", "TEST") for row in storages)
    assert all(row["space_free"] <= row["space_total"] for row in storages)
    links = usual["links"]
    assert any(row["closeness"] == -1 for row in links)
    assert 0 < sum(row["queued"] > 150 for row in links) < len(links) / 10
    assert any("mbps_1w" not in row for row in links)
    into: Counter[str] = Counter()
    for row in links:
        into[row["dst"]] += row["queued"]
    assert sum(files > 10_000 for files in into.values()) == 1
    assert sum(files > 2_000 for files in into.values()) < 10


def test_a_synthetic_grid_has_all_kinds_of_tasks(usual: Row) -> None:
    tasks = usual["tasks"]
    assert {task["processing_type"] for task in tasks} == set(
        "evgen simul pile mcore reprocessing deriv group merge validation urgent".split()
    )
    assert {task["gshare"] for task in tasks} == usual["shares"].keys()
    assert {task["label"] for task in tasks} == {"managed"}
    assert sum(task["nucleus"] is None for task in tasks) < 60
    assert any(task.get("use_scout") for task in tasks)
    assert any(task.get("event_service") for task in tasks)
    assert any(task.get("container_name") for task in tasks)
    assert any("fullChain" in task.get("split", {}) for task in tasks)
    assert any("t1Weight" in task.get("split", {}) for task in tasks)
    assert any("&nvidia" in task["architecture"] for task in tasks)
    assert any("#aarch64" in task["architecture"] for task in tasks)
    assert any(task["current_priority"] >= 1_000 for task in tasks)
    assert {"SCORE", "MCORE", "MCORE_HIMEM"} <= {task["resource_type"] for task in tasks}
    merging = [task for task in tasks if task.get("is_merging")]
    assert merging
    assert all("site" in usual["datasets"][task["input"][0]] for task in merging)


def test_a_few_tasks_need_more_than_any_queue_has(usual: Row) -> None:
    largest = max(row["maxrss"] for row in usual["queues"].values() if row["corecount"] == 8)
    tasks = usual["tasks"]
    assert 0 < sum(task["ram_count"] * task["core_count"] * 0.9 > largest for task in tasks) < 20
    assert any(task["work_disk_unit"] == "GB" for task in tasks)
    assert any(task.get("split", {}).get("maxCoreCount") == 2 for task in tasks)


def test_a_grid_has_as_many_nuclei_as_asked_for() -> None:
    world = grid.grid(1, 60, 10, nuclei=20)
    assert len(world["nuclei"]) == len(world["remaining_work"]) == 20
    for nuclei in (0, 24):
        with pytest.raises(ValueError, match="1 to 23"):
            grid.grid(1, 60, 10, nuclei=nuclei)


@pytest.mark.parametrize(("queues", "user_tasks"), [(1, 1), (5, 3), (12, 40), (300, 300)])
def test_user_tasks_are_added_without_changing_the_rest_of_the_grid(queues: int, user_tasks: int) -> None:
    """The rest of the world stays; names in tasks of users refer to existing objects, and their fields are known."""
    before, world = grid.grid(1, queues, 20), grid.grid(1, queues, 20, user_tasks=user_tasks)
    assert world.keys() <= SECTIONS - {"now"}
    assert all(world[part] == before[part] for part in ("storages", "links", "software", "nuclei"))
    assert world["tasks"][:20] == before["tasks"]
    tasks = world["tasks"][20:]
    assert len(tasks) == user_tasks
    assert {task["label"] for task in tasks} == {"user"}
    assert fields(tasks) <= TASK
    assert fields(task["split"] for task in tasks) <= SPLIT
    assert fields(world["queues"].values()) <= QUEUE
    assert fields(world["statistics"]) <= STATISTIC
    assert fields(world["shares"].values()) <= SHARE
    for task in tasks:
        assert set(task["input"]) <= world["datasets"].keys()
        assert task["gshare"] in world["shares"]
        assert {task["user"], task.get("working_group", task["user"])} <= world["users"].keys()
        assert {task.get("site"), *task.get("sites_used", ())} - {None} <= world["queues"].keys()
    there = [users for shares in world["user_queue_statistics"].values() for users in shares.values()]
    assert world["user_queue_statistics"].keys() <= world["queues"].keys()
    assert all(users.keys() <= world["users"].keys() for users in there)
    assert all(name.startswith("syn-user-") or name.startswith("SYN_") for name in world["users"])
