"""`broker load`, `dump`: a setup as a whole."""

import json
from collections import Counter
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.shared import blockers, output
from broker.cli.shared.common import Json, working
from broker.cli.shared.files import reading, writing
from broker.cli.shared.session import SETUP, Setup, note_new, session, setups_there
from broker.known_exports import EXPORTS
from broker.words import counted

if TYPE_CHECKING:
    from broker.world import Loaded

app = typer.Typer()
PANEL = "Setups"


def _export(name: str, metavar: str = "FILE") -> Any:
    """The option of an export, which may be given several times."""
    return typer.Option(None, help=f"{EXPORTS[name].what}.", metavar=metavar, rich_help_panel="Exports")


@app.command(rich_help_panel=PANEL)
def load(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Files with worlds; - for standard input.")
    ] = None,
    *,
    setup: Annotated[
        str | None, typer.Option(envvar=SETUP, help="Load into this setup instead of the one that the files name.")
    ] = None,
    cric_queues: list[Path] | None = _export("cric-queues"),
    cric_sites: list[Path] | None = _export("cric-sites"),
    cric_storages: list[Path] | None = _export("cric-storages"),
    cric_storage_states: list[Path] | None = _export("cric-storage-states"),
    cric_closeness: list[Path] | None = _export("cric-closeness"),
    software: list[Path] | None = _export("software"),
    gdpconfig: list[Path] | None = _export("gdpconfig"),
    network_metrics: list[Path] | None = _export("network-metrics"),
    rucio_usage: list[Path] | None = _export("rucio-usage"),
    pilots: list[Path] | None = _export("pilots"),
    workers: list[Path] | None = _export("workers"),
    jedi_tasks: list[Path] | None = _export("jedi-tasks"),
    rucio_datasets: list[Path] | None = _export("rucio-datasets"),
    rucio_replicas: list[Path] | None = _export("rucio-replicas"),
    job_counts: list[Path] | None = _export("job-counts"),
    dirac: list[Path] | None = _export("dirac", "FOLDER"),
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            help="Load the TaskQueues of this Setup or VO of DIRAC, or PanDA's configuration of this VO, if --dirac or"
            " --gdpconfig has several.",
            rich_help_panel="Exports",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Load exports of which nothing or less than nine tenths can be read, or by which more than a fifth of"
            " the records would disappear.",
        ),
    ] = False,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge", help="Change only the given fields of existing rows. Always on when exports are loaded."
        ),
    ] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Warn about unknown keys instead of refusing them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Load worlds and exports of other systems. A world has queues, data, tasks, TaskQueues and more. All files are
    loaded or none.

    Exports come first. A row of a world replaces the existing row; with --merge, or beside exports, it is merged over
    that row.
    """
    from broker import world
    from broker.operate.reading import not_loaded
    from broker.world import exports

    given = {name: [Path(file) for file in ctx.params[name.replace("-", "_")] or ()] for name in EXPORTS}
    if not any(given.values()) and not files:
        raise typer.BadParameter("name a world or an export", param_hint="FILE...")
    names = [str(file) for file in files or ()]
    with working("reading"):
        exported = [
            (name, str(file), exports.read(file, _text_of, folder=name == "dirac"))
            for name, of_one in given.items()
            for file in of_one
        ]
        worlds = [world.parse(_text_of(file), str(file)) for file in files or ()]
    with session() as connection, blockers.named(connection), working("loading"), connection.transaction():
        before = setups_there(connection)
        rows: dict[str, int] = {}
        ignored: list[str] = []
        lacking: list[str] = []
        for export, name, value in exported:
            with world.naming(name):
                imported = exports.load(
                    connection,
                    export,
                    value,
                    setup or "default",
                    tenant=tenant,
                    is_whole=len(given[export]) == 1,
                    force=force,
                )
            rows[export] = rows.get(export, 0) + imported.rows
            ignored += imported.ignored
            lacking += [f"{name}: {line}" for line in imported.lacking]
        merged = merge or bool(exported)
        loaded = world.load(connection, worlds, setup, lenient=lenient, merge=merged, names=names)
        loaded.rows = rows | loaded.rows
        loaded.ignored[:0] = ignored
        if exported and (into := setup or "default") not in loaded.setups:
            loaded.setups.insert(0, into)
        missing = {name: world.missing(connection, name) for name in loaded.setups if loaded.rows.keys() & _NAMING}
        if exported:
            lacking += [row["lack"] for row in not_loaded(connection, setup or "default") if row["queue"] is None]
    for name in loaded.setups:
        note_new(name, before)
    if setup and getattr(ctx.get_parameter_source("setup"), "name", "") == "ENVIRONMENT":
        for file, one in zip(names, worlds, strict=True):
            if (named := one.get("setup") or one.get("vo") or setup) != setup:
                output.note(f"{file} names setup {named}, but {SETUP} is {setup}: unset {SETUP}, or give --setup")
    changed = loaded.there.changed_cpu_times()
    warnings = [*lacking, *loaded.kept, *([changed] if changed else [])]
    warnings += [f"{line} (setup {name})" for name, lines in missing.items() for line in lines]
    for name in loaded.ignored:
        output.note(f"left out, not known here: {name}")
    if as_json:
        output.json_out(loaded)
    else:
        _show_loaded(loaded)
    for line in warnings:
        output.note(line)


_NAMING = frozenset(("queues", "storages", "nuclei", "datasets", "tasks", *EXPORTS))
"""Sections and exports whose rows refer to rows of other sections."""


def _show_loaded(loaded: "Loaded") -> None:
    """Show the loaded data: rows by section, jobs of tasks and TaskQueues, and keys set for all setups."""
    output.table(f"Loaded into {', '.join(loaded.setups)}", ["section", "rows"], list(loaded.rows.items()))
    if tasks := loaded.rows.get("tasks"):
        output.say(f"{counted(tasks, 'task')} with {counted(loaded.task_jobs, 'job')} to broker")
    if "task_queues" in loaded.rows:
        output.say(f"{counted(loaded.jobs, 'job')} in TaskQueues")
    if keys := loaded.everywhere:
        output.say(f"{counted(len(keys), 'key')} of config set for all setups: {', '.join(keys)}")


def _text_of(file: Path) -> str:
    with reading(file) as stream:
        return stream.read()


@app.command(rich_help_panel=PANEL)
def dump(
    setup: Setup = "default",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead of standard output.")
    ] = None,
    with_leases: Annotated[
        bool, typer.Option("--with-leases", help="Also dump leases with their secret attempts: keep the file secret.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the world of a setup as JSON, for `broker load`. --json changes nothing."""
    from broker import world

    counts: Counter[str] = Counter()
    waiting = 0

    def count(section: str, row: str) -> None:
        nonlocal waiting
        counts[section] += 1
        if section == "task_queues":
            waiting += len(json.loads(row)["jobs"])

    to_file = out is not None and str(out) != "-"
    # The dump is closed before its connection, whatever happens: it holds a transaction open.
    with (
        session(setup) as connection,
        closing(world.dump(connection, setup, with_leases=with_leases, on_row=count if to_file else None)) as pieces,
    ):
        first = next(pieces)  # a setup that holds nothing is refused before the file is touched
        with writing(out, secret=with_leases) as stream, working("writing") if to_file else nullcontext():
            stream.write(first)
            stream.writelines(pieces)
    if to_file:
        parts = [counted(counts.pop("task_queues", 0), "TaskQueue"), counted(waiting, "job")]
        leases = counts.pop("leases", 0)
        parts += [counted(leases, "lease")] if with_leases else []
        if counts:
            parts = [f"{number} of {section}" for section, number in counts.items()] + (parts if waiting else [])
        output.note(f"{', '.join(parts)} written to {out}")
