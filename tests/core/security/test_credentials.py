"""Callers of the service: credentials, opaque tokens, pilot secrets, and the rights of the service's login."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.calls import SERVICE_PASSWORD, Connect, Connection, let_the_service_log_in, refused

ISSUER = "https://issuer.example"
CPU = {"CPUTime": 86400}
JOB = {"OwnerDN": "alice", "OwnerGroup": "users", "CPUTime": 3600}


@pytest.fixture
def service(db: Connection, dsn: str) -> Iterator[Callable[[], Connection]]:
    """A function that logs in as the service does: as a member of broker_service itself, which has a password here."""
    opened: list[Connection] = []
    let_the_service_log_in(db)

    def connect() -> Connection:
        where = make_conninfo(dsn, user="broker_service", password=SERVICE_PASSWORD)
        opened.append(psycopg.connect(where, autocommit=True))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def insert(db: Connection, setup: str, **more: Any) -> None:
    number = (db.execute("select count(*) + 1 from taskqueue.job").fetchone() or (0,))[0]
    db.execute("select taskqueue.insert_job(%s, %s, %s)", [setup, number, Jsonb(JOB | more)])


def credentials(service: Connection, *asked: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Role, subject and code of each."""
    found = service.execute("select role_name, subject::jsonb, code from resource.credentials_of(%s)", [Jsonb(asked)])
    return found.fetchall()


def by_claims(service: Connection, /, *, setup: str = "s", **claims: Any) -> tuple[Any, ...]:
    return credentials(service, {"setup": setup, "claims": {"iss": ISSUER, "sub": "p1", **claims}})[0]


def by_token(service: Connection, token: str, setup: str = "s") -> tuple[Any, ...]:
    return credentials(service, {"setup": setup, "token": hashlib.sha256(token.encode()).hexdigest()})[0]


def call(service: Connection, role: str, subject: dict[str, Any], query: str, *arguments: Any) -> list[tuple[Any, ...]]:
    """A call as somebody, as the service makes it."""
    with service.transaction():
        service.execute(
            "select set_config('role', %s, true), set_config('pgbroker.subject', %s, true)", [role, json.dumps(subject)]
        )
        return service.execute(query.encode(), arguments).fetchall()


def credential(db: Connection, name: str, kind: str = "agent", **more: Any) -> None:
    named = {"p_setup": "s", "p_name": name, "p_kind": kind, "p_issuer": ISSUER, **more}
    arguments = ", ".join(f"{key} => %({key})s" for key in named)
    db.execute(f"select resource.set_credential({arguments})".encode(), named)


def test_the_most_specific_credential_counts(db: Connection, service: Callable[[], Connection]) -> None:
    login = service()
    assert by_claims(login)[0::2] == (None, "PB002")
    credential(db, "any", "viewer")
    credential(db, "atlas", "agent", p_claim="groups", p_value="/atlas")
    credential(db, "production", "operator", p_claim="groups", p_value="/atlas/production")
    credential(db, "one", "agent", p_subject="p2", p_owner_dn="bob")
    roles = {
        (): "broker_viewer", ("/cms",): "broker_viewer", ("/atlas2",): "broker_viewer", ("/atlas",): "broker_agent",
        ("/atlas/usatlas",): "broker_agent", ("/atlas", "/atlas/production"): "broker_operator",
        ("/atlas/production/x",): "broker_operator",
    }  # fmt: skip
    assert {groups: by_claims(login, groups=list(groups))[0] for groups in roles} == roles
    role, subject, _ = by_claims(login, sub="p2", groups=["/atlas/production"])
    assert (role, subject) == (
        "broker_agent",
        {"name": f"{ISSUER} p2", "setup": "s", "owner_group": None, "owner_dn": "bob"},
    )
    assert by_claims(login, iss="https://issuer.example.org")[2] == "PB002"
    assert by_claims(login, setup="t")[2] == "PB002"
    for nobody in (None, "", 7):
        assert by_claims(login, sub=nobody)[2] == "PB002"


def test_a_path_may_end_with_a_slash(db: Connection, service: Callable[[], Connection]) -> None:
    credential(db, "atlas", p_claim="groups", p_value="/atlas/")
    credential(db, "all", "viewer", p_claim="groups", p_value="/")
    login = service()
    assert [by_claims(login, groups=[group])[0] for group in ("/atlas", "/atlas/x", "/cms", "atlas")] == [
        "broker_agent",
        "broker_agent",
        "broker_viewer",
        None,
    ]
    with pytest.raises(psycopg.Error, match="for the same tokens as atlas"):
        credential(db, "again", p_claim="groups", p_value="/atlas")


def test_a_claim_fits_a_word_of_scope_or_a_whole_text(db: Connection, service: Callable[[], Connection]) -> None:
    credential(db, "create", p_claim="scope", p_value="compute.create")
    credential(db, "vo", "viewer", p_claim="vo", p_value="lhcb")
    login = service()
    assert by_claims(login, scope="openid compute.create")[0] == "broker_agent"
    assert by_claims(login, scope="compute.created")[0] is None
    assert by_claims(login, vo="lhcb")[0] == "broker_viewer"
    assert [by_claims(login, vo=vo)[0] for vo in ("lhcb x", 7, None, {"lhcb": 1}, ["lhcb", 3])] == [
        None,
        None,
        None,
        None,
        "broker_viewer",
    ]


def test_two_credentials_that_fit_equally_are_refused(db: Connection, service: Callable[[], Connection]) -> None:
    credential(db, "a", p_claim="groups", p_value="/a")
    credential(db, "b", "viewer", p_claim="groups", p_value="/b")
    login = service()
    assert by_claims(login, groups=["/a"])[0] == "broker_agent"
    assert by_claims(login, groups=["/a", "/b"])[2] == "PB002"
    with pytest.raises(psycopg.Error, match="credential c is for the same tokens as a"):
        credential(db, "c", p_claim="groups", p_value="/a")
    credential(db, "a", "viewer", p_claim="groups", p_value="/a")  # the same name: changed
    assert by_claims(login, groups=["/a"])[0] == "broker_viewer"


def test_the_owner_is_taken_from_claims(db: Connection, service: Callable[[], Connection]) -> None:
    credential(db, "users", "submitter", p_owner_group_claim="dirac_group", p_owner_dn_claim="name")
    login = service()
    role, subject, _ = by_claims(login, dirac_group="lhcb_user", name="alice")
    assert (role, subject["owner_group"], subject["owner_dn"]) == ("broker_submitter", "lhcb_user", "alice")
    for claims in ({"name": "alice"}, {"name": "alice", "dirac_group": ""}, {"name": ["alice"], "dirac_group": "g"}):
        assert by_claims(login, **claims)[2] == "PB002", claims


@pytest.mark.parametrize(
    ("problem", "more"),
    [
        ("kind of the credential x is 'owner'", {"kind": "owner"}),
        ("kind of the credential x is null", {"kind": None}),
        ("names no owner", {"kind": "submitter"}),
        ("claim of the credential x is vo and its value is not given", {"p_claim": "vo"}),
        ("issuer of the credential x is null", {"p_issuer": None}),
        ("subject of the credential x is ''", {"p_subject": ""}),
        ("of kind viewer names an owner", {"kind": "viewer", "p_owner_dn": "a"}),
        ("of kind operator names an owner", {"kind": "operator", "p_owner_group_claim": "vo"}),
        ("names an owner or owner group, and a claim", {"p_owner_dn": "a", "p_owner_dn_claim": "sub"}),
        ("value is a text of 1001 bytes", {"p_claim": "vo", "p_value": "x" * 1001}),
    ],
)
def test_bad_credentials_are_refused(rolled_back: Connection, problem: str, more: dict[str, Any]) -> None:
    with refused("PB001", problem), rolled_back.transaction():
        credential(rolled_back, "x", **more)
    assert rolled_back.execute("select from resource.credential where setup = 's'").fetchall() == []


def test_tokens_end_and_are_revoked(db: Connection, service: Callable[[], Connection]) -> None:
    login = service()
    query = b"select token from resource.make_token('s', 'laptop', 'viewer', %s)"
    token = db.execute(query, ["1 hour"]).fetchone()[0]  # type: ignore[index]
    role, subject, _ = by_token(login, token)
    assert (role, subject) == (
        "broker_viewer",
        {"name": "token laptop", "setup": "s", "owner_group": None, "owner_dn": None},
    )
    assert by_token(login, token, "t")[0::2] == (None, "PB002")
    assert by_token(login, token[:-1])[2] == "PB008"
    db.execute("update resource.access_token set expires_at = now()")
    assert by_token(login, token)[2] == "PB008"
    token = db.execute(query, ["1 hour"]).fetchone()[0]  # type: ignore[index]
    assert db.execute("select resource.revoke_tokens('s', 'laptop')").fetchone() == (1,)
    assert by_token(login, token)[2] == "PB008"
    kept = db.execute("select count(*), count(before), string_agg(after::text, ' ') from resource.change")
    changes, taken, texts = kept.fetchone() or (0, 0, "")
    assert (changes, taken) == (3, 1)
    assert hashlib.sha256(token.encode()).hexdigest() not in texts and token not in texts
    for valid in ("-1 hour", "401 days", None):
        with pytest.raises(psycopg.Error, match="is valid for"):
            db.execute(query, [valid])


def test_a_secret_is_exchanged_as_often_as_its_uses_allow(db: Connection, service: Callable[[], Connection]) -> None:
    """Eight pilots at once use a secret of three uses: three tokens."""
    secret = db.execute("select secret from resource.make_secret('s', 'stamp', 3, '1 day', 'pilots')").fetchone()[0]  # type: ignore[index]
    exchange = b"select token from resource.exchange_secret(%s, %s, %s)"
    logins = [service() for _ in range(8)]
    tokens: list[str] = []
    refused: list[str | None] = []

    def use(login: Connection) -> None:
        try:
            tokens.append(login.execute(exchange, ["s", "stamp", secret]).fetchone()[0])  # type: ignore[index]
        except psycopg.Error as error:
            refused.append(error.sqlstate)

    threads = [threading.Thread(target=use, args=[login]) for login in logins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(set(tokens)), refused) == (3, ["PB008"] * 5)
    found = [by_token(logins[0], one) for one in tokens]
    assert {(role, subject["owner_group"]) for role, subject, _ in found} == {("broker_agent", "pilots")}
    names = {subject["name"] for _, subject, _ in found}  # pilots that share a stamp are different subjects
    assert len(names) == 3 and all(name.startswith("pilot stamp ") for name in names)
    db.execute("select resource.make_secret('s', 'other', 5)")
    for stamp, tried in (("other", secret), ("nobody", secret), ("other", ""), ("other", "\\x00")):
        with pytest.raises(psycopg.Error, match="is refused"):
            logins[0].execute(exchange, ["s", stamp, tried])
    assert db.execute("select resource.revoke_secret('s', 'stamp')").fetchone() == (True,)
    assert by_token(logins[0], tokens[0])[2] == "PB008"


def test_only_the_last_of_simultaneous_secrets_with_one_stamp_remains_valid(db: Connection, connect: Connect) -> None:
    """The last secret counts, and each replacement is in the changes."""
    connections = [connect() for _ in range(6)]
    secrets: list[str] = []

    def make(connection: Connection) -> None:
        for _ in range(5):
            secrets.append(connection.execute("select secret from resource.make_secret('s', 'x')").fetchone()[0])  # type: ignore[index]

    threads = [threading.Thread(target=make, args=[connection]) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(secrets)) == 30
    [kept] = db.execute("select hash from resource.pilot_secret").fetchall()
    assert kept[0] in {hashlib.sha256(secret.encode()).digest() for secret in secrets}
    changes = db.execute("select count(*), count(before) from resource.change").fetchone()
    assert changes == (30, 29)


def test_the_login_alone_may_ask_who_calls_and_nothing_else(db: Connection, service: Callable[[], Connection]) -> None:
    """The login without a role may use neither the calls of the roles, nor the views, nor a setup."""
    login = service()
    allowed = login.execute(
        "select p.proname from pg_proc p where p.pronamespace = any (array(select n.oid from pg_namespace n"
        " where n.nspname = any (%s))) and has_function_privilege(p.oid, 'execute') order by 1",
        [["resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "monitor", "history"]],
    ).fetchall()
    assert [name for (name,) in allowed] == [
        "close_session", "credentials_of", "exchange_secret", "is_service", "open_session", "refuse_moved",
        "session_of", "use_ticket",
    ]  # fmt: skip
    readable = login.execute(
        "select c.oid::regclass::text from pg_class c where c.relnamespace = any (array(select n.oid from"
        " pg_namespace n where n.nspname = any (%s))) and c.relkind in ('r', 'v', 'p')"
        " and has_table_privilege(c.oid, 'select, insert, update, delete')",
        [["resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "monitor", "history"]],
    ).fetchall()
    assert readable == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        login.execute("set role broker_owner")


def test_a_subject_is_bound_to_its_setup_and_owner(db: Connection, service: Callable[[], Connection]) -> None:
    for setup in ("s", "t"):
        for owner in ("alice", "bob"):
            insert(db, setup, OwnerDN=owner)
    login = service()
    bob = {"name": "issuer bob", "setup": "s", "owner_group": None, "owner_dn": "bob"}
    anybody = bob | {"owner_dn": None, "name": "anybody"}
    match = "select requirements ->> 'OwnerDN' from taskqueue.match_job(%s, %s)"
    for subject in (bob, anybody):
        with refused("PB002", "may not use setup t"):
            call(login, "broker_agent", subject, match, "t", Jsonb(CPU))
    description = Jsonb(CPU | {"OwnerDN": "alice"})
    assert call(login, "broker_agent", bob, match, "s", description) == [("bob",)]
    assert call(login, "broker_agent", bob, match, "s", description) == []
    many = "select requirements ->> 'OwnerDN', error ->> 'code' from taskqueue.match_many(%s, %s)"
    requests = [{"resources": [CPU], "subject": "issuer carol"}, {"resources": [CPU]}]
    assert call(login, "broker_agent", bob, many, "s", Jsonb(requests)) == []
    assert call(login, "broker_agent", anybody, many, "s", Jsonb(requests)) == [("alice", None)]
    leased = db.execute("select subject, role_name from monitor.lease order by 1").fetchall()
    assert leased == [("issuer bob", "broker_agent"), ("issuer carol", "broker_agent")]


@pytest.mark.own_database
def test_the_short_way_of_a_match_binds_a_subject_to_its_setup_and_owner(
    db: Connection, service: Callable[[], Connection]
) -> None:
    """A known description is matched without a look at the credential."""
    login = service()
    carol = {"name": "issuer carol", "setup": "s", "owner_group": "users", "owner_dn": "carol"}
    for setup in ("s", "t"):
        for owner in ("alice", "bob", "alice", "bob", "bob"):
            insert(db, setup, OwnerDN=owner)
        for name in ("bob", None):  # the descriptions become known
            subject = {"name": "first", "setup": setup, "owner_dn": name}
            call(
                login, "broker_agent", subject, "select taskqueue.match_job(%s, %s)", setup, Jsonb(CPU | {"Site": "S"})
            )
    db.execute("select resource.set_identity('t', 'broker_agent', true, 'users', 'alice')")
    [(long_way,)] = db.execute("select 'taskqueue.lease_for_resource'::regproc::regprocedure::text").fetchall()
    db.execute(f"drop function {long_way}".encode())
    match = "select requirements ->> 'OwnerDN' from taskqueue.match_with_payload(%s, %s)"
    wanted = Jsonb(CPU | {"Site": "S"})
    for setup, other in (("s", "t"), ("t", "s")):
        bob = {"name": "issuer bob", "setup": setup, "owner_dn": "bob"}
        assert call(login, "broker_agent", bob, match, setup, wanted) == [("bob",)]
        with pytest.raises(psycopg.errors.UndefinedFunction):
            call(login, "broker_agent", bob, match, other, wanted)
    with pytest.raises(psycopg.errors.UndefinedFunction):  # her description is not known
        call(login, "broker_agent", carol, match, "s", wanted)
    leased = db.execute("select setup, subject from taskqueue.lease where subject <> 'first' order by 1").fetchall()
    assert leased == [("s", "issuer bob"), ("t", "issuer bob")]


def test_no_name_of_a_token_pilot_or_claim_makes_its_holder_another_subject(
    db: Connection, service: Callable[[], Connection]
) -> None:
    """Operators choose names and stamps, and issuers choose subjects: each kind of subject has names of its own."""
    credential(db, "any")
    login = service()
    kinds: list[set[str]] = [set(), set(), set()]
    for name in ("x", f"{ISSUER} x", "token x", "pilot x 0123456789ab", f"{ISSUER} token x"):
        [(token,)] = db.execute("select token from resource.make_token('s', %s, 'agent')", [name]).fetchall()
        [(secret,)] = db.execute("select secret from resource.make_secret('s', %s)", [name]).fetchall()
        [(pilot,)] = login.execute("select token from resource.exchange_secret('s', %s, %s)", [name, secret]).fetchall()
        found = by_token(login, token), by_token(login, pilot), by_claims(login, sub=name)
        for kind, (_, subject, _) in zip(kinds, found, strict=True):
            kind.add(subject["name"])
    assert [len(kind) for kind in kinds] == [5, 5, 5]
    assert len(set[str]().union(*kinds)) == 15


def test_a_subject_set_by_another_login_is_not_believed(db: Connection, connect: Connect) -> None:
    """Another login sets the setting, or names a subject in a request: the first is ignored, the second refused."""
    insert(db, "s")
    db.execute("select resource.set_identity('s', 'broker_agent')")
    agent = connect("broker_agent")
    agent.execute(
        "select set_config('pgbroker.subject', %s, false)", ['{"name": "x", "setup": "t", "owner_dn": "bob"}']
    )
    refused = agent.execute(
        "select error ->> 'code' from taskqueue.match_many('s', %s)", [Jsonb([{"resources": [CPU], "subject": "x"}])]
    ).fetchall()
    assert refused == [("PB002",)]
    with pytest.raises(psycopg.Error, match="may not use setup t"):
        agent.execute("select * from taskqueue.match_job('t', %s)", [Jsonb(CPU)])
    assert agent.execute(
        "select requirements ->> 'OwnerDN' from taskqueue.match_job('s', %s)", [Jsonb(CPU)]
    ).fetchall() == [("alice",)]
    assert db.execute("select subject from taskqueue.lease").fetchall() == [(None,)]


def test_the_history_has_the_subject_of_each_event(db: Connection, service: Callable[[], Connection]) -> None:
    insert(db, "s")
    login = service()
    subject = {"name": "pilot 7", "setup": "s"}
    attempt = call(
        login, "broker_agent", subject, "select job_id, attempt from taskqueue.match_job('s', %s)", Jsonb(CPU)
    )
    call(login, "broker_agent", subject, "select taskqueue.report_job('s', %s, %s)", *attempt[0])
    call(login, "broker_agent", subject, "select taskqueue.finish_job('s', %s, %s)", *attempt[0])
    events = db.execute("select event, subject from monitor.job_event where setup = 's' order by at, event").fetchall()
    assert sorted(events) == [("finished", "pilot 7"), ("matched", "pilot 7"), ("running", "pilot 7")]


def test_an_operator_changes_credentials_of_its_setup_alone(db: Connection, service: Callable[[], Connection]) -> None:
    login = service()
    operator = {"name": "ops", "setup": "s"}
    make = "select resource.set_credential(%s, 'mine', 'viewer', 'https://i')"
    call(login, "broker_operator", operator, make, "s")
    for query in (
        make,
        "select resource.make_token(%s, 'x', 'operator')",
        "select resource.make_secret(%s, 'x')",
        "select resource.clear_credential(%s, 'mine')",
        "select resource.revoke_tokens(%s, 'x')",
        "select resource.revoke_secret(%s, 'x')",
    ):
        with refused("PB002", "may not use setup t"):
            call(login, "broker_operator", operator, query, "t")
    changes = db.execute("select setup, subject, role_name from resource.change").fetchall()
    assert changes == [("s", "ops", "broker_operator")]


def test_each_report_of_a_batch_has_its_own_subject(db: Connection, service: Callable[[], Connection]) -> None:
    """The service reports and ends jobs of several callers in one call; a subject given by anybody else is ignored."""
    insert(db, "s")
    insert(db, "s")
    login = service()
    pilots = {"name": "", "setup": "s"}
    requests = [{"resources": [CPU], "subject": name} for name in ("p1", "p2")]
    many = "select job_id, attempt, request from taskqueue.match_many('s', %s) order by request"
    leases = [
        {"job_id": job_id, "attempt": attempt, "subject": f"p{number}"}
        for job_id, attempt, number in call(login, "broker_agent", pilots, many, Jsonb(requests))
    ]
    for function in ("report_jobs", "finish_jobs"):
        call(login, "broker_agent", pilots, f"select * from taskqueue.{function}('s', %s)", Jsonb(leases))
    noted = db.execute("select job_id, event, subject from monitor.job_event where setup = 's'").fetchall()
    events = ("matched", "running", "finished")
    assert sorted(noted) == sorted((one["job_id"], event, one["subject"]) for one in leases for event in events)
    for function in ("report_jobs", "finish_jobs"):
        with refused("PB002", "only the service may give a subject"):
            db.execute(f"select * from taskqueue.{function}('s', %s)".encode(), [Jsonb(leases)])
