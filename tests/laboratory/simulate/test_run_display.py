"""The display in a terminal while a grid is simulated."""

from types import SimpleNamespace

from rich.console import Console

from broker.laboratory.commands import run_display
from tests.core.cli.test_narrow import assert_fits, plain


def test_the_live_display_of_a_simulation_has_whole_names(terminal: None) -> None:
    sites = {f"SYN-SATELLITE-{n:02}": 496 - n for n in range(30)}
    step = SimpleNamespace(
        minute=90, slots=sites, used=dict.fromkeys(sites, 40), finished=12345, failed=3, rebrokered=7, transfers=42,
        states={"assigned": 28, "activated": 72, "running": 1234}, troubles=["outage at SYN-SATELLITE-03"],
    )  # fmt: skip
    console = Console(width=80, height=24, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(run_display._picture(SimpleNamespace(minutes=1440), step, 60, console))  # type: ignore[arg-type]
    shown = plain(captured.get())
    assert_fits(shown)
    lines = shown.splitlines()
    assert len(lines) <= 23
    assert sum("SYN-SATELLITE-" in line and " of 4" in line for line in lines) >= 10
    assert any(line.startswith(" SYN-SATELLITE-00") and "40 of 496" in line for line in lines)
    assert any(line.split()[-2:] == ["activated", "72"] for line in lines)
