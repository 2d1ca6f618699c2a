"""The plan of the statement that makes jobs: a session keeps the plan, which must suit one job and thousands."""

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from broker import world

Connection = psycopg.Connection[Any]
Row = dict[str, Any]

JOBS = 1500
TASKS = (1, 2)


@pytest.fixture
def prepared(dsn: str) -> Iterator[Connection]:
    """A new database without statistics, and the statement as a batch runs it: cut out of the function."""
    files = [{"lfn": f"f{n}", "size": 1, "nevents": 1} for n in range(JOBS)]
    tasks = [{"id": task, "input": [f"in{task}"], "split": {"nFilesPerJob": 1}} for task in TASKS]
    given = {"setup": "w", "queues": {"Q": {}}, "datasets": {f"in{task}": {"files": files} for task in TASKS}}
    with psycopg.connect(dsn) as connection:
        world.load(connection, [{**given, "tasks": tasks}])
        query = "select prosrc from pg_proc where oid = 'workload.make_jobs'::regproc"
        [(source,)] = connection.execute(query).fetchall()
        found = re.search(r"with queue as.*?from made(?=;)", source, re.DOTALL)
        assert found, source
        statement = found[0].replace("select count(*) into v_made from made", "select count(*) from made")
        variables = ("p_setup", "p_task_ids", "p_queues", "p_jobs", "p_why", "v_now", "v_caller", "p_changes")
        for number, name in enumerate(variables, 1):
            statement = re.sub(rf"\b{name}\b", f"${number}", statement)
        types = "text, bigint[], text[], bigint[], text, timestamptz, text, text[]"
        connection.execute(f"prepare make_jobs ({types}) as {statement}".encode())
        for setting in ("enable_mergejoin = off", "enable_memoize = off", "plan_cache_mode = force_generic_plan"):
            connection.execute(f"set {setting}".encode())
        yield connection


def _nodes(node: Row) -> Iterator[Row]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def test_a_kept_plan_does_not_read_all_parts_for_each_job(prepared: Connection) -> None:
    execute = f"execute make_jobs('w', '{{1,2}}', '{{Q,Q}}', '{{{JOBS},{JOBS}}}', 'test', now(), 'me', null)"
    explain = f"explain (analyze, timing off, format json) {execute}"
    [(plan,)] = prepared.execute(explain.encode()).fetchall()
    [(made,)] = prepared.execute("select count(*) from workload.job").fetchall()
    assert made == len(TASKS) * JOBS
    nodes = list(_nodes(plan[0]["Plan"]))
    looked_at = [(node.get("Rows Removed by Join Filter", 0), node["Node Type"]) for node in nodes]
    assert max(looked_at)[0] <= len(TASKS) * made, json.dumps(plan)
    rows = [(node["Actual Rows"] * node["Actual Loops"], node["Node Type"]) for node in nodes]
    assert max(rows)[0] <= len(TASKS) * made, json.dumps(plan)


def test_parts_that_already_have_jobs_are_hashed(prepared: Connection) -> None:
    """Otherwise they would be read once per part: 750 of 1,500 parts have jobs."""
    prepared.execute("select workload.make_jobs('w', '{1,2}', '{Q,Q}', '{750,750}', 'test')")
    execute = "execute make_jobs('w', '{1,2}', '{Q,Q}', '{900,900}', 'test', now(), 'me', null)"
    [(plan,)] = prepared.execute(f"explain (analyze, timing off, format json) {execute}".encode()).fetchall()
    [(made,)] = prepared.execute("select count(*) from workload.job where number > 750").fetchall()
    assert made == len(TASKS) * 750
    scans = [node for node in _nodes(plan[0]["Plan"]) if node.get("Index Name") == "job_task"]
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in scans) <= 4 * made, json.dumps(plan)
