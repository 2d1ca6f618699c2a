"""What migrations/README.md says about backups is run as it is written, on an embedded server of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from broker.server.embedded import Server
from broker.upgrade import check, upgrade
from tests.throwaway import Throwaway

PAGE = Path(__file__).parents[2] / "migrations" / "README.md"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An embedded server apart from the other tests', whichever they use: the backup restores roles."""
    monkeypatch.setenv("BROKER_TEST_SERVER", "embedded")
    throwaway = Throwaway()
    yield throwaway.server
    throwaway.remove()


def test_the_backup_chapter_works(server: Server, tmp_path: Path) -> None:
    upgrade(server.dsn)
    with psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute("create role of_backup nologin; grant broker_agent to of_backup")
        conn.execute(
            'select taskqueue.insert_job(\'default\', 7, \'{"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 600}\')'
        )
    chapter = PAGE.read_text(encoding="utf-8").partition("\n## Backup\n")[2].partition("\n## ")[0]
    script = "".join(re.findall(r"^```sh\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    environment = {**kept, "BROKER_DSN": server.dsn, "PATH": path}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "the database is what the release says" in done.stdout
    assert "create role of_backup" in (tmp_path / "roles.sql").read_text().lower()
    assert check(server.dsn_of("restored")).ok
    with psycopg.connect(server.dsn_of("restored")) as conn:
        assert conn.execute("select job_id from taskqueue.job").fetchall() == [(7,)]
