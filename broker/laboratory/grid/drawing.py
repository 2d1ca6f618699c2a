"""Random draws of figures."""

import math
import random
from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]


def log(rng: random.Random, low: float, high: float) -> float:
    """A log-uniform draw between two figures."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def ago(rng: random.Random, low: float, high: float) -> Row:
    return {"hours_ago": round(log(rng, low, high), 2)}


def weighted(rng: random.Random, weights: Mapping[str, float]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


def dealt(rng: random.Random, cards: Mapping[str, int], number: int) -> list[str]:
    """This number of cards from shuffled decks: a full deck has each name as often as its count."""
    dealt: list[str] = []
    while len(dealt) < number:
        deck = [name for name, count in cards.items() for _ in range(count)]
        rng.shuffle(deck)
        dealt += deck
    return dealt[:number]
