"""Notifications to a webhook and a mail command, with a server and commands that really run."""

import json
import os
import socket
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from broker.operate import notify
from broker.operate.loops import LOOPS, Round
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


def test_the_error_of_a_target_stays_until_a_message_gets_through(q: Calls, hook: Hook) -> None:
    """Rounds in which nothing is due say nothing about a target."""
    memory: dict[Any, Any] = {}
    target(q, kind="webhook", address="http://127.0.0.1:1/hook")
    [(key, text)] = a_round(q, memory).items()
    assert key == (q.setup, "target chat") and "was not reached" in text
    assert a_round(q, memory) == {key: text}
    target(q, address=hook.url)
    assert a_round(q, memory) == {key: text}, "it is not due yet"
    q.connection.execute("update alert.notification set next_at = now()")
    assert a_round(q, memory) == memory == {}


def test_the_error_of_a_removed_target_ends(q: Calls) -> None:
    memory: dict[Any, Any] = {(q.setup, "chat"): "was not reached"}
    assert a_round(q, memory) == memory == {}


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


@pytest.mark.slow
def test_a_mail_command_ends_with_all_that_it_started(
    command: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "_MAIL_PATIENCE", 2.0)
    started = command(
        "import os, time\nif child := os.fork(): open(sys.argv[1], 'w').write(str(child))\ntime.sleep(60)"
    )
    with pytest.raises(notify.NotSentError, match="timed out"):
        notify.mail("a@example.org", "s", [fired("x")])
    child = int(started.read_text() or 0)
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split(")")[1]:
            return
        time.sleep(0.1)
    os.kill(child, 9)
    raise AssertionError("it runs on")


def fired(summary: str) -> dict[str, Any]:
    """A notification as the database gives it."""
    about = {"severity": "critical", "rule": "many_wait", "labels": {}, "value": 2, "since": "2026-06-01T00:00:00Z"}
    return {"notification_id": 1, "state": "firing", "summary": summary, "ended_at": None, **about}


HEADS = b"site\nBcc: other@example.org\nX: y\n\nresolved (info): all is well"


@pytest.mark.parametrize(
    "name",
    [
        HEADS.decode(), HEADS.decode().replace("\n", "\r\n"), f"=?utf-8?b?{b64encode(HEADS).decode()}?=",
        "=?utf-8?q?a=0ABcc=3A?= =?utf-8?q?_other=40example=2Eorg=0A?=", "\x1b]0;title\x07\x9b2J\u202egnp\u200b",
        ".\n.\nFrom other", "\x0bBcc: a@b\x0c\x1c\x1d\x85Cc: a@b\u2028To: a@b\u2029", "\udc80",
    ],
)  # fmt: skip
def test_a_label_makes_no_head_and_no_line_of_a_mail(command: Callable[[str], Path], name: str) -> None:
    letter = command("open(sys.argv[1], 'wb').write(letter)")
    notify.mail("a@example.org, b@example.org", "s", [fired(f"jobs of {name} wait")])
    mail = message_from_bytes(letter.read_bytes(), policy=default)
    heads = {"From", "To", "Subject", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"}
    assert (set(mail.keys()), len(mail.keys()), mail.defects) == (heads, 6, [])
    assert mail["To"] == "a@example.org, b@example.org"
    shown = name if name.isprintable() else name.encode("unicode_escape").decode()
    assert mail["Subject"] == f"[pgbroker s] firing: jobs of {shown} wait"
    about = "    rule many_wait, since 2026-06-01T00:00:00Z"
    assert mail.get_content() == f"firing (critical): jobs of {shown} wait\n{about}\n"


@pytest.mark.parametrize("sender", ["Grid, the <grid@example.org>", "pgbroker"])
def test_the_addresses_of_a_mail_are_made_from_parts(
    command: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, sender: str
) -> None:
    monkeypatch.setenv(notify.MAIL_FROM, sender.replace("Grid, the", '"Grid, the"'))
    letter = command("open(sys.argv[1], 'wb').write(letter)")
    notify.mail("a=b@example.org,root@[127.0.0.1]", "s", [fired("x")])
    mail = message_from_bytes(letter.read_bytes(), policy=default)
    assert mail["To"] == "a=b@example.org, root@[127.0.0.1]"
    assert mail["From"] == sender.replace("Grid, the", '"Grid, the"')


@pytest.mark.parametrize("address", ["a@[", "a@b\nBcc: c@d", "=?utf-8?q?a=0ABcc=3A?=@b", "a@b\u202e", "a b@c", ""])
def test_a_text_that_is_no_address_is_an_error_of_its_target(address: str) -> None:
    with pytest.raises(notify.NotSentError, match="no address of mail"):
        notify.mail(address, "s", [fired("x")])


@pytest.fixture
def listen() -> Iterator[Callable[[bytes], str]]:
    """Starts a server that says something and hangs up, or, for nothing to say, is silent; returns its URL."""
    servers: list[socket.socket] = []

    def begin(line: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0), backlog=20)
        servers.append(server)

        def answer() -> None:
            connection = server.accept()[0]
            connection.recv(99999)
            connection.sendall(line)
            connection.close()

        if line:
            threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/"

    yield begin
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"SSH-2.0-Example_9 build-7\r\n", "the webhook was not reached: no answer of HTTP"),
        (b"-NOAUTH build-7\r\n", "the webhook was not reached: no answer of HTTP"),
        (b"HTTP/1.1 2oo build-7\r\n\r\n", "the webhook was not reached: no answer of HTTP"),
        (b"HTTP/1.1 403 build-7\r\nContent-Length: 0\r\n\r\n", "the webhook answered 403"),
        (b"HTTP/1.1 302 build-7\r\nLocation: http://build-7/\r\n\r\n", "the webhook answered 302"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: " + b"build-7" * 10_000 + b"\r\n\r\n",
         "the webhook was not reached: no answer of HTTP"),
    ],
)  # fmt: skip
def test_the_error_of_a_webhook_has_no_word_of_the_answer(
    q: Calls, listen: Callable[[bytes], str], line: bytes, error: str
) -> None:
    target(q, kind="webhook", address=listen(line))
    assert notify.send(q.connection, q.setup) == {"chat": error}


def due(setup: str, target: str, address: str) -> notify.Due:
    return notify.Due(setup, target, "webhook", address, None, [fired("x")])


def test_receivers_that_do_not_answer_delay_no_other_setup(
    hook: Hook, listen: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages left at the end of a round's time are errors, and a process that ends waits for nobody."""
    silent = listen(b"")
    hanging = [due("a", f"t{number}", silent) for number in range(9)]
    messages = [*hanging, due("z", "chat", hook.url)]
    answers = notify.deliver(messages, threading.Event())
    assert next(answers) == (messages[-1], None)
    monkeypatch.setattr(notify, "_PATIENCE", 0.5)
    errors = [error for _, error in notify.deliver(hanging[:2], threading.Event())]
    assert [error and error.partition(": ")[0] for error in errors] == ["the webhook was not reached"] * 2
    monkeypatch.setattr(notify, "_PATIENCE", 60.0)
    monkeypatch.setattr(notify, "_ROUND", 0.5)
    assert {error for _, error in notify.deliver(hanging, threading.Event())} == {
        "not sent within 0.5 s: targets of this setup answer too slowly"
    }
    monkeypatch.setattr(notify, "_ROUND", 60.0)
    monkeypatch.setattr(notify, "_LAST", 0.2)
    stopped = threading.Event()
    stopped.set()
    began = time.monotonic()
    assert list(notify.deliver(hanging, stopped)) == []
    assert time.monotonic() - began < 30


def test_one_bad_address_ends_no_round_and_is_an_error_of_its_target(
    q: Calls, command: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also an error that nobody expected, which a text that somebody chose may cause."""
    other = Calls(q.connection, "zebra")
    other.insert(1)
    letter = command("open(sys.argv[1], 'wb').write(letter)")
    for setup, address in ((q.setup, "a@["), ("zebra", "shifter@example.org")):
        q.connection.execute(
            "select alert.set_target(%s, 'mails', %s)", [setup, json.dumps({"kind": "mail", "address": address})]
        )
        q.connection.execute("select alert.test_target(%s, 'mails')", [setup])
    errors = a_round(q)
    assert errors == {(q.setup, "target mails"): "no address of mail: a@["}
    assert "shifter@example.org" in letter.read_text()
    errors_of = "select setup, error, sent_at is not null from alert.sent where state = 'test' order by setup"
    assert q.rows(errors_of) == [(q.setup, "no address of mail: a@[", False), ("zebra", None, True)]
    q.connection.execute("update alert.notification set next_at = now() where sent_at is null")

    def broken(*_: object) -> None:
        raise AttributeError("all_defects")

    monkeypatch.setattr(notify, "mail", broken)
    assert a_round(q) == {(q.setup, "target mails"): "the message could not be made: AttributeError"}


def a_round(q: Calls, memory: dict[Any, Any] | None = None) -> dict[tuple[str, str], str]:
    """One round of the loop notify; returns its errors by setup and step."""
    work = Round(q.connection, "notify", None, threading.Event(), lambda *_: None, {} if memory is None else memory)
    LOOPS["notify"].round(work)
    return work.errors
