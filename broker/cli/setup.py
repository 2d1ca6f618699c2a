"""`broker setup`: commands about a setup as a whole."""

from typing import Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.cli.shared.session import Setup, connected, forget_placement, ready, require_setup, session
from broker.words import counted

app = typer.Typer(no_args_is_help=True, help="Configure, mend and remove setups; `broker setups` lists them.")

_HOLDS = """
    select (select count(*) from monitor.task t where t.setup = s.setup) as tasks,
           (select coalesce(sum(w.jobs), 0)::bigint from monitor.waiting_by_group w where w.setup = s.setup) as waiting,
           (select count(*) from monitor.lease l where l.setup = s.setup) as leased,
           (select coalesce(sum(b.jobs), 0)::bigint
              from monitor.brokered_job_count b where b.setup = s.setup) as brokered,
           s.identities
      from monitor.setup s where s.setup = %s
"""


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="SETUP", help="The setup.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove a setup with all its content, after a question that counts the content. This cannot be undone.

    Needs the role broker_operator.
    """
    from broker.operate.reading import rows_of

    target = ready()
    with connected(target) as connection:
        require_setup(connection, name)
        found = rows_of(connection, _HOLDS, name)
        holds = found[0] if found else {}
        if not yes:
            kinds = {"tasks": "task", "waiting": "waiting job", "leased": "leased job"}
            counts = [counted(holds.get(name, 0), thing) for name, thing in kinds.items()]
            counts.append(f"{holds.get('brokered', 0):,} jobs in the counts of brokerage")
            output.note(f"Setup {name} on {connection.info.host}, database {connection.info.dbname}:")
            output.note(f"{', '.join(counts)}; and its configuration, history and identities.")
            typer.confirm("Remove all of it?", abort=True, err=True)
        connection.execute("select taskqueue.remove_setup(%s)", [name])
    forget_placement(target, name)
    report(f"setup {name} is removed", as_json=as_json, setup=name, removed=True, held=holds)


@app.command("cpu-buckets")
def cpu_buckets(
    seconds: Annotated[list[int], typer.Argument(help="All buckets, in seconds of CPU time.")],
    *,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Set the CPU buckets, and move the existing TaskQueues to them. Needs the role broker_operator."""
    with session() as connection:
        query = "select taskqueue.set_cpu_buckets(%s, %s)"
        row = connection.execute(query, [setup, seconds]).fetchone() or (0,)
    moved = counted(row[0], "TaskQueue")
    report(f"{counted(len(set(seconds)), 'bucket')}, {moved} moved", as_json=as_json, setup=setup, moved=row[0])


@app.command()
def platform(
    offered: Annotated[str, typer.Argument(help="Platform that a worker node offers.")],
    accepted: Annotated[
        list[str] | None, typer.Argument(help="Other platforms whose jobs it can run; none if omitted.")
    ] = None,
    *,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Set the other platforms whose jobs a worker node of a platform can run. Needs the role broker_operator."""
    runs = accepted or []
    with session() as connection:
        connection.execute("select taskqueue.set_platform_compatibility(%s, %s, %s)", [setup, offered, runs])
    text = f"{offered} runs {', '.join(runs) or 'nothing else'}"
    report(text, as_json=as_json, setup=setup, offered=offered, accepted=runs)


@app.command()
def attributes(
    given: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE | preset:diracx]",
            help="A JSON object of names and types, a world with the section attributes, or the preset.",
        ),
    ] = None,
    *,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show the attributes that resources may offer, or set them in place of the earlier ones.

    A type is number, version, text or flag, or {"type": "number", "absent": {"value": 0}}. Changes need the role
    broker_operator.
    """
    from broker.cli.shared.files import PRESET, json_of
    from broker.json_text import json_text
    from broker.operate.reading import rows_of

    query = "select name, type, absent, exclusive from monitor.attribute where setup = %s order by name"
    with session() as connection:
        if given:
            preset = given.startswith(PRESET)
            value = given.removeprefix(PRESET) if preset else json_of(given, "attributes")
            connection.execute("select taskqueue.set_attributes(%s, %s::jsonb)", [setup, json_text(value)])
        rows = rows_of(connection, query, setup)
        if not rows:
            require_setup(connection, setup)
    columns = {"name": "attribute", "type": "type", "absent": "if absent", "exclusive": "one value"}
    output.records(f"Attributes of setup {setup}", rows, columns, as_json=as_json)


@app.command("forget-ended")
def forget_ended(
    *,
    older_than: Annotated[str, typer.Option(help="Keep younger jobs, for example '7 days'.")] = "30 days",
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Forget ended jobs of TaskQueues; a job that is inserted again with such an id counts as new. Needs the role
    broker_operator."""
    with session(setup) as connection:
        query = "select taskqueue.forget_ended(%s, %s::interval)"
        row = connection.execute(query, [setup, older_than]).fetchone() or (0,)
    report(f"{counted(row[0], 'ended job')} forgotten", as_json=as_json, setup=setup, forgotten=row[0])


@app.command()
def mend(*, setup: Setup = "default", as_json: Json = False) -> None:
    """Rebuild the data that is derived from jobs and TaskQueues: posting lists, priorities, counts. Use it if the
    consistency views of monitor show differences. Agents are kept out of the setup during the rebuild. Needs the role
    broker_operator.
    """
    with session(setup) as connection, connection.transaction():
        connection.execute("select taskqueue.rebuild_matching(%s)", [setup])
        connection.execute("select taskqueue.recompute_shares(%s)", [setup])
        connection.execute("select workload.correct_counts(%s)", [setup])
    report(f"setup {setup} is rebuilt", as_json=as_json, setup=setup, mended=True)
