"""The alert rules of redirector and collector use existing metrics and labels;
test_spaces.py and test_reconciliation.py test the other two."""
import subprocess

import pytest
import requests

from support.alerts import RULES, mistakes, promtool, rules_of
from support.collecting import *  # noqa: F403, fixtures too
from support.collecting import wait_for
from support.events import click
from support.program import PATIENCE, eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, domains_config, links, make_links, start, visit)


def metrics_of(program):
    return requests.get(program.admin + "/metrics", timeout=PATIENCE).text


def test_redirector(start, links, base_config):
    base_config["redis"]["replicas"] = ["127.0.0.1:1"]  # replicas have metrics of their own
    redirector = start()
    assert visit(f"{redirector.url}/{links.create()}").status_code == 302
    assert mistakes("redirector", metrics_of(redirector)) == []
    assert len(rules_of("redirector")) >= 8


def test_collector(kafka, topics, tables, collector):
    kafka.produce(topics["topic_clicks"], [click()])
    running = collector()
    wait_for(tables, 1)
    eventually(lambda: mistakes("collector", metrics_of(running)) == [])
    assert len(rules_of("collector")) >= 7


@pytest.mark.skipif(not promtool(), reason="there is no promtool")
def test_prometheus_takes_the_rules_of_all_programs():
    files = sorted(RULES.glob("*.rules.yaml"))
    assert len(files) == 4
    checked = subprocess.run([promtool(), "check", "rules", *files],
                             capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    rules = sum(len(rules_of(path.name.split("-")[1].split(".")[0])) for path in files)
    assert sum(int(line.split()[1]) for line in checked.stdout.splitlines()
               if line.lstrip().startswith("SUCCESS:")) == rules
