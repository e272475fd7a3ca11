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

    def check(only, **files):
        for name, text in files.items():
            (tmp_path / name.replace("__", "/").replace("_DOT_", ".")).write_text(text)
        subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
        done = subprocess.run([sys.executable, CHECK, "--only", only], cwd=tmp_path,
                              capture_output=True, text=True)
        assert not done.stderr
        assert done.returncode == bool(done.stdout)
        return done.stdout.splitlines()
    return check


@pytest.mark.parametrize("name, text", [
    ("a_DOT_c", "int a;\n\n/* {} this. */\n"),
    ("a_DOT_c", "/*\n * {} this.\n */\n"),
    ("a_DOT_h", "struct a {{\n\tint b; /* {} this */\n}};\n"),
    ("a_DOT_lua", "-- A first line\n-- goes on.\nlocal a\n-- {} this.\n"),
    ("a_DOT_sql", "SELECT 1, -- {} this\n 2\n"),
    ("a_DOT_proto", "// {} this.\n"),
    ("a_DOT_py", "a = 1\n# {} this.\n"),
    ("a_DOT_py", 'def a():\n    """{} this."""\n')])
def test_a_comment_that_does_not_name_its_subject_first_is_refused(tree, name, text):
    for word in ("Of", "As", "Whoever", "Whose", "Who", "So many", "That of", "What"):
        line = text[:text.index("{} this")].count("\n") + 1
        file = name.replace("_DOT_", ".")
        found = tree("comments", **{name: text.format(word)})
        assert len(found) == 1 and found[0].startswith(f"{file}:"), found
        assert found[0].endswith(f"begins with '{word}' in place of its subject")
        assert int(found[0].split(":")[1]) <= line
    for words in ("Offers", "The reader of", "A name as", "Somebody who"):
        assert tree("comments", **{name: text.format(words)}) == []


def test_a_line_that_goes_on_is_not_the_first(tree):
    assert tree("comments", a_DOT_lua="-- The list\n-- Of all.\n",
                a_DOT_c='/* The list\n * Of all. */\nchar *a = "/";\n') == []


@pytest.mark.parametrize("text", [
    "static int run(void)\n{{\n}}\n", "static char *run(int a, int b)\n{{\n}}\n",
    "static inline bool\nrun(int a)\n{{\n}}\n", "static void run(char *a,\n\tint b);\n",
    "__attribute__((format(printf, 1, 2))) static void run(const char *a,\n\t...)\n{{\n}}\n"])
def test_a_static_function_of_one_word_is_refused(tree, text):
    text = "/*\n */\n" + text.format()
    found = tree("objects", a_DOT_c=text)
    assert len(found) == 1 and found[0].endswith(": the name of `run` has no object"), found
    at = int(found[0].split(":")[1])
    assert "run" in text.splitlines()[at - 1]
    assert tree("objects", a_DOT_c=text.replace("run", "run_job")) == []


def test_only_static_functions_need_an_object(tree):
    assert tree("objects", a_DOT_c="int main(void)\n{\n\treturn run(1);\n}\n"
                "static int (*run)(void);\nstatic int count = sum(1, 2);\n"
                "static struct a b = {run(1)};\n/* static int run(void); */\n") == []
