"""The operators: each finds the places of a body where it applies, and the text that replaces them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.laboratory.mutation.tokens import Body

_OPERAND = frozenset({"word", "number", "quoted", "string"})
_KEYWORDS = frozenset(
    "select where and or not on when then else case if elsif return returning in is by from with as loop limit offset"
    " values set using having between like all any distinct exists union perform into null"
    .split()
)  # fmt: skip
_QUERY_ENDS = frozenset("group order having limit offset for union except intersect returning window".split())
_JOINS = frozenset("left right inner cross join full".split())
_ENDS = (
    _QUERY_ENDS | _JOINS
    | frozenset("and or then loop ; , else when end where on as using from into filter over => := return".split())
)  # fmt: skip
_CHAIN_STARTS = _ENDS | frozenset({"select", "if", "elsif", "by"})

_COMPARED = frozenset({"=", "<>", "->>", "->", "?", "~", "like"})
_OF_ERRORS = frozenset({"errcode", "hint", "detail", "message"})
# Functions whose seed selects one of many equally good hashes or draws; such hashes also name advisory locks.
_HASHES = frozenset({"draw", "hashint8extended", "hashtextextended", "uuid_hash_extended"})


@dataclass(frozen=True)
class Change:
    """A part of the file and its replacement."""

    operator: str
    start: int
    end: int
    text: str


Operator = Callable[[Body], Iterator[Change]]


def changes(body: Body) -> Iterator[Change]:
    """All changes of all operators, each resulting text once, except in code that decides nothing."""
    idle = list(_idle(body))
    seen: set[tuple[int, int, str]] = set()
    for operator in OPERATORS:
        for change in operator(body):
            key = (change.start, change.end, change.text)
            if any(first <= change.start < last and operator in kinds for first, last, kinds in idle):
                continue
            if key not in seen and body.file[change.start : change.end] != change.text:
                seen.add(key)
                yield change


def _idle(body: Body) -> Iterator[tuple[int, int, tuple[Operator, ...]]]:
    """Places where a change decides nothing, and the operators that leave them out: the pause before a call tries
    again, the number of tries, and the seeds that distinguish hashes and draws."""
    for number, token in enumerate(body.tokens):
        if body.word(number + 1) == "(" and (token.text == "pg_sleep" or token.text in _HASHES):
            last = body.until(number + 2, frozenset())
            yield token.start, body.tokens[last].end, OPERATORS if token.text == "pg_sleep" else (constant,)
        elif token.text == "v_try" and body.word(number + 1) == "in":
            last = body.until(number + 2, frozenset({"loop"}))
            yield token.start, body.tokens[last].end, (constant,)


def _swap(body: Body, name: str, pairs: dict[str, str], applies: Callable[[int], bool]) -> Iterator[Change]:
    for number, token in enumerate(body.tokens):
        if token.text in pairs and token.kind in {"word", "sign"} and applies(number):
            yield Change(name, token.start, token.end, pairs[token.text])


def compare(body: Body) -> Iterator[Change]:
    """Move the boundary of a comparison, or reverse an equality."""
    pairs = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "@>": "<@", "<@": "@>", "&&": "@>"}
    return _swap(body, "compare", pairs, lambda _number: True)


def logic(body: Body) -> Iterator[Change]:
    """And for or, or for and."""
    return _swap(body, "logic", {"and": "or", "or": "and"}, lambda number: not body.is_between(number))


def arithmetic(body: Body) -> Iterator[Change]:
    """Plus for minus, times for divided by."""
    pairs = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&"}
    yield from _swap(body, "arithmetic", pairs, lambda number: _after_operand(body, number) and not _text(body, number))
    for number, token in enumerate(body.tokens):
        if token.text == "-" and not _after_operand(body, number):
            yield Change("arithmetic", token.start, token.end, "")


def _after_operand(body: Body, number: int) -> bool:
    if number == 0:
        return False
    before = body.tokens[number - 1]
    return (before.kind in _OPERAND and before.text not in _KEYWORDS) or before.text in {")", "]", "end"}


def _text(body: Body, number: int) -> bool:
    return number + 1 < len(body.tokens) and body.tokens[number + 1].kind == "string"


def constant(body: Body) -> Iterator[Change]:
    """A number one more and one less, true for false; a compared text becomes another text."""
    for number, token in enumerate(body.tokens):
        before = body.word(number - 1)
        if token.kind == "number":
            whole, point, fraction = token.text.partition(".")
            if "e" in token.text.lower():
                yield Change("constant", token.start, token.end, f"(2 * {token.text})")
            elif point:
                step = f"0.{'0' * (len(fraction) - 1)}1"
                yield Change("constant", token.start, token.end, f"({token.text} + {step})")
                yield Change("constant", token.start, token.end, f"({token.text} - {step})")
            else:
                yield Change("constant", token.start, token.end, str(int(whole) + 1))
                yield Change("constant", token.start, token.end, str(int(whole) - 1) if int(whole) else "(-1)")
        elif token.text in {"true", "false"} and token.kind == "word" and before not in {"is", "not"}:
            yield Change("constant", token.start, token.end, "false" if token.text == "true" else "true")
        elif token.kind == "string" and before in _COMPARED and body.word(number - 2) not in _OF_ERRORS:
            yield Change("constant", token.start, token.end, token.text[:-1] + "~'")


def function(body: Body) -> Iterator[Change]:
    """The opposite function: least for greatest, min for max, floor for ceil, any for all."""
    pairs = {"least": "greatest", "min": "max", "floor": "ceil", "bool_or": "bool_and"}
    pairs |= {"ceil": "floor", "round": "floor"} | {new: old for old, new in pairs.items() if old != "floor"}
    yield from _swap(body, "function", pairs, lambda number: body.word(number + 1) == "(")
    compared = {"=", "<>", "<", ">", "<=", ">="}
    yield from _swap(body, "function", {"any": "all", "all": "any"}, lambda number: body.word(number - 1) in compared)


def default(body: Body) -> Iterator[Change]:
    """Only the first argument of coalesce or nullif."""
    for number, token in enumerate(body.tokens):
        if token.text in {"coalesce", "nullif"} and body.word(number + 1) == "(":
            comma = body.until(number + 2, frozenset({","}))
            close = body.until(number + 2, frozenset())
            if body.word(comma) == "," and close < len(body.tokens):
                first = body.source(number + 2, comma)
                yield Change("default", token.start, body.tokens[close].end, f"({first})")


def negation(body: Body) -> Iterator[Change]:
    """`not` dropped, `exists`, `in` and `is` negated."""
    for number, token in enumerate(body.tokens):
        before, after = body.word(number - 1), body.word(number + 1)
        if token.text == "is" and after == "not":
            yield Change("negation", token.start, body.tokens[number + 1].end, "is")
        elif token.text == "is":
            yield Change("negation", token.start, token.end, "is not")
        elif token.text == "not" and before != "is" and after not in {"null", "materialized"}:
            yield Change("negation", token.start, body.tokens[number + 1].start, "")
        elif (token.text == "exists" and before != "not") or (token.text == "in" and after == "(" and before != "not"):
            yield Change("negation", token.start, token.end, f"not {token.text}")


def branch(body: Body) -> Iterator[Change]:
    """A branch of a case dropped."""
    for number, token in enumerate(body.tokens):
        if token.text in {"when", "else"} and _of_case(body, number):
            last = body.until(number + 1, frozenset({"when", "else", "end"}))
            if body.source(number + 1, last) != "null":
                yield Change("branch", token.start, body.tokens[last - 1].end, "")


def _of_case(body: Body, number: int) -> bool:
    level = body.tokens[number].level
    for before in reversed(body.tokens[:number]):
        if before.level < level:
            return before.text == "case"
    return False


def condition(body: Body) -> Iterator[Change]:
    """A condition of a chain replaced by a neutral one; a single condition by true and by false."""
    for number, token in enumerate(body.tokens):
        if token.text in {"and", "or"} and not body.is_between(number):
            last = body.until(number + 1, _ENDS)
            yield _neutral(body, number + 1, last)
            first = _chain_start(body, number)
            if body.word(first - 1) not in {"and", "or"}:
                yield _neutral(body, first, number)
        elif token.text in {"where", "on", "having", "when", "if", "elsif", "while"} and number + 1 < len(body.tokens):
            if token.text == "when" and not _is_searched(body, number):
                continue
            last = body.until(number + 1, _ENDS)
            if last > number + 1 and body.word(last) not in {"and", "or"} and body.word(number - 1) != "end":
                start, end = body.tokens[number + 1].start, body.tokens[last - 1].end
                yield Change("condition", start, end, "true")
                if token.text not in {"where", "on"}:
                    yield Change("condition", start, end, "false")


def _is_searched(body: Body, number: int) -> bool:
    """Whether a condition follows this `when`: not a value of `case x when 1`, nor the name of an exception."""
    level = body.tokens[number].level
    for first in range(number - 1, -1, -1):
        if body.tokens[first].level < level:
            return body.word(first) == "case" and body.word(first + 1) == "when"
    return body.word(number - 1) in {"exit", "continue"}


def _chain_start(body: Body, number: int) -> int:
    level = body.tokens[number].level
    for first in range(number - 1, -1, -1):
        token = body.tokens[first]
        if token.level < level or (token.level == level and token.text in _CHAIN_STARTS and not body._is_part(first)):
            return first + 1
    return 0


def _neutral(body: Body, first: int, last: int) -> Change:
    both = "and" in {body.word(first - 1), body.word(last)}
    return Change("condition", body.tokens[first].start, body.tokens[last - 1].end, "true" if both else "false")


def order(body: Body) -> Iterator[Change]:
    """A sort key reversed, or dropped if there are several; distinct dropped."""
    ends = frozenset("limit offset for loop ; rows range union , window on returning".split())
    for number, token in enumerate(body.tokens):
        before, after = body.word(number - 1), body.word(number + 1)
        if token.text == "distinct" and before in {"select", "("} and after != "on":
            yield Change("order", token.start, body.tokens[number + 1].start, "")
        if token.text != "by" or before != "order":
            continue
        keys = [number + 1]
        while body.word(last := body.until(keys[-1], ends)) == ",":
            keys.append(last + 1)
        for position, first in enumerate(keys):
            last = body.until(first, ends)
            texts = [body.word(each) for each in range(first, last)]
            start, end = body.tokens[first].start, body.tokens[last - 1].end
            if "desc" in texts:
                down = body.tokens[first + texts.index("desc")]
                yield Change("order", down.start, down.end, "")
            else:
                nulls = first + texts.index("nulls") if "nulls" in texts else last
                yield Change("order", body.tokens[nulls - 1].end, body.tokens[nulls - 1].end, " desc")
            if len(keys) > 1:
                if position:
                    start = body.tokens[first - 1].start
                else:
                    end = body.tokens[last].end
                yield Change("order", start, end, "")


def lock(body: Body) -> Iterator[Change]:
    """A row lock dropped, or its `skip locked` dropped."""
    for number, token in enumerate(body.tokens):
        after = body.word(number + 1)
        if token.text == "for" and after in {"update", "share", "no", "key"}:
            last = body.until(number + 1, frozenset({";", "loop"}))
            yield Change("lock", token.start, body.tokens[last - 1].end, "")
        if token.text == "skip" and after == "locked":
            yield Change("lock", token.start, body.tokens[number + 1].end, "")


def part(body: Body) -> Iterator[Change]:
    """A part of a union dropped, a left join made an inner one, a limit lifted."""
    for number, token in enumerate(body.tokens):
        if token.text in {"union", "except", "intersect"}:
            last = body.until(number + 2, frozenset("union except intersect order limit ; loop".split()))
            yield Change("part", token.start, body.tokens[last - 1].end, "")
        if token.text == "left" and body.word(number + 1) == "join":
            yield Change("part", token.start, body.tokens[number + 1].start, "")


def statement(body: Body) -> Iterator[Change]:
    """A statement of PL/pgSQL dropped."""
    if not body.procedural:
        return
    for number, token in enumerate(body.tokens[:-1]):
        if token.level or body.word(number - 1) not in {";", "begin", "then", "else", "loop"}:
            continue
        last = body.until(number, frozenset({";"}))
        assigns = body.word(number + 1) == ":=" or (body.word(number + 1) == "." and body.word(number + 3) == ":=")
        if assigns or token.text in {"perform", "insert", "update", "delete", "raise", "continue", "exit"}:
            yield Change("statement", token.start, body.tokens[last - 1].end, "null")


OPERATORS: tuple[Operator, ...] = (
    compare, logic, arithmetic, constant, function, default, negation, branch, condition, order, lock, part, statement,
)  # fmt: skip
