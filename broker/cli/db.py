"""`broker db`: commands on the database itself: upgrade, downgrade, check, current, and one for developers."""

from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli.shared import codes, common
from broker.cli.shared.common import Json
from broker.cli.shared.output import fields, json_out, note, say

if TYPE_CHECKING:
    from broker.upgrade import Report
    from broker.upgrade.state import Difference

app = typer.Typer(no_args_is_help=True, help="Install, upgrade, downgrade and check the database.")
_Patience = Annotated[float, typer.Option(help="Seconds during which the command gives way to the agents' locks.")]
_NOTHING = "pgbroker is not installed in this database"
_INSTALL = "hint:  broker db upgrade"


@app.command()
def upgrade(
    role_prefix: Annotated[
        str | None, typer.Option(help="Prefix of the roles' names; broker_ in a new database.")
    ] = None,
    patience: _Patience = 120.0,
    as_json: Json = False,
) -> None:
    """Bring the database to this release: tables, code, grants. It may run under load, and may be repeated."""
    from broker import upgrade as machinery

    dsn = common.target().dsn
    report = machinery.upgrade(dsn, role_prefix=role_prefix, patience=patience)
    _show(report, as_json)
    if not as_json:
        _show_next(dsn, new=report.revision_before is None)


@app.command()
def downgrade(
    target: Annotated[
        str | None, typer.Argument(help="The release before (the default), or base, which removes everything.")
    ] = None,
    patience: _Patience = 120.0,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the database back to the release before. The data of newer tables and columns is lost."""
    from broker import upgrade as machinery

    dsn = common.target().dsn
    if not yes:
        note(str(machinery.prospect(dsn, target)), keep="\n")
        typer.confirm("Go on?", abort=True, err=True)
    _show(machinery.downgrade(dsn, target, patience=patience), as_json)


@app.command()
def check(
    strict: Annotated[bool, typer.Option("--strict", help="Also count objects and grants of others.")] = False,
    as_json: Json = False,
) -> None:
    """Compare the database with this release: definitions, tables, owners, comments, grants.

    Exit code 5: it differs.
    """
    from broker import upgrade as machinery

    report = machinery.check(common.target().dsn)
    ok = report.ok and not (strict and report.guests)
    names = ("release", "revision", "differences", "guests")
    if as_json:
        json_out({"ok": ok, **{name: getattr(report, name) for name in names}})
    elif report.revision is None:
        say(_NOTHING)
        note(_INSTALL)
    else:
        for difference in report.differences:
            say(*_told(difference))
        for guest in report.guests:
            note(f"not of pgbroker: {guest}")
        fits = "the database is what the release says" if ok else f"{len(report.differences)} differences"
        say(f"release {report.release}, revision {report.revision}: {fits}")
    if not ok:
        raise typer.Exit(codes.FOUND)


@app.command()
def current(as_json: Json = False) -> None:
    """Print the revision and release of the database, and this program's."""
    from broker import upgrade as machinery

    program = machinery.Program()
    found = machinery.state_of(common.target().dsn)
    shown = {
        "revision": found.revision, "release": found.release, "role_prefix": found.role_prefix,
        "program_revision": program.head, "program_release": program.release,
    }  # fmt: skip
    if as_json:
        json_out(shown)
        return
    fields("Database", shown)
    if found.revision is None:
        say(_NOTHING)
        note(_INSTALL)


def _show_next(dsn: str, *, new: bool) -> None:
    """Print the next steps after an installation, and the grant that a login needs to operate."""
    import psycopg

    from broker import database
    from broker.database import Target

    query = """select format('grant %I to %I;', r.role_name, session_user), session_user, r.role_name,
                      pg_has_role(session_user, r.role_name, 'usage')
                 from resource.installation_role r where r.kind = 'operator'"""
    with database.connect(Target(dsn, "", prepare=False)) as connection:
        try:
            row = connection.execute(query).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            return
        if row is None:
            return
        grant, login, operator, operates = row
    if not operates:  # a superuser does
        say(f"next: {grant}   (in psql; then {login} may also operate: run, load, demo)")
    if new:
        prefix = operator.removesuffix("operator")
        say("next: `broker run` keeps the installation going, `broker doctor` looks whether it is well,")
        say(f"      logins of agents and submitters get {prefix}agent, {prefix}submitter and `broker identity grant`")


def _told(difference: "Difference") -> list[str]:
    """A difference as a line; for texts of several lines, the lines that differ."""
    from difflib import ndiff

    expected, found = difference.expected, difference.found
    head = f"{difference.item}: {difference.aspect}"
    if difference.item == "grants" and not found:
        return [f"{head}; to put it right: {expected}"]
    if "\n" not in expected + found:
        return [f"{head}: release {expected or 'none'}; database {found or 'none'}"]
    lines = [line for line in ndiff(expected.splitlines(), found.splitlines()) if line[0] in "-+"]
    return [f"{head} (- release, + database)", *(f"    {line}" for line in lines)]


def _show(report: "Report", as_json: bool) -> None:
    if as_json:
        json_out(report)
        return
    fields(
        "Database",
        {
            "release": report.release, "revision": f"{report.revision_before or 'none'} -> {report.revision or 'none'}",
            "objects written": len(report.written), "objects dropped": len(report.dropped),
            "others' objects made again": len(report.foreign), "grants changed": len(report.grants),
            "attempts": report.attempts, "seconds": round(report.seconds, 3),
        },
    )  # fmt: skip
    for name in report.foreign:
        note(f"made again: {name}")
