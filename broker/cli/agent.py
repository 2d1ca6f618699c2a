"""`broker agent match`, `match-many`, `report`, `finish`, `release`: the calls of one JobAgent or of many. `broker
match` is the first of these commands.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.shared import codes, done, output
from broker.cli.shared.common import Json
from broker.cli.shared.files import Elements, reading
from broker.cli.shared.resource import Resource, takes_resource
from broker.cli.shared.session import SETUP, Job, Setup, ready, session

if TYPE_CHECKING:
    from broker.client.matcher import Match

app = typer.Typer(no_args_is_help=True, help="Take jobs and report on them, as a JobAgent does.")

_Attempt = Annotated[str, typer.Argument(metavar="ATTEMPT", help="The attempt that the match gave.")]
_Error = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SOURCE:CODE:TEXT",
        help="An error of the run, such as pilot:1305:text; code and text may be "
        "left out (payload:137, dirac::text). Repeat it, the most important error first.",
    ),
]
_Used = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=NUMBER", help="Use of the run: cpu or wall (seconds), ram (MB), cores; repeat it."),
]
_Host = Annotated[str | None, typer.Option(help="Name of the worker node.")]


@app.command()
@takes_resource
def match(
    described: Resource,
    count: Annotated[int, typer.Option(min=1, max=1000, help="Take at most this many jobs.")] = 1,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Take a job for a resource. The job is leased until it is finished or released.

    Exit code 4: no job matches.
    """
    from broker.client.matcher import JobAgent

    with JobAgent(setup, ready(), connections=1) as agent:
        matches = agent.match_jobs(described, count)
    if not matches:
        _note_quarantines(setup, [described])
    note_unknown_sites(setup, described, matches)
    if as_json:
        output.json_out(matches)
    elif len(matches) == 1:
        [taken] = matches
        output.fields("Match", {**vars(taken), "requirements": None, **_shown(setup, taken.requirements)})
        of_setup = "" if setup == (os.environ.get(SETUP) or "default") else f" --setup {setup}"
        output.say(f"next: broker agent finish {taken.job_id} {taken.attempt}{of_setup}")
    elif matches:
        rows = [(m.job_id, m.task_queue_id, m.user_priority, m.attempt) for m in matches]
        output.table("Matches", ["job", "TaskQueue", "user priority", "attempt"], rows)
    else:
        output.say("no match: this resource gets no job now")
    if not matches:
        raise typer.Exit(codes.NO_MATCH)


@app.command()
def match_many(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON or JSON lines; - for standard input.")],
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    r"""Take jobs for the requests of many resources, in one transaction. Each request has an answer of its own.

    A request is {"resources": \[{...}, ...], "n": 1, "request_id": "..."}.

    resources: descriptions in order of preference; the first that yields a job is used. n: how many jobs, 1 by default.
    request_id: a UUID with which the call can be repeated.

    Exit code 4: no job matches. A refused request is answered with an error; the other requests still get their
    answers.
    """
    from broker.client.matcher import JobAgent
    from broker.errors import of_sqlstate

    with reading(file) as stream:
        elements = Elements(stream, str(file), lambda value: value if isinstance(value, list) else [value])
        requests = [
            _translated(request, f"{file}, {elements.where(number)}") for number, request in enumerate(elements, 1)
        ]
    with JobAgent(setup, ready(), connections=1) as agent:
        answers = agent.match_many(requests)
    if not any(answer.jobs for answer in answers):
        read: list[Any] = [one for one, answer in zip(requests, answers, strict=True) if not answer.error]
        _note_quarantines(setup, [described for request in read for described in request["resources"]])
    refused = [(number, answer.error) for number, answer in enumerate(answers, 1) if answer.error]
    if as_json:
        output.json_out([{"jobs": a.jobs, "error": a.error and vars(a.error)} for a in answers])
    else:
        taken = [
            (n, m.job_id, m.task_queue_id, m.user_priority, m.attempt) for n, a in enumerate(answers, 1) for m in a.jobs
        ]
        if taken:
            output.table("Matches", ["request", "job", "TaskQueue", "user priority", "attempt"], taken)
        elif not refused:
            output.say("no match: these resources get no job now")
        for number, error in refused[1:]:
            output.note(f"request {number} is refused: {error.message}")
    if refused:
        number, error = refused[0]
        raise of_sqlstate(error.sqlstate, f"request {number} is refused: {error.message}", error.hint)
    if not any(answer.jobs for answer in answers):
        raise typer.Exit(codes.NO_MATCH)


def _translated(request: Any, where: str) -> Any:
    """A request with descriptions in place of nodes of DiracX. Raises BadRequest, naming the place."""
    from broker.errors import BadRequest
    from broker.translate import translated_description

    resources = request.get("resources") if isinstance(request, dict) else None
    if not isinstance(resources, list):
        return request
    described = []
    for number, one in enumerate(resources):
        try:
            described.append(translated_description(one))
        except BadRequest as error:
            raise BadRequest(f"{where}, resources[{number}]: {error.message}", error.hint) from None
    return {**request, "resources": described}


_SITES = """
select queue from monitor.queue where setup = %(setup)s
 union select site from monitor.queue where setup = %(setup)s
 union select site from monitor.site_limit where setup = %(setup)s
 union select site from monitor.waiting_by_site where setup = %(setup)s and site <> '(any site)'
"""

_QUARANTINES = """
select format('%%s %%s%%s is quarantined: %%s', kind, name, ' at ' || nullif(nullif(site, ''), name), why)
  from monitor.quarantine
 where setup = %(setup)s and state = 'refused' and site = any (%(sites)s::text[])
   and case kind when 'host' then name = lower(%(host)s::text collate "C")
                 when 'ce' then name = any (%(ces)s::text[]) else true end
"""


def note_unknown_sites(setup: str, described: Mapping[str, Any], matches: "Sequence[Match]") -> None:
    """Name the sites of a description that nothing in the setup names: a job for any site would hide a misspelt site.

    Silent for a login without the right to look, and in a setup that names no site.
    """
    import psycopg

    from broker.world.shape import nearest

    given = _listed(described, "Site")
    taken: list[Any] = [one.requirements.get("Sites") for one in matches]
    there = {"any"}.union(*(sites for sites in taken if sites))
    if not (unknown := [site for site in given if not {site, site.lower()} & there]):
        return
    with session() as connection:
        try:
            known = [site for (site,) in connection.execute(_SITES, {"setup": setup}).fetchall() if site]
        except psycopg.errors.InsufficientPrivilege:
            return
    for site in unknown:
        if known and site not in known:
            near = nearest(site, known)
            hint = f"; the nearest is {near}" if near else ""
            output.note(f"no queue, TaskQueue or limit of setup {setup} names site {site} now{hint}")


def _note_quarantines(setup: str, descriptions: Iterable[Mapping[str, Any]]) -> None:
    """Say which quarantines refuse these resources. Raises if there is no such setup; silent as note_unknown_sites."""
    import psycopg

    notes: dict[str, None] = {}  # in their order, each once
    with session(setup) as connection:
        for described in descriptions:
            if described.get("JobID"):
                continue  # a request for one job is not refused
            sites = [site for site in _listed(described, "Site") if site.lower() != "any"]
            refused = {"setup": setup, "sites": sites or [""], "ces": _listed(described, "GridCE")}
            try:
                rows = connection.execute(_QUARANTINES, {**refused, "host": described.get("HostName")}).fetchall()
            except psycopg.errors.InsufficientPrivilege:
                return
            notes.update((note, None) for (note,) in rows)
    for note in notes:
        output.note(note)


def _listed(described: Mapping[str, Any], key: str) -> list[str]:
    given = described.get(key) or []
    return [given] if isinstance(given, str) else given


def _shown(setup: str, requirements: Mapping[str, object]) -> dict[str, object]:
    """Requirements for people: clauses in words; a long list is shown by its first values and its length."""
    if "Clauses" in requirements:
        from broker.client.call import jsonb

        with session(setup) as connection:
            words = connection.execute("select taskqueue.requirements_in_words(%s)", [jsonb(requirements)])
            [(requirements,)] = words.fetchall()
    return {
        key: f"{', '.join(map(str, value[:3]))} and {len(value) - 3} more"
        if isinstance(value, list) and len(value) > 4
        else value
        for key, value in requirements.items()
    }


def _facts(errors: list[str] | None, used: list[str] | None, host: str | None) -> dict[str, Any]:
    """The facts that the options give. Raises BadRequest for a text of another form."""
    found: dict[str, Any] = {"host": host}
    if errors:
        found["error"] = [_error(text) for text in errors]
    if used:
        found["used"] = dict(_figure(text) for text in used)
    return found


def _error(text: str) -> dict[str, object]:
    from broker.errors import BadRequest

    source, _, rest = text.partition(":")
    code, _, words = rest.partition(":")
    try:
        return {"source": source, **({"code": int(code)} if code else {}), **({"text": words} if words else {})}
    except ValueError:
        fault = f"--error {text[:100]}: the code is {code[:100]!r}, not an integer"
        raise BadRequest(fault, "Write pilot:1305:text; leave the code out as in dirac::text.") from None


def _figure(text: str) -> tuple[str, float]:
    from broker.errors import BadRequest
    from broker.json_text import parse

    key, _, number = text.partition("=")
    try:
        return key, parse(number)
    except ValueError:
        fault = f"--used {text[:100]}: {number[:100]!r} is not a number"
        raise BadRequest(fault, "Write cpu=3600, wall=3700, ram=1900 or cores=8.") from None


@app.command()
def report(
    job: Job,
    attempt: _Attempt,
    *,
    status: Annotated[str, typer.Option(help="The status: starting, running, holding or transferring.")] = "running",
    error: _Error = None,
    used: _Used = None,
    host: _Host = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Report the status of a leased job. The answer is to continue, or to kill the job, with a reason."""
    from broker.client.matcher import JobAgent, Lease

    with JobAgent(setup, ready(), connections=1) as agent:
        answer = agent.report(Lease(job, attempt), status, **_facts(error, used, host))  # type: ignore[arg-type]
    text = answer.action + (f": {answer.reason}" if answer.reason else "")
    done.report(text, as_json=as_json, **vars(answer))


@app.command()
def finish(
    job: Job,
    attempt: _Attempt,
    *,
    outcome: Annotated[str, typer.Option(help="The end: finished, failed, cancelled or closed.")] = "finished",
    error: _Error = None,
    used: _Used = None,
    host: _Host = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """End a leased job with an outcome, and keep the facts of its run."""
    from broker.client.matcher import JobAgent, Lease

    with JobAgent(setup, ready(), connections=1) as agent:
        stored = agent.finish(Lease(job, attempt), outcome, **_facts(error, used, host))  # type: ignore[arg-type]
    done.report(f"job {job} {stored}", as_json=as_json, job_id=job, outcome=stored)


@app.command()
def release(job: Job, attempt: _Attempt, setup: Setup = "default", as_json: Json = False) -> None:
    """Give a leased job back to its TaskQueue."""
    from broker.client.matcher import JobAgent, Lease

    with JobAgent(setup, ready(), connections=1) as agent:
        task_queue = agent.release(Lease(job, attempt))
    where = f"waits in TaskQueue {task_queue}" if task_queue else "was to be killed: it is cancelled"
    done.report(f"job {job} {where}", as_json=as_json, job_id=job, task_queue_id=task_queue)
