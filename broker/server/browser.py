"""`broker serve --open`: a browser is logged in with a ticket that can be used once. The ticket is in a file that only
its owner can read, and goes from there into the body of a request: never into a URL, an argument of a program or a
history.
"""

import os
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from broker import database
from broker.server import embedded

_TICKET = "select ticket from resource.make_ticket(%s, %s, %s)"
_LASTS = 60  # seconds for which a ticket can be used
_STARTS = 60  # seconds in which the service has to start
_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Open pgbroker</title>
<form method="post" action="{url}/login/ticket">
<input type="hidden" name="ticket" value="{ticket}">
<p>pgbroker runs at {url}. This form is good for a minute, once.</p>
<button autofocus>Open pgbroker</button>
</form>
</html>
"""


def open_when_ready(url: str, setup: str, tell: Callable[[str], None]) -> None:
    """Open a browser for an operator of the setup once the service at the URL answers, without waiting for it.

    tell: is called with the address of the file if this machine has no screen.
    """
    threading.Thread(target=_open, args=[url, setup, tell], daemon=True).start()


def _open(url: str, setup: str, tell: Callable[[str], None]) -> None:
    server = embedded.current()
    if server is None or not _answers(url):
        return
    with database.connect(database.Target(server.dsn, "embedded")) as connection:
        ticket = _ticket(connection, setup)
    with tempfile.TemporaryDirectory(prefix="pgbroker-open-", dir=os.environ.get("XDG_RUNTIME_DIR")) as folder:
        file = Path(folder, "open.html")
        file.touch(mode=0o600)
        file.write_text(_PAGE.format(url=escape(url), ticket=ticket), encoding="utf-8")
        if not (_has_screen() and webbrowser.open(file.as_uri())):
            tell(file.as_uri())
        time.sleep(_LASTS)


def _ticket(connection: psycopg.Connection, setup: str) -> str:
    row = connection.execute(_TICKET, [setup, "broker serve", "operator"]).fetchone()
    assert row is not None
    return str(row[0])


def _has_screen() -> bool:
    """Whether a browser has a window: a browser in the terminal would take the terminal from the service."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def _answers(url: str) -> bool:
    """Whether the service listens at the URL before the time limit."""
    parts = urlsplit(url)
    place = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    until = time.monotonic() + _STARTS
    while time.monotonic() < until:
        try:
            socket.create_connection(place, 1).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False
