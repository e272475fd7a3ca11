"""More requests to the allocator than its Redis may have in flight."""
import json

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL
from support.spaces import USUAL, hashes

LINKS_SECTION = {**USUAL, "ttl_classes": ["1h"], "spaces": [hashes(number=1)]}


@pytest.fixture
def more_sections():
    return {"redis": {"pending_max": 8}, "allocator": {"threads": 1}}


@pytest.fixture
def api(redis, topic, create_space, start):
    status, output = create_space(name="h6")
    assert status == 0, output
    return start(topic)


def test_what_redis_has_no_room_for_is_told_to_come_again(api):
    lines = "".join(json.dumps({"url": f"{URL}{i}", "ttl": "1h"}) + "\n"
                    for i in range(300))
    answer = api.call("POST", "/v1/links/batch", data=lines.encode(),
                      headers={"Content-Type": "application/x-ndjson"})
    answers = [json.loads(line) for line in answer.text.splitlines()]
    assert len(answers) == 300
    statuses = {a.get("status", 201) for a in answers}
    assert statuses == {201, 503}
    refused = next(a for a in answers if a.get("status") == 503)
    assert "full" not in refused["detail"]
    assert api.post(url=URL, ttl="1h").status_code == 201
