"""`broker cluster`, and other commands at a front."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cluster.front.conftest import PASSWORD, SUPERUSER, Cluster, Placed, changed
from tests.commands import Cli, commands
from tests.service.conftest import Db, wait_until


def test_cluster_status_lists_each_shard_with_its_setups(cli: Cli, placed: Placed) -> None:
    setup = placed("b")
    cli("submit", "-", "--setup", setup, stdin=json.dumps(
        {"job_id": 1, "requirements": {"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 600}}
    ))  # fmt: skip
    rows = cli("cluster", "status", "--json").json
    assert [row["shard"] for row in rows] == ["a", "b", "c"]
    assert [row["error"] for row in rows] == [None] * 3
    assert setup in rows[1]["setups"] and setup not in rows[0]["setups"]
    assert "Shards" in cli("cluster", "status").out


def test_cluster_check_names_a_setup_that_is_placed_nowhere(cli: Cli, cluster: Cluster) -> None:
    assert cli("cluster", "check").out == "front and shards go together\n"
    with psycopg.connect(cluster.shards["a"], autocommit=True) as shard:
        shard.execute("insert into resource.setup (setup) values ('stray')")
        try:
            printed = cli("cluster", "check", "--json")
        finally:
            shard.execute("delete from resource.setup where setup = 'stray'")
    assert printed.code == 5
    assert printed.json == {"ok": False, "differences": ["setup stray is on shard a and is placed nowhere"]}


def test_a_setup_is_placed_once_and_moved_by_command(cli: Cli, placed: Placed) -> None:
    setup = placed("a")
    assert cli("cluster", "place", setup, "a").out == f"setup {setup} is on shard a\n"
    refused = cli("cluster", "place", setup, "b")
    assert refused.code == 1
    assert f"error: setup {setup} is on shard a [PB005]" in refused.err
    assert f"hint:  To move it: broker cluster move {setup} b." in refused.err
    cli("identity", "grant", "cluster_agent", "--setup", setup)
    moved = cli("cluster", "move", setup, "b", "--json").json
    assert (moved["setup"], moved["shard"]) == (setup, "b") and moved["rows"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add-shard", "a"], "--shard a has no DSN"),
        (["add-shard", "A=host=x dbname=y user=z"], "shard 'A' is not a name"),
        (["add-shard", "d=host=x dbname=y"], "the DSN of shard d has no user"),
        (["add-shard", "d=no dsn at all"], "the DSN of shard d cannot be read"),
        (["add-shard", "d=host=127.0.0.1 port=1 dbname=y user=z"], "cannot connect to"),
        (["move", "nowhere", "b"], "setup nowhere is on no shard"),
        (["init"], "a front needs a shard"),
    ],
)
def test_wrong_arguments_of_cluster_commands_are_refused_with_a_hint(cli: Cli, words: list[str], message: str) -> None:
    printed = cli("cluster", *words)
    assert printed.code == (3 if message == "cannot connect to" else 1)
    assert message in printed.err and "hint:" in printed.err


def test_another_database_does_not_take_the_name_of_a_shard(cli: Cli, cluster: Cluster) -> None:
    printed = cli("cluster", "add-shard", f"a={cluster.shards['b']}")
    assert (printed.code, "error: shard a is there already, as another database" in printed.err) == (1, True)
    assert [row["shard"] for row in cli("cluster", "status", "--json").json] == ["a", "b", "c"]


def test_a_shard_that_is_added_again_completes_an_addition_that_was_broken_off(
    cli: Cli, cluster: Cluster, front: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process died after it had stored the shard, before the views of the front read it."""
    upgraded = []
    monkeypatch.setattr("broker.cluster.shards.machinery.upgrade", lambda *_, **how: upgraded.append(how))
    before = cli("cluster", "status", "--json").json
    placed = front.execute("select setup from cluster.placement where shard = 'a' order by 1").fetchall()
    added = cli("cluster", "add-shard", f"a={cluster.shards['a']}", "--json").json
    assert [(setup,) for setup in added["setups"]] == placed != []
    assert upgraded == [{"front": True}]
    assert cli("cluster", "status", "--json").json == before


def test_a_shard_that_is_added_again_has_the_login_that_was_given_last(cli: Cli, cluster: Cluster, front: Db) -> None:
    login = "select umoptions from pg_user_mappings where srvname = 'pgbroker_a'"
    first = front.execute(login).fetchall()
    cli("cluster", "add-shard", f"a={changed(cluster.shards['a'], user=SUPERUSER, password=PASSWORD)}")
    assert front.execute(login).fetchall() == [
        ([f"user={SUPERUSER}", f"password={PASSWORD}", "password_required=false"],)
    ]
    cli("cluster", "add-shard", f"a={cluster.shards['a']}")
    assert front.execute(login).fetchall() == first


def test_a_front_is_no_shard(cli: Cli, cluster: Cluster) -> None:
    printed = cli("cluster", "add-shard", f"d={cluster.front}")
    assert printed.code == 1 and "this database is a front" in printed.err


def test_no_front_is_made_of_a_database_that_is_used(
    dsn: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = commands(dsn, monkeypatch)("cluster", "init", "--shard", f"a={cluster.shards['a']}")
    assert printed.code == 1 and "has pgbroker already, as a single database" in printed.err
    printed = commands(dsn, monkeypatch)("cluster", "status")
    assert printed.code == 1 and "this database is not a front" in printed.err


def test_a_front_without_pl_proxy_is_refused(empty_dsn: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(empty_dsn) as connection:
        there = connection.execute("select from pg_available_extensions where name = 'plproxy'").fetchone()
    if there is not None:
        pytest.skip("the server of the run has PL/Proxy")
    printed = commands(empty_dsn, monkeypatch)("cluster", "init", "--shard", f"a={cluster.shards['a']}")
    assert printed.code == 1
    assert "a front needs plproxy" in printed.err and "-plproxy" in printed.err


def test_a_command_works_on_the_shard_of_its_setup(cli: Cli, cluster: Cluster, placed: Placed) -> None:
    """A what-if runs in one transaction on the shard and stores nothing; a front could not give it one transaction."""
    setup = placed("c")
    job = {"job_id": 5, "requirements": {"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 600}}
    cli("submit", "-", "--setup", setup, stdin=json.dumps(job))
    assert [row["job_id"] for row in cli("jobs", "--setup", setup, "--json").json] == [5]
    assert json.loads(cli("dump", "--setup", setup).out)["task_queues"]
    with psycopg.connect(cluster.shards["c"]) as shard:
        assert shard.execute("select job_id from taskqueue.job where setup = %s", [setup]).fetchall() == [(5,)]
    assert "is on no shard" in cli("jobs", "--setup", "nowhere").err


@pytest.mark.parametrize("words", [
    ["demo", "--jobs", "500", "--seconds", "1", "--agents", "2"],
    ["demo", "brokerage", "--queues", "10", "--tasks", "5"],
    ["demo", "instances", "--samples", "2"],
    ["simulate", "--scenario", "calm", "--hours", "0.2", "--queues", "4", "--scale", "0.05", "--plain"],
])  # fmt: skip
def test_the_demos_work_at_a_front(cli: Cli, front: Db, words: list[str]) -> None:
    before = {setup for (setup,) in front.execute("select setup from cluster.placement").fetchall()}
    printed = cli(*words)
    assert printed.code == 0, printed.out + printed.err
    placed = {setup for (setup,) in front.execute("select setup from cluster.placement").fetchall()} - before
    assert len(placed) == (0 if words[0] == "simulate" else 1)
    for setup in placed:
        assert cli("setup", "remove", setup, "--yes").code == 0
    after = {setup for (setup,) in front.execute("select setup from cluster.placement").fetchall()}
    assert after == before


def test_loops_run_on_all_shards(cluster: Cluster, placed: Placed) -> None:
    setups = {shard: placed(shard) for shard in cluster.shards}
    for shard, setup in setups.items():
        with psycopg.connect(cluster.shards[shard], autocommit=True) as connection:
            connection.execute("insert into resource.setup (setup) values (%s)", [setup])
    program = subprocess.Popen(
        [Path(sys.executable).with_name("broker"), "run", "sample", "--every", "sample=1", "--log-format", "json"],
        env={**os.environ, "BROKER_DSN": cluster.front}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: all(_samples(cluster, shard, setup) for shard, setup in setups.items()))
        assert program.poll() is None
    finally:
        program.send_signal(signal.SIGTERM)
        _, lines = program.communicate(timeout=30)
    found: list[dict[str, Any]] = [json.loads(line) for line in lines.splitlines()]
    assert {one["shard"] for one in found if one["message"].startswith("leading")} == {"a", "b", "c"}
    assert program.returncode == 0


def _samples(cluster: Cluster, shard: str, setup: str) -> bool:
    with psycopg.connect(cluster.shards[shard]) as connection:
        return connection.execute("select from history.sample where setup = %s", [setup]).fetchone() is not None
