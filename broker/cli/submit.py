"""`broker submit`: insert jobs into TaskQueues."""

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json, working
from broker.cli.shared.files import Elements, reading
from broker.cli.shared.session import Setup, note_new, ready, setups_there
from broker.words import counted

app = typer.Typer()
PANEL = "Jobs"


@app.command(rich_help_panel=PANEL)
def submit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON or JSON lines; - for standard input.")],
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    r"""Insert jobs. The file is a JSON array, a JSON object, JSON lines, or the task_queues of a world.

    An element is {job_id, requirements, user_priority} or {requirements, jobs: [\[id, user_priority], ...]}. JSON lines
    are read in constant memory, and stored in calls of 100,000 jobs. The requirements may be a job of DiracX' matching
    specification, as in {"job_id": 1, "requirements": DOCUMENT}.
    """
    from broker import database
    from broker.client.submitter import Submitter, There

    began = time.perf_counter()

    def progress(stored: int) -> None:
        if stored >= 100_000:  # a stream of several calls
            rate = stored / (time.perf_counter() - began)
            output.note(f"{counted(stored, 'job')} stored, {rate:,.0f} a second")

    typed = str(file) == "-"  # perhaps by hand, on the terminal
    target = ready()
    with database.connect(target) as connection:
        setups = setups_there(connection)
    with Submitter(setup, target) as submitter, reading(file) as stream:
        elements = Elements(stream, str(file), _listed)
        there = There()
        with nullcontext() if typed else working("submitting"):
            stated = _translated(elements)
            jobs = submitter.submit_many(stated, None if as_json else progress, elements.where, there)
    if jobs:
        note_new(setup, setups)
    if changed := there.changed_cpu_times():
        output.note(changed)
    new = jobs - there.waiting - there.ended
    if as_json:
        output.json_out({"setup": setup, "jobs": jobs, "new": new, "moved": there.waiting, "restarted": there.ended})
        return
    parts = [f"{new:,} new"] if there.waiting or there.ended else []
    parts += [f"{there.waiting:,} in place of a waiting one"] if there.waiting else []
    parts += [f"{there.ended:,} that had ended"] if there.ended else []
    output.say(f"{counted(jobs, 'job')} submitted to setup {setup}{': ' if parts else ''}{', '.join(parts)}")


def _translated(elements: Elements) -> Iterator[Mapping[str, object]]:
    """The elements, with requirements in place of documents of DiracX."""
    from broker.errors import BadRequest
    from broker.translate import require_no_document, translated_requirements

    for number, element in enumerate(elements, 1):
        given = element.get("requirements") if isinstance(element, dict) else None
        try:
            require_no_document(element)
            translated = translated_requirements(given)
        except BadRequest as error:
            job = f", job {element['job_id']}" if isinstance(element.get("job_id"), int) else ""
            raise BadRequest(f"{elements.where(number)}{job}: {error.message}", error.hint) from None
        yield element if translated is given else {**element, "requirements": translated}


def _listed(value: Any) -> list[Mapping[str, object]]:
    """The elements of a JSON value: those of an array or of a world's task_queues, or the object itself."""
    if isinstance(value, dict) and "task_queues" in value:
        value = value["task_queues"]
        if isinstance(value, list):
            # Submitted jobs join existing TaskQueues; only `load` changes whether a TaskQueue is enabled.
            value = [
                {k: v for k, v in queue.items() if (k, v) != ("enabled", True)} if isinstance(queue, dict) else queue
                for queue in value
            ]
    return value if isinstance(value, list) else [value]
