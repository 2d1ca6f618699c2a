"""How fast pgbroker is, beside what durability alone costs on the same machine: `python -m benchmarks` (README.md)."""

from pathlib import Path

FOLDER = Path(__file__).parent
SCRIPTS = FOLDER / "scripts"
