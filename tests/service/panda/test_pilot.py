"""PanDA's own pilot gets, runs and ends jobs of the service.

One pilot is the package panda-pilot, which uses only the older API. The other is a source tree of a later version: the
variable BROKER_TEST_PILOT names its folder; without it, its tests are skipped. The tests call functions of the pilot,
not the whole program: at its end the program kills all processes of its account that have lost their parent.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.conftest import Db, Running, Token, facts_of
from tests.service.panda.conftest import QUEUE, Insert

PROGRAM = Path(__file__).with_name("pilot_program.py")
TREE = os.environ.get("BROKER_TEST_PILOT", "")
needs_tree = pytest.mark.skipif(not TREE, reason="BROKER_TEST_PILOT does not name a source tree of PanDA's pilot")
needs_package = pytest.mark.skipif(
    importlib.util.find_spec("pilot") is None or shutil.which("curl") is None,
    reason="panda-pilot or curl is not installed",
)
SOURCES = [pytest.param("", id="package", marks=needs_package), pytest.param(TREE, id="tree", marks=needs_tree)]

Program = Callable[[str, str], "subprocess.Popen[str]"]


@pytest.fixture
def program(service: Running, token: Token, tmp_path: Path) -> Program:
    """A function that starts a pilot of a source, for one kind of run."""
    (tmp_path / "token").write_text(token("agent", "pilot 1"))
    here = str(tmp_path)
    environment = {
        "PATH": os.environ["PATH"], "HOME": here, "PILOT_HOME": here, "PILOT_WORK_DIR": here, "PILOT_SOURCE_DIR": here,
        "PANDA_AUTH_DIR": f"{here}/", "PANDA_AUTH_TOKEN": "token", "PANDA_AUTH_ORIGIN": "vo.pilot",
        "PILOT_SITENAME": QUEUE, "PILOT_USER": "generic", "PILOT_VERSION": "test", "PILOT_IP_VERSION": "IPv4",
        "PILOT_NOKILL": "1",
    }  # fmt: skip

    def start(source: str, way: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, PROGRAM, service.url, QUEUE, way], cwd=here, env={**environment, "PYTHONPATH": source},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    return start


def result(process: "subprocess.Popen[str]", told: str = "") -> dict[str, Any]:
    """The last line that a pilot printed."""
    output, errors = process.communicate(told, timeout=120)
    assert process.returncode == 0, errors
    return dict(json.loads(output.splitlines()[-1]))


@pytest.mark.parametrize("source", SOURCES)
def test_the_pilot_of_panda_runs_a_job_through_the_older_api(
    program: Program, insert: Insert, db: Db, source: str
) -> None:
    insert(71, Sites=[QUEUE])
    assert result(program(source, "older")) == {
        "job": "71", "attempt": 1, "command": "sleep 2400", "sent": [True, True, True], "completed": True,
        "aborted": False, "second": 20,
    }  # fmt: skip
    assert db.execute("select job_id, outcome, attempts from taskqueue.ended").fetchall() == [(71, "finished", 1)]
    assert db.execute("select event, subject, site from taskqueue.history order by at, event").fetchall() == [
        ("matched", "token pilot 1", QUEUE), ("running", "token pilot 1", QUEUE), ("finished", "token pilot 1", QUEUE)
    ]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_the_pilot_of_panda_gives_the_facts_of_a_failed_job(
    program: Program, insert: Insert, db: Db, source: str
) -> None:
    insert(71, Sites=[QUEUE])
    found = result(program(source, "failed"))
    assert found["sent"] == [True, True]
    host, error, cpu, wall, _, cores = facts_of(db, 71)
    assert (host, cpu, cores) == (found["node"].rpartition("@")[2], 3600, 1)
    assert error == [
        {"source": "pilot", "code": 1305, "text": "the payload failed"},
        {"source": "exe", "code": 65, "text": "exit code 65"},
    ]
    assert 100 <= wall < 200


@pytest.mark.parametrize("source", SOURCES)
def test_the_pilot_of_panda_aborts_a_killed_job(program: Program, insert: Insert, db: Db, source: str) -> None:
    insert(71)
    process = program(source, "killed")
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    assert "running\n" in lines  # reads on until then
    db.execute("select taskqueue.cancel_job('default', 71, 'not needed')")
    assert result(process, "\n") == {"sent": True, "aborted": True, "errors": [1144]}
    assert db.execute("select job_id, outcome from taskqueue.ended").fetchall() == [(71, "cancelled")]
    assert [(one["source"], one["code"]) for one in facts_of(db, 71)[1]] == [("pilot", 1144)]


@needs_tree
def test_the_pilot_of_panda_runs_a_job_through_api_v1(program: Program, insert: Insert, db: Db) -> None:
    insert(71, Sites=[QUEUE])
    found = result(program(TREE, "v1"))
    assert {"SCORE", "MCORE"} < set(found.pop("types"))
    assert found == {
        "job": "71", "attempt": 1, "command": "sleep 2400", "node": True, "sent": [None, None, None],
        "second": "No jobs in PanDA",
    }  # fmt: skip
    assert db.execute("select job_id, outcome, attempts from taskqueue.ended").fetchall() == [(71, "finished", 1)]
    assert facts_of(db, 71)[2:] == (None, None, 2000, 4)
    assert facts_of(db, 71)[0]
