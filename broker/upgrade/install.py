"""Bring the replaceable objects of a database to a given set of files; only changed objects are touched."""

import heapq
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import errors, sql

from broker.upgrade import column_comments, foreign
from broker.upgrade.dependants import Key, Standing, key_of, standing_on
from broker.upgrade.failure import UpgradeError
from broker.upgrade.session import concurrent
from broker.upgrade.source import SqlObject

Cursor = psycopg.Cursor[Any]

# `create or replace` cannot change the return type, argument names or kind of a routine, or remove columns.
_NEEDS_DROP = (
    errors.InvalidFunctionDefinition, errors.InvalidTableDefinition, errors.WrongObjectType, errors.FeatureNotSupported,
)  # fmt: skip


# The statement that creates an object again in PostgreSQL's words; no row if PostgreSQL keeps the written text.
_OWN_WORDS = {
    "pg_class": """
        select format('create or replace view %%s%%s as %%s', c.oid::regclass,
                      ' with (' || array_to_string(c.reloptions, ', ') || ')', pg_get_viewdef(c.oid))
          from pg_class c where c.oid = %s""",
    "pg_proc": "select pg_get_functiondef(oid) from pg_proc where oid = %s and prosqlbody is not null",
    "pg_trigger": "select from pg_trigger where oid = %s and false",
}


@dataclass
class Changes:
    """The changes of an installation, by the objects' names."""

    written: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Installed:
    kind: str
    path: str
    sha256: str


@dataclass(frozen=True)
class _Wanted:
    thing: SqlObject
    key: Key
    position: int


def normalised(cur: Cursor, objects: list[SqlObject]) -> list[str]:
    """Return each object's argument types as PostgreSQL writes them; a type that does not exist stays as written."""
    flat = [(position, written) for position, thing in enumerate(objects) for written in thing.arguments]
    rows = cur.execute(
        "select coalesce(to_regtype(t.written)::text, t.written) from unnest(%s::text[]) with ordinality t(written, n)"
        " order by t.n",
        [[written for _, written in flat]],
    ).fetchall()
    types: list[list[str]] = [[] for _ in objects]
    for (position, _), row in zip(flat, rows, strict=True):
        types[position].append(str(row[0]))
    return [", ".join(names) for names in types]


def find(cur: Cursor, key: Key) -> tuple[str, int] | None:
    """Look an object of ours up: its catalogue and oid, or None."""
    family, schema, name, arguments, relation = key
    if family == "routine":
        catalogue, query = (
            "pg_proc",
            """
            select p.oid::bigint from pg_proc p where p.pronamespace = %s::regnamespace and p.proname = %s
               and oidvectortypes(p.proargtypes) = %s and %s = ''""",
        )
    elif family == "view":
        catalogue, query = (
            "pg_class",
            """
            select c.oid::bigint from pg_class c where c.relnamespace = %s::regnamespace and c.relname = %s
               and c.relkind = 'v' and %s = '' and %s = ''""",
        )
    else:
        catalogue, query = (
            "pg_trigger",
            """
            select t.oid::bigint from pg_trigger t join pg_class c on c.oid = t.tgrelid
             where c.relnamespace = %s::regnamespace and t.tgname = %s and %s = '' and c.relname = %s
               and not t.tgisinternal""",
        )
    row = cur.execute(query.encode(), [schema, name, arguments, relation]).fetchone()
    return (catalogue, int(row[0])) if row else None


def keep_out(cur: Cursor) -> None:
    """Keep agents and submitters out until the end, as taskqueue.reconfigure does: a call fails ("cache lookup failed")
    if it plans a statement just when a function that it found is dropped. Call it before tables are locked, as they do.
    """
    if cur.execute("select to_regclass('resource.setup')").fetchone() != (None,):
        cur.execute(
            "select pg_advisory_xact_lock(hashtext('taskqueue'), hashtext(s.setup))"
            "  from resource.setup s order by s.setup"
        )


@dataclass
class Installer:
    """One installation, inside the caller's transaction and under the owner's role."""

    cur: Cursor
    owner: str
    changes: Changes = field(default_factory=Changes)
    _ours: dict[Key, _Installed] = field(default_factory=dict)
    _wanted: dict[Key, _Wanted] = field(default_factory=dict)
    _queue: list[tuple[int, Key]] = field(default_factory=list)
    _dropped: set[Key] = field(default_factory=set)
    _saved: list[tuple[Standing, list[str]]] = field(default_factory=list)
    _kept_out: bool = False

    def load(self) -> "Installer":
        """Read the installed objects."""
        for kind, schema, name, arguments, relation, path, sha in self.cur.execute(
            "select kind, schema_name, object_name, arguments, relation_name, path, sha256"
            "  from resource.installed_object"
        ).fetchall():
            self._ours[key_of(kind, schema, name, arguments, relation)] = _Installed(kind, path, sha)
        return self

    def clear(self) -> None:
        """Drop all objects, before revisions that drop the tables under them."""
        self._drop([found for key in self._ours if (found := find(self.cur, key))])

    def run(self, objects: list[SqlObject], release: str, suspect: set[str], verify: bool = True) -> Changes:
        """Install the objects.

        `suspect` are items of the catalogue that differ from the state after the last upgrade; `verify` looks for
        objects that a revision dropped.
        """
        cur = self.cur
        for position, (thing, arguments) in enumerate(zip(objects, normalised(cur, objects), strict=True)):
            key = key_of(thing.kind, thing.schema, thing.name, arguments, thing.relation)
            if key in self._wanted:
                raise UpgradeError(f"{thing.path} and {self._wanted[key].thing.path} create the same object")
            self._wanted[key] = _Wanted(thing, key, position)
        for key, wanted in self._wanted.items():
            ours = self._ours.get(key)
            if (
                ours is None
                or ours.sha256 != wanted.thing.sha256
                or key in self._dropped
                or title(wanted.thing.kind, key) in suspect
                or (verify and find(cur, key) is None)
            ):
                heapq.heappush(self._queue, (wanted.position, key))
        self._drop([found for key in self._ours if key not in self._wanted and (found := find(cur, key))])
        done: set[Key] = set()
        while self._queue:
            _, key = heapq.heappop(self._queue)
            if key not in done or key in self._dropped:
                self._write(self._wanted[key])
                done.add(key)
        if done or verify:
            column_comments.inherit(cur, objects)
        self._restore_foreign()
        self._record(objects, release, done)
        return self.changes

    def leave(self) -> Changes:
        """End without objects of pgbroker, and without the table that lists them."""
        self._restore_foreign()
        self.changes.dropped.extend(title(was.kind, key) for key, was in self._ours.items())
        return self.changes

    def _restore_foreign(self) -> None:
        """Create the dropped foreign objects again, in the opposite order."""
        for standing, statements in reversed(self._saved):
            foreign.restore(self.cur, standing, statements, self.owner)
            self.changes.foreign.append(standing.title)

    def _drop(self, roots: list[tuple[str, int]]) -> None:
        """Drop objects and their dependants: pgbroker's are written again later, and foreign objects are saved."""
        cur = self.cur
        for standing in standing_on(cur, roots):
            ours = standing.key in self._ours or standing.key in self._wanted
            if not ours:
                self._saved.append((standing, foreign.save(cur, standing)))
                if not foreign.acting_as(cur, self.owner, standing.owner):
                    fault = f"{standing.title}, owned by {standing.owner}, stands on what must be dropped to be changed"
                    hint = f"upgrade as a superuser or a member of {standing.owner}, or drop it before"
                    raise UpgradeError(fault, hint)
            name = sql.Identifier(standing.schema, standing.name)
            if standing.kind == "trigger":
                statement = sql.SQL("drop trigger {} on {}").format(
                    sql.Identifier(standing.name), sql.Identifier(standing.schema, standing.relation or "")
                )
            elif standing.kind == "view":
                statement = sql.SQL("drop view {}").format(name)
            else:
                if ours:
                    self._keep_out()
                # The argument types come from the catalogue, quoted as they must be.
                statement = sql.SQL("drop routine {}({})").format(name, sql.SQL(standing.arguments))
            cur.execute(statement)
            if not ours:
                cur.execute(sql.SQL("set local role {}").format(sql.Identifier(self.owner)))
                continue
            self._dropped.add(standing.key)
            if standing.key in self._wanted:
                heapq.heappush(self._queue, (self._wanted[standing.key].position, standing.key))

    def _keep_out(self) -> None:
        if not self._kept_out:
            keep_out(self.cur)
        self._kept_out = True

    def _write(self, wanted: _Wanted) -> None:
        """Create or replace one object; drop it first only if PostgreSQL requires that."""
        cur = self.cur
        thing, key = wanted.thing, wanted.key
        before = find(cur, key)
        text = thing.text.encode()
        try:
            if before is None:
                cur.execute(text)
            else:
                cur.execute("savepoint object")
                self._forget_comments(thing, before)
                try:
                    cur.execute(text)
                except _NEEDS_DROP:
                    cur.execute("rollback to savepoint object")
                    self._drop([before])
                    cur.execute(text)
                cur.execute("release savepoint object")
            self._settle(key)
        except psycopg.Error as error:
            if concurrent(error):
                raise
            fault = f"{thing.path}: {error.diag.message_primary or error}"
            raise UpgradeError(fault, error.diag.message_hint or error.diag.message_detail, error.sqlstate) from error
        self._dropped.discard(key)
        self.changes.written.append(title(thing.kind, key))

    def _settle(self, key: Key) -> None:
        """Create a view, or a function with a parsed body, once more in PostgreSQL's own words.

        The words of an object restored from a dump can differ from those of the same object made from its file (a
        column of a union branch gets a name); those of an object made from its own words do not.
        """
        found = find(self.cur, key)
        row = found and self.cur.execute(_OWN_WORDS[found[0]].encode(), [found[1]]).fetchone()
        if row:
            self.cur.execute(str(row[0]).encode())

    def _forget_comments(self, thing: SqlObject, found: tuple[str, int]) -> None:
        """Remove comments before a replacement, so that a comment that left the file leaves the database."""
        rows = self.cur.execute(
            """
            select case when d.objsubid > 0
                        then format('comment on column %%s.%%I is null', d.objoid::regclass, a.attname)
                        when d.classoid = 'pg_class'::regclass
                        then format('comment on view %%s is null', d.objoid::regclass)
                        when d.classoid = 'pg_proc'::regclass
                        then format('comment on routine %%s is null', d.objoid::regprocedure)
                        else format('comment on trigger %%I on %%s is null', t.tgname, t.tgrelid::regclass) end
              from pg_description d
              left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid and d.objsubid > 0
              left join pg_trigger t on t.oid = d.objoid and d.classoid = 'pg_trigger'::regclass
             where d.classoid = %s::regclass and d.objoid = %s::oid
            """,
            list(found),
        ).fetchall()
        for row in rows:
            self.cur.execute(str(row[0]).encode())

    def _record(self, objects: list[SqlObject], release: str, done: set[Key]) -> None:
        """Store the present state of the database, and check that each file created the object of its head."""
        cur = self.cur
        paths = {thing.path for thing in objects}
        stale = [was.path for key, was in self._ours.items() if key not in self._wanted or was.path not in paths]
        self.changes.dropped.extend(title(was.kind, key) for key, was in self._ours.items() if key not in self._wanted)
        if stale:
            cur.execute("delete from resource.installed_object where path = any(%s)", [stale])
        for thing, arguments in zip(objects, normalised(cur, objects), strict=True):
            key = key_of(thing.kind, thing.schema, thing.name, arguments, thing.relation)
            if key not in done and key in self._ours and self._ours[key].path == thing.path:
                continue
            if find(cur, key) is None:
                raise UpgradeError(f"{thing.path}: did not create {title(thing.kind, key)}")
            cur.execute(
                """
                insert into resource.installed_object
                  (path, kind, schema_name, object_name, arguments, relation_name, sha256, release, installed_at)
                values (%s, %s, %s, %s, %s, %s, %s, %s, now())
                on conflict (path) do update
                  set (kind, schema_name, object_name, arguments, relation_name, sha256, release, installed_at)
                    = row (excluded.kind, excluded.schema_name, excluded.object_name, excluded.arguments,
                           excluded.relation_name, excluded.sha256, excluded.release, excluded.installed_at)
                """,
                [thing.path, thing.kind, thing.schema, thing.name, arguments, thing.relation, thing.sha256, release],
            )


def title(kind: str, key: Key) -> str:
    """Kind and name of an object of pgbroker, in the form of resource.installed_state."""
    _, schema, name, arguments, relation = key
    if kind == "trigger":
        return f"trigger {name} on {schema}.{relation}"
    return f"{kind} {schema}.{name}" + (f"({arguments})" if kind in {"function", "procedure"} else "")
