#!/usr/bin/env python3
"""Writes the rules of ua-parser-builtins out as uap-core's regexes.yaml.

usage: uap_regexes.py OUTPUT

The Python package carries the rules of uap-core as calls in matchers.py, in
order.  They are read as syntax, not run, and the file written is read back and
compared, so that what the collector loads is what the package says.
"""
import ast
import importlib.util
import os
import sys

import yaml

# For each kind of rule: its section in the YAML file, and the names of the
# call's arguments in order.
KINDS = {
    "UserAgentMatcher": ("user_agent_parsers", [
        "regex", "family_replacement", "v1_replacement", "v2_replacement",
        "v3_replacement", "v4_replacement"]),
    "OSMatcher": ("os_parsers", [
        "regex", "os_replacement", "os_v1_replacement", "os_v2_replacement",
        "os_v3_replacement", "os_v4_replacement"]),
    "DeviceMatcher": ("device_parsers", [
        "regex", "regex_flag", "device_replacement", "brand_replacement",
        "model_replacement"]),
}


def matchers_path():
    spec = importlib.util.find_spec("ua_parser_builtins")
    if spec is None:
        sys.exit("uap_regexes: ua-parser-builtins is not installed")
    return os.path.join(os.path.dirname(spec.origin), "matchers.py")


def read_rules(path):
    """Returns {section: [{field: value}]} in the order of the source."""
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read(), path)
    rules = {section: [] for section, _ in KINDS.values()}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        section, fields = KINDS[call.func.id]
        values = [ast.literal_eval(argument) for argument in call.args]
        if call.keywords or len(values) > len(fields):
            raise ValueError(f"{path}:{call.lineno}: a rule of unknown form")
        rules[section].append(
            (call.lineno, {field: value for field, value
                           in zip(fields, values) if value is not None}))
    return {section: [rule for _, rule in sorted(found, key=lambda f: f[0])]
            for section, found in rules.items()}


def quote(text):
    """Returns a single-quoted YAML scalar, whose only escape is ''."""
    if not text.isprintable():
        raise ValueError(f"cannot be single-quoted: {text!r}")
    return "'" + text.replace("'", "''") + "'"


def write_rules(rules, path):
    with open(path, "w", encoding="utf-8") as out:
        for section, items in rules.items():
            out.write(f"{section}:\n")
            for rule in items:
                lead = "  - "
                for field, value in rule.items():
                    out.write(f"{lead}{field}: {quote(value)}\n")
                    lead = "    "


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[2])
    output = sys.argv[1]
    rules = read_rules(matchers_path())
    for section, items in rules.items():
        if not items:
            sys.exit(f"uap_regexes: no rules for {section}")
    part = output + ".part"
    write_rules(rules, part)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with open(part, encoding="utf-8") as written:
        if yaml.load(written, loader) != rules:
            sys.exit(f"uap_regexes: {part} does not read back as written")
    os.replace(part, output)
    print(", ".join(f"{len(items)} {section}"
                    for section, items in rules.items()))


if __name__ == "__main__":
    main()
