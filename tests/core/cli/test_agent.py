"""`broker submit`, `match`, `explain`, `task-queues`, `agent`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.calls import Calls, Connection, requirements
from tests.commands import AsRole, Cli
from tests.core.lifecycle import grids


def job(job_id: int, **keys: Any) -> dict[str, Any]:
    return {"job_id": job_id, "requirements": requirements(**keys)}


GROUP = {"requirements": requirements(Sites=["S"]), "jobs": [[10, 1], [11, 2], [12, 3]]}


@pytest.mark.parametrize(("text", "jobs"), [
    (json.dumps(job(1)), 1),
    (json.dumps([job(1), GROUP]), 4),
    (json.dumps([job(1), GROUP], indent=2), 4),
    (json.dumps(job(1)) + "\n\n" + json.dumps(GROUP) + "\n", 4),
    (json.dumps({"task_queues": [{**GROUP, "enabled": True}]}, indent=1), 3),
    ("[]", 0),
    ("", 0),
], ids=["object", "array", "indented", "lines", "world", "empty array", "empty"])  # fmt: skip
def test_submit_takes_json_and_json_lines_from_files_and_stdin(
    cli: Cli, db: Connection, tmp_path: Path, text: str, jobs: int
) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(text)
    assert f"{jobs} job{'' if jobs == 1 else 's'} submitted" in cli("submit", file).out
    counts = {"setup": "other", "jobs": jobs, "new": jobs, "moved": 0, "restarted": 0}
    assert cli("submit", "-", "--json", "--setup", "other", stdin=text).json == counts
    counts = dict(Calls(db).rows("select setup, count(*) from monitor.job group by 1"))
    assert counts == ({"default": jobs, "other": jobs} if jobs else {})


@pytest.mark.parametrize(
    "text", ["{", "nonsense", '{"job_id": 1}\n{', "7", '[{"job_id": 1}]', '{"task_queues": 7}', '{"task_queues": [7]}']
)
def test_submit_refuses_input_that_is_no_job(cli: Cli, db: Connection, text: str) -> None:
    printed = cli("submit", "-", stdin=text)
    assert printed.code == 1
    assert printed.err.startswith("error: ")
    assert "\nhint: " in printed.err
    assert Calls(db).value("select count(*) from monitor.job") == 0


def test_an_error_in_a_stream_names_its_line_its_job_and_the_jobs_stored(
    cli: Cli, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.client.submitter.JOBS_A_CALL", 2)
    lines = [json.dumps(job(n, **({"CPUTime": -1} if n == 4 else {}))) for n in range(1, 6)]
    printed = cli("submit", "-", stdin="\n".join([*lines[:2], "", *lines[2:]]))
    assert printed.err.startswith("error: line 5, job 4: CPUTime is -1")
    assert "the first 2 jobs are stored (up to line 2)" in printed.err
    assert Calls(db).value("select count(*) from monitor.job") == 2
    printed = cli("submit", "-", stdin="\n".join([*lines[:3], "{"]))
    assert "line 4, is not JSON" in printed.err
    assert "the first 2 jobs are stored" in printed.err


def test_a_file_that_cannot_be_read_is_named(cli: Cli, tmp_path: Path) -> None:
    assert f"cannot read {tmp_path / 'none'}" in cli("submit", tmp_path / "none").err
    assert f"cannot read {tmp_path}" in cli("submit", tmp_path).err
    (tmp_path / "latin").write_bytes(b'{"job_id": "\xe9"}')
    assert "is not UTF-8" in cli("submit", tmp_path / "latin").err


def test_a_disabled_queue_is_not_submitted_as_if_it_were_enabled(cli: Cli) -> None:
    cli("submit", "-", stdin=json.dumps({"task_queues": [{**GROUP, "enabled": False}]})).refuses("PB001")


def test_the_help_shows_a_groups_form(cli: Cli) -> None:
    assert "[[id, user_priority], ...]" in " ".join(cli("submit", "--help").out.split())


@pytest.mark.slow
def test_the_agent_commands_match_report_release_and_finish_a_job(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1, Sites=["S"], Platforms=["p"])
    options = ("--site", "S", "--platform", "q", "--platform", "p", "--cpu-time", "86400")
    [match] = cli("match", *options, "--json").json
    assert match["job_id"] == 1
    assert cli("agent", "report", 1, match["attempt"], "--json").json == {"action": "continue", "reason": None}
    assert "waits in TaskQueue" in cli("agent", "release", 1, match["attempt"]).out
    cli("agent", "finish", 1, match["attempt"]).refuses("[PB003]")
    printed = cli("match", *options).out
    attempt = printed.split("broker agent finish 1 ")[1].strip()
    assert cli("agent", "finish", 1, attempt, "--outcome", "failed").out == "job 1 failed\n"
    assert Calls(db).outcome(1) == "failed"
    assert cli("agent", "finish", 1, attempt, "--outcome", "well", "--json").code == 1


def test_reports_and_ends_have_facts_of_the_run(cli: Cli, db: Connection) -> None:
    Calls(db).insert_many([1, 2])
    [match] = cli("match", "--host", "n17", "--cpu-time", "86400", "--json").json
    job, attempt = match["job_id"], match["attempt"]
    cli("agent", "report", job, attempt, "--host", "n18", "--used", "cpu=12.5", "--used", "ram=1900")
    errors = ("--error", "pilot:1305:a: b", "--error", "payload:137", "--error", "dirac::Stalled")
    cli("agent", "finish", job, attempt, "--outcome", "failed", *errors, "--used", "wall=60", "--used", "cores=8")
    query = (
        "select host, error, cpu_used, wall_used, ram_used, cores_used from taskqueue.history where event = 'failed'"
    )
    [found] = Calls(db).rows(query)
    assert found == ("n17", [
        {"source": "pilot", "code": 1305, "text": "a: b"}, {"source": "payload", "code": 137},
        {"source": "dirac", "text": "Stalled"},
    ], 12.5, 60, 1900, 8)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--error", "pilot:many"), "'many'"), (("--error", "Pilot:1"), "source is"), (("--error", ""), "source is"),
        (("--error", "pilot:9999999999"), "code is 9999999999"), (("--used", "cpu"), "--used cpu"),
        (("--used", "cpu=much"), "'much'"), (("--used", "cpu=-1"), "cpu of used is -1"),
        (("--used", "cpu=NaN"), "'NaN'"), (("--used", "hours=1"), "'hours'"), (("--host", ""), "host is"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["report", "finish"])
def test_a_wrong_fact_is_refused(cli: Cli, db: Connection, command: str, options: tuple[str, ...], words: str) -> None:
    Calls(db).insert(1)
    attempt = Calls(db).take(Site="S").attempt
    cli("agent", command, 1, attempt, *options).refuses(words)
    assert Calls(db).state(1) == "leased"


@pytest.mark.slow
def test_a_report_sets_the_status_of_its_job(cli: Cli, db: Connection) -> None:
    grids.load(db, "s")
    [job] = grids.make(db, "s")
    grids.activate(db, "s")
    _, attempt = grids.match(db, "s") or (0, "")
    for status in ("starting", "running", "holding", "transferring"):
        assert cli("agent", "report", job, attempt, "--status", status, "--setup", "s").out == "continue\n"
        assert grids.status(db, "s", job) == status
    cli("agent", "report", job, attempt, "--status", "finished", "--setup", "s").refuses(
        "invalid status 'finished' [PB001]"
    )


def test_an_operator_sees_who_has_the_job(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    match = Calls(db).take(Site="S")
    printed = cli("agent", "report", 1, f"2-{'0' * 32}")
    [error, detail, hint] = printed.err.splitlines()
    assert error == "error: attempt 2 of job 1 is stale [PB003]"
    assert detail.startswith("detail: Attempt 1 has it: role ")
    assert "at S, since" in detail
    assert hint.startswith("hint:  The job was given back")
    printed = json.loads(cli("agent", "report", 1, f"2-{'0' * 32}", "--json").err)
    assert printed["detail"] == detail.removeprefix("detail: ")
    assert "detail" not in cli("agent", "report", 1, match.attempt).err


@pytest.mark.slow
def test_match_many_answers_each_line(cli: Cli, db: Connection) -> None:
    Calls(db).insert_many([1, 2], Sites=["S"])
    there, nowhere = ({"resources": [{"CPUTime": 86400, "Site": site}]} for site in "ST")
    lines = [there, nowhere, {"resources": []}, 7]
    printed = cli("agent", "match-many", "-", "--json", stdin="\n".join(map(json.dumps, lines)))
    first, *others = printed.json
    assert (printed.code, len(first["jobs"]), first["error"]) == (1, 1, None)
    assert others[0] == {"jobs": [], "error": None}
    assert "resources has 0 elements" in others[1]["error"]["message"]
    assert others[1]["error"]["sqlstate"] == "PB001" and others[1]["error"]["hint"]
    assert "request 3 is refused: resources has 0 elements" in json.loads(printed.err)["error"]
    assert "request is 7, not an object" in others[2]["error"]["message"]
    printed = cli("agent", "match-many", "-", stdin=json.dumps([nowhere, there]))
    assert (printed.code, "user priority" in printed.out) == (0, True)
    printed = cli("agent", "match-many", "-", stdin=json.dumps([there, nowhere]))
    assert (printed.code, printed.out) == (4, "no match: these resources get no job now\n")
    cli("agent", "match-many", "-", stdin=json.dumps({**there, "m": 1})).refuses(
        "error: request 1 is refused: request has the unknown key m"
    )
    refused = cli("agent", "match-many", "-", stdin="[7, 8]")
    assert ("request 1 is refused" in refused.err, "request 2 is refused" in refused.err) == (True, True)


@pytest.mark.slow
def test_match_takes_many_jobs_and_says_when_no_job_matches(cli: Cli, db: Connection) -> None:
    Calls(db).insert_many(range(1, 6))
    assert len(cli("match", "--cpu-time", 1000, "--count", 3, "--json").json) == 3
    assert cli("match", "--resource", '{"CPUTime": 1000}', "--count", 3).out.count("1-") == 2
    none = cli("match", "--cpu-time", 1000)
    assert (none.code, none.out.startswith("no match")) == (4, True)
    assert cli("match", "--cpu-time", 1000, "--json").json == []


@pytest.mark.slow
def test_match_says_that_a_resource_is_quarantined(cli: Cli, db: Connection, as_role: AsRole) -> None:
    Calls(db).insert_many(range(1, 6))
    ask = ("match", "--cpu-time", 1000, "--site", "CERN", "--host")
    for kind, name in (("host", "n17"), ("ce", "ce1")):
        cli("quarantine", "set", kind, name, "it is broken", "--site", "CERN")
    noted = "host n17 at CERN is quarantined: it is broken\n"
    for format_ in ((), ("--json",)):
        assert (cli(*ask, "n17", *format_).code, cli(*ask, "n17", *format_).err) == (4, noted)
    assert cli(*ask, "n17", "--ce", "ce1").err.count("is quarantined") == 2
    assert cli(*ask, "n18").err == ""
    resource = {"CPUTime": 1000, "Site": ["CERN"], "GridCE": "ce1", "HostName": "n18"}
    many = cli("agent", "match-many", "-", stdin=json.dumps({"resources": [resource, resource]}))
    assert (many.code, many.err) == (4, "ce ce1 at CERN is quarantined: it is broken\n")
    cli("quarantine", "set", "site", "RAL", "it is closed")
    assert cli("match", "--cpu-time", 1000, "--site", "RAL").err == "site RAL is quarantined: it is closed\n"
    db.execute("select resource.set_identity('default', 'broker_agent')")
    as_role("broker_agent")
    assert cli(*ask, "n17").err == ""  # a caller that may not see quarantines


@pytest.mark.slow
def test_match_warns_of_a_site_that_no_queue_or_limit_names(cli: Cli, db: Connection, as_role: AsRole) -> None:
    """Jobs that may run at any site hide a misspelt name of a site."""
    calls = Calls(db)
    calls.insert_many(range(1, 7))
    ask = ("match", "--cpu-time", 1000, "--site")
    assert cli(*ask, "CENR").err == ""  # no site has a name yet
    calls.running_limit("JobType", "T", 1, site="CERN")
    calls.insert_many(range(10, 20), Sites=["RAL"])
    noted = "no queue, TaskQueue or limit of setup default names site CENR now; the nearest is CERN\n"
    assert (cli(*ask, "CENR").err, cli(*ask, "CENR", "--json").err) == (noted, noted)
    for known in ("CERN", "any", "RAL"):
        assert cli(*ask, known).err == "", known
    while cli(*ask, "RAL").code == 0:
        pass
    assert cli(*ask, "CENR").err == noted  # also without a match
    calls.insert(30)
    db.execute("select resource.set_identity('default', 'broker_agent')")
    as_role("broker_agent")
    assert cli(*ask, "CENR").err == ""  # a caller that may not see sites


def test_each_option_sets_its_key_of_the_resource_description(cli: Cli, db: Connection) -> None:
    """Every option sets its key: the job needs all of them, and a wrong value of one fails its condition alone."""
    Calls(db).insert(
        1, Sites=["S"], GridCEs=["c"], Platforms=["p"], Tags=["t", "2Processors"], MinRAM=1000, OwnerGroup="g"
    )
    all_of_them = (
        "--resource", '{"CPUTime": 1, "Site": "wrong"}', "--site", "S", "--ce", "c", "--platform", "p", "--tag", "t",
        "--processors", 2, "--max-ram", 1000, "--owner-group", "g", "--owner", "alice", "--cpu-time", 500,
    )  # fmt: skip
    assert all(row["holds"] for row in cli("explain", 1, *all_of_them, "--json").json)
    for option, condition in {
        "--site": "Site", "--ce": "GridCE", "--platform": "Platform", "--tag": "Tag", "--processors": "Tag",
        "--max-ram": "MaxRAM", "--owner-group": "Owner", "--owner": "Owner", "--cpu-time": "CPUTime",
    }.items():  # fmt: skip
        changed = list(all_of_them)
        changed[changed.index(option) + 1] = 1 if isinstance(changed[changed.index(option) + 1], int) else "other"
        failing = [row["condition"] for row in cli("explain", 1, *changed, "--json").json if not row["holds"]]
        assert failing == [condition], option


@pytest.mark.parametrize("text", ["{", "[1]", "7"])
def test_a_resource_that_is_no_json_object_is_refused(cli: Cli, text: str) -> None:
    printed = cli("match", "--resource", text, "--json")
    assert printed.code == 1
    assert "--resource" in json.loads(printed.err)["error"]


def test_explain_shows_the_conditions_that_fail(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1, Sites=["S"], CPUTime=5000)
    assert "does not match: CPUTime, Site" in cli("explain", 1, "--site", "T", "--cpu-time", 100).out
    assert cli("explain", 1, "--site", "S", "--cpu-time", 5000).out.endswith("matches\n")
    cli("match", "--site", "T", "--cpu-time", 100)
    rows = {row["condition"]: row for row in cli("explain", 1, "--json").json}
    shown = [line for line in cli("explain", 1).out.splitlines() if line.startswith("│")]
    assert [line.split()[1] for line in shown] == ["CPUTime", "Site", "all"]  # conditions that never fail are not shown
    assert rows["Site"]["remark"] == "no resource seen lately offers Site: one of: S"
    assert "no resource seen lately fulfils all conditions" in cli("explain", 1).out
    cli("explain", 99).refuses("[PB004]")


def test_task_queues_lists_all_or_those_that_match(cli: Cli, db: Connection) -> None:
    calls = Calls(db)
    calls.insert_many(range(1, 5), CPUTime=5000, Sites=["S"])
    disabled = calls.insert(5, CPUTime=500)
    calls.call("set_task_queue_enabled", disabled, False)
    listed = cli("task-queues", "--json").json
    assert [(row["cpu_time"], row["jobs"], row["state"]) for row in listed] == [(5000, 4, "open"), (500, 1, "disabled")]
    assert [row["jobs"] for row in cli("task-queues", "--site", "S", "--cpu-time", 1e6, "--json").json] == [4]
    assert cli("task-queues", "--site", "T", "--cpu-time", 1e6, "--json").json == []
    assert [row["jobs"] for row in cli("task-queues", "--json", "--limit", 1).json] == [4]
    assert len(cli("task-queues", "--json", "--limit", 0).json) == 2
    assert "2 TaskQueues, 5 jobs waiting" in cli("task-queues", "--limit", 0).out
    assert cli("task-queues", "--limit", -3).code == 2
    printed = cli("task-queues", "--limit", 1).out
    assert "2 TaskQueues, 1 shown (--limit), 5 jobs waiting" in printed
    assert "█" in printed


def test_a_wide_table_names_the_columns_left_out_and_breaks_no_number(
    cli: Cli, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = ["SimulationReconstruction", "MergingOfSimulation"]
    Calls(db).insert_many(range(1, 5), CPUTime=1_080_000, OwnerGroup="lhcb_simulation_production", JobTypes=types)
    wide = cli("task-queues").out
    assert f"{types[1]} + 1" in wide  # sorted
    assert "█" in wide
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "80", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    narrow = re.sub(r"\x1b\[[\d;]*m", "", cli("task-queues").out)
    assert max(map(len, narrow.splitlines())) <= 80
    assert "█" not in narrow
    assert "not shown here: owner, job types, sites, platforms, priority, state" in narrow
    bucket = str(cli("task-queues", "--json").json[0]["cpu_time"])
    for words in (bucket, "lhcb_simulation_production"):
        assert words in narrow, words


def test_task_queues_show_the_conditions_that_keep_a_pilot_away(cli: Cli, db: Connection) -> None:
    calls = Calls(db)
    calls.insert(1, Sites=["AGLT2"], Tags=["8Processors"], MinRAM=14400)
    calls.insert(2, Sites=["B", "A"], Platforms=["el9"])
    shown = cli("task-queues").out
    for words in ("AGLT2", "8Processors", "14400", "A + 1", "el9", "alice"):
        assert words in shown, words


@pytest.mark.parametrize(
    "arguments",
    [
        ("match", "--cpu-time", "nan"), ("match", "--max-ram", "inf"), ("match", "--cpu-time", 5, "--count", 0),
        ("explain", 99999999999999999999),
    ],
)  # fmt: skip
def test_values_that_are_no_valid_numbers_are_wrong_usage(cli: Cli, arguments: tuple[Any, ...]) -> None:
    assert cli(*arguments).code == 2


def test_a_wrong_value_of_the_variable_prepare_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_PREPARE", "garbage")
    cli("task-queues").refuses("BROKER_PREPARE is garbage")


def test_a_byte_order_mark_is_no_part_of_the_text(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(job(1)).encode())
    assert cli("submit", file).code == 0
    assert cli("submit", "-", stdin="\ufeff" + json.dumps(job(2))).code == 0


@pytest.mark.slow
def test_a_long_submission_shows_that_it_goes_on(cli: Cli, terminal: None, tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({**GROUP, "jobs": [[number, 1] for number in range(1, 100_001)]}))
    shown = cli("submit", file).err
    assert "submitting ..." in shown and re.search(r"100,000 jobs stored, [\d,]+ a second", shown), shown
    assert "submitting" not in cli("submit", "-", stdin=json.dumps(job(100_001))).err


@pytest.mark.parametrize("given", ['"x"', "10000000000000", "9999999999999999999", "0", "1.5"])
def test_ids_that_cannot_be_submitted_have_one_message(cli: Cli, db: Connection, given: str) -> None:
    printed = cli("submit", "-", stdin=json.dumps(job(1)).replace('"job_id": 1', f'"job_id": {given}'))
    assert f"job_id is {given}, which is not an integer within 1..999999999999 [PB001]" in printed.err
    assert "9223372036854775807" not in printed.err
    assert Calls(db).value("select count(*) from monitor.job") == 0


@pytest.mark.slow
def test_submit_counts_new_moved_and_restarted_jobs(cli: Cli, db: Connection) -> None:
    lines = [json.dumps(job(1)), json.dumps({**GROUP, "jobs": [[2, 1], [3, 1]]})]
    assert cli("submit", "-", stdin="\n".join(lines)).out == "3 jobs submitted to setup default\n"
    [matched] = cli("match", "--cpu-time", 10**6, "--json").json
    cli("agent", "finish", matched["job_id"], matched["attempt"])
    again = cli("submit", "-", stdin="\n".join([*lines, json.dumps(job(4))]))
    assert again.out == ("4 jobs submitted to setup default: 1 new, 2 in place of a waiting one, 1 that had ended\n")
    counts = cli("submit", "-", "--json", stdin=json.dumps(job(1))).json
    assert (counts["new"], counts["moved"], counts["restarted"]) == (0, 1, 0)
