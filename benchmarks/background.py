"""Work during a run, in a separate thread."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def every(seconds: float, work: Callable[[], object]) -> Iterator[None]:
    """Repeat `work` every `seconds` until the block ends; the block raises an error of `work`.

    If a round takes longer, the next one follows at once.
    """
    gone = threading.Event()
    failed: list[BaseException] = []

    def rounds() -> None:
        due = time.monotonic()
        try:
            while not gone.wait(max(0.0, due - time.monotonic())):
                work()
                due = max(due + seconds, time.monotonic())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=rounds, daemon=True)
    thread.start()
    try:
        yield
    finally:
        gone.set()
        thread.join()
    if failed:
        raise failed[0]
