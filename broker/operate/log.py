"""Lines of a log, as text for people, or as JSON objects for programs."""

import datetime
import json
import logging
import traceback
from typing import Any

from broker.visible import visible


def _at(record: logging.LogRecord) -> str:
    at = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parts(record: logging.LogRecord) -> dict[str, Any]:
    about = {name: getattr(record, name) for name in ("loop", "setup") if hasattr(record, name)}
    if getattr(record, "shard", None) is not None:
        about["shard"] = getattr(record, "shard", None)
    return about | dict(getattr(record, "figures", {}))


class TextLines(logging.Formatter):
    """`2026-01-31T10:00:00.000Z INFO watchdog atlas: sent: return, jobs 5`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        parts = _parts(record)
        shard = parts.pop("shard", None)
        named = [str(value) for name in ("loop", "setup") if (value := parts.pop(name, None)) is not None]
        about = " ".join([*([f"[{shard}]"] if shard else []), *named])
        text = ", ".join([record.getMessage(), *(f"{name} {value}" for name, value in parts.items())])
        line = visible(f"{_at(record)} {record.levelname} {f'{about}: ' if about else ''}{text}")
        return "\n".join([line, *_trace(record)])


class JsonLines(logging.Formatter):
    """`{"time": ..., "level": "info", "loop": "watchdog", "setup": "atlas", "message": ..., "jobs": 5}`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        head = {"time": _at(record), "level": record.levelname.lower(), "message": record.getMessage()}
        for text in _trace(record):
            head["trace"] = text
        return json.dumps({**_parts(record), **head}, ensure_ascii=False, default=str)


def _trace(record: logging.LogRecord) -> list[str]:
    """The traceback of an error, if there is one. Its words may be those of callers."""
    if not record.exc_info:
        return []
    return [visible("".join(traceback.format_exception(*record.exc_info)).rstrip(), "\n")]
