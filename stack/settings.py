"""The development stack's configuration: config/dev.yaml with ports changed and
keys made."""
import hashlib
import os
import pathlib
import secrets

import yaml

from servers import ROOT, ServerError

# An absolute path: programs are started from ROOT.
DEV = pathlib.Path(os.environ.get("SHORTLOOP_DEV", ROOT / "build/dev")).resolve()
TEMPLATE = ROOT / "config/dev.yaml"
CONFIG = DEV / "shortloop.yaml"
API_KEY = DEV / "api.key"

# Programs that keep running; the reclaimer is a job.
DAEMONS = ["allocator", "redirector", "collector", "aggregator"]
PORTS = {
    "redis": 16379, "kafka": 19092, "kafka_controller": 19093,
    "clickhouse": 18123, "redirector": 8080, "allocator": 8081,
    "aggregator": 8082, "redirector_admin": 9080, "allocator_admin": 9081,
    "collector_admin": 9082, "aggregator_admin": 9083, "reclaimer_admin": 9084,
}


def ports():
    """Returns {name: port}, changed by SHORTLOOP_<NAME>_PORT."""
    found = {}
    for name, fallback in PORTS.items():
        variable = f"SHORTLOOP_{name.upper()}_PORT"
        text = os.environ.get(variable, "") or str(fallback)
        if not text.isdecimal() or not 0 < int(text) < 65536:
            raise ServerError(f"{variable}={text}: a port is 1 to 65535")
        found[name] = int(text)
    twice = {p for p in found.values() if list(found.values()).count(p) > 1}
    if twice:
        raise ServerError(f"port {twice.pop()} is given to two servers")
    return found


def whole_paths(value):
    """Makes paths below build/dev and .deps absolute, anywhere in the tree."""
    if isinstance(value, dict):
        return {key: whole_paths(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole_paths(item) for item in value]
    if isinstance(value, str):
        kind, path = ("file:", value[5:]) if value.startswith("file:") else (
            "", value)
        if path.startswith("build/dev/"):
            return kind + str(DEV / path.removeprefix("build/dev/"))
        if path.startswith(".deps/"):
            return kind + str(ROOT / path)
    return value


def template():
    try:
        return whole_paths(yaml.safe_load(TEMPLATE.read_text()))
    except OSError as e:
        raise ServerError(f"{TEMPLATE}: {e.strerror}") from e


def write_config(where):
    """Writes and returns the configuration; a file with the same contents is
    not rewritten."""
    config = template()
    config["redis"]["address"] = f"127.0.0.1:{where['redis']}"
    config["kafka"]["brokers"] = [f"127.0.0.1:{where['kafka']}"]
    config["clickhouse"]["url"] = f"http://127.0.0.1:{where['clickhouse']}"
    for name, settings in config.items():
        for key, suffix in (("listen", ""), ("admin", "_admin")):
            if name + suffix in where and key in settings:
                settings[key] = f"127.0.0.1:{where[name + suffix]}"
    config["domains"]["base_url"] = f"http://localhost:{where['redirector']}"
    config["redirector"]["spool_dir"] = str(DEV / "spool")
    text = ("# Made by stack/ctl from config/dev.yaml; change that.\n"
            + yaml.safe_dump(config, sort_keys=False))
    if not CONFIG.exists() or CONFIG.read_text() != text:
        CONFIG.write_text(text)
    return config


def topics(config):
    kafka = config["kafka"]
    return {name: kafka.get(f"topic_{name}", fallback) for name, fallback in
            (("clicks", "clicks"), ("links", "links"), ("dlq", "clicks.dlq"),
             ("counters", "redirector.counters"), ("renewals", "link.renewals"))}


def link_web():
    """Makes the dashboard: our files, with the chart library beside them."""
    web = DEV / "web"
    web.mkdir(parents=True, exist_ok=True)
    files = {p.name: p for p in (ROOT / "web").iterdir()}
    files["uplot"] = ROOT / ".deps/uplot"
    for old in web.iterdir():
        if old.name not in files:
            old.unlink()
    for name, target in files.items():
        if not (web / name).exists():
            (web / name).unlink(missing_ok=True)
            (web / name).symlink_to(target)


def write_secret(path, text):
    """Writes a file that only its owner can read, atomically."""
    part = path.with_suffix(".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(text)
    part.replace(path)


def make_keys():
    """Makes, on the first start, the spaces' keys and an administrator's API
    key.
    """
    config = template()
    for space in config["links"]["spaces"]:
        for key in space.get("keys", []):
            path = pathlib.Path(key["key"].removeprefix("file:"))
            if not path.exists():
                write_secret(path, secrets.token_hex(32) + "\n")
    if not API_KEY.exists():
        key = secrets.token_urlsafe(32)
        digest = hashlib.sha256(key.encode()).hexdigest()
        write_secret(pathlib.Path(config["allocator"]["keys_file"]),
                     f"admin admin sha256:{digest}\n")
        write_secret(API_KEY, key + "\n")
