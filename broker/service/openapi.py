"""OpenAPI 3.1 of the service, from the table of endpoints."""

import json
import re
from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec

from broker.service import bodies
from broker.service.endpoint import Endpoint
from broker.service.endpoints import ENDPOINTS
from broker.service.problems import MEDIA_TYPE, ProblemDetails

_REF = "#/components/schemas/{name}"
_PARAMETERS = {
    "setup": {"type": "string", "maxLength": 100},
    "job_id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
    "task_id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
    "what_if_id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
}
_ALWAYS = (500, 503)
_LIMITED = (401, 403, 422, 429)
_WITH_BODY = (400, 413, 415)


def document() -> dict[str, Any]:
    """The description of all endpoints."""
    own = [one for one in ENDPOINTS if one.adapter is None]
    kinds = {kind for one in own for kind in (one.body, one.answers) if kind is not None} | {ProblemDetails}
    ordered = sorted(kinds, key=str)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=_REF)
    known = dict(zip(ordered, schemas, strict=True))
    components |= _named([*schemas, *components.values()], components)
    for one in components.values():
        one["description"] = " ".join(one["description"].split())
    license_ = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
    paths: dict[str, Any] = {}
    for one in own:
        path = re.sub(r":id\}", "}", one.path)
        paths.setdefault(path, {})[one.method.lower()] = _operation(one, path, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pgbroker",
            "version": "1",
            "summary": "Matching of jobs to resources, and why",
            "license": license_,
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _named(schemas: Any, components: dict[str, Any]) -> dict[str, Any]:
    """Move objects with a title out of the schemas, which then refer to them: generated clients use the titles as
    names. A list of any items gets an empty schema of items; generators refuse a list without one.
    """
    found: dict[str, Any] = {}
    for place in schemas if isinstance(schemas, list) else list(schemas.values()):
        if isinstance(place, list | dict):
            found |= _named(place, components)
    if not isinstance(schemas, dict):
        keys: Any = range(len(schemas))
    else:
        keys = list(schemas)
        if schemas.get("type") == "array":
            schemas.setdefault("items", {})
    for key in keys:
        one = schemas[key]
        title = one.get("title") if isinstance(one, dict) and one.get("type") == "object" else None
        if title and title not in components:
            found[title] = {"additionalProperties": True} | one
            schemas[key] = {"$ref": _REF.format(name=title)}
    return found


@cache
def text() -> str:
    """The description as JSON, made once, at the first request."""
    return json.dumps(document(), separators=(",", ":")) + "\n"


def summary() -> list[str]:
    """A line for each operation: method, path, type of the request, types of the answers, and statuses of refusals."""
    return sorted(
        " ".join([method.upper(), path, _types(operation.get("requestBody", {})), "->", *_answers(operation)])
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    )


def _answers(operation: dict[str, Any]) -> list[str]:
    answers = operation["responses"].items()
    done = [f"{status} {_types(answer)}".rstrip() for status, answer in answers if int(status) < HTTPStatus.BAD_REQUEST]
    return [" | ".join(done), "; refused:", *(status for status, _ in answers if int(status) >= HTTPStatus.BAD_REQUEST)]


def _types(message: dict[str, Any]) -> str:
    """The types of a request or of an answer: the names of components, `[]` for a list, or the JSON type."""
    return " | ".join(dict.fromkeys(_type_name(one["schema"]) for one in message.get("content", {}).values()))


def _type_name(schema: dict[str, Any]) -> str:
    if "items" in schema:
        return _type_name(schema["items"]) + "[]"
    return str(schema.get("$ref", schema.get("type", ""))).rpartition("/")[2]


def _operation(one: Endpoint, path: str, known: dict[Any, Any]) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _PARAMETERS[name]}
        for name in re.findall(r"\{(\w+)\}", path)
    ]
    if one.repeatable:
        key = {"type": "string", "minLength": 1, "maxLength": 500}
        parameters.append({"name": "Idempotency-Key", "in": "header", "required": False, "schema": key})
    found: dict[str, Any] = {"operationId": one.name, "summary": one.summary, "parameters": parameters}
    found["tags"] = [one.run.__module__.rpartition(".")[2]]
    found["security"] = [] if one.open else [{"bearer": []}]
    if one.body is not None:
        content = {kind: {"schema": _body(one, kind, known)} for kind in sorted(one.media_types)}
        found["requestBody"] = {"required": True, "content": content}
    found["responses"] = _responses(one, known)
    return found


def _body(one: Endpoint, kind: str, known: dict[Any, Any]) -> Any:
    """The schema of a body; for JSON lines, the schema of a line."""
    return known[one.body]["items"] if kind == bodies.LINES else known[one.body]


def _responses(one: Endpoint, known: dict[Any, Any]) -> dict[str, Any]:
    schema = known[one.answers] if one.answers is not None else {}
    answers: dict[str, Any] = {"200": {"description": "Done", "content": {one.produces: {"schema": schema}}}}
    if one.may_be_empty:
        seconds = {"description": "Seconds to wait", "schema": {"type": "integer"}}
        answers["204"] = {"description": "Nothing now", "headers": {"Retry-After": seconds}}
    statuses = {*_ALWAYS, *(() if one.open else _LIMITED), *(_WITH_BODY if one.body is not None else ())}
    if one.path.endswith(("}", "/why", "/events", "/cancel", "/obstacles", "/retry", "/what-if")):
        statuses.add(404)
    if one.name in ("insert", "cancel", "retry"):
        statuses.add(409)
    if one.name == "token":
        statuses |= {401, 422, 429}
    for status in sorted(statuses):
        problem = {MEDIA_TYPE: {"schema": known[ProblemDetails]}}
        answers[str(status)] = {"description": HTTPStatus(status).phrase, "content": problem}
    return answers
