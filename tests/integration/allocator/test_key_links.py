"""Links of three accounts with owners of the same names, which an admin gives from one to
another: the allocator's answers about each, to each key, as a model in Python has them."""
import os
import random

import pytest

from support.allocator import *  # noqa: F401,F403
from support.key_world import LETTERS, Caller, World
from support.spaces import USUAL, aliases, sequence

LINKS_SECTION = {**USUAL, "ttl_classes": ["1h"], "spaces": [sequence(), aliases()]}
SEEDS = int(os.environ.get("KEY_MODEL_SEEDS", 6))
ROUTES = [("GET", "/v1/links/{}"), ("HEAD", "/v1/links/{}"), ("GET", "/v1/links/{}/qr"),
          ("GET", "/v1/links/{}/why"), ("DELETE", "/v1/links/{}"),
          ("POST", "/v1/links/{}/restore"), ("PATCH", "/v1/links/{}")]
TOLD = ("url", "campaign", "tags", "description", "account", "owner")


class Holdings:
    """Links, made by a key of each account, and given away: {code: (holder, fields)}."""

    def __init__(self, api, seed):
        self.api, self.chance = api, random.Random(seed)
        self.names = World(seed, links=0, clicks=0, late=0)  # accounts, and their strings
        self.links = {}

    def fields(self, holder):
        mark = self.names.mark(holder)
        return {"url": f"https://{mark}.example/{self.chance.randrange(99)}",
                "campaign": self.chance.choice(["common", f"campaign-{mark}"]),
                "tags": self.chance.choice([[], ["common", f"tag-{mark}"]]),
                "description": f"text of {mark}", "owner": holder.owner}

    def make(self):
        holder = self.chance.choice(self.names.holders)
        fields = {k: v for k, v in self.fields(holder).items() if v}
        place = self.chance.choice([
            {}, {"code": "".join(self.chance.choices(LETTERS, k=9)), "space": "names"}])
        answer = self.api.post(f"{holder.account}-maker", ttl="1h", **fields, **place)
        assert answer.status_code == 201, answer.text
        self.links[answer.json()["code"]] = holder, fields

    def give(self, code):
        """Gives the link to another holder, who has it lead elsewhere."""
        before, _ = self.links[code]
        holder = self.chance.choice([h for h in self.names.holders if h != before])
        fields = self.fields(holder)
        answer = self.api.patch(code, account=holder.account, **fields)
        assert answer.status_code == 200, answer.text
        self.links[code] = holder, fields


def key_lines(accounts):
    """Returns {key: (words of its line, the caller's rights)}."""
    keys = {"boss": ("admin", {}), "eye": ("read accounts=*", {})}
    for account in accounts:
        of = {"account": account}
        keys |= {f"{account}-maker": (f"create,read account={account}", of),
                 f"{account}-ann": (f"read account={account} owners=ann", {**of, "owners": ["ann"]}),
                 f"{account}-two": (f"read-own account={account} owners=bob,",
                                    {**of, "owners": ["bob", ""]})}
    return keys


@pytest.fixture
def seed(request):
    return request.param


@pytest.fixture
def first_keys(seed):
    return {key: words for key, (words, _) in key_lines(
        World(seed, links=0, clicks=0, late=0).accounts).items()}


def whole(answer, code):
    """Returns the answer but for its date, and for the code that was asked for."""
    return (answer.status_code, [(k, v) for k, v in answer.headers.items() if k != "Date"],
            answer.content.replace(code.encode(), b"CODE"))


def call(api, key, method, path):
    patch = {"data": '{"description":"x"}'} if method == "PATCH" else {}
    return api.call(method, path, key, headers={
        "Connection": "close", "Content-Type": "application/merge-patch+json"}, **patch)


def assert_hidden(api, holdings, key, code):
    """A link that is another's is answered as one that does not exist."""
    absent = "".join(holdings.chance.choices(LETTERS, k=len(code)))
    for method, path in ROUTES:
        none = whole(call(api, key, method, path.format(absent)), absent)
        assert none[0] in (403, 404)
        assert whole(call(api, key, method, path.format(code)), code) == none, (key, path)


def assert_told(api, holdings, key, code):
    holder, fields = holdings.links[code]
    for path in f"/v1/links/{code}", f"/v1/links/{code}/why":
        answer = api.call("GET", path, key)
        assert answer.status_code == 200, answer.text
        foreign = holdings.names.tokens(answer.text) - {
            holdings.names.mark(holder), holder.account}
        assert not foreign, (key, path, foreign)
    told = api.get(code, key).json()
    expected = {**dict.fromkeys(("campaign", "owner")), **fields, "account": holder.account}
    assert {name: told[name] or None for name in TOLD} == {
        name: expected.get(name) or None for name in TOLD}


@pytest.mark.proof
@pytest.mark.parametrize("seed", [1, *(
    pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 2 + SEEDS))], indirect=True)
def test_each_key_is_told_of_its_links(api, seed):
    holdings = Holdings(api, seed)
    for _ in range(12):
        holdings.make()
    for code in holdings.chance.sample(sorted(holdings.links), 7):
        for _ in range(holdings.chance.choice([1, 2])):
            holdings.give(code)
    seen = 0
    for key, (_, rights) in key_lines(holdings.names.accounts).items():
        caller = Caller(holdings.names, key, **rights)
        for code, (holder, _) in holdings.links.items():
            if caller.holds(holder):
                seen += 1
                assert_told(api, holdings, key, code)
            else:
                assert_hidden(api, holdings, key, code)
    assert seen > 2 * len(holdings.links)
