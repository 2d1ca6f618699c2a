"""The first hour with the program: failing rows come first, reasons and times are words, columns fit into 80, and a
right line stands below a wrong one."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from broker import world
from broker.cli.shared.examples import EXAMPLES, OF_WORDS
from broker.reference import commands as reference
from broker.words import REASONS, length, span
from tests.calls import Calls, Connection
from tests.commands import Cli
from tests.core.docs import commands
from tests.throwaway import new_home, programs


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def rows(shown: str) -> list[list[str]]:
    """The cells of the rows of tables."""
    return [[cell.strip() for cell in line.strip("│ ").split("│")] for line in shown.splitlines() if line[:1] == "│"]


def test_explain_shows_the_failing_condition_and_counts_the_others(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1, Sites=["NORTH"])
    ask = ("explain", 1, "--site", "SOUTH", "--cpu-time", 86400)
    whole = cli(*ask, "--json").json
    shown = cli(*ask).out
    assert rows(shown) == [["Site", "one of: NORTH", "SOUTH", "no"]]
    assert f"\n{len(whole) - 1} more hold (--all shows them)\n" in shown
    every = rows(cli(*ask, "--all").out)
    assert every[0][0] == "Site" and {row[0] for row in every} == {row["condition"] for row in whole}
    assert [row["holds"] for row in whole].index(False) > 0, "JSON has the order of the database"
    fitting = cli("explain", "job", 1, "--site", "NORTH", "--cpu-time", 86400).out
    assert fitting == f"{len(whole)} hold (--all shows them)\nmatches\n"


def test_explain_counts_the_conditions_that_resources_seen_lately_fulfil(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1, Sites=["NORTH"])
    cli("match", "--site", "SOUTH", "--cpu-time", 86400)
    Calls(db).rows("select * from taskqueue.maintain()")
    whole = cli("explain", 1, "--json").json
    shown = cli("explain", 1).out
    assert [row[0] for row in rows(shown)] == ["Site", "all of them"] and "1 of 1" in shown
    assert f"{len(whole) - 2} more hold (--all shows them)" in shown
    assert len(rows(cli("explain", 1, "--all").out)) == len(whole)
    assert "more hold" not in cli("job", 1).out


def test_explain_all_lists_the_queues_that_never_entered_the_list(cli: Cli, db: Connection) -> None:
    queues = {f"Q{n}": {"pilots": {"getjob": 1}, "status": "test"} for n in range(3)}
    world.load(db, [{"queues": queues | {"OTHER": {"vo": "other"}}, "tasks": [{"id": 1, "site": "Q0,Q1,Q2"}]}])
    never = [
        row["queue"] for row in cli("explain", "task", 1, "--json").json["queues"] if row["verdict"] == "not candidate"
    ]
    assert never
    folded, every = cli("explain", "task", 1, "--limit", 1).out, cli("explain", "task", 1, "--all").out
    assert "Never entered the list, by rule: " in folded and "Candidates: 1 of 3 (--all)" in folded
    assert [row[0] for row in rows(every.partition("Never entered the list")[2])] == never


def test_reasons_are_words_and_times_are_short_in_tables(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1, OwnerGroup="users")
    db.execute("update taskqueue.job set inserted_at = inserted_at - interval '26 hours'")
    cli("summarize")
    [row] = cli("reasons", "--json").json
    shown = cli("reasons").out
    assert row["reason"] in REASONS and REASONS[row["reason"]] in shown and isinstance(row["waits"], float)
    assert "_" not in rows(shown)[0][0] and "day" not in shown and re.search(r"│ \d+ (s|min|h) +│", shown)
    assert re.search(r"\d:\d\d:\d\d\.\d+", cli("reasons", "--wide").out), "exact"
    queue = next(row for row in rows(cli("task-queues").out))
    assert REASONS[row["reason"]] in queue and row["reason"] not in queue
    assert REASONS[row["reason"]] in cli("job", 1).out


def test_reasons_with_long_names_are_a_table_at_80_columns(cli: Cli, db: Connection, terminal: None) -> None:
    for number, group in enumerate(("Reprocessing default", "users"), 1):
        Calls(db).insert(number, OwnerGroup=group, CPUTime=1_000_000)
    cli("summarize")
    shown = plain(cli("reasons").out)
    assert max(map(len, shown.splitlines())) <= 80
    assert {row[1] for row in rows(shown)} == {"Reprocessing default", "users"}
    assert re.search(r"not shown here: .*meaning", shown)


def test_long_lists_in_an_explanation_leave_it_a_table_at_80_columns(cli: Cli, db: Connection, terminal: None) -> None:
    platforms = [f"armv8.{n}_a-any" for n in range(1, 9)]
    Calls(db).insert(1, Sites=["NORTH"], Platforms=platforms)
    banned = {"Platform": "el9", "BannedPlatform": platforms}
    cli("match", "--site", "SOUTH", "--cpu-time", 86400, "--resource", json.dumps(banned))
    shown = plain(cli("explain", 1).out)
    assert max(map(len, shown.splitlines())) <= 80
    assert {"Site", "Platform", "BannedPlatform"} <= {row[0] for row in rows(shown)}


@pytest.mark.parametrize(
    ("seconds", "words"), [(31 * 60 + 47.5, "32 min"), (26 * 3600, "26 h"), (86_400 * 2, "2 d"), (0, "0 s")]
)
def test_a_span_has_one_unit(seconds: float, words: str) -> None:
    assert span(seconds) == words


def test_a_short_length_has_its_fraction() -> None:
    assert [length(timedelta(seconds=seconds)) for seconds in (0.4, 2.5, 3, 12.6)] == ["0.4 s", "2.5 s", "3 s", "13 s"]


def test_wide_tables_have_exact_moments(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    assert re.search(r"│ (now|\d+ s ago) +│", cli("jobs").out)
    assert re.search(r"│ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00 │", cli("jobs", "--wide").out)


def test_tasks_show_their_nucleus_and_the_next_try_at_80_columns(cli: Cli, gridded: Connection, terminal: None) -> None:
    cli("assign", "jobs", "--setup", "grid")
    shown = plain(cli("tasks", "--setup", "grid").out)
    heading = next(line for line in shown.splitlines() if "nucleus" in line)
    assert "why it waits" in heading and "next try" not in heading and "next try:" in shown
    assert max(map(len, shown.splitlines())) <= 80
    row = cli("tasks", "--setup", "grid", "--json").json[0]
    assert {"why", "next_try", "nucleus", "owner"} <= row.keys()
    assert "next try" in next(
        line for line in cli("tasks", "--setup", "grid", "--wide").out.splitlines() if "why" in line
    )


def test_task_queues_show_sites_and_platforms_at_80_columns(cli: Cli, db: Connection, terminal: None) -> None:
    owner = "/DC=org/DC=example/CN=somebody with a long name"
    Calls(db).insert(1, Sites=["NORTH"], OwnerDN=owner)
    Calls(db).insert(2, Platforms=["el9"], OwnerDN=owner)
    shown = plain(cli("task-queues").out)
    assert "NORTH" in shown and "el9" in shown and max(map(len, shown.splitlines())) <= 80
    hidden = re.search(r"not shown here: ([^(]*)", shown)
    assert hidden and "owner" in hidden[1]


def test_empty_columns_are_left_out_first(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    from broker.cli.shared import output

    output.table("Jobs", ["job", "queue", "owner", "site"], [(1, "q" * 45, None, "s" * 20)], drop=["site"])
    shown = plain(capsys.readouterr().out)
    assert "s" * 20 in shown and "not shown here: owner (" in shown


def test_moments_in_blocks_are_not_padded(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    from broker.cli.shared import output

    now = datetime.now(UTC)
    output.table("Jobs", ["at", "since", "why"], [(now, now - timedelta(seconds=1), "w" * 80)], now=now)
    shown = [line.rstrip() for line in plain(capsys.readouterr().out).splitlines()]
    assert shown[:2] == ["Jobs", "at now"] and shown[2].startswith("  since 1 s ago; why")


def test_numbers_of_places_are_in_the_right_number() -> None:
    from broker.words import counted

    words = [counted(number, thing) for thing in ("nucleus", "queue") for number in (0, 1, 2)]
    assert words == ["0 nuclei", "1 nucleus", "2 nuclei", "0 queues", "1 queue", "2 queues"]


def test_headings_name_columns_and_a_wrong_name_has_the_nearest(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    assert list(cli("jobs", "--columns", "job,group or share", "--json").json[0]) == ["job_id", "owner_group"]
    cli("jobs", "--columns", "statis").refuses("there is no column statis", "the nearest is status")


def test_task_queues_of_a_site_need_no_cpu_time(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1, Sites=["NORTH"], CPUTime=250_000)
    Calls(db).insert(2, Sites=["SOUTH"])
    [found] = cli("task-queues", "--site", "NORTH", "--json").json
    assert found["requirements"]["Sites"] == ["NORTH"]
    none = cli("task-queues", "--site", "NORT")
    assert "TaskQueues: none" in none.out and "the nearest is NORTH" in none.err
    cli("match", "--site", "NORTH").refuses("CPUTime is missing", "For example --cpu-time 86400.")


def test_a_share_and_a_key_may_be_given_in_the_short_form(cli: Cli, db: Connection) -> None:
    assert cli("group", "set", "users", 100).out == "group users: share 100\n"
    assert cli("group", "set", "users", "--share", 200, "--json").json["share"] == 200
    cli("group", "set", "users", 1, "--share", 2).refuses("the share is 1 and 2")
    assert cli("config", "set", "jobbroker:NQUEUED_SAT_CAP=300").out == "jobbroker:NQUEUED_SAT_CAP is 300\n"
    cli("config", "set", "jobbroker:NQUEUED_SAT_CAP").refuses("has no value", "broker config set")


WRONG: list[tuple[Any, ...]] = [
    ("group", "set", "users", "share=100"), ("limit", "set", "running", "CERN", 100), ("hold", 1), ("hold", "bob"),
    ("cancel", "job", 1), ("retry", "job", 1), ("job",), ("jobs", 1), ("task", 7), ("tasks", 7), ("queues", "Q"),
    ("queue", "Q"), ("sites", "S"), ("site", "S"), ("match", "NORTH"), ("task-queues", "NORTH"), ("explain", "task"),
    ("settings", "taskqueue.queue_size=1000"), ("settings", "--set", "taskqueue.queue_size", 1000), ("submit",),
    ("profile", "show"), ("profile", "set", "ours", "documented"), ("run", "--loop", "maintain"), ("help",),
    ("serve", "--port", 8080), ("alerts", "list"), ("instances", "list"), ("setup", "list"), ("setup", "create", "s"),
    ("quarantine", "n17"), ("assign", "job"), ("shares", "set"), ("cluster", "place"), ("alerts", "set-target"),
]  # fmt: skip


@pytest.mark.parametrize("words", WRONG, ids=lambda words: " ".join(map(str, words)))
def test_an_obvious_wrong_form_is_answered_with_a_right_one(cli: Cli, words: tuple[Any, ...]) -> None:
    shown = cli(*words)
    assert shown.code == 2 and "For example: broker " in shown.err, shown.err


def test_examples_are_right() -> None:
    lines = [part for line in [*EXAMPLES.values(), *OF_WORDS.values()] for part in re.split(r",? or |, ", line)]
    shown = [list(commands.of_shell(line.removesuffix(" for a new one"))) for line in lines]
    assert [line for line, found in zip(lines, shown, strict=True) if len(found) != 1] == []
    assert [wrong for [words] in shown if (wrong := commands.wrong(words))] == []
    names = {one.name for one in reference.tree()} | {one.name.rpartition(" ")[0] for one in reference.tree()}
    assert EXAMPLES.keys() <= names


def test_a_rule_is_shown_by_its_name(cli: Cli, db: Connection) -> None:
    whole = cli("rules", "--json").json
    [memory] = cli("rules", "memory", "--json").json
    assert memory in whole and len(whole) > 20
    shown = cli("rules", "memory", "top-10").out
    assert shown.count("Rule ") == 2 and memory["function"] in shown and "parameters" in shown
    cli("rules", "memry").refuses("has no rule memry", "the nearest is memory")


def test_each_step_of_the_background_work_has_its_meaning(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    for command in ("maintain", "summarize"):
        shown = rows(cli(command).out)
        assert shown and [row[0] for row in shown if not row[2]] == [], command


@pytest.mark.slow
def test_loops_that_nobody_has_started_are_no_problem_of_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.commands import as_new, invoke

    with new_home("trial", programs("")) as home:
        for name in ("BROKER_DSN", "PGHOST", "PGPORT", "PGDATABASE", "PGSERVICE", "PGHOSTADDR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("BROKER_HOME", str(home))
        as_new(monkeypatch)
        job = {"job_id": 1, "requirements": {"OwnerDN": "ann", "OwnerGroup": "users", "CPUTime": 600}}
        assert invoke(["submit", "-"], json.dumps(job)).exit_code == 0
        found = invoke(["doctor", "--json"])
        loops = [one for one in json.loads(found.stdout)["findings"] if one["area"] == "loop"]
        assert {one["verdict"] for one in loops} == {"advice"} and all("broker run" in one["remedy"] for one in loops)
        assert found.exit_code == 0
