"""Profiles that follow the older editions of PanDA's page: the SQL of the page differences.md gives their verdicts."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from broker import world
from tests.core.docs.pages import by_name

pytestmark = pytest.mark.slow

Db = psycopg.Connection[Any]
Row = dict[str, Any]
PAGE = "sql/brokerage/rules/differences.md"
NEWEST, MIDDLE, OLDEST = "documented", "edition-middle", "edition-oldest"
MIB, GIB = 2**20, 2**30
# 100 events of 9 HS06 s are 100 s at 90 percent of a core of 10 HS06.
TASK: Row = {"input": ["d"], "cpu_time": 9, "nucleus": "N"}
QUEUE: Row = {"type": "unified", "corecount": 1, "site": "N", "panda_site": "N", "pilots": {"getjob": 1}}
# A task, a queue, and for each edition the rule that rejects it, or None.
PRODUCTION: dict[str, tuple[Row, Row, tuple[str | None, str | None, str | None]]] = {
    "plain": ({}, {}, (None, None, None)),
    "more cores than maxCoreCount": (
        {"core_count": 8, "split": {"maxCoreCount": 4}}, {"corecount": 8}, ("max-core-count", None, None)),
    "walltime is maxtime": ({}, {"maxtime": 100}, (None, "walltime", "walltime")),
    "walltime is below maxtime": ({}, {"maxtime": 101}, (None, None, None)),
    "walltime is over maxtime": ({}, {"maxtime": 99}, ("walltime", "walltime", "walltime")),
    "walltime is below mintime": ({}, {"mintime": 101}, ("walltime", None, None)),
    "walltime is not known": ({"cpu_time": None, "cpu_time_unit": None}, {"mintime": 1}, ("walltime", None, None)),
    "output of 2 MB by MB of input": (
        {"out_disk_count": 2, "out_disk_unit": "MB"}, {"maxwdir": 2500}, ("scratch-disk", "scratch-disk", None)),
    "output of 20 MB by event": (
        {"out_disk_count": 20, "out_disk_unit": "MBPerEvent"}, {"maxwdir": 2500}, ("scratch-disk",) * 3),
    "half a GB of output, as much as maxwdir": ({}, {"maxwdir": 1536}, ("scratch-disk",) * 3),
    "half a GB of output": ({}, {"maxwdir": 1537}, (None, None, None)),
    "bare nucleus": ({}, {"catchall": "bareNucleus=only"}, ("full-chain-job", None, None)),
}  # fmt: skip
USER: Row = {"label": "user", "user": "ann", "gshare": "User Analysis", "walltime": 50, "task_class": -1}
GPU: Row = {"catchall": "gpu", "releases": ["AUTO"]}
SOFTWARE: Row = {"cmtconfigs": ["x86_64-el9-gcc13-opt"], "architectures": [{"type": "cpu", "arch": ["x86_64"]}]}
# The same for analysis, without the oldest edition, which has none; and other sections of the world.
ANALYSIS: dict[str, tuple[Row, Row, Row, tuple[str | None, str | None]]] = {
    "plain": ({}, {}, {}, (None, None)),
    "class C in a share near its target": (
        {}, {}, {"shares": {"User Analysis": {"usage_percent": 0.96}}}, ("share-throttle", None)),
    "walltime is maxtime, the estimate is longer": ({}, {"maxtime": 50}, {}, ("walltime", None)),
    "walltime is over maxtime": ({"walltime": 101}, {"maxtime": 100}, {}, (None, "walltime")),
    "walltime is mintime": ({"walltime": 101}, {"mintime": 101}, {}, ("walltime", None)),
    "walltime is not known": ({"walltime": None}, {"mintime": 1}, {}, (None, "walltime")),
    "many jobs of the user": (
        {}, {}, {"statistics": [{"queue": "Q", "gshare": "User Analysis", "status": "activated", "njobs": 200},
                                {"queue": "Q", "gshare": "User Analysis", "status": "running", "njobs": 100}],
                 "user_queue_statistics": {"Q": {"User Analysis": {"ann": {"queued": 200, "running": 0}}}}},
        ("stabilizer", None)),
    "a queue of GPUs that publishes nothing": ({}, {"catchall": "gpu"}, {}, (None, "gpu-queue")),
    "a queue of GPUs with the architecture": (
        {"architecture": "x86_64-el9-gcc13-opt"}, GPU, {"software": {"Q": SOFTWARE}}, (None, None)),
}  # fmt: skip


@pytest.fixture
def editions(rolled_back: Db) -> Iterator[Db]:
    """A database with the profiles that the page makes."""
    for block in by_name()[PAGE].blocks:
        rolled_back.execute(block.text.encode())
    yield rolled_back


def verdict(db: Db, given: Row, algorithm: str, profile: str) -> str | None:
    """The rule that rejects the queue, or the whole task; None = the queue is a candidate."""
    with db.transaction(force_rollback=True):
        world.load(db, [given], "w")
        query = "select brokerage.evaluate_task('w', 1, %s, %s)"
        [(answer,)] = db.execute(query, [algorithm, profile]).fetchall()
    assert "error" not in answer, answer
    if answer["candidates"]:
        return None
    return str(answer["rejected"][0]["rule"] if answer["rejected"] else answer["explanation"]["rule"])


def a_world(task: Row, queue: Row, **sections: Any) -> Row:
    """One task and one queue, which has its input of 1 GiB with 100 events."""
    files = [{"lfn": "f", "size": GIB, "nevents": 100}]
    disks = {"read_lan": ["DISK"], "write_lan": ["DISK"]}
    return {
        "queues": {"Q": {**QUEUE, "astorages": disks, **queue}},
        "storages": {"DISK": {"site": "N", "space_free": 1000}},
        "datasets": {"d": {"files": files, "replicas": {"DISK": {}}}},
        "tasks": [{"id": 1, **TASK, **task}],
        **sections,
    }


def test_production_follows_the_edition(editions: Db) -> None:
    found = {
        case: tuple(verdict(editions, a_world(task, queue), "production_job", one) for one in (NEWEST, MIDDLE, OLDEST))
        for case, (task, queue, _) in PRODUCTION.items()
    }
    assert found == {case: expected for case, (*_, expected) in PRODUCTION.items()}


def test_analysis_follows_the_edition(editions: Db) -> None:
    found = {}
    for case, (task, queue, sections, _) in ANALYSIS.items():
        given = a_world({**USER, **task}, queue, **sections)
        found[case] = tuple(verdict(editions, given, "analysis_job", one) for one in (NEWEST, MIDDLE))
    assert found == {case: expected for case, (*_, expected) in ANALYSIS.items()}


def test_an_architecture_in_json_implies_no_cpu(editions: Db) -> None:
    """The way to the older editions that the page names: a plain platform implies a CPU, the same in JSON does not."""
    aarch64 = {**SOFTWARE, "architectures": [{"type": "cpu", "arch": ["aarch64"]}], "containers": ["any"]}
    aarch64["cvmfs"] = ["any"]
    for architecture, expected in (
        ("x86_64-el9-gcc13-opt", "software"),
        ('{"sw_platform": "x86_64-el9-gcc13-opt"}', None),
    ):
        task = {"architecture": architecture, "trans_home": "Athena-21.0.38"}
        given = a_world(task, {"releases": ["AUTO"]}, software={"Q": aarch64})
        assert verdict(editions, given, "production_job", MIDDLE) == expected
