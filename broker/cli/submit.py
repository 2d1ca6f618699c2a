"""`broker submit`: insert jobs into TaskQueues."""

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from broker.cli import output
from broker.cli.common import Json, working
from broker.cli.files import reading
from broker.cli.session import Setup, ready

app = typer.Typer()
PANEL = "Jobs"


@app.command(rich_help_panel=PANEL)
def submit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON or JSON lines; - for standard input.")],
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    r"""Insert jobs from a JSON array, a JSON object, JSON lines, or the task_queues of a world.

    An element is {job_id, requirements, user_priority} or {requirements, jobs: [\[id, user_priority], ...]}.
    JSON lines are read in constant memory, and each 100,000 jobs are stored in one call.
    """
    from broker.client.submitter import Submitter, There

    began = time.perf_counter()

    def progress(stored: int) -> None:
        if stored >= 100_000:  # a stream of several calls
            rate = stored / (time.perf_counter() - began)
            output.note(f"{output.counted(stored, 'job')} stored, {rate:,.0f} a second")

    typed = str(file) == "-"  # perhaps by hand, on the terminal
    with Submitter(setup, ready()) as submitter, reading(file) as stream:
        elements = _Elements(stream, str(file))
        there = There()
        with nullcontext() if typed else working("submitting"):
            jobs = submitter.submit_many(elements, None if as_json else progress, elements.where, there)
    new = jobs - there.waiting - there.ended
    if as_json:
        output.json_out({"setup": setup, "jobs": jobs, "new": new, "moved": there.waiting, "restarted": there.ended})
        return
    parts = [f"{new:,} new"] if there.waiting or there.ended else []
    parts += [f"{there.waiting:,} in place of a waiting one"] if there.waiting else []
    parts += [f"{there.ended:,} that had ended"] if there.ended else []
    output.say(f"{output.counted(jobs, 'job')} submitted to setup {setup}{': ' if parts else ''}{', '.join(parts)}")


class _Elements:
    """The elements of a file: one by one of JSON lines, all at once of any other JSON."""

    def __init__(self, stream: Iterator[str], name: str) -> None:
        self._lines = enumerate(stream, 1)
        self._name = name
        self._skipped: list[int] | None = None  # numbers of the empty lines; None: an element is not a line

    def where(self, number: int) -> str:
        """The place of the n-th element: its line, or its number."""
        if self._skipped is None:
            return f"element {number}"
        for skipped in self._skipped:
            number += skipped <= number
        return f"line {number}"

    def __iter__(self) -> Iterator[Mapping[str, object]]:
        from broker.errors import BadRequest
        from broker.json_text import parse

        skipped: list[int] = []
        first = next(self._filled(skipped), (0, "[]"))[1]
        try:
            value = parse(first)
            if isinstance(value, dict) and "task_queues" not in value:
                self._skipped = skipped
            yield from _listed(value)
        except ValueError:  # an object or array that goes over several lines
            try:
                yield from _listed(parse(first + "".join(line for _, line in self._lines)))
            except ValueError as error:
                raise BadRequest(f"{self._name} is not JSON: {error}", "give JSON, or one JSON object a line") from None
        for number, line in self._filled(skipped):
            try:
                element = parse(line)
            except ValueError as error:
                raise BadRequest(
                    f"{self._name}, line {number}, is not JSON: {error}", "give one JSON object a line"
                ) from None
            yield element

    def _filled(self, skipped: list[int]) -> Iterator[tuple[int, str]]:
        """The lines that are not empty, with their numbers; `skipped` gets the numbers of the others."""
        for number, line in self._lines:
            if line.strip():
                yield number, line
            else:
                skipped.append(number)


def _listed(value: Any) -> list[Mapping[str, object]]:
    """The elements of a JSON value: of an array, of a world's task_queues, or the object itself."""
    if isinstance(value, dict) and "task_queues" in value:
        value = value["task_queues"]
        if isinstance(value, list):
            # Submitted jobs join existing TaskQueues; only `load` changes whether a TaskQueue is enabled.
            value = [
                {k: v for k, v in queue.items() if (k, v) != ("enabled", True)} if isinstance(queue, dict) else queue
                for queue in value
            ]
    return value if isinstance(value, list) else [value]
