"""The types of problems: the table of the code, and that of docs/problems.md."""
import re

import servers


def test_the_manual_lists_each_type_with_its_status():
    code = (servers.ROOT / "common/http/problem_type.c").read_text()
    header = (servers.ROOT / "common/http/problem_type.h").read_text()
    table = (servers.ROOT / "docs/problems.md").read_text()
    types = {(kind, int(status)) for status, kind in re.findall(
        r'\{(\d+), "(/problems/[a-z-]+)"\}', code)}
    types |= {(kind, 401 if "password" in kind else 429) for kind in re.findall(
        r'^#define PROBLEM_\w+ +"([^"]+)"', header, re.MULTILINE)}
    assert len(types) > 20
    assert types == {(kind, int(status)) for kind, status in re.findall(
        r"^\| `([^`]+)` \| (\d+) \|", table, re.MULTILINE)}
