"""The quotas of an account, and what a full Redis still does."""
import json
import signal
import uuid

import pytest

from support.allocator import *  # noqa: F401,F403
from support.allocator import URL, Api, problem
from support.batch import Batch, batch, good
from support.keys import key_line
from support.program import eventually
from support.redis_proxy import RedisProxy
from support.spaces import USUAL, aliases, hashes, sequence


KEYS = {"boss": "admin", "crm": "create,read", "web": "create",
        "crm-2": "create account=crm"}

LINKS_SECTION = {**USUAL, "ttl_classes": ["1h", "30d", "never"],
                 "spaces": [sequence(), hashes(), aliases(number=5)]}


@pytest.fixture
def make_api(redis, topic, links_config, create_space, start, keys_file):
    def make(*accounts, **settings):
        keys_file.path.write_text(
            "".join(key_line(*item) for item in KEYS.items())
            + "".join(text + "\n" for text in accounts))
        for each in links_config["spaces"]:
            assert create_space(name=each["name"])[0] == 0
        return start(topic, **settings)
    return make


def post(api, key, idem=None, **fields):
    return api.call("POST", "/v1/links", key,
                    json={"url": URL, "ttl": "1h", **fields},
                    headers={"Idempotency-Key": idem} if idem else {})


# --- links --------------------------------------------------------------------

@pytest.mark.proof
def test_an_account_makes_so_many_links_with_all_its_keys(make_api):
    api = make_api("@crm links=3/day")
    assert [post(api, key).status_code for key in
            ("crm", "crm-2", "crm")] == [201] * 3
    answer = post(api, "crm-2")
    assert "'crm' may store 3 links a day" in problem(answer, 429)
    assert answer.json()["type"] == "/problems/quota"
    assert 1 <= int(answer.headers["Retry-After"]) <= 86400
    assert post(api, "web").status_code == 201
    assert post(api, "boss").status_code == 201
    api.program.wait_metric(1, "shortloop_allocator_quota_refused_total",
                            account="crm", quota="links")
    api.program.wait_metric(3, "shortloop_allocator_quota_used",
                            account="crm", quota="links")


def test_accounts_without_a_line_share_no_count(make_api):
    api = make_api("@* links=1/month", "@web links=2/month")
    assert [post(api, "crm").status_code for _ in range(2)] == [201, 429]
    assert [post(api, "web").status_code for _ in range(3)] == [201, 201, 429]


def test_allocators_count_together_and_not_once_too_many(make_api, topic,
                                                         start):
    one = make_api("@crm links=50/month")
    two = start(topic, node=1)
    answers = batch(one, [good(i) for i in range(40)], key="crm") \
        + batch(two, [good(i) for i in range(40)], key="crm-2")
    statuses = [a.get("status", 201) for a in answers]
    assert statuses.count(201) == 50 and statuses.count(429) == 30


def test_what_makes_no_link_costs_none(make_api):
    api = make_api("@crm links=3/month")
    assert post(api, "crm", space="h6").status_code == 201
    assert post(api, "crm", code="an-alias").status_code == 201
    for _ in range(5):
        assert post(api, "crm", code="an-alias").status_code == 409
        assert post(api, "crm", code="a b").status_code == 400
        assert post(api, "crm", space="h6").status_code == 200
    key = uuid.uuid4().hex
    link = post(api, "crm", key)
    assert link.status_code == 201
    # The quota is used up, but existing links are still found and answered again.
    assert post(api, "crm").status_code == 429
    assert post(api, "crm", space="h6").status_code == 200
    assert post(api, "crm", key).json()["link_id"] == link.json()["link_id"]


def test_a_reload_changes_what_an_account_may(make_api, keys_file):
    api = make_api("@crm links=1/month")
    assert [post(api, "crm").status_code for _ in range(2)] == [201, 429]
    keys_file.path.write_text(keys_file.path.read_text().replace(
        "links=1/", "links=2/"))
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: post(api, "crm").status_code == 201)
    assert post(api, "crm").status_code == 429


# --- bytes and classes --------------------------------------------------------

def test_an_account_stores_so_many_bytes(make_api):
    api = make_api("@crm bytes=2000/month")
    long = post(api, "crm", url=URL + "x" * 3000)
    assert "2000 bytes a month" in problem(long, 429)
    made = post(api, "crm", url=URL + "x" * 1000).json()["code"]
    problem(post(api, "crm", url=URL + "x" * 1000), 429)
    assert post(api, "crm").status_code == 201
    # An edit cannot exceed the quota either.
    problem(api.patch(made, "crm", url=URL + "x" * 4000), 429)
    assert api.patch(made, "crm", url=URL).status_code == 200
    assert api.patch(made, "boss", url=URL + "x" * 4000).status_code == 200


@pytest.mark.parametrize("why", ["no answer", "another type"])
def test_an_edit_that_could_not_be_charged_says_nothing_of_redis(
        make_api, redis, redis_server, base_config, why):
    with RedisProxy(redis_server.port) as proxy:
        base_config["redis"].update(address=proxy.address,
                                    command_timeout="1s")
        api = make_api("@crm bytes=1MiB/month")
        made = post(api, "crm").json()["code"]
        if why == "no answer":
            proxy.hold_answer(b"quota:{crm}")
        else:
            key = next(iter(redis.scan_iter("quota:{crm}:*")))
            redis.delete(key)
            redis.set(key, "x")
        detail = problem(api.patch(made, "crm", description="long"), 503)
    assert "redis " not in detail and "script" not in detail
    eventually(lambda: '"a request failed"' in api.program.log())


def test_an_edit_is_not_refused_for_a_number_of_links(make_api, keys_file):
    api = make_api("@crm bytes=1MiB/month links=9/month")
    code = [post(api, "crm").json()["code"] for _ in range(3)][0]
    keys_file.path.write_text(keys_file.path.read_text().replace(
        "links=9/", "links=2/"))
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: post(api, "crm", url=URL + "&b").status_code == 429)
    answer = api.patch(code, "crm", description="a longer one")
    assert answer.status_code == 200, answer.text


def test_an_account_uses_its_classes(make_api):
    api = make_api("@crm ttl=1h,30d")
    assert "'crm' may use 1h,30d" in problem(post(api, "crm", ttl="never"), 403)
    made = post(api, "crm", ttl="30d").json()["code"]
    assert "ttl" in problem(api.patch(made, "crm", ttl="never"), 403)
    assert api.patch(made, "crm", ttl="1h").status_code == 200
    lines = [json.dumps({"url": URL, "ttl": ttl}).encode() + b"\n"
             for ttl in ("1h", "never", "30d")]
    assert [a.get("status") for a in batch(api, lines, key="crm")] == [
        None, 403, None]
    assert post(api, "web", ttl="never").status_code == 201


@pytest.mark.parametrize("text, says", [
    ("@crm links=3", ":5: links=: expected a number and /day or /month"),
    ("@crm links=0/day", ":5: links=: must be from"),
    ("@crm bytes=x/day", ":5: bytes=: expected a size"),
    ("@crm ttl=1h,2y", ":5: ttl=: '2y'"),
    ("@crm ttl=1h ttl=1h", ":5: ttl= is given twice"),
    ("@crm hue=3", ":5: expected nothing, links="),
    ("@ links=3/day", ":5: expected @*"),
    ("@crm\n@crm", ":6: the account 'crm' has a line already"),
])
def test_a_line_that_makes_no_sense_is_told(start, keys_file, text, says):
    keys_file.path.write_text("".join(key_line(*item) for item in KEYS.items())
                              + text + "\n")
    api = start(ready=False)
    assert api.program.process.wait(60) == 78
    assert says in api.program.log()


# --- rates --------------------------------------------------------------------

def test_a_key_has_a_rate_unless_its_line_says_otherwise(make_api, keys_file):
    api = make_api(key_rate="2/h", key_burst=3)
    assert [post(api, "web").status_code for _ in range(4)] == \
        [201, 201, 201, 429]
    assert {post(api, "boss").status_code for _ in range(6)} == {201}
    keys_file.path.write_text(keys_file.path.read_text()
                              + key_line("fast", "create rate=none"))
    api.program.process.signal(signal.SIGHUP)
    eventually(lambda: post(api, "fast").status_code == 201)
    assert {post(api, "fast").status_code for _ in range(6)} == {201}


def test_as_delivered_a_key_has_a_rate(make_api):
    """Each line takes one token, whatever it contains; lines of a batch wait for their
    tokens."""
    api = make_api()
    with Batch(api, [b"\n"] * 5000, key="web"):
        policy = eventually(lambda: post(api, "web").headers.get(
            "RateLimit-Policy"))
    assert policy == '"key";q=1000;w=10'


def test_a_rate_that_is_none_is_told(start):
    api = start(ready=False, key_rate="fast")
    assert api.program.process.wait(60) == 78
    assert "allocator.key_rate: 'fast'" in api.program.log()


# --- the reserve --------------------------------------------------------------

def test_edits_go_on_when_new_links_are_refused(own_redis, program, sections,
                                                kafka):
    sections = {**sections, "redis": {
        "address": f"127.0.0.1:{own_redis.port}"},
        "kafka": {"topic_links": kafka.create_topic("links", 1)}}
    for name in ("s7", "h6", "names"):
        assert program("allocator", sections, start=False, args=[
            "create-space", "--space", name, "--no-archive"]).run()[0] == 0
    api = Api(program("allocator", sections))
    code, hashed, gone = (post(api, "boss", space=name, url=url).json()["code"]
                          for name, url in (("s7", URL + "-bad"), ("h6", URL),
                                            ("s7", URL)))
    client = own_redis.client()
    client.setrange("filler", 200 << 20, "x")
    used = int(client.info("memory")["used_memory"])
    client.config_set("maxmemory", used * 100 // 97)
    eventually(lambda: post(api, "boss").status_code == 507)
    assert "nearly full" in problem(post(api, "boss"), 507)
    api.program.wait_metric(1, "shortloop_allocator_redis_reserve_reached")
    assert api.patch(code, "boss", state="blocked").status_code == 200
    assert api.patch(code, "boss", url=URL + "x" * 500).status_code == 200
    assert api.call("DELETE", f"/v1/links/{gone}").status_code == 204
    found = post(api, "boss", space="h6")
    assert (found.status_code, found.json()["code"]) == (200, hashed)
    assert api.program.ready()[0] == 200
    client.config_set("maxmemory", used * 4)
    eventually(lambda: post(api, "boss").status_code == 201)
