"""Worlds: load and dump of the data of the schema taskqueue."""

import json
from collections.abc import Callable
from itertools import islice
from typing import Any

import psycopg
import pytest

from broker import errors, world
from broker.laboratory import lhcb
from tests.calls import Calls, Connection, requirements

WORLD: dict[str, Any] = {
    "setup": "lhcb",
    "task_queue_settings": {"ten_first": True, "queue_size": 3, "policy": "proportional", "lease_time": 60},
    "cpu_buckets": [100, 1000],
    "groups": {"users": {"share": 7.5, "job_sharing": True}, "prod": {}},
    "platform_compatibility": {"el9": ["any", "x86"]},
    "attributes": {"glibc": "version", "gpu.count": {"type": "number", "absent": {"value": 0}}},
    "limits": [
        {"site": "S", "kind": "running", "attribute": "JobTypes", "value": "User", "limit": 2},
        {
            "site": "S", "ce": "c", "kind": "delay", "attribute": "OwnerGroup", "value": "users", "seconds": 1.5,
            "burst": 3,
        },
    ],
    "task_queues": [
        {"requirements": requirements(CPUTime=50), "jobs": [[1, 10], [2, 0], [3, 1], [4, 1], [5, 2]]},
        {"requirements": requirements(CPUTime=50), "jobs": [[6, 1], [7, 1]]},
        {"requirements": requirements(CPUTime=5000, Sites=["T", "S"], MinRAM=1.5), "enabled": False, "jobs": [[8, 3]]},
        {"requirements": requirements(Tags=["empty"]), "jobs": []},
    ],
}  # fmt: skip


def dumped(connection: Connection, setup: str = "lhcb", **options: Any) -> str:
    return "".join(world.dump(connection, setup, **options))


def test_a_dump_has_the_loaded_world(db: Connection) -> None:
    loaded = world.load(db, [WORLD])
    assert (loaded.setups, loaded.jobs) == (["lhcb"], 8)
    found = json.loads(dumped(db))
    assert found["setup"] == "lhcb"
    assert found["task_queue_settings"].items() >= WORLD["task_queue_settings"].items()
    assert found["cpu_buckets"] == [100, 1000]
    assert found["groups"] == {
        "users": {"share": 7.5, "job_sharing": True, "allow_background": False},
        "prod": {"share": 1000, "job_sharing": False, "allow_background": False},
    }
    assert found["platform_compatibility"] == {"el9": ["any", "x86"]}
    assert found["attributes"] == {
        "glibc": {"type": "version", "absent": "fails", "exclusive": True},
        "gpu.count": {"type": "number", "absent": {"value": 0}, "exclusive": True},
    }
    assert [
        (limit["kind"], limit.get("limit"), limit.get("seconds"), limit.get("burst")) for limit in found["limits"]
    ] == [("running", 2, None, None), ("delay", None, 1.5, 3)]
    queues = sorted(
        (queue["enabled"], queue["jobs"], queue["requirements"]["CPUTime"]) for queue in found["task_queues"]
    )
    assert queues == [
        (False, [[8, 3]], 1000),
        (True, [[1, 10], [2, 0], [3, 1], [4, 1], [5, 2]], 100),  # a queue of its own, whatever queue_size is
        (True, [[6, 1], [7, 1]], 100),
    ]


@pytest.mark.slow
def test_dump_load_dump_gives_the_same_bytes(db: Connection, new_database: Callable[..., str]) -> None:
    world.load(db, [WORLD])
    calls = Calls(db, "lhcb")
    for _ in range(3):
        calls.take(Tag="any")
    calls.call("delete_empty_queues")
    first = dumped(db)
    with psycopg.connect(new_database(), autocommit=True) as other:
        world.load(other, [json.loads(first)])
        assert dumped(other) == first
        assert Calls(other, "lhcb").inconsistencies() == []
        world.load(other, [json.loads(first)])  # once more changes nothing
        assert dumped(other) == first
        assert Calls(other, "lhcb").inconsistencies() == []


@pytest.mark.thorough
def test_the_lhcb_setup_in_its_own_shape_survives_dump_and_load(
    db: Connection, new_database: Callable[..., str]
) -> None:
    world.load(
        db, [{"setup": "lhcb", "cpu_buckets": lhcb.table().cpu_buckets, "task_queues": list(lhcb.groups(1_500))}]
    )
    first = dumped(db)
    assert len(json.loads(first)["task_queues"]) == 501
    with psycopg.connect(new_database(), autocommit=True) as other:
        world.load(other, [json.loads(first)])
        assert dumped(other) == first


def test_leases_are_dumped_on_request_only_and_their_agents_go_on(
    db: Connection, new_database: Callable[..., str]
) -> None:
    world.load(db, [WORLD])
    match = Calls(db, "lhcb").take(Site="S", GridCE="c")
    assert match.attempt not in dumped(db)
    first = dumped(db, with_leases=True)
    assert match.attempt in first
    with psycopg.connect(new_database(), autocommit=True) as other:
        world.load(other, [json.loads(first)])
        assert dumped(other, with_leases=True) == first
        calls = Calls(other, "lhcb")
        assert calls.inconsistencies() == []
        assert calls.call_rows("report_job", match.job_id, match.attempt) == [("continue", None)]
        assert calls.call("release_job", match.job_id, match.attempt) is not None
        assert calls.state(match.job_id) == "waiting"


def test_loaded_leases_count_at_the_limits(db: Connection, new_database: Callable[..., str]) -> None:
    jobs = {"requirements": requirements(JobTypes=["User"]), "jobs": [[n, 1] for n in range(1, 6)]}
    limit = {"site": "S", "kind": "running", "attribute": "JobTypes", "value": "User", "limit": 2}
    world.load(db, [{"task_queues": [jobs], "limits": [limit]}])
    Calls(db).take(Site="S")
    text = dumped(db, "default", with_leases=True)
    with psycopg.connect(new_database(), autocommit=True) as other:
        world.load(other, [json.loads(text)])
        assert Calls(other).match(Site="S") is not None
        assert Calls(other).match(Site="S") is None  # two leases: the loaded one and this
        assert Calls(other).match(Site="T") is not None


def test_a_setup_given_as_argument_overrides_the_one_in_the_file(db: Connection) -> None:
    assert world.load(db, [WORLD], "other").setups == ["other"]
    assert json.loads(dumped(db, "other"))["setup"] == "other"
    assert world.load(db, [{"vo": "v", "cpu_buckets": [7]}, {"cpu_buckets": [8]}]).setups == ["v", "default"]


@pytest.mark.parametrize(("change", "named"), [
    ({"quebes": {}}, "section quebes"),
    ({"task_queues": [{"requirements": requirements(), "jobs": [], "colour": 1}]}, r"task_queues\[0\]: field colour"),
    ({"limits": [{**WORLD["limits"][0], "place": "S"}]}, r"limits\[0\]: field place"),
    ({"groups": {"g": {"quota": 1}}}, r"groups\.g: field quota"),
    ({"task_queue_settings": {"fast": True}}, "task_queue_settings: field fast"),
])  # fmt: skip
def test_unknown_fields_are_refused_by_name_or_left_out(db: Connection, change: dict[str, Any], named: str) -> None:
    with pytest.raises(errors.BadRequest, match=named):
        world.load(db, [{**WORLD, **change}])
    assert Calls(db).value("select count(*) from monitor.setup") == 0
    assert len(world.load(db, [{**WORLD, **change}], lenient=True).ignored) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"task_queues": {}},
        {"task_queues": [7]},
        {"task_queues": [{"requirements": requirements(), "jobs": 7}]},
        {"task_queues": [{"requirements": requirements(), "jobs": [[1, 11]]}]},
        {"task_queues": [{"requirements": requirements(), "enabled": "yes", "jobs": [[1, 1]]}]},
        {"task_queues": [{"requirements": {"OwnerDN": "a"}, "jobs": [[1, 1]]}]},
        {"cpu_buckets": ["a"]},
        {"cpu_buckets": [1.5]},
        {"cpu_buckets": 500},
        {"groups": {"g": 7}},
        {"platform_compatibility": {"p": "q"}},
        {"attributes": ["glibc"]},
        {"attributes": {"glibc": "text of any kind"}},
        {"limits": [{"site": "S", "kind": "running", "attribute": "JobTypes", "value": "User"}]},
        {"limits": [{"site": "S", "kind": "often", "attribute": "JobTypes", "value": "User", "limit": 1}]},
        {"limits": [{"site": "S", "kind": "running", "attribute": "JobTypes", "value": "User", "limit": "two"}]},
        {"limits": [{"site": "S", "kind": "running", "attribute": "JobTypes", "value": "User", "limit": True}]},
        {"groups": {"g": {"share": "much"}}},
        {"groups": {"g": {"job_sharing": 1}}},
        {"task_queue_settings": {"queue_size": "large"}},
        {"platform_compatibility": {"p": [1]}},
        {"leases": [{"id": "one"}]},
        {"setup": 7},
    ],
)
def test_a_wrong_value_loads_nothing(db: Connection, change: dict[str, Any]) -> None:
    before = Calls(db).stored()
    with pytest.raises((errors.BadRequest, psycopg.Error)) as caught:
        world.load(db, [WORLD, {**WORLD, **change}])
    if isinstance(caught.value, psycopg.Error):
        assert caught.value.sqlstate == "PB001"
    assert Calls(db).stored() == before


def test_a_setup_that_holds_nothing_is_not_dumped(db: Connection) -> None:
    with pytest.raises(errors.BadRequest, match="nowhere"):
        dumped(db, "nowhere")


def test_a_removed_setup_is_gone_and_the_others_stay(db: Connection) -> None:
    Calls(db, "other").insert(1)
    others = {setup: dumped(db, setup) for setup in ("other",)}
    before = Calls(db).stored()
    world.load(db, [WORLD])
    calls = Calls(db, "lhcb")
    match = calls.take()
    calls.call("finish_job", match.job_id, match.attempt)
    calls.take()
    assert calls.call("remove_setup") is True
    assert calls.call("remove_setup") is False
    left = Calls(db).stored()
    assert left.pop("resource.change") != before.pop("resource.change")  # names the role that removed the setup
    assert left == before
    assert dumped(db, "other") == others["other"]


@pytest.mark.thorough
def test_lhcb_priorities_come_out_as_at_lhcb(db: Connection) -> None:
    """The groups' shares, the families of queues and their user priorities give the priorities that LHCb had.

    DIRAC sums TaskQueues that differ in banned sites alone. Here these siblings have one weight and count once, so only
    groups without siblings are compared.
    """
    table = lhcb.table()
    groups = {group: {"share": share} for group, share in table.shares.items()}
    world.load(db, [{"cpu_buckets": table.cpu_buckets, "groups": groups, "task_queues": list(lhcb.groups(20_000))}])
    expected: dict[str, float] = {}
    for queue in table.queues:
        key = Calls(db).value(
            "select taskqueue.canonical_requirements('default', %s)::text",
            psycopg.types.json.Jsonb(dict(queue.requirements)),
        )
        expected[key] = queue.priority
    query = """select distinct m.requirements::text, m.priority, max(q.siblings) over (partition by m.owner_group) > 1
                 from monitor.task_queue m join taskqueue.task_queue q using (setup, task_queue_id)"""
    found = Calls(db).rows(query)
    assert len(found) == len(expected)
    placeholder = 1.0  # a queue that DIRAC had not given its priority yet: one of its known faults
    compared = [row for row in found if not row[2] and expected[row[0]] != placeholder]
    assert len(compared) >= 20
    for key, priority, _ in compared:
        assert priority == pytest.approx(expected[key], rel=0.12), key


@pytest.mark.thorough
def test_most_synthetic_pilots_find_a_job(db: Connection) -> None:
    world.load(db, [{"cpu_buckets": lhcb.table().cpu_buckets, "task_queues": list(lhcb.groups(20_000))}])
    pilots = list(islice(lhcb.resources(1), 300))
    matched = [
        Calls(db).rows("select from taskqueue.match_job('default', %s)", psycopg.types.json.Jsonb(p)) != []
        for p in pilots
    ]
    assert 0.6 < sum(matched) / len(matched) < 0.95


GOOD = {"requirements": requirements(), "jobs": [[1]]}


@pytest.mark.parametrize(
    ("world_", "place"),
    [
        ({"task_queues": [GOOD, {"requirements": requirements(TagExpression="a & & b"), "jobs": [[7], [8]]}]},
         "task_queues[1], job 7 and 1 more: TagExpression: & at character 5"),
        ({"task_queues": [GOOD, {"requirements": requirements(CPUTime=-1), "jobs": [[7]]}]}, "task_queues[1], job 7: "),
        ({"task_queues": [GOOD, {"requirements": requirements(CPUTime=-1)}]}, "task_queues[1]: CPUTime"),
        ({"task_queues": [GOOD, {"requirements": requirements(), "jobs": [5]}]}, "task_queues[1]: "),
        ({"task_queues": [GOOD, {"requirements": requirements(OwnerGroup="b"), "jobs": [[1]]}]},
         "task_queues: job_id 1"),
        ({"limits": [{"site": "A", "kind": "running", "attribute": "JobType", "value": "x", "limit": 1},
                     {"site": "A", "kind": "running", "attribute": "JobType", "value": "x", "limit": -1}]},
         "limits[1]: limit is -1"),
        ({"quarantines": [{"kind": "host", "site": "A", "name": "n", "why": "w"}, {"kind": "rack"}]},
         "quarantines[1]: "),
        ({"held_owners": ["a", ""]}, "held_owners[1]: invalid name"),
        ({"held_owners": ["a", 5]}, "held_owners[1] is 5"),
        ({"cpu_buckets": [1, "x"]}, "cpu_buckets[1] is \"x\""),
        ({"cpu_buckets": [1, -5]}, "cpu_buckets: invalid bucket -5"),
        ({"groups": {"users": {"share": -1}}}, "groups: invalid share -1 of group users"),
        ({"leases": [{"id": 5, "requirements": requirements()}]}, "leases: lease 5: "),
        ({"attributes": {"a": "nope"}}, "attributes: attribute a is "),
        ({"retry_rules": [{"name": "r", "decision": "nope"}]}, "retry_rules: retry rule number 1"),
    ],
)  # fmt: skip
def test_an_error_of_the_database_names_the_entry_of_the_world(
    rolled_back: Connection, world_: dict[str, Any], place: str
) -> None:
    with pytest.raises(errors.BrokerError) as refused:
        world.load(rolled_back, [world_], "w", names=["w.json"])
    assert refused.value.message.startswith(f"w.json: {place}"), refused.value.message
    assert rolled_back.execute("select count(*) from taskqueue.job").fetchall() == [(0,)]
