"""Quarantine is compared with the longest time for which a code's former owner is
cached."""
import pytest

from support.reclaim import *  # noqa: F403, fixtures too


@pytest.fixture
def check(links_config, begin):
    """check({"redirector": {...}}) starts a reclaimer with that file, quarantine 2 s,
    and all else shorter."""
    def run(changed, *args, quarantine="2s"):
        links_config["quarantine"] = quarantine
        sections = {name: {**BRIEF[name], **changed.get(name, {})}
                    for name in BRIEF}
        return Done(begin(*args, sections=sections))
    return run


@pytest.mark.parametrize("args", [["--check"], ["run"], ["run", "--dry-run"],
                                  ["status"]])
@pytest.mark.parametrize("section, key", [
    ("redirector", "cache_ttl"), ("redirector", "cache_negative_ttl"),
    ("redirector", "cache_stale"), ("redirector", "permanent_max_age"),
    ("collector", "max_lag")])
def test_a_quarantine_that_is_not_longer_is_refused(space, check, section,
                                                    key, args):
    space.ended(0, 9)
    done = check({section: {key: "2s"}}, *args)
    assert done.status == 78, done
    assert f"links.quarantine (2s) must be longer than {section}.{key} (2s)" \
        in done.err
    assert space.ranges("pool") == {}


def test_a_quarantine_that_is_longer_is_accepted(space, check):
    space.ended(0, 9)
    done = check({}, "run")
    assert done.status == 0, done
    assert space.blocks("pool") == list(range(10))


def test_sections_that_are_not_there_have_their_programs_defaults(
        space, check, begin, links_config):
    links_config["quarantine"] = "1h"
    done = Done(begin("--check", sections={"redirector": {},
                                           "collector": {}}))
    assert done.status == 78, done
    assert "redirector.cache_stale (1h)" in done.err
    links_config["quarantine"] = "7d"
    assert Done(begin("--check", sections={"redirector": {},
                                           "collector": {}})).status == 0


def test_other_settings_of_those_sections_are_their_programs_to_check(check):
    done = check({"redirector": {"listen": "here", "whatever": 1}}, "--check")
    assert done.status == 0, done


def test_a_bound_that_cannot_be_read_is_refused(check):
    done = check({"collector": {"max_lag": "soon"}}, "--check")
    assert done.status == 78, done
    assert "collector.max_lag" in done.err and "soon" in done.err
