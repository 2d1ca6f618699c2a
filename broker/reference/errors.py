"""The errors of class PB: the meaning and remedy of each, and the functions that raise it."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from broker.reference.catalogue import ROLES, SCHEMAS, Connection, errors_of, rows
from broker.reference.markdown import Page, bullets, page, section, wrapped


class Explained(NamedTuple):
    """An error, described for people."""

    title: str
    meaning: str
    remedy: str


EXPLAINED = {
    "PB001": Explained(
        "bad request", "A key, a type or a value of the call is wrong.",
        "Correct the request. The same request fails again.",
    ),
    "PB002": Explained(
        "not allowed", "The role may not use this setup, or not for this owner or group.",
        "An operator grants it with `resource.set_identity`.",
    ),
    "PB003": Explained(
        "stale attempt",
        "The lease has expired, or the job was given back, has ended or was given to another agent, or does not exist. "
        "`report_jobs` and `finish_jobs` answer `stale` for such a job.",
        "Stop working on the job and report nothing more.",
    ),
    "PB004": Explained(
        "no such thing", "There is no such job, TaskQueue, task or limit.",
        "Look into `monitor.task_queue` and `monitor.lease`. A TaskQueue is removed with its last job.",
    ),
    "PB005": Explained(
        "wrong state", "The job, task or setup is not in a state that the call needs: a job is leased, for example.",
        "Wait until the job ends, or cancel it with `lifecycle.cancel_jobs`.",
    ),
    "PB006": Explained(
        "busy", "Calls have been open in the setup for over 3 s, so it could not be reconfigured.",
        "Try again. Look for open transactions in `pg_stat_activity`.",
    ),
    "PB007": Explained(
        "program and database differ",
        "The program and the database are of different releases, pgbroker is not installed in the database, or the "
        "login has no role of pgbroker there. Only the program raises this error.",
        "The hint names the case: upgrade the program, run `broker db upgrade`, or grant a role.",
    ),
    "PB008": Explained(
        "the caller is not known",
        "The service does not know the token, the secret of a pilot, the session or the ticket of a browser; or it "
        "has expired, was used up or was revoked.",
        "Get a new one: `broker credential token`, `broker credential secret`; or log in again.",
    ),
}  # fmt: skip
_OTHERS = """\
Besides the errors above, a call with arguments of the right types raises only these:

- `40001`, `40P01`: the transaction lost against another one. Try again.
- `55P03`: a lock was not available in time. Try again.
- `57014`: the statement was cancelled.
- `42501`: the role has no privilege to execute the function.
- `2D000`: a procedure that commits as it goes was called within a transaction. Call it outside of one.
- `25006`: the server is a standby, which only reads. Connect to the primary.
- Class `22`, and `54001`: an argument is no value of its type: no JSON, JSON with the character NUL or nested without
  end, a time or a number that the type does not hold. The function was not called.
- Classes `08`, `53`, `57P` and `58`: the connection, the memory, the disk or the server fails. Try again later."""
_RAISED_NEARLY_EVERYWHERE = ("PB001", "PB002")
_CALLABLE = """
    select distinct n.nspname || '.' || p.proname
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     cross join lateral aclexplode(p.proacl) a
      join pg_roles r on r.oid = a.grantee
     where n.nspname = any (%s)
       and substring(r.rolname from '[a-z]+$') = any (%s)
     order by 1
"""


def pages(connection: Connection) -> Iterator[Page]:
    """The page of errors."""
    raised = errors_of(connection)
    names = [name for (name,) in rows(connection, _CALLABLE, list(SCHEMAS), list(ROLES))]
    entries = []
    for state, explained in EXPLAINED.items():
        raisers = [name for name in names if state in raised[name] and state not in _RAISED_NEARLY_EVERYWHERE]
        text = wrapped(f"{explained.meaning} {explained.remedy}")
        entries.append(section(2, f"{state}: {explained.title}", text, _raised_by(raisers)))
    lead = (
        "Errors of pgbroker have SQLSTATEs of class `PB`. The message names the key and the value, and the hint names "
        "the remedy. A failed call has stored nothing. PB003 to PB006 list the functions that raise them."
    )
    yield page("errors.md", "Errors", lead, [*entries, section(2, "Errors of PostgreSQL", _OTHERS)])


def _raised_by(names: list[str]) -> str:
    if not names:
        return ""
    listed = groupby((name.partition(".") for name in names), lambda parts: parts[0])
    return bullets(f"[{schema}](functions-{schema}.md): {', '.join(name for *_, name in of)}." for schema, of in listed)
