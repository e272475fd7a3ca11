"""tools/list-scripts: the lists of Lua scripts that the build generates."""
import subprocess

import pytest

import servers

LIST = servers.ROOT / "tools/list-scripts"


@pytest.fixture
def scripts(tmp_path):
    """Writes the texts into a folder; returns a function that makes a list of it."""
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.lua").write_text(text)

        def make_list(kind):
            return subprocess.run([LIST, kind, "."], cwd=tmp_path, capture_output=True,
                                  text=True)
        return make_list
    return write


def test_a_script_consists_of_what_it_uses_and_of_itself(scripts):
    make_list = scripts(lib_a="local a\n", lib_b="local b\n",
                        one="-- uses: lib_b lib_a\nreturn 1\n",
                        two="-- uses: nothing; flags: allow-oom\nreturn 2\n")
    assert make_list("numbers").stdout == "SCRIPT_ONE,\nSCRIPT_TWO,\n"
    assert make_list("texts").stdout.splitlines() == [
        "[SCRIPT_ONE] =", '#include "./lib_b.lua.inc"', '#include "./lib_a.lua.inc"',
        '#include "./one.lua.inc"', ",",
        "[SCRIPT_TWO] =", r'"#!lua flags=allow-oom\n"', '#include "./two.lua.inc"', ","]


@pytest.mark.parametrize("line, flaw", [
    ("return 1", "the first line is not"), ("", "the first line is not"),
    ("-- uses:", "the first line is not"), ("-- uses: lib_a;", "the first line is not"),
    ("-- uses: lib_a; flags:", "the first line is not"),
    ("-- uses: lib_a, lib_b", "the first line is not"),
    ("-- uses: lib_missing", "no text lib_missing.lua")])
def test_a_wrong_first_line_ends_the_build(scripts, line, flaw):
    done = scripts(lib_a="", lib_b="", one=f"{line}\nreturn 1\n")("texts")
    assert done.returncode != 0
    assert done.stderr.startswith(f"./one.lua:1: {flaw}"), done.stderr
