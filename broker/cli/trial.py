"""`broker trial`: another profile decides a share of the tasks, and the outcomes are compared."""

from typing import Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.cli.shared.session import Setup, session
from broker.operate.reading import Row, rows_of

app = typer.Typer(no_args_is_help=True, help="Let another profile decide a share of the tasks, and compare.")

_WIDTH = 25  # characters of an interval that is drawn


@app.command()
def begin(
    profile: Annotated[
        str, typer.Argument(help="Profile that decides the share; it needs the same base profile as the setup's.")
    ],
    *,
    share: Annotated[float, typer.Option(help="Share of the tasks, more than 0 and less than 1.")] = 0.1,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Begin a trial: from the next run on, a profile decides a share of the tasks. Needs the role broker_operator.

    A task stays in its arm, in all brokers. A run that names a profile is not part of the trial. A setup has one trial
    at a time.
    """
    with session() as connection:
        row = connection.execute("select brokerage.begin_trial(%s, %s, %s)", [setup, profile, share]).fetchone()
    trial = row[0] if row else None
    text = f"trial {trial}: profile {profile} decides {share:.4g} of the tasks"
    report(text, as_json=as_json, setup=setup, trial=trial, profile=profile, share=share)


@app.command()
def end(*, setup: Setup = "default", as_json: Json = False) -> None:
    """End the trial: the profile of the setup decides all tasks again. Needs the role broker_operator."""
    from broker.errors import NoSuchThing

    with session(setup) as connection:
        row = connection.execute("select brokerage.end_trial(%s)", [setup]).fetchone()
    if row is None or row[0] is None:
        raise NoSuchThing(f"no trial is under way in setup {setup}", "broker trial list")
    report(f"trial {row[0]} has ended", as_json=as_json, setup=setup, trial=row[0])


@app.command("list")
def list_trials(*, setup: Setup = "default", as_json: Json = False) -> None:
    """List the trials of a setup, newest first, with the numbers of tasks in both arms."""
    with session(setup) as connection:
        rows = rows_of(connection, "select * from monitor.trial where setup = %s order by trial desc", setup)
    columns = {
        "trial": "trial", "profile": "profile", "control": "against", "share": "share", "trial_tasks": "its tasks",
        "control_tasks": "other tasks", "began_at": "begun", "ended_at": "ended",
    }  # fmt: skip
    output.records("Trials", rows, columns, as_json=as_json, drop=["ended"])


@app.command()
def show(
    trial: Annotated[int | None, typer.Argument(help="Number of the trial; by default the last one.")] = None,
    *,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Compare the arms of a trial: candidates, remote input, waits, failures, lost walltime. Both arms share the
    queues, so a gain of one may be a loss of the other. Intervals are 90 % intervals by task, and lower is better in
    all measures.
    """
    from broker.errors import NoSuchThing

    with session(setup) as connection:
        query = """select * from monitor.trial
                    where setup = %s and trial = coalesce(%s, trial) order by trial desc limit 1"""
        found = rows_of(connection, query, setup, trial)
        if not found:
            which = "" if trial is None else f" {trial}"
            raise NoSuchThing(f"setup {setup} has no trial{which}", "broker trial list")
        query = "select * from monitor.trial_outcome where setup = %s and trial = %s order by place"
        outcome = rows_of(connection, query, setup, found[0]["trial"])
    if as_json:
        output.json_out({**found[0], "outcome": outcome})
    else:
        _show(found[0], outcome)


def _show(trial: Row, outcome: list[Row]) -> None:
    ended = f" to {output.moment(trial['ended_at'])}" if trial["ended_at"] else ""
    output.say(
        f"trial {trial['trial']}, from {output.moment(trial['began_at'])}{ended}: profile {trial['profile']} decides"
        f" {trial['share']:.4g} of the tasks, {trial['control']} the others"
    )
    if not outcome:
        output.say("no run has decided a task in it yet")
        return
    cells = [
        (
            row["measure"], _with_margin(row["control_value"], row["control_margin"]),
            _with_margin(row["trial_value"], row["trial_margin"]),
            _with_margin(row["difference"], row["difference_margin"], sign="+"),
            drawn(row["difference"], row["difference_margin"]), row["verdict"], row["unit"],
        )
        for row in outcome
    ]  # fmt: skip
    columns = ["measure", trial["control"], trial["profile"], "difference", "lower ↔ higher", "verdict", "unit"]
    output.table("Outcome, with 90 % intervals; low is good", columns, cells)
    tasks = outcome[0]
    output.say(
        f"tasks decided: {tasks['control_tasks']} by {trial['control']}, {tasks['trial_tasks']} by {trial['profile']}."
        " Both share the queues: a gain of one may be a loss of the other."
    )


def _with_margin(value: float | None, margin: float | None, sign: str = "") -> str:
    if value is None:
        return ""
    shown = f"{value:{sign}.3g}" if abs(value) < 100 else f"{value:{sign}.0f}"
    if margin is None or margin == float("inf"):
        return shown
    return f"{shown} ± {f'{margin:.2g}' if margin < 100 else f'{margin:.0f}'}"


def drawn(difference: float | None, margin: float | None) -> str:
    """The interval of a difference as a line around 0 in the middle; empty without an interval."""
    if difference is None or margin is None or margin == float("inf"):
        return ""
    half = _WIDTH // 2
    reach = (abs(difference) + margin) or 1
    low, middle, high = (
        half + round(half * part / reach) for part in (difference - margin, difference, difference + margin)
    )
    line = [" "] * _WIDTH
    line[half] = "│"
    for place in range(low, high + 1):
        line[place] = "┼" if place == half else "─"
    line[middle] = "●"
    return "".join(line)
