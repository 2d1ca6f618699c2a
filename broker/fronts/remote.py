"""Errors of a shard as they come through a front: PL/Proxy puts words before what the shard raised."""

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
    """A message, hint or detail without what PL/Proxy put before it."""
    if text is None:
        return None
    for prefix in _PREFIXES:
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return _REMOTE.sub("", text)


def why_unreached(sqlstate: str | None, message: str | None) -> str | None:
    """Why a front did not reach a shard, or lost it during a call; None: the error is of another kind."""
    found = _UNREACHED.match(message or "") if sqlstate == _FAULT else None
    return re.sub(r"\s+", " ", found[1]).strip() if found else None
