"""The commands of the pages about upgrades, backups and failover are run as written, on a server of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from broker.server.embedded import Server
from broker.upgrade import Program, check, current, upgrade
from tests.throwaway import Throwaway

PAGES = Path(__file__).parents[3] / "broker" / "docs" / "how-to"


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """An embedded server apart from that of other tests, since the backup restores roles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROKER_TEST_SERVER", "embedded")
        throwaway = Throwaway()
    yield throwaway.server
    throwaway.remove()


@pytest.fixture
def server(shared: Server) -> Server:
    """The server, with pgbroker and one job in its database."""
    upgrade(shared.dsn)
    with psycopg.connect(shared.dsn, autocommit=True) as conn:
        conn.execute(
            'select taskqueue.insert_job(\'default\', 7, \'{"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 600}\')'
        )
    return shared


def blocks(page: str, kind: str) -> list[str]:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(script: str, dsn: str, folder: Path, warm: Path, answer: str = "") -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(warm), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, "BROKER_DSN": dsn, "PATH": path},
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_page_about_backups_works(server: Server, tmp_path: Path, warm: Path) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute("create role of_backup nologin; grant broker_agent to of_backup")
    noting = "\n".join(
        f'{program}() {{ printf "%s\\n" "{program} $*" >> command-lines; command {program} "$@"; }}'
        for program in ("pg_dumpall", "pg_dump", "psql", "createdb", "pg_restore", "broker")
    )
    done = run("\n".join([noting, *blocks("back-up", "sh")]), server.dsn, tmp_path, warm)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    command_lines = (tmp_path / "command-lines").read_text()
    assert "pg_dump --format=custom" in command_lines and "pg_restore " in command_lines
    assert server.password not in command_lines  # everybody on the machine reads them
    assert "the database is what the release says" in done.stdout
    assert "create role of_backup" in (tmp_path / "roles.sql").read_text().lower()
    assert check(server.superuser_dsn("restored")).ok
    with psycopg.connect(server.superuser_dsn("restored")) as conn:
        assert conn.execute("select job_id from taskqueue.job").fetchall() == [(7,)]


@pytest.mark.slow
def test_the_page_about_failover_works(server: Server, tmp_path: Path, warm: Path) -> None:
    asking, checking = blocks("fail-over", "sh")
    here = f"host=127.0.0.1,127.0.0.1 port={server.port},{server.port} user=broker password={server.password}"
    done = run(asking.replace("host=a,b", here), server.dsn, tmp_path, warm)
    assert done.returncode == 0 and "revision" in done.stdout, done.stderr
    done = run(checking, server.dsn, tmp_path, warm)
    assert "the database is what the release says" in done.stdout and "Findings" in done.stdout, done.stdout
    ids, query = blocks("fail-over", "sql")
    with psycopg.connect(server.dsn) as conn:
        [(moved_to,)] = conn.execute(ids.encode()).fetchall()
        assert moved_to >= 10**12 + 10**6
        assert conn.execute(query.encode()).fetchall() == []


@pytest.mark.slow
def test_the_page_about_upgrades_works(server: Server, tmp_path: Path, warm: Path) -> None:
    first, _of_a_machine, back = blocks("upgrade", "sh")
    done = run(first, server.dsn, tmp_path, warm)
    assert done.returncode == 0 and "the database is what the release says" in done.stdout, done.stderr
    dba, second = blocks("upgrade", "sql")
    with psycopg.connect(server.superuser_dsn("postgres"), autocommit=True) as conn:
        for statement in dba.replace("database broker", "database of_dba").split(";\n"):
            conn.execute(statement.encode())
        conn.execute("create role second_dba")
        conn.execute(second.encode())
    mine = f"host=127.0.0.1 port={server.port} user=broker_dba password=... dbname=of_dba"
    done = run("broker db upgrade --role-prefix cern_; broker db check", mine, tmp_path, warm)
    assert done.returncode == 0, done.stderr

    one, everything = back.strip().split("\n")
    done = run(one, server.dsn, tmp_path, warm, answer="y\n")
    if before := Program().earlier:  # a build of a clone with its history
        assert done.returncode == 0 and f"to {before.release}" in done.stderr, done.stderr
        done = run("broker db upgrade", server.dsn, tmp_path, warm)
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 1 and "this build carries no earlier release" in done.stderr
    done = run(everything, server.dsn, tmp_path, warm, answer="y\n")
    assert done.returncode == 0 and "Everything of pgbroker is removed, with 1 waiting job" in done.stderr, done.stderr
    assert current(server.dsn) is None
