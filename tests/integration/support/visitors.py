"""Visitors who never stop, and record which of their visits were answered."""
import http.client
import itertools
import threading
import time


class Visitors:
    """with Visitors(program, code) as visitors: that many threads visit the link over
    kept connections, each visit with a number of its own in the query. .answered has
    the numbers of visits that were answered with a 302, .begun those of all."""

    def __init__(self, redirector, code, threads=4, pause=0):
        self.address, self.code = redirector.section["listen"], code
        self.pause = pause  # s between two visits of a thread
        self.numbers = itertools.count()
        self.begun, self.answered, self.others = [], [], []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.run, daemon=True)
                        for _ in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def run(self):
        connection = None
        while not self.stopped.is_set():
            try:
                connection = connection or http.client.HTTPConnection(
                    self.address, timeout=30)
                self.visit(connection)
                time.sleep(self.pause)
            except (OSError, http.client.HTTPException):
                # The redirector has ended, or the connection did: that visit was not
                # answered.
                connection.close()
                connection = None
                time.sleep(0.02)

    def visit(self, connection):
        number = next(self.numbers)
        self.begun.append(number)
        connection.request("GET", f"/{self.code}?n={number}")
        answer = connection.getresponse()
        answer.read()
        (self.answered if answer.status == 302 else self.others).append(
            number if answer.status == 302 else answer.status)
