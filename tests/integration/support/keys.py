"""API keys: the lines of an allocator's keys_file."""
import hashlib

API_KEY = "test-key"


def key_line(name, words, secret=None):
    """`words` are the roles and the rest of the line; the key's secret is its name
    unless another is given."""
    roles, _, rest = words.partition(" ")
    digest = hashlib.sha256((secret or name).encode()).hexdigest()
    return f"{name} {roles} sha256:{digest} {rest}".rstrip() + "\n"


class KeysFile:
    """.path, and .write({name: words}) to change it; `head` precedes the keys."""

    def __init__(self, path):
        self.path = path
        self.head = ""

    def write(self, keys):
        self.path.write_text(self.head + "".join(key_line(*k) for k in keys.items()))
        return self.path


def admin_keys(workdir):
    """A file whose API_KEY may do everything."""
    path = workdir / "keys"
    path.write_text(key_line("test", "admin", API_KEY))
    return path
