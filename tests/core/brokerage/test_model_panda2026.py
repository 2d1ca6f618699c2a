"""The model of panda2026: worlds worked out by hand (tests/core/cases; the engine answers them, too), and its parts."""

import pytest

from tests.core.cases.production import Case
from tests.core.cases.production_panda2026 import CASES
from tests.core.oracle.fates import fates
from tests.core.oracle.job_panda2026 import broker_job, read_architecture


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_model_answers_each_world_as_worked_out_by_hand(case: Case) -> None:
    assert fates(broker_job(case.world, 1)) == case.fates


def test_the_model_reads_architectures_as_panda_does() -> None:
    """One pair of parentheses is removed; without # the first word of the whole text is the CPU."""
    assert [cpu["arch"] for cpu in read_architecture("p#(x86_64|aarch64)").cpus] == ["x86_64", "aarch64"]
    assert read_architecture("x86_64-el9&nvidia").cpus == [{"arch": "x86_64", "vendor": "*", "instr": "*"}]
    assert read_architecture("&nvidia-A100:vram>=10:cuda=12").gpu == {
        "vendor": "nvidia", "model": "A100", "vram": ">=10", "version": "==12",
    }  # fmt: skip
    assert read_architecture("#x86_64").platform == ""
