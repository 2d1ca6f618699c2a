"""`broker load`, `dump` and `maintain`, and their answer for a database without pgbroker."""

import json
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker.cli.shared import blockers
from tests.calls import Calls, Connection, requirements
from tests.commands import Cli, run_in_shell
from tests.exports import METRICS, QUEUES, STORAGES, TAGS

WORLD = {
    "setup": "w",
    "cpu_buckets": [100, 1000],
    "task_queues": [{"requirements": requirements(CPUTime=7), "jobs": [[1, 1], [2, 5]]}],
}


@pytest.mark.slow
def test_a_loaded_world_is_dumped(cli: Cli, tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps(WORLD))
    second.write_text(json.dumps({"setup": "w", "groups": {"users": {"share": 5}}}))
    printed = cli("load", first, second)
    assert (printed.code, "2 jobs in TaskQueues" in printed.out, "Loaded into w" in printed.out) == (0, True, True)
    text = cli("dump", "--setup", "w").out
    dumped = cli("dump", "--setup", "w", "-o", first)
    assert (dumped.out, dumped.err) == ("", f"1 TaskQueue, 2 jobs written to {first}\n")
    assert first.read_text() == text
    assert json.loads(text)["groups"]["users"]["share"] == 5
    assert cli("load", "-", "--setup", "x", "--json", stdin=text).json["rows"]["task_queues"] == 1
    assert cli("dump", "--setup", "x").out == text.replace('"setup": "w"', '"setup": "x"')
    assert "leases" not in json.loads(text)
    assert json.loads(cli("dump", "--setup", "w", "--with-leases").out)["leases"] == []


@pytest.mark.slow
def test_long_steps_show_their_progress(cli: Cli, terminal: None, tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    file.write_text(json.dumps(WORLD | {"tasks": [{"id": 1}]}))
    loaded = cli("load", file).err
    assert "reading ..." in loaded and "loading ..." in loaded
    assert "deciding ..." in cli("assign", "jobs", "--setup", "w").err
    assert "writing ..." in cli("dump", "--setup", "w", "-o", file).err
    assert " ..." not in cli("assign", "jobs", "--setup", "w", "--json").err


@pytest.mark.slow
def test_load_names_the_session_that_it_waits_for(
    cli: Cli, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blockers, "SECONDS", 0.1)
    file = tmp_path / "w.json"
    file.write_text(json.dumps(WORLD))
    assert "waiting for" not in cli("load", file).err
    with psycopg.connect(dsn, application_name="the other") as other:
        other.execute("lock table taskqueue.task_queue")
        pid = other.info.backend_pid
        threading.Timer(2, other.rollback).start()
        printed = cli("load", file)
    named = f"waiting for process {pid} (postgres, the other, idle in transaction, for 00:00:0"
    assert (printed.code, named in printed.err) == (0, True), printed.err


def test_load_is_all_or_nothing_and_names_unknown_sections(cli: Cli, db: Connection, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(WORLD))
    bad.write_text(json.dumps({**WORLD, "colours": [], "quebes": {}}))
    cli("load", good, bad).refuses(f"{bad}: not known here: section colours, section quebes")
    assert Calls(db).value("select count(*) from monitor.setup") == 0
    lenient = cli("load", good, bad, "--lenient")
    assert (lenient.code, lenient.err.count("not known here")) == (0, 2)
    assert Calls(db).value("select count(*) from monitor.job") == 2


@pytest.mark.parametrize("text", ["{", "[]", "7"])
def test_load_refuses_input_that_is_no_world(cli: Cli, text: str) -> None:
    printed = cli("load", "-", stdin=text)
    assert (printed.code, printed.err.startswith("error: - ")) == (1, True)


@pytest.mark.parametrize(
    "text", ['{"job_id": 1, "requirements": {}}', '{"job_id": 1}\n{"job_id": 2}', '[{"job_id": 1}]']
)
def test_load_names_the_command_for_jobs(cli: Cli, text: str) -> None:
    cli("load", "-", stdin=text).refuses("broker submit")


def test_load_names_the_file_whose_value_the_database_refuses(cli: Cli, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(WORLD))
    bad.write_text("\ufeff" + json.dumps({**WORLD, "groups": {"users": {"share": -1}}}), encoding="utf-8")
    printed = cli("load", good, bad)
    assert printed.code == 1
    assert printed.err.startswith(f"error: {bad}: ")


@pytest.mark.slow
def test_the_command_loads_exports_and_worlds_all_or_nothing(cli: Cli, db: Connection, tmp_path: Path) -> None:
    files = {
        "queues": QUEUES,
        "storages": STORAGES,
        "closeness": [{"src": "A", "dst": "B", "closeness": 3}],
        "tags": TAGS,
        "latest": METRICS,
    }
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    exports: tuple[Any, ...] = (
        "--cric-queues",
        tmp_path / "queues.json",
        "--cric-storages",
        tmp_path / "storages.json",
    )
    more: tuple[Any, ...] = ("--software", tmp_path / "tags.json", "--network-metrics", tmp_path / "latest.json")
    overlay, bad = tmp_path / "overlay.json", tmp_path / "bad.json"
    overlay.write_text(json.dumps({"queues": {"AGLT2": {"role": "nucleus"}}}))
    bad.write_text(json.dumps({"queues": {"AGLT2": {"maxrss": "much"}}}))
    printed = cli("load", *exports, bad)
    assert printed.err.startswith(f'error: {bad}: queues: queue AGLT2: maxrss is "much", not a number [PB001]\n')
    assert db.execute("select count(*) from resource.queue").fetchone() == (0,)
    printed = cli("load", *exports, *more, "--cric-closeness", tmp_path / "closeness.json", overlay, "--json")
    assert printed.json["rows"].items() >= {"cric-queues": 2, "cric-storages": 1, "software": 1, "queues": 1}.items()
    queue = json.loads(cli("dump").out)["queues"]["AGLT2"]
    assert (queue["role"], queue["maxrss"], queue["atlas_site"]) == (
        "nucleus",
        48000,
        "AGLT2",
    )  # merged over the export
    assert cli("load").code == 2
    assert "Is a directory" in cli("load", "--cric-queues", tmp_path).err
    for option in ("--cric-queues", "--cric-closeness", "--cric-storages", "--software"):
        printed = cli("load", option, tmp_path / "latest.json")
        wrong = f"error: {tmp_path / 'latest.json'}: this looks like PanDA's network metrics"
        assert printed.err.startswith(wrong), printed.err
        assert "hint:  load it with --network-metrics; " in printed.err


@pytest.mark.slow
def test_load_replaces_rows_or_merges_them(cli: Cli) -> None:
    world = {"queues": {"Q": {"maxrss": 1000, "corecount": 8}}}
    change = json.dumps({"queues": {"Q": {"maxrss": 2000}}})
    for option, queue in (("--merge", {"maxrss": 2000, "corecount": 8}), ("--lenient", {"maxrss": 2000})):
        cli("load", "-", stdin=json.dumps(world))
        assert cli("load", "-", option, stdin=change).code == 0
        assert json.loads(cli("dump").out)["queues"]["Q"] == queue


def test_load_prints_what_it_loaded(cli: Cli) -> None:
    files = [{"lfn": f"f{number}"} for number in range(5)]
    tasks = [{"id": 1, "input": ["d"], "split": {"nFilesPerJob": 2}}, {"id": 2, "input": ["d"]}, {"id": 3}]
    config = [{"key": "MYK", "value": 5, "forced": True, "component": "jobbroker"}, {"key": "NW_ACTIVE", "value": True}]
    given = {"setup": "w", "config": config, "datasets": {"d": {"files": files}}, "tasks": tasks}
    printed = cli("load", "-", stdin=json.dumps(given))
    assert printed.out.splitlines()[-2:] == [
        "3 tasks with 8 jobs to broker",
        "2 keys of config set for all setups: jobbroker:MYK, NW_ACTIVE",
    ]
    assert printed.err == ""
    found = cli("load", "-", "--json", stdin=json.dumps(given)).json
    assert (found["task_jobs"], found["everywhere"]) == (8, ["jobbroker:MYK", "NW_ACTIVE"])


def test_load_warns_of_names_that_refer_to_nothing(cli: Cli) -> None:
    given = {
        "queues": {"Q": {"role": "nucleus", "panda_site": "N", "astorages": {"read_lan": ["D", "NOT"], "pw": ["NOT"]}}},
        "storages": {"D": {}},
        "datasets": {"d": {"replicas": {"D": {}, "NOR": {}}}},
        "tasks": [
            {"id": 1, "input": ["d", "nods"], "nucleus": "N"},
            {"id": 2, "input": ["nods", "no more", "pseudo_dataset"], "nucleus": "NOWHERE"},
        ],
    }
    printed = cli("load", "-", stdin=json.dumps(given))
    assert (printed.code, printed.err.splitlines()) == (
        0,
        [
            "2 tasks name input datasets that are not there, such as task 1: nods (setup default)",
            "1 task has a nucleus that is not there, such as task 2: NOWHERE (setup default)",
            "1 dataset has replicas at storages that are not there, such as d: NOR (setup default)",
            "1 queue names storages that are not there, such as Q: NOT (setup default)",
        ],
    )


def test_load_warns_of_fields_that_no_rule_reads(cli: Cli, tmp_path: Path) -> None:
    given = {
        "queues": {
            "Q": {"maxrs": 1000, "gocname": "Q", "astorages": {"read_lam": ["D"]}},
            "R": {"maxrs": 1000, "gstat": "x"},
        },
        "storages": {"D": {"token": "A"}},
    }
    printed = cli("load", "-", stdin=json.dumps(given))
    assert (printed.code, printed.err.splitlines()[:4]) == (
        0,
        [
            "kept, no rule reads it: queues.Q.maxrs and 1 more (nearest: maxrss)",
            "kept, no rule reads them: 2 fields of queues, such as queues.Q.gocname",
            "kept, no rule reads it: queues.Q.astorages.read_lam (nearest: read_lan)",
            "kept, no rule reads it: storages.D.token",
        ],
    )
    (tmp_path / "queues.json").write_text(json.dumps(QUEUES))
    assert "kept" not in cli("load", "--cric-queues", tmp_path / "queues.json").err


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"tasks": [{"id": 1, "ram_cuont": 5}]}, "tasks[0].ram_cuont: nearest is ram_count"),
        ({"tasks": [{"id": 1, "split": {"nfilesperjob": 5}}]}, "tasks[0].split.nfilesperjob: nearest is nFilesPerJob"),
        ({"links": [{"src": "A", "dst": "B", "zzz": 5}]}, "links[0].zzz: fields are src, dst, closeness"),
        ({"quebes": {}}, "quebes: nearest is queues"),
        ({"links": {}}, "links is [{...}], by their src and dst; see broker/docs/reference/world-fields.md"),
        ({"queues": {"Q": []}}, "queues is {QUEUE: {...}}; "),
        ({"tasks": [{"id": 1, "user": 5}]}, "user: User. A null value means not set"),
        ({"links": [{"src": "A"}]}, "dst: Storage site that files go to."),
    ],
)
def test_errors_of_load_hint_at_the_right_name_or_form(cli: Cli, given: dict[str, Any], hint: str) -> None:
    assert f"hint:  {hint}" in cli("load", "-", stdin=json.dumps(given)).err


@pytest.mark.slow
def test_a_key_of_config_may_be_an_object(cli: Cli) -> None:
    given = {"config": {"jobbroker:MYK": {"value": 5, "forced": True}, "NW_ACTIVE": False}}
    printed = cli("load", "-", stdin=json.dumps(given))
    assert (printed.code, "for all setups" in printed.out) == (0, False)
    rows = json.loads(cli("dump").out)["config"]
    assert [(row["key"], row["value"], row["setup"]) for row in rows] == [
        ("NW_ACTIVE", False, "default"),
        ("MYK", 5, "default"),
    ]
    for wrong, named in (
        ({"config": 5}, 'config is 5, not an object {"KEY": value}, nor an array of rows'),
        ({"config": {"K": {"forced": True}}}, "config.K has no value"),
        ({"config": {"K": {"value": 1, "force": True}}}, "not known here: config.K: field force"),
    ):
        assert named in cli("load", "-", stdin=json.dumps(wrong)).err


def test_a_config_key_that_is_left_out_does_not_count(cli: Cli) -> None:
    given = {"config": {"NW_AKTIVE": True, "NW_ACTIVE": True}}
    assert cli("load", "-", "--lenient", "--json", stdin=json.dumps(given)).json["rows"]["config"] == 1


def test_a_dump_counts_all_its_sections(cli: Cli, tmp_path: Path) -> None:
    given = {"live_counter": {"Q": 5, "R": 6}, "locks": ["Q"], "users": {"u": {}}}
    cli("load", "-", stdin=json.dumps(given))
    printed = cli("dump", "-o", tmp_path / "w.json")
    assert printed.err == f"1 of users, 1 of locks, 2 of live_counter written to {tmp_path / 'w.json'}\n"


def test_a_refused_dump_leaves_its_file_alone(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text("kept")
    cli("load", "-", "--setup", "somewhere", stdin=json.dumps({"queues": {"Q": {}}}))
    cli("dump", "--setup", "nowhere", "-o", file).refuses("setup nowhere does not exist", "the nearest is somewhere")
    assert file.read_text() == "kept"


@pytest.mark.slow
def test_a_dump_with_leases_is_for_its_owner_alone(cli: Cli, db: Connection, tmp_path: Path) -> None:
    Calls(db).insert_many([1, 2])
    Calls(db).take()
    new, old = tmp_path / "new.json", tmp_path / "old.json"
    old.touch(mode=0o644)
    for file in (new, old):
        assert cli("dump", "--with-leases", "-o", file).err == f"1 TaskQueue, 1 job, 1 lease written to {file}\n"
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("where", ["nowhere/w.json", "."])
def test_a_dump_to_an_impossible_path_is_an_error_in_two_lines(
    dsn: str, db: Connection, tmp_path: Path, where: str
) -> None:
    Calls(db).insert_many(range(1, 100))
    printed = run_in_shell(f"broker dump --out '{tmp_path / where}'", dsn)
    assert printed.returncode == 1
    assert [line.split(":")[0] for line in printed.stderr.splitlines()] == ["error", "hint"]


@pytest.mark.thorough
def test_a_reader_that_closes_the_pipe_causes_no_error(dsn: str, db: Connection) -> None:
    for number in range(1, 200):  # more than a pipe holds, so that the program meets the closed end
        Calls(db).insert(number, OwnerGroup=f"g{number}", Sites=[f"{n:0>40}" for n in range(20)])
    for command in ("dump", "queues"):
        for reader in ("head -c 100", "true"):
            printed = run_in_shell(f"broker {command} | {reader}", dsn)
            assert printed.stderr == "", (command, reader)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["dump", "queues --json", "queues", "queues --help", "--version"])
def test_a_full_disk_is_an_error_in_one_line(dsn: str, db: Connection, command: str) -> None:
    Calls(db).insert(1)
    printed = run_in_shell(f"broker {command} > /dev/full", dsn)
    assert (printed.returncode, printed.stderr) == (1, "error: No space left on device\n")


def test_maintain_deals_hands_and_removes_empty_task_queues(cli: Cli, db: Connection) -> None:
    Calls(db).insert_many(range(1, 11))
    assert cli("maintain", "--json").json["hands"] > 0
    assert "empty TaskQueues" in cli("maintain", "--setup", "default").out


@pytest.mark.parametrize(
    "command", [("queues",), ("task-queues", "--cpu-time", 5), ("match", "--cpu-time", 5), ("maintain",)]
)
def test_an_unknown_setup_is_refused(cli: Cli, db: Connection, command: tuple[Any, ...]) -> None:
    Calls(db).insert(1)
    cli(*command, "--setup", "defautl").refuses("setup defautl does not exist; there are: default")


def test_a_server_without_pgbroker_is_left_as_it_is(cli: Cli, empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_DSN", empty_dsn)
    cli("task-queues").refuses("not installed", "broker db upgrade")
    with psycopg.connect(empty_dsn) as connection:
        assert connection.execute("select to_regnamespace('taskqueue')").fetchone() == (None,)
