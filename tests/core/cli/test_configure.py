"""Configuration by operators who are no DBAs: limits, groups, identities, configuration, profiles, setups."""

from typing import Any

import pytest

from broker import world
from tests.calls import Calls, Connection
from tests.commands import Cli
from tests.cookies import by_ticket
from tests.core.lifecycle import grids


@pytest.fixture
def q(db: Connection) -> Calls:
    """The setup default, in which a job waits."""
    calls = Calls(db)
    calls.insert(1)
    return calls


def lines(text: str) -> str:
    """A printed table as one line."""
    return " ".join(text.split())


@pytest.mark.slow
def test_limits_are_set_listed_and_cleared(cli: Cli, q: Calls) -> None:
    assert (
        cli("limit", "set", "running", "CERN", "OwnerGroup", "users", 100).out
        == "OwnerGroup users at CERN: 100 running\n"
    )
    said = cli("limit", "set", "delay", "CERN", "JobType", "Merge", "2.5", "--ce", "ce1", "--burst", 10).out
    assert said == "JobType Merge at ce1 of CERN: one match in 2.5 s, 10 at once after a pause\n"
    assert "2.5 s" in cli("limits", "-o", "delay").out
    found = [(row["kind"], row["ceiling"], row["grid_ce"]) for row in cli("limits", "--json").json]
    assert found == [("running", 100, None), ("delay", None, "ce1")]
    assert [row["burst"] for row in cli("limits", "--json").json] == [None, 10]
    assert "burst" in cli("--wide", "limits").out
    assert cli("limit", "clear", "running", "CERN", "OwnerGroup", "users", "--json").json["removed"] is True
    again = cli("limit", "clear", "running", "CERN", "OwnerGroup", "users")
    assert (again.code, again.err.splitlines()[0]) == (
        1,
        "error: there is no limit running of OwnerGroup users at CERN",
    )
    assert "broker limits" in again.err
    assert cli("limit", "set", "running", "CERN", "OwnerGroup", "users", "many").code == 2
    cli("limit", "set", "runing", "CERN", "OwnerGroup", "users", 1).refuses("kind is 'runing'", "[PB001]")


def test_quarantines_are_set_listed_and_lifted(cli: Cli, q: Calls) -> None:
    printed = cli("quarantine", "set", "host", "n17", "its disk is full", "--site", "CERN").out
    assert printed == "host n17 at CERN is quarantined\n"
    cli("quarantine", "set", "site", "RAL", "it is closed")
    found = [(row["kind"], row["site"], row["name"], row["state"]) for row in cli("quarantine", "list", "--json").json]
    assert found == [("host", "CERN", "n17", "refused"), ("site", "RAL", "RAL", "refused")]
    headings = cli("quarantine", "list").out.splitlines()[2].split("┃")[1:4]
    assert [heading.strip() for heading in headings] == ["name", "site", "kind"]  # the first one heads a block
    assert cli("quarantine", "lift", "host", "n17", "--site", "CERN").out == (
        "the quarantine of host n17 at CERN is lifted\n"
    )
    cli("quarantine", "lift", "host", "n17", "--site", "CERN").refuses("host n17 at CERN is not quarantined")
    cli("quarantine", "set", "node", "n17", "why").refuses("kind is", "[PB001]")
    assert cli("quarantine", "set", "host", "n9", "why").out == "host n9 without a site is quarantined\n"
    world.load(q.connection, [{"queues": {name: {"panda_site": "P"} for name in ("Q", "R")}}])
    assert "name their queue as the site: Q, R" in cli("quarantine", "set", "site", "P", "why").err
    assert cli("quarantine", "set", "site", "Q", "why").err == ""
    assert "names site QR now; the nearest is " in cli("quarantine", "set", "ce", "ce1", "why", "--site", "QR").err


def test_groups_are_set_and_listed(cli: Cli, q: Calls) -> None:
    assert cli("group", "set", "production", "--share", 5000).out == "group production: share 5000\n"
    assert cli("group", "set", "production", "--job-sharing").out == "group production: share 5000, JobSharing\n"
    assert cli("group", "set", "production", "--share", 7, "--background", "--json").json["job_sharing"] is True
    [row] = cli("group", "list", "--json").json
    assert row == {"owner_group": "production", "share": 7, "job_sharing": True, "allow_background": True}
    assert "production" in cli("group", "list").out
    assert cli("group", "set", "production").code == 1
    assert "invalid share 0" in cli("group", "set", "x", "--share", 0).err
    assert cli("group", "list", "--json").json == [row]


def test_identities_are_granted_listed_and_revoked(cli: Cli, q: Calls) -> None:
    granted = cli("identity", "grant", "broker_agent")
    assert (granted.out, granted.err) == ("broker_agent may act in setup default for any owner\n", "")
    private = cli("identity", "grant", "broker_submitter", "--group", "users", "--owner", "/CN=alice")
    assert private.out == "broker_submitter may act in setup default for group users and owner /CN=alice\n"
    rows = [(row["role_name"], row["owner_group"], row["owner_dn"]) for row in cli("identity", "list", "--json").json]
    assert rows == [("broker_agent", None, None), ("broker_submitter", "users", "/CN=alice")]
    assert "any" in cli("identity", "list", "--setup", "default").out
    assert cli("identity", "revoke", "broker_submitter").out == "broker_submitter may no longer act in setup default\n"
    cli("identity", "revoke", "broker_submitter").refuses("broker_submitter has no identity in setup default")


@pytest.mark.slow
def test_credentials_are_set_listed_and_revoked(cli: Cli, q: Calls) -> None:
    issuer = ("--issuer", "https://i.example")
    made = cli("credential", "set", "pilots", *issuer, "--claim", "groups=/atlas=x", "--group", "prod")
    assert made.out == "tokens of https://i.example may be used in setup default as agent: pilots\n"
    assert cli("credential", "set", "users", *issuer, "--as", "submitter", "--owner-claim", "sub", "--json").json[
        "kind"
    ] == ("submitter")
    token, secret = cli("credential", "token", "me", "--for", "1 hour").out, cli("credential", "secret", "s1").out
    assert [len(printed.strip()) for printed in (token, secret)] == [64, 64]
    assert cli("credential", "secret", "s2", "--uses", 7, "--json").json["uses"] == 7
    rows = cli("credential", "list", "--json").json
    assert [(row["object"], row["name"], row["kind"]) for row in rows] == [
        ("credential", "pilots", "agent"), ("credential", "users", "submitter"), ("secret", "s1", "agent"),
        ("secret", "s2", "agent"), ("token", "me", "viewer"),
    ]  # fmt: skip
    assert [rows[0][key] for key in ("claim", "value", "owner_group")] == ["groups", "/atlas=x", "prod"]
    assert (rows[1]["owner_dn"], rows[3]["uses_left"]) == ("claim sub", 7)
    shown = cli("credential", "list").out
    assert token.strip() not in shown and "/atlas=x" in shown
    for words in (("clear", "pilots"), ("revoke", "me"), ("revoke-secret", "s1")):
        assert "is refused from now on" in cli("credential", *words).out
        assert "[PB004]" in cli("credential", *words).err or "there is no" in cli("credential", *words).err
    assert [row["name"] for row in cli("credential", "list", "--setup", "default", "--json").json] == ["users", "s2"]
    assert "has no =" in cli("credential", "set", "x", *issuer, "--claim", "groups").err
    assert "PB001" in cli("credential", "set", "x", *issuer, "--as", "submitter").err


def test_sessions_are_listed_and_logged_out(cli: Cli, q: Calls) -> None:
    for name in ("a", "b"):
        by_ticket(q.connection, "default", name, "viewer")
    rows = cli("credential", "sessions", "--json").json
    assert [(row["setup"], row["subject"], row["kind"]) for row in rows] == [
        ("default", "browser a", "viewer"), ("default", "browser b", "viewer"),
    ]  # fmt: skip
    assert "browser a" in cli("credential", "sessions", "--setup", "default").out
    done = cli("credential", "log-out", "browser a")
    assert done.out == "the session of browser a of setup default is refused from now on\n"
    cli("credential", "log-out", "browser a").refuses("broker credential sessions")
    assert [row["subject"] for row in cli("credential", "sessions", "--json").json] == ["browser b"]


def test_an_identity_of_a_role_that_is_not_there_is_refused(cli: Cli, q: Calls) -> None:
    for role, hint in (("broker_agnt", "The nearest is broker_agent"), ("pilöts", "Create the login first")):
        refused = cli("identity", "grant", role)
        assert (refused.code, f"the server has no role {role} [PB004]" in refused.err) == (1, True), refused.err
        assert hint in refused.err
    assert cli("identity", "list", "--json").json == []


@pytest.mark.slow
def test_configuration_is_set_read_and_unset(cli: Cli, q: Calls) -> None:
    assert cli("config", "set", "jobbroker:NQUEUED_SAT_CAP", 300).out == "jobbroker:NQUEUED_SAT_CAP is 300\n"
    [row] = cli("config", "get", "NQUEUED_SAT_CAP", "--json").json
    assert (row["component"], row["value"]) == ("jobbroker", "300")
    assert row["unit"] and row["meaning"]
    [row] = cli("config", "get", "--json").json
    assert row["key"] == "NQUEUED_SAT_CAP"
    assert "jobbroker:NQUEUED_SAT_CAP" in cli("config", "get").out
    assert len(cli("config", "get", "--known", "--json").json) > 50
    assert cli("config", "unset", "jobbroker:NQUEUED_SAT_CAP").code == 0
    assert cli("config", "get", "--json").json == []
    cli("config", "set", "jobbroker:NQUEUED_SAT_CAP", "many").refuses('NQUEUED_SAT_CAP is "many", not a number')
    unknown = cli("config", "set", "jobbroker:NQUEUED_SAT_CAPP", 3)
    assert (unknown.code, "is not known" in unknown.err, "p_force" in unknown.err) == (1, True, False)
    for printed in (unknown, cli("what-if", "--set", "XYZZY=3")):
        assert "`broker config get --known` lists the known keys" in printed.err
    assert cli("config", "set", "acme:MINE", "plain", "--force").code == 0
    assert cli("config", "get", "acme:MINE", "--json").json[0]["value"] == "plain"
    assert cli("config", "get", "nothing").code == 1


def test_values_of_configuration_need_no_quotes(cli: Cli, q: Calls, db: Connection) -> None:
    stored = "select value from resource.config_of('default') where key = 'MINE'"
    for given, wanted in (("plain text", "plain text"), ("300", 300), ("true", True), ('"300"', "300")):
        assert cli("config", "set", "acme:MINE", given, "--force").code == 0
        assert db.execute(stored).fetchone() == (wanted,)
    query = "select component || ':' || key from resource.config_key where type = 'boolean' and component <> ''"
    for (key,) in db.execute(query).fetchall():
        assert cli("config", "set", key, "yes").code == 0
        assert cli("config", "get", key, "--json").json[0]["value"] == "true"


@pytest.mark.slow
def test_profiles_are_made_changed_and_removed(cli: Cli, db: Connection) -> None:
    grids.load(db, "grid")
    made = cli("profile", "set", "ours", "--based-on", "doc", "--description", "five best")
    assert made.out == "profile ours is based on doc\n"
    assert cli("profile", "set-rule", "ours", "top-10", "--parameter", "best=5").code == 0
    assert cli("profile", "set-rule", "ours", "no-pilot", "--off").code == 0
    rules = {row["rule"]: row for row in cli("rules", "--profile", "ours", "--json").json}
    assert (rules["top-10"]["parameters"]["best"], rules["no-pilot"]["enabled"]) == (5, False)
    shown = cli("profile", "show", "ours", "--json").json
    assert (shown["based_on"], shown["rules"]) == ("documented", 2)
    assert {row["rule"] for row in shown["changes"]} == {"top-10", "no-pilot"}
    assert "no-pilot" in cli("profile", "show", "ours").out
    assert cli("settings", "--set", "brokerage.profile=ours", "--setup", "grid").code == 0
    listed = {row["profile"]: row for row in cli("profile", "list", "--json").json}
    assert (listed["ours"]["setups"], listed["documented"]["shipped"]) == (["grid"], True)
    assert "ours" in cli("profile", "list").out
    assert "is in use: setup grid uses it" in cli("profile", "remove", "ours").err
    assert cli("profile", "clear-rule", "ours", "no-pilot").code == 0
    assert cli("profile", "clear-rule", "ours", "no-pilot").code == 1
    cli("settings", "--set", "brokerage.profile=documented", "--setup", "grid")
    assert cli("profile", "remove", "ours").out == "profile ours is removed\n"
    assert [cli("profile", *words).code for words in (("remove", "ours"), ("show", "ours"))] == [1, 1]
    assert cli("profile", "set-rule", "ours", "top-10").code == 1
    assert "comes with the program" in cli("profile", "set-rule", "documented", "top-10", "--off").err


def test_a_setup_is_removed_after_a_question_that_counts_its_jobs(cli: Cli, q: Calls, db: Connection) -> None:
    left = "select count(*) from resource.setup"
    cli("setup", "remove", "default", stdin="n\n").refuses("0 tasks, 1 waiting job, 0 leased jobs")
    assert db.execute(left).fetchone() == (1,)
    assert "setup defautl does not exist" in cli("setup", "remove", "defautl", "--yes").err
    done = cli("setup", "remove", "default", "--yes", "--json").json
    assert (done["removed"], done["held"]["waiting"]) == (True, 1)
    assert db.execute(left).fetchone() == (0,)


def test_cpu_buckets_platforms_and_upkeep_of_a_setup_have_commands(cli: Cli, q: Calls) -> None:
    assert cli("setup", "cpu-buckets", 360, 1800, 3600).out == "3 buckets, 1 TaskQueue moved\n"
    assert "invalid bucket 0" in cli("setup", "cpu-buckets", 0).err
    assert cli("setup", "platform", "el9", "el8", "el7").out == "el9 runs el8, el7\n"
    assert cli("setup", "platform", "el9").out == "el9 runs nothing else\n"
    match = q.take()
    q.call("finish_job", match.job_id, match.attempt)
    assert cli("setup", "forget-ended").out == "0 ended jobs forgotten\n"
    assert cli("setup", "forget-ended", "--older-than", "0 s").out == "1 ended job forgotten\n"
    assert cli("setup", "mend").out == "setup default is rebuilt\n"


@pytest.mark.parametrize(
    "words",
    [
        ("limit", "set", "running", "S", "OwnerGroup", "users", 1),
        ("group", "set", "users", "--share", 1),
        ("identity", "list"),
        ("identity", "grant", "x"),
        ("credential", "list"),
        ("credential", "sessions"),
        ("credential", "token", "x"),
        ("config", "set", "jobbroker:NQUEUED_SAT_CAP", 1),
        ("profile", "set", "x"),
        ("setup", "mend"),
    ],
)
def test_a_refused_caller_learns_which_role_is_needed(
    cli: Cli, q: Calls, db: Connection, words: tuple[Any, ...]
) -> None:
    world.load(db, [{"queues": {"Q": {}}}])
    name = f"viewer_{db.info.dbname}"
    db.execute(f"create role {name} in role broker_viewer".encode())
    db.execute(f"alter database {db.info.dbname} set role = {name}".encode())
    printed = cli(*words)
    db.execute(f"alter database {db.info.dbname} reset role".encode())
    db.execute(f"drop role {name}".encode())
    assert (printed.code, "[42501]" in printed.err) == (1, True)
    assert "hint:  have broker_operator granted to this login;" in printed.err
