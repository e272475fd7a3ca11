"""tools/check-tree.py on a tree that the test makes."""
import subprocess
import sys

import pytest

import servers

CHECK = servers.ROOT / "tools/check-tree.py"


@pytest.fixture
def tree(tmp_path):
    """Writes the files and returns what the check says of them."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)

    def check(only, files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
        done = subprocess.run([sys.executable, CHECK, "--only", only], cwd=tmp_path,
                              capture_output=True, text=True)
        assert not done.stderr
        assert done.returncode == bool(done.stdout)
        return done.stdout.splitlines()
    return check


COMMENTS = {
    "a.c": "int a;\n\n/* {} this. */\n", "b.c": "/*\n * {} this.\n */\n",
    "a.h": "struct a {{\n\tint b; /* {} this */\n}};\n",
    "a.lua": "-- A first line\n-- goes on.\nlocal a\n-- {} this.\n",
    "a.sql": "SELECT 1, -- {} this\n 2\n", "a.proto": "// {} this.\n",
    "a.py": "a = 1\n# {} this.\n", "b.py": 'def a():\n    """{} this."""\n'}


def test_a_comment_that_does_not_name_its_subject_first_is_refused(tree):
    for word in ("Of", "As", "Whoever", "Whose", "Who", "So many", "That of", "What"):
        found = tree("comments", {f: text.format(word) for f, text in COMMENTS.items()})
        ending = f"begins with '{word}' in place of its subject"
        assert all(f.endswith(ending) for f in found), found
        places = {f.split(":")[0]: int(f.split(":")[1]) for f in found}
        assert set(places) == set(COMMENTS) and len(found) == len(COMMENTS)
        for file, text in COMMENTS.items():
            assert places[file] <= text[:text.index("{} this")].count("\n") + 1
    for words in ("Offers", "The reader of", "A name as", "Somebody who"):
        assert tree("comments", {f: t.format(words) for f, t in COMMENTS.items()}) == []


def test_a_line_that_goes_on_is_not_the_first(tree):
    assert tree("comments", {"a.lua": "-- The list\n-- Of all.\n",
                             "a.c": '/* The list\n * Of all. */\nchar *a = "/";\n'}) == []


@pytest.mark.parametrize("text", [
    "static int run(void)\n{{\n}}\n", "static char *run(int a, int b)\n{{\n}}\n",
    "static inline bool\nrun(int a)\n{{\n}}\n", "static void run(char *a,\n\tint b);\n",
    "__attribute__((format(printf, 1, 2))) static void run(const char *a,\n\t...)\n{{\n}}\n"])
def test_a_static_function_of_one_word_is_refused(tree, text):
    text = "/*\n */\n" + text.format()
    found = tree("objects", {"a.c": text})
    assert len(found) == 1 and found[0].endswith(": the name of `run` has no object"), found
    at = int(found[0].split(":")[1])
    assert "run" in text.splitlines()[at - 1]
    assert tree("objects", {"a.c": text.replace("run", "run_job")}) == []


def test_only_static_functions_need_an_object(tree):
    assert tree("objects", {"a.c": "int main(void)\n{\n\treturn run(1);\n}\n"
                            "static int (*run)(void);\nstatic int count = sum(1, 2);\n"
                            "static struct a b = {run(1)};\n"
                            "/* static int run(void); */\n"}) == []


def test_folders_beside_each_other_include_each_other_one_way(tree):
    files = {"common/a/one.h": '#include "common/b/two.h"\n', "common/b/two.h": "",
             "common/b/three.h": "", "common/all.h": '#include "common/a/one.h"\n'}
    assert tree("rooms", files) == []
    # The folder above them belongs to none.
    files["common/a/four.h"] = '#include "common/all.h"\n'
    assert tree("rooms", files) == []
    files["common/b/three.h"] = '\n#include "common/a/one.h"\n'
    found = tree("rooms", files)
    assert len(found) == 1 and "a circle of folders: common/a, common/b" in found[0], found
    assert 'common/b/three.h:2: "common/a/one.h"' in found[0], found
