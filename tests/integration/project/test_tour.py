"""docs/tour.md names files and functions: each file is there, and defines its
functions."""
import re

import pytest

import servers

TOUR = (servers.ROOT / "docs/tour.md").read_text()


def places(text):
    """Returns the files that are named, each with the function named behind it, or
    None."""
    return re.findall(r"`([\w/]+/[\w.]+)`(?:,\s+`(\w+)`)?", text)


def defines(source, function):
    """Returns whether the C source has the function's body, not only its prototype
    or a call."""
    return re.search(rf"^(?:\w[\w\s*]*[\s*])?{function}\([^;{{}}]*\)\n\{{", source,
                     re.MULTILINE) is not None


def missing(root, text):
    """Returns the places that the tree does not have."""
    return [(file, function) for file, function in places(text)
            if not (root / file).is_file() or
            function and not defines((root / file).read_text(), function)]


def test_each_file_defines_the_function_that_the_tour_names_with_it():
    assert missing(servers.ROOT, TOUR) == []


def test_each_stop_names_a_place():
    stops = re.findall(r"^\d+\. .*", TOUR, re.MULTILINE)
    assert len(stops) == len(re.findall(r"^\d+\.", TOUR, re.MULTILINE)) > 30
    assert [stop for stop in stops if not re.match(
        r"\d+\. `[\w/]+/[\w.]+(?:\.c`, `\w+`|\.lua`):", stop)] == []


def test_one_click_has_twelve_stops():
    click = TOUR.partition("## One click")[2].partition("\n## ")[0]
    assert re.findall(r"^(\d+)\.", click, re.MULTILINE) == [str(n) for n in range(1, 13)]


@pytest.mark.parametrize("stop, found", [
    ("1. `a/b.c`, `is_here`: does it.", []),
    ("1. `a/b.c`,\n   `is_here`: does it.", []),
    ("1. `a/b.c`, `is_long`: does it.", []),
    ("1. `a/b.c`, `is_called`: does it.", [("a/b.c", "is_called")]),
    ("1. `a/b.c`, `is_declared`: does it.", [("a/b.c", "is_declared")]),
    ("1. `a/b.c`, `is`: does it.", [("a/b.c", "is")]),
    ("1. `a/b.c`, `here`: does it.", [("a/b.c", "here")]),
    ("1. `a/b.lua`: does it.", [("a/b.lua", "")])])
def test_a_name_that_is_not_there_is_found(tmp_path, stop, found):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.c").write_text(
        "void is_declared(int a);\n\nstatic int is_here(void)\n{\n"
        "\treturn is_called(1) ? is_declared(2) : 3;\n}\n\n"
        "struct a *is_long(int a,\n\t\t  int b)\n{\n\treturn NULL;\n}\n")
    assert missing(tmp_path, stop) == found
