"""A browser that is logged in on this machine, by `broker serve --open` and `broker demo --open`. Its ticket can be
used once. The ticket is in a file that only its owner can read, and goes from there into the body of a request: never
into a URL, an argument of a program or a history.
"""

import os
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path

from broker import database
from broker.server import embedded

_TICKET = "select ticket from resource.make_ticket(%s, 'broker serve', 'operator')"
_FIRST = "select resource.require_setup('default') where not exists (select from resource.setup)"
_EVERYWHERE = "select ticket from resource.new_ticket(null, 'broker serve', 'operator')"
_LASTS = 60  # seconds for which a ticket can be used
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
<script>document.forms[0].submit()</script>
</html>
"""


def open_browser(url: str, setup: str | None, tell: Callable[[str], None]) -> None:
    """Open a browser for an operator of the setup, or of every setup if it is None, without waiting for it. The service
    listens at the URL already: otherwise another user's program could listen there, and get the ticket.

    tell: is called with the address of the file if this machine has no screen.
    """
    threading.Thread(target=_open, args=[url, setup, tell], daemon=True).start()


def _open(url: str, setup: str | None, tell: Callable[[str], None]) -> None:
    server = embedded.current()
    if server is None:
        return
    with database.connect(database.Target(server.dsn, "embedded")) as connection:
        if setup is None:
            connection.execute(_FIRST)  # of a new server, which would have nothing to show
        made = connection.execute(_EVERYWHERE) if setup is None else connection.execute(_TICKET, [setup])
        [(ticket,)] = made.fetchall()
    with tempfile.TemporaryDirectory(prefix="pgbroker-open-", dir=os.environ.get("XDG_RUNTIME_DIR")) as folder:
        file = Path(folder, "open.html")
        file.touch(mode=0o600)
        file.write_text(_PAGE.format(url=escape(url), ticket=ticket), encoding="utf-8")
        if not (has_screen() and webbrowser.open(file.as_uri())):
            tell(file.as_uri())
        time.sleep(_LASTS)


def has_screen() -> bool:
    """Whether a browser has a window: a browser in the terminal would take the terminal from the service."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
