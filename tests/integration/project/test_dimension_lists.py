"""tools/list-dimensions: the API's description and the aggregator's page list what
aggregator/dimension.c has."""
import re
import shutil
import subprocess

import pytest
import servers
import yaml

FILES = ("aggregator/dimension.c", "schemas/openapi/aggregator.yaml", "docs/aggregator.md")


def write_lists(root, *arguments):
    return subprocess.run([servers.ROOT / "tools/list-dimensions", *arguments, root],
                          capture_output=True, text=True)


@pytest.fixture
def copied(tmp_path):
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(servers.ROOT / file, tmp_path / file)
    return tmp_path


def add_row(root, row):
    path = root / "aggregator/dimension.c"
    path.write_text(path.read_text().replace('\t{"tag", ', f'\t{row}\n\t{{"tag", ', 1))


def described(root):
    """(dimensions to group by, filters) of the API's description."""
    api = yaml.safe_load((root / "schemas/openapi/aggregator.yaml").read_text())
    named = {p.get("name"): p["schema"]["items"]["$ref"].split("/")[-1]
             for p in api["paths"]["/v1/clicks"]["get"]["parameters"]
             if p.get("name") in ("group_by", "breakdowns")}
    assert named["group_by"] == named["breakdowns"]
    group_by = api["components"]["schemas"][named["group_by"]]
    filters = api["components"]["parameters"]["filters"]["schema"]["properties"]
    return group_by["enum"], list(filters)


def test_the_lists_are_those_of_the_table(copied):
    done = write_lists(copied, "--check")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("row", [
    '{"shoe_size", "toString(shoe_size)", DIMENSION_BUSIEST},',
    '{"shoe_size",\n\t "trimRight(concat(shoe, \' \', size))",\n\t DIMENSION_BUSIEST},'])
def test_a_new_dimension_is_described_and_documented(copied, row):
    group_by, filters = described(copied)
    add_row(copied, row)
    refused = write_lists(copied, "--check")
    assert refused.returncode == 1
    assert "schemas/openapi/aggregator.yaml" in refused.stderr
    assert described(copied) == (group_by, filters)

    assert write_lists(copied).returncode == 0
    place = group_by.index("tag")
    assert described(copied) == (group_by[:place] + ["shoe_size"] + group_by[place:],
                                 filters[:place] + ["shoe_size"] + filters[place:])
    page = (copied / "docs/aggregator.md").read_text()
    assert re.search(r"^\| by the hour \| .*, shoe_size, tag, link \|$", page, re.M)
    assert write_lists(copied, "--check").returncode == 0


def test_a_row_that_is_written_otherwise_is_not_left_out(copied):
    add_row(copied, '{.name = "shoe_size", "x", DIMENSION_BUSIEST},')
    refused = write_lists(copied)
    assert refused.returncode == 1
    assert refused.stderr == "aggregator/dimension.c: a row cannot be read\n"
