"""The body of an object of sql/ as tokens with their places and depths."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<string>(?:[eE]'(?:[^'\\]|''|\\.)*')|(?:'(?:[^']|'')*'))
    | (?P<quoted>"(?:[^"]|"")*")
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<word>[A-Za-z_][\w$]*)
    | (?P<sign>::|:=|=>|\.\.|[()\[\].,;:]|[-+*/<>=~!@\#%^&|`?]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BODY = re.compile(r"\$(\w*)\$(.*?)\$\1\$", re.DOTALL)
_VIEW = re.compile(r"^create or replace view [^;']*? as\s", re.MULTILINE)


@dataclass(frozen=True)
class Token:
    """A word (in lower case), number, string or sign: its place in the file, and the brackets and cases around it."""

    kind: str
    text: str
    start: int
    end: int
    level: int


@dataclass(frozen=True)
class Body:
    """The deciding part of a file: the statement that creates the object, and the tokens of its body."""

    file: str
    statement: tuple[int, int]
    tokens: tuple[Token, ...]
    procedural: bool

    def until(self, first: int, ends: frozenset[str]) -> int:
        """The first token that ends the part from `first` on: a word of `ends` at the same depth, or a lower depth."""
        level = self.tokens[first].level if first < len(self.tokens) else 0
        for number in range(first, len(self.tokens)):
            token = self.tokens[number]
            if token.level < level:
                return number
            if token.level == level and token.text in ends and not self._is_part(number):
                return number
        return len(self.tokens)

    def _is_part(self, number: int) -> bool:
        """Whether a token ends nothing: `from` of `is distinct from`, `left(...)`, or the `and` of `between`."""
        text = self.tokens[number].text
        if text == "from":
            return self.word(number - 1) == "distinct" and self.word(number - 2) in {"is", "not"}
        if text in {"left", "right"}:
            return self.word(number + 1) == "("
        return text == "and" and self.is_between(number)

    def is_between(self, number: int) -> bool:
        """Whether this `and` belongs to a `between`."""
        level = self.tokens[number].level
        for before in reversed(self.tokens[:number]):
            if before.level < level or (before.level == level and before.text in {"and", "or", "where", "when", ";"}):
                return False
            if before.level == level and before.text == "between":
                return True
        return False

    def word(self, number: int) -> str:
        """The text of a token; empty beyond the ends."""
        return self.tokens[number].text if 0 <= number < len(self.tokens) else ""

    def source(self, first: int, last: int) -> str:
        """The text from token `first` to before token `last`."""
        return self.file[self.tokens[first].start : self.tokens[last - 1].end] if last > first else ""


def body_of(file: str) -> Body | None:
    """Read a file of sql/; None if it has neither a body nor a query."""
    begin = re.search(r"^create ", file, re.MULTILINE)
    if not begin:
        return None
    view = _VIEW.match(file, begin.start())
    if view:
        first, last = view.end(), _end_of(file, view.end())
        return Body(file, (begin.start(), last), _tokens(file, first, last), False)
    inside = _BODY.search(file, begin.start())
    if not inside or file.startswith("create or replace trigger", begin.start()):
        return None
    procedural = "language plpgsql" in file[begin.start() : inside.start()]
    statement = (begin.start(), _end_of(file, inside.end()))
    return Body(file, statement, _tokens(file, inside.start(2), inside.end(2)), procedural)


def _end_of(file: str, start: int) -> int:
    """The place of the semicolon that ends a statement."""
    for match in _TOKEN.finditer(file, start):
        if match[0] == ";":
            return match.start()
    return len(file)


def _tokens(file: str, start: int, end: int) -> tuple[Token, ...]:
    found: list[Token] = []
    around: list[str] = []
    for match in _TOKEN.finditer(file, start, end):
        kind = match.lastgroup or "other"
        if kind == "space":
            continue
        text = match[0].lower() if kind == "word" else match[0]
        if (text in {")", "]"} and around) or (text == "end" and around and around[-1] == "case"):
            around.pop()
        found.append(Token(kind, text, match.start(), match.end(), len(around)))
        if text in {"(", "["} or (text == "case" and (not found[:-1] or found[-2].text != "end")):
            around.append(text)
    return tuple(found)
