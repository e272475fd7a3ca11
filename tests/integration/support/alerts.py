"""The alert rules, compared with the metrics of a running program."""
import re
import shutil

import yaml

import servers
from support.program import series_of

RULES = servers.ROOT / "config/prometheus"
# Labels that Prometheus adds.
ADDED = {"instance", "job"}


def promtool():
    """Debian's prometheus has it; `tools/deps.sh lint` fetches it alone.  Returns None
    if it is missing."""
    return shutil.which("promtool") or shutil.which(
        servers.ROOT / ".deps/promtool/promtool")


def rules_of(name):
    groups = yaml.safe_load(
        (RULES / f"shortloop-{name}.rules.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def labels_in(expression, word):
    """Returns the labels in lists such as `by (space, reason)`."""
    return {label for labels in re.findall(rf"\b{word} \(([^)]*)\)", expression)
            for label in re.split(r",\s*", labels)}


def mistakes(name, text):
    """Returns what a program's rules use of its metrics but `text` does not have."""
    found = []
    for rule in rules_of(name):
        asked = re.findall(r"(shortloop_\w+)(?:\{([^}]*)\})?", rule["expr"])
        assert asked, rule["alert"]
        known = set(ADDED)
        for metric, wanted in asked:
            wanted = dict(re.findall(r'(\w+)="([^"]*)"', wanted))
            series = [labels for labels, _ in series_of(text, metric)
                      if wanted.keys() <= labels.keys()]
            known.update(*series)
            values = {key: {labels[key] for labels in series} for key in wanted}
            if not series or any(wanted[key] not in values[key] for key in wanted):
                found.append(f"{rule['alert']}: {metric} {wanted}")
        if missing := labels_in(rule["expr"], "by") - known:
            found.append(f"{rule['alert']}: labels {sorted(missing)}")
    return found
