"""Shards are upgraded one by one, and the front last, while agents work; a downgrade begins with the front."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker import __version__
from broker.client import JobAgent, Submitter
from broker.cluster import survey
from broker.database import Target
from broker.upgrade import Program, check, downgrade, upgrade
from broker.upgrade.installed import installed
from broker.upgrade.source import package_folder
from tests.calls import requirements, resource
from tests.cluster.front.conftest import Cluster, Placed
from tests.releases import RELEASES, Release
from tests.service.conftest import Db

JOBS = 4000
VIEW = "waiting_by_site"
LATER = "99.0.0"


def _next_release(folder: Path) -> Program:
    """A release with one more argument of match, one more column of a view, and some different code."""
    shutil.copytree(package_folder("sql"), folder)
    for path in [file for schema in ("taskqueue", "monitor") for file in (folder / schema).rglob("*.sql")]:
        text = path.read_text()
        if path.stem == "match_job":
            last = "p_request_id uuid default null"
            text = text.replace(last, f"{last}, p_more text default ''")
            text = text.replace("match_job(text, jsonb, uuid)", "match_job(text, jsonb, uuid, text)")
        if path.stem in ("lease_together", "finish_job", "insert_jobs"):
            text = text.replace("$$\n", "$$\n-- another release\n", 1)
        if path.stem == VIEW:
            text = text.replace("select ", "select 'another release' as more, ", 1)
        path.write_text(text)
    made = Program(folder, release=LATER, earlier_folder=folder.parent / "earlier")
    made.earlier_folder.mkdir()
    (made.earlier_folder / "sql").symlink_to(package_folder("sql"))
    (made.earlier_folder / "release.json").write_text(json.dumps({"release": __version__, "revision": made.head}))
    return made


@pytest.mark.thorough
@pytest.mark.parametrize("other", [LATER, *(version for version in RELEASES if version != __version__)])
def test_an_upgrade_of_shards_and_then_the_front_stops_no_agent(
    other: str, cluster: Cluster, front: Db, placed: Placed, tmp_path: Path
) -> None:
    """From this release to another one and back; from this release back to each older one, and up again."""
    upwards = (*cluster.shards.values(), cluster.front)
    now = Program()
    steps: list[tuple[Program, Callable[..., Any], Program]]  # a program, what it does, and the release after that
    if other == LATER:
        later = _next_release(tmp_path / "sql")
        steps = [(later, upgrade, later), (later, downgrade, now)]
    else:
        old = Release.unpack(other, tmp_path / "old")
        steps = [(old.carried(tmp_path / "earlier"), downgrade, old.program), (now, upgrade, now)]
    setups = [placed(shard) for shard in cluster.shards]
    login, operator = cluster.dsn("cluster_agent"), cluster.dsn("cluster_operator")
    for setup in setups:
        front.execute("select resource.set_identity(%s, 'cluster_agent')", [setup])
        with Submitter(setup, operator) as submitter:
            submitter.submit_many([{"requirements": requirements(), "jobs": [[n, 5] for n in range(1, JOBS + 1)]}])
    done = threading.Event()
    wrong: list[BaseException] = []
    taken: list[tuple[str, int]] = []

    def agent(setup: str) -> None:
        try:
            with JobAgent(setup, login, connections=1) as client:
                while not done.is_set():
                    match = client.match(resource())
                    if match is None:
                        return
                    taken.append((setup, match.job_id))
                    client.finish(match)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=agent, args=(setup,)) for setup in setups * 2]
    for thread in threads:
        thread.start()
    try:
        for program, move, goal in steps:
            for dsn in upwards if move is upgrade else reversed(upwards):
                move(dsn, program=program)
            for dsn in upwards:
                assert check(dsn, program=goal).differences == ()
            states = survey.states_of_shards(front, Target(cluster.front, "--dsn"), whole=True)
            found = survey.differences(front, states)
            assert [line for line in found if " has no " in line] == []
            columns = front.execute(f"select * from monitor.{VIEW} limit 0".encode()).description or []
            assert ("more" in [column.name for column in columns]) == (goal.release == LATER)
            query = (
                "select prosrc, pg_get_function_arguments(oid) from pg_proc where oid = 'taskqueue.match_job'::regproc"
            )
            [(body, arguments)] = front.execute(query).fetchall()
            assert "run on cluster.shard_of" in body and ("p_more" in arguments) == (goal.release == LATER)
    finally:
        done.set()
        for thread in threads:
            thread.join(60)
        for dsn in reversed(upwards):
            with psycopg.connect(dsn) as connection:
                is_later = installed(connection.cursor()).release == LATER
            (downgrade if is_later else upgrade)(dsn, program=steps[0][0] if is_later else now)
    assert wrong == []
    assert len(taken) == len(set(taken)) > 100
