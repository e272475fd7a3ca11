"""Actions that are repeated during a test."""
import threading


class Repeating:
    """with Repeating(0.1): calls its step() at that interval in seconds, on a thread of
    its own, until the block ends or a step sets ended as the last one: ended.set()."""

    def __init__(self, every):
        self.every = every
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.ended.wait(self.every):
            self.step()

    def step(self):
        raise NotImplementedError

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
