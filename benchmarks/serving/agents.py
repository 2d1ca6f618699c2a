"""Agents in an open loop: each asks for a job at its times, whatever the result of the previous call.

`python -m benchmarks.serving.agents` reads a plan (JSON) on its standard input. Its standard output has the line
`connected` when all agents have a connection, and then their findings. An agent keeps one connection. It matches,
reports once, finishes, and waits for its next time; or it exchanges, which ends its job and asks for the next one. If
it is late, it asks at once; the latency of a match counts from its due time.
"""

import asyncio
import gc
import json
import random
import resource
import ssl
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

_FIRST = b"GET /healthz/live HTTP/1.1\r\nHost: service\r\n\r\n"


def unverified() -> ssl.SSLContext:
    """TLS to a service of this machine, without a check of its certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def post(setup: str, token: str, path: str, body: Any) -> bytes:
    """The bytes of a call of a setup."""
    text = json.dumps(body).encode()
    return (
        f"POST /api/v1/setups/{setup}/{path} HTTP/1.1\r\nHost: service\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(text)}\r\n\r\n"
    ).encode() + text


def open_many_files() -> None:
    """Raise the limit of open files, since each agent has a connection."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@dataclass(frozen=True)
class Plan:
    """The port and setup of the service, the agents' number, rate and duration, and their tokens and descriptions."""

    port: int
    setup: str
    agents: int
    rate: float  # matches per second of all agents
    seconds: float
    tokens: list[str]
    descriptions: list[dict[str, Any]]
    exchange: bool  # one request ends a job and asks for the next one


@dataclass
class Seen:
    """Findings of the agents: due times and latencies of matches, answers by call and status, and the jobs."""

    latencies: list[tuple[float, float]] = field(default_factory=list)  # due, in seconds of the measurement; latency
    answers: Counter[str] = field(default_factory=Counter)
    matched: list[tuple[int, str]] = field(default_factory=list)  # jobs and attempts of all matches
    finished: list[int] = field(default_factory=list)  # jobs whose end was acknowledged
    nothing: Counter[str] = field(default_factory=Counter)  # matches without a job, by description (JSON)
    late: int = 0  # calls that were due while the previous call was under way
    cpu: float = 0.0  # CPU seconds of this process during the measurement


class Line(asyncio.Protocol):
    """A keep-alive connection, one request at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end])
        place = head.lower().find(b"content-length:")
        length = int(head[place + 15 :].partition(b"\r\n")[0]) if place > 0 else 0
        if len(self._received) < end + 4 + length:
            return
        body = bytes(self._received[end + 4 : end + 4 + length])
        del self._received[: end + 4 + length]
        if self._answer and not self._answer.done():
            self._answer.set_result((int(head[9:12]), body))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._answer and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("the service closed the connection"))

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._transport is not None

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        if self._transport is None:
            raise ConnectionResetError("the service closed the connection")
        self._answer = self._loop.create_future()
        self._transport.write(request)
        return await self._answer


class Agent:
    """One agent, with its connection, its token and its description."""

    def __init__(self, plan: Plan, number: int, seen: Seen, context: ssl.SSLContext) -> None:
        self._plan = plan
        self._seen = seen
        self._context = context
        self._line: Line | None = None
        self._token = plan.tokens[number % len(plan.tokens)]
        description = plan.descriptions[number % len(plan.descriptions)]
        self._description = json.dumps(description)
        self._match = self._request("match", {"resources": [description]})
        self._asked = {"resources": [description]}
        self._held: list[dict[str, Any]] = []  # the job that the next exchange ends
        self._random = random.Random(number)
        self._begin = 0.0

    def _request(self, path: str, body: Any) -> bytes:
        return post(self._plan.setup, self._token, path, body)

    async def connect(self) -> Line:
        """The connection, opened again if it was lost.

        A request is sent at once: the service closes a connection without a request in its first 20 seconds.
        """
        if self._line is None or not self._line.is_open:
            loop = asyncio.get_running_loop()
            _, self._line = await loop.create_connection(Line, "127.0.0.1", self._plan.port, ssl=self._context)
            await self._line.send(_FIRST)
        return self._line

    async def run(self, begin: float, end: float) -> None:
        """Run cycles from `begin` to `end`, in seconds of the loop's clock."""
        loop = asyncio.get_running_loop()
        self._begin = begin
        period = self._plan.agents / self._plan.rate
        due = begin + self._random.uniform(0, period)
        while due < end:
            wait = due - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            else:
                self._seen.late += 1
            try:
                await self._cycle(due)
            except (OSError, ConnectionError):
                self._seen.answers["connection lost"] += 1
            due += period * self._random.uniform(0.9, 1.1)

    async def _cycle(self, due: float) -> None:
        line = await self.connect()
        if self._plan.exchange:
            status, body = await line.send(self._request("exchange", {"ends": self._held, **self._asked}))
            status = self._exchanged(status, body)
        else:
            status, body = await line.send(self._match)
            self._count("match", status, body)
        if status in (200, 204):
            self._seen.latencies.append((due - self._begin, asyncio.get_running_loop().time() - due))
        if status == 204:
            self._seen.nothing[self._description] += 1
        if status != 200:
            return
        for job in json.loads(body)["matches"]:
            held = {"job_id": job["job_id"], "attempt": job["attempt"]}
            self._seen.matched.append((held["job_id"], held["attempt"]))
            if self._plan.exchange:
                self._held = [held]
                continue
            for call in ("report", "finish"):
                status, answer = await line.send(self._request(f"jobs/{call}", [held]))
                became = json.loads(answer)[0]["action" if call == "report" else "outcome"] if status == 200 else ""
                self._count(call, status, answer, became)
            if became == "finished":
                self._seen.finished.append(held["job_id"])

    def _exchanged(self, status: int, body: bytes) -> int:
        """Note the ends of an exchange; returns the status that a match would have had."""
        if status != 200:
            self._count("exchange", status, body)
            return status
        answer = json.loads(body)
        self._seen.finished += [one["job_id"] for one in answer["ended"] if one["outcome"] == "finished"]
        self._held = []
        status = 200 if answer["matches"] else 204
        self._count("match", status, body)
        return status

    def _count(self, call: str, status: int, answer: bytes, became: str = "") -> None:
        if status >= 400:
            became = json.loads(answer).get("title", "")
        self._seen.answers[f"{call} {status} {became}".strip()] += 1


async def measure(plan: Plan) -> Seen:
    """Connect all agents, then let them ask."""
    seen, context = Seen(), unverified()
    agents = [Agent(plan, number, seen, context) for number in range(plan.agents)]
    for first in range(0, len(agents), 100):
        await asyncio.gather(*(agent.connect() for agent in agents[first : first + 100]))
    gc.freeze()
    print("connected", flush=True)
    before = time.process_time()
    begin = asyncio.get_running_loop().time() + 1
    await asyncio.gather(*(agent.run(begin, begin + plan.seconds) for agent in agents))
    seen.cpu = time.process_time() - before
    return seen


def main() -> None:
    """Run the plan from the standard input."""
    open_many_files()
    plan = Plan(**json.load(sys.stdin))
    json.dump(vars(asyncio.run(measure(plan))), sys.stdout)


if __name__ == "__main__":
    main()
