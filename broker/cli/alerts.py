"""`broker alerts`: firing alerts, the rules of alerts, and their targets."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.shared import listing, output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.cli.shared.session import Setup, session, take_away

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer(invoke_without_command=True, help="Show alerts, and set their rules and targets.")

_JUDGED = """
    select j.judged_at, f.is_sampled and j.judged_at >= f.sampled_at - interval '1 minute' as is_current
      from alert.rule_in_force j join history.freshness f on f.setup = j.setup where j.setup = %s limit 1
"""
_Rule = Annotated[str, typer.Argument(help="Name of the rule; broker alerts rules lists them.")]
_Target = Annotated[str, typer.Argument(help="Name of the target; broker alerts targets lists them.")]
_Changes = Annotated[
    list[str], typer.Argument(metavar="KEY=VALUE...", help="The keys to set; a value is JSON, or plain text.")
]


@app.callback()
def alerts(
    context: typer.Context,
    *,
    every: Annotated[bool, typer.Option("--all", help="Also show pending and ended alerts.")] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show the alerts that fire. The loop notify of `broker run` evaluates the rules each minute."""
    from broker.operate.reading import rows_of

    if context.invoked_subcommand:
        return
    with session(setup) as connection:
        query = """select alert_id, state, severity, rule, labels, value, usual, began_at, since, fired_at,
                          ended_at, silent_until, summary
                     from alert.alert_now
                    where setup = %s and (state = 'firing' or %s)
                    order by array_position(array['firing', 'pending', 'ended'], state),
                             array_position(array['critical', 'warning', 'info'], severity), since desc, rule,
                             labels::text, alert_id"""
        rows = rows_of(connection, query, setup, every)
        judged = rows_of(connection, _JUDGED, setup)
        now = listing.moment_of(connection, setup)
    ended = ("ended_at",) if every else ()
    names = ("state", "severity", "rule", "began_at", "since", *ended, "silent_until", "summary")
    columns = {name: name.removesuffix("_at").replace("_", " ") for name in names}
    at = judged[0]["judged_at"] if judged else None
    missing = "" if rows or at else "not judged yet; the loops sample and notify of `broker run` judge them"
    title = f"Alerts of setup {setup}"
    output.records(
        title, rows, columns, as_json=as_json, drop=["ended", "since", "silent until", "rule"], now=now, missing=missing
    )
    if at and not judged[0]["is_current"]:
        output.note(f"the alerts were last judged at {output.moment(at, now)}; the loops of `broker run` judge them")


@app.command()
def rules(*, setup: Setup = "default", as_json: Json = False) -> None:
    """List the rules, with condition, duration and severity."""
    with session(setup) as connection:
        rows = _rules(connection, setup)
    columns = {
        "rule": "rule", "enabled": "enabled", "severity": "severity", "condition": "condition", "by_label": "for each",
        "over": "mean of", "lasting": "lasting", "origin": "origin", "summary": "summary",
    }  # fmt: skip
    drop = ["summary", "origin", "mean of", "for each"]
    output.records(f"Rules of alerts of setup {setup}", rows, columns, as_json=as_json, drop=drop)


@app.command("set-rule")
def set_rule(rule: _Rule, changes: _Changes, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Add a rule or change one: `broker alerts set-rule many_wait figure=jobs_waiting above=1e6 summary="{value}"`.

    A rule that comes with the program is switched off with enabled=false. Needs the role broker_operator.
    """
    given = _given(changes)
    with session() as connection:
        connection.execute("select alert.set_rule(%s, %s, %s)", [setup, rule, given])
        [row] = [row for row in _rules(connection, setup) if row["rule"] == rule]
    shown = {True: "", False: " (not enabled)"}[row["enabled"]]
    report(f"rule {rule}: {row['condition']}{shown}", as_json=as_json, **row)


@app.command("clear-rule")
def clear_rule(rule: _Rule, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Remove a rule of your own, or reset a rule that comes with the program. Needs the role broker_operator."""
    _clear("select alert.clear_rule(%s, %s)", "own or changed rule", "rules", rule, setup, as_json=as_json)


@app.command()
def silence(
    rule: Annotated[str, typer.Argument(help="Name of the rule; without it, silences are listed.")] = "",
    *,
    span: Annotated[str, typer.Option("--for", metavar="TIME", help="How long, such as '2 hours'; 0 ends it.")] = "",
    only: Annotated[str | None, typer.Option(help="Only alerts about this site, group or other value.")] = None,
    why: Annotated[str | None, typer.Option(help="The reason, for others.")] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Silence the alerts of a rule: they are shown, but not sent. `broker alerts silence site_stopped --for '2 hours'`.

    An alert that still fires at the end is sent then. Needs the role broker_operator.
    """
    from broker.operate.reading import rows_of

    with session(setup) as connection:
        now = listing.moment_of(connection, setup)
        if span:
            listing.require_span(connection, "--for", span)
        if not rule:
            query = (
                "select rule, labels, until, why from alert.silence_now where setup = %s order by rule, labels::text"
            )
            columns = {"rule": "rule", "labels": "only", "until": "until", "why": "why"}
            found = rows_of(connection, query, setup)
            if not as_json:
                found = [{**row, "labels": ", ".join(row["labels"].values()) or "all alerts"} for row in found]
            output.records(f"Silences of alerts of setup {setup}", found, columns, as_json=as_json, now=now)
            return
        if not span:
            raise typer.BadParameter("the time of the silence is missing", param_hint="--for")
        query = "select alert.silence_alerts(%s, %s, %s, %s, %s)"
        row = connection.execute(query, (setup, rule, span, only, why)).fetchone()
    until = row[0] if row else None
    what = f"rule {rule}{f' for {only}' if only else ''}"
    said = f"{what} is silent until {output.moment(until, now)}" if until else f"{what} is not silent"
    report(said, as_json=as_json, setup=setup, rule=rule, only=only, until=until)


@app.command()
def targets(*, setup: Setup = "default", as_json: Json = False) -> None:
    """List the targets of alerts, and the messages that are on their way. Needs the role broker_operator."""
    from broker.operate.reading import rows_of

    with session(setup) as connection:
        query = "select * from alert.target_now where setup = %s order by target"
        rows = [{name: row[name] for name in row if name != "setup"} for row in rows_of(connection, query, setup)]
        now = listing.moment_of(connection, setup)
    columns = {
        "target": "target", "enabled": "enabled", "kind": "kind", "address": "address", "least_severity": "from",
        "repeat_after": "again after", "last_sent_at": "last sent", "unsent": "unsent", "error": "error",
    }  # fmt: skip
    output.records(
        f"Targets of alerts of setup {setup}", rows, columns, as_json=as_json, drop=["again after", "from"], now=now
    )


@app.command("set-target")
def set_target(target: _Target, changes: _Changes, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Add a target or change one: `broker alerts set-target shifters kind=mail address=shifter@example.org`.

    A webhook gets a POST in the format of Prometheus' Alertmanager. Needs the role broker_operator.
    """
    given = _given(changes)
    with session() as connection:
        connection.execute("select alert.set_target(%s, %s, %s)", [setup, target, given])
    report(f"target {target} is set", as_json=as_json, setup=setup, target=target)


@app.command("clear-target")
def clear_target(target: _Target, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Remove a target, and all messages to it, also sent ones. Needs the role broker_operator."""
    _clear("select alert.clear_target(%s, %s)", "target", "targets", target, setup, as_json=as_json)


@app.command()
def test(target: _Target, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Send only a test message to a target now, and show whether that worked. Needs the role broker_operator."""
    from broker.errors import BrokerError
    from broker.operate import notify

    with session() as connection:
        row = connection.execute("select alert.test_target(%s, %s)", [setup, target]).fetchone()
        number = row[0] if row else None
        notify.send(connection, setup, number)
        query = "select sent_at is not null, error from alert.sent where setup = %s and notification_id = %s"
        sent, error = connection.execute(query, [setup, number]).fetchone() or (False, None)
    if not sent:
        hint = "it is tried again for a day; broker alerts targets shows the progress"
        raise BrokerError(f"target {target}: {error or 'another process sends it'}", hint)
    report(f"sent to {target}", as_json=as_json, setup=setup, target=target, sent=True)


@app.command()
def prometheus(*, setup: Setup = "default") -> None:
    """Print the rules as alerting rules of Prometheus, a file for its setting rule_files."""
    from broker.operate import prometheus_rules
    from broker.operate.reading import rows_of

    with session(setup) as connection:
        figures = {row["figure"]: row for row in rows_of(connection, "select * from history.figure")}
        enabled = [row for row in _rules(connection, setup) if row["enabled"]]
    typer.echo(prometheus_rules.rules_file(setup, enabled, figures), nl=False)


def _rules(connection: "Connection", setup: str) -> list[dict[str, Any]]:
    from broker.operate.reading import rows_of

    rows = rows_of(connection, "select * from alert.rule_in_force where setup = %s order by rule", setup)
    return [{name: row[name] for name in row if name != "setup"} for row in rows]


def _given(changes: list[str]) -> str:
    """The changes as a JSON object. Raises BadRequest."""
    from broker.errors import BadRequest
    from broker.json_text import json_text, parse_or_text

    found: dict[str, object] = {}
    for text in changes:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadRequest(f"{text} is not KEY=VALUE", "for example enabled=false")
        found[key] = parse_or_text(value)
    return json_text(found)


def _clear(query: str, what: str, listed: str, name: str, setup: str, *, as_json: bool) -> None:
    fault = f"there is no {what} {name} in setup {setup}"
    with session(setup) as connection:
        take_away(connection, query, [setup, name], fault, f"broker alerts {listed} lists them")
    report(f"removed: {name}", as_json=as_json, setup=setup, removed=name)
