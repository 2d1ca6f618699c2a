"""Functions and procedures that a role may call: one page per schema, one entry per name."""

import re
from collections.abc import Iterator
from itertools import groupby

from broker.reference.catalogue import ROLES, SCHEMAS, Connection, errors_of, rows, short_type
from broker.reference.markdown import Page, bullets, escaped, item, page

_ERRORS_SENTENCE = re.compile(r"\s*Errors: .*$", re.DOTALL)

# Roles end in their kind, whatever prefix the installation has.
_FUNCTIONS = """
    select n.nspname, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
           coalesce(obj_description(p.oid, 'pg_proc'), ''), array_agg(substring(r.rolname from '[a-z]+$'))
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     cross join lateral aclexplode(p.proacl) a
      join pg_roles r on r.oid = a.grantee
     where n.nspname = any (%s)
       and substring(r.rolname from '[a-z]+$') = any (%s)
     group by n.nspname, p.proname, p.oid
     order by n.nspname, p.proname, pg_get_function_arguments(p.oid)
"""


def pages(connection: Connection) -> Iterator[Page]:
    """One page for each schema that has functions to call."""
    raised = errors_of(connection)
    found = rows(connection, _FUNCTIONS, list(SCHEMAS), list(ROLES))
    for schema, in_schema in groupby(found, lambda row: row[0]):
        entries = [
            item(name, _signature(f"{schema}.{name}", *signature), _text(comment, roles, raised[f"{schema}.{name}"]))
            for _, name, *signature, comment, roles in in_schema
        ]
        lead = (
            f"This page lists the functions and procedures of the schema `{schema}` that roles may call. "
            "A procedure is called with `call`. The errors are explained in [errors.md](errors.md)."
        )
        yield page(f"functions-{schema}.md", f"Functions of {schema}", lead, [bullets(entries)])


def _text(comment: str, roles: list[str], raised: list[str]) -> str:
    """The comment of a function, the roles that may call it, and the errors of class PB that it raises."""
    errors = f"; errors: {', '.join(raised)}" if raised else ""
    return f"{escaped(_ERRORS_SENTENCE.sub('', comment))} Roles: {', '.join(r for r in ROLES if r in roles)}{errors}."


def _signature(name: str, arguments: str, result: str | None) -> str:
    """The call as code; `p_limit integer DEFAULT 1` is `p_limit integer = 1`."""
    plain = re.sub(r" DEFAULT (\S+?)(::[\w\[\] ]+)?(?=, |$)", r" = \1", arguments)
    if result is None:
        return short_type(f"procedure {name}({plain})")
    returned = result.replace("TABLE(", "table (").replace("SETOF ", "set of ")
    return short_type(f"{name}({plain}) -> {returned}")
