"""A service with a provider for people, and a browser."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from broker.service.settings import Login, Settings
from tests.service.conftest import SETUP, WANTED, Db, Running, Start, free_port
from tests.service.issuer import CLIENT, SECRET, Issuer

FORM = re.compile(r'<form method="post" action="([^"]*)">(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')
REFRESH = re.compile(r'<meta http-equiv="refresh" content="0; url=([^"]*)">')

Browsers = Callable[[], "Browser"]
Ticket = Callable[[], str]


def forms(answer: httpx.Response) -> dict[str, dict[str, str]]:
    """The forms of a page: where each goes, and its fields."""
    return {
        unescape(action): {name: unescape(value) for name, value in FIELD.findall(body)}
        for action, body in FORM.findall(answer.text)
    }


class Browser:
    """A browser of a person: it keeps cookies, and follows redirects only if a test asks for it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = httpx.Client(base_url=url, timeout=30)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(path, **more)

    def post(self, path: str, fields: dict[str, str], **more: Any) -> httpx.Response:
        return self.client.post(path, data=fields, **more)

    def to_provider(self, path: str = "/") -> str:
        """Press the button of the login page: the address at the provider."""
        page = self.get("/login", params={"to": path})
        left = self.post("/login", forms(page)["/login"])
        assert left.status_code == 200, left.text
        return unescape(REFRESH.findall(left.text)[0])

    def at_provider(self, address: str) -> str:
        """The person confirms at the provider: the path of the address back to the service."""
        sent = self.client.get(address)
        assert sent.status_code == 302
        back = urlsplit(sent.headers["Location"])
        assert f"{back.scheme}://{back.netloc}" == self.url
        return f"{back.path}?{back.query}"

    def log_in(self, path: str = "/") -> httpx.Response:
        """Both steps."""
        return self.get(self.at_provider(self.to_provider(path)))

    def session(self) -> Any:
        """The person who is logged in, or None."""
        answer = self.get("/session")
        assert answer.status_code in (200, 401)
        return answer.json() if answer.status_code == 200 else None

    @property
    def cookie(self) -> str:
        """The cookie of the session."""
        [found] = [one.value for one in self.client.cookies.jar if not one.name.endswith("-visit")]
        assert found is not None
        return found

    def match(self, setup: str = SETUP, csrf: str | None = None, **headers: str) -> httpx.Response:
        """A call that changes something."""
        more = {"X-CSRF-Token": self.session()["csrf"] if csrf is None else csrf} if csrf != "" else {}
        return self.client.post(f"/api/v1/setups/{setup}/match", json=WANTED, headers={**more, **headers})


@pytest.fixture
def people(settings: Settings, start: Start, issuer: Issuer) -> Start:
    """A function that starts a service for people to log in to, at its own address."""

    def begin(**more: Any) -> Running:
        login = Login(issuer=issuer.url, client_id=CLIENT, client_secret=SECRET)
        return start(url=f"http://127.0.0.1:{free_port()}", login=login, **more)

    return begin


@pytest.fixture
def browser(people: Start) -> Iterator[Browsers]:
    """A function that makes a browser for one service, with its own cookies."""
    made: list[Browser] = []
    running: list[Running] = []

    def make() -> Browser:
        if not running:
            running.append(people())
        made.append(Browser(running[0].url))
        return made[-1]

    yield make
    for one in made:
        one.client.close()


@pytest.fixture
def ticket(db: Db) -> Ticket:
    """A function that makes a ticket of an operator."""

    def make() -> str:
        query = "select ticket from resource.make_ticket(%s, 'broker serve', 'operator')"
        [(made,)] = db.execute(query, [SETUP]).fetchall()
        return str(made)

    return make
