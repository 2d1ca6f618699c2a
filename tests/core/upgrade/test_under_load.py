"""Upgrades in a row under eight agents: each succeeds, no agent's call fails."""

import itertools
import os
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker.upgrade import Program, check, upgrade
from broker.upgrade.source import package_folder

UPGRADES = int(os.environ.get("BROKER_TEST_UPGRADES", "3"))  # 50 by hand
AGENTS = 8
# Calls of agents and submitters, and functions that these call: with renamed parameters they must be recreated.
RENAMED = ("match_job", "insert_job", "enter_setup", "weight", "is_background")
# Functions that these call, in turn: replaced in place.
REWRITTEN = ("match_jobs", "lease_together", "offer_of", "place_jobs", "draw_job", "finish_job", "clock")
VIEW = "waiting_by_site"
FOREIGN = """
create schema dba;
create view dba.waiting as select count(*) as n from monitor.waiting_by_site;
create function dba.weight(p_priority int) returns float8 return taskqueue.weight(p_priority, true);
"""


def variant(folder: Path) -> Program:
    """Another release: hot functions differ, some and a view must be dropped, and a hot trigger is rewritten."""
    shutil.copytree(package_folder("sql"), folder)
    for path in [file for schema in ("resource", "taskqueue", "monitor") for file in (folder / schema).rglob("*.sql")]:
        text = path.read_text()
        if path.stem in REWRITTEN:
            text = text.replace("$$\n", "$$\n-- another release\n", 1)
        if path.stem in RENAMED:
            text = re.sub(r"\bp_(?!\w+ =>)", "pp_", text)  # the functions that it calls by named arguments stay
        if path.stem == "task_queue_bucket":
            text += "-- another release\n"
        if path.stem == VIEW:
            text = text.replace("select ", "select 'another release' as more, ", 1)
        path.write_text(text)
    return Program(folder)


@pytest.mark.slow
def test_upgrades_under_eight_agents_lose_no_job(dsn: str, tmp_path: Path) -> None:
    programs = [Program(), variant(tmp_path / "sql")]
    with psycopg.connect(dsn) as conn:
        conn.execute(FOREIGN)
    stop = threading.Event()

    def agent(number: int) -> tuple[int, set[int]]:
        """Insert, match and finish until stopped; return the number of inserted jobs and the ids of taken ones."""
        taken: set[int] = set()
        with psycopg.connect(dsn, autocommit=True) as conn:
            for inserted in itertools.count(1):
                job = Jsonb({"OwnerDN": f"/CN={number}", "OwnerGroup": "lhcb_mc", "CPUTime": 5000})
                conn.execute("select taskqueue.insert_job('default', %s, %s)", [number * 10**9 + inserted, job])
                resource = Jsonb({"Site": "LCG.CERN.cern", "CPUTime": 100000})
                for row in conn.execute(
                    "select job_id, attempt from taskqueue.match_job('default', %s)", [resource]
                ).fetchall():
                    assert row[0] not in taken
                    taken.add(row[0])
                    conn.execute("select taskqueue.finish_job('default', %s, %s)", row)
                if stop.is_set():
                    return inserted, taken
        raise AssertionError

    with ThreadPoolExecutor(AGENTS) as pool:
        agents = [pool.submit(agent, number) for number in range(1, AGENTS + 1)]
        try:
            for turn in range(1, UPGRADES + 1):
                report = upgrade(dsn, program=programs[turn % 2])
                assert set(report.foreign) == {"view dba.waiting", "function dba.weight(integer)"}
                assert len(report.written) == len(RENAMED) + len(REWRITTEN) + 2, report.written
        finally:
            stop.set()
        results = [future.result() for future in agents]  # raises what an agent's call raised

    assert check(dsn, program=programs[UPGRADES % 2]).ok
    taken = [job for _, jobs in results for job in jobs]
    assert len(taken) == len(set(taken))
    with psycopg.connect(dsn) as conn:
        waiting = conn.execute("select n from dba.waiting").fetchone()
        states = conn.execute("select count(*) from taskqueue.job").fetchone()
        assert waiting is not None and states is not None
        assert sum(inserted for inserted, _ in results) == len(taken) + states[0]
        assert conn.execute("select * from taskqueue.check_matching('default')").fetchall() == []
