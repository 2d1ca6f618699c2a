"""Clients in Python, one process each: they make calls of Python as pgbench runs scripts."""

import multiprocessing
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection

from benchmarks import pgbench
from broker.errors import BrokerError
from broker.laboratory.pilots import Resource

_READY_SECONDS = 120  # for the imports and connections of all clients

Ask = Callable[[Sequence[Resource]], object]
"""One call, for one resource or several; it raises BrokerError if it fails."""


@dataclass(frozen=True)
class Client:
    """The work of each client: `connect` (a module's function, so that processes can import it, or a partial of one)
    gives the call, which is repeated, each time for `batch` requests drawn at random."""

    connect: Callable[[], AbstractContextManager[Ask]]
    requests: Sequence[Resource]
    calls: int
    seed: int
    batch: int = 1


@dataclass(frozen=True)
class _Done:
    """A message of a client: the end of each call and its latency, in us, CPU seconds of all, or an error."""

    calls: list[tuple[int, int]] = field(default_factory=list)
    cpu: float = 0.0
    error: str | None = None


def run(client: Client, count: int) -> pgbench.Run:
    """Run a number of clients at the same time, to their end. Raises BrokerError with the message of a failed one."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(count)
    pipes: list[Connection] = []
    processes = []
    try:
        for number in range(count):
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_process, args=(client, number, ready, sender), daemon=True)
            process.start()
            sender.close()  # only the child keeps its end, so that its death closes the pipe
            pipes.append(receiver)
            processes.append(process)
        done = [_received(pipe) for pipe in pipes]
    finally:
        for process in processes:
            process.terminate()
            process.join()
    errors = [one.error for one in done if one.error]
    if errors or not all(one.calls for one in done):
        raise BrokerError(errors[0] if errors else "a client ended before its calls did")
    run = pgbench.summed(((n, at, latency) for n, one in enumerate(done) for at, latency in one.calls), count)
    return replace(run, cpu=sum(one.cpu for one in done))


def _received(pipe: Connection) -> _Done:
    try:
        done = pipe.recv()
    except EOFError:  # the process was killed, or failed before it could report
        return _Done()
    assert isinstance(done, _Done)
    return done


def _process(client: Client, number: int, ready: threading.Barrier, sender: Connection) -> None:
    """Run one client. It exits at once, since the clean-up of libraries is not part of a run (DIRAC deletes emptied
    queues)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    try:
        with client.connect() as ask:
            ready.wait(_READY_SECONDS)
            before = time.process_time()
            calls = _calls(client, number, ask)
            sender.send(_Done(calls, time.process_time() - before))
    except BrokerError as error:
        ready.abort()
        sender.send(_Done(error=error.message))
    except threading.BrokenBarrierError:  # another client failed and reports the reason
        pass
    sender.close()
    os._exit(0)


def _calls(client: Client, number: int, ask: Ask) -> list[tuple[int, int]]:
    rng = random.Random(f"{client.seed} {number}")
    done = []
    for _ in range(client.calls):
        resources = rng.choices(client.requests, k=client.batch)
        begin = time.monotonic_ns()
        ask(resources)
        end = time.monotonic_ns()
        done.append((end // 1000, (end - begin) // 1000))
    return done
