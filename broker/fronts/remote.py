"""Errors of a shard as they come through a front: PL/Proxy prefixes the shard's message."""

import re

_REMOTE = re.compile(r"^[\w.]+\(\d+\): \[[^\]]*\] REMOTE [^:]+: ")
_UNREACHED = re.compile(
    r"^PL/Proxy function [\w.]+\(\d+\): "
    r"(\[[^\]]*\] .*|(connect|query) timeout.*|poll\(\) failed.*|Unfinished connection.*|Lost result)",
    re.DOTALL,
)
_PREFIXES = ("Remote hint: ", "Remote detail: ")
_FAULT = "XX000"


def own_words(text: str | None) -> str | None:
    """A message, hint or detail without the prefix of PL/Proxy."""
    if text is None:
        return None
    for prefix in _PREFIXES:
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return _REMOTE.sub("", text)


def why_unreached(sqlstate: str | None, message: str | None) -> str | None:
    """The reason why a front did not reach a shard, or lost it during a call; None for another kind of error."""
    found = _UNREACHED.match(message or "") if sqlstate == _FAULT else None
    return re.sub(r"\s+", " ", found[1]).strip() if found else None
