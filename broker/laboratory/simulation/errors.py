"""The errors that agents report with failed jobs, as PanDA's pilot does: sources, codes and texts."""

from broker.laboratory.simulation.supply import Row

ERRORS: dict[str, list[Row]] = {
    "black hole": [{"source": "pilot", "code": 1186, "text": "software directory not found: /cvmfs"}],
    "storage": [{"source": "pilot", "code": 1137, "text": "failed to transfer output: connection timed out"}],
    "stage-in": [{"source": "pilot", "code": 1099, "text": "failed to transfer input: connection timed out"}],
    "payload": [{"source": "payload", "code": 1, "text": "payload exited with code 1"}],
    "memory": [{"source": "pilot", "code": 1235, "text": "payload exceeded the maximum memory"}],
    "out of time": [{"source": "pilot", "code": 1213, "text": "reached the maximum batch system time"}],
}
"""The errors of a failed job, by the reason of its failure."""
# parts of the failures without a trouble, as upper bounds
_USUAL = {"payload": 0.6, "stage-in": 0.85, "memory": 1.0}


def usual(drawn: float) -> str:
    """The reason of a failure without a trouble, for a number drawn from 0 to 1."""
    return next((reason for reason, bound in _USUAL.items() if drawn < bound), "memory")
