"""Pages for people: HTML that the service renders, with one style sheet and one script of its own."""

from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import Response

from broker.service.pages import tables, words
from broker.service.problems import Problem
from broker.visible import visible
from broker.words import SITES

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_OF_URLS = ":/%#?=@[]!$&'()*+,;"  # with a meaning in a URL; any other character of a name is quoted in a head
THEMES = ("light", "dark")
THEME_COOKIE = "pgbroker_theme"
HEADERS = {
    "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip
"""Headers of every answer about sessions: no other site learns the address of a login."""


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("broker.service.pages"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(words.FILTERS | tables.FILTERS)
    made.globals["SITES"] = SITES
    return made


def _visible(value: Any) -> Any:
    """A value of a template. A text, which may be a name that anybody chose, acts on no reader."""
    return visible(value, "\n\r\t") if type(value) is str else value


def page(
    name: str, *, status: int = 200, headers: dict[str, str] | None = None, theme: str = "", **values: Any
) -> Response:
    """A page made from a template. theme: light or dark; empty: as the system of the browser."""
    text = _environment().get_template(f"{name}.html").render(theme=theme, **values)
    every = {**HEADERS, "Content-Security-Policy": _POLICY, "X-Frame-Options": "DENY", **(headers or {})}
    return Response(text, status, every, "text/html; charset=utf-8")


def theme_of(request: Request) -> str:
    """The theme that the browser chose; empty: that of its system."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else ""


def redirect(where: str) -> Response:
    """Redirect a browser to another address, with GET."""
    return Response(status_code=303, headers={**HEADERS, "Location": quote(where, safe=_OF_URLS)})


def refusal(problem: Problem) -> Response:
    """A refusal for people."""
    headers = {name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"}
    title, number = HTTPStatus(problem.status).phrase, problem.more.get("id")
    return page(
        "problem", status=problem.status, headers=headers, title=title, detail=problem.detail, hint=problem.hint,
        number=number,
    )  # fmt: skip
