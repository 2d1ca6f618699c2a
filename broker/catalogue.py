"""Catalogues of instance types as CSV, and the steps of a genomics pipeline as jobs for instances.

data/instance-types.csv: the general (m5), compute (c5) and memory (r5) families of a large public cloud, list prices
per hour (USD, on demand, Linux) as they circulated in 2024 to 2026. The prices are for demonstrations, not for billing.
data/genomics-steps.csv: steps of a whole-genome variant-calling pipeline with the cores and memory that nf-core/sarek's
base configuration (2026) asks for; jobs per sample are a typical scatter (8 lanes, 21 intervals), our assumption.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from importlib import resources as package_data
from typing import Any

from broker.errors import BadRequest

COLUMNS = ("name", "vcpu", "memory_gib", "usd_per_hour")
TYPES = "prices: list prices of a public cloud, 2024 to 2026, not for billing"
STEPS = "steps: nf-core/sarek's base configuration (2026); jobs per sample: our assumption"
_MB = 1024  # of a GiB


@dataclass(frozen=True)
class Step:
    """One step of the pipeline, and its number of jobs per sample."""

    name: str
    cpu: int
    ram: int
    jobs: int


def _lines(name: str) -> Iterator[str]:
    return iter(package_data.files("broker").joinpath("data", name).read_text(encoding="utf-8").splitlines())


def shipped_types() -> dict[str, dict[str, Any]]:
    """The catalogue that comes with pgbroker, in the form of a world."""
    return types(_lines("instance-types.csv"), "instance-types.csv", [])


def types(lines: Iterable[str], name: str, unread: list[str]) -> dict[str, dict[str, Any]]:
    """A catalogue as a world's instance_types, from CSV with the columns COLUMNS; memory in MB. unread: gets the names
    of the other columns.

    Raises BadRequest, naming the file (`name`), the line, the column and the value.
    """
    reader = csv.DictReader(lines)
    lacking = [column for column in COLUMNS if column not in (reader.fieldnames or [])]
    if lacking:
        raise BadRequest(f"{name} has no column {lacking[0]}", f"its first line names the columns {', '.join(COLUMNS)}")
    unread += [column for column in reader.fieldnames or [] if column not in COLUMNS]
    found: dict[str, dict[str, Any]] = {}
    for row in reader:
        where = f"{name}, line {reader.line_num}"
        if None in row or None in row.values():
            raise BadRequest(
                f"{where}: more or fewer values than columns", f"each line has {len(reader.fieldnames or [])} values"
            )
        if not row["name"]:
            raise BadRequest(f"{where}: name is missing", "each line has the name of a type")
        if row["name"] in found:
            raise BadRequest(f"{where}: {row['name']} is there twice", "give each type once")
        cpu, memory, price = (_number(where, column, row[column]) for column in COLUMNS[1:])
        found[row["name"]] = {"cpu": float(cpu), "ram": float(memory * _MB), "price": float(price)}
    if not found:
        raise BadRequest(f"{name} has no types", "a line for each follows the names of the columns")
    return found


def cheapest(types: Mapping[str, dict[str, Any]], cpu: float, ram: float) -> dict[str, Any]:
    """The cheapest type that fits, as instance.required_type finds it."""
    fitting = [
        (one["price"], one["cpu"], one["ram"], name)
        for name, one in types.items()
        if one["cpu"] >= cpu and one["ram"] >= ram
    ]
    return types[min(fitting)[3]]


def _number(where: str, column: str, text: str | None) -> Decimal:
    try:
        value = Decimal(text or "")
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite():
        raise BadRequest(f"{where}: {column} is {text!r}, not a number", "cores, GiB, and a price per hour")
    return value


def steps() -> list[Step]:
    """The steps of the pipeline, in their order; memory in MB."""
    return [
        Step(row["step"], int(row["cpus"]), int(row["memory_gb"]) * _MB, int(row["jobs_per_sample"]))
        for row in csv.DictReader(_lines("genomics-steps.csv"))
    ]
