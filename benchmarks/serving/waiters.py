"""Agents that wait for jobs by long polls.

`python -m benchmarks.serving.waiters` reads a plan (a line of JSON) on its standard input, writes `parked` when all
agents wait, and a line of JSON for each job that is handed over: its id and its time. It ends with its input.
"""

import asyncio
import json
import ssl
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.serving.agents import Line, open_many_files, post, unverified

_AT_ONCE = 100  # connections made at the same time


@dataclass(frozen=True)
class Waiters:
    """The port of the service, and each agent's token and description, and the seconds of a request."""

    port: int
    setup: str
    tokens: list[str]
    descriptions: list[dict[str, Any]]
    wait: float


async def _wait(plan: Waiters, number: int, context: ssl.SSLContext) -> None:
    """One agent, which asks again after each answer."""
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(Line, "127.0.0.1", plan.port, ssl=context)
    description = plan.descriptions[number % len(plan.descriptions)]
    body = {"resources": [description], "wait": plan.wait}
    request = post(plan.setup, plan.tokens[number], "match", body)
    while True:
        status, answer = await line.send(request)
        now = time.time()
        if status == 200:
            for match in json.loads(answer)["matches"]:
                print(json.dumps({"job": match["job_id"], "at": now}), flush=True)
        elif status != 204:
            print(json.dumps({"refused": status}), flush=True)
            return


async def run(plan: Waiters) -> None:
    """Let all agents wait until the standard input ends."""
    context = unverified()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)), daemon=True).start()
    agents: list[asyncio.Task[None]] = []
    for first in range(0, len(plan.tokens), _AT_ONCE):
        agents += [
            asyncio.create_task(_wait(plan, number, context))
            for number in range(first, min(first + _AT_ONCE, len(plan.tokens)))
        ]
        await asyncio.sleep(0.3)
    print("parked", flush=True)
    await ended.wait()
    for agent in agents:
        agent.cancel()
    await asyncio.gather(*agents, return_exceptions=True)


if __name__ == "__main__":
    open_many_files()
    asyncio.run(run(Waiters(**json.loads(sys.stdin.readline()))))
