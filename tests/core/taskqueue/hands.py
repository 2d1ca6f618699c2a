"""Hands of TaskQueues (HANDS.md) as tests make and read them."""

import time
from dataclasses import dataclass
from typing import Any

import pytest

from tests.calls import Calls, Connect


class Counted(Calls):
    """The calls, and what the view for monitoring counts."""

    def inconsistencies(self) -> list[Any]:
        """Findings of check_matching, and TaskQueues with a wrong number of jobs in taskqueue.task_queue_count."""
        query = """select 'task_queue_count', n.task_queue_id, n.jobs from taskqueue.task_queue_count n
                    where n.jobs <> (select count(*) from taskqueue.job j
                                      where j.task_queue_id = n.task_queue_id and not j.held)"""
        return super().inconsistencies() + self.rows(query)


@dataclass(frozen=True)
class Hand:
    """A row of taskqueue.hand: its cards in their order, and the jobs that were being taken when it was dealt."""

    number: int
    cards: list[int]
    carried: list[int]
    void: bool


def hand(q: Calls, task_queue_id: int | None = None) -> Hand:
    """The hand of a TaskQueue; without an argument, the hand of the only one."""
    query = """
        select h.hand_id, h.job_ids[:h.cards], h.job_ids[h.cards + 1:],
               exists (select from taskqueue.new_changes(h.setup, h.task_queue_id, h.known_to, h.in_flight))
          from taskqueue.hand h
         where h.setup = %s and h.task_queue_id = coalesce(%s, h.task_queue_id)
           and h.task_queue_id in (select q.task_queue_id from taskqueue.task_queue q)"""
    [row] = q.rows(query, q.setup, task_queue_id)
    return Hand(*row)


def deal(q: Calls, cards: int = 4) -> list[bool | None]:
    """A new hand for each TaskQueue; None: another transaction deals; false: this one changed the TaskQueue before."""
    call = "taskqueue.deal_hand(q.setup, q.task_queue_id, %s, false, 'dirac', q.task_queue_id)"
    query = f"select {call} from taskqueue.task_queue q where q.setup = %s order by q.task_queue_id"
    return [dealt for (dealt,) in q.rows(query, cards, q.setup)]


def deal_valid(q: Calls, cards: int) -> None:
    """Deal until agents can take from each hand at once: old transactions of other workers can keep them from it."""
    query = """
        select bool_and(h.since is not null and not exists (
                 select from taskqueue.job_count_change c
                  where c.setup = h.setup and c.task_queue_id = h.task_queue_id and c.made_in >= h.since))
          from taskqueue.hand h"""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        assert all(deal(q, cards))
        if q.value(query):
            return
        time.sleep(0.1)
    pytest.fail("no agent could take from the hands for two minutes")


def changes(q: Calls) -> int:
    """Rows of taskqueue.job_count_change."""
    return int(q.value("select count(*) from taskqueue.job_count_change where setup = %s", q.setup))


def drain(q: Calls) -> list[int]:
    """Take all waiting jobs, one job per call."""
    taken = []
    while match := q.match():
        taken.append(match.job_id)
    return taken


def counted(connect: Connect, *, known: bool = False, autocommit: bool = True) -> Counted:
    """Calls over a connection of their own; `known`: of a caller with an identity, who takes the short way."""
    calls = Counted(connect())
    if known:
        calls.rows("select resource.set_identity(%s, resource.caller())", calls.setup)
    calls.connection.autocommit = autocommit
    return calls


def know(q: Calls) -> None:
    """Make the caller an agent whose description is known: the next match takes the short way (taskqueue.match_job)."""
    q.rows("select resource.set_identity(%s, resource.caller())", q.setup)
    assert q.match(CPUTime=0) is None
    known = "select is_plain and matches is null from taskqueue.parsed_description where setup = %s and site is null"
    assert q.rows(known, q.setup) == [(True,)]
