"""Sending notifications of alerts: by a POST to a webhook, or by a mail that a command on this machine sends. The
database names the URL or the addresses; the command comes from the environment of the machine. A notification is sent
at least once: if it was not recorded as sent, it is due again.
"""

import inspect
import os
import re
import shlex
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.charset import QP, Charset
from email.header import Header
from email.message import Message
from email.utils import formataddr, getaddresses
from http.client import HTTPException, InvalidURL
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from broker import __version__
from broker.database import Connection
from broker.errors import BrokerError
from broker.exchange import exchange
from broker.json_text import json_text
from broker.visible import visible

Notification = Mapping[str, Any]

MAIL_COMMAND, MAIL_FROM = "BROKER_MAIL_COMMAND", "BROKER_MAIL_FROM"
_SENDMAIL = "/usr/sbin/sendmail -t -i"
_PATIENCE = 10.0  # seconds for a whole exchange with a webhook
_MAIL_PATIENCE = 30.0  # seconds for the command
_ROUND = 40.0  # seconds in which messages are sent beside each other; what is left then is tried again later
_LAST = 3.0  # seconds that messages under way have when the process is to end
_LANES = 4  # messages of a setup at the same time
_LINES = 200  # most alerts in a mail
_ADDRESS = re.compile(r"[\w.!#$%&'*+/^`{|}~=-]+(@[\w.-]+|@\[[\w.:]+\])?", re.ASCII)
# Newer releases of Python refuse lists with an address such as root@[127.0.0.1]; _ADDRESS is the check here.
_AS_READ: dict[str, Any] = {"strict": False} if "strict" in inspect.signature(getaddresses).parameters else {}


class NotSentError(BrokerError):
    """The reason why notifications were not sent."""


@dataclass(frozen=True, eq=False)
class Due:
    """The notifications that are due for a target."""

    setup: str
    target: str
    kind: str
    address: str
    header: str | None
    notifications: Sequence[Notification]

    def error(self) -> str | None:
        """Send the message; return the reason if that failed, whatever it was."""
        try:
            if self.kind == "webhook":
                post(self.address, self.header, self.setup, self.target, self.notifications)
            else:
                mail(self.address, self.setup, self.notifications)
        except NotSentError as problem:
            return str(problem)
        except Exception as problem:  # one address, or one label, must not stop the messages to others
            return f"the message could not be made: {type(problem).__name__}"
        return None


def send(connection: Connection, setup: str, only: int | None = None) -> dict[str, str]:
    """Send the due notifications, or only the one with this number, in one message for each target; return the errors
    by target."""
    errors = {}
    for message, error in deliver(take(connection, setup, only), Event()):
        note(connection, message, error)
        if error is not None:
            errors[message.target] = error
    return errors


def take(connection: Connection, setup: str, only: int | None = None) -> list[Due]:
    """The messages that are due in a setup, or only the notification with this number."""
    query = "select target, kind, address, header, notifications from alert.take_notifications(%s, %s)"
    return [Due(setup, *row) for row in connection.execute(query, [setup, only]).fetchall()]


def note(connection: Connection, message: Due, error: str | None) -> None:
    """Record that a message was sent, or the reason why it was not."""
    ids = [one["notification_id"] for one in message.notifications]
    connection.execute("select alert.note_sent(%s, %s, %s)", [message.setup, ids, error])


def deliver(messages: Sequence[Due], stopped: Event) -> Iterator[tuple[Due, str | None]]:
    """Send messages, and yield each with its error as soon as that is known.

    Each setup has its own threads, so a receiver that does not answer delays no other setup. No receiver makes this
    last longer than _ROUND, or _LAST after `stopped`: a thread that still waits for one is left to itself.
    """
    waiting: dict[str, SimpleQueue[Due]] = {}
    for message in messages:
        waiting.setdefault(message.setup, SimpleQueue()).put(message)
    ended: SimpleQueue[tuple[Due, str | None]] = SimpleQueue()
    until = time.monotonic() + _ROUND
    for queue in waiting.values():
        for _ in range(min(_LANES, queue.qsize())):
            Thread(target=_lane, args=(queue, ended, until, stopped), daemon=True).start()
    left = dict.fromkeys(messages)
    stops = False
    while left and time.monotonic() < until:
        if stopped.is_set() and not stops:
            stops, until = True, time.monotonic() + _LAST
        with suppress(Empty):
            message, error = ended.get(timeout=0.2)
            del left[message]
            yield message, error
    if not stops:
        for message in left:
            yield message, f"not sent within {_ROUND:g} s: targets of this setup answer too slowly"


def _lane(
    waiting: "SimpleQueue[Due]", ended: "SimpleQueue[tuple[Due, str | None]]", until: float, stopped: Event
) -> None:
    with suppress(Empty):
        while time.monotonic() < until and not stopped.is_set():
            message = waiting.get_nowait()
            ended.put((message, message.error()))


def post(url: str, header: str | None, setup: str, target: str, notifications: Sequence[Notification]) -> None:
    """POST notifications to a webhook, in the format of Prometheus' Alertmanager (version 4).

    Raises NotSentError, whose text has no word of the answer but the number of its status.
    """
    headers = {"Content-Type": "application/json", "User-Agent": f"pgbroker/{__version__}"}
    if header is not None:
        headers["Authorization"] = header
    body = json_text(message(setup, target, notifications)).encode()
    try:
        exchange(urllib.request.Request(url, body, headers, method="POST"), _PATIENCE, 0)
    except urllib.error.HTTPError as error:
        error.close()
        raise NotSentError(f"the webhook answered {error.code}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, HTTPException) and not isinstance(reason, InvalidURL):
            reason = "no answer of HTTP"
        raise NotSentError(f"the webhook was not reached: {reason or type(error).__name__}") from None


def message(setup: str, target: str, notifications: Sequence[Notification]) -> dict[str, Any]:
    """Build the body for a webhook."""
    alerts = [_alert(setup, one) for one in notifications]
    return {
        "version": "4", "receiver": target,
        "status": "firing" if any(alert["status"] == "firing" for alert in alerts) else "resolved", "groupKey": setup,
        "groupLabels": {"setup": setup}, "commonLabels": {"setup": setup}, "commonAnnotations": {},
        "truncatedAlerts": 0, "externalURL": "", "alerts": alerts,
    }  # fmt: skip


def _alert(setup: str, one: Notification) -> dict[str, Any]:
    test = one["state"] == "test"
    return {
        "status": "firing" if test else one["state"],
        "labels": {"alertname": one["rule"] or "test", "setup": setup, "severity": one["severity"] or "info"}
        | (one["labels"] or {}),
        "annotations": {"summary": _summary(one)} | ({} if test else {"value": str(one["value"])}),
        "startsAt": one["since"],
        "endsAt": one["ended_at"] if one["state"] == "resolved" else None,
        "fingerprint": str(one["notification_id"]),
    }


def _summary(one: Notification) -> str:
    return "a test of this target" if one["state"] == "test" else str(one["summary"])


def mail(addresses: str, setup: str, notifications: Sequence[Notification]) -> None:
    """Send one mail with notifications. Labels of alerts are words of agents and submitters: in a head or in the body
    they are shown, and never read as a line of their own or as an encoded word.

    Raises NotSentError.
    """
    first = notifications[0]
    more = f", and {len(notifications) - 1} more" if len(notifications) > 1 else ""
    subject = visible(f"[pgbroker {setup}] {first['state']}: {_summary(first)}{more}")[:200]
    lines = [
        visible(f"{one['state']} ({one['severity'] or 'info'}): {_summary(one)}")
        + (f"\n    rule {one['rule']}, since {one['since']}" if one["rule"] else "")
        + (f", ended {one['ended_at']}" if one["state"] == "resolved" else "")
        for one in notifications[:_LINES]
    ]
    if len(notifications) > _LINES:
        lines.append(f"... and {len(notifications) - _LINES} more: broker alerts lists them")
    readable = Charset("utf-8")
    readable.body_encoding = QP
    letter: Message[Any, Any] = Message()
    letter.set_payload("\n".join(lines) + "\n", readable)
    letter["From"] = _addresses(os.environ.get(MAIL_FROM) or "pgbroker")
    letter["To"] = _addresses(addresses)
    letter["Subject"] = Header(subject, "utf-8" if "=?" in subject else None)
    _hand_over(letter.as_bytes())


def _addresses(text: str) -> str:
    """The addresses of a head, each made from its parts. Raises NotSentError."""
    pairs = getaddresses([text], **_AS_READ) if text.isprintable() else []
    if not pairs or not all(_ADDRESS.fullmatch(address) for _, address in pairs):
        raise NotSentError(f"no address of mail: {visible(text)[:100]}")
    return ", ".join(formataddr((visible(name), address)) for name, address in pairs)


def _hand_over(letter: bytes) -> None:
    """Have the command send a mail; after the time the command ends with all that it started. Raises NotSentError."""
    try:
        command = shlex.split(os.environ.get(MAIL_COMMAND) or _SENDMAIL)
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            _, said = process.communicate(letter, _MAIL_PATIENCE)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NotSentError(f"{MAIL_COMMAND} did not work: {_one_line(str(error))}") from None
    if process.returncode:
        errors = _one_line(said.decode(errors="replace"))[:300]
        raise NotSentError(f"{MAIL_COMMAND} ended with {process.returncode}" + (f": {errors}" if errors else ""))


def _one_line(text: str) -> str:
    return " ".join(text.split())
