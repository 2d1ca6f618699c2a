"""The attributes of the preset diracx, as the model of matching takes them."""

from collections.abc import Iterator
from typing import Any


def _kinds() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("arch", "system", "gpu.vendor", "gpu.model", "gpu.architecture"):
        yield name, {"type": "text", "absent": "fails", "exclusive": True}
    yield "features", {"type": "text", "absent": "fails", "exclusive": False}
    for name in ("profile", "glibc", "gpu.compute_capability", "gpu.driver", "gpu.runtime"):
        yield name, {"type": "version", "absent": "fails"}
    for name in ("level", "wall", "work.per_core", "cores", "gpu.ram"):
        yield name, {"type": "number", "absent": "fails"}
    for name in ("work", "ram", "scratch"):
        yield name, {"type": "number", "absent": "passes"}
    yield "gpu.count", {"type": "number", "absent": {"value": 0}}
    yield "userns", {"type": "flag", "absent": "fails"}


DIRACX = dict(_kinds())
