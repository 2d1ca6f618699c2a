"""Read one file of sql/: only the object that it creates and the names that it uses.

The parser is deliberately small: it separates statements (quotes, dollar quotes, comments, `begin atomic` bodies), and
reads the head of the `create`; every other statement of a file must be a `comment on`. PostgreSQL checks the rest.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<string>(?:[eE]'(?:[^'\\]|''|\\.)*')|(?:'(?:[^']|'')*'))
    | (?P<quoted>"(?:[^"]|"")*")
    | (?P<dollar>\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)
    | (?P<word>[A-Za-z_][\w$]*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CREATE = re.compile(r"create (or replace )?(constraint |recursive )?(?P<kind>function|procedure|view|trigger)\b")
_MODES = {"in", "out", "inout", "variadic"}
# Types of more than one word: their first word is not an argument's name.
_LONG_TYPES = {"double", "character", "bit", "timestamp", "time", "interval", "national", "setof"}


class ParseError(ValueError):
    """A file of sql/ that does not create exactly one object of its own name; the message names the file."""


@dataclass(frozen=True)
class Created:
    """The object that one file creates.

    `arguments` are a routine's input types as written, `relation` is a trigger's table. `uses` are the qualified names
    that PostgreSQL looks up when it creates the object: all names of a view, a trigger or a body in SQL's own style,
    but no names in strings, so none in a body that is a string.
    """

    kind: str
    schema: str
    name: str
    arguments: tuple[str, ...] = ()
    relation: str | None = None
    uses: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)


class Token(NamedTuple):
    """A word, name, string or sign of SQL text; words are in lower case."""

    kind: str
    text: str


def statements(text: str) -> list[list[Token]]:
    """Split SQL text into statements, each a list of its tokens without spaces and comments."""
    found: list[list[Token]] = []
    current: list[Token] = []
    atomic = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        kind = "dollar" if kind == "tag" else kind
        if kind == "space":
            continue
        token = Token(kind, match[0].lower() if kind == "word" else match[0])
        if token.text == ";" and not atomic:
            if current:
                found.append(current)
            current = []
            continue
        if token.kind == "word":
            if token.text == "atomic" and current and current[-1].text == "begin":
                atomic = 1
            elif atomic and token.text in {"case", "begin"}:
                atomic += 1
            elif atomic and token.text == "end":
                atomic -= 1
        current.append(token)
    if current:
        found.append(current)
    return found


def _words(tokens: list[Token], count: int) -> str:
    return " ".join(token.text for token in tokens[:count])


def _unquoted(token: Token) -> str:
    return token.text[1:-1].replace('""', '"') if token.kind == "quoted" else token.text


def qualified_name(tokens: list[Token]) -> tuple[list[str], list[Token]]:
    """Read a possibly qualified name; return its parts and the tokens after it."""
    parts: list[str] = []
    while tokens and tokens[0].kind in {"word", "quoted"}:
        token, tokens = tokens[0], tokens[1:]
        parts.append(_unquoted(token))
        if not tokens or tokens[0].text != ".":
            break
        tokens = tokens[1:]
    return parts, tokens


def _qualified_names(tokens: list[Token]) -> frozenset[tuple[str, str]]:
    """Find `schema.name`, also at the beginning of `schema.table.column`."""
    previous = [Token("other", ""), *tokens]
    return frozenset(
        (_unquoted(schema), _unquoted(name))
        for before, schema, dot, name in zip(previous, tokens, tokens[1:], tokens[2:], strict=False)
        if dot.text == "." and before.text != "." and {schema.kind, name.kind} <= {"word", "quoted"}
    )


def _type_text(tokens: list[Token]) -> str:
    text = ""
    for token in tokens:
        glue = " " if text and token.kind in {"word", "quoted"} and text[-1] not in ".(" else ""
        text += glue + token.text
    return text


def argument_types(tokens: list[Token]) -> tuple[tuple[str, ...], list[Token]]:
    """Read `(p_a text, p_b int default 1)`: the types of the input arguments, and the tokens after the bracket."""
    depth = 0
    arguments: list[list[Token]] = [[]]
    rest: list[Token] = []
    for position, token in enumerate(tokens):
        if token.text in {"(", "["}:
            depth += 1
            if position == 0:
                continue
        elif token.text in {")", "]"}:
            depth -= 1
            if depth == 0:
                rest = tokens[position + 1 :]
                break
        if depth == 1 and token.text == "," and token.kind == "other":
            arguments.append([])
        else:
            arguments[-1].append(token)
    types: list[str] = []
    for argument in arguments:
        words = argument
        for cut, token in enumerate(words):
            if token.text in {"default", "=", ":"}:
                words = words[:cut]
                break
        modes: set[str] = set()
        while words and words[0].text in _MODES:
            modes.add(words[0].text)
            words = words[1:]
        named = (
            len(words) > 1
            and words[0].kind in {"word", "quoted"}
            and words[1].kind in {"word", "quoted"}
            and words[0].text not in _LONG_TYPES
        )
        words = words[1:] if named else words
        # An output argument is not part of a routine's identity.
        if words and modes != {"out"}:
            types.append(_type_text(words))
    return tuple(types), rest


def _created(tokens: list[Token], path: str) -> Created | None:
    match = _CREATE.match(_words(tokens, 5) + " ")
    if match is None:
        return None
    kind = match["kind"]
    start = next(position for position, token in enumerate(tokens) if token.text == kind) + 1
    parts, rest = qualified_name(tokens[start:])
    if kind == "trigger":
        on = next((position for position, token in enumerate(rest) if token.text == "on"), None)
        relation, _ = qualified_name(rest[on + 1 :]) if on is not None else ([], [])
        if len(parts) != 1 or len(relation) != 2:
            raise ParseError(f"{path}: a trigger is written `create or replace trigger name ... on schema.table`")
        return Created(kind, relation[0], parts[0], relation=relation[1], uses=_qualified_names(rest))
    if len(parts) != 2:
        raise ParseError(f"{path}: the name of the {kind} must be written schema.name")
    arguments = argument_types(rest)[0] if kind in {"function", "procedure"} else ()
    return Created(kind, parts[0], parts[1], arguments, uses=_qualified_names(rest))


@cache
def created(text: str, path: str) -> Created:
    """Return the object that a file creates; the result is cached for further installations and checks. Raises
    ParseError if the file creates none or several, or has other statements than `comment on`.
    """
    found: list[Created] = []
    for tokens in statements(text):
        head = _words(tokens, 2)
        made = _created(tokens, path)
        if made is not None:
            found.append(made)
        elif head != "comment on":
            raise ParseError(
                f"{path}: holds `{_words(tokens, 4)} ...`; a file holds one create (function, procedure, view, trigger)"
                " and its comments; grants are in roles.sql, tables in migrations/"
            )
    if len(found) != 1:
        raise ParseError(f"{path}: creates {len(found)} objects, a file creates exactly one")
    return found[0]
