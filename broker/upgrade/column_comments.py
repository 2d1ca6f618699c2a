"""Comments of views' columns: a column without a comment in its file gets the comment of the column that it shows. That
is the column of the same name and type in a relation that the view reads: in the relation that shares the most columns
with the view, then the first by name. If no such relation has a comment, the comment comes from the first such view
that reads the view.
"""

import re
from collections import defaultdict
from typing import Any

import psycopg
from psycopg import sql

from broker.upgrade.source import SqlObject

Cursor = psycopg.Cursor[Any]
# Schema and name of a relation, and one of its columns.
Column = tuple[str, str, str]

_OWN = re.compile(r'\bcomment on column (\w+)\.(\w+)\."?(\w+)"? is\b')
_COMMENTS = """
select c.relnamespace::regnamespace::text, c.relname, a.attname, d.description
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
  left join pg_description d on d.classoid = 'pg_class'::regclass and (d.objoid, d.objsubid) = (c.oid, a.attnum)
 where c.relnamespace::regnamespace::text = any (%s)
"""
# The columns of views and the columns of the relations that they read, those of the closest relation first.
_SHOWN = """
select v.relnamespace::regnamespace::text, v.relname, a.attname,
       s.relnamespace::regnamespace::text, s.relname, b.attname
  from pg_class v
  join pg_rewrite r on r.ev_class = v.oid
  join pg_attribute a on a.attrelid = v.oid
  join (select distinct objid, refobjid, refobjsubid
          from pg_depend
         where classid = 'pg_rewrite'::regclass and refclassid = 'pg_class'::regclass and refobjsubid > 0) d
    on d.objid = r.oid and d.refobjid <> v.oid
  join pg_attribute b on (b.attrelid, b.attnum) = (d.refobjid, d.refobjsubid)
                     and (b.attname, b.atttypid) = (a.attname, a.atttypid)
  join pg_class s on s.oid = b.attrelid
 where v.relkind = 'v'
 order by count(*) over (partition by v.oid, s.oid) desc,
          s.relnamespace::regnamespace::text collate "C", s.relname collate "C",
          v.relnamespace::regnamespace::text collate "C", v.relname collate "C", a.attnum
"""


def inherit(cur: Cursor, objects: list[SqlObject]) -> None:
    """Comment on the columns of the views among the objects, which come in the order of creation."""
    views = [thing for thing in objects if thing.kind == "view"]
    own = {column for view in views for column in _OWN.findall(view.text)}
    rows = cur.execute(_COMMENTS, [sorted({view.schema for view in objects})]).fetchall()
    there: dict[Column, str | None] = {(schema, name, column): words for schema, name, column, words in rows}
    place = {(view.schema, view.name): position for position, view in enumerate(views)}
    bare = sorted((c for c in there if c[:2] in place and c not in own), key=lambda column: place[column[:2]])
    words = there | dict.fromkeys(bare)
    lenders: dict[Column, list[Column]] = defaultdict(list)
    shown = [((r[0], r[1], r[2]), (r[3], r[4], r[5])) for r in cur.execute(_SHOWN).fetchall()]
    for column, source in shown:
        lenders[column].append(source)
    for column, source in shown:
        if column[:2] in place:
            lenders[source].append(column)
    # A view comes after the views that it reads. Views that read it follow: their comments are searched from the last
    # view.
    for column in [*bare, *reversed(bare)]:
        words[column] = words[column] or next((words[c] for c in lenders[column] if words.get(c)), None)
    statement = sql.SQL("comment on column {} is {}")
    changed = (column for column in bare if words[column] != there[column])
    cur.execute(sql.SQL(";\n").join(statement.format(sql.Identifier(*c), sql.Literal(words[c])) for c in changed))
