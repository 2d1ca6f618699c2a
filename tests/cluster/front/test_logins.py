"""Whatever a login of a front creates or sets, it is itself on the shards. All logins here have one password, so the
shards believe the front as they believe one with a certificate or a password file."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import requirements, resource
from tests.cluster.front.conftest import PASSWORD, AtFront, Cluster, Placed, map_login
from tests.commands import Cli
from tests.service.conftest import Db

_MATCH = "select job_id from taskqueue.match_job(%s, %s)"
MAPPINGS = [
    "alter user mapping for {0} server pgbroker options (set user '{1}')",
    "drop user mapping for {0} server pgbroker; "
    f"create user mapping for {{0}} server pgbroker options (user '{{1}}', password '{PASSWORD}')",
    "set role broker_agent; create user mapping for broker_agent server pgbroker options (user '{1}')",
]


@pytest.fixture
def waiting(placed: Placed, at_front: AtFront) -> str:
    """A setup with a job, in which cluster_agent has no identity."""
    setup = placed("a")
    at_front("cluster_operator").execute("select taskqueue.insert_job(%s, 1, %s)", [setup, Jsonb(requirements())])
    return setup


@pytest.fixture
def changed(front: Db) -> Iterator[None]:
    """Mappings that the guard would refuse, of an older front or of a superuser."""
    front.execute("alter event trigger pgbroker_logins disable")
    front.execute("alter user mapping for cluster_agent server pgbroker options (set user 'cluster_operator')")
    front.execute("alter user mapping for public server pgbroker options (add user 'cluster_viewer')")
    yield
    front.execute("alter user mapping for public server pgbroker options (drop user)")
    front.execute("alter user mapping for cluster_agent server pgbroker options (set user 'cluster_agent')")
    front.execute("alter event trigger pgbroker_logins enable always")


@pytest.mark.parametrize("statement", MAPPINGS, ids=["alter", "create", "set role"])
@pytest.mark.parametrize("other", ["cluster_operator", "cluster_super", "broker_service"])
def test_a_login_makes_no_mapping_to_another_login(at_front: AtFront, waiting: str, statement: str, other: str) -> None:
    agent = at_front("cluster_agent")
    with pytest.raises(psycopg.Error, match=f"makes it {other} on the shards") as refused, agent.transaction():
        agent.execute(statement.format("cluster_agent", other).encode())
    assert refused.value.sqlstate == "PB002"
    with pytest.raises(psycopg.Error, match="role cluster_agent may not use setup"):
        agent.execute(_MATCH, [waiting, Jsonb(resource())])


def test_a_login_may_change_its_password_and_drop_its_mapping(at_front: AtFront, front: Db, waiting: str) -> None:
    agent = at_front("cluster_agent")
    agent.execute("alter user mapping for cluster_agent server pgbroker options (set password 'wrong')")
    agent.execute("drop user mapping for cluster_agent server pgbroker")
    map_login(front, "cluster_agent")
    with pytest.raises(psycopg.Error, match="role cluster_agent may not use setup"):
        at_front("cluster_agent").execute(_MATCH, [waiting, Jsonb(resource())])


@pytest.mark.parametrize("setting", [
    "set role broker_agent", "set pgbroker.subject = '{{\"name\": \"x\", \"setup\": \"{0}\"}}'",
    "set session_replication_role = replica", "set role cluster_operator", "set session authorization cluster_operator",
    "alter server pgbroker options (add user 'cluster_operator')", "alter event trigger pgbroker_logins disable",
    "create server mine foreign data wrapper plproxy options (p0 'user=cluster_operator')",
])  # fmt: skip
def test_no_setting_makes_a_login_another_one(at_front: AtFront, waiting: str, setting: str) -> None:
    agent = at_front("cluster_agent")
    with pytest.raises(psycopg.Error) as refused:
        agent.execute(setting.format(waiting).encode())
        agent.execute(_MATCH, [waiting, Jsonb(resource())])
    assert refused.value.sqlstate in {"42501", "PB002", "XX000", "08000"}, refused.value


def test_check_and_doctor_name_mappings_to_other_logins(cli: Cli, changed: None) -> None:
    checked = cli("cluster", "check", "--json")
    assert checked.code == 5
    assert checked.json["differences"] == [
        "login cluster_agent: is cluster_operator on the shards (alter user mapping for cluster_agent server pgbroker "
        "options (set user 'cluster_agent'))",
        "login pgbroker_logins: nothing refuses a user mapping that names another login (alter event trigger "
        "pgbroker_logins enable always; if it is not there: broker db upgrade)",
        "login public: every login without a mapping of its own is cluster_viewer on the shards (alter user mapping "
        "for public server pgbroker options (drop user))",
    ]
    findings = cli("doctor", "--json").json["findings"]
    logins = [found["object"] for found in findings if (found["area"], found["verdict"]) == ("login", "problem")]
    assert logins == ["cluster_agent", "pgbroker_logins", "public"]


def test_check_names_certificates_that_may_be_more_than_one_login_of_people(cli: Cli, cluster: Cluster) -> None:
    """pg_hba.conf and pg_ident.conf of shard b, which are read as they are, without a reload."""
    with psycopg.connect(cluster.shards["b"], autocommit=True) as shard:
        files = [Path(str(shard.execute(f"show {name}_file".encode()).fetchone()[0])) for name in ("hba", "ident")]  # type: ignore[index]
    before = [file.read_text() for file in files]
    added = "hostssl all +broker_agent 192.0.2.1/32 cert map=front", "\n".join([
        "front db0 cluster_agent", "front db0 cluster_super", "front db0 broker_service", r"front /^(.*)$ \1",
        "other db0 cluster_super",
    ])  # fmt: skip
    try:
        for file, more in zip(files, added, strict=True):
            file.write_text(f"{more}\n")
        found = cli("cluster", "check", "--json").json["differences"]
    finally:
        for file, text in zip(files, before, strict=True):
            file.write_text(text)
    assert found == [
        f"shard b: line {line} of pg_ident.conf makes the certificate {name} the login {login}"
        for line, name, login in [(2, "db0", "cluster_super"), (3, "db0", "broker_service"), (4, "/^(.*)$", r"\1")]
    ]
