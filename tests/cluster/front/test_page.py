"""The blocks of the page about shards are run from top to bottom, on the test's own databases."""

import os
import re
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.cluster.front.conftest import Cluster, changed
from tests.service.test_page import bash

PAGE = Path(__file__).parents[3] / "broker" / "docs" / "how-to" / "shards.md"


@pytest.mark.thorough
def test_the_commands_of_the_page_about_several_servers_work(cluster: Cluster, warm: Path, tmp_path: Path) -> None:
    where = conninfo_to_dict(cluster.front)
    server = {key: str(where[key]) for key in ("host", "port")}
    with psycopg.connect(cluster.front, autocommit=True) as connection:
        for name in ("shard_a", "page_b"):
            connection.execute(sql.SQL("create database {} template installed").format(sql.Identifier(name)))
        for name in ("shard_c", "page_front"):
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 8
    script = "\n".join(blocks)
    for host in ("db0", "db1", "db2", "db3"):
        script = script.replace(f"host={host}", f"host={server['host']} port={server['port']}")
    script = script.replace("dbname=front", "dbname=page_front").replace("dbname=shard_b", "dbname=page_b")
    script = script.replace("user=postgres", "user=cluster_super password='not a secret'")
    path = os.pathsep.join([str(warm), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    shown = bash(_once(script), tmp_path, {**kept, "PATH": path}, 280)
    assert "setup lhcb is on shard a" in shown
    assert shown.count("front and shards go together") == 2
    assert '{"status":"ready"}' in shown
    assert re.search(r"setup lhcb is on shard c: \d+ rows, calls were refused for", shown)
    with psycopg.connect(changed(cluster.front, dbname="shard_c")) as connection:
        held = connection.execute("select setup, job_id from taskqueue.lease order by 2").fetchall()
    assert held == [("lhcb", 1), ("lhcb", 2)]


def _once(script: str) -> str:
    """Roles belong to a server, and one server has all databases here: each role is made once, and granted again."""
    return re.sub(
        r"^create role (\w+) (.*);$",
        r"select $q$create role \1 \2$q$ where to_regrole('\1') is null \\gexec",
        script,
        flags=re.MULTILINE,
    )
