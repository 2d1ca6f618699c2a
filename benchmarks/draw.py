"""The formula of DRAWING.md, Formula of the draw, and the chi-square test against it, with the standard library only.

Keys are U/p with U uniform on (0, 1), the smallest wins. A candidate's key exceeds x with probability 1 - p x, so that
a level of n candidates with priority p wins with the probability of the integral of
n p (1 - p x)^(n-1) * prod over the other levels of (1 - q x)^m over 0..1/max(p).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

_NODES = 24
_EDGES = (0.0, 1.0, 3.0, 8.0, 20.0, 60.0)  # in mean smallest keys: nearly all probability is in the first piece


@dataclass(frozen=True)
class Verdict:
    """A chi-square test: the number of compared cells (rare ones are merged), the statistic, and p."""

    cells: int
    chi_square: float
    p: float


def win(levels: Mapping[float, float]) -> dict[float, float]:
    """By priority: the probability that the smallest key is one of its `count` candidates. One of n siblings counts as
    1/n of a candidate (sql/taskqueue/SHARES.md, Siblings)."""
    levels = {priority: count for priority, count in levels.items() if count > 0}
    if not levels:
        return {}
    top = max(levels)
    mean = 1 / sum(priority * count for priority, count in levels.items())
    edges = sorted({min(edge * mean, 1 / top) for edge in _EDGES} | {1 / top})
    chances = dict.fromkeys(levels, 0.0)
    for low, high in pairwise(edges):
        for node, weight in _gauss():
            x = (low + high) / 2 + (high - low) / 2 * node
            nobody = math.exp(sum(count * math.log1p(-priority * x) for priority, count in levels.items()))
            scale = weight * (high - low) / 2 * nobody
            for priority, count in levels.items():
                chances[priority] += scale * count * priority / (1 - priority * x)
    return chances


def user_priorities(jobs: Mapping[int, int]) -> dict[int, float]:
    """The probability of each user priority of a queue: 0 is background, taken if there is nothing else."""
    usual = {float(level): count for level, count in jobs.items() if level > 0 and count > 0}
    return {int(level): chance for level, chance in win(usual).items()} if usual else {0: 1.0}


def compare(found: Mapping[object, int], expected: Mapping[object, float]) -> Verdict:
    """Test the counts against the probabilities. If an impossible value occurred, p is 0."""
    possible = {name: chance for name, chance in expected.items() if chance > 0}
    if not set(found) <= set(possible):
        return Verdict(len(possible), math.inf, 0.0)
    total = sum(found.values())
    cells = [(found.get(name, 0), total * chance) for name, chance in possible.items()]
    rare = [cell for cell in cells if cell[1] < 5]  # chi-square needs five expected counts: merge the cells
    cells = sorted((cell for cell in cells if cell[1] >= 5), key=lambda cell: cell[1])
    if rare:
        together = (sum(count for count, _ in rare), sum(chance for _, chance in rare))
        if together[1] < 5 and cells:
            least = cells.pop(0)
            together = (together[0] + least[0], together[1] + least[1])
        cells.append(together)
    statistic = sum((count - chance) ** 2 / chance for count, chance in cells)
    return Verdict(len(cells), statistic, chi_square_exceeds(statistic, len(cells) - 1))


def chi_square_exceeds(statistic: float, degrees: int) -> float:
    """The probability that chi-square with `degrees` degrees of freedom exceeds the statistic."""
    if degrees == 0 or statistic <= 0:
        return 1.0
    a, x = degrees / 2, statistic / 2
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    return 1 - scale * _lower_series(a, x) if x < a + 1 else scale * _upper_fraction(a, x)


def _lower_series(a: float, x: float) -> float:
    """The regularised lower gamma function, without its scale: a power series."""
    term = total = 1 / a
    n = a
    while term > total * 1e-15:
        n += 1
        term *= x / n
        total += term
    return total


def _upper_fraction(a: float, x: float) -> float:
    """The regularised upper gamma function, without its scale: a continued fraction by Lentz's method."""
    b = x + 1 - a
    c = math.inf
    d = h = 1 / b
    step, n = 0.0, 0
    while abs(step - 1) > 1e-15:
        n += 1
        b += 2
        d = 1 / (b - n * (n - a) * d)
        c = b - n * (n - a) / c
        step = c * d
        h *= step
    return h


@cache
def _gauss() -> list[tuple[float, float]]:
    """Gauss-Legendre nodes and weights on [-1, 1], by Newton's method on the Legendre polynomial."""
    found = []
    for i in range(_NODES):
        x = math.cos(math.pi * (i + 0.75) / (_NODES + 0.5))
        for _ in range(50):
            before, value = 0.0, 1.0
            for k in range(1, _NODES + 1):
                before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
            slope = _NODES * (x * value - before) / (x * x - 1)
            x -= value / slope
        found.append((x, 2 / ((1 - x * x) * slope * slope)))
    return found
