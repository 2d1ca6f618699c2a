"""`broker serve` as a program: on the embedded server, on a given one, and refused options."""

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from psycopg.conninfo import make_conninfo

from tests.commands import as_new, invoke
from tests.service.conftest import BASE, WANTED, Db, Token, bearer

PROGRAM = [sys.executable, "-c", "from broker.cli.program import main; main()"]

Serve = Callable[..., "Program"]


class Program:
    """`broker serve` with its own environment, and the address at which it listens."""

    def __init__(self, arguments: list[str], environment: dict[str, str], *, stdout: int = subprocess.PIPE) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
        self.environment = kept | environment
        self.process = subprocess.Popen(
            [*PROGRAM, "serve", "--bind", "127.0.0.1:0", *arguments],
            env=self.environment, stdout=stdout, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.stopped = False
        self.lines: list[str] = []
        self.url = ""
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r"running on (https?://\S+)", line):
                self.url = found[1]
                break
        if not self.url:
            self.process.kill()
        assert self.url, "".join(self.lines)

    def run(self, *arguments: str) -> str:
        """Standard output of another command in the same environment."""
        done = subprocess.run([*PROGRAM, *arguments], env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """End it, by default as systemd does, and return its exit code."""
        if not self.stopped:
            self.stopped = True
            self.process.send_signal(by)
            out, err = self.process.communicate()
            self.lines += [out or "", err]
        return self.process.returncode


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A function that starts the program, which is stopped at the end."""
    started: list[Program] = []

    def start(*arguments: str, stdout: int = subprocess.PIPE, **environment: str) -> Program:
        started.append(Program(list(arguments), environment, stdout=stdout))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def home() -> Iterator[Path]:
    """A home for an embedded server, which is stopped and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="broker-home-"))
    folder.chmod(0o755)
    yield folder
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    subprocess.run([*PROGRAM, "down"], env={**kept, "BROKER_HOME": str(folder)}, capture_output=True, check=False)
    shutil.rmtree(folder)


def test_serve_works_at_once_on_the_embedded_server(serve: Serve, home: Path) -> None:
    controller, terminal = pty.openpty()
    first = serve(stdout=terminal, BROKER_HOME=str(home))
    os.close(terminal)
    shown = ""
    while "curl" not in shown:
        shown += os.read(controller, 10_000).decode()
    token = re.search(r"TOKEN=(\w+)", shown)
    assert token
    answer = httpx.post(first.url + BASE + "/match", json=WANTED, headers=bearer(token[1]))
    assert answer.status_code == 204, answer.text
    assert first.stop() == 0
    os.close(controller)
    file = home / "cluster" / "service"
    assert file.stat().st_mode & 0o777 == 0o600
    password = file.read_text()

    # without a terminal no token is shown, and two workers use the same password
    second = serve("--workers", "2", BROKER_HOME=str(home))
    made = json.loads(second.run("credential", "token", "pilots", "--as", "agent", "--json"))
    jobs = {"requirements": {"OwnerDN": "/CN=a", "OwnerGroup": "users", "CPUTime": 600}, "jobs": [[1], [2], [3]]}
    subprocess.run([*PROGRAM, "submit", "-"], env=second.environment, input=json.dumps(jobs), text=True, check=True)
    matched = [httpx.post(second.url + BASE + "/match", json=WANTED, headers=bearer(made["token"])) for _ in range(4)]
    assert sorted(answer.status_code for answer in matched) == [200, 200, 200, 204]
    metrics = httpx.get(second.url + "/metrics").text  # from both workers
    counted = re.findall(r'pgbroker_http_requests_total\{.*?match",status="2\d\d"\} (\d+)', metrics)
    assert sum(map(int, counted)) == 4
    with ThreadPoolExecutor(6) as agents:  # each worker counts the agents that wait at it
        waits = [
            agents.submit(httpx.post, second.url + BASE + "/match", json=WANTED | {"wait": 12}, timeout=30,
                          headers=bearer(made["token"]))
            for _ in range(6)
        ]  # fmt: skip
        while "pgbroker_agents_waiting 6.0" not in httpx.get(second.url + "/metrics").text:
            assert not any(one.done() for one in waits)
            time.sleep(0.1)
    assert second.stop() == 0
    printed = "".join(second.lines)
    assert "broker credential token" in printed
    assert "TOKEN" not in printed
    assert file.read_text() == password
    assert password.strip() not in printed


def test_a_given_dsn_is_the_login_of_the_service(serve: Serve, service_dsn: str, token: Token) -> None:
    running = serve("--dsn", service_dsn)
    answer = httpx.post(running.url + BASE + "/match", json=WANTED, headers=bearer(token("agent")))
    assert answer.status_code == 204
    assert running.stop() == 0


def test_lines_of_the_log_are_objects_with_the_id_of_each_request(serve: Serve, service_dsn: str, token: Token) -> None:
    """The id is that of the proxy, if it is one; a caller's words are data, and secrets are not there."""
    shown = token("agent", "a pilot")
    program = serve("--log-format", "json", "--log-requests", "--dsn", service_dsn)
    ids = [{"X-Request-Id": "from-the-proxy-1"}, {"X-Request-Id": 'x"} {"y'}, {}]
    answers = [httpx.post(f"{program.url}{BASE}/match", json=WANTED, headers=bearer(shown) | one) for one in ids]
    refused = httpx.get(f"{program.url}/setups/default/jobs?status=%0Anonsense")
    assert program.stop() == 0
    lines = [json.loads(line) for line in "".join(program.lines).splitlines()]
    assert all({"time", "level", "message"} <= line.keys() for line in lines)
    asked = [line for line in lines if line["message"] == "request"]
    assert [line["request"] for line in asked] == [answer.headers["x-request-id"] for answer in [*answers, refused]]
    assert asked[0]["request"] == "from-the-proxy-1"
    assert re.fullmatch("[0-9a-f]{32}", asked[1]["request"])
    assert [(line["method"], line["path"], line["status"]) for line in asked[:3]] == [
        ("POST", "/api/v1/setups/{setup}/match", 204)
    ] * 3
    assert (asked[0]["setup"], asked[3].get("caller")) == ("default", None)
    assert asked[0]["caller"]
    assert all(0 < line["ms"] < 60_000 for line in asked)
    assert shown not in str(lines)


def test_another_login_is_refused(dsn: str, db: Db) -> None:
    """Otherwise the owner of a token would not count: a submitter could cancel the jobs of everybody."""
    refused = invoke(["--dsn", dsn, "serve", "--bind", "127.0.0.1:0"])
    assert (refused.exit_code, "is not the login of the service" in refused.stderr) == (1, True)
    name = f"agent_{db.info.dbname}"
    db.execute(f"create role {name} login password 'x' in role broker_agent".encode())
    try:
        refused = invoke(["--dsn", make_conninfo(dsn, user=name, password="x"), "serve", "--bind", "127.0.0.1:0"])
    finally:
        db.execute(f"drop role {name}".encode())
    assert (refused.exit_code, f"{name} is not the login of the service" in refused.stderr) == (1, True)


def test_serve_with_a_certificate_may_listen_on_any_address(serve: Serve, service_dsn: str, tmp_path: Path) -> None:
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
            "-subj", "/CN=localhost", "-days", "2"]  # fmt: skip
    try:
        subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    files = ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]
    running = serve(*files, "--bind", "0.0.0.0:0", BROKER_DSN=service_dsn)
    assert running.url.startswith("https://")
    url = running.url.replace("0.0.0.0", "127.0.0.1")
    assert httpx.get(url + "/healthz/ready", verify=False).json() == {"status": "ready"}
    assert running.stop() == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bind", "0.0.0.0:8765"], "--tls-cert"),
        (["--bind", "192.0.2.1:80"], "--tls-cert"),
        (["--bind", "[::]:80"], "--tls-cert"),
        (["--bind", "example.org:80"], "--tls-cert"),
        (["--bind", "8765"], "is not HOST:PORT"),
        (["--bind", "127.0.0.1:x"], "is not HOST:PORT"),
        (["--bind", "127.0.0.1:70000"], "is not HOST:PORT"),
        (["--tls-cert", __file__], "belong together"),
        (["--issuer", "https://issuer.example"], "--audience"),
        (["--issuer", "http://issuer.example", "--audience", "x"], "is not https"),
        (["--read", "no DSN"], "--read is not a DSN"),
        (["--read-lag", "-1"], "--read-lag"),
        (["--x509-secret", __file__], "--behind-proxy"),
        (["--x509-secret", __file__, "--behind-proxy"], "others can read the secret"),
        (["--x509-ca", __file__, "--behind-proxy"], "--x509-secret"),
        (["--x509-secret", __file__, "--x509-ca", __file__, "--behind-proxy"], "cannot be read"),
        (["--login", "https://issuer.example"], "--login needs --login-client"),
        (["--login-client", "x"], "need --login"),
        (["--login", "http://issuer.example", "--login-client", "x"], "is not https"),
        (["--login", "https://i.example", "--login-client", "x", "--behind-proxy"], "--login needs --url"),
        (["--login", "https://i.example", "--login-client", "x", "--login-scope", "email"], "lacks the word openid"),
        (["--login", "https://i.example", "--login-client", "x", "--login-secret", __file__], "others can read"),
        (["--url", "http://broker.example"], "is not https"),
        (["--url", "https://broker.example/there"], "more than scheme, host and port"),
        (["--url", "https://me@broker.example"], "more than scheme, host and port"),
        (["--open"], "--open is for the embedded server"),
        (["--open", "--setup", "default"], "--open is for the embedded server"),
        (["--workers", "0"], "--workers"),
        (["--rate", "0"], "--rate"),
    ],
)
def test_serve_refuses_unsafe_or_wrong_options(arguments: list[str], words: str) -> None:
    done = invoke(["--dsn", "postgresql://nobody@127.0.0.1:1/none", "serve", *arguments])
    assert done.exit_code in (1, 2)
    assert words in re.sub(r"[│\s]+", " ", done.stderr), done.stderr


@pytest.mark.parametrize(
    "module", ["uvicorn", "starlette", "msgspec", "joserfc", "cryptography", "prometheus_client", "jinja2"]
)
def test_serve_names_the_extra_of_a_missing_package(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    missing: Any = None
    monkeypatch.setitem(sys.modules, module, missing)
    done = invoke(["--dsn", "postgresql://nobody@127.0.0.1:1/none", "serve", "--bind", "nowhere"])
    assert (done.exit_code, "pip install '.[serve]'" in done.stderr) == (1, True)
    assert module in done.stderr
    assert invoke(["serve", "--help"]).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--behind-proxy", "--url", "https://broker.example.org"], "not for this machine alone"),
        (["--behind-proxy", "--url", "http://127.0.0.1:80"], "not for this machine alone"),
        (["--bind", "0.0.0.0:80", "--tls-cert", __file__, "--tls-key", __file__], "not for this machine alone"),
        (["--bind", "192.0.2.1:80", "--tls-cert", __file__, "--tls-key", __file__], "not for this machine alone"),
        (["--bind", "192.0.2.1:80", "--url", "http://localhost:80", "--behind-proxy"], "not for this machine alone"),
        (["--url", "https://broker.example.org"], "not for this machine alone"),
        (["--behind-proxy"], "--open needs --url"),
        (["--workers", "2"], "one worker"),
    ],
)
def test_a_browser_gets_every_setup_on_this_machine_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], words: str
) -> None:
    as_new(monkeypatch)
    for name in [name for name in os.environ if name.startswith(("PG", "BROKER_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BROKER_HOME", str(tmp_path / "home"))
    done = invoke(["serve", "--open", *arguments])
    assert done.exit_code == 1 and words in done.stderr, done.stderr
    assert not (tmp_path / "home").exists()  # no server was started for it


def shown_to(browser: httpx.Client, file: Path) -> httpx.Response:
    """Log a browser in by the file that `--open` shows, as a person does with one button."""
    found = re.search(r'value="([0-9a-f]{64})"', file.read_text())
    assert found
    asked = browser.post("/login/ticket", data={"ticket": found[1]}, headers={"Sec-Fetch-Site": "cross-site"})
    csrf = re.search(r'name="csrf" value="([^"]+)"', asked.text)
    assert csrf, asked.text
    return browser.post("/login/ticket", data={"ticket": found[1], "csrf": csrf[1]})


@pytest.mark.thorough
def test_a_browser_without_a_setup_gets_all_of_them_and_the_loops_run(serve: Serve, home: Path, tmp_path: Path) -> None:
    program = serve("--open", BROKER_HOME=str(home), XDG_RUNTIME_DIR=str(tmp_path), DISPLAY="", WAYLAND_DISPLAY="")
    assert any("the loops of broker run run inside" in line for line in program.lines)
    assert program.process.stderr
    noted = next(line for line in program.process.stderr if "open file://" in line)
    file = Path(noted.split("file://")[1].split()[0])
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    with httpx.Client(base_url=program.url) as browser:
        assert shown_to(browser, file).status_code == 303
        assert browser.get("/").headers["Location"] == "/setups/default"  # the only one
        jobs = {"requirements": {"OwnerDN": "/CN=a", "OwnerGroup": "users", "CPUTime": 600}, "jobs": [[1], [2], [3]]}
        subprocess.run([*PROGRAM, "submit", "-", "--setup", "later"], env=program.environment, input=json.dumps(jobs),
                       text=True, check=True)  # fmt: skip
        for _ in range(200):  # the loop summarize counts
            page = browser.get("/")
            if "never counted" not in page.text and page.status_code == 200:
                break
            time.sleep(0.1)
        row = next(line for line in re.split("<tr ", page.text) if "later" in line)
        assert '<a href="/setups/later">' in row and 'data-label="Waiting">3<' in row, row
        assert browser.get("/setups/later").status_code == 200
        assert browser.get("/setups/nowhere").status_code == 403
    leads = json.loads(program.run("loops", "--json"))
    assert {row["state"] for row in leads} <= {"well", "slow"} and len(leads) == 11
    with httpx.Client(base_url=program.url) as other:
        assert shown_to(other, file).status_code == 401  # it was used
    assert program.stop() == 0
    assert {row["state"] for row in json.loads(program.run("loops", "--json"))} == {"stopped"}


def test_a_program_of_another_user_at_the_port_gets_no_ticket(home: Path, tmp_path: Path) -> None:
    """The ticket is made once the service has the port, so a browser is never sent to somebody else."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
        more = {"BROKER_HOME": str(home), "XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
        done = subprocess.run(
            [*PROGRAM, "serve", "--open", "--bind", f"127.0.0.1:{port}"], env=kept | more, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 1 and "address already in use" in done.stderr.lower(), done.stderr
        assert "hint:  name another address: --bind HOST:PORT" in done.stderr
        assert "open file://" not in done.stderr
        query = "select count(*) from resource.login_ticket"
        counted = subprocess.run([*PROGRAM, "psql", "-Atc", query], env=kept | more, capture_output=True, text=True,
                                 check=True)  # fmt: skip
        assert counted.stdout == "0\n"


def test_a_closed_terminal_ends_all_workers(serve: Serve, service_dsn: str) -> None:
    """The terminal sends SIGHUP to the program and its workers."""
    program = serve("--workers", "2", BROKER_DSN=service_dsn)
    pids: set[str] = set()
    live = ""
    while len(pids) < 2 or "live" not in live:
        time.sleep(0.1)
        with suppress(httpx.TransportError):
            live = httpx.get(program.url + "/healthz/live").text
        children = Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children").read_text().split()
        pids = {pid for pid in children if b"spawn_main" in Path("/proc", pid, "cmdline").read_bytes()}
    time.sleep(1)  # the second worker starts
    for pid in pids:
        os.kill(int(pid), signal.SIGHUP)
    assert program.stop(signal.SIGHUP) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(program.url + "/healthz/live")


@pytest.mark.thorough
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP], ids=["stopped", "terminal closed"])
def test_serve_opens_a_browser_that_is_logged_in(serve: Serve, home: Path, tmp_path: Path, end: signal.Signals) -> None:
    """The browser is a program that copies the file that it should show. The end removes the file."""
    shown = tmp_path / "shown.html"
    copy = tmp_path / "browser"
    copy.write_text(f'#!/bin/sh\nstat -c %a "${{1#file://}}" > {tmp_path}/mode\ncp "${{1#file://}}" {shown}.new\n'
                    f"echo \"$1\" > {tmp_path}/address; mv {shown}.new {shown}\n")  # fmt: skip
    copy.chmod(0o755)
    program = serve("--open", "--setup", "default", BROKER_HOME=str(home), BROWSER=f"{copy} %s",
                    XDG_RUNTIME_DIR=str(tmp_path))  # fmt: skip
    while not shown.exists():
        time.sleep(0.05)
    assert (tmp_path / "mode").read_text() == "600\n"
    text, address = shown.read_text(), (tmp_path / "address").read_text()
    found = re.search(r'value="([0-9a-f]{64})"', text)
    assert found and found[1] not in address
    assert f'action="{program.url}/login/ticket"' in text
    with httpx.Client(base_url=program.url) as browser:
        assert shown_to(browser, shown).status_code == 303
        who = browser.get("/session").json()
        assert who["setups"] == [{"setup": "default", "kind": "operator"}]
    assert program.stop(end) == 0
    assert found[1] not in "".join(program.lines)
    assert list(tmp_path.glob("pgbroker-open-*")) == []


def test_a_waiting_agent_is_answered_when_the_service_ends(serve: Serve, service_dsn: str, token: Token) -> None:
    program = serve(BROKER_DSN=service_dsn)
    answers: list[httpx.Response] = []
    asked = {**WANTED, "wait": 60}
    agent = token("agent")
    headers = bearer(agent)
    with httpx.Client(timeout=70) as client:
        waits = threading.Thread(
            target=lambda: answers.append(client.post(program.url + BASE + "/match", json=asked, headers=headers))
        )
        waits.start()
        figures = httpx.get(program.url + "/metrics").text
        while "pgbroker_agents_waiting 1.0" not in figures:
            time.sleep(0.05)
            figures = httpx.get(program.url + "/metrics").text
        began = time.monotonic()
        assert program.stop() == 0
        assert time.monotonic() - began < 10  # requests under way would get twenty seconds
        waits.join()
    assert answers[0].status_code == 204
