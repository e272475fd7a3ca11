"""API keys that are added and removed while they are in use."""
import signal

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import KEYS
from support.batch import Batch, good
from support.program import eventually


@pytest.fixture
def change_keys(api, keys_file):
    """Makes the allocator read other keys, and waits until it has."""
    def make(keys):
        keys_file.write({**keys, "new": "read accounts=*"})
        api.program.process.signal(signal.SIGHUP)
        eventually(lambda: api.get("0000000", key="new").status_code == 404)
    return make


@pytest.mark.parametrize("left", [
    {"boss": "admin"}, {**KEYS, "crm": "read accounts=*"}])
def test_a_batch_does_not_outlive_what_its_key_may(api, change_keys, left):
    with Batch(api, [good(1)], keep_open=True, key="crm") as b:
        assert "code" in b.read(1)[0]
        change_keys(left)
        b.send(good(2) + good(3))
        b.end()
        assert [(a["line"], a["status"]) for a in b.read()] == \
            [(2, 403), (3, 403)]


def test_a_batch_goes_on_when_other_keys_change(api, change_keys):
    with Batch(api, [good(1)], keep_open=True, key="crm") as b:
        b.read(1)
        change_keys({**KEYS, "web": "create"})
        b.send(good(2))
        b.end()
        assert "code" in b.read()[0]
