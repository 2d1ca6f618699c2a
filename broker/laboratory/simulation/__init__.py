"""A grid in fast motion: tasks arrive, are brokered, wait for their input, and run at sites with failures.

Everything is synthetic except the system under test: the database takes every decision, through the public calls of an
operator and of JobAgents. scenario.py describes a simulation, supply.py makes its grid, engine.py runs it with the
calls of calls.py, nodes.py has its worker nodes, errors.py the errors that agents report. figures.py and failed.py sum
up the results, files.py writes them.
"""

from broker.laboratory.simulation.calls import Calls
from broker.laboratory.simulation.engine import Run, Step
from broker.laboratory.simulation.figures import figures, holds
from broker.laboratory.simulation.files import require_folder, write
from broker.laboratory.simulation.scenario import PRESETS, Scenario, Trouble, named
from broker.laboratory.simulation.supply import make

__all__ = [
    "PRESETS", "Calls", "Run", "Scenario", "Step", "Trouble", "figures", "holds", "make", "named", "require_folder",
    "write",
]  # fmt: skip
