"""DIRAC's description of a resource, as JobAgents send it, translated to the keys of TaskQueue matching.

DIRAC's Matcher looks at some of the keys and leaves the others (versions, benchmarks, parameters of the CE) unread.
"""

import math
import re
from typing import Any

_LISTS = ("Site", "GridCE", "Platform", "JobType", "PilotType", "OwnerGroup")
_TAGS = ("Tag", "RequiredTag")
_NUMBERS = ("CPUTime", "MaxRAM")
_MOST_PROCESSORS = 1024  # above this number DIRAC ignores processors
_ANY = re.compile(r"\W*any\W*", re.IGNORECASE)


def described(resource: dict[str, Any]) -> dict[str, Any]:
    """The description for matching. Wrong values stay as they are, and matching refuses them."""
    given = {key: value for key, value in resource.items() if value is not None}
    found: dict[str, Any] = {key: _texts(given[key]) for key in _LISTS if key in given}
    found |= {key: _tags(given[key]) for key in _TAGS if key in given}
    found |= {key: _number(given[key]) for key in _NUMBERS if key in given}
    owner = given.get("Owner", given.get("OwnerDN"))  # DIRAC 9, DIRAC 8
    if owner is not None:
        found["OwnerDN"] = owner
    if "JobID" in given:
        found["JobID"] = _number(given["JobID"])
    if "HostName" in given:
        found["HostName"] = given["HostName"]
    if any(isinstance(tag, str) and _ANY.fullmatch(tag) for tag in found.get("RequiredTag", ())):
        del found["RequiredTag"]
    processors = _processors(given.get("NumberOfProcessors"))
    if 1 <= processors <= _MOST_PROCESSORS:
        found["NumberOfProcessors"] = processors
    elif processors > _MOST_PROCESSORS:
        found["Tag"] = [*found.get("Tag", ()), "MultiProcessor"]
    if "WholeNode" in given and str(given["WholeNode"]).lower() not in ("false", "no", "0"):
        found["WholeNode"] = True
    return found


def _texts(value: Any) -> Any:
    """Values as texts: a CE sends a name that consists of digits as a number."""
    if isinstance(value, list):
        return [_texts(one) for one in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _tags(value: Any) -> Any:
    """A list of tags, also parsed from a text such as "['GPU', 'big']" or "GPU, big"."""
    if isinstance(value, str):
        return [tag for tag in (one.strip("\"' ") for one in value.strip("[]").split(",")) if tag]
    return _texts(value if isinstance(value, list) else [value])


def _number(value: Any) -> Any:
    """A number, also parsed from a text, since options of the configuration are texts."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                number = kind(value)
            except ValueError:
                continue
            return number if math.isfinite(number) else value
    return value


def _processors(value: Any) -> int:
    """A number of processors; 0 for an invalid number, which DIRAC ignores."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0
