"""Requests that another site can make a browser send are refused: calls with a cookie, logins, tickets and logouts."""

import asyncio

import httpx
import pytest

from tests.service.conftest import BASE, WANTED, Credential, Db, Start, Token, bearer
from tests.service.issuer import Issuer
from tests.service.sessions.conftest import Browser, Browsers, Ticket, forms

pytestmark = pytest.mark.own_database


@pytest.fixture
def operator(issuer: Issuer, credential: Credential) -> None:
    credential("operator", issuer)


def test_a_call_that_changes_something_shows_the_token_of_its_session(
    browser: Browsers, operator: None, issuer: Issuer
) -> None:
    one, other = browser(), browser()
    one.log_in()
    issuer.person = {"sub": "bob"}
    other.log_in()
    assert one.match().status_code == 204
    for csrf in ("", "wrong", other.session()["csrf"], one.cookie):
        refused = one.match(csrf=csrf)
        assert (refused.status_code, refused.json()["key"]) == (403, "X-CSRF-Token")
    assert one.get(BASE + "/jobs/5").status_code == 404
    assert one.client.head(BASE + "/jobs/5").status_code == 404
    for adapter in ("/server/panda/getJob", "/WorkloadManagement/Matcher", "/api/v1/pilot/acquire_jobs"):
        assert one.post(adapter, {"siteName": "x"}).status_code == 403, adapter


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 204), ("none", 204)]
)
def test_a_page_of_another_site_changes_nothing(browser: Browsers, operator: None, site: str, status: int) -> None:
    one = browser()
    one.log_in()
    assert one.match(**{"Sec-Fetch-Site": site}).status_code == status
    page = one.get("/login")
    for path, fields in forms(page).items():
        answer = one.post(path, fields, headers={"Sec-Fetch-Site": site})
        assert answer.status_code == (403 if status == 403 else 200 if path == "/login" else 303), path


def test_a_call_with_a_bearer_token_ignores_the_cookie(browser: Browsers, operator: None, token: Token) -> None:
    one = browser()
    one.log_in()
    agent = bearer(token("agent"))
    assert one.match(csrf="", **agent).status_code == 204
    assert one.match(csrf="", **agent, **{"Sec-Fetch-Site": "cross-site"}).status_code == 204
    assert one.get(BASE + "/jobs/5", headers=agent).status_code == 403  # as the agent, not as the operator
    assert one.match(**bearer("0" * 64)).status_code == 401


def test_a_cookie_is_no_bearer_token_and_must_be_sent_once(browser: Browsers, operator: None) -> None:
    one = browser()
    one.log_in()
    cookie, csrf = one.cookie, {"X-CSRF-Token": one.session()["csrf"]}
    [name] = [each.name for each in one.client.cookies.jar if each.value == cookie]
    with httpx.Client(base_url=one.url) as client:
        assert client.post(BASE + "/match", json=WANTED, headers=bearer(cookie)).status_code == 401
        sent = {**csrf, "Cookie": f"a=b; {name}={cookie}"}
        assert client.post(BASE + "/match", json=WANTED, headers=sent).status_code == 204
        for wrong in (f"{name}={cookie}; {name}={cookie}", f"{name}=", f'{name}="{cookie}"', f"__Host-{name}={cookie}"):
            sent = {**csrf, "Cookie": wrong}
            assert client.post(BASE + "/match", json=WANTED, headers=sent).status_code == 401, wrong


def test_login_and_logout_need_a_form_of_this_browser(browser: Browsers, operator: None, issuer: Issuer) -> None:
    one, other = browser(), browser()
    fields = forms(one.get("/login"))["/login"]
    assert other.post("/login", fields).status_code == 403
    theirs = forms(other.get("/login"))["/login"]
    assert one.post("/login", theirs).status_code == one.post("/login", {"to": "/"}).status_code == 403
    assert other.post("/login", theirs).status_code == 200
    one.log_in()
    for csrf in ("", "wrong", fields["csrf"]):
        assert one.post("/logout", {"csrf": csrf}).status_code == 403
    assert one.session() is not None
    assert one.post("/logout", {}, headers={"X-CSRF-Token": one.session()["csrf"]}).status_code in (303, 415)


def test_a_page_asks_for_confirmation_before_a_ticket_logs_in(browser: Browsers, ticket: Ticket, db: Db) -> None:
    """To a browser, the file of `broker serve --open` is another site, like any page that has stolen a ticket."""
    one, other, given = browser(), browser(), ticket()
    asked = one.post("/login/ticket", {"ticket": given}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (asked.status_code, one.session()) == (200, None)
    fields = forms(asked)["/login/ticket"]
    assert other.post("/login/ticket", fields).status_code == 403
    assert one.post("/login/ticket", fields, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    done = one.post("/login/ticket", fields, headers={"Sec-Fetch-Site": "same-origin"})
    assert (done.status_code, done.headers["Location"]) == (303, "/")
    assert one.session()["setups"] == [{"setup": "default", "kind": "operator"}]
    assert one.match().status_code == 204
    assert one.match("other").status_code == 403
    again = forms(other.post("/login/ticket", {"ticket": given}))["/login/ticket"]
    assert other.post("/login/ticket", again).status_code == 401
    for wrong in ("", "x", "0" * 65, '"><script>'):
        assert one.post("/login/ticket", {"ticket": wrong}).status_code == 422
    before = one.cookie
    second = forms(one.post("/login/ticket", {"ticket": ticket()}))["/login/ticket"]
    assert one.post("/login/ticket", second).status_code == 303
    assert one.cookie != before
    assert db.execute("select count(*) from resource.browser_session").fetchone() == (1,)  # not the one before


def test_one_of_several_concurrent_uses_of_a_ticket_logs_in(browser: Browsers, ticket: Ticket) -> None:
    one = browser()
    fields = forms(one.post("/login/ticket", {"ticket": ticket()}))["/login/ticket"]

    async def at_once() -> list[int]:
        async with httpx.AsyncClient(base_url=one.url, cookies=one.client.cookies, timeout=30) as client:
            answers = await asyncio.gather(*(client.post("/login/ticket", data=fields) for _ in range(6)))
            return [answer.status_code for answer in answers]

    assert sorted(asyncio.run(at_once())) == [303, *[401] * 5]


def test_a_service_without_a_provider_has_no_login_form(start: Start) -> None:
    one = Browser(start().url)
    page = one.get("/login")
    assert "no provider for people" in page.text and forms(page) == {}
    assert one.get("/login/callback", params={"state": "x", "code": "y"}).status_code == 404
