"""Split rules of JEDI in the form of a world's `split`, from the text of a task's row, and from a task's parameters."""

from collections.abc import Iterator, Mapping
from typing import Any

from broker.errors import BadRequest
from broker.world.exports.made import integer
from broker.world.shape import Row

_TAGS: Mapping[str, str] = {
    "AI": "allowIncompleteInDS", "AV": "avoidVP", "CC": "maxCoreCount", "DR": "disableAutoRetry",
    "DY": "dynamicNumEvents", "EC": "nEsConsumers", "FU": "fullChain", "HO": "hpoWorkflow", "IK": "ipStack",
    "IL": "allowInputLAN", "IP": "ipConnectivity",
    "IS": "inputPreStaging", "IW": "allowInputWAN", "LI": "useLocalIO", "LS": "limitedSites", "MF": "nMaxFilesPerJob",
    "MO": "mergeOutput", "MX": "maxEventsPerJob", "NE": "nEventsPerJob", "NF": "nFilesPerJob", "NG": "nGBPerJob",
    "NJ": "nJumboJobs", "OT": "onlyTagsForFC", "TW": "t1Weight", "US": "useScout", "XA": "maxAttemptES",
    "XJ": "maxAttemptEsJob", "ZF": "nFilesPerMergeJob",
}  # fmt: skip
"""JEDI's short tags of the rules that are read."""

_WORDS: Mapping[str, Mapping[str, int]] = {
    "useScout": {"no_use": 1, "will_update_requirements": 2, "updated_requirements": 3},
    "limitedSites": {"with_allowlist": 1, "with_denylist": 2, "with_allow_and_denylist": 3},
    "ipConnectivity": {"full": 1, "http": 2}, "ipStack": {"IPv4": 4, "IPv6": 6}, "allowInputLAN": {"use": 1, "only": 2},
    "inputPreStaging": {"notUse": 0, "use": 1}, "fullChain": {"only": 1, "require": 2, "capable": 3},
}  # fmt: skip
"""The words that PanDA's interface writes in place of the numbers of a rule."""

_FLAGS = frozenset(
    (
        "allowIncompleteInDS",
        "avoidVP",
        "disableAutoRetry",
        "hpoWorkflow",
        "inputPreStaging",
        "mergeOutput",
        "onlyTagsForFC",
        "useLocalIO",
    )
)
_NAMES = frozenset(_TAGS.values())
_NUMBERS = (
    "nFilesPerJob", "nEventsPerJob", "nGBPerJob", "nMaxFilesPerJob", "t1Weight", "nFilesPerMergeJob", "maxEventsPerJob",
    "maxCoreCount", "nJumboJobs", "nEsConsumers", "maxAttemptES", "maxAttemptEsJob",
)  # fmt: skip
_GIVEN = ("avoidVP", "onlyTagsForFC")  # JEDI accepts these with any value
_TRUE = ("inputPreStaging", "hpoWorkflow", "mergeOutput")  # and these only if they are exactly true
_AT_LEAST_ONE = (
    "nFilesPerJob", "nEventsPerJob", "nMaxFilesPerJob", "nFilesPerMergeJob", "maxEventsPerJob", "nEsConsumers",
)  # fmt: skip


def of_text(where: str, text: Any) -> Row:
    """The split rules of a row of JEDI_Tasks, `NF=5,TW=1`, or with names and words, as PanDA's interface gives them."""
    return dict(_read(f"{where}.splitRule", text)) if text else {}


def _read(where: str, text: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(text, str):
        raise BadRequest(f"{where} is {text!r}, not a text", "split rules are a text: NF=5,TW=1")
    for rule in text.split(","):
        tag, _, value = rule.strip().partition("=")
        name = _TAGS.get(tag, tag)
        if name in _NAMES:
            number = _WORDS.get(name, {}).get(value)
            yield from _rule(name, number if number is not None else integer(f"{where}.{name}", value))


def _rule(name: str, number: int | None) -> Iterator[tuple[str, Any]]:
    """The rule in the form of a world; numbers that PanDA treats as missing are left out."""
    if name in _FLAGS:
        yield name, bool(number)
    elif number is not None and not (name in _AT_LEAST_ONE and number < 1):
        yield name, number


def of_parameters(where: str, given: Row) -> Row:
    """The split rules that JEDI makes from a task's parameters, whose names are in lower case."""
    found = _numbers(where, given) | _flags(given)
    for name in ("allowInputLAN", "fullChain"):
        if (code := _WORDS[name].get(str(given.get(name.lower())))) is not None:
            found[name] = code
    network, _, stack = str(given.get("ipconnectivity") or "").partition("#")
    for name, word in (("ipConnectivity", network), ("ipStack", stack)):
        if word in _WORDS[name]:
            found[name] = _WORDS[name][word]
    if limits := bool(given.get("includedsite")) + 2 * bool(given.get("excludedsite")):
        found["limitedSites"] = limits
    found["useScout"] = 1 if "skipscout" in given else 2
    return found


def _numbers(where: str, given: Row) -> Row:
    found: Row = {}
    for name in _NUMBERS:
        value = given.get(name.lower())
        if not (isinstance(value, str) and not value.strip().lstrip("-").isdecimal()):  # such as MAX
            found |= _rule(name, integer(f"{where}.{name}", value))
    granularity = given.get("mingranularity", given.get("neventsperrange"))
    found |= _rule("dynamicNumEvents", integer(f"{where}.nEventsPerRange", granularity))
    return found | _files_a_job(where, given, found)


def _flags(given: Row) -> Row:
    found: Row = {name: True for name in _GIVEN if name.lower() in given}
    found |= {name: True for name in _TRUE if given.get(name.lower()) is True}
    found |= {name: True for name in ("allowIncompleteInDS", "disableAutoRetry") if given.get(name.lower())}
    if given.get("allowinputwan") is True:
        found["allowInputWAN"] = 1
    if (local := given.get("forcestaged", given.get("uselocalio"))) is not None:
        found["useLocalIO"] = bool(local)
    return found


def _files_a_job(where: str, given: Row, found: Row) -> Row:
    """JEDI's other parameters for events or files per job."""
    if "nFilesPerJob" in found:
        return {}
    a_file = integer(f"{where}.nEventsPerInputFile", given.get("neventsperinputfile"))
    if a_file and found.get("nEventsPerJob", 0) >= a_file:
        return {"nFilesPerJob": found["nEventsPerJob"] // a_file}
    return {}
