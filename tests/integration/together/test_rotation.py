"""docs/rotation.md, step by step: the key of a space is replaced while links are made
and visited; and what happens with steps in the wrong order."""
import re
import time

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import Api, problem
from support.program import eventually
from support.redirects import visit
from support.spaces import sequence

SYMBOLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SECRETS = ["the first secret of the space", "the secret that replaces it",
           "a third secret, under an old number"]
HOLD, TTL, QUARANTINE = 1, 20, 1  # seconds


def version_of(code):
    """Returns the version, which the check character shows."""
    return SYMBOLS.index(code[-1]) // 15


class Fleet:
    """Allocators and redirectors of one space, as an operator runs them."""

    def __init__(self, program, links_config, keys_file, topic, workdir):
        self.program = program
        self.links = links_config
        self.keys_file = keys_file
        self.topic = topic
        self.workdir = workdir

    def sections(self, keys):
        """`keys`: (version, secret) pairs; the first makes new codes."""
        made = []
        for version, secret in keys:
            path = self.workdir / f"s7-{version}-{secret}.key"
            path.write_text(SECRETS[secret])
            made.append({"version": version, "key": f"file:{path}"})
        links = dict(self.links)
        links["spaces"] = [{**links["spaces"][0], "keys": made}]
        return {"links": links, "kafka": {"topic_links": self.topic},
                "allocator": {"keys_file": str(self.keys_file.path),
                              "space_check_every": "100ms"},
                "redirector": {"threads": 1, "space_check_every": "100ms"}}

    def run(self, name, *args, keys):
        """Returns (exit status, output) of a command of the allocator."""
        command = self.program("allocator", self.sections(keys), start=False,
                               args=[name, "--space", "s7", *args])
        status, said = command.run()
        return status, said.strip()

    def create_space(self, keys):
        return self.run("create-space", "--no-archive", keys=keys)

    def retire(self, version, keys):
        return self.run("retire-key", "--key-version", str(version), keys=keys)

    def allocator(self, keys, **kw):
        return Api(self.program("allocator", self.sections(keys), **kw))

    def redirector(self, keys, **kw):
        return self.program("redirector", self.sections(keys), **kw)


OLD, NEW, THIRD = (0, 0), (1, 1), (0, 2)
LINKS_SECTION = {"ttl_classes": [f"{TTL}s", "1h", "never"], "hold_max": f"{HOLD}s",
                 "quarantine": f"{QUARANTINE}s", "renew_every": "1s", "grant_blocks": 1,
                 "spaces": [sequence()]}


@pytest.fixture
def fleet(redis, program, links_config, keys_file, topic, workdir):
    return Fleet(program, links_config, keys_file, topic, workdir)


def leads(redirector, code):
    return visit(f"{redirector.url}/{code}").status_code


def retried(fleet, version, keys, seconds=60):
    """Returns the last answer of retire-key, and the refusals before it."""
    refusals, deadline = [], time.monotonic() + seconds
    while True:
        status, said = fleet.retire(version, keys)
        if status == 0 or time.monotonic() > deadline:
            return status, said, refusals
        refusals.append((status, said))
        time.sleep(0.2)


@pytest.mark.long
def test_the_page_step_by_step(fleet, redis):
    # A space is in use with one key.
    assert fleet.create_space([OLD])[0] == 0
    allocator = fleet.allocator([OLD])
    redirector = fleet.redirector([OLD])
    old = allocator.create(f"{TTL}s")["code"]
    assert version_of(old) == 0

    # 1. Every program gets the new key for reading; nothing else changes.
    redirector.stop()
    allocator.program.stop()
    redirector = fleet.redirector([OLD, NEW])
    allocator = fleet.allocator([OLD, NEW])
    assert leads(redirector, old) == 302
    assert version_of(allocator.create(f"{TTL}s")["code"]) == 0

    # 2. It is added to the space, and no program lacks it.
    assert fleet.create_space([OLD, NEW]) == (
        0, "added new key versions to space s7: codes of 7 characters, "
           "blocks of 100")
    for program in redirector, allocator.program:
        assert program.metric("shortloop_space_keys_missing", space="s7") == 0

    # 3. It makes new codes; codes of the old key still work.  The old key cannot be
    # retired while an allocator makes codes with it.
    renewed = allocator.create(f"{TTL}s")["code"]
    status, said = fleet.retire(0, [NEW, OLD])
    assert status == 75 and "codes may be made with it" in said
    allocator.program.stop()
    allocator = fleet.allocator([NEW, OLD])
    new = allocator.create()["code"]
    assert version_of(new) == 1 and version_of(renewed) == 0
    assert leads(redirector, new) == leads(redirector, renewed) == 302
    assert allocator.get(renewed).status_code == 200

    # 4. It is retired: not while a link of it lives or is in quarantine, but after
    # that.
    status, said, refusals = retried(fleet, 0, [NEW, OLD])
    assert status == 0, said
    assert all(status == 75 for status, _ in refusals)
    assert "It can be retired from 20" in refusals[-1][1]
    assert re.search(r"retired key version 0 of space s7: none of \d+ blocks "
                     "holds a code of it", said)
    assert all(status == 75 for status, _ in refusals)

    # 5. It is removed from the configuration.
    redirector.stop()
    allocator.program.stop()
    redirector = fleet.redirector([NEW])
    allocator = fleet.allocator([NEW])
    assert leads(redirector, new) == 302
    assert leads(redirector, renewed) == 404
    assert version_of(allocator.create()["code"]) == 1

    # The steps are repeated under the number that has become free.
    assert fleet.create_space([NEW, THIRD])[0] == 0
    again = fleet.allocator([THIRD, NEW])
    redirector.stop()
    redirector = fleet.redirector([NEW, THIRD])
    newest = again.create()["code"]
    assert version_of(newest) == 0
    assert leads(redirector, newest) == leads(redirector, new) == 302
    assert leads(redirector, old) in (404, 410)


# --- steps in the wrong order ------------------------------------------------------

@pytest.mark.proof
def test_a_key_that_was_not_added_makes_no_codes(fleet):
    assert fleet.create_space([OLD])[0] == 0
    allocator = fleet.allocator([NEW, OLD], ready=False)
    eventually(lambda: "key version 1" in allocator.program.ready()[1])
    answer = allocator.post(url="https://example.org/", ttl="1h")
    assert "create-space --space s7" in problem(answer, 503)
    assert fleet.create_space([NEW, OLD])[0] == 0
    allocator.program.wait_ready()
    assert version_of(allocator.create()["code"]) == 1


@pytest.mark.proof
def test_a_program_without_a_key_answers_503_not_404(fleet):
    assert fleet.create_space([OLD])[0] == 0
    redirector, late = fleet.redirector([OLD]), fleet.allocator([OLD])
    old = late.create()["code"]
    assert fleet.create_space([NEW, OLD])[0] == 0
    for program in redirector, late.program:
        eventually(lambda: program.metric("shortloop_space_keys_missing",
                                          space="s7") == 1)
    assert redirector.ready()[0] == 200  # no code has been made with it yet

    new = fleet.allocator([NEW, OLD]).create()["code"]
    answer = visit(f"{redirector.url}/{new}")
    assert answer.status_code == 503 and answer.headers["Retry-After"]
    assert leads(redirector, old) == 302
    eventually(lambda: redirector.ready()[0] == 503)
    assert "key version 1, which is not configured" in redirector.ready()[1]
    eventually(lambda: late.program.ready()[0] == 503)
    assert "of a key version that is not" in problem(late.get(new), 503)
    assert version_of(late.create()["code"]) == 0


def test_another_key_under_a_number_in_use_exits_78(fleet):
    assert fleet.create_space([OLD])[0] == 0
    status, said = fleet.create_space([THIRD])
    assert status == 78 and "key:0" in said
    redirector = fleet.redirector([THIRD], ready=False)
    assert redirector.process.wait(60) == 78
    assert "fingerprint" in redirector.log()


def test_the_key_of_new_codes_is_not_retired(fleet):
    assert fleet.create_space([OLD])[0] == 0
    status, said = fleet.retire(0, [OLD])
    assert status == 78 and "put another key first" in said


def test_a_key_is_retired_before_it_is_removed(fleet):
    assert fleet.create_space([NEW, OLD])[0] == 0
    status, said = fleet.retire(0, [NEW])
    assert status == 78 and "is not configured here" in said


def test_a_key_added_by_mistake_is_taken_back(fleet):
    assert fleet.create_space([OLD])[0] == 0
    assert fleet.create_space([OLD, NEW])[0] == 0
    assert fleet.retire(1, [OLD, NEW]) == (
        0, "retired key version 1 of space s7: none of 0 blocks holds a code "
           "of it")
    assert fleet.retire(1, [OLD, NEW])[0] == 66


def test_an_allocator_that_goes_on_with_a_retired_key_is_told(fleet):
    assert fleet.create_space([OLD, NEW])[0] == 0
    assert fleet.retire(1, [OLD, NEW])[0] == 0
    allocator = fleet.allocator([NEW, OLD], ready=False)
    eventually(lambda: "not in use" in allocator.program.ready()[1])
    problem(allocator.post(url="https://example.org/", ttl="1h"), 503)


def test_links_that_never_expire_keep_their_key(fleet):
    assert fleet.create_space([OLD, NEW])[0] == 0
    fleet.allocator([OLD, NEW]).create("never")
    time.sleep(HOLD * 9 / 8 + 0.1)
    status, said = fleet.retire(0, [NEW, OLD])
    assert status == 70 and "1 blocks hold links of it that never" in said


@pytest.mark.parametrize("args", [
    [], ["--key-version", "x"], ["--key-version", "4"]])
def test_a_wrong_version_is_a_wrong_command_line(fleet, args):
    assert fleet.create_space([OLD])[0] == 0
    assert fleet.run("retire-key", *args, keys=[OLD])[0] == 64


# --- properties that are not keys of a sequence -------------------------------------

def test_look_alikes_are_fixed_for_a_space(fleet):
    assert fleet.create_space([OLD])[0] == 0
    fleet.links["spaces"][0]["look_alikes"] = "exclude"
    status, said = fleet.create_space([OLD])
    assert status == 78 and "symbols = 62" in said


@pytest.mark.parametrize("strategy, why", [
    ("hash", "do not show which key"), ("snowflake", "in no blocks")])
def test_keys_without_blocks_are_not_retired(fleet, strategy, why):
    fleet.links["spaces"][0] = {"name": "s7", "number": 1, "strategy": strategy,
                                **({"length": 7} if strategy == "hash" else {})}
    keys = [OLD] if strategy == "hash" else [NEW, OLD]
    assert fleet.create_space(keys)[0] == 0
    status, said = fleet.retire(0, keys)
    assert status == 65 and why in said


def test_a_snowflake_space_goes_on_with_a_new_key(fleet):
    fleet.links["spaces"][0] = {"name": "s7", "number": 1,
                                "strategy": "snowflake"}
    assert fleet.create_space([OLD])[0] == 0
    first = fleet.allocator([OLD])
    old = first.create()["code"]
    first.program.stop()
    assert fleet.create_space([OLD, NEW])[0] == 0
    new = fleet.allocator([NEW, OLD]).create()["code"]
    redirector = fleet.redirector([NEW, OLD])
    assert leads(redirector, old) == leads(redirector, new) == 302
