"""Spaces, and section `links` of the programs' configuration.

The section of a test is LINKS_SECTION of its module: see the fixture links_config in
conftest.py."""
import copy
import hashlib
import uuid

import pytest

SECRET = "0123456789abcdef0123456789abcdef"
# The settings that most sections have beside TTL classes and spaces.
USUAL = {"hold_max": "1h", "quarantine": "5s", "renew_every": "1s", "grant_blocks": 2}


def sequence(name="s7", number=1, length=7, block_size=100, **fields):
    return {"name": name, "number": number, "length": length, "strategy": "sequence",
            "block_size": block_size, **fields}


def hashes(name="h6", number=2, length=6, **fields):
    return {"name": name, "number": number, "length": length, "strategy": "hash",
            **fields}


def snowflakes(name="flakes", number=3, **fields):
    return {"name": name, "number": number, "strategy": "snowflake", **fields}


def aliases(name="names", number=4):
    return {"name": name, "number": number, "strategy": "alias"}


def fields_of(strategy):
    """Returns the fields of a create for the spaces above, of which `md5` is `old8`; an
    alias is new each time."""
    return {"sequence": {"space": "s7"}, "hash": {"space": "h6"},
            "md5": {"space": "old8"}, "snowflake": {"space": "flakes"},
            "alias": {"code": "my-" + uuid.uuid4().hex[:12]}}[strategy]


every_strategy = pytest.mark.parametrize(
    "strategy", ["sequence", "hash", "snowflake", "alias"])


def with_key(workdir, space, secret=None):
    """Returns that space with a key, whose file is made; aliases need none."""
    if space["strategy"] == "alias":
        return space
    if not secret:
        secret = SECRET if space["strategy"] == "sequence" else f"{space['name']}-" * 10
    digest = hashlib.sha256(secret.encode()).hexdigest()[:8]
    path = workdir / f"{space['name']}-{digest}"
    path.write_text(secret)
    return {**space, "keys": [{"version": 0, "key": f"file:{path}"}]}


def with_keys(workdir, section):
    """Returns a copy of section `links` whose spaces have keys."""
    made = copy.deepcopy(section)
    made["spaces"] = [with_key(workdir, space) for space in made["spaces"]]
    return made
