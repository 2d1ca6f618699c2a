"""`broker sample` and `broker history`: figures over time in a terminal."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.calls import Calls, Connection
from tests.commands import Cli

pytestmark = pytest.mark.slow

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


@pytest.fixture
def q(db: Connection, cli: Cli) -> Calls:
    """Three groups with growing numbers of jobs, for ten minutes, one of which is not sampled."""
    q = Calls(db)
    job = 0
    for minute in range(1, 11):
        q.set_clock(NOON + timedelta(minutes=minute))
        for group, jobs in (("atlas", 4), ("cms", 2), ("lhcb", minute == 5)):
            for _ in range(jobs):
                job += 1
                q.insert(job, OwnerGroup=group, Sites=["CERN"])
        if minute != 7:
            db.execute("delete from taskqueue.summary")
            q.call("summarize_waiting")
            assert cli("sample", "--json").json["default"] > 3
    return q


def test_history_shows_a_line_for_each_figure(q: Calls, cli: Cli) -> None:
    printed = cli("history", "--since", "10min").out
    assert "jobs_waiting" in printed
    assert "oldest_wait" in printed
    assert "jobs/min" not in printed  # nothing was matched
    assert "2026-03-28 12:00:00+00:00 to 2026-03-28 12:10:00+00:00, 1 minute a character" in printed


def test_history_shows_a_line_for_each_value_of_a_label_with_its_gaps(q: Calls, cli: Cli) -> None:
    printed = cli("history", "jobs_waiting", "--since", "10min").out
    assert "Jobs that wait in TaskQueues. (jobs)" in printed
    lines = [line for line in printed.splitlines() if any(group in line for group in ("atlas", "cms", "lhcb"))]
    assert [line.split()[1] for line in lines] == ["atlas", "cms", "lhcb"]
    assert "▂▂▃▄▅▅ ▇▇█" in lines[0]
    assert "▁▁▁▁██ ███" in lines[2]
    rows = cli("history", "jobs_waiting", "--since", "10min", "--json").json
    assert [row["value"] for row in rows if row["label"] == "atlas"] == [4, 8, 12, 16, 20, 24, 32, 36, 40]


def test_history_takes_a_label_a_filter_and_a_limit(q: Calls, cli: Cli) -> None:
    rows = cli(
        "history", "jobs_waiting", "--by", "reason", "--only", "owner_group=cms", "--since", "1 hour", "--json"
    ).json
    assert {row["label"] for row in rows} == {"unknown"}
    assert [row["value"] for row in rows][-1] == 20
    assert "1 more (--limit)" in cli("history", "jobs_waiting", "--limit", 2).out
    since = (NOON + timedelta(minutes=8)).isoformat()
    assert len(cli("history", "leases", "--since", since, "--json").json) == 0
    assert len(cli("history", "oldest_wait", "--only", "owner_group=cms", "--since", since, "--json").json) == 2


def test_the_command_sample_makes_one_sample_a_minute(q: Calls, cli: Cli) -> None:
    assert cli("sample", "--json").json == {}
    assert "it had its sample" in cli("sample").out
    assert cli("sample", "--setup", "nowhere").code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["job"], 'there is no figure "job"'),
        (["matches", "--by", "site"], 'figure matches has no label "site"'),
        (["matches", "--since", "soon"], "--since soon is neither a span nor a time"),
        (["matches", "--since", "2027-01-01"], "--since 2027-01-01 is not in the past"),
        (["matches", "--since", "-1h"], "--since -1h is not in the past"),
        (["matches", "--only", "site"], "--only site is not LABEL=VALUE"),
        (["--by", "site"], "--by needs a figure"),
        (["--only", "site=CERN"], "--only needs a figure"),
    ],
)
def test_wrong_options_of_history_are_refused(q: Calls, cli: Cli, arguments: list[str], words: str) -> None:
    refused = cli("history", *arguments)
    assert (refused.code, refused.out) == (1, "")
    assert words in refused.err


def test_history_without_samples_names_the_loop_that_makes_them(db: Connection, cli: Cli) -> None:
    Calls(db).insert(1)
    assert "the loop sample of `broker run` makes them" in cli("history").out
