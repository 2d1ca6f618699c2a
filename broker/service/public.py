"""The public names of the service, one per line, as broker/reference/public.py has those of the program."""

import re

from broker.reference.public import line
from broker.service.figures import READINGS
from broker.service.metrics import Metrics
from broker.service.openapi import document


def of_service() -> list[str]:
    """Endpoints with their query parameters, JSON objects with their keys, and metrics with their labels."""
    described = document()
    endpoints = [
        line(
            "endpoint",
            f"{method.upper()} {path}",
            (one["name"] for one in operation.get("parameters", ()) if one["in"] != "path"),
        )
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
    ]
    objects = [
        line("object", name, schema.get("properties", ()))
        for name, schema in described["components"]["schemas"].items()
    ]
    figures = [
        line("metric", figure.name, [*(["setup"] if reading.of_setup else []), *reading.labels])
        for reading in READINGS
        for figure in reading.figures
    ]
    counts = [
        line("metric", name, ()) for name in re.findall(r"^# TYPE (\w+)", Metrics().text().decode(), re.MULTILINE)
    ]
    return sorted({*endpoints, *objects, *figures, *counts})
