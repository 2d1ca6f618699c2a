"""STATES.md, From task to TaskQueue: a job of a task that asks for a GPU waits for a worker node that offers one."""

import json
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker.translate import requirements_of_gpu_spec
from tests.calls import Connection
from tests.core.lifecycle import grids

PLATFORM = "x86_64-el9-gcc13-opt"
PLAIN = [
    None, "", PLATFORM, f"{PLATFORM}@base#x86_64-*-avx2", f"{PLATFORM}&", '{"sw_platform": "x&y"}',
    json.dumps({"sw_platform": PLATFORM, "gpu_spec": None}), json.dumps({"encoded_platform": PLATFORM}),
]  # fmt: skip
"""Architectures without a GPU."""
GPUS = [
    f"{PLATFORM}&nvidia",
    f"{PLATFORM}@base#x86_64&nvidia-a100:vram>=20000:cuda>=12.4",
    "&amd",
    f"{PLATFORM}&*",
    json.dumps({"gpu_spec": {"vendor": "nvidia"}}),
    json.dumps({"gpu_spec": {"vram": ">=1", "driver_version": ">=5"}}),
    json.dumps({"sw_platform": PLATFORM, "gpu_specs": [{"model": "A100"}]}),
]
PATTERNS = [
    f"{PLATFORM}&nv.*-A1.*",
    f"{PLATFORM}&nvidia:model!=.*T4",
    json.dumps({"encoded_platform": f"{PLATFORM}&nvidia"}),
    json.dumps({"gpu_spec": {"model": {"pattern": "A1.*", "excl": True}}}),
    json.dumps({"encoded_platform": f"{PLATFORM}&nvidia"}).replace("&", "\\u0026"),
]
"""Architectures that ask for a GPU, and have no translation in full."""
UNREADABLE = ["{", "{&", '{"gpu_spec": {"vendr": "&"}}', '{"gpu_spec": "x"}', "x" * 1001 + "&nvidia"]
DIRACX = "diracx"
WITHOUT: list[Any] = [{}, {"gpu.vendor": "text"}, {"gpu.count": "text"}, {"gpu.count": "version"}]
WITH: list[Any] = [DIRACX, {"gpu.count": "number"}, {"gpu.count": {"type": "number", "absent": "passes"}}]


def waiting(db: Connection, architectures: list[Any], attributes: Any, **settings: Any) -> list[Any]:
    """The clauses of a job of a task with each of the architectures."""
    tasks = [{"id": number, "architecture": text} for number, text in enumerate(architectures, 1)]
    grids.load(db, "s", tasks=tasks)
    db.execute("select taskqueue.set_attributes('s', %s)", [Jsonb(attributes)])
    if settings:
        db.execute("select taskqueue.set_settings('s', %s)", [Jsonb(settings)])
    jobs = [grids.make(db, "s", task=one["id"])[0] for one in tasks]
    assert grids.activate(db, "s")["activated"] == len(jobs)
    query = """select d.requirements -> 'Clauses' from taskqueue.job j
                 join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
                 join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
                where j.setup = 's' and j.job_id = %s"""
    return [db.execute(query, [job]).fetchall()[0][0] for job in jobs]


def demand(**bounds: int) -> Any:
    return [{"Attributes": {"gpu.count": [bounds]}}]


@pytest.mark.parametrize("attributes", WITHOUT, ids=str)
def test_without_a_number_gpu_count_no_job_has_a_clause(rolled_back: Connection, attributes: Any) -> None:
    texts = [*PLAIN, *GPUS, *PATTERNS, *UNREADABLE]
    assert waiting(rolled_back, texts, attributes) == [None] * len(texts)


@pytest.mark.parametrize("attributes", WITH, ids=str)
@pytest.mark.parametrize("keep", [False, True])
def test_jobs_that_ask_for_a_gpu_demand_one(rolled_back: Connection, attributes: Any, keep: bool) -> None:
    if keep and attributes != DIRACX and isinstance(attributes["gpu.count"], str):
        attributes = {"gpu.count": {"type": "number", "absent": {"value": 0}}}
    none = demand(max=0) if keep else None
    found = waiting(rolled_back, [*PLAIN, *UNREADABLE, *GPUS, *PATTERNS], attributes, keep_gpus=keep)
    assert found == [none] * (len(PLAIN) + len(UNREADABLE)) + [demand(min=1)] * (len(GPUS) + len(PATTERNS))


def test_the_translation_agrees_on_which_architectures_ask_for_a_gpu() -> None:
    assert [text for text in PLAIN + GPUS if requirements_of_gpu_spec(text)] == GPUS


@pytest.mark.parametrize("keep", [False, True])
def test_a_worker_node_without_a_gpu_gets_no_job_that_needs_one(rolled_back: Connection, keep: bool) -> None:
    """With keep_gpus, the worker node with a GPU gets no other job."""
    db = rolled_back
    waiting(db, [PLATFORM, f"{PLATFORM}&nvidia-A100:vram>=20000"], DIRACX, keep_gpus=keep)
    taken = {}
    for gpus in (0, 2):
        resource = Jsonb({**grids.PLENTY, "Site": "QA", "Attributes": {"gpu.count": gpus}})
        with db.transaction(force_rollback=True):
            rows = [db.execute("select job_id from taskqueue.match_job('s', %s)", [resource]).fetchall() for _ in "abc"]
        taken[gpus] = sorted(job for found in rows for (job,) in found)
    first, second = grids.job_ids(db, "s")
    assert taken == {0: [first], 2: [second] if keep else [first, second]}
