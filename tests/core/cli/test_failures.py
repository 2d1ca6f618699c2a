"""`broker failures`, `broker use`, and the facts of runs in `broker job` and `broker leases`."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection
from tests.commands import AsRole, Cli

HOST = "n17</td>"
TEXT = "killed <b>& [red]"


def end(q: Calls, job: int, outcome: str, /, site: str = "S", code: int = 1305, **used: Any) -> None:
    q.insert(job, Sites=[site], MinRAM=1000)
    lease = q.take(Site=site, HostName=HOST, MaxRAM=2000)
    q.call("finish_job", job, lease.attempt, outcome, Jsonb([{"source": "pilot", "code": code, "text": TEXT}]),
           Jsonb(used))  # fmt: skip


@pytest.fixture
def ended(db: Connection) -> Calls:
    q = Calls(db)
    end(q, 1, "failed", ram=2000, cpu=12.5)
    end(q, 2, "failed", ram=500, wall=60, cores=8)
    end(q, 3, "failed", site="T", code=1098)
    end(q, 4, "finished")
    return q


def test_failures_are_counted_by_what_is_asked(cli: Cli, ended: Calls) -> None:
    rows = cli("failures", "--by", "error", "--json").json
    assert [(row["source"], row["code"], row["jobs"], row["example"], row["text"]) for row in rows] == [
        ("pilot", 1305, 2, 2, TEXT), ("pilot", 1098, 1, 3, TEXT),
    ]  # fmt: skip
    assert {row["class"] for row in rows} == {None}
    shown = cli("failures", "--site", "S", "--by", "host, class", "--since", "1h").out
    assert HOST in shown and "class" in shown and "since 20" in shown and "share" not in shown
    assert [row["jobs"] for row in cli("failures", "--host", HOST, "--by", "site", "--json").json] == [2, 1]
    assert cli("failures", "--class", "no such", "--json").json == []
    assert "Failed jobs: none" in cli("failures", "--task", 7).out
    [row] = cli("failures", "--by", "job", "--site", "T", "--json").json
    assert (row["job_id"], row["text"]) == (3, TEXT)
    assert "there are more: --limit 0 shows all" in cli("failures", "--by", "job", "--limit", 1).out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--by", "place"], "--by is place, which is none of: site, host"),
        (["--by", ","], "--by is empty"),
        (["--since", "soon"], "--since soon is neither a span nor a time"),
        (["--setup", "nowhere"], "nowhere"),
    ],
)
def test_wrong_questions_about_failures_are_refused(cli: Cli, ended: Calls, given: list[str], words: str) -> None:
    refused = cli("failures", *given)
    assert refused.code != 0
    assert words in refused.err


def test_use_is_shown_by_group_and_by_task(cli: Cli, ended: Calls, db: Connection) -> None:
    names = ("owner_group", "measure", "jobs", "request", "median", "most", "above")
    rows = cli("use", "--json", "-o", ",".join(names)).json
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("users", "CPU time", 1, 500, 12.5, 12.5, 0), ("users", "memory", 2, 1000, 1250, 2000, 0.5),
        ("users", "wall time", 1, None, 60, 60, None),
    ]  # fmt: skip
    assert [row["measure"] for row in cli("use", "--measure", "memory", "--json").json] == ["memory"]
    assert cli("use", "--task", 7, "--json").json == []
    db.execute(
        """insert into workload.task (setup, task_id) values ('default', 7);
           insert into workload.job (setup, job_id, task_id, status, ended)
           select setup, job_id, 7, outcome, ended_at from taskqueue.ended"""
    )
    rows = cli("use", "--task", 7, "--json").json
    assert [(row["measure"], row["jobs"]) for row in rows] == [("CPU time", 1), ("memory", 2), ("wall time", 1)]
    assert [row["jobs"] for row in cli("failures", "--task", 7, "--by", "site", "--json").json] == [2, 1]


def test_a_job_shows_the_host_the_errors_and_the_use_of_its_runs(cli: Cli, ended: Calls) -> None:
    shown = cli("job", 1).out
    for words in (HOST, f"pilot 1305: {TEXT}", "CPU 12.5 s, 2000 MB"):
        assert words in shown
    [*_, event] = cli("job", 1, "--json").json["events"]
    assert (event["host"], event["ram_used"], event["error"][0]["code"]) == (HOST, 2000, 1305)
    ended.insert(9, Sites=["S"])
    lease = ended.take(Site="S", HostName=HOST)
    ended.call_rows("report_job", 9, lease.attempt, "running", Jsonb([{"source": "exe", "text": TEXT}]))
    assert HOST in cli("leases").out
    shown = cli("job", 9).out
    assert f"exe: {TEXT}" in shown and HOST in shown


@pytest.mark.parametrize("command", ["failures", "use"])
def test_failures_and_use_are_for_viewers(cli: Cli, ended: Calls, as_role: AsRole, command: str) -> None:
    as_role("broker_viewer")
    assert len(cli(command, "--json").json) > 0
    for role in ("broker_agent", "broker_submitter"):
        as_role(role)
        assert "[42501]" in cli(command).err


def test_no_text_of_a_pilot_acts_on_a_terminal(cli: Cli, db: Connection) -> None:
    """Such texts are cleaned at the end of the run; old rows and loaded ones are shown as escapes."""
    q = Calls(db)
    end(q, 1, "failed")
    error = Jsonb([{"source": "exe", "text": "\x1b[2J"}])
    db.execute("update taskqueue.history set host = %s, error = %s where error_class is not null", ["n\x1b[2J", error])
    for command in (["failures", "--by", "host,error"], ["job", 1]):
        shown = cli(*command).out
        assert "\x1b" not in shown
        assert "\\x1b[2J" in shown
