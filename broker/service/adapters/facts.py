"""Facts of a run in the words of other systems: the host, errors and figures, in the form of taskqueue.report_jobs.

Any value is data: a value that has no use is left out, and a text is cut, so no report and no end is refused for its
facts.

Source: pilot3 and JobDispatcher of PanDA, Watchdog and JobWrapper of DIRAC 8.0.40 and 9 (before,
memory was in kB under the same name), the models of DiracX.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

Facts = dict[str, Any]
"""The members error, used and host, as far as there is a fact."""

NONE = ("", "None", "NULL", None)
"""Values that PanDA's clients send for a missing value."""

_LONGEST_HOST = 255
_LONGEST_TEXT = 200
_LARGEST = 1e15
_MOST_CORES = 32767
_KB = 1024  # kB in a MB
# PanDA's sources of errors, in the order in which PanDA looks at them
_SOURCES = ("pilot", "exe", "sup", "ddm", "brokerage", "jobDispatcher", "taskBuffer")
_SECONDS = ("s", "sec", "second", "seconds")
_WORD = re.compile("(?<=[a-z])([A-Z]+)")


def host(value: object) -> str | None:
    """The name of a worker node. HTCondor's slot is left out: pilots send slot1_3@wn17, and a node has many slots."""
    if not isinstance(value, str) or value in NONE:
        return None
    name = value[-1000:].rpartition("@")[2].strip()
    return name if 1 <= len(name) <= _LONGEST_HOST and name.isprintable() else None


def of_pilot(fields: Mapping[str, Any]) -> Facts:
    """The facts in an update of PanDA's pilot. Names are those of the older API or, with underscores, of API v1."""
    given = _Fields(fields)
    errors = [_error(source.lower(), given[f"{source}ErrorCode"], given[f"{source}ErrorDiag"])
              for source in _SOURCES if _is_fault(given[f"{source}ErrorCode"])]  # fmt: skip
    unit = given["cpuConsumptionUnit"]  # the unit, +, the model of the processor
    is_time = unit in NONE or (isinstance(unit, str) and unit.partition("+")[0].strip().lower() in ("", *_SECONDS))
    begin, end = (_time(given[name]) for name in ("startTime", "endTime"))
    return _facts(
        host(given["node"]), errors,
        cpu=given["cpuConsumptionTime"] if is_time else None,
        wall=None if begin is None or end is None else end - begin,
        ram=_scaled(given["maxRSS"], 1 / _KB), cores=given["coreCount"],
    )  # fmt: skip


def of_parameters(given: object) -> Facts:
    """The facts in parameters of a job, or in a heartbeat, of DIRAC or DiracX."""
    if not isinstance(given, Mapping):
        return {}
    return _facts(
        host(given.get("HostName")), (),
        cpu=_first(given, "TotalCPUTime(s)", "LastUpdateCPU(s)", "CPUConsumed"),
        wall=_first(given, "WallClockTime(s)", "WallClockTime"),
        ram=_first(given, "MemoryUsed", "MemoryUsed(MB)"), cores=given.get("NumberOfProcessors"),
    )  # fmt: skip


def of_failure(statuses: Iterable[tuple[object, object]]) -> Facts:
    """The facts of a job of DIRAC or DiracX that failed: the last minor status and the last application status of
    these, which are in the order of their times."""
    last: list[Facts | None] = [None, None]
    for both in statuses:
        last = [_error("dirac", None, text) or before for text, before in zip(both, last, strict=True)]
    return _facts(None, last)


class _Fields:
    """Fields of either API, by the name of the older one."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        value = self._values.get(name)
        return self._values.get(_WORD.sub(r"_\1", name).lower()) if value is None else value


def _facts(
    name: str | None,
    errors: Iterable[Facts | None],
    *,
    cpu: object = None,
    wall: object = None,
    ram: object = None,
    cores: object = None,
) -> Facts:
    found: Facts = {}
    if listed := [error for error in errors if error]:
        found["error"] = listed
    figures = {"cpu": _number(cpu), "wall": _number(wall), "ram": _number(ram) or None}
    used: Facts = {key: round(figure, 3) for key, figure in figures.items() if figure is not None}
    if (count := _number(cores)) is not None and 1 <= count <= _MOST_CORES:
        used["cores"] = int(count)
    if used:
        found["used"] = used
    if name is not None:
        found["host"] = name
    return found


def _error(source: str, code: object, text: object) -> Facts | None:
    """An error of taskqueue.report_jobs; None if there is neither a code nor a text."""
    found: Facts = {"source": source}
    number = _parsed(code)
    if number is not None and number % 1 == 0 and -(2**31) <= number < 2**31:
        found["code"] = int(number)
    if words := _text(text):
        found["text"] = words
    return found if len(found) > 1 else None


def _is_fault(code: object) -> bool:
    """Whether a code of PanDA is an error: 0 and a missing code are none, whatever their text."""
    return code not in NONE and _parsed(code) != 0


def _text(value: object) -> str:
    """A text, cut, without characters that a database cannot hold or a terminal obeys."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or value in NONE:
        return ""
    return "".join(one if one.isprintable() else " " for one in value[:_LONGEST_TEXT]).strip()


def _parsed(value: object) -> float | None:
    """A number or the text of one; None for anything else, and for an infinite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value[:100] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _number(value: object) -> float | None:
    """A figure within the bounds of the database."""
    number = _parsed(value)
    return number if number is not None and 0 <= number <= _LARGEST else None


def _scaled(value: object, factor: float) -> float | None:
    number = _parsed(value)
    return None if number is None else number * factor


def _first(given: Mapping[Any, Any], *names: str) -> float | None:
    """The first figure under these names."""
    return next((number for name in names if (number := _number(given.get(name))) is not None), None)


def _time(value: object) -> float | None:
    """Seconds since 1970 of a time: a number, or a text in UTC."""
    number = _parsed(value)
    if number is not None or not isinstance(value, str):
        return number
    try:
        found = datetime.fromisoformat(value[:100])
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
