"""The distribution with which `fair` compares equals that of the tests, and its chi-square equals scipy's."""

import random

import pytest
import scipy.stats

from benchmarks import draw
from tests.core.oracle.draw import win_levels


def test_two_candidates_win_by_the_ratio_of_their_priorities() -> None:
    assert draw.win({10: 1, 1: 1}) == pytest.approx({10: 0.95, 1: 0.05})
    assert draw.win({3: 0, 5: 2}) == {5: pytest.approx(1)}
    assert draw.win({}) == {}


@pytest.mark.parametrize("levels", [{1: 400, 7: 100}, {5: 1, 4: 1, 3: 1}, {1: 5000, 2: 1}, {1: 300_000, 10: 20, 5: 1}])
def test_the_chances_of_levels_agree_with_the_closed_form_of_the_tests(levels: dict[float, int]) -> None:
    expected = win_levels({priority: (count, priority) for priority, count in levels.items()})
    assert draw.win(levels) == pytest.approx(expected, abs=1e-7)


def test_hundreds_of_priorities_over_four_decades_sum_to_one() -> None:
    rng = random.Random(1)
    levels = {0.1 * 10 ** (4 * rng.random()): rng.choice([1, 1, 5]) for _ in range(500)}
    assert sum(draw.win(levels).values()) == pytest.approx(1, abs=1e-9)


def test_background_jobs_are_drawn_only_without_other_jobs() -> None:
    assert draw.user_priorities({0: 5, 3: 1}) == {3: pytest.approx(1)}
    assert draw.user_priorities({0: 5}) == {0: 1}


@pytest.mark.parametrize(("degrees", "statistic"), [(1, 0.5), (1, 30), (9, 9), (500, 400), (500, 620), (9999, 10_300)])
def test_chi_square_agrees_with_scipy(degrees: int, statistic: float) -> None:
    expected = float(scipy.stats.chi2.sf(statistic, degrees))
    assert draw.chi_square_exceeds(statistic, degrees) == pytest.approx(expected, rel=1e-9)


def test_comparing_counts_takes_rare_cells_together() -> None:
    verdict = draw.compare({"a": 520, "b": 477, "c": 2, "d": 1}, {"a": 0.5, "b": 0.497, "c": 0.002, "d": 0.001})
    assert verdict.cells == 2
    expected = scipy.stats.chisquare([520, 480], [500, 500]).pvalue
    assert verdict.p == pytest.approx(float(expected))


def test_an_outcome_that_cannot_happen_has_probability_zero() -> None:
    assert draw.compare({"a": 99, "x": 1}, {"a": 1.0}).p == 0
    assert draw.compare({"a": 100}, {"a": 1.0}).p == 1
