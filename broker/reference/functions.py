"""Functions and procedures that a role may call: a page a schema, an entry a name."""

import re
from collections.abc import Iterator
from itertools import groupby

from broker.reference.catalogue import ROLES, SCHEMAS, Connection, errors_of, rows
from broker.reference.markdown import Page, block, broken, escaped, page, section, wrapped

_ERRORS_SENTENCE = re.compile(r"\s*Errors: .*$", re.DOTALL)
_NEXT_ARGUMENT = re.compile(r", (?=(?:(?:IN|OUT|INOUT|VARIADIC) )?[a-z]\w* [a-z])")

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
    """A page a schema that has functions to call."""
    raised = errors_of(connection)
    found = rows(connection, _FUNCTIONS, list(SCHEMAS), list(ROLES))
    for schema, in_schema in groupby(found, lambda row: row[0]):
        entries = [
            _entry(f"{schema}.{name}", name, [row[2:] for row in same], raised[f"{schema}.{name}"])
            for name, same in groupby(in_schema, lambda row: row[1])
        ]
        lead = (
            f"Functions and procedures of the schema `{schema}` that a role may call, with what each role may. "
            "A procedure is called with `call`. The errors are explained in [errors.md](errors.md)."
        )
        yield page(f"functions-{schema}.md", f"Functions of {schema}", lead, entries)


def _entry(
    full_name: str, name: str, overloads: list[tuple[str, str | None, str, list[str]]], raised: list[str]
) -> str:
    parts = []
    for arguments, result, comment, roles in overloads:
        parts += [
            block(_signature(full_name, arguments, result)),
            wrapped(escaped(_ERRORS_SENTENCE.sub("", comment))),
            wrapped(
                f"Roles: {', '.join(kind for kind in ROLES if kind in roles)}."
                + (f" Errors: {', '.join(raised)}." if raised else "")
            ),
        ]
    return section(2, name, *parts)


def _signature(name: str, arguments: str, result: str | None) -> str:
    """The call as code; `p_limit integer DEFAULT 1` is `p_limit integer = 1`."""
    plain = re.sub(r" DEFAULT (\S+?)(::[\w\[\] ]+)?(?=, |$)", r" = \1", arguments)
    parts = _NEXT_ARGUMENT.split(plain) if plain else []
    call = broken(f"{name}(", parts, ")")
    if result is None:
        return f"procedure {call}"
    table = re.fullmatch(r"TABLE\((.*)\)", result, re.DOTALL)
    if table:
        returned = broken("-> table (", _NEXT_ARGUMENT.split(table[1]), ")")
    else:
        returned = "-> " + re.sub(r"^SETOF ", "set of ", result)
    last = call.rpartition("\n")[2]
    one_line = "\n" not in returned and len(last) + 1 + len(returned) <= 100
    return f"{call} {returned}" if one_line else f"{call}\n{returned}"
