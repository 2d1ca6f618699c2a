"""An organisation's own rules: functions in its own schema, rows of its own profile, no change of shipped objects."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from broker import world
from broker.upgrade import Program, upgrade

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
FACTS = "t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts"
ACME = f"""
create schema acme;
grant usage on schema acme to broker_owner;
create function acme.rule_cloud({FACTS}, x jsonb) returns text language sql stable parallel safe as $$
  select case when x -> 'clouds' ? q.cloud then format('-acme: cloud %s is for others', q.cloud) end
$$;
create function acme.rule_name({FACTS}) returns text language sql stable parallel safe as $$
  select case when q.queue = 'QN' then 'named' end
$$;
create function acme.weight_tier({FACTS}, x jsonb) returns float8 language sql stable parallel safe as $$
  select case when q.panda_site = x ->> 'site' then (x ->> 'factor')::float8 else 1 end
$$;
"""
OWN: dict[str, Row] = {
    "acme-cloud": {"kind": "row rule", "position": 45, "function": "acme.rule_cloud",
        "parameters": {"clouds": ["CERN", "US"]}, "source": "ours"},
    "acme-tier": {"kind": "weight", "position": 325, "function": "acme.weight_tier",
        "parameters": {"site": "SB", "factor": 3}},
}  # fmt: skip


def _queue(site: str, **more: Any) -> Row:
    disks = {"read_lan": ["DISK"], "write_lan": ["DISK"]}
    pilots = {"getjob": 9, "updatejob": 9}
    return {"panda_site": site, "cloud": "DE", "astorages": disks, "pilots": pilots, **more}


WORLD = {
    "storages": {"DISK": {"site": "DISK", "space_free": 1000}},
    "queues": {"QA": _queue("SA"), "QB": _queue("SB"), "QC": _queue("SC", cloud="CERN"),
        "QD": _queue("SD", status="test", cloud="CERN"), "QN": _queue("SN", maxrss=100)},
    "tasks": [{"id": 1}],
}  # fmt: skip


def _say(db: Connection, rule: str, profile: str = "acme", **changes: Any) -> None:
    db.execute("select brokerage.set_rule(%s, %s, %s)", (profile, rule, Jsonb(changes)))


def _answer(db: Connection, profile: str | None = None) -> Row:
    query = "select brokerage.evaluate_task('default', 1, 'production_job', %s)"
    [(answer,)] = db.execute(query, [profile]).fetchall()
    return dict(answer)


def _weights(answer: Row) -> dict[str, float]:
    return {row["queue"]: row["weight"] for row in answer["candidates"]}


def _rejected(answer: Row) -> dict[str, tuple[str, str | None]]:
    return {row["queue"]: (row["rule"], row["criteria"]) for row in answer["rejected"]}


def _house(db: Connection) -> list[Any]:
    """The functions of the installation, and the rules of the shipped profiles."""
    query = """select p.oid::regprocedure::text, md5(pg_get_functiondef(p.oid)), p.proacl::text from pg_proc p
                where p.pronamespace = 'brokerage'::regnamespace and p.prokind <> 'a' order by 1"""
    rules = "select * from brokerage.rule_in_force where profile in ('documented', 'panda2026') order by 1, 2, 3"
    return [*db.execute(query).fetchall(), *db.execute(rules).fetchall()]


@pytest.fixture
def acme(db: Connection) -> Connection:
    """A connection as superuser; the profile acme has a rule and a weight of its own."""
    world.load(db, [WORLD])
    db.execute(ACME.encode())
    db.execute("select brokerage.set_profile('acme', 'documented', 'Of Acme')")
    for rule, changes in OWN.items():
        _say(db, rule, **changes)
    return db


def test_a_profile_decides_with_its_own_rule_and_weight(acme: Connection) -> None:
    doc, own = _answer(acme), _answer(acme, "acme")
    assert _rejected(doc) == {"QD": ("queue-status", "-status"), "QN": ("memory", "-lowmemory")}
    assert _rejected(own) == {**_rejected(doc), "QC": ("acme-cloud", "-acme")}  # QD fails an earlier rule
    assert own["rejected"][0]["reason"] == "cloud CERN is for others"
    weights = _weights(doc)
    assert _weights(own) == {"QB": pytest.approx(3 * weights["QB"]), "QA": weights["QA"]}
    assert own["candidates"][0]["queue"] == "QB"


@pytest.mark.slow
def test_own_rules_change_no_shipped_function_and_no_shipped_profile(db: Connection) -> None:
    before = _house(db)
    world.load(db, [WORLD])
    doc = _answer(db)
    db.execute(ACME.encode())
    db.execute("select brokerage.set_profile('acme', 'documented')")
    for rule, changes in OWN.items():
        _say(db, rule, **changes)
    _say(db, "memory", enabled=False)
    _say(db, "top-10", parameters={"best": 1})
    assert _house(db) == before
    assert _answer(db) == doc


@pytest.mark.slow
def test_a_shipped_rule_is_disabled_and_taken_back(acme: Connection) -> None:
    _say(acme, "memory", enabled=False)
    own = _answer(acme, "acme")
    assert "QN" in _weights(own)
    assert acme.execute("select brokerage.clear_rule('acme', 'memory')").fetchall() == [(True,)]
    assert _rejected(_answer(acme, "acme"))["QN"] == ("memory", "-lowmemory")
    _say(acme, "acme-cloud", enabled=False)
    assert "QC" in _weights(_answer(acme, "acme"))


@pytest.mark.slow
@pytest.mark.parametrize("dry", [True, False])
def test_a_run_keeps_its_tags_without_its_profile(acme: Connection, dry: bool) -> None:
    """Tags that a function computed are kept, and so are tags of rules that were changed since."""
    _say(acme, "top-10", parameters={"best": 1})
    [(run,)] = acme.execute("select brokerage.open_run('default', 'production_job', 'acme', null, %s)", [dry])
    acme.execute("select brokerage.broker_next('default', %s, '{1}')", [run])

    def told() -> tuple[list[Any], ...]:
        of_queues = "select queue, rule, criteria, reason from monitor.verdict where verdict = 'rejected' order by 1"
        by_rule = "select rule, criteria, pairs from brokerage.rejections order by rule"
        answer = acme.execute("select brokerage.answer('default', %s, 1)", [run]).fetchall()
        return acme.execute(of_queues).fetchall(), acme.execute(by_rule).fetchall(), answer

    queues, rules, answer = told()
    assert [row[:3] for row in queues] == [
        ("QA", "top-10", "-low_weight"), ("QC", "acme-cloud", "-acme"), ("QD", "queue-status", "-status"),
        ("QN", "memory", "-lowmemory"),
    ]  # fmt: skip
    assert queues[1][3] == "cloud CERN is for others"
    assert rules == [(rule, criteria, 1) for _, rule, criteria, _ in sorted(queues, key=lambda row: row[1])]
    assert _rejected(answer[0][0]) == {queue: (rule, criteria) for queue, rule, criteria, _ in queues}
    _say(acme, "acme-cloud", criteria="-other")
    acme.execute("select brokerage.remove_profile('acme')")
    assert told() == (queues, rules, answer)


@pytest.mark.slow
def test_parameters_position_and_criteria_are_changed(acme: Connection) -> None:
    _say(acme, "top-10", parameters={"best": 1})
    assert _weights(_answer(acme, "acme")).keys() == {"QB"}
    assert _rejected(_answer(acme, "acme"))["QA"] == ("top-10", "-low_weight")
    _say(acme, "acme-tier", parameters={"site": "SA", "factor": 0.5})
    assert [row["queue"] for row in _answer(acme, "acme")["candidates"]] == ["QB"]
    _say(acme, "acme-cloud", position=35)  # before queue-status
    assert _rejected(_answer(acme, "acme"))["QD"] == ("acme-cloud", "-acme")
    _say(acme, "queue-status", criteria="-ours", position=30)
    assert _rejected(_answer(acme, "acme"))["QD"] == ("queue-status", "-ours")
    _say(acme, "prod-pending", parameters={"wait": "3 minutes"})
    acme.execute("update resource.queue set status = 'offline'")
    query = "select %s::timestamptz - r.started_at from brokerage.run r order by run_id desc limit 1"
    [(wait,)] = acme.execute(query, [_answer(acme, "acme")["retry_at"]]).fetchall()
    assert wait.total_seconds() == 180


@pytest.mark.slow
def test_explain_shows_the_rule_and_the_weight_of_a_plugin(acme: Connection) -> None:
    query = """select queue, verdict, rule, criteria, reason, factors, all_reasons
                 from brokerage.explain('default', 1, 'acme')"""
    rows = {queue: tuple(rest) for queue, *rest in acme.execute(query).fetchall()}
    assert rows["QC"][:4] == ("rejected", "acme-cloud", "-acme", "cloud CERN is for others")
    assert [said.partition(":")[0] for said in rows["QD"][5]] == ["queue-status", "acme-cloud"]
    assert rows["QB"][4]["acme-tier"] == 3
    assert rows["QA"][4] == {**rows["QB"][4], "acme-tier": 1}
    query = "select rule, opens from brokerage.obstacles('default', 1, 'acme')"
    assert dict(acme.execute(query).fetchall()) == {"acme-cloud": 1, "memory": 1, "queue-status": 0}
    query = "select kind, position, enabled, parameters, source from brokerage.rule_in_force where rule = 'acme-cloud'"
    said = ("row rule", 45.0, True, OWN["acme-cloud"]["parameters"], "ours")
    assert acme.execute(query).fetchall() == [said]


@pytest.mark.slow
def test_a_profile_may_extend_another_and_a_setup_may_use_that_profile(acme: Connection) -> None:
    acme.execute("select brokerage.set_profile('acme-test', 'acme')")
    _say(acme, "memory", "acme-test", enabled=False)
    assert "QN" in _weights(_answer(acme, "acme-test"))
    assert _rejected(_answer(acme, "acme-test"))["QC"] == ("acme-cloud", "-acme")
    assert _rejected(_answer(acme, "acme"))["QN"] == ("memory", "-lowmemory")
    acme.execute("select brokerage.set_settings('default', %s)", [Jsonb({"profile": "acme-test"})])
    assert _answer(acme) == _answer(acme, "acme-test")
    [(run,)] = acme.execute("call brokerage.broker_jobs('default')").fetchall()
    query = "select profile from brokerage.run where run_id = %s"
    assert acme.execute(query, [run]).fetchall() == [("acme-test",)]


@pytest.mark.slow
def test_a_rule_that_one_profile_lacks_does_not_disturb_another(acme: Connection) -> None:
    """A row about a rule that was removed from the profile below has no effect."""
    acme.execute("select brokerage.set_profile('acme-test', 'acme')")
    _say(acme, "acme-cloud", "acme-test", parameters={"clouds": ["DE"]})
    acme.execute("select brokerage.clear_rule('acme', 'acme-cloud')")
    assert _answer(acme, "acme-test") == _answer(acme, "acme")
    acme.execute("select brokerage.set_profile('other', 'documented')")
    _say(acme, "memory", "other", enabled=False)
    with pytest.raises(psycopg.Error, match="acme-cloud of profile acme-test has no kind"):
        _say(acme, "memory", "acme-test", enabled=False)


@pytest.mark.slow
def test_a_profile_based_on_panda2026_keeps_its_weights_and_choices(acme: Connection) -> None:
    """Marks, weights and choices of panda2026 hold, with an own rule among them."""
    acme.execute("select brokerage.set_profile('acme2026', 'panda2026')")
    panda = _answer(acme, "panda2026")
    for rule, changes in OWN.items():
        _say(acme, rule, "acme2026", **{**changes, "position": 45 if rule == "acme-cloud" else 365})
    own = _answer(acme, "acme2026")
    assert _rejected(own) == {**_rejected(panda), "QC": ("acme-cloud", "-acme")}
    assert _weights(own).keys() == _weights(panda).keys() - {"QC"}


@pytest.mark.slow
def test_an_operator_may_make_and_remove_a_profile(acme: Connection, connect: Callable[..., Connection]) -> None:
    operator = connect("broker_operator")
    operator.execute("select brokerage.set_profile('mine', 'acme')")
    _say(operator, "acme-name", "mine", kind="row rule", position=46, function="acme.rule_name")
    assert _rejected(_answer(operator, "mine"))["QN"] == ("acme-name", None)
    assert operator.execute("select brokerage.remove_profile('mine')").fetchall() == [(True,)]


REFUSED: list[tuple[Row, str]] = [
    ({"function": "acme.rule_gone"}, "no function acme.rule_gone"),
    ({"function": "rule_cloud"}, "rule_cloud"), ({"function": "acme.rule_cloud.x"}, "rule_cloud"),
    ({"function": "acme.rule_cloud()"}, "rule_cloud"),
    ({"function": "acme.rule_cloud; drop table brokerage.run"}, "rule_cloud"),
    ({"function": None}, "acme-new"), ({"function": "acme.weight_tier"}, "returns double precision"),
    ({"kind": "weight", "position": 326}, "returns text"), ({"kind": "rule"}, "acme-new"),
    ({"kind": None}, "acme-new"), ({"position": None}, "acme-new"),
    ({"position": 345}, "after rule top-10"),
    ({"kind": "candidate", "position": 335}, "comes after rules of other kinds"),
    ({"kind": "weight", "function": "acme.weight_tier", "position": 335}, "after rules that read the weight"),
    ({"kind": "choice", "function": None, "position": 338}, "best"),
    ({"kind": "task rule"}, "status"), ({"parameters": 5}, "acme-new"),
    ({"place": 5}, "place"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "named"), REFUSED)
def test_a_rule_that_does_not_fit_is_refused(acme: Connection, changes: Row, named: str) -> None:
    """The rule is refused when it is set, not when tasks wait; the profile does not change."""
    before = _answer(acme, "acme")
    with pytest.raises(psycopg.Error, match=named) as raised:
        _say(acme, "acme-new", **{"kind": "row rule", "position": 50, "function": "acme.rule_cloud", **changes})
    assert raised.value.sqlstate == "PB001"
    assert raised.value.diag.message_hint
    assert _answer(acme, "acme") == before


@pytest.mark.slow
def test_a_rule_owned_by_another_role_is_refused(acme: Connection) -> None:
    """A rule runs as the owner of the installation: other functions are refused, when set and when used."""
    name = f"test_acme_{uuid4().hex[:10]}"
    role = sql.Identifier(name)
    acme.execute(sql.SQL("create role {}").format(role))
    try:
        acme.execute(sql.SQL("grant create, usage on schema acme to {}").format(role))
        acme.execute(sql.SQL("alter function acme.rule_name owner to {}").format(role))
        with pytest.raises(psycopg.Error, match=r"owner of acme\.rule_name") as raised:
            _say(acme, "acme-name", kind="row rule", position=46, function="acme.rule_name")
        assert raised.value.sqlstate == "PB002"
        acme.execute(sql.SQL("alter function acme.rule_cloud owner to {}").format(role))
        with pytest.raises(psycopg.Error, match=r"owner of acme\.rule_cloud") as raised:
            _answer(acme, "acme")
        assert raised.value.sqlstate == "PB002"
        with pytest.raises(psycopg.Error) as raised:
            acme.execute("call brokerage.broker_jobs('default', '{1}', 'acme')")
        assert raised.value.sqlstate == "PB002"
        assert acme.execute("select count(*) from brokerage.task_decision").fetchall() == [(0,)]
        assert _answer(acme)["status"] == "candidates"  # doc goes on
    finally:
        acme.execute(sql.SQL("drop owned by {}").format(role))
        acme.execute(sql.SQL("drop role {}").format(role))


def test_a_function_that_the_owner_of_the_installation_may_not_call_is_named(acme: Connection) -> None:
    acme.execute("revoke usage on schema acme from broker_owner")
    with pytest.raises(psycopg.Error, match="acme") as raised:
        _answer(acme, "acme")
    assert (raised.value.sqlstate, "grant usage" in str(raised.value.diag.message_hint)) == ("PB002", True)
    acme.execute("grant usage on schema acme to broker_owner")
    acme.execute(f"revoke execute on function acme.rule_cloud({FACTS}, jsonb) from public".encode())
    with pytest.raises(psycopg.Error, match=r"acme\.rule_cloud") as raised:
        _answer(acme, "acme")
    assert (raised.value.sqlstate, "grant execute" in str(raised.value.diag.message_hint)) == ("PB002", True)


@pytest.mark.slow
def test_a_dropped_function_of_a_rule_is_named(acme: Connection) -> None:
    acme.execute(f"drop function acme.rule_cloud({FACTS}, jsonb)".encode())
    with pytest.raises(psycopg.Error, match=r"no function acme\.rule_cloud") as raised:
        _answer(acme, "acme")
    assert raised.value.sqlstate == "PB001"
    assert raised.value.diag.message_hint


@pytest.mark.slow
def test_an_upgrade_leaves_own_rules_and_profiles_alone(acme: Connection, dsn: str, tmp_path: Path) -> None:
    """An upgrade replaces rules, facts and the list of rules: its changes take effect, and Acme's objects stay."""
    _say(acme, "memory", enabled=False)
    query = """select p.oid, pg_get_functiondef(p.oid), p.proowner from pg_proc p
                where p.pronamespace = 'acme'::regnamespace order by 1"""
    rows = "select * from brokerage.profile_rule order by rule"
    before = (acme.execute(query).fetchall(), acme.execute(rows).fetchall(), _answer(acme, "acme"))
    shutil.copytree(Program().sql, tmp_path / "sql")
    changes = {
        "rule/common/rule_queue_status.sql": ("select case", "select case when q.queue = 'nobody' then 'newer'"),
        "profile/shipped/shipped_documented_production_job.sql": ("'-status'", "'-newer'"),
        "fact/facts_of_queues.sql": ("select q.queue as queue", "select q.queue || '' as queue"),
    }
    for path, (old, new) in changes.items():
        file = tmp_path / "sql/brokerage" / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
    upgrade(dsn, program=Program(tmp_path / "sql", release="99.0"))
    assert (acme.execute(query).fetchall(), acme.execute(rows).fetchall()) == before[:2]
    answer = _answer(acme, "acme")
    assert _rejected(answer) == {**_rejected(before[2]), "QD": ("queue-status", "-newer")}
    assert _weights(answer) == _weights(before[2])


@pytest.mark.parametrize("profile", ["documented", "panda2026"])
def test_all_nuclei_are_ranked_candidates_when_none_is_chosen(db: psycopg.Connection[Any], profile: str) -> None:
    both = {"read_lan": ["DISK"], "write_lan": ["DISK"]}
    queues = {f"Q{number}": {"pilots": {"getjob": 1}, "astorages": both} for number in range(12)}
    storages = {"DISK": {"site": "S", "space_free": 1000}}
    datasets = {"in": {"type": "pseudo_input", "files": [{"lfn": "f", "size": 1, "nevents": 1}]}}
    tasks = [{"id": 1, "input": ["in"]}]
    world.load(db, [{"queues": queues, "storages": storages, "datasets": datasets, "tasks": tasks}])
    db.execute("select brokerage.set_profile('all', %s)", [profile])
    db.execute("""select brokerage.set_rule('all', 'top-10', '{"enabled": false}')""")
    db.execute("call brokerage.broker_jobs('default', p_profile => 'all')")
    ranks = db.execute("select rank from brokerage.decision where verdict = 'c' order by rank").fetchall()
    assert ranks == [(rank,) for rank in range(1, 13)]
    assert db.execute("select sum(jobs) from brokerage.assignment").fetchone() == (1,)


def test_doctor_finds_a_profile_whose_function_was_dropped(db: Connection) -> None:
    """doctor finds it before the next run: a problem where a setup uses the profile, otherwise advice."""
    health = "select object, value, verdict, cost, remedy from monitor.health_profile"
    world.load(db, [WORLD])
    db.execute(ACME.encode())
    assert db.execute(health).fetchone() == ("profiles of your own", "0, and all compose", "ok", None, None)
    db.execute("select brokerage.set_profile('acme')")
    _say(db, "acme-cloud", **OWN["acme-cloud"])
    assert db.execute(health).fetchone() == ("profiles of your own", "1, and all compose", "ok", None, None)
    db.execute("drop function acme.rule_cloud")
    [found] = db.execute(health).fetchall()
    assert found[:3] == (
        "profile acme, production_job",
        "rule acme-cloud of profile acme: there is no function acme.rule_cloud that takes task_facts, queue_facts and"
        " pair_facts",
        "advice",
    )
    db.execute("""select brokerage.set_settings('default', '{"profile": "acme"}')""")
    [found] = db.execute(health).fetchall()
    assert found[2:4] == ("problem", "each run of the broker ends with this error in default")
    assert "broker profile clear-rule" in found[4]
