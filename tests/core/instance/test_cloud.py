"""Jobs of TaskQueues on instances: jobs for queues of kind cloud, and jobs that the agent of an instance asks for."""

import json
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.errors import BadRequest
from tests.calls import Calls, Connect, Connection, refused
from tests.core.lifecycle import grids

TYPES = {"small": {"cpu": 2, "ram": 4096, "price": 1}, "large": {"cpu": 8, "ram": 16384, "price": 3}}
QUEUES = {"CLOUD": {"resource_type": "cloud"}, "OTHER": {"resource_type": "cloud"}, "GRID": {"resource_type": "GRID"}}


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """A setup s with two types of instances, two queues of kind cloud and one of the grid."""
    rolled_back.execute("select")  # begins the transaction that is rolled back
    world.load(rolled_back, [{"instance_types": TYPES, "queues": QUEUES}], "s")
    return Calls(rolled_back, "s")


def waiting(q: Calls, *ids: int, cores: int = 1, ram: int = 1000, site: str = "CLOUD") -> None:
    """Jobs in a TaskQueue."""
    tags: dict[str, Any] = {"Tags": [f"{cores}Processors"]} if cores > 1 else {}
    q.insert_many(ids, Sites=[site], MinRAM=ram, **tags)


def schedule(q: Calls) -> tuple[int, ...]:
    """Schedule the whole setup: placed, requested, released, waiting, unschedulable."""
    return tuple(q.rows("call instance.schedule('s', p_commit => false)")[0])


def match(q: Calls, instance: int, limit: int = 100, *, spare: bool = False, **resource: Any) -> dict[int, str]:
    """instance.match_jobs: the attempt of each job."""
    query = "select job_id, attempt from instance.match_jobs('s', %s, %s, %s, %s)"
    return dict(q.rows(query, instance, limit, Jsonb(resource), spare))


def finish(q: Calls, jobs: dict[int, str]) -> None:
    """taskqueue.finish_job, as any agent calls it."""
    for job, attempt in jobs.items():
        q.call("finish_job", job, attempt, "finished")


def placed(q: Calls) -> dict[int, int]:
    """Jobs of TaskQueues that are on instances."""
    return dict(q.rows("select job_id, instance_id from monitor.instance_step where state = 'placed' order by 1"))


def used(q: Calls) -> dict[int, tuple[Any, ...]]:
    """Queue, state, steps, cores and memory in use of each instance."""
    rows = q.rows(
        "select instance_id, queue, state, steps, used_cpu, used_ram from monitor.instance where setup = 's' order by 1"
    )
    assert q.rows("select * from monitor.instance_difference") == []
    return {row[0]: row[1:] for row in rows}


def test_jobs_of_a_queue_of_kind_cloud_bring_up_instances(q: Calls) -> None:
    waiting(q, 11, 12, 13, cores=2)
    waiting(q, 14, site="GRID")
    q.insert_many([15], Sites=["CLOUD", "GRID"])
    q.insert_many([16])
    assert schedule(q) == (3, 3, 0, 0, 0)  # three of the cheapest type that fits, as PACKING.md asks
    assert set(placed(q)) == {11, 12, 13}
    assert set(used(q).values()) == {("CLOUD", "requested", 1, 2, 1000)}
    assert schedule(q) == (0, 0, 0, 0, 0)
    for job, instance in placed(q).items():
        taken = match(q, instance)
        assert list(taken) == [job]
        assert used(q)[instance][1] == "running"
        assert match(q, instance) == {}
        finish(q, taken)
    assert schedule(q) == (0, 0, 3, 0, 0)
    assert {state for _, state, *_ in used(q).values()} == {"released"}
    assert q.rows("select distinct state, reason from monitor.instance_step") == [("finished", "it ended: finished")]


def test_each_queue_has_its_own_instances(q: Calls) -> None:
    waiting(q, 1)
    waiting(q, 2, site="OTHER")
    q.rows("select instance.add_steps('s', '[{\"cpu\": 1, \"ram\": 1}]')")
    assert schedule(q) == (3, 3, 0, 0, 0)
    assert sorted(str(queue) for queue, *_ in used(q).values()) == ["CLOUD", "None", "OTHER"]
    number = q.value("select step_id from monitor.instance_step where job_id = 2")
    shown = q.rows("select verdict, reason from instance.explain_step('s', %s)", number)
    assert shown == [("placed", "no instance suited: a new one of type small; 2 cores and 4096 MB of it were free")]


def test_an_instance_of_more_cores_than_a_description_may_offer_gets_jobs(q: Calls) -> None:
    world.load(q.connection, [{"instance_types": {"huge": {"cpu": 2048, "ram": 10**6, "price": 9}}}], "s", merge=True)
    waiting(q, 1, cores=1000)
    assert schedule(q)[:2] == (1, 1)
    [instance] = placed(q).values()
    assert q.rows("select type from monitor.instance where instance_id = %s", instance) == [("huge",)]
    waiting(q, 2, cores=1000)
    assert set(match(q, instance, spare=True)) == {1, 2}


def test_held_jobs_and_too_large_jobs_are_not_placed(q: Calls) -> None:
    waiting(q, 1)
    q.rows("select taskqueue.hold('s', 'job', '1')")
    waiting(q, 2, cores=16)
    assert schedule(q) == (0, 0, 0, 0, 1)
    [(reason,)] = q.rows("select reason from monitor.instance_step where job_id = 2")
    assert reason.endswith("the most cores are 8 of 16")
    q.rows("select taskqueue.resume('s', 'job', '1')")
    assert schedule(q)[0] == 1
    q.rows("select taskqueue.hold('s', 'job', '1')")
    assert schedule(q) == (0, 0, 1, 0, 1)
    q.rows("select taskqueue.resume('s', 'job', '1')")
    [(owner,)] = q.rows("select owner_dn from monitor.task_queue where setup = 's' limit 1")
    q.rows("select taskqueue.hold('s', 'owner', %s)", owner)
    assert schedule(q)[:2] == (0, 0)
    q.rows("select taskqueue.resume('s', 'owner', %s)", owner)
    assert schedule(q)[:2] == (1, 1)


def test_no_instance_is_rented_for_an_offline_queue(q: Calls) -> None:
    waiting(q, 1)
    assert schedule(q)[:2] == (1, 1)
    world.load(q.connection, [{"queues": {"CLOUD": {"status": "offline"}}}], "s", merge=True)
    assert schedule(q) == (0, 0, 1, 0, 0)
    world.load(q.connection, [{"queues": {"CLOUD": {"status": "brokeroff"}}}], "s", merge=True)
    assert schedule(q)[:2] == (1, 1)


def test_a_lease_that_expires_leaves_the_job_on_its_instance(q: Calls) -> None:
    waiting(q, 1)
    schedule(q)
    [instance] = used(q)
    [(job, attempt)] = match(q, instance).items()
    q.call("release_job", job, attempt)
    assert schedule(q) == (0, 0, 0, 0, 0)
    [(again, second)] = match(q, instance).items()
    assert (again, second[0]) == (job, "2")


def test_a_cancelled_job_frees_its_space(q: Calls) -> None:
    waiting(q, 1, 2)
    assert schedule(q) == (2, 1, 0, 0, 0)
    q.call("delete_job", 1)
    assert schedule(q) == (0, 0, 0, 0, 0)
    assert list(used(q).values()) == [("CLOUD", "requested", 1, 1, 1000)]
    q.insert_many([1], Sites=["CLOUD"], MinRAM=500)  # a new job with the number of an old one
    assert schedule(q) == (1, 0, 0, 0, 0)
    assert list(used(q).values()) == [("CLOUD", "requested", 2, 2, 1500)]


def test_an_agent_takes_jobs_for_free_space_as_a_pilot_does(q: Calls) -> None:
    q.rows("select instance.add_steps('s', '[{\"cpu\": 3, \"ram\": 1000}]')")
    assert schedule(q) == (1, 1, 0, 0, 0)
    [instance] = used(q)
    waiting(q, 1, 2, 3, cores=2, site="GRID")
    waiting(q, 4, ram=11000, site="GRID")
    waiting(q, 5, cores=8, site="GRID")
    waiting(q, 6, site="ELSEWHERE")
    taken = match(q, instance, spare=True, Site="GRID")
    assert 5 not in taken
    assert 6 not in taken
    [(_, state, steps, cpu, ram)] = used(q).values()
    assert (state, steps) == ("running", 1 + len(taken))
    assert cpu == 3 + sum(1 if job == 4 else 2 for job in taken)
    assert ram == 1000 + sum(11000 if job == 4 else 1000 for job in taken)
    assert 8 - cpu < 2 or not {1, 2, 3} - set(taken)
    finish(q, taken)
    more = match(q, instance, spare=True, Site="GRID")
    assert set(more) == {1, 2, 3, 4} - set(taken)


def test_an_expired_lease_of_a_job_for_free_space_leaves_the_instance(q: Calls) -> None:
    q.rows("select instance.add_steps('s', '[{\"cpu\": 1, \"ram\": 1000}]')")
    schedule(q)
    [instance] = used(q)
    waiting(q, 1, site="GRID")
    [(job, attempt)] = match(q, instance, spare=True, Site="GRID").items()
    assert used(q)[instance][2] == 2
    q.call("release_job", job, attempt)
    schedule(q)
    assert used(q)[instance][2] == 1


def test_an_instance_may_take_jobs_placed_on_another_of_its_queue(q: Calls) -> None:
    waiting(q, 1, 2, 3, 4, 5)
    assert schedule(q) == (5, 3, 0, 0, 0)
    first, *_ = used(q)
    mine = [job for job, instance in placed(q).items() if instance == first]
    finish(q, match(q, first))
    taken = match(q, first, spare=True)
    assert len(taken) == 2
    assert not set(taken) & set(mine)
    assert {placed(q)[job] for job in taken} == {first}
    assert schedule(q)[2] >= 0
    assert sum(steps for _, state, steps, *_ in used(q).values() if state != "released") == 3


def test_old_steps_and_instances_are_deleted(q: Calls) -> None:
    waiting(q, 1)
    schedule(q)
    [instance] = used(q)
    finish(q, match(q, instance))
    schedule(q)
    assert q.rows("select * from instance.forget_ended('s')") == [(0, 0)]
    q.rows("select lifecycle.set_settings('s', '{\"jobs_kept\": \"1 day\"}')")
    q.rows("update instance.step set ended_at = ended_at - interval '25 hours' returning 1")
    q.rows("update instance.instance set released_at = released_at - interval '25 hours' returning 1")
    waiting(q, 2)
    schedule(q)
    assert list(placed(q)) == [2]
    assert q.rows("select job_id from instance.step") == [(2,)]
    assert instance not in used(q)


def test_the_limit_of_a_match_is_a_number_of_jobs(q: Calls) -> None:
    waiting(q, 1, 2)
    schedule(q)
    [instance] = used(q)
    assert len(match(q, instance, 1)) == 1
    assert len(match(q, instance, 1)) == 1
    assert match(q, instance, 1) == {}


def test_a_repeated_request_has_the_same_answer(q: Calls) -> None:
    waiting(q, 1, 2)
    schedule(q)
    [instance] = used(q)
    query = (
        "select job_id, attempt from instance.match_jobs('s', %s, 1, '{}', %s, '7f1c8a3e-0000-4000-8000-000000000001')"
    )
    first = q.rows(query, instance, False)
    assert len(first) == 1
    assert q.rows(query, instance, False) == first
    with pytest.raises(psycopg.Error, match=r"request id .* was used for another call"):
        q.rows(query, instance, True)


def test_jobs_placed_on_a_lost_instance_wait_again(q: Calls) -> None:
    waiting(q, 1)
    schedule(q)
    [instance] = used(q)
    assert q.rows("select answer from instance.lose_instances('s', %s)", [instance]) == [("waiting",)]
    assert schedule(q) == (1, 1, 0, 0, 0)
    with refused("PB004", f"instance {instance} is released"):
        match(q, instance)


def test_the_leases_of_a_lost_instance_end(q: Calls) -> None:
    waiting(q, 1, 2)
    schedule(q)
    [instance] = used(q)
    taken = match(q, instance)
    q.call_rows("report_job", 1, taken[1])
    q.call("cancel_job", 2)  # marked for kill: it ends with its instance
    q.rows("select * from instance.lose_instances('s', %s)", [instance])
    assert q.value("select count(*) from taskqueue.lease") == 0
    assert q.refusal(lambda: finish(q, {1: taken[1]}))[0] == "PB003"
    assert schedule(q) == (1, 1, 0, 0, 0)
    [again] = {at for at, (_, state, *_) in used(q).items() if state != "released"}
    assert list(match(q, again)) == [1]


def test_an_instance_is_lost_after_its_agent_has_its_jobs(db: Connection, connect: Connect) -> None:
    """The agent's lease, which commits while the instance is reported as lost, ends with it."""
    world.load(db, [{"instance_types": TYPES, "queues": QUEUES}], "s")
    waiting(q := Calls(db, "s"), 1)
    db.execute("call instance.schedule('s')")
    [instance] = used(q)
    agent, operator = connect(), connect()
    lose = "select * from instance.lose_instances('s', %s)"
    with agent.transaction():
        assert list(match(Calls(agent, "s"), instance)) == [1]
        operator.execute("set lock_timeout = '200ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            operator.execute(lose, [[instance]])
    operator.execute(lose, [[instance]])
    assert q.value("select count(*) from taskqueue.lease") == 0
    assert q.refusal(lambda: match(q, instance))[0] == "PB004"
    assert q.take(Site="CLOUD").job_id == 1


def test_a_placed_job_that_does_not_match_keeps_no_other_from_matching(q: Calls) -> None:
    q.insert_many([1], Sites=["CLOUD"], MinRAM=1000, Platforms=["el9"])
    waiting(q, 2)
    schedule(q)
    [instance] = used(q)
    assert list(match(q, instance, 1, Platform="el7")) == [2]
    assert list(match(q, instance, 1, Platform="el9")) == [1]


def test_jobs_with_other_tags_than_cores_bring_up_no_instance(q: Calls) -> None:
    q.insert_many([1], Sites=["CLOUD"], Tags=["GPU"])
    q.insert_many([2], Sites=["CLOUD"], Tags=["4Processors", "MultiProcessor"])
    assert schedule(q)[:2] == (1, 1)
    assert list(placed(q)) == [2]


def test_a_cancelled_step_gives_its_reason(q: Calls) -> None:
    waiting(q, 1, 2, 3)
    schedule(q)
    for instance in used(q):
        taken = match(q, instance)
        for job, attempt in taken.items():
            if job == 1:
                q.call("finish_job", job, attempt, "failed")
            if job == 2:
                q.call("release_job", job, attempt)
                q.rows("select taskqueue.hold('s', 'job', '2')")
    q.call("cancel_job", 3)
    q.rows("select * from taskqueue.finish_jobs('s', '[]')")
    schedule(q)
    reasons = dict(q.rows("select job_id, state || ': ' || reason from instance.step where state <> 'placed'"))
    assert reasons[1] == "cancelled: it ended: failed"
    assert reasons[2] == (
        "cancelled: its job is held, has other needs now, or waits for a queue that is offline or not of kind cloud"
    )


@pytest.mark.parametrize(
    ("ram", "stays", "instances"),
    [(1000, True, ["requested"]), (1500, True, ["requested"]), (15000, False, ["released", "requested"])],
)
def test_a_placed_job_that_needs_more_memory_is_placed_anew(
    q: Calls, ram: int, stays: bool, instances: list[str]
) -> None:
    """A retry rule raises the memory of a job, or its submitter inserts it again."""
    waiting(q, 1)
    schedule(q)
    [first] = used(q)
    waiting(q, 1, ram=ram)
    schedule(q)
    [at] = placed(q).values()
    assert (at == first) is stays
    assert [row[1] for row in used(q).values()] == instances
    assert [row[4] for row in used(q).values() if row[1] != "released"] == [ram]
    assert list(match(q, at)) == [1]


def test_no_instance_is_rented_for_a_job_that_another_agent_has(q: Calls) -> None:
    waiting(q, 1)
    assert q.value("select added from instance.follow_task_queues('s')") == 1
    taken = q.take(Site="CLOUD")
    assert schedule(q)[:2] == (0, 0)
    [(number, reason)] = q.rows("select step_id, reason from instance.step where job_id = 1")
    assert reason == "an agent of no instance has its job"
    assert q.rows("select * from instance.explain_step('s', %s)", number) == [(None, None, "waiting", reason)]
    q.call("release_job", taken.job_id, taken.attempt)
    assert schedule(q)[:2] == (1, 1)


def test_an_instance_of_unknown_size_takes_no_job_for_free_space(q: Calls) -> None:
    waiting(q, 1)
    schedule(q)
    [instance] = used(q)
    finish(q, match(q, instance))
    q.rows("update instance.instance set cpu = null, ram = null returning 1")
    waiting(q, 2)
    assert match(q, instance, spare=True) == {}


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"state": "placed"}, "step 5 is placed but has no instance"),
        ({"queue": "CLOUD"}, "step 5 is at queue CLOUD, but represents no job"),
    ],
)
def test_worlds_with_impossible_steps_are_refused(q: Calls, job: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        world.load(q.connection, [{"instance_steps": [{"id": 5, "cpu": 1, "ram": 1, **job}]}], "s", merge=True)


def test_a_login_for_one_owner_adds_no_steps(connect: Connect) -> None:
    admin = connect()
    submitter = Calls(connect("broker_submitter"), "s")
    admin.execute("select resource.set_identity('s', 'broker_submitter', true, 'users', 'bob')")
    for call in ("add_steps('s', '[]')", "set_needs('s', '[]')", "cancel_steps('s', '{1}')"):
        submitter.refuses(partial(submitter.rows, f"select instance.{call}"), "PB002", "acts for one owner")


def test_a_viewer_may_read_explanations_and_plans(connect: Connect) -> None:
    q = Calls(connect(), "s")
    q.rows('select instance.add_steps(\'s\', \'[{"id": 5, "task": 1, "cpu": 1, "ram": 1}]\')')
    viewer = Calls(connect("broker_viewer"), "s")
    assert viewer.rows("select verdict from instance.explain_step('s', 5)") == [("unschedulable",)]
    assert viewer.rows("select * from instance.tasks_to_schedule('s')") == [(1, None)]
    assert viewer.rows("select * from instance.plan('s', 1)") == []


@pytest.mark.parametrize("call", ["finish_steps", "cancel_steps", "return_steps"])
def test_steps_for_jobs_end_with_their_jobs(q: Calls, call: str) -> None:
    waiting(q, 41)
    schedule(q)
    ids = q.value("select array_agg(step_id) from monitor.instance_step")
    assert q.rows(f"select answer from instance.{call}('s', %s)", ids) == [("it represents job 41 of a TaskQueue",)]
    assert placed(q)


def test_needs_of_a_step_for_a_job_do_not_change(q: Calls) -> None:
    waiting(q, 41, cores=16)
    schedule(q)
    number = q.value("select step_id from monitor.instance_step")
    with refused("PB005", f"step {number} is for job 41 of a TaskQueue"):
        q.rows("select instance.set_needs('s', %s)", Jsonb([{"id": number, "cpu": 1}]))


@pytest.mark.parametrize(
    ("arguments", "message", "state"),
    [
        ((1, 0, "{}"), "limit is 0", "PB001"),
        ((1, 1, "[]"), "resource description is \\[\\], not a JSON object", "PB001"),
        ((99, 1, "{}"), "there is no instance 99", "PB004"),
        ((1, 1, '{"Sight": 1}'), "key Sight", "PB001"),
    ],
)
def test_a_match_on_an_instance_with_wrong_arguments_is_refused(
    q: Calls, arguments: tuple[Any, ...], message: str, state: str
) -> None:
    q.rows("select setval('instance.instance_id', 1, false)")
    waiting(q, 1)
    schedule(q)
    with pytest.raises(psycopg.Error, match=message) as caught:
        q.rows("select * from instance.match_jobs('s', %s, %s, %s)", *arguments)
    assert caught.value.sqlstate == state


def test_worlds_carry_jobs_of_taskqueues(db: Connection) -> None:
    world.load(db, [{"instance_types": TYPES, "queues": QUEUES}], "s")
    q = Calls(db, "s")
    waiting(q, 1, 2)
    schedule(q)
    dumped = json.loads("".join(world.dump(q.connection, "s")))
    assert [(job["job"], job["queue"]) for job in dumped["instance_steps"]] == [(1, "CLOUD"), (2, "CLOUD")]
    assert [one["queue"] for one in dumped["instances"]] == ["CLOUD"]


def test_tasks_that_are_brokered_to_a_cloud_have_instances_of_their_own(q: Calls) -> None:
    tasks = [{"id": 7, "ram_count": 2000}, {"id": 8, "ram_count": 2000}]
    grids.load(q.connection, "s", tasks=tasks, resource_type="cloud")
    for task in (7, 8):
        grids.make(q.connection, "s", jobs=2, task=task)
    assert grids.activate(q.connection, "s")["activated"] == 4
    assert schedule(q) == (4, 2, 0, 0, 0)
    rows = q.rows("select task_id, queue, steps, used_ram from monitor.instance where setup = 's' order by 1")
    assert rows == [(7, "QA", 2, 3600), (8, "QA", 2, 3600)]
    first, second = used(q)
    taken = match(q, first)
    assert len(taken) == 2
    assert q.rows("select count(*) from workload.job where status = 'sent'") == [(2,)]
    finish(q, taken)
    q.rows("select * from lifecycle.cancel_jobs('s', %s)", [job for job, at in placed(q).items() if at == second])
    assert schedule(q) == (0, 0, 2, 0, 0)
