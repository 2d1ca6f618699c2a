"""A Hypothesis state machine drives one setup and a plain Python model (oracle/matching.py) with the same random calls.

After every step both must hold the same jobs in the same states, every match must be one that the model allows, and "no
match" must be the model's answer too. BROKER_TEST_EXAMPLES=1000 looks further, with other random numbers each time.
"""

import itertools
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from psycopg.types.json import Jsonb

from tests.calls import Calls, Match
from tests.core.oracle.matching import Lease, Limit, Model, canonical
from tests.core.properties.descriptions import GROUPS, OWNERS, requirements, resources

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
BUCKETS = [[500, 5000, 50000, 300000], [500, 300000], [360, 1800, 3600, 10000], [100000]]
LIMITS = [("JobTypes", "T"), ("OwnerDN", "alice"), ("Platforms", "P1"), ("Tags", "t")]
RETRIES = {"again": (2, None), "pause": (3, 60)}  # source of the error: failures that are tried again, delay
RULES = [
    {"position": n, "name": source, "source": source, "failures_to": most}
    | ({"decision": "later", "delay": delay} if delay else {"decision": "retry"})
    for n, (source, (most, delay)) in enumerate(RETRIES.items())
]
EVERYTHING = {"Site": "any", "GridCE": "any", "Platform": "any", "JobType": "any", "Tag": "any", "PilotType": "private"}

job_ids = st.integers(1, 40)
priorities = st.sampled_from([0, 1, 1, 3, 9, 10])
index = st.integers(0, 1000)
seeds = st.integers(0, 10**6)


class Matching(RuleBasedStateMachine):
    """One setup in the database, and the model of it."""

    connection: ClassVar[psycopg.Connection[Any]]
    setups: ClassVar[Any] = itertools.count(1)

    def __init__(self) -> None:
        super().__init__()
        self.q = Calls(self.connection, f"machine {next(self.setups)}")
        self.model = Model()
        self.old: list[tuple[int, str]] = []  # attempts that are over
        self.q.set_clock(NOON)
        self.q.call("set_retry_rules", Jsonb(RULES))
        # Seeded draws go by the ids of queues and lists: the same steps must give the same ids in each run.
        for table, column in (("task_queue", "task_queue_id"), ("posting_list", "list_id")):
            sequence = f"pg_get_serial_sequence('taskqueue.{table}', '{column}')"
            self.q.rows(f"select setval({sequence}, 1, false)")

    @initialize(
        queue_size=st.sampled_from([2, 5, 5000]),
        ten_first=st.booleans(),
        sharing=st.sets(st.sampled_from(GROUPS)),
        kinds=st.lists(requirements(), min_size=1, max_size=5),
    )
    def begin(self, queue_size: int, ten_first: bool, sharing: set[str], kinds: list[dict[str, Any]]) -> None:
        self.kinds = kinds
        self.q.settings(queue_size=queue_size, ten_first=ten_first)
        self.model.queue_size, self.model.ten_first = queue_size, ten_first
        for name in sharing:
            self.q.set_group(name, sharing=True)
        self.model.rules.sharing_groups = sharing
        for n, kind in enumerate(kinds):
            self.insert_many(set(range(20 + n, 40, len(kinds))), kind, 1 + n)

    # Inserting

    @rule(job_id=job_ids, job=requirements(), priority=priorities)
    def insert(self, job_id: int, job: dict[str, Any], priority: int) -> None:
        if job_id in self.model.leases:
            assert self.q.refusal(lambda: self.q.insert(job_id, priority, **job))[0] == "PB005"
            return
        before = self.model.queues()
        queue = self.q.insert(job_id, priority, **job)
        self._right_queue(queue, job, before, {job_id})
        self.model.insert(job_id, job, priority, queue)

    @rule(ids=st.sets(job_ids, min_size=1, max_size=15), which=index, priority=priorities)
    def insert_more(self, ids: set[int], which: int, priority: int) -> None:
        """Jobs with requirements that others have."""
        self.insert_many(ids - set(self.model.leases), self.kinds[which % len(self.kinds)], priority)

    @rule(ids=st.sets(job_ids, min_size=1, max_size=5), job=requirements(), priority=priorities)
    def insert_many(self, ids: set[int], job: dict[str, Any], priority: int) -> None:
        if ids & set(self.model.leases):
            assert self.q.refusal(lambda: self.q.insert_many(ids, priority, **job))[0] == "PB005"
            return
        assert self.q.insert_many(sorted(ids), priority, **job) == len(ids)
        for job_id in ids:
            queue = self.q.queue_of(job_id)
            assert queue is not None
            self.model.insert(job_id, job, priority, queue)

    @precondition(lambda self: self.model.waiting)
    @rule(which=index, priority=priorities, job=st.one_of(st.none(), requirements()))
    def insert_again(self, which: int, priority: int, job: dict[str, Any] | None) -> None:
        """Move a waiting job: to other requirements, or to another user priority only."""
        job_id = self._one(self.model.waiting, which)
        keys = job or self.model.waiting[job_id].requirements
        before = self.model.queues()
        queue = self.q.insert(job_id, priority, **keys)
        self._right_queue(queue, keys, before, {job_id})
        self.model.insert(job_id, keys, priority, queue)

    def _right_queue(self, queue: int, job: dict[str, Any], before: dict[int, list[int]], moved: set[int]) -> None:
        """The newest TaskQueue with space that has jobs of these requirements, or one without jobs (empty, or new)."""
        wanted = canonical(job, self.model.buckets)
        siblings = {n: ids for n, ids in before.items() if self.model.waiting[ids[0]].requirements == wanted}
        siblings = {
            n: [i for i in ids if not self.model.waiting[i].held] for n, ids in siblings.items()
        }  # held jobs take no space
        with_space = [n for n, ids in siblings.items() if len(ids) < self.model.queue_size]
        if queue in before:
            assert queue in siblings
            assert len(set(siblings[queue]) - moved) < self.model.queue_size
        if with_space:
            assert queue >= max(with_space), "not the newest TaskQueue with space"

    # Matching

    @rule(resource=resources(), seed=seeds)
    def match(self, resource: dict[str, Any], seed: int) -> None:
        possible = self.model.possible(resource)
        found = next(iter(self._draw(resource, 1, seed)), None)
        if found is None:
            assert not possible, f"no match, but one of {possible} fits"
        else:
            self._taken(found, resource, possible)

    @rule(resource=resources(), job_id=job_ids)
    def match_wanted(self, resource: dict[str, Any], job_id: int) -> None:
        resource = {**resource, "JobID": job_id}
        possible = self.model.possible(resource)
        found = self.q.match(**resource)
        assert (found is not None) == bool(possible)
        if found:
            self._taken(found, resource, possible)

    @rule(site=st.sampled_from(["S1", "S2"]), seed=seeds)
    def match_generously(self, site: str, seed: int) -> None:
        self.match({**EVERYTHING, "CPUTime": 10**6, "Site": site, "GridCE": "C1" if site == "S1" else "any"}, seed)

    def _draw(self, resource: dict[str, Any], limit: int, seed: int) -> list[Match]:
        """Seeded, so that a failure can be repeated."""
        return [Match(*row) for row in self.q.call_rows("match_jobs_with_seed", Jsonb(resource), limit, seed)]

    @rule(resource=resources(), limit=st.integers(1, 8), seed=seeds)
    def match_jobs(self, resource: dict[str, Any], limit: int, seed: int) -> None:
        found = self._draw(resource, limit, seed)
        for match in found:
            self._taken(match, resource, self.model.possible(resource))
        if len(found) < limit:
            assert not self.model.possible(resource), "fewer than asked for, and more would fit"

    def _taken(self, match: Match, resource: dict[str, Any], possible: set[int]) -> None:
        assert match.job_id in possible, f"job {match.job_id} was taken, one of {possible} is right"
        job = self.model.waiting[match.job_id]
        assert (match.task_queue_id, match.requirements, match.user_priority) == (
            job.queue, job.requirements, job.user_priority,
        )  # fmt: skip
        assert match.number == self.model.attempts.get(match.job_id, 0) + 1
        self.model.take(match.job_id, match.attempt, resource)

    # After the match

    @precondition(lambda self: self.model.leases)
    @rule(which=index)
    def report(self, which: int) -> None:
        job_id, lease = self._lease(which)
        [(action, _)] = self.q.call_rows("report_job", job_id, lease.attempt)
        assert action == ("kill" if lease.killed else "continue")

    @precondition(lambda self: self.model.leases)
    @rule(which=index, outcome=st.sampled_from(["finished", "failed", "cancelled", "closed"]))
    def finish(self, which: int, outcome: str) -> None:
        job_id, lease = self._lease(which)
        assert self.q.call("finish_job", job_id, lease.attempt, outcome) == outcome
        assert self.q.call("finish_job", job_id, lease.attempt, outcome) == outcome
        self.model.end(job_id, outcome)

    @precondition(lambda self: self.model.leases)
    @rule(which=index, source=st.sampled_from([*RETRIES, "other"]))
    def fail(self, which: int, source: str) -> None:
        """A retry rule lets the job wait again, as often as it says; an agent may say twice that it failed."""
        job_id, lease = self._lease(which)
        most, delay = RETRIES.get(source, (0, None))
        before = self.model.queues()
        for _ in range(2):
            answer = self.q.call("finish_job", job_id, lease.attempt, "failed", Jsonb([{"source": source}]))
            assert answer == "failed"
        if lease.killed or self.model.failures.get(job_id, 0) >= most:
            self.model.end(job_id, "failed")
            return
        queue = self.q.queue_of(job_id)
        assert queue is not None
        self._right_queue(queue, lease.requirements, before, {job_id})
        self.model.fail(job_id, queue, delay and self.model.now + delay)
        self.old.append((job_id, lease.attempt))

    @precondition(lambda self: self.model.leases)
    @rule(which=index)
    def release(self, which: int) -> None:
        job_id, lease = self._lease(which)
        queue = self.q.call("release_job", job_id, lease.attempt)
        assert (queue is None) == lease.killed
        self.model.release(job_id, queue)
        self.old.append((job_id, lease.attempt))

    @precondition(lambda self: self.old)
    @rule(which=index, function=st.sampled_from(["report_job", "finish_job", "release_job"]))
    def use_an_old_attempt(self, which: int, function: str) -> None:
        job_id, attempt = self.old[which % len(self.old)]
        ended = self.model.ended.get(job_id)
        if function == "finish_job" and ended and ended.outcome == "cancelled":
            return  # released while marked for kill: it ended with this very attempt
        assert self.q.refusal(lambda: self.q.call_rows(function, job_id, attempt))[0] == "PB003"

    @rule(job_id=job_ids)
    def cancel(self, job_id: int) -> None:
        if job_id in self.model.waiting:
            assert self.q.call("cancel_job", job_id) == "ended"
            self.model.end(job_id, "cancelled")
        elif job_id in self.model.leases:
            assert self.q.call("cancel_job", job_id) == "kill asked"
            self.model.leases[job_id].killed = True

    @rule(job_id=job_ids)
    def delete(self, job_id: int) -> None:
        waiting = self.model.waiting.get(job_id)
        assert self.q.call("delete_job", job_id) == (waiting.queue if waiting else None)
        if waiting:
            self.model.end(job_id, "closed")

    @rule(job_id=job_ids)
    def retry(self, job_id: int) -> None:
        def call() -> Any:
            return self.q.rows("select answer from lifecycle.retry_jobs(%s, %s::bigint[])", self.q.setup, [job_id])

        job = self.model.ended.get(job_id)
        if job is None or job.outcome == "finished":
            known = job or job_id in self.model.waiting or job_id in self.model.leases
            assert self.q.refusal(call)[0] == ("PB005" if known else "PB004")
            return
        before = self.model.queues()
        assert call() == [("waits again",)]
        queue = self.q.queue_of(job_id)
        assert queue is not None
        self._right_queue(queue, job.requirements, before, {job_id})
        self.model.retry(job_id, queue)
        if job.attempt:
            self.old.append((job_id, job.attempt))

    # Switches

    @precondition(lambda self: self.model.waiting)
    @rule(which=index)
    def disable(self, which: int) -> None:
        queue = self._one(self.model.queues(), which)
        self.q.call("set_task_queue_enabled", queue, False)
        self.model.disabled.add(queue)

    @precondition(lambda self: self.model.disabled)
    @rule(which=index)
    def enable(self, which: int) -> None:
        self._on_queue(self._one(self.model.disabled, which), "set_task_queue_enabled", True, self.model.disabled)

    @precondition(lambda self: self.model.waiting)
    @rule(which=index)
    def hold_queue(self, which: int) -> None:
        queue = self._one(self.model.queues(), which)
        assert self.q.call("hold", "task_queue", str(queue)) == (queue not in self.model.held_queues)
        self.model.held_queues.add(queue)

    @precondition(lambda self: self.model.held_queues)
    @rule(which=index)
    def resume_queue(self, which: int) -> None:
        self._on_queue(self._one(self.model.held_queues, which), "resume", None, self.model.held_queues)

    def _on_queue(self, queue: int, function: str, argument: Any, switched: set[int]) -> None:
        """Undo a switch of a queue; a queue without jobs may have vanished."""
        arguments = ("task_queue", str(queue)) if function == "resume" else (queue, argument)
        if queue in self.model.queues():
            self.q.call(function, *arguments)
        else:
            try:
                self.q.call(function, *arguments)
            except psycopg.Error as error:
                assert error.sqlstate == "PB004"
        switched.discard(queue)

    @precondition(lambda self: self.model.waiting)
    @rule(which=index, resumes=st.booleans())
    def hold_job(self, which: int, resumes: bool) -> None:
        job_id = self._one(self.model.waiting, which)
        job = self.model.waiting[job_id]
        changes = job.held == resumes or (not resumes and job.not_before is not None)
        assert self.q.call("resume" if resumes else "hold", "job", str(job_id)) == changes
        job.held, job.not_before = not resumes, None

    @rule(owner=st.sampled_from(OWNERS), resumes=st.booleans())
    def hold_owner(self, owner: str, resumes: bool) -> None:
        self.q.call("resume" if resumes else "hold", "owner", owner)
        if resumes:
            self.model.held_owners.discard(owner)
        else:
            self.model.held_owners.add(owner)

    # Limits

    @rule(which=st.sampled_from(LIMITS), ce=st.sampled_from([None, None, "C1"]), ceiling=st.integers(0, 3))
    def set_limit(self, which: tuple[str, str], ce: str | None, ceiling: int) -> None:
        self.q.running_limit(*which, ceiling, site="S1", ce=ce)
        self.model.limits[("S1", ce), "running", *which] = Limit(*which, ceiling=ceiling)

    @rule(which=st.sampled_from(LIMITS), delay=st.sampled_from([5, 60]), burst=st.integers(1, 3))
    def set_delay(self, which: tuple[str, str], delay: int, burst: int) -> None:
        """The delay is set again with a full bucket, since the effect of a change on its tokens is not specified."""
        self.q.call("clear_limit", "delay", "S1", None, *which)
        self.q.call("set_limit", "delay", "S1", None, *which, delay, burst)
        limit = Limit(*which, delay=delay, burst=burst, tokens=burst, filled_at=self.model.now)
        self.model.limits[("S1", None), "delay", *which] = limit

    @precondition(lambda self: self.model.limits)
    @rule(which=index)
    def clear_limit(self, which: int) -> None:
        key = sorted(self.model.limits, key=str)[which % len(self.model.limits)]
        (site, ce), kind, attribute, value = key
        assert self.q.call("clear_limit", kind, site, ce, attribute, value) is True
        del self.model.limits[key]

    @rule(seconds=st.sampled_from([1, 5, 61, 3600]))
    def wait(self, seconds: int) -> None:
        self.model.now += seconds
        self.q.set_clock(NOON + timedelta(seconds=self.model.now))

    # Configuration

    @rule(
        strict=st.sets(st.sampled_from(["Site", "GridCE", "Platform", "JobType"]), max_size=2),
        accepted=st.sampled_from([[], ["P2"], ["P2", "P3"]]),
    )
    def change_the_rules(self, strict: set[str], accepted: list[str]) -> None:
        self.q.settings(strict_keys=sorted(strict))
        self.model.rules.strict_keys = strict
        self.q.call("set_platform_compatibility", "P1", accepted)
        self.model.rules.compatible = {"P1": accepted}

    @rule(buckets=st.sampled_from(BUCKETS))
    def rebucket(self, buckets: list[int]) -> None:
        """Queues stay together, take their new bucket, and become one where they become equal (none had siblings)."""
        for queue in sorted(self.model.disabled):
            self._on_queue(queue, "set_task_queue_enabled", True, self.model.disabled)
        for queue in sorted(self.model.held_queues):
            self._on_queue(queue, "resume", None, self.model.held_queues)
        together = self.model.queues()
        definitions = [str(self.model.waiting[ids[0]].requirements) for ids in together.values()]
        self.q.call("set_cpu_buckets", buckets)
        self.model.buckets = buckets
        for job_id, job in self.model.waiting.items():
            queue_now = self.q.queue_of(job_id)
            assert queue_now is not None
            job.queue, job.requirements = queue_now, canonical(job.requirements, buckets)
        for lease in self.model.leases.values():  # they go back to the queues where they would be if they had waited
            lease.requirements = canonical(lease.requirements, buckets)
        for ids in together.values():
            assert len({self.model.waiting[job_id].queue for job_id in ids}) == 1
        if len(definitions) == len(set(definitions)):
            after = [str(self.model.waiting[ids[0]].requirements) for ids in self.model.queues().values()]
            assert len(after) == len(set(after)), "equal queues did not merge"

    # Maintenance resumes due jobs, and changes nothing else

    @rule(call=st.sampled_from(["maintain", "rebuild_matching", "recompute_shares", "delete_empty_queues"]))
    def call_in_background(self, call: str) -> None:
        self.q.call_rows(call)
        if call == "maintain":
            self.model.resume_due()

    @precondition(lambda self: len(self.model.ended) > 5)
    @rule()
    def forget_ended(self) -> None:
        assert self.q.call("forget_ended", timedelta(0)) <= len(self.model.ended)
        for job_id in list(self.model.ended):
            if self.q.state(job_id) == "unknown":
                del self.model.ended[job_id]
                self.model.attempts.pop(job_id, None)
                self.old = [(old, attempt) for old, attempt in self.old if old != job_id]

    # Invariants after every step

    @invariant()
    def states_are_equal(self) -> None:
        waiting = self.q.rows(
            "select job_id, task_queue_id, user_priority, held, attempts, failures, not_before"
            "  from taskqueue.job where setup = %s",
            self.q.setup,
        )
        assert {row[0]: row[1:] for row in waiting} == {
            job_id: (
                job.queue, job.user_priority, job.held, self.model.attempts.get(job_id, 0),
                self.model.failures.get(job_id, 0),
                None if job.not_before is None else NOON + timedelta(seconds=job.not_before),
            )
            for job_id, job in self.model.waiting.items()
        }  # fmt: skip
        leases = self.q.rows(
            "select job_id, attempt, user_priority, kill_reason is not null from taskqueue.lease where setup = %s",
            self.q.setup,
        )
        assert {row[0]: row[1:] for row in leases} == {
            job_id: (self.model.attempts[job_id], lease.user_priority, lease.killed)
            for job_id, lease in self.model.leases.items()
        }
        ended = self.q.rows(
            """
            select e.job_id, e.outcome, k.requirements, e.user_priority
              from taskqueue.ended e left join taskqueue.kept_definition k using (setup, definition_id)
             where e.setup = %s""",
            self.q.setup,
        )
        assert {row[0]: row[1:] for row in ended} == {
            job_id: (job.outcome, job.requirements, job.user_priority) for job_id, job in self.model.ended.items()
        }

    @invariant()
    def counts_are_equal(self) -> None:
        everything = {**EVERYTHING, "CPUTime": 10**6}
        rows = self.q.call_rows("matching_queues", Jsonb(everything))
        expected = {
            queue: (len(ids), self.model.waiting[ids[0]].requirements)
            for queue, ids in self.model.matching(everything).items()
        }
        assert {row[0]: (row[3], row[4]) for row in rows if row[3]} == expected

    @invariant()
    def derived_structures_are_right(self) -> None:
        assert self.q.inconsistencies() == []

    def _one(self, those: Any, which: int) -> int:
        return int(sorted(those)[which % len(those)])

    def _lease(self, which: int) -> tuple[int, Lease]:
        job_id = self._one(self.model.leases, which)
        return job_id, self.model.leases[job_id]


@pytest.mark.representative
def test_the_database_does_what_the_model_does(connect: Callable[..., psycopg.Connection[Any]]) -> None:
    Matching.connection = connect()
    examples = os.environ.get("BROKER_TEST_EXAMPLES")
    run_state_machine_as_test(
        Matching,
        settings=settings(
            max_examples=int(examples or 15), stateful_step_count=70, derandomize=examples is None, database=None,
            deadline=None, suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
