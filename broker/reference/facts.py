"""Facts: the data that rules may compare."""

from collections.abc import Iterator
from itertools import groupby

from broker.reference.catalogue import Connection, rows, short_type
from broker.reference.markdown import Page, escaped, filled, page, section

_FACTS = """
    select c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
           coalesce(col_description(a.attrelid, a.attnum), '')
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.oid = any (array['brokerage.task_facts', 'brokerage.queue_facts', 'brokerage.pair_facts']::regclass[])
     order by c.relname = 'pair_facts', c.relname = 'queue_facts', a.attnum
"""
_TITLES = {"task_facts": "A task", "queue_facts": "A queue", "pair_facts": "A pair of task and queue"}


def pages(connection: Connection) -> Iterator[Page]:
    """The facts by the name of a rule's argument: t a task, q a queue, p the pair."""
    entries = []
    for kind, of in groupby(rows(connection, _FACTS), lambda row: row[0]):
        facts = (f"`{kind[0]}.{name}` ({short_type(type_)}): {escaped(what)}" for _, name, type_, what in of)
        entries.append(section(2, _TITLES[kind], filled(facts)))
    lead = (
        "This page lists the data that a rule may compare. A rule is a function of a task `t`, a queue `q` and their "
        "pair `p`, each a row of facts that is made before the rules are asked."
    )
    yield page("facts.md", "Facts", lead, entries)
