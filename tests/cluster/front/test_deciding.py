"""Brokerage, explanations and configuration through a front, for setups on different shards."""

import json
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from broker import upgrade
from broker.cluster import shards
from broker.cluster.shards import Shard
from broker.errors import BrokerError
from broker.laboratory.grid import grid
from tests.cluster.front.conftest import SUPERUSER, Cluster, Placed, changed, map_login
from tests.commands import Cli
from tests.service.conftest import Db

KEY = "MAX_MISSING_INPUT_FILES"
WHERE = {"a", "b"}


@pytest.fixture
def setups(cli: Cli, front: Db, placed: Placed) -> dict[str, str]:
    """By shard, a setup with open tasks. The seed differs for each, and so does the world."""
    found = {}
    for seed, shard in enumerate(sorted(WHERE)):
        found[shard] = placed(shard)
        given = json.dumps(grid(seed, queues=8, tasks=10, nuclei=2, user_tasks=4, setup=found[shard]))
        loaded = cli("load", "-", "--setup", found[shard], stdin=given)
        assert loaded.code == 0, loaded.err
        front.execute("select resource.set_clock(%s, '2026-04-01 12:00+00')", [found[shard]])
    return found


def done(printed: object) -> str:
    assert (printed.code, printed.err) == (0, ""), printed.out + printed.err  # type: ignore[attr-defined]
    return str(printed.out)  # type: ignore[attr-defined]


def rows(cluster: Cluster, shard: str, query: str, *values: object) -> list[tuple[object, ...]]:
    with psycopg.connect(cluster.shards[shard]) as there:
        return there.execute(query.encode(), values).fetchall()


def test_what_if_at_the_front_gives_the_answer_of_the_shard(
    cli: Cli, cluster: Cluster, setups: dict[str, str], dsn: str
) -> None:
    answers = []
    for shard, setup in setups.items():
        words = ("what-if", "--setup", setup, "--profile", "panda2026", "--json")
        direct = cli("--dsn", cluster.shards[shard], *words).json
        assert cli(*words).json == direct
        assert cli(*words, "--on", dsn).json == direct
        assert direct["before"]
        answers.append(direct)
        assert rows(cluster, shard, "select from brokerage.run where setup = %s", setup) == []
    assert answers[0] != answers[1]
    refused = cli("what-if", "--setup", setups["a"], "--profile", "panda2026", "--on", cluster.front)
    assert refused.code == 1 and "is a front, which holds nothing" in refused.err and "PB005" in refused.err


def test_evaluate_at_the_front_gives_the_answer_of_the_shard(
    cli: Cli, cluster: Cluster, setups: dict[str, str], dsn: str
) -> None:
    for shard, setup in setups.items():
        case = json.dumps({"name": shard, "task": 41000001})
        words = ("evaluate", "-", "--over", "--setup", setup)
        direct = cli("--dsn", cluster.shards[shard], *words, stdin=case).json
        assert cli(*words, stdin=case).json == direct
        assert cli(*words, "--on", dsn, stdin=case).json == direct
        assert direct["name"] == shard and "error" not in direct


def test_cases_with_a_world_need_no_setup(cli: Cli, cluster: Cluster, tmp_path: object, dsn: str) -> None:
    given = {key: part for key, part in grid(3, queues=4, tasks=3).items() if key != "setup"}
    case = json.dumps({"name": "own", "task": 41000001, "world": given})
    direct = cli("--dsn", dsn, "evaluate", "-", stdin=case).json
    assert "error" not in direct
    assert cli("evaluate", "-", stdin=case).json == direct
    file = tmp_path / "cases.jsonl"  # type: ignore[operator]
    file.write_text(case)
    assert cli("evaluate", file).json == direct


def test_tasks_are_brokered_explained_and_counted(cli: Cli, cluster: Cluster, setups: dict[str, str]) -> None:
    for shard, setup in setups.items():
        of_setup = ("--setup", setup)
        for kind in ("tasks", "jobs", "analysis"):
            done(cli("assign", kind, *of_setup))
        query = "select algorithm, ended_at is not null from monitor.run where setup = %s order by 1"
        assert rows(cluster, shard, query, setup) == [
            (name, True) for name in ("analysis_job", "production_job", "production_task")
        ]
        assert "run" in done(cli("decisions", *of_setup)).lower()
        explained = done(cli("explain", "task", 41000001, *of_setup))
        assert explained == done(cli("--dsn", cluster.shards[shard], "explain", "task", 41000001, *of_setup))
        done(cli("submit", "-", *of_setup, stdin=json.dumps(
            {"job_id": 7, "requirements": {"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 500}}
        )))  # fmt: skip
        assert "CPUTime" in done(cli("explain", 7, "--cpu-time", "5", *of_setup))
        done(cli("sample", *of_setup))
        figures = cli("history", *of_setup, "--json").json
        assert figures == cli("--dsn", cluster.shards[shard], "history", *of_setup, "--json").json != []
        assert cli("replay", *of_setup, "--check").code == 0
        other = (set(WHERE) - {shard}).pop()
        assert rows(cluster, other, "select from resource.setup where setup = %s", setup) == []


@pytest.fixture
def unset(cli: Cli) -> Iterator[None]:
    yield
    assert cli("config", "unset", f"jobbroker:{KEY}", "--everywhere").code == 0


@pytest.mark.usefixtures("unset")
def test_configuration_of_all_setups_goes_to_all_shards(
    cli: Cli, cluster: Cluster, front: Db, setups: dict[str, str]
) -> None:
    done(cli("config", "set", f"jobbroker:{KEY}", "77", "--everywhere"))
    held = "select component, key, value from monitor.general_config"
    assert {shard: rows(cluster, shard, held) for shard in cluster.shards} == {
        shard: [("jobbroker", KEY, 77)] for shard in cluster.shards
    }
    assert front.execute(held.encode()).fetchall() == [("jobbroker", KEY, 77)]
    for setup in setups.values():
        [row] = cli("config", "get", f"jobbroker:{KEY}", "--setup", setup, "--json").json
        assert row["value"] == "77"
    with psycopg.connect(cluster.shards["b"], autocommit=True) as there:
        there.execute(f"select resource.set_config_everywhere('jobbroker:{KEY}', '78')".encode())
    printed = cli("cluster", "check")
    assert (printed.code, "configuration of all setups differ between shards: a, c; b" in printed.out) == (5, True)
    done(cli("config", "set", f"jobbroker:{KEY}", "79", "--everywhere"))
    assert cli("cluster", "check").code == 0
    refused = cli("config", "set", "jobbroker:MAX_MISSING_INPUT", "1", "--everywhere")
    assert refused.code == 1
    assert "'jobbroker:MAX_MISSING_INPUT' is not known [PB001]" in refused.err and f"jobbroker:{KEY}" in refused.err
    done(cli("config", "unset", f"jobbroker:{KEY}", "--everywhere"))
    assert front.execute(held.encode()).fetchall() == []


def test_a_new_shard_gets_the_configuration_of_all_setups(cluster: Cluster, template: str) -> None:
    """The test has its own cluster, since an added shard stays."""
    made = {name: changed(cluster.front, dbname=f"config_{name}") for name in ("front", "first", "second")}
    with psycopg.connect(cluster.front, autocommit=True) as connection:
        for name in made:
            copied, source = sql.Identifier(f"config_{name}"), "template1" if name == "front" else "installed"
            connection.execute(sql.SQL("create database {} template {}").format(copied, sql.Identifier(source)))
    shards.init(made["front"], [Shard("first", made["first"])])
    with psycopg.connect(made["front"], autocommit=True) as front:
        map_login(front, SUPERUSER)
        front.execute(f"select resource.set_config_everywhere('jobbroker:{KEY}', '5')".encode())
        front.execute("select resource.set_config_everywhere('OURS', '\"a text\"', p_app => 'acme', p_force => true)")
        held = b"select app, component, key, value from monitor.general_config order by key"
        expected = [("jedi", "jobbroker", KEY, 5), ("acme", "", "OURS", "a text")]
        assert front.execute(held).fetchall() == expected
        with psycopg.connect(made["second"], autocommit=True) as second:
            second.execute("select resource.set_config_everywhere('NW_ACTIVE', 'true')")
            with pytest.raises(BrokerError, match="that the other shards do not have: NW_ACTIVE") as raised:
                shards.add(made["front"], Shard("second", made["second"]))
            assert raised.value.hint and raised.value.hint.endswith("config unset NW_ACTIVE --everywhere")
            assert front.execute("select shard from monitor.shard").fetchall() == [("first",)]
            second.execute("select resource.set_config_everywhere('NW_ACTIVE', null)")
            shards.add(made["front"], Shard("second", made["second"]))
            assert second.execute(held).fetchall() == expected
    assert upgrade.check(made["front"]).differences == ()
