"""GPU specifications of PanDA's tasks as requirements.

Source: JediTaskSpec.get_host_gpu_spec and AtlasBrokerUtils of panda-server (9cc36033, August 2026). PanDA compares the
vendor and the model as regular expressions at the start of the names that worker nodes report; here they are words.
"""

import re
from collections.abc import Iterator
from typing import Any

from broker.errors import BadRequest
from broker.json_text import parse
from broker.translate.document import Part, wrong

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _/-]*")
_COMPARISON = re.compile(r"(>=|<=|==|=|>|<) *([0-9]{1,18}(?:\.[0-9]{1,18})*) *")
_FIELD = re.compile(r"(\w+)(>=|<=|!=|==|>|<|=)(.*)")
_KEYS = {"cuda": "version", "uarch": "microarchitecture", "driver": "driver_version", "model": "model", "vram": "vram"}
_BOUNDS = {">=": "min", "<=": "max", ">": "above", "<": "below"}


def requirements_of_gpu_spec(architecture: str | dict[str, Any] | None) -> dict[str, Any]:
    """The requirements of a GPU specification: an object such as `gpu_spec`, or the architecture of a task in either
    form, of which the other parts are not read. Empty if no GPU is wanted. Raises BadRequest for patterns, exclusions
    and conditions that cannot be read, naming their place."""
    if isinstance(architecture, str):
        if not architecture.lstrip().startswith("{"):
            return _of_text(architecture)
        return _of_json(architecture)
    return {} if architecture is None else _of_spec("gpu_spec", architecture)


def _of_json(text: str) -> dict[str, Any]:
    """The specification of `gpu_spec`, formerly a list of one, `gpu_specs`; else that of `encoded_platform`, a text."""
    try:
        found = parse(text)
    except ValueError as error:
        raise BadRequest(f"architecture is not JSON: {error}") from None
    spec = found.get("gpu_spec", found.get("gpu_specs"))
    if isinstance(spec, list) and len(spec) < 2:
        spec = spec[0] if spec else None
    if spec is not None:
        return _of_spec("gpu_spec", spec)
    encoded = found.get("encoded_platform") or ""
    return _of_text(encoded) if isinstance(encoded, str) else wrong("encoded_platform", encoded, "a text")


def _of_text(architecture: str) -> dict[str, Any]:
    """The specification of `platform@image#cpu&vendor-model:key<op>value`; places are characters of this text."""
    found = re.search(r"&([^@#^]+)", architecture)
    if found is None:
        return {}
    spec: dict[str, tuple[str, Any]] = {}
    at = found.start(1)
    for number, part in enumerate(found[1].split(":")):
        place = f"architecture, character {at + 1}"
        fields = _fields(place, part) if number else zip(("vendor", "model"), part.split("-"), strict=False)
        for key, value in fields:
            if key in spec and number and spec[key][1] not in ("*", ""):
                raise BadRequest(f"{place}: {key} is given twice")
            spec[key] = f"{place}: {key}", value
        at += len(part) + 1
    return _wanted(spec)


def _fields(place: str, text: str) -> Iterator[tuple[str, str]]:
    found = _FIELD.fullmatch(text)
    if found is None or found[1] not in _KEYS:
        wrong(place, text, "a condition such as vram>=20000", f"Its key is one of {', '.join(_KEYS)}.")
    key, operator, value = _KEYS[found[1]], found[2], found[3]
    if key in ("model", "microarchitecture"):
        if operator not in ("=", "=="):
            wrong(place, text, f"{found[1]}= and a word", "Exclusions and bounds of words have no translation.")
        yield key, value
    else:
        yield key, operator + value


def _of_spec(place: str, value: Any) -> dict[str, Any]:
    part = Part(place, value)
    keys = ("vendor", "model", *(key for key in _KEYS.values() if key != "model"))
    spec = {key: found for key in keys if (found := part.take(key, lambda where, one: (where, one)))}
    part.end()
    return _wanted(spec)


def _wanted(spec: dict[str, tuple[str, Any]]) -> dict[str, Any]:
    """The requirements of conditions with their places."""
    attributes: dict[str, Any] = {"gpu.count": {"min": 1}}
    for key, name in (("vendor", "gpu.vendor"), ("model", "gpu.model"), ("microarchitecture", "gpu.architecture")):
        if key in spec and spec[key][1] not in ("*", ""):
            attributes[name] = _words(*spec[key])
    for key, name in (("vram", "gpu.ram"), ("version", "gpu.runtime"), ("driver_version", "gpu.driver")):
        if key in spec:
            attributes[name] = _compared(*spec[key], is_number=key == "vram")
    return {"Attributes": attributes}


def _words(place: str, value: Any) -> str | list[str]:
    if isinstance(value, list) and value:
        return [str(_words(f"{place}[{number}]", one)) for number, one in enumerate(value)]
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        wrong(place, value, "a word", "Patterns and exclusions have no translation.")
    return value.lower()


def _compared(place: str, value: Any, *, is_number: bool) -> Any:
    found = _COMPARISON.fullmatch(value) if isinstance(value, str) else None
    if found is None or (is_number and found[2].count(".") > 1):
        wrong(place, value, "a comparison such as >=20000 (MB)" if is_number else "a comparison such as >=12.4")
    bound: Any = found[2]
    if is_number:
        bound = float(bound) if "." in bound else int(bound)
    return {_BOUNDS[found[1]]: bound} if found[1] in _BOUNDS else bound
