"""Notifications to a webhook and a mail command, with a server and commands that really run."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from broker.operate import notify
from tests.calls import Calls, Connection

WAITING = "{value} jobs wait: too many"


class Hook(HTTPServer):
    """A webhook that keeps what it gets, and answers with a status."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.got: list[tuple[dict[str, str], Any]] = []

    @property
    def url(self) -> str:
        """The URL of the webhook."""
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append((dict(self.headers), body))
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", self.server.url)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A webhook on a free port."""
    server = Hook()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """A setup in which an alert fires."""
    q = Calls(rolled_back)
    rule = {"figure": "jobs_waiting", "by_label": "owner_group", "above": 1, "summary": WAITING, "severity": "critical"}
    q.connection.execute("select resource.set_identity(%s, 'broker_agent')", [q.setup])
    q.connection.execute("select alert.set_rule(%s, 'many_wait', %s)", [q.setup, json.dumps(rule)])
    for (name,) in q.rows("select rule from alert.shipped_rule"):
        q.connection.execute("select alert.set_rule(%s, %s, '{\"enabled\": false}')", [q.setup, name])
    for job in (1, 2):
        q.insert(job, OwnerGroup="users")
    q.call("summarize_waiting")
    q.value("select history.sample(%s)", q.setup)
    q.value("select alert.judge(%s)", q.setup)
    return q


def target(q: Calls, **columns: Any) -> None:
    q.connection.execute("select alert.set_target(%s, 'chat', %s)", [q.setup, json.dumps(columns)])
    q.value("select alert.judge(%s)", q.setup)


def outcome(q: Calls) -> tuple[bool, str | None]:
    [row] = q.rows("select sent_at is not null, error from alert.sent")
    return row[0], row[1]


@pytest.mark.slow
def test_a_webhook_gets_what_alertmanager_would_send(q: Calls, hook: Hook) -> None:
    target(q, kind="webhook", address=hook.url, header="Bearer secret")
    assert notify.send(q.connection, q.setup) == {}
    [(headers, body)] = hook.got
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Content-Type"] == "application/json"
    assert (body["version"], body["status"], body["receiver"]) == ("4", "firing", "chat")
    [alert] = body["alerts"]
    assert alert["labels"] == {
        "alertname": "many_wait", "setup": q.setup, "severity": "critical", "owner_group": "users",
    }  # fmt: skip
    assert alert["annotations"] == {"summary": "2 jobs wait: too many", "value": "2"}
    assert alert["endsAt"] is None
    assert outcome(q) == (True, None)
    assert notify.send(q.connection, q.setup) == {}
    assert len(hook.got) == 1


@pytest.mark.slow
def test_a_test_notification_is_sent_alone(q: Calls, hook: Hook) -> None:
    """Other notifications stay due, for the same target and for others."""
    target(q, kind="webhook", address=hook.url)
    q.connection.execute(
        "select alert.set_target(%s, 'mails', %s)", [q.setup, '{"kind": "mail", "address": "a@x.org"}']
    )
    q.value("select alert.judge(%s)", q.setup)
    number = q.value("select alert.test_target(%s, 'chat')", q.setup)
    assert notify.send(q.connection, q.setup, number) == {}
    [(_, body)] = hook.got
    assert [one["labels"]["alertname"] for one in body["alerts"]] == ["test"]
    assert q.rows("select target, state, attempts, sent_at is not null from alert.sent order by target, state") == [
        ("chat", "firing", 0, False), ("chat", "test", 1, True), ("mails", "firing", 0, False),
    ]  # fmt: skip
    assert notify.send(q.connection, q.setup, number) == {}, "it was sent"
    assert len(hook.got) == 1


@pytest.mark.slow
@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_webhook_that_refuses_is_tried_again(q: Calls, hook: Hook, status: int) -> None:
    hook.status = status
    target(q, kind="webhook", address=hook.url, header="Bearer secret")
    errors = notify.send(q.connection, q.setup)
    assert str(status) in errors["chat"]
    assert len(hook.got) == 1, "a redirection is not followed"
    assert outcome(q) == (False, errors["chat"])
    hook.status = 200
    q.connection.execute("update alert.notification set next_at = now()")
    assert notify.send(q.connection, q.setup) == {}
    assert outcome(q) == (True, None)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/hook", "http://[::1/hook", "http://127.0.0.1:99999/hook"])
def test_an_unreachable_webhook_is_an_error_of_its_target(q: Calls, address: str) -> None:
    target(q, kind="webhook", address=address)
    assert "was not reached" in notify.send(q.connection, q.setup)["chat"]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Have mails sent by a program; returns the file in which the program stores its input."""

    def use(program: str) -> Path:
        script = tmp_path / "send mail.py"
        script.write_text(f"import sys\nletter = sys.stdin.buffer.read()\n{program}")
        monkeypatch.setenv(notify.MAIL_COMMAND, f"{sys.executable} '{script}' {tmp_path / 'letter'}")
        return tmp_path / "letter"

    return use


def test_a_mail_is_given_to_the_command(
    q: Calls, command: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = command("open(sys.argv[1], 'wb').write(letter)")
    monkeypatch.setenv(notify.MAIL_FROM, "Grid <grid@example.org>")
    target(q, kind="mail", address="a@example.org, b@example.org")
    assert notify.send(q.connection, q.setup) == {}
    mail = message_from_bytes(letter.read_bytes(), policy=default)
    assert mail["To"] == "a@example.org, b@example.org"
    assert mail["From"] == "Grid <grid@example.org>"
    assert mail["Subject"] == f"[pgbroker {q.setup}] firing: 2 jobs wait: too many"
    assert "firing (critical): 2 jobs wait: too many" in mail.get_content()
    assert "rule many_wait, since " in mail.get_content()


def test_many_alerts_are_one_mail(q: Calls, command: Callable[[str], Path]) -> None:
    letter = command("open(sys.argv[1], 'ab').write(letter)")
    q.connection.execute(
        """insert into alert.alert (setup, rule, labels, severity, summary, value, since, fired_at)
           select %s, 'many_wait', jsonb_build_object('owner_group', g), 'info', 'group ' || g || e'\\nSubject: x', 1,
                  now(), now()
             from generate_series(1, 300) g""",
        [q.setup],
    )
    target(q, kind="mail", address="a@example.org")
    assert notify.send(q.connection, q.setup) == {}
    mail = message_from_bytes(letter.read_bytes(), policy=default)
    assert mail["Subject"].endswith(", and 300 more")
    assert "... and 101 more" in mail.get_content()
    assert q.value("select count(*) from alert.sent where sent_at is not null") == 301


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("sys.exit('no such\\n user')", "ended with 1: no such user"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended with -9"),
        ("import time; time.sleep(60)", "timed out"),
    ],
)
def test_a_failing_mail_command_is_an_error_of_its_target(
    q: Calls, command: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, program: str, words: str
) -> None:
    monkeypatch.setattr(notify, "_MAIL_PATIENCE", 5.0)
    command(program)
    target(q, kind="mail", address="a@example.org")
    assert words in notify.send(q.connection, q.setup)["chat"]
    assert outcome(q)[0] is False


def test_a_missing_mail_command_is_an_error_of_its_target(q: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(notify.MAIL_COMMAND, "/nowhere/sendmail -t")
    target(q, kind="mail", address="a@example.org")
    assert "did not work" in notify.send(q.connection, q.setup)["chat"]
