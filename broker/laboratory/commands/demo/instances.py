"""The output of `broker demo instances`: one line for each wave of steps, and the costs at the end."""

from collections.abc import Mapping
from typing import Any

from broker.cli.shared import output


def wave_in_words(row: Mapping[str, Any]) -> str:
    """A line about a wave: steps, instances, their use and their cost."""
    full = round(20 * float(row["cpu_efficiency"]))
    return (
        f"{row['steps']:>9,} steps on {row['instances']:>7,} instances  {'█' * full}{'░' * (20 - full)}"
        f" {100 * float(row['cpu_efficiency']):.0f} % of the cores; {float(row['price']):>10,.2f} an hour,"
        f" one a step {row['one_instance_a_step']:>10,.2f}; {row['placed'] / row['seconds']:,.0f} placements/s"
    )


def show_costs(last: Mapping[str, Any], ended: Mapping[str, Any]) -> None:
    """Show the costs after the last wave, and the instances that remain when half of the steps have finished."""
    costs = [
        ("one instance a step", last["one_instance_a_step"]),
        ("packed", float(last["price"])),
        ("no packing costs less", float(last["lower_bound"])),
    ]
    output.bars("Cost an hour", costs)
    output.say(
        f"Half of the steps finished: {ended['released']:,} instances released, {ended['instances']:,} stay,"
        f" {100 * float(ended['cpu_efficiency'] or 0):.0f} % of their cores used."
    )
