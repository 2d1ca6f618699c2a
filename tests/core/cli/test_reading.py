"""Output for people: tables on a narrow terminal lose nothing unnoticed, and times are shown relative to now."""

import datetime
import re

import pytest

from broker.cli.shared import output
from broker.cli.shared.options import options
from tests.commands import as_new

NOW = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
WIDE = ["task", "queue", "verdict", "reason", "function", "source"]
ROW = [41000003, "SYN-NUCLEUS-01/MCORE_HIMEM", "rejected", "needs 10800 MB, maxrss is 2000", "brokerage.rule_memory",
       "sql/brokerage/rules/production-filters.md"]  # fmt: skip


@pytest.fixture(autouse=True)
def _as_new(monkeypatch: pytest.MonkeyPatch) -> None:
    as_new(monkeypatch)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def fits(text: str, width: int = 80) -> bool:
    return all(len(line.rstrip()) <= width for line in text.splitlines())


def test_a_list_that_fits_the_terminal_is_printed_as_a_table(
    terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    output.table("Queues", ["queue", "jobs"], [("Q", 3)])
    shown = plain(capsys.readouterr().out)
    assert "│ Q     │    3 │" in shown
    assert "not shown" not in shown


def test_a_table_names_the_columns_left_out(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    output.table("Rules", WIDE, [ROW], drop=["source", "function"])
    shown = plain(capsys.readouterr().out)
    assert fits(shown)
    assert "not shown here: function, source (--wide or --json)" in shown
    assert "SYN-NUCLEUS-01/MCORE_HIMEM" in shown  # a name is not cut
    assert "brokerage.rule_memory" not in shown


def test_a_row_that_does_not_fit_becomes_a_block(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    output.table("Rules", WIDE, [ROW, [1, "Q", "candidate", None, "f", "s"]])
    shown = plain(capsys.readouterr().out)
    assert fits(shown)
    joined = " ".join(shown.split())
    assert "task 41000003 queue SYN-NUCLEUS-01/MCORE_HIMEM; verdict rejected;" in joined
    assert "reason needs 10800 MB, maxrss is 2000; function brokerage.rule_memory;" in joined
    assert "source sql/brokerage/rules/production-filters.md" in joined
    assert "task 1 queue Q; verdict candidate; function f; source s" in joined  # no reason: none is shown
    assert "not shown" not in shown


def test_a_bar_that_is_left_out_gets_no_note(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["queue", "jobs", ""]
    output.table("Queues", columns, [("Q" * 60, 3, "█" * 20)], drop=[""])
    shown = plain(capsys.readouterr().out)
    assert ("█" in shown, "not shown" in shown, fits(shown)) == (False, False, True)


def test_the_option_wide_and_pipes_print_every_column_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lines() -> list[str]:
        output.table("Rules", WIDE, [[*ROW[:-1], "long " * 60]], drop=["source", "function"])
        return [line for line in plain(capsys.readouterr().out).splitlines() if "SYN" in line]

    [piped] = lines()
    assert all(str(value) in piped for value in (*ROW[:-1], "long " * 59))
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    options.wide = True
    assert lines() == [piped]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "now"), (3, "3 s ago"), (-90, "in 90 s"), (180, "3 min ago"), (7200, "2 h ago"), (-86400, "in 24 h"),
     (4 * 86400, "4 d ago")],
)  # fmt: skip
def test_times_are_shown_relative_to_now(seconds: int, words: str) -> None:
    assert output.ago(NOW - datetime.timedelta(seconds=seconds), NOW) == words


def test_no_color_prints_no_colours(
    terminal: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """https://no-color.org: the bars of a terminal lose their colour, too."""
    monkeypatch.delenv("NO_COLOR")
    output.bars("Jobs", [("Q", 3)])
    assert re.search(r"\x1b\[(3|4)\d", capsys.readouterr().out)
    monkeypatch.setenv("NO_COLOR", "1")
    output.bars("Jobs", [("Q", 3)])
    assert not re.search(r"\x1b\[(3|4)\d", capsys.readouterr().out)


def test_a_bar_is_full_where_the_value_reaches_its_total(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    """The largest row does not matter: the bar of 16 of 16 cores is full beside that of 24 of 96."""
    output.bars("Cores used", [("13 c5.4xlarge", 16, 16), ("14 c5.24xlarge", 24, 96)])
    full, quarter = [line.count("█") for line in plain(capsys.readouterr().out).splitlines()[1:]]
    assert full == 4 * quarter == 40


def test_bars_shrink_before_a_label_is_broken(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    output.bars("Jobs", [("SYN-NUCLEUS-01-OF-A-LONG-NAME/MCORE_HIMEM", 3), ("x " * 60, 1)])
    shown = plain(capsys.readouterr().out)
    assert fits(shown)
    assert "SYN-NUCLEUS-01-OF-A-LONG-NAME/MCORE_HIMEM" in shown and "█" in shown
    assert shown.count("x") == 60


def test_times_among_properties_are_shown_with_their_age(capsys: pytest.CaptureFixture[str]) -> None:
    output.fields("Job 1", {"created": NOW - datetime.timedelta(minutes=5), "site": None}, now=NOW)
    shown = capsys.readouterr().out
    assert "2026-03-01 11:55:00+00:00 (5 min ago)" in shown and "site" not in shown


def test_a_title_is_not_as_narrow_as_its_table(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    title = "Loaded into a setup with a long name"
    output.table(title, ["n"], [(1,)])
    output.bars(title, [("a", 1)])
    output.fields(title, {"a": 1})
    assert plain(capsys.readouterr().out).count(title) == 3
