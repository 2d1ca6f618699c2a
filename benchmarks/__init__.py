"""The speed of pgbroker, beside the cost of durability on the same machine: `python -m benchmarks` (README.md)."""

from pathlib import Path

FOLDER = Path(__file__).parent
SCRIPTS = FOLDER / "scripts"
