"""A model of rich requirements in plain Python: TagExpression, Attributes, Alternatives and Clauses.

It evaluates the given form by its meaning and knows no canonical form. Where something is left open (any in Tag, no
site, several sites), it tries each possibility.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, product
from random import Random
from typing import Any, NamedTuple

from tests.core.oracle.offers import Rules, offered, offered_tags, values

KEYS = ("TagExpression", "Attributes", "Alternatives", "Clauses")
ANOTHER = "\0another"  # a site or a text that no requirement names
ABSENT = object()  # an attribute that the description does not have

Requirements = dict[str, Any]
Attributes = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Offer:
    """One possible resource: a set of tags, at most one site, and attributes in their comparable form."""

    tags: frozenset[str]
    site: str | None
    attributes: Mapping[str, Any]


def holds(requirements: Requirements, description: dict[str, Any], attributes: Attributes) -> bool:
    """Whether the new keys, with Tags, Sites and BannedSites, accept a resource; rules are the defaults."""
    return accepted(requirements, description, Rules(attributes={k: dict(v) for k, v in attributes.items()}))


def accepted(requirements: Requirements, description: dict[str, Any], rules: Rules) -> bool:
    """`holds` under the rules of a setup. One offered site must pass everything."""
    tags, sites = offered_tags(description), offered(description, "Site", rules)
    named = description.get("Attributes") or {}
    given = {name: comparable(value, rules.attributes[name]) for name, value in named.items()}
    if rules.keeps_gpus and not asks_for_gpus(requirements, rules.attributes):
        requirements = {**requirements, "Clauses": [*(requirements.get("Clauses") or []), NO_GPU]}
    banned = set(values(requirements.get("BannedSites")))
    possible_sites: list[str | None]
    if sites is None:
        possible_sites = [*named_sites(requirements), ANOTHER]
    else:
        possible_sites = [site for site in sites if site not in banned] if sites else [None]
    if tags is not None:
        possible_tags = [frozenset(tags)]
    else:  # more tags do harm only where one of them is refused
        refusable = _refusable_tags(requirements)
        possible_tags = [chosen | (named_tags(requirements) - refusable) for chosen in _subsets(refusable)]
    return any(
        satisfied(requirements, Offer(chosen, site, given), rules.attributes)
        for site in possible_sites
        for chosen in possible_tags
    )


NO_GPU = {"Attributes": {"gpu.count": [{"max": 0}]}}


def asks_for_gpus(requirements: Requirements, attributes: Attributes) -> bool:
    """Whether an attribute of GPUs matters."""
    if any(name.startswith("gpu.") for name in requirements.get("Attributes") or {}):
        return True
    named = any(name.startswith("gpu.") for name, _ in _wanted(requirements))
    return named and any(_gpus_matter(part, attributes) for part in _independent(requirements))


def _gpus_matter(requirements: Requirements, attributes: Attributes) -> bool:
    """Whether two resources that differ in their GPUs alone get different answers."""
    named = {name for name, _ in _wanted(requirements)}
    gpus = {name for name in named if name.startswith("gpu.")}
    cells = list(_assignments(requirements, gpus, attributes))
    others = list(_assignments(requirements, named - gpus, attributes))
    places = list(product(_subsets(named_tags(requirements)), [*named_sites(requirements), ANOTHER]))
    rng = Random(0)
    tried = ((rng.choice(places), rng.choice(others)) for _ in range(300))  # one of these is different, as a rule
    return any(
        len({satisfied(requirements, Offer(tags, site, {**other, **cell}), attributes) for cell in cells}) > 1
        for (tags, site), other in chain(tried, product(places, others))
    )


# One resource


def satisfied(requirements: Requirements, offer: Offer, attributes: Attributes) -> bool:
    """Whether a resource of which everything is known meets the requirements."""
    return (
        _together(requirements, offer, attributes)
        and set(processor_tags(requirements)) <= offer.tags
        and all(_clause(clause, offer, attributes) for clause in requirements.get("Clauses") or [])
        and (
            not requirements.get("Alternatives")
            or any(_together(one, offer, attributes) for one in requirements["Alternatives"])
        )
    )


def processor_tags(requirements: Requirements) -> list[str]:
    """The tag that MinNumberOfProcessors stands for."""
    least = requirements.get("MinNumberOfProcessors") or 1
    return [f"{least}Processors"] if least > 1 else []


def _together(one: Requirements, offer: Offer, attributes: Attributes) -> bool:
    """Sites, Tags, TagExpression and Attributes, all of which must hold."""
    sites = values(one.get("Sites"))
    return (
        (not sites or offer.site in sites)
        and set(values(one.get("Tags"))) <= offer.tags
        and (not one.get("TagExpression") or evaluate(parsed(one["TagExpression"]), offer.tags))
        and all(_attribute(n, wanted, offer, attributes) for n, wanted in (one.get("Attributes") or {}).items())
    )


def _clause(clause: Requirements, offer: Offer, attributes: Attributes) -> bool:
    """A clause, of which one part must hold."""
    return (
        offer.site in values(clause.get("Sites"))
        or any(tag in offer.tags for tag in values(clause.get("Tags")))
        or any(tag not in offer.tags for tag in values(clause.get("NoTags")))
        or any(_attribute(n, wanted, offer, attributes) for n, wanted in (clause.get("Attributes") or {}).items())
    )


def _attribute(name: str, wanted: Any, offer: Offer, attributes: Attributes) -> bool:
    """Whether one of the wanted values or ranges is offered."""
    kind = attributes[name]
    value = offer.attributes.get(name, ABSENT)
    if value is ABSENT:
        absent = kind.get("absent", "fails")
        if isinstance(absent, str):
            return absent == "passes"
        value = comparable(absent["value"], kind)
    offers = value if isinstance(value, frozenset) else [value]
    return any(_meets(one, each, kind) for one in offers for each in _listed(wanted))


def _listed(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _meets(value: Any, wanted: Any, kind: Mapping[str, Any]) -> bool:
    if not isinstance(wanted, dict):
        return bool(value == comparable(wanted, {**kind, "exclusive": True}))
    bound = {key: comparable(limit, kind) for key, limit in wanted.items()}
    return (
        ("min" not in bound or value >= bound["min"])
        and ("above" not in bound or value > bound["above"])
        and ("max" not in bound or value <= bound["max"])
        and ("below" not in bound or value < bound["below"])
    )


def comparable(value: Any, kind: Mapping[str, Any]) -> Any:
    """The value of an attribute in a form that compares; a set of texts where a description may offer several."""
    match kind["type"]:
        case "number":
            return Decimal(str(value))
        case "version":
            return version(value)
        case "text" if not kind.get("exclusive", True):
            return frozenset(values(value))
        case _:
            return value


def version(text: str) -> tuple[int, ...]:
    """The numbers of a version up to the first other character, without zeros at the end."""
    parts = [int(part) for part in re.match(r"[0-9.]*", text)[0].split(".") if part]  # type: ignore[index]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


# Expressions

Tree = tuple[Any, ...]  # ("tag", name), ("~", tree), ("&", tree, tree), ("|", tree, tree)
_TOKEN = re.compile(r'\s*(?:(?P<sign>[&|~()])|"(?P<quoted>(?:[^"\\]|\\["\\])*)"|(?P<plain>[^\s&|~()"]+))')


def parsed(text: str) -> Tree:
    """The tree of an expression. Raises ValueError if it is none."""
    tokens: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"{text!r} cannot be read from character {at + 1}")
        if found["sign"]:
            tokens.append((found["sign"], ""))
        elif found["quoted"] is not None:
            tokens.append(("tag", re.sub(r'\\(["\\])', r"\1", found["quoted"])))
        else:
            tokens.append(("tag", found["plain"]))
        at = found.end()
    tree = _either(tokens)
    if tokens:
        raise ValueError(f"{text!r} goes on after its end")
    return tree


def _either(tokens: list[tuple[str, str]]) -> Tree:
    tree = _both(tokens)
    while tokens and tokens[0][0] == "|":
        tokens.pop(0)
        tree = ("|", tree, _both(tokens))
    return tree


def _both(tokens: list[tuple[str, str]]) -> Tree:
    tree = _single(tokens)
    while tokens and tokens[0][0] == "&":
        tokens.pop(0)
        tree = ("&", tree, _single(tokens))
    return tree


def _single(tokens: list[tuple[str, str]]) -> Tree:
    kind, name = tokens.pop(0) if tokens else ("end", "")
    if kind == "~":
        return ("~", _single(tokens))
    if kind == "(":
        tree = _either(tokens)
        if not tokens or tokens.pop(0)[0] != ")":
            raise ValueError("a bracket is not closed")
        return tree
    if kind != "tag":
        raise ValueError(f"a tag is missing before {kind}")
    return ("tag", name)


def evaluate(tree: Tree, tags: Iterable[str]) -> bool:
    """The value of an expression for a set of tags."""
    match tree:
        case ("tag", name):
            return name in tags
        case ("~", part):
            return not evaluate(part, tags)
        case ("&", left, right):
            return evaluate(left, tags) and evaluate(right, tags)
        case _:
            return evaluate(tree[1], tags) or evaluate(tree[2], tags)


# All resources


class Meaning(NamedTuple):
    """The consequences of requirements: whether any resource meets them that has each attribute whose absence passes,
    the tags that each resource offers that meets them, and its possible sites (None: any)."""

    possible: bool
    tags: set[str]
    sites: set[str] | None


def meaning(requirements: Requirements, attributes: Attributes) -> Meaning:
    """Tries each resource that the requirements can tell from others, apart for parts that have no name in common:
    only for a handful of names in a part."""
    found = [_meaning(part, attributes) for part in _independent(requirements)]
    return Meaning(
        all(one.possible for one in found),
        {tag for one in found for tag in one.tags},
        next((one.sites for one in found if one.sites is not None), None),
    )


def _meaning(requirements: Requirements, attributes: Attributes) -> Meaning:
    offers = [one for one in resources(requirements, attributes) if satisfied(requirements, one, attributes)]
    tags = {tag for tag in named_tags(requirements) if offers and all(tag in offer.tags for offer in offers)}
    sites = {str(offer.site) for offer in offers}
    passing = {name for name, _ in _wanted(requirements) if attributes[name].get("absent") == "passes"}
    possible = any(passing <= offer.attributes.keys() for offer in offers)
    return Meaning(possible, tags, None if ANOTHER in sites or not offers else sites)


def _independent(requirements: Requirements) -> list[Requirements]:
    """The requirements cut into parts that name no tag, site or attribute in common."""
    keys = ("Tags", "Sites", "TagExpression", "Alternatives", "MinNumberOfProcessors")
    single: list[Requirements] = [{key: requirements[key]} for key in keys if requirements.get(key)]
    single += [{"Attributes": {name: one}} for name, one in (requirements.get("Attributes") or {}).items()]
    single += [{"Clauses": [one]} for one in requirements.get("Clauses") or []]
    groups: list[tuple[set[tuple[str, str]], list[Requirements]]] = []
    for part in single:
        names = {("tag", tag) for tag in named_tags(part)} | {("attribute", name) for name, _ in _wanted(part)}
        names |= {("site", "")} if named_sites(part) else set()
        touched = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        groups.append((names.union(*(group[0] for group in touched)), [part, *(p for g in touched for p in g[1])]))
    return [_merged(parts) for _, parts in groups]


def _merged(parts: list[Requirements]) -> Requirements:
    result: Requirements = {}
    for part in parts:
        for key, value in part.items():
            match value:
                case dict():
                    result[key] = {**result.get(key, {}), **value}
                case list() if key == "Clauses":
                    result[key] = [*result.get(key, []), *value]
                case _:
                    result[key] = value
    return result


def resources(requirements: Requirements, attributes: Attributes) -> Iterator[Offer]:
    """One resource for each case that the requirements tell from others."""
    names = {name for name, _ in _wanted(requirements)}
    for tags, site, given in product(
        _subsets(named_tags(requirements)),
        [*named_sites(requirements), ANOTHER],
        _assignments(requirements, names, attributes),
    ):
        yield Offer(tags, site, given)


def _assignments(requirements: Requirements, names: set[str], attributes: Attributes) -> Iterator[dict[str, Any]]:
    """Each combination of values of attributes."""
    for cells in product(*(list(_cells(name, requirements, attributes[name])) for name in sorted(names))):
        yield {name: cell for name, cell in zip(sorted(names), cells, strict=True) if cell is not ABSENT}


def _cells(name: str, requirements: Requirements, kind: Mapping[str, Any]) -> Iterator[Any]:
    """A value for each case of an attribute."""
    if isinstance(kind.get("absent", "fails"), str):
        yield ABSENT
    wanted = [each for n, one in _wanted(requirements) if n == name for each in _listed(one)]
    if kind["type"] == "flag":
        yield from (False, True)
    elif kind["type"] == "text" and kind.get("exclusive", True):
        yield from {*wanted, ANOTHER}
    elif kind["type"] == "text":
        yield from _subsets(set(wanted))
    else:
        limits = [limit for each in wanted for limit in (each.values() if isinstance(each, dict) else [each])]
        bounds = sorted({comparable(limit, kind) for limit in limits})
        yield from bounds
        if kind["type"] == "number":
            yield from (bound + Decimal("1e-9") for bound in bounds)
            yield min(bounds, default=Decimal(0)) - 1
        else:
            yield from ((*bound, *[0] * 9, 1) for bound in bounds)
            if bounds[:1] != [()]:
                yield ()  # version 0


def _wanted(requirements: Requirements) -> Iterator[tuple[str, Any]]:
    """Each attribute that a part names, with what it wants."""
    for part in _parts(requirements):
        yield from (part.get("Attributes") or {}).items()


def _parts(requirements: Requirements) -> list[Requirements]:
    return [requirements, *(requirements.get("Alternatives") or []), *(requirements.get("Clauses") or [])]


def named_tags(requirements: Requirements) -> set[str]:
    """Each tag that a part names."""
    listed = {tag for part in _parts(requirements) for tag in values(part.get("Tags"))}
    return {*listed, *processor_tags(requirements), *_refusable_tags(requirements)}


def _refusable_tags(requirements: Requirements) -> set[str]:
    """The tags of expressions and of NoTags."""
    found = set()
    for part in _parts(requirements):
        found.update(values(part.get("NoTags")))
        if part.get("TagExpression"):
            found |= _tags_of(parsed(part["TagExpression"]))
    return found


def _tags_of(tree: Tree) -> set[str]:
    return {tree[1]} if tree[0] == "tag" else set[str]().union(*map(_tags_of, tree[1:]))


def named_sites(requirements: Requirements) -> set[str]:
    """Each site that a part names."""
    return {site for part in _parts(requirements) for site in values(part.get("Sites"))}


def _subsets(names: set[str]) -> Iterator[frozenset[str]]:
    for chosen in product((False, True), repeat=len(names)):
        yield frozenset(name for name, is_there in zip(sorted(names), chosen, strict=True) if is_there)
