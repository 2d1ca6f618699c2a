"""`--watch` and `broker top`: one process that redraws, outlives a lost connection, and ends with Ctrl-C."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from typing import Any

import pytest
from psycopg.types.json import Jsonb
from rich.text import Text

from tests.calls import Calls, Connection
from tests.commands import Cli
from tests.core.lifecycle import grids

SECONDS = 60  # to wait for a picture


class Screen:
    """A command on a pseudo-terminal of 80x24, and what it has written since the last look."""

    def __init__(self, dsn: str, *arguments: str) -> None:
        self.end, inner = pty.openpty()
        ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        # Tests that a shell runs in the background have SIGINT ignored, and their children inherit that.
        attentive = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        program = [sys.executable, "-c", f"{attentive}; from broker.cli.program import main; main()", *arguments]
        environment = {**os.environ, "BROKER_DSN": dsn, "TERM": "xterm", "NO_COLOR": "1"}
        for name in ("COLUMNS", "LINES", "FORCE_COLOR"):
            environment.pop(name, None)
        self.process = subprocess.Popen(
            program, stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True
        )
        os.close(inner)
        self.seen = ""

    def wait_for(self, *texts: str) -> str:
        """Read until all texts have come since the last call."""
        deadline = time.monotonic() + SECONDS
        while not all(text in self.seen for text in texts):
            ready, _, _ = select.select([self.end], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{texts} did not come: {self.seen[-3000:]}"
            self.seen += re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", os.read(self.end, 65_536).decode(errors="replace"))
        found, self.seen = self.seen, ""
        return found

    def stop(self) -> int:
        """Press Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.end, 65_536).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
        return self.process.wait(SECONDS)


@pytest.fixture
def screen(dsn: str) -> Iterator[Callable[..., Screen]]:
    opened: list[Screen] = []

    def start(*arguments: str) -> Screen:
        opened.append(Screen(dsn, *arguments))
        return opened[-1]

    yield start
    for one in opened:
        one.process.kill()
        one.process.wait()
        os.close(one.end)


def cut_off(db: Connection) -> None:
    """End every other session of the database, as a restart of the server does."""
    db.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
        " and pid <> pg_backend_pid()"
    )


@pytest.mark.slow
def test_watch_redraws_survives_a_lost_connection_and_ends(db: Connection, screen: Callable[..., Screen]) -> None:
    q = Calls(db)
    q.insert(1001)
    shown = screen("jobs", "--watch", "0.2")
    shown.wait_for("Ctrl-C ends", "1001")
    q.insert(2002)
    shown.wait_for("2002")
    cut_off(db)
    shown.wait_for("trying again", "2002")  # the last picture stays
    q.insert(3003)
    shown.wait_for("3003")
    assert shown.stop() == 0
    assert "Traceback" not in shown.seen


@pytest.mark.slow
def test_watch_counts_the_lines_that_do_not_fit_the_terminal(db: Connection, screen: Callable[..., Screen]) -> None:
    Calls(db).insert_many(range(1, 31))
    shown = screen("jobs", "--watch", "0.2")
    seen = shown.wait_for("Ctrl-C ends; ", "below do not fit")
    assert re.search(r"Ctrl-C ends; [2-5] lines below", seen), seen
    assert shown.stop() == 0
    fits = screen("jobs", "--watch", "0.2", "--limit", "10")
    assert "do not fit" not in fits.wait_for("Ctrl-C ends", "there are more")
    assert fits.stop() == 0


@pytest.mark.slow
def test_top_redraws_and_ends(db: Connection, screen: Callable[..., Screen]) -> None:
    q = Calls(db)
    q.insert(1)
    shown = screen("top", "--every", "0.2")
    shown.wait_for("setup default: 1 wait in TaskQueues, 0 leased", "Waits longest")
    assert q.take(Site="S")
    shown.wait_for("0 wait in TaskQueues, 1 leased")
    assert shown.stop() == 0


def test_watch_without_a_number_means_two_seconds(cli: Cli, db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    Calls(db).insert(5)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr("broker.cli.shared.watching.time.sleep", wait)
    printed = cli("jobs", "--watch", "--json")
    assert (printed.code, printed.json[0]["job_id"], waits) == (0, 5, [2.0])
    assert cli("jobs", "--limit", 1, "--watch", "7").code == 0
    assert waits == [2.0, 7.0]


def test_watch_ends_at_once_if_the_server_is_away_at_first(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_DSN", "host=127.0.0.1 port=1 connect_timeout=2")
    cli("jobs", "--watch").refuses("cannot connect", code=3)


@pytest.mark.slow
def test_top_shows_sites_shares_waiting_jobs_and_loops(
    cli: Cli, db: Connection, terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.cli.top.time.sleep", lambda seconds: None)
    grids.load(db, "s")
    grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    assert grids.match(db, "s")
    shown = plain(cli("top", "--once", "--setup", "s").out)
    lines = shown.splitlines()
    assert lines[0].startswith("setup s: 1 wait in TaskQueues, 1 leased,")
    assert lines[1] == "loops: none is needed, and none ran"
    assert any(line.split()[:3] == ["SA", "1", "1"] for line in lines)
    assert {"Sites", "Shares", "Waits longest"} <= {line.strip() for line in lines}
    assert len(lines) <= 23 and all(len(line.rstrip()) <= 80 for line in lines)
    beat = Jsonb([{"name": "watchdog", "period": 10, "began": 0, "ended": 0}])
    db.execute("select lifecycle.lead(null, gen_random_uuid(), 'host 7', '1 hour', %s)", [beat])
    assert re.search(r"watchdog well \((now|\d+ s ago)\)", plain(cli("top", "--once", "--setup", "s").out))
    found: dict[str, Any] = cli("top", "--setup", "s", "--json").json
    assert (found["leased"], found["loops"][-1]["state"]) == (1, "well")
    db.execute("update lifecycle.loop set expires_at = '2020-01-01'")
    assert "watchdog NOBODY LEADS" in cli("top", "--once", "--setup", "s").out
    beats = [{"name": name, "period": 10, "began": 0, "ended": 0} for name in ("guard", "maintain", "notify", "sample")]
    db.execute("select lifecycle.lead(null, gen_random_uuid(), 'host 7', '1 hour', %s)", [Jsonb(beats)])
    assert re.search(r"^loops: watchdog NOBODY LEADS.*, 4 well$", cli("top", "--once", "--setup", "s").out, re.M)


@pytest.mark.slow
def test_top_fits_with_many_sites_and_a_long_setup(
    cli: Cli, db: Connection, terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live picture is cropped at the height of the terminal: the longest wait would be lost unnoticed."""
    monkeypatch.setattr("broker.cli.top.time.sleep", lambda seconds: None)
    setup = "a-setup-of-a-rather-long-name-" * 3
    q = Calls(db, setup)
    for number in range(12):
        q.insert(number + 1, Sites=[f"LCG.Institute-{number}.org"], OwnerGroup=f"group {number}")
        q.call("set_quarantine", "site", f"LCG.Institute-{number}.org", None, "it is closed")
    q.running_limit("JobType", "T", 1, site="LCG.Institute-1.org")
    lines = plain(cli("top", "--once", "--setup", setup).out).splitlines()
    shown = sum(max(1, -(-len(line.rstrip()) // 80)) for line in lines)
    assert 20 <= shown <= 23  # below the line of --every
    assert sum(" LCG.Institute-" in line for line in lines) >= 5
    assert len(cli("top", "--setup", setup, "--json").json["longest"]) == 3
    assert sum(" group " in line for line in lines[lines.index("Waits longest") :]) == 1 + 3


@pytest.mark.slow
def test_top_shows_quarantined_and_named_sites_the_worst_first(
    cli: Cli, db: Connection, terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.cli.top.time.sleep", lambda seconds: None)
    assert "quarantined" not in cli("top", "--once").out
    assert cli("top", "--json").json["quarantines"] == []
    q = Calls(db)
    for host in ("n1", "n2", "n3"):
        q.call("set_quarantine", "host", "CERN", host, "it burns")
    q.call("set_quarantine", "host", None, "n1", "it burns")
    q.call("set_quarantine", "ce", "RAL", "ce1", "it burns")
    assert "quarantined: CERN 3, without a site 1 + 1" in plain(cli("top", "--once").out).splitlines()
    q.call("set_quarantine", "site", "RAL", None, "it is closed")
    db.execute(
        """insert into taskqueue.quarantine (setup, site, kind, name, since, why, locks, is_automatic)
           values ('default', 'NORTH', 'site', 'NORTH', now(), '5 of 9 worker nodes fail their jobs', false, true),
                  ('default', 'SOUTH', 'host', 'n1', now(), '6 of 6 jobs failed', false, true)"""
    )
    assert "quarantined: RAL 1 (whole site), NORTH (named) + 2" in plain(cli("top", "--once").out).splitlines()
    assert cli("top", "--json").json["quarantines"] == [
        {"site": "RAL", "refused": 2, "state": "refused"}, {"site": "NORTH", "refused": 0, "state": "named"},
        {"site": "CERN", "refused": 3, "state": None}, {"site": "", "refused": 1, "state": None},
    ]  # fmt: skip
    for number in range(30):
        q.call("set_quarantine", "site", f"LCG.{'Institute' * 80}-{number}.org", None, "it is closed")
    lines = plain(cli("top", "--once").out).splitlines()
    [line] = [line for line in lines if line.startswith("quarantined")]
    assert (len(line) <= 160, line.endswith(" + 32")) == (True, True)


def plain(text: str) -> str:
    return Text.from_ansi(text).plain
