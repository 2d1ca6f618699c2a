"""A person logs in with the provider: the whole way, and every way that is refused."""

import asyncio
import logging
import re
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import ECKey

from broker.service.login import attempts
from tests.service.conftest import BASE, Credential, Db, Start
from tests.service.issuer import CLIENT, Issuer, signed, unsigned
from tests.service.sessions.conftest import Browser, Browsers, Ticket, forms

pytestmark = pytest.mark.own_database
NOW = int(time.time())


@pytest.fixture
def viewer(issuer: Issuer, credential: Credential) -> None:
    """Everybody known to the provider is a viewer."""
    credential("viewer", issuer)


def sessions(db: Db) -> int:
    [(number,)] = db.execute("select count(*) from resource.browser_session").fetchall()
    return int(number)


def test_a_person_logs_in_calls_and_logs_out(browser: Browsers, issuer: Issuer, credential: Credential) -> None:
    credential("operator", issuer, "alice")
    one = browser()
    assert "You are not logged in" in one.get("/").text
    assert one.session() is None
    back = one.log_in("/session")
    assert (back.status_code, back.headers["Location"]) == (303, "/session")
    who = one.session()
    assert (who["subject"], who["setups"]) == (f"{issuer.url} alice", [{"setup": "default", "kind": "operator"}])
    assert f"{issuer.url} alice" in one.get("/login").text
    assert one.get("/").headers["Location"] == "/setups/default"  # the only one
    assert one.get("/setups/default").status_code == 200
    assert one.get(BASE + "/jobs/5").status_code == 404
    assert one.match().status_code == 204
    left = one.post("/logout", forms(one.get("/login"))["/logout"])
    assert (left.status_code, left.headers["Location"]) == (303, "/login")
    assert one.session() is None
    assert one.get(BASE + "/jobs/5").status_code == 401


def test_the_cookie_is_closed_to_scripts_and_the_answers_are_not_kept(browser: Browsers, viewer: None) -> None:
    one = browser()
    page = one.get("/login")
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert re.findall("<script.*", page.text) == ['<script src="/pages/app.js" defer></script>']
    assert "style=" not in page.text and "<style" not in page.text
    back = one.log_in()
    port = urlsplit(one.url).port
    for cookie in (page.headers["Set-Cookie"], back.headers.get_list("Set-Cookie")[0]):
        assert cookie.startswith(f"pgbroker-{port}")
        assert "; Path=/; HttpOnly; SameSite=Lax" in cookie and "Secure" not in cookie
    for answer in (page, back, one.get("/session"), one.get("/login/callback")):
        policy = answer.headers.get("Referrer-Policy", "no-referrer")
        assert (answer.headers["Cache-Control"], policy) == ("no-store", "no-referrer")
    assert one.get("/pages/style.css").headers["Content-Type"].startswith("text/css")


def test_the_cookie_behind_tls_is_bound_to_this_host(start: Start, ticket: Ticket) -> None:
    running = start(url="https://broker.example.org")
    with httpx.Client(base_url=running.url) as client:
        page = client.post("/login/ticket", data={"ticket": ticket()})
        name, value = page.headers["Set-Cookie"].partition(";")[0].split("=")
        assert name == "__Host-pgbroker-visit"
        fields = forms(page)["/login/ticket"]
        done = client.post("/login/ticket", data=fields, headers={"Cookie": f"{name}={value}"})
        cookie = done.headers.get_list("Set-Cookie")[0]
        assert cookie.startswith("__Host-pgbroker=") and "; Path=/; HttpOnly; SameSite=Lax; Secure; " in cookie


def test_a_person_without_a_credential_gets_no_session(
    browser: Browsers, issuer: Issuer, credential: Credential, db: Db
) -> None:
    credential("viewer", issuer, "bob")
    refused = browser().log_in()
    assert refused.status_code == 403
    assert "no credential fits the login of" in refused.text and "alice" in refused.text
    assert sessions(db) == 0


def test_a_credential_that_is_cleared_counts_at_once(
    browser: Browsers, issuer: Issuer, credential: Credential, db: Db
) -> None:
    credential("operator", issuer, "alice")
    one = browser()
    one.log_in()
    assert one.match().status_code == 204
    assert one.match("other").status_code == 403  # its role holds for one setup
    db.execute("select from resource.clear_credential('default', 'operator alice')")
    assert one.match().status_code == 403
    assert one.session()["setups"] == []
    credential("viewer", issuer, "alice")
    assert one.match().status_code == 403
    assert one.get(BASE + "/jobs/5").status_code == 404


@pytest.mark.parametrize("how", ["revoked", "ended"])
def test_a_session_that_is_over_is_refused(browser: Browsers, issuer: Issuer, viewer: None, db: Db, how: str) -> None:
    one = browser()
    one.log_in()
    csrf = one.session()["csrf"]
    if how == "revoked":
        db.execute("select resource.revoke_sessions('default', %s)", [f"{issuer.url} alice"])
    else:
        db.execute("update resource.browser_session set expires_at = now()")
    assert one.session() is None
    assert one.get(BASE + "/jobs/5").status_code == one.match(csrf=csrf).status_code == 401
    assert "You are not logged in" in one.get("/login").text


def test_a_login_is_bound_to_one_browser_one_use_and_ten_minutes(
    browser: Browsers, viewer: None, db: Db, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = browser(), browser()
    back = mine.at_provider(mine.to_provider())
    assert other.get(back).status_code == 403  # this browser began no visit
    other.get("/login")
    assert other.get(back).status_code == 403
    path, _, query = back.partition("?")
    given = {name: value for name, [value] in parse_qs(query).items()}
    time_, random, rest = given["state"].split(".", 2)
    for state in ("", "x", given["state"][:-1], f"{int(time_) + 1}.{random}.{rest}", "." * 9, "1.a.a.é"):
        assert mine.get(path, params={**given, "state": state}).status_code == 403, state
    assert mine.get(path, params={**given, "iss": "https://else"}).status_code == 403
    assert mine.get(path, params={**given, "code": ""}).status_code == 422
    assert issuer.exchanges == []
    with monkeypatch.context() as later:
        later.setattr(attempts, "LASTS", -1)
        assert "has taken more than" in mine.get(back).text
    visit = {**mine.client.cookies}
    assert mine.client.head(back).status_code == 405
    assert mine.get(back).status_code == 303
    assert mine.get(back).status_code == 403  # the visit is over
    mine.client.cookies.update(visit)
    assert mine.get(back).status_code == 401  # the provider has forgotten the code
    assert sessions(db) == 1


def test_two_concurrent_callbacks_of_a_login_open_one_session(
    browser: Browsers, viewer: None, db: Db, issuer: Issuer
) -> None:
    """One session is opened even if the provider lets a code be used twice."""
    issuer.forget_codes = False
    one = browser()
    back = one.at_provider(one.to_provider())

    async def twice() -> list[int]:
        async with httpx.AsyncClient(base_url=one.url, cookies=one.client.cookies, timeout=30) as client:
            return [answer.status_code for answer in await asyncio.gather(*(client.get(back) for _ in range(4)))]

    assert sorted(asyncio.run(twice())) == [303, 401, 401, 401]
    assert sessions(db) == 1


@pytest.mark.parametrize(
    ("word", "shown"), [("access_denied", "access_denied"), ("<b>x</b>", "unknown"), ("x" * 99, "unknown")]
)
def test_the_reason_of_a_refusal_by_the_provider_is_shown_safely(
    browser: Browsers, viewer: None, issuer: Issuer, word: str, shown: str
) -> None:
    one = browser()
    state = parse_qs(urlsplit(one.to_provider()).query)["state"][0]
    refused = one.get("/login/callback", params={"error": word, "error_description": "<script>", "state": state})
    assert (refused.status_code, f"({shown})" in refused.text, "<script>" in refused.text) == (403, True, False)
    assert issuer.exchanges == []


TOKENS: dict[str, dict[str, Any]] = {
    "another audience": {"aud": "somebody else"}, "no audience": {"aud": None},
    "another party": {"azp": "somebody else"}, "two audiences and no party": {"aud": [CLIENT, "x"]},
    "expired": {"exp": NOW - 3600}, "another login": {"nonce": "another"}, "no nonce": {"nonce": None},
    "another issuer": {"iss": "https://else.example"}, "no text as subject": {"sub": 7},
}  # fmt: skip


@pytest.mark.parametrize("how", list(TOKENS))
def test_a_wrong_id_token_opens_nothing(browser: Browsers, viewer: None, issuer: Issuer, db: Db, how: str) -> None:
    one = browser()
    issuer.person = {"sub": "alice", "aud": [CLIENT, "x"], "azp": CLIENT}
    assert one.log_in().status_code == 303
    issuer.person = {"sub": "alice", **TOKENS[how]}
    refused = browser().log_in()
    assert refused.status_code == (403 if how == "no text as subject" else 401), refused.text
    assert sessions(db) == 1


@pytest.mark.usefixtures("viewer")
@pytest.mark.parametrize("how", ["unsigned", "another key", "no token", "no JSON"])
def test_a_token_that_the_provider_did_not_sign_opens_nothing(
    browser: Browsers, issuer: Issuer, monkeypatch: pytest.MonkeyPatch, db: Db, how: str
) -> None:
    def made(person: dict[str, Any]) -> str:
        claims = issuer.claims(person.pop("sub"), **person)
        if how == "unsigned":
            return unsigned(claims)
        return signed(claims, ECKey.generate_key("P-256"), "ES256", "k1") if how == "another key" else "nothing"

    monkeypatch.setattr(issuer, "id_token", made)
    if how == "no JSON":
        issuer.answer = 200, b"<html>"
    assert browser().log_in().status_code == (503 if how == "no JSON" else 401)
    assert sessions(db) == 0


def test_a_login_while_the_provider_is_away_may_be_repeated(people: Start, viewer: None, issuer: Issuer) -> None:
    one = Browser(people().url)
    back = one.at_provider(one.to_provider())
    issuer.answer = 502, b""
    away = one.get(back)
    assert (away.status_code, away.headers["Retry-After"]) == (503, "30")
    assert "does not answer" in away.text
    issuer.answer = 302, b""
    assert one.get(back).status_code == 503
    issuer.close()
    assert one.get(back).status_code == 503
    other = Browser(people().url)
    left = other.post("/login", forms(other.get("/login"))["/login"])
    assert (left.status_code, left.headers["Retry-After"]) == (503, "30")


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "/\\evil.example", "https://evil.example", "\\\\evil", "/\t/evil", "/a\nb", "", "a", "/é"],
)
def test_a_login_never_redirects_to_another_site(browser: Browsers, viewer: None, path: str) -> None:
    one = browser()
    page = one.get("/login", params={"to": path})
    assert forms(page)["/login"]["to"] == "/"
    assert one.post("/login", {**forms(page)["/login"], "to": path}).status_code == 422
    state = attempts.begin("v" * 43, "/").state
    assert attempts._path(state.split(".")[2]) == "/"


def test_no_log_has_a_code_a_cookie_or_a_token(
    browser: Browsers, viewer: None, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    one = browser()
    address = one.to_provider()
    back = one.at_provider(address)
    visit = next(iter(one.client.cookies.values()))
    issuer.answer = 500, b"the code is wrong"
    assert one.get(back).status_code == 503
    issuer.answer = None
    assert one.get(back).status_code == 303
    assert one.match(csrf="wrong").status_code == 403
    asked = {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}
    secrets_ = [visit, one.cookie, one.session()["csrf"], asked["state"], asked["nonce"], "code 0", "code+0"]
    lines = [line.getMessage() for line in caplog.records if line.name.startswith(("broker", "uvicorn", "psycopg"))]
    assert any("cannot log in with" in line for line in lines)
    assert [word for word in secrets_ if any(word in line for line in lines)] == []
