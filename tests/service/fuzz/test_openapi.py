"""Calls that schemathesis makes from the description of the service: no fault, and only answers that are described.

Each kind of caller calls each operation, with valid and with invalid data. Some of the generated values are replaced by
values that exist in the setup; otherwise a random call would seldom reach the database. The examples are the same
in each run; `BROKER_TEST_FUZZ_SERVICE=2000` makes 2,000 of each operation, which differ in each run.
"""

import os
import re
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core import NotSet
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from broker.service import openapi
from broker.service.views import VIEWS
from tests.service.fuzz.conftest import KINDS, Target

GIVEN = os.environ.get("BROKER_TEST_FUZZ_SERVICE")
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance,
]  # fmt: skip
SCHEMA = schemathesis.openapi.from_dict(openapi.document())
MODES = [GenerationMode.POSITIVE, GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
# Operations by their names, and how many examples of each are enough.
GROUPS = {
    "agents": ("match|report|finish|exchange|release|token", 10),
    "submitters": ("insert|cancel|hold|resume|retry", 10),
    "viewers": ("job|job_events|why_.*|obstacles|what_if|kept_what_if|live|ready|metrics|openapi", 6),
    "quarantines": ("set_quarantine|lift_quarantine", 10),
    "searches": ("search_.*|count_.*", 5),
}
_RESULTS = list(SCHEMA.get_all_operations())
OPERATIONS = {one.ok().definition.raw["operationId"]: one.ok() for one in _RESULTS if isinstance(one, Ok)}
COLUMNS = sorted({name for listed in VIEWS.values() for name in listed.columns})
WORDS: dict[str, list[Any]] = {
    "parameter": COLUMNS, "parameters": COLUMNS, "grouping": COLUMNS,
    "status": ["starting", "running", "holding", "transferring", None],
    "outcome": ["finished", "failed", "cancelled", "closed"], "profile": ["panda2026", "doc"],
    "resources": [{"CPUTime": 86400}, {"CPUTime": 86400, "Site": ["NORTH"]}, {"CPUTime": 1e3, "Tag": "GPU"}],
    "resource": [{"CPUTime": 86400}, {"CPUTime": 86400, "Site": ["NORTH"]}, {"CPUTime": 1e3, "Tag": "GPU"}],
    "requirements": [{"OwnerDN": "/CN=a", "OwnerGroup": "users", "CPUTime": 600}],
    "error": [[], [{"source": "pilot", "code": 1305}], [{"source": "P"}], [{"source": "exe", "text": "\x1b"}]],
    "used": [{}, {"cpu": 1e-50, "wall": 60.5, "ram": 2000, "cores": 8}, {"cpu": -1}, {"cores": 10**20}],
    "host": ["n17", "", "n\u202e", "n" * 300],
    "kind": ["host", "ce", "site"], "site": ["NORTH", "", "s\u202e", None], "name": ["n17", "NORTH", "", "n\0", None],
    "settings": [{"NQUEUED_SAT_CAP": 1}], "world": [{"queues": {}}, {"tasks": {}}],
    "value": [1, "NORTH", None, "2026-03-28T12:00:00Z", True],
}  # fmt: skip


def meaningful(draw: st.DrawFn, value: Any, words: dict[str, list[Any]], key: str = "") -> Any:
    """The value, with some of its members replaced by known values of the same key."""
    if key in words and draw(st.booleans()):
        chosen = draw(st.sampled_from(words[key]))
        return [chosen] if isinstance(value, list) and not isinstance(chosen, list) else chosen
    if isinstance(value, dict):
        return {name: meaningful(draw, one, words, name) for name, one in value.items()}
    if isinstance(value, list):
        return [meaningful(draw, one, words, key.removesuffix("s")) for one in value]
    return value


@st.composite
def calls(draw: st.DrawFn, operation: Any, target: Target) -> tuple[Any, list[str]]:
    """A call, and its callers: one who may make it, and often another one."""
    case = draw(operation.as_strategy(generation_mode=draw(st.sampled_from(MODES))))
    words = WORDS | target.known | {"job_ids": target.known["job_id"]}
    parameters = case.path_parameters or {}
    for name in parameters:
        if draw(st.integers(0, 9)):
            parameters[name] = target.setup if name == "setup" else draw(st.sampled_from(words[name]))
    if not isinstance(case.body, NotSet | bytes):
        case.body = meaningful(draw, case.body, words)
        if isinstance(case.body, dict) and isinstance(case.body.get("wait"), int | float):
            case.body["wait"] = min(case.body["wait"], 0.05)
    return case, ["operator", draw(st.sampled_from(KINDS))]


@pytest.mark.parametrize("group", list(GROUPS))
def test_calls_get_the_answers_that_openapi_describes(target: Target, group: str) -> None:
    pattern, examples = GROUPS[group]
    for name in filter(re.compile(pattern).fullmatch, OPERATIONS):

        @settings(
            max_examples=int(GIVEN) if GIVEN else examples, deadline=None, derandomize=not GIVEN, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(calls(OPERATIONS[name], target))
        def call(chosen: tuple[Any, list[str]]) -> None:
            case, kinds = chosen
            for kind in kinds:
                response = case.call(base_url=target.url, session=target.session, headers=target.headers(kind))
                case.validate_response(response, checks=CHECKS)

        call()


def test_every_operation_is_in_exactly_one_group() -> None:
    for name in OPERATIONS:
        assert sum(re.fullmatch(pattern, name) is not None for pattern, _ in GROUPS.values()) == 1, name
