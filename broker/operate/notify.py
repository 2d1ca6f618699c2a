"""Sending notifications of alerts: by a POST to a webhook, or by a mail that a command on this machine sends. The
database names the URL or the addresses; the command comes from the environment of the machine. A notification is sent
at least once: if it was not recorded as sent, it is due again.
"""

import os
import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from http.client import HTTPException
from typing import Any

from broker import __version__
from broker.database import Connection
from broker.errors import BrokerError
from broker.json_text import json_text

Notification = Mapping[str, Any]

MAIL_COMMAND, MAIL_FROM = "BROKER_MAIL_COMMAND", "BROKER_MAIL_FROM"
_SENDMAIL = "/usr/sbin/sendmail -t -i"
_PATIENCE = 10.0  # seconds for an answer of a webhook
_MAIL_PATIENCE = 30.0  # seconds for the command
_LINES = 200  # most alerts in a mail


class NotSentError(BrokerError):
    """The reason why notifications were not sent."""


def send(connection: Connection, setup: str, only: int | None = None) -> dict[str, str]:
    """Send the due notifications, or only the one with this number, in one message for each target; return the errors
    by target."""
    errors = {}
    query = "select target, kind, address, header, notifications from alert.take_notifications(%s, %s)"
    for target, kind, address, header, notifications in connection.execute(query, [setup, only]).fetchall():
        error = None
        try:
            if kind == "webhook":
                post(address, header, setup, target, notifications)
            else:
                mail(address, setup, notifications)
        except NotSentError as problem:
            error = errors[target] = str(problem)
        ids = [one["notification_id"] for one in notifications]
        connection.execute("select alert.note_sent(%s, %s, %s)", [setup, ids, error])
    return errors


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirection by a webhook is refused: the header is meant for the first address only."""

    def redirect_request(self, *_: object) -> None:
        return None


def post(url: str, header: str | None, setup: str, target: str, notifications: Sequence[Notification]) -> None:
    """POST notifications to a webhook, in the format of Prometheus' Alertmanager (version 4).

    Raises NotSentError.
    """
    headers = {"Content-Type": "application/json", "User-Agent": f"pgbroker/{__version__}"}
    if header is not None:
        headers["Authorization"] = header
    body = json_text(message(setup, target, notifications)).encode()
    try:
        request = urllib.request.Request(url, body, headers, method="POST")
        with urllib.request.build_opener(_NoRedirect()).open(request, timeout=_PATIENCE):
            pass
    except urllib.error.HTTPError as error:
        raise NotSentError(f"the webhook answered {error.code} {error.reason}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
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
    """Send one mail with notifications. Raises NotSentError."""
    first = notifications[0]
    more = f", and {len(notifications) - 1} more" if len(notifications) > 1 else ""
    letter = EmailMessage()
    letter["From"] = os.environ.get(MAIL_FROM) or "pgbroker"
    letter["To"] = addresses
    letter["Subject"] = _one_line(f"[pgbroker {setup}] {first['state']}: {_summary(first)}{more}")[:200]
    lines = [
        f"{one['state']} ({one['severity'] or 'info'}): {_summary(one)}\n"
        + (f"    rule {one['rule']}, since {one['since']}" if one["rule"] else "")
        + (f", ended {one['ended_at']}" if one["state"] == "resolved" else "")
        for one in notifications[:_LINES]
    ]
    if len(notifications) > _LINES:
        lines.append(f"... and {len(notifications) - _LINES} more: broker alerts lists them")
    letter.set_content("\n".join(lines) + "\n")
    try:
        command = shlex.split(os.environ.get(MAIL_COMMAND) or _SENDMAIL)
        done = subprocess.run(
            command, input=letter.as_bytes(), capture_output=True, timeout=_MAIL_PATIENCE, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NotSentError(f"{MAIL_COMMAND} did not work: {_one_line(str(error))}") from None
    if done.returncode:
        errors = _one_line(done.stderr.decode(errors="replace"))[:300]
        raise NotSentError(f"{MAIL_COMMAND} ended with {done.returncode}" + (f": {errors}" if errors else ""))


def _one_line(text: str) -> str:
    return " ".join(text.split())
