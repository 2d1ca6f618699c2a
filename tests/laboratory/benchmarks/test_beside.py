"""Two checkouts in turn (benchmarks/beside.py): the interval, significant differences, a checkout beside itself."""

import os
from pathlib import Path

import pytest
from scipy.stats import binom

from benchmarks.beside import differences, median_interval, obeying
from broker.errors import BrokerError
from tests.laboratory.benchmarks.test_benchmarks import TOP, run

HEAD = "1\tA\tc\t1\t2.5\t\\N\t\\N\n"


@pytest.mark.parametrize("number", range(5, 30))
def test_the_interval_is_the_narrowest_that_holds_the_median(number: int) -> None:
    low, high = median_interval([float(rank) for rank in range(number, 0, -1)])
    assert low + high == number + 1

    def confidence(rank: float) -> float:
        return float(1 - 2 * binom.cdf(rank - 1, number, 0.5))

    assert confidence(low) >= 0.9 > confidence(low + 1)


def test_the_interval_of_few_values_spans_all_of_them() -> None:
    assert median_interval([3, 1, 2]) == (1, 3)
    assert median_interval([2]) == (2, 2)


@pytest.mark.parametrize(
    ("other", "this", "found"),
    [
        (HEAD, HEAD, (0, 0)),
        (HEAD, HEAD.replace("c\t1", "c\t2"), (1, 0)),
        (HEAD, HEAD.replace("2.5", "2.6"), (1, 0)),
        (HEAD, "", (1, 0)),
        ("", HEAD, (1, 0)),
        (HEAD, HEAD.replace("A", "B"), (2, 0)),
        ("1\tA\tr\t\\N\t\\N\tcap\ttoo many\n", "1\tA\tr\t\\N\t\\N\tcap\t3 are too many\n", (0, 1)),
        ("1\tA\tr\t\\N\t\\N\tcap\ttoo many\n", "1\tA\tr\t\\N\t\\N\tlock\ttoo many\n", (1, 0)),
    ],
)
def test_different_decisions_and_different_texts_are_counted_apart(
    tmp_path: Path, other: str, this: str, found: tuple[int, int]
) -> None:
    files = tmp_path / "other", tmp_path / "this"
    for file, text in zip(files, (other, this), strict=True):
        file.write_text(text)
    assert differences(*files) == found


def test_a_checkout_without_an_environment_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match=str(tmp_path)) as error, obeying(tmp_path):
        raise AssertionError("it began")
    assert ".venv" in (error.value.hint or "")


@pytest.mark.parametrize("scenario", ["brokerage", "tasks", "analysis"])
def test_two_copies_of_one_checkout_decide_the_same(tmp_path: Path, scenario: str) -> None:
    if not os.environ.get("BROKER_TEST_BENCHMARKS") or not (TOP / ".venv").exists():
        pytest.skip("BROKER_TEST_BENCHMARKS=1 compares this checkout with itself if it has an environment .venv")
    words = f"--scenario {scenario} --cases 20:30 --rounds 1 --beside {TOP}".split()
    (table,) = run(words, None, tmp_path)
    assert [(row["profile"], row["run"]) for row in table["rows"]] == [
        (profile, run) for profile in ("doc", "panda2026") for run in ("dry", "real")
    ]
    for row in table["rows"]:
        assert (row["decided_differently"], row["other_reason"]) == (0, 0)
        assert row["low_ratio"] <= row["ratio"] <= row["high_ratio"]
        assert row["this_cpu_us"] > 0 and row["other_cpu_us"] > 0
