"""Sessions of browsers: the right to open one, its rights, its end; nothing opens two sessions."""

import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import refused
from tests.cookies import digest
from tests.core.security.test_credentials import ISSUER, credential, credentials, service

Connection = psycopg.Connection[Any]
CLAIMS = {"iss": ISSUER, "sub": "alice", "groups": ["/atlas"], "email": "alice@example.org"}

__all__ = ["service"]


@pytest.fixture
def login(service: Callable[[], Connection]) -> Iterator[Connection]:
    """A session of the service's login."""
    yield service()


def opened(login: Connection, state: str = "state", **more: Any) -> str:
    """The cookie of a new session."""
    cookie = secrets.token_urlsafe(32)
    query = "select resource.open_session(%s, %s, %s)"
    login.execute(query, [digest(state), Jsonb(CLAIMS | more), digest(cookie)])
    return cookie


def ticket(db: Connection, kind: str = "operator", setup: str = "s") -> str:
    return str(db.execute("select ticket from resource.make_ticket(%s, 'me', %s)", [setup, kind]).fetchone()[0])  # type: ignore[index]


def used(login: Connection, ticket: str) -> str:
    cookie = secrets.token_urlsafe(32)
    login.execute("select resource.use_ticket(%s, %s)", [ticket, digest(cookie)])
    return cookie


def by_session(login: Connection, cookie: str, setup: str = "s") -> tuple[Any, ...]:
    """Role, subject and code."""
    return credentials(login, {"setup": setup, "session": digest(cookie)})[0]


def changes(db: Connection) -> list[tuple[Any, ...]]:
    query = """select setup, name, before is null, after is null, role_name from resource.change
                where object = 'session' order by change_id"""
    return db.execute(query).fetchall()


def test_the_credentials_count_as_they_are_now(db: Connection, login: Connection) -> None:
    credential(db, "all", "viewer")
    cookie = opened(login)
    name = f"{ISSUER} alice"
    role, subject, code = by_session(login, cookie)
    assert (role, subject["name"], code) == ("broker_viewer", name, None)
    assert by_session(login, cookie, "t")[2] == "PB002"
    credential(db, "alice", "operator", p_subject="alice")
    assert by_session(login, cookie)[0] == "broker_operator"
    db.execute("select resource.clear_credential('s', 'alice'), resource.clear_credential('s', 'all')")
    assert by_session(login, cookie)[2] == "PB002"
    shown = login.execute("select subject, setups from resource.session_of(%s)", [digest(cookie)]).fetchone()
    assert shown == (name, [])


def test_a_session_keeps_only_the_claims_that_credentials_name(db: Connection, login: Connection) -> None:
    credential(db, "atlas", "viewer", p_claim="groups", p_value="/atlas")
    cookie = opened(login)
    kept = db.execute("select claims, hash from resource.browser_session").fetchone()
    assert kept == (
        {"iss": ISSUER, "sub": "alice", "groups": ["/atlas"]}, bytes.fromhex(digest(cookie))
    )  # fmt: skip
    assert db.execute("select setup, subject, kind from monitor.browser_session").fetchall() == [
        ("s", f"{ISSUER} alice", "viewer")
    ]


@pytest.mark.parametrize("claims", [{"sub": "bob"}, {"iss": "https://else"}, {"sub": None}, {"sub": 7}])
def test_a_stranger_gets_no_session(db: Connection, login: Connection, claims: dict[str, Any]) -> None:
    credential(db, "alice", "viewer", p_subject="alice")
    credential(db, "a", "viewer", p_claim="groups", p_value="/cms")
    with refused("PB002", "no credential fits the login"):
        opened(login, **claims)
    assert db.execute("select count(*) from resource.browser_session").fetchone() == (0,)
    assert changes(db) == []


def test_a_session_ends_after_its_lifetime(db: Connection, login: Connection) -> None:
    credential(db, "all", "viewer")
    one, two, three = (opened(login, state) for state in "abc")
    ends = db.execute("select distinct expires_at - opened_at from resource.browser_session").fetchall()
    assert [end.total_seconds() for (end,) in ends] == [12 * 3600]
    close = b"select resource.close_session(%s)"
    assert [login.execute(close, [digest(one)]).fetchone() for _ in range(2)] == [(True,), (False,)]
    assert by_session(login, one)[2] == "PB008"
    by_hash = "update resource.browser_session set expires_at = now() where hash = sha256(convert_to(%s, 'UTF8'))"
    db.execute(by_hash, [two])
    assert by_session(login, two)[2] == "PB008"
    assert by_session(login, three)[2] is None
    assert db.execute("select resource.revoke_sessions('s', %s)", [f"{ISSUER} alice"]).fetchone() == (2,)
    assert by_session(login, three)[2] == "PB008"
    assert by_session(login, "nothing")[2] == "PB008"
    assert [(setup, new, gone) for setup, _, new, gone, _ in changes(db)] == [
        *[(None, True, False)] * 3, (None, False, True), ("s", False, True)
    ]  # fmt: skip
    kept = db.execute("select string_agg(concat(before, after), ' ') from resource.change").fetchone()
    assert kept is not None
    assert not any(word in kept[0] for word in (digest(one), one, digest("a"), "claims"))


def test_sessions_that_have_ended_are_forgotten_by_the_next_login(db: Connection, login: Connection) -> None:
    credential(db, "all", "viewer")
    opened(login, "a")
    db.execute("update resource.browser_session set expires_at = now() - interval '1 second'")
    opened(login, "b", sub="bob")
    assert db.execute("select subject from resource.browser_session").fetchall() == [(f"{ISSUER} bob",)]


def test_a_person_has_ten_sessions_and_the_oldest_go(db: Connection, login: Connection) -> None:
    credential(db, "all", "viewer")
    cookies = [opened(login, str(number)) for number in range(12)]
    other = opened(login, "other", sub="bob")
    assert [by_session(login, one)[2] for one in cookies] == ["PB008"] * 2 + [None] * 10
    assert by_session(login, other)[2] is None


def test_tickets_of_one_setup_close_no_session_of_another(db: Connection, login: Connection) -> None:
    """The operators of each setup choose the names of its tickets, so two setups may choose the same."""
    mine = used(login, ticket(db))
    for _ in range(11):
        theirs = used(login, ticket(db, setup="t"))
    assert by_session(login, mine)[2] is None
    assert by_session(login, theirs, "t")[2] is None
    assert db.execute("select count(*) from resource.browser_session").fetchone() == (11,)


def test_an_operator_of_a_setup_revokes_those_who_may_act_in_it(db: Connection, login: Connection) -> None:
    credential(db, "all", "viewer")
    cookie = opened(login)
    mine = used(login, ticket(db))
    revoke = b"select resource.revoke_sessions(%s, %s)"
    assert db.execute(revoke, ["t", f"{ISSUER} alice"]).fetchone() == (0,)
    assert db.execute(revoke, ["t", "browser me"]).fetchone() == (0,)
    with pytest.raises(psycopg.Error, match="may not use setup t"), login.transaction():
        login.execute("set local role broker_operator")
        login.execute("""set local pgbroker.subject = '{"name": "ops", "setup": "s"}'""")
        login.execute(revoke, ["t", "browser me"])
    assert [by_session(login, one)[2] for one in (cookie, mine)] == [None, None]
    assert db.execute(revoke, ["s", "browser me"]).fetchone() == (1,)
    assert [by_session(login, one)[2] for one in (cookie, mine)] == [None, "PB008"]


def test_an_operator_through_the_service_is_told_of_its_own_setup_alone(db: Connection, login: Connection) -> None:
    for setup in ("s", "t"):
        credential(db, "all", "viewer", p_setup=setup)
    asked = b"select setup from resource.setups_of_claims(%s)"
    assert db.execute(asked, [Jsonb(CLAIMS)]).fetchall() == [("s",), ("t",)]
    with login.transaction():
        login.execute("set local role broker_operator")
        login.execute("""set local pgbroker.subject = '{"name": "ops", "setup": "s"}'""")
        assert login.execute(asked, [Jsonb(CLAIMS)]).fetchall() == [("s",)]


def test_the_session_of_a_ticket_is_for_one_setup(db: Connection, login: Connection) -> None:
    credential(db, "all", "viewer")
    cookie = used(login, ticket(db))
    role, subject, _ = by_session(login, cookie)
    assert (role, subject["name"]) == ("broker_operator", "browser me")
    assert by_session(login, cookie, "t")[2] == "PB002"
    assert credentials(login, {"setup": "s", "token": digest(cookie)})[0][2] == "PB008"  # a cookie is no token
    token = db.execute("select token from resource.make_token('s', 'x', 'viewer')").fetchone()[0]  # type: ignore[index]
    assert by_session(login, token)[2] == "PB008"
    for kind, problem in (("submitter", "names no owner"), ("owner", "kind of the ticket"), (None, "kind")):
        with pytest.raises(psycopg.Error, match=problem):
            db.execute("select resource.make_ticket('s', 'me', %s)", [kind])


def everywhere(db: Connection) -> str:
    """A ticket of every setup, which the owner of the installation makes."""
    return str(db.execute("select ticket from resource.new_ticket(null, 'me', 'operator')").fetchone()[0])  # type: ignore[index]


def test_the_session_of_a_ticket_without_a_setup_is_for_every_setup(db: Connection, login: Connection) -> None:
    for setup in ("s", "t"):
        db.execute("select resource.require_setup(%s)", [setup])
    given = everywhere(db)
    cookie = used(login, given)
    with refused("PB008", "has been used"):
        used(login, given)
    for setup in ("s", "t"):
        role, subject, _ = by_session(login, cookie, setup)
        assert (role, subject["name"]) == ("broker_operator", "browser me")
    assert by_session(login, cookie, "nowhere")[2] == "PB002"
    listed = [{"kind": "operator", "setup": "s"}, {"kind": "operator", "setup": "t"}]
    shown = login.execute("select setups from resource.session_of(%s)", [digest(cookie)]).fetchone()
    assert shown == (listed,)
    seen = db.execute("select setup, kind from monitor.browser_session order by 1").fetchall()
    assert seen == [("s", "operator"), ("t", "operator")]
    used(login, ticket(db))  # a session of one setup has the same name, and leaves this one alone
    assert by_session(login, cookie, "t")[2] is None
    assert db.execute("select resource.revoke_sessions('t', 'browser me')").fetchone() == (1,)
    assert by_session(login, cookie)[2] == "PB008"
    assert [(setup, new, gone) for setup, _, new, gone, _ in changes(db)] == [
        (None, True, False), ("s", True, False), ("t", False, True)
    ]  # fmt: skip


@pytest.mark.parametrize("role", ["agent", "submitter", "operator", "viewer"])
def test_no_role_makes_a_ticket_of_every_setup(
    login: Connection, connect: Callable[..., Connection], role: str
) -> None:
    for connection in (connect(f"broker_{role}"), login):
        for made in ("new_ticket(null, 'me', 'operator')", "make_ticket(null, 'me', 'operator')"):
            with pytest.raises(psycopg.Error) as error, connection.transaction():
                connection.execute(f"set local role broker_{role}".encode())
                connection.execute(f"select * from resource.{made}".encode())
            assert error.value.sqlstate in ("42501", "PB001", "PB002", "PB004"), error.value
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        login.execute("select * from resource.new_ticket(null, 'me', 'operator')")


def test_a_ticket_ends_after_a_minute(db: Connection, login: Connection) -> None:
    given = ticket(db)
    ends = db.execute("select expires_at - now() < interval '1 minute' from resource.login_ticket").fetchall()
    assert ends == [(True,)]
    db.execute("update resource.login_ticket set expires_at = now()")
    for wrong in (given, "", "x"):
        with refused("PB008", "the ticket is not known"):
            used(login, wrong)
    ticket(db)
    assert db.execute("select count(*) from resource.login_ticket").fetchone() == (1,)


@pytest.mark.parametrize("what", ["ticket", "login"])
def test_one_of_eight_concurrent_uses_opens_a_session(
    db: Connection, service: Callable[[], Connection], what: str
) -> None:
    credential(db, "all", "viewer")
    given = ticket(db)
    cookies: list[str] = []
    refused: list[str | None] = []

    def use(login: Connection) -> None:
        try:
            cookies.append(used(login, given) if what == "ticket" else opened(login))
        except psycopg.Error as error:
            refused.append(error.sqlstate)

    threads = [threading.Thread(target=use, args=[service()]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(cookies), refused) == (1, ["PB008"] * 7)
    assert db.execute("select count(*) from resource.browser_session").fetchone() == (1,)


def test_nobody_but_the_services_login_opens_or_closes_a_session(
    db: Connection, login: Connection, connect: Callable[..., Connection]
) -> None:
    """Neither a role of another login, nor the same role in a transaction of the service, may do it."""
    calls = (
        "open_session('00', '{}', '00')", "use_ticket('x', '00')", "close_session('00')", "session_of('00')",
        "new_session('', 'x', null, 's', 'operator', '00')", "credential_of_session('s', '00')",
    )  # fmt: skip
    for role in ("agent", "submitter", "operator", "viewer"):
        for connection in (connect(f"broker_{role}"), login):
            for call in calls:
                with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                    connection.execute(f"set local role broker_{role}".encode())
                    connection.execute(f"select * from resource.{call}".encode())
