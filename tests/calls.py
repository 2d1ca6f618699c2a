"""The calls of the schema taskqueue as tests make them: one statement each, requirements and resources as keywords."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]  # the fixture `connect`
PLENTY = 10**9  # seconds of CPU time: above every bucket

# A fingerprint of every table, to compare before and after a call that must store nothing. The state of the
# installation is large, and no call writes it.
_STORED = """
create or replace function pg_temp.stored() returns table(name text, fingerprint text)
language plpgsql
as $$
begin
  for name in
    select format('%I.%I', n.nspname, c.relname)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('resource', 'workload', 'brokerage', 'taskqueue', 'instance') and c.relkind = 'r'
       and c.oid <> all (array['resource.installed_state', 'resource.installed_object']::regclass[])
  loop
    execute format('select md5(string_agg(t::text, '';'' order by t::text)) from %s t', name) into fingerprint;
    return next;
  end loop;
end $$
"""


SERVICE_PASSWORD = "not a secret"


def let_the_service_log_in(connection: Connection) -> None:
    """Give broker_service its password, the same in all tests: roles belong to the whole server.

    Another process may change the role at the same moment: PostgreSQL refuses one of the two, and that one tries again.
    """
    for _ in range(200):
        with suppress(psycopg.errors.InternalError):
            connection.execute(f"alter role broker_service login password '{SERVICE_PASSWORD}'".encode())
            return
        time.sleep(0.05)
    raise TimeoutError("other sessions changed the role broker_service for ten seconds")


@contextmanager
def refused(code: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[psycopg.Error]]:
    """The block ends with a database error that has this SQLSTATE, and whose text matches."""
    with pytest.raises(psycopg.Error, match=match) as caught:
        yield caught
    assert caught.value.sqlstate == code, caught.value


@dataclass(frozen=True)
class Match:
    """One row of match_job."""

    job_id: int
    task_queue_id: int
    requirements: dict[str, Any]
    user_priority: int
    attempt: str

    @property
    def number(self) -> int:
        """The number of the attempt, for people."""
        return int(self.attempt.split("-")[0])


def requirements(**keys: Any) -> dict[str, Any]:
    """Requirements with the three required keys filled in; a key given as None is left out."""
    filled = {"OwnerDN": "alice", "OwnerGroup": "users", "CPUTime": 500, **keys}
    return {key: value for key, value in filled.items() if value is not None}


def resource(**keys: Any) -> dict[str, Any]:
    """A resource description that offers plenty of CPU time; a key given as None is left out."""
    filled = {"CPUTime": PLENTY, **keys}
    return {key: value for key, value in filled.items() if value is not None}


def group(name: str) -> dict[str, Any]:
    """Owner and group of a queue whose priority is the share of its group: it is the only queue of the only owner."""
    return {"OwnerDN": f"owner of {name}", "OwnerGroup": name}


class Calls:
    """The functions of the schema in one setup, over one connection."""

    def __init__(self, connection: Connection, setup: str = "default") -> None:
        self.connection = connection
        self.setup = setup

    def rows(self, query: str, *arguments: Any) -> list[Any]:
        """The rows of any query."""
        return self.connection.execute(query.encode(), arguments or None).fetchall()

    def value(self, query: str, *arguments: Any) -> Any:
        """The one value of any query."""
        [(value,)] = self.rows(query, *arguments)
        return value

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the schema that returns one value; the setup is its first argument."""
        marks = ", ".join(["%s"] * (1 + len(arguments)))
        return self.value(f"select taskqueue.{function}({marks})", self.setup, *arguments)

    def call_rows(self, function: str, *arguments: Any) -> list[Any]:
        """Call a function of the schema that returns rows; the setup is its first argument."""
        marks = ", ".join(["%s"] * (1 + len(arguments)))
        return self.rows(f"select * from taskqueue.{function}({marks})", self.setup, *arguments)

    def insert(self, job_id: int, priority: int = 1, request: uuid.UUID | None = None, /, **keys: Any) -> int:
        """insert_job; returns the TaskQueue's id."""
        return int(
            self.value(
                "select taskqueue.insert_job(%s, %s, %s, %s, %s)",
                self.setup, job_id, Jsonb(requirements(**keys)), priority, request,
            )
        )  # fmt: skip

    def insert_many(self, job_ids: Iterable[int], priority: int = 1, **keys: Any) -> int:
        """insert_jobs with one group of jobs with equal requirements; returns their number."""
        jobs = [[job_id, priority] for job_id in job_ids]
        return int(self.call("insert_jobs", Jsonb([{"requirements": requirements(**keys), "jobs": jobs}])))

    def match(self, request: uuid.UUID | None = None, /, **keys: Any) -> Match | None:
        """match_job."""
        found = self.rows("select * from taskqueue.match_job(%s, %s, %s)", self.setup, Jsonb(resource(**keys)), request)
        assert len(found) <= 1
        return Match(*found[0]) if found else None

    def take(self, **keys: Any) -> Match:
        """match_job; no match is an error."""
        match = self.match(**keys)
        assert match is not None, f"nothing matches {keys}"
        return match

    def match_jobs(self, limit: int, **keys: Any) -> list[Match]:
        """match_jobs."""
        return [Match(*row) for row in self.call_rows("match_jobs", Jsonb(resource(**keys)), limit)]

    def queues(self, **keys: Any) -> dict[int, int]:
        """matching_queues: TaskQueue id -> waiting jobs."""
        found = self.call_rows("matching_queues", Jsonb(resource(**keys)))
        return {row[0]: row[3] for row in found}

    def priorities(self) -> dict[int, float]:
        """TaskQueue id -> priority, of all queues that a resource with all properties may see."""
        return {row[0]: row[2] for row in self.call_rows("matching_queues", Jsonb(resource(Tag="any")))}

    def explain(self, job_id: int, **keys: Any) -> dict[str, bool]:
        """explain_match: condition -> holds."""
        return {row[0]: row[3] for row in self.call_rows("explain_match", job_id, Jsonb(resource(**keys)))}

    def settings(self, **settings: Any) -> None:
        """set_settings."""
        self.call("set_settings", Jsonb(settings))

    def set_group(self, name: str, share: float = 1000, sharing: bool = False, background: bool = False) -> None:
        """set_group."""
        self.call("set_group", name, float(share), sharing, background)

    def running_limit(self, attribute: str, value: str, limit: int, site: str = "S", ce: str | None = None) -> int:
        """set_limit of the kind running."""
        return int(self.call("set_limit", "running", site, ce, attribute, value, limit))

    def set_clock(self, moment: Any) -> None:
        """resource.set_clock: stop the setup's clock at a moment."""
        self.rows("select resource.set_clock(%s, %s)", self.setup, moment)

    def maintain(self) -> dict[str, int]:
        """maintain, for this setup: step -> its changes."""
        return dict(self.call_rows("maintain"))

    def queue_of(self, job_id: int) -> int | None:
        """queue_of_job."""
        found = self.call("queue_of_job", job_id)
        return None if found is None else int(found)

    def state(self, job_id: int) -> str:
        """The state of a job: 'waiting', 'leased', 'ended' or 'unknown'; a job in two states at once is an error."""
        places = [
            state
            for state, table in (("waiting", "job"), ("leased", "lease"), ("ended", "ended"))
            if self.rows(f"select from taskqueue.{table} where setup = %s and job_id = %s", self.setup, job_id)
        ]
        assert len(places) <= 1, f"job {job_id} is {' and '.join(places)}"
        return places[0] if places else "unknown"

    def outcome(self, job_id: int) -> str | None:
        """How an ended job ended."""
        found = self.rows("select outcome from taskqueue.ended where setup = %s and job_id = %s", self.setup, job_id)
        return found[0][0] if found else None

    def inconsistencies(self) -> list[Any]:
        """The findings of check_matching: none when all is right."""
        return self.call_rows("check_matching")

    def stored(self) -> dict[str, str | None]:
        """A fingerprint of every table (partitions included)."""
        self.connection.execute(_STORED)
        return dict(self.rows("select name, fingerprint from pg_temp.stored()"))

    def error_of(self, call: Callable[[], Any]) -> psycopg.Error:
        """The database error of a call; the transaction around it stays usable. Without an error the test fails."""
        try:
            with self.connection.transaction():
                call()
        except psycopg.Error as error:
            return error
        raise AssertionError("the call was not refused")

    def end(self, commit: bool) -> None:
        """End the transaction."""
        if commit:
            self.connection.commit()
        else:
            self.connection.rollback()

    def refuses(self, call: Callable[[], Any], code: str, *words: str) -> None:
        """The call is refused with this SQLSTATE and a hint, and the message contains the words."""
        found, message = self.refusal(call)
        assert (found, [word for word in words if word not in message]) == (code, []), message

    def refusal(self, call: Callable[[], Any]) -> tuple[str | None, str]:
        """The SQLSTATE and the message of the error that a call raises; every error of ours has a hint."""
        error = self.error_of(call)
        assert error.diag.message_hint, f"no hint: {error}"
        return error.sqlstate, error.diag.message_primary or ""
