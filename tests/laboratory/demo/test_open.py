"""`broker demo --open`: its page lives while the demo runs and after it, and nothing is left when it ends."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from broker.server import embedded

# Shells let background programs ignore SIGINT, and the children of the tests would inherit that.
_PROGRAM = """import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from broker.cli.program import main
main()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for an embedded server."""
    folder = Path(tempfile.mkdtemp(prefix="broker-home-"))
    folder.chmod(0o755)
    yield folder
    embedded.down(folder)
    shutil.rmtree(folder)


@pytest.fixture
def running(home: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A small demo with a page, on a machine without a screen."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_", "DISPLAY", "WAY"))}
    asked = ["demo", "--open", "--jobs", "2000", "--seconds", "5", "--agents", "2"]
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *asked], start_new_session=True, stdout=subprocess.PIPE,
        env={**kept, "BROKER_HOME": str(home), "XDG_RUNTIME_DIR": str(tmp_path)}, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def read_until(process: "subprocess.Popen[str]", words: str) -> str:
    """The line of the output that has the words. No line before is of the log of the page's service."""
    assert process.stdout
    seen = []
    for line in process.stdout:
        seen.append(line)
        assert " INFO " not in line
        if words in line:
            return line
    raise AssertionError("".join(seen))


def logged_in(file: Path) -> httpx.Client:
    """A browser that has opened the file, and has pressed the button that follows."""
    text = file.read_text()
    [action], [ticket] = re.findall('action="([^"]+)"', text), re.findall('value="([0-9a-f]{64})"', text)
    address = urlsplit(unescape(action))
    browser = httpx.Client(base_url=f"{address.scheme}://{address.netloc}", timeout=60)
    asked = browser.post(address.path, data={"ticket": ticket})
    [csrf] = re.findall('name="csrf" value="([^"]+)"', asked.text)
    done = browser.post(address.path, data={"ticket": ticket, "csrf": csrf})
    assert (done.status_code, done.headers["Location"]) == (303, "/")
    return browser


def processes(session: int) -> list[str]:
    """The command lines of the living processes of a session of the system."""
    listed = subprocess.run(["ps", "-s", str(session), "-o", "args="], capture_output=True, text=True, check=False)
    return [one for one in listed.stdout.splitlines() if "<defunct>" not in one]


def left(session: int) -> list[str]:
    """The processes that are left a few seconds after the first one: the tracker of Python's multiprocessing ends when
    it notices that the others are gone."""
    for _ in range(50):
        if not (found := processes(session)):
            return []
        time.sleep(0.1)
    return found


@pytest.mark.thorough
def test_a_page_lives_with_the_demo_and_ends_with_it(running: "subprocess.Popen[str]", home: Path) -> None:
    told = read_until(running, "open file://")
    with closing(logged_in(Path(told.split("file://")[1].split()[0]))) as browser:
        path = browser.get("/").headers["Location"]
        assert re.fullmatch("/setups/demo-[0-9a-f]{6}", path)
        page = browser.get(path)
        assert page.status_code == 200 and "never counted" not in page.text and "nobody counts" not in page.text
        read_until(running, "The demo is over. Its page lives at http://127.0.0.1:")
        server = embedded.current(home)
        assert server
        setup = path.removeprefix("/setups/")
        with psycopg.connect(server.dsn) as db:
            waits, seconds = "select sum(jobs) from monitor.waiting_by_reason where setup = %s", 0
            while db.execute(waits, [setup]).fetchone() == (2000,):
                time.sleep(1)
                db.rollback()
                seconds += 1
                assert seconds < 60, "the loop summarize does not count"
        rate = 0.0
        for _ in range(180):  # the minute of the matches ends, and the loop sample takes it
            shown = browser.get(f"{path}/history", params={"figure": "matches"}).text
            rates = [float(of.replace(",", "")) for of in re.findall(r'<td class="n">([\d,.]+)</td></tr>', shown)]
            rate = max(rates, default=0)
            if rate > 0:
                break
            time.sleep(1)
        assert rate > 0
        assert browser.get(f"{path}/runs").status_code == 200
        assert browser.get(f"{path}/tasks").text.count("<tr") > 10
    assert len(processes(running.pid)) >= 2  # the demo and the service
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 0
    assert left(running.pid) == []
    with socket.socket() as closed, pytest.raises(ConnectionRefusedError):
        closed.connect((browser.base_url.host, browser.base_url.port or 0))


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_ends_its_page(running: "subprocess.Popen[str]", number: signal.Signals) -> None:
    read_until(running, "open file://")
    running.send_signal(number)
    assert running.wait(60) == 130
    assert left(running.pid) == []
