"""A database that one test after another gets like new: the rows that a test stored are removed after it.

A fresh database costs 60 ms of CPU, and up to half a second more until its sessions have compiled the functions that a
test calls. A reused one costs half of that, and keeps a session whose functions stay compiled. Like new means:

- each table has the rows that it was installed with, and each sequence its first value;
- the planner has no statistics that a test made, and no file is much longer than it was;
- there is no other session.

A test that changed anything else (an object, a right, a setting of the database, a partition) leaves catalogs that
differ from those before. Then the database is thrown away and the next test gets a fresh one.
"""

from collections.abc import Callable
from typing import Any, LiteralString

import psycopg

Fill = Callable[[psycopg.Connection[Any]], None]
"""A function that stores rows in a new database, which each test then finds there."""

_CATALOGS = """class attribute proc type trigger constraint index policy rewrite attrdef extension default_acl
               event_trigger operator cast language publication subscription foreign_server inherits""".split()
_SHAPE = "select concat_ws(' ', {}, {})".format(
    ", ".join(f"(select count(*) || ':' || max(xmin::text::bigint) from pg_{name})" for name in _CATALOGS),
    """(select count(*) || ':' || max(xmin::text::bigint) from pg_namespace where nspname !~ '^pg_(toast_)?temp_'),
       (select xmin from pg_database where datname = current_database()),
       (select string_agg(s::text, '' order by setrole) from pg_db_role_setting s
          join pg_database d on d.oid = setdatabase where datname = current_database())""",
)

# Rows of the installation are copied; installed_* are large, and no call writes them.
_REMEMBER: tuple[LiteralString, ...] = (
    """create function pg_temp.state_of(p_table regclass, out rows bigint, out newest bigint) language plpgsql as $$
       begin
         execute format('select count(*), max(xmin::text::bigint) from only %s', p_table) into rows, newest;
       end $$""",
    """create temp view used_table as
       select c.oid::regclass as name from pg_class c join pg_namespace n on n.oid = relnamespace
        where relkind = 'r' and c.oid >= 16384 and relpersistence <> 't' and pg_relation_size(c.oid) > 0""",
    """create temp table known as
       select u.name, s.rows, s.newest, format('pg_temp.%I', 'copy_' || u.name::oid) as copy,
              (select string_agg(quote_ident(attname), ', ') from pg_attribute
                where attrelid = u.name and attnum > 0 and not attisdropped and attgenerated = '') as columns
         from used_table u cross join lateral pg_temp.state_of(u.name) s
        where s.rows > 0""",
    """do $$ declare v known; begin
         for v in select * from known where name::text not like 'resource.installed\\_%' loop
           execute format('create temp table %s as select %s from only %s', v.copy, v.columns, v.name);
         end loop;
       end $$""",
    """create temp table counted as
       select oid, relpages, reltuples, relallvisible from pg_class where oid >= 16384 and relkind in ('r', 'i')""",
    """create temp table numbered as
       select oid::regclass as name, pg_sequence_last_value(oid) as value, seqstart
         from pg_class join pg_sequence on seqrelid = oid where relpersistence <> 't'""",
    "create temp table analyzed as select max(xmin::text::bigint) as newest from pg_statistic",
    """create function pg_temp.restore() returns regclass[] language plpgsql as $$
       declare
         v_known known;
         v_table regclass;
         v_long regclass[] := '{}';
       begin
         set local session_replication_role = replica;
         for v_table in
           select name from (select name from used_table union select name from known) t
             left join known k using (name) cross join lateral pg_temp.state_of(name) s
            where (s.rows, s.newest) is distinct from (coalesce(k.rows, 0), k.newest)
         loop
           execute format('delete from only %s', v_table);
           select * into v_known from known where name = v_table;
           if found then
             execute format('insert into %s (%s) overriding system value select %2$s from %s',
                            v_table, v_known.columns, v_known.copy);
             update known k set (rows, newest) = (select s.rows, s.newest from pg_temp.state_of(v_table) s)
              where k.name = v_table;
           end if;
         end loop;
         perform setval(name, coalesce(value, seqstart), value is not null) from numbered
           where pg_sequence_last_value(name) is distinct from value;
         delete from pg_statistic where starelid >= 16384 and xmin::text::bigint > (select newest from analyzed);
         return (select coalesce(array_agg(name), '{}') from used_table
                  where pg_relation_size(name) > 65536 and name not in (select known.name from known));
       end $$""",
)
_COUNT_AS_BEFORE: LiteralString = """
    update pg_class c set relpages = k.relpages, reltuples = k.reltuples, relallvisible = k.relallvisible
      from counted k
     where k.oid = c.oid
       and (c.relpages, c.reltuples, c.relallvisible) is distinct from (k.relpages, k.reltuples, k.relallvisible)
"""
_OTHERS: LiteralString = """
    select pg_terminate_backend(pid, 10000) from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> all (%s)
       and not (usename = any (%s) and state = 'idle')
"""
_AS_NEW: LiteralString = """reset session authorization; reset all; close all; unlisten *;
                            select pg_advisory_unlock_all(); discard temp; discard sequences"""


class Reused:
    """The database, and a session in it.

    lasting: logins whose idle sessions stay; they belong to a program that serves one test after another.
    """

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.lasting: set[str] = set()
        self._keeper = psycopg.connect(dsn, autocommit=True)
        for statement in _REMEMBER:
            self._keeper.execute(statement)
        self._session: psycopg.Connection[Any] | None = None
        self._shape = self._as_it_is()

    @property
    def session(self) -> psycopg.Connection[Any]:
        """A session like a new one, autocommit."""
        if self._session is None or self._session.closed:
            self._session = psycopg.connect(self.dsn, autocommit=True)
        return self._session

    def clean(self) -> bool:
        """Remove the rows that a test stored. False: the database is not as before, and cannot be reused."""
        try:
            return self._clean()
        except psycopg.Error:
            return False

    def _clean(self) -> bool:
        kept = [self._keeper.info.backend_pid]
        if self._session and not self._session.closed:
            self._session.rollback()
            self._session.autocommit = True
            self._session.execute(_AS_NEW)
            kept.append(self._session.info.backend_pid)
        self._keeper.execute(_OTHERS, [kept, list(self.lasting)])
        if self._as_it_is() != self._shape:
            return False
        row = self._keeper.execute("select pg_temp.restore()::text[]").fetchone()
        assert row
        if row[0]:  # deleted rows stay in the file, and the planner would go by its length
            self._keeper.execute(f"vacuum (index_cleanup on) {', '.join(row[0])}".encode())
        self._keeper.execute(_COUNT_AS_BEFORE)
        self._shape = self._as_it_is()
        return True

    def _as_it_is(self) -> Any:
        return self._keeper.execute(_SHAPE.encode()).fetchone()

    def close(self) -> None:
        """Close the connections."""
        for connection in (self._keeper, self._session):
            if connection:
                connection.close()
