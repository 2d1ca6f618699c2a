"""A PostgreSQL of the user's own, as on the how-to page: an ordinary owner of the database installs and operates."""

import re
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from broker.cli.shared.session import make_partitions
from broker.upgrade import upgrade
from tests.calls import refused
from tests.commands import Cli, commands
from tests.core.monitor.conftest import drop_partitions
from tests.core.upgrade.small_release import Creator

pytestmark = pytest.mark.slow

JOB = '{"job_id": 1, "requirements": {"OwnerDN": "a", "OwnerGroup": "users", "CPUTime": 300}}'


def next_grant(printed: str) -> list[str]:
    """The statement that an upgrade prints for a login that does not operate yet."""
    return re.findall(r"^next: (grant .*?;) ", printed, re.MULTILINE)


def test_the_grants_that_the_installation_prints_are_enough(creator: Creator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before PostgreSQL 16, the login that installs is no member of the roles that it makes."""
    dsn, prefix = creator
    cli: Cli = commands(dsn, monkeypatch)
    printed = cli("db", "upgrade", "--role-prefix", prefix)
    assert (printed.code, "`broker run`" in printed.out, f"{prefix}agent" in printed.out) == (0, True, True)
    with psycopg.connect(dsn, autocommit=True) as connection:
        for grant in next_grant(printed.out):
            connection.execute(grant.encode())
    assert cli("submit", "-", stdin=JOB).code == 0
    assert cli("match", "--cpu-time", 9000, "--json").json[0]["job_id"] == 1
    assert cli("maintain").code == 0
    again = cli("db", "upgrade")
    assert (again.code, "next:" in again.out) == (0, False)
    assert cli("db", "check").code == 0


def test_a_dba_who_is_no_operator_is_given_the_grant(
    creator: Creator, empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn, prefix = creator
    assert commands(dsn, monkeypatch)("db", "upgrade", "--role-prefix", prefix).code == 0
    with psycopg.connect(empty_dsn, autocommit=True) as admin:
        second = f"second_{admin.info.dbname}"
        admin.execute(f"create role {second} login password 'x' in role {prefix}owner".encode())
        cli = commands(make_conninfo(dsn, user=second), monkeypatch)
        [grant] = next_grant(cli("db", "upgrade").out)
        assert grant == f"grant {prefix}operator to {second};"
        refused = cli("submit", "-", stdin=JOB)
        assert (refused.code, f"role {second} may not use setup default [PB002]" in refused.err) == (1, True)
        assert f"hint:  Operators may use every setup: {grant}" in refused.err
        admin.execute(grant.encode())
        assert cli("submit", "-", stdin=JOB).code == 0


def test_a_login_without_an_identity_is_sent_to_an_operator(creator: Creator, monkeypatch: pytest.MonkeyPatch) -> None:
    dsn, prefix = creator
    cli = commands(dsn, monkeypatch)
    cli("db", "upgrade", "--role-prefix", prefix)
    with psycopg.connect(dsn, autocommit=True) as connection:
        name = f"pilot_{connection.info.dbname}"
        connection.execute(f"create role {name} in role {prefix}agent".encode())
        connection.execute(f"grant {name} to current_user".encode())
        connection.execute(f"set role {name}".encode())
        with refused("PB002") as caught:
            connection.execute("select * from taskqueue.match_job('default', '{\"CPUTime\": 5}')")
        assert f"broker identity grant {name} --setup default" in (caught.value.diag.message_hint or "")


def test_an_upgrade_makes_the_partitions_of_today_after_a_restore(dsn: str, db: psycopg.Connection[Any]) -> None:
    """Partitions are made even if nothing else changes: events would stay in the default partition for a month."""
    drop_partitions(db)
    ahead = "select value from monitor.health where object = 'partitions made ahead'"
    assert db.execute(ahead).fetchone() == ("none for today",)
    assert not upgrade(dsn).changed
    assert db.execute(ahead).fetchone() == ("3 days",)


def test_a_command_on_the_embedded_server_makes_the_partitions_of_today(db: psycopg.Connection[Any]) -> None:
    """Such a server is used now and then, without `broker run`."""
    drop_partitions(db)
    make_partitions(db)
    ahead = "select value from monitor.health where object = 'partitions made ahead'"
    assert db.execute(ahead).fetchone() == ("3 days",)
