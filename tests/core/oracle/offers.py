"""The offers of resources, for the models in plain Python: MATCHING.md, Resource description and Conditions."""

import string
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Rules:
    """The inputs of matching other than the two descriptions."""

    sharing_groups: set[str] = field(default_factory=set)
    strict_keys: set[str] = field(default_factory=set)
    compatible: dict[str, list[str]] = field(default_factory=dict)  # offered -> accepted
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> type, absent, exclusive
    keeps_gpus: bool = False  # a job that asks for no GPU gets no resource with one


def values(value: Any) -> list[str]:
    """One text, a list of texts, or nothing, as a list. An empty text is nothing."""
    return [text for text in ([value] if isinstance(value, str) else value or []) if text != ""]


def includes_any(texts: list[str]) -> bool:
    """Whether one of them is "any", in any case and between any punctuation."""
    return any(text.strip(string.punctuation + " ").lower() == "any" for text in texts)


def offered(resource: dict[str, Any], key: str, rules: Rules) -> set[str] | None:
    """The values that the resource offers under a key; None if it puts no condition."""
    texts = values(resource.get(key))
    if includes_any(texts):
        return None
    if not texts and key not in rules.strict_keys:
        return None
    return set(texts)


def offered_tags(resource: dict[str, Any]) -> set[str] | None:
    """The tags offered, including those of processors and whole nodes; None if it puts no condition."""
    tags = values(resource.get("Tag"))
    if includes_any(tags):
        return None
    processors = resource.get("NumberOfProcessors", 0)
    tags += [f"{n}Processors" for n in range(1, processors + 1)]
    if processors > 1:
        tags.append("MultiProcessor")
    if resource.get("WholeNode"):
        tags.append("WholeNode")
    return set(tags)
