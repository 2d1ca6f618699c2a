"""Upgrade and downgrade: revisions, code, grants, and the resulting state of the catalogue, in one transaction."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from psycopg import errors, sql

from broker.upgrade import grants, roles, state
from broker.upgrade.failure import UpgradeError
from broker.upgrade.install import Changes, Installer, keep_out
from broker.upgrade.installed import BASE, Installed, installed, target_of
from broker.upgrade.program import Program
from broker.upgrade.session import Session, connect, giving_way, take_role, transaction
from broker.upgrade.source import parse_files

Cursor = psycopg.Cursor[Any]
FRONT = "front"


@dataclass(frozen=True)
class Report:
    """The result of an upgrade or a downgrade; `seconds` is the duration of all attempts."""

    release: str
    revision_before: str | None
    revision: str | None
    written: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    attempts: int = 1
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        """Whether anything in the database has changed."""
        return bool(self.revision_before != self.revision or self.written or self.dropped or self.grants)


def _names(found: Installed, asked: str | None) -> roles.Roles:
    if found.role_prefix and asked is not None and found.role_prefix != asked:
        fault = f"this database was installed with the role prefix {found.role_prefix}, not {asked}"
        raise UpgradeError(fault, "leave the prefix out: the database knows it")
    return roles.Roles(asked if asked is not None else found.role_prefix or roles.DEFAULT_PREFIX)


def upgrade(
    dsn: str,
    *,
    role_prefix: str | None = None,
    program: Program | None = None,
    patience: float = 120.0,
    front: bool = False,
) -> Report:
    """Bring a database to this release: revisions, then the objects of sql/ that changed, then the grants.

    Everything is one transaction under an advisory lock; if it would have to wait, it rolls back and tries again, for
    `patience` seconds. `role_prefix` is the prefix of the roles' names (broker_ in a new database, by default the
    existing one). `front` makes an installation a front of shards (broker.cluster); a front stays one. Raises
    UpgradeError if that fails, when at most roles have been made; CompatibilityError if the database is newer than
    the program.
    """
    release = program or Program()
    objects = parse_files(release.files)
    wanted_grants = grants.parse(release.files["roles.sql"])
    with connect(dsn, autocommit=True) as conn:
        found = installed(conn.cursor())
        release.require_not_older(found.release, found.revision)
        names = _names(found, role_prefix)
        roles.ensure_roles(conn, names)

    def work() -> Report:
        with transaction(dsn) as session:
            cur = session.cur
            was = _enter(session, names)
            release.require_not_older(was.release, was.revision)
            left = state.stored(cur) if was.release else {}
            before = state.read(cur, names) if left else {}
            if was.server_major == cur.connection.info.server_version // 10000:
                suspect = _repairable(cur, left, before, names)
            else:
                # Another major version words definitions differently: write all code again, and keep the tables as they
                # are.
                suspect = {item for item, _ in left}
                left = state.reworded(left, before)
            moves = was.revision != release.head
            if moves:
                keep_out(cur)
                _move_up(session, release)
            grants.close_defaults(cur, names)
            changes = Installer(cur, names.owner).load().run(objects, release.release, suspect, verify=moves)
            planned = grants.apply(cur, wanted_grants, names)
            report = _report(release.release, was, release.head, changes, planned)
            if report.changed or was.release != release.release or suspect or not left or front:
                _write_installation(cur, names, release.release)
                _finish_code(cur, names, front=front or was.kind == FRONT)
                state.store(cur, before, left, state.read(cur, names))
            return report

    report = _timed(work, patience)
    if not front and found.kind != FRONT:
        _make_partitions(dsn, names)
    return report


def _make_partitions(dsn: str, names: roles.Roles) -> None:
    """Make the partitions of today and the next days, so that the first events find theirs; also after a restore."""
    with connect(dsn, autocommit=True) as conn, conn.transaction(), conn.cursor() as cur:
        take_role(cur, names.owner)
        if cur.execute("select to_regproc('lifecycle.make_partitions')").fetchone() != (None,):
            cur.execute("select from lifecycle.make_partitions()")


def downgrade(
    dsn: str, target: str | None = None, *, program: Program | None = None, patience: float = 120.0
) -> Report:
    """Bring a database back to the release before, with the code of that release; `base` removes everything.

    `target` is `base`, or the version of the release before (the default). The roles stay, they belong to the cluster.
    Raises UpgradeError if this build does not carry the code of the target, or if objects of others block the
    downgrade.
    """
    release = program or Program()
    with connect(dsn, autocommit=True) as conn:
        found = installed(conn.cursor())
        earlier = target_of(release, found, target)
        names = _names(found, None)
        roles.ensure_roles(conn, names)
    from broker.upgrade import revisions

    revision = earlier.revision if earlier else BASE

    def work() -> Report:
        with transaction(dsn) as session:
            cur = session.cur
            was = _enter(session, names)
            left = state.stored(cur)
            before = state.read(cur, names)
            installer = Installer(cur, names.owner).load()
            installer.clear()
            _forget_compiled(cur)
            try:
                if was.revision != revision:
                    revisions.move(session.sa, release.migrations, revision, down=True)
                if earlier is None:
                    _remove_last(cur, names)
                    changes = installer.leave()
                    return _report(release.release, was, None, changes, grants.Plan())
            except errors.DependentObjectsStillExist as error:
                raise UpgradeError(
                    f"objects of others depend on what would be removed: {error.diag.message_detail}", "drop them first"
                ) from error
            changes = installer.run(parse_files(earlier.files), earlier.release, set())
            planned = grants.apply(cur, grants.parse(earlier.files["roles.sql"]), names)
            _write_installation(cur, names, earlier.release)
            _finish_code(cur, names, front=was.kind == FRONT)
            state.store(cur, before, left, state.read(cur, names))
            return _report(earlier.release, was, revision, changes, planned)

    return _timed(work, patience)


def _finish_code(cur: Cursor, names: roles.Roles, *, front: bool) -> None:
    """Make the code whose form belongs to the release: the calls of a front, else the queries of profiles."""
    if front:
        _lay_front(cur, names)
    elif cur.execute("select to_regproc('brokerage.compile_profiles')").fetchone() != (None,):
        cur.execute("select from brokerage.compile_profiles()")


def _forget_compiled(cur: Cursor) -> None:
    """Drop those functions before revisions that drop the types of their arguments."""
    found = "select oid::regprocedure::text from pg_proc where pronamespace = to_regnamespace('brokerage_compiled')"
    for (name,) in cur.execute(found).fetchall():
        cur.execute(f"drop function {name}".encode())


def _timed(work: Callable[[], Report], patience: float) -> Report:
    began = time.monotonic()
    report, attempts = giving_way(work, patience)
    return replace(report, attempts=attempts, seconds=time.monotonic() - began)


def _report(release: str, was: Installed, now: str | None, changes: Changes, planned: grants.Plan) -> Report:
    return Report(
        release, was.revision, now, tuple(changes.written), tuple(changes.dropped), tuple(changes.foreign),
        planned.statements,
    )  # fmt: skip


def _enter(session: Session, names: roles.Roles) -> Installed:
    """Act as the owner; in an empty database, first make the schema resource, where Alembic keeps its version."""
    take_role(session.cur, names.owner)
    was = installed(session.cur)
    if was.role_prefix is None:
        with _schema_names():
            session.cur.execute("create schema resource")
    return was


def _move_up(session: Session, release: Program) -> None:
    # Alembic and SQLAlchemy are imported where they are used: `broker db check` answers without them.
    from broker.upgrade import revisions

    with _schema_names():
        revisions.move(session.sa, release.migrations, release.head)


@contextmanager
def _schema_names() -> Iterator[None]:
    try:
        yield
    except errors.DuplicateSchema as error:
        hint = "create a database of its own for pgbroker (create database broker): the schemas need their names"
        raise UpgradeError(f"{error.diag.message_primary}, and it is not ours", hint) from error


def _repairable(cur: Cursor, left: state.State, before: state.State, names: roles.Roles) -> set[str]:
    """Give objects back to their owner, and return the functions, views and triggers that must be written again."""
    suspect: set[str] = set()
    for difference in state.differences(left, before, names)[0]:
        if difference.aspect == "owner" and not difference.item.startswith("role "):
            _own_again(cur, difference, names)
        suspect.add(difference.item)
        if difference.item.startswith("column "):
            suspect.add("view " + difference.item.removeprefix("column ").rsplit(".", 1)[0])
    return suspect


def _own_again(cur: Cursor, difference: state.Difference, names: roles.Roles) -> None:
    try:
        cur.execute("savepoint owner")
        cur.execute("reset role")
        # The item is kind and name as PostgreSQL wrote them.
        cur.execute(f"alter {difference.item} owner to {sql.Identifier(names.owner).as_string(cur)}".encode())
    except errors.InsufficientPrivilege as error:
        fault = f"{difference.item} is owned by {difference.found} instead of {names.owner}"
        hint = f"let {difference.found} or a superuser run: alter {difference.item} owner to {names.owner}"
        raise UpgradeError(fault, hint) from error
    take_role(cur, names.owner)


def _remove_last(cur: Cursor, names: roles.Roles) -> None:
    """Remove everything that existed before the first revision. The roles stay: other databases may use them."""
    cur.execute("drop table resource.alembic_version")
    cur.execute("drop schema resource")
    cur.execute("alter default privileges grant execute on routines to public")
    cur.execute("alter default privileges grant usage on types to public")
    cur.execute("reset role")
    # A login that may not revoke this right to make schemas leaves it: the role cannot log in.
    cur.execute("savepoint last")
    try:
        [database] = cur.execute("select current_database()").fetchone() or [""]
        revoke = sql.SQL("revoke create on database {} from {}")
        cur.execute(revoke.format(sql.Identifier(database), sql.Identifier(names.owner)))
    except errors.InsufficientPrivilege:
        cur.execute("rollback to savepoint last")


def _lay_front(cur: Cursor, names: roles.Roles) -> None:
    from broker.fronts import logins, overlay

    cur.execute("update resource.installation set kind = %s where kind <> %s", [FRONT, FRONT])
    overlay.lay(cur, names)
    cur.execute("reset role")
    logins.guard(cur, names)
    take_role(cur, names.owner)


def _write_installation(cur: Cursor, names: roles.Roles, release: str) -> None:
    cur.execute(
        """
        insert into resource.installation (release, role_prefix, server_major, installed_at)
        values (%s, %s, %s, now())
        on conflict (only_row) do update
          set (release, role_prefix, server_major, installed_at)
            = row (excluded.release, excluded.role_prefix, excluded.server_major, excluded.installed_at)
        """,
        [release, names.prefix, cur.connection.info.server_version // 10000],
    )
    cur.executemany(
        "insert into resource.installation_role (kind, role_name) values (%s, %s) on conflict (kind) do nothing",
        list(names.names.items()),
    )
