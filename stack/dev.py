"""The commands of stack/ctl: the order of starts, and the steps between them.
"""
import errno
import fcntl
import shutil
import subprocess
import sys
import time

import servers
import settings
from daemon import Daemon, Failure
from servers import ROOT, ServerError

DEV = settings.DEV
MIN_FREE = 1 << 30
READY_SECONDS = 180


def say(text):
    print(text, flush=True)


# --- the daemons, in the order in which they start -----------------------------

def make_daemons(ports):
    """Makes each command only when it is needed: Kafka's formats its directory.
    """
    redis = Daemon(
        "redis", [ports["redis"]],
        lambda: servers.redis_command(DEV / "redis", ports["redis"],
                                      durable=True),
        lambda: servers.redis_ready(ports["redis"]))
    kafka = Daemon(
        "kafka", [ports["kafka"], ports["kafka_controller"]],
        lambda: servers.kafka_command(DEV / "kafka", ports["kafka"],
                                      ports["kafka_controller"]),
        lambda: servers.kafka_ready(ports["kafka"]))
    kafka.config = DEV / "kafka/server.properties"  # has the ports
    clickhouse = Daemon(
        "clickhouse", [ports["clickhouse"]],
        lambda: servers.clickhouse_command(DEV / "clickhouse",
                                           ports["clickhouse"]),
        lambda: servers.clickhouse_ready(ports["clickhouse"]))
    return [redis, kafka, clickhouse], [
        make_program(name, ports) for name in settings.DAEMONS]


def make_program(name, ports):
    used = [ports[f"{name}_admin"]]
    if name in ports:
        used.append(ports[name])
    url = f"http://127.0.0.1:{ports[f'{name}_admin']}/readyz"
    daemon = Daemon(name, used,
                    lambda: [program_path(name), "-c", settings.CONFIG],
                    lambda: servers.http_status(url) == 200)
    daemon.ready_url = url
    daemon.config = settings.CONFIG
    return daemon


def program_path(name):
    path = ROOT / "build/bin" / name
    if not path.exists():
        raise Failure(f"{path} is missing; run `make`")
    return path


# --- preconditions of the programs ---------------------------------------------

def run_program(name, *args):
    done = subprocess.run([program_path(name), *args, "-c", settings.CONFIG],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, cwd=ROOT)
    if done.returncode:
        raise Failure(f"{name} {' '.join(args)}: exit status "
                      f"{done.returncode}: {last_line(done.stderr)}")
    return done.stdout.strip()


def last_line(text):
    return (text.strip().splitlines() or ["(it said nothing)"])[-1]


def create_topics(config, port):
    """Creates the missing topics; existing ones stay unchanged."""
    from confluent_kafka import KafkaError, KafkaException
    from confluent_kafka.admin import AdminClient, NewTopic
    names = settings.topics(config)
    # The unpacked size of a batch is bounded, and no sender's clock decides
    # what is accepted and how long it is kept (docs/collector.md).
    stamped = {"compression.type": "lz4",
               "message.timestamp.type": "LogAppendTime"}
    bound = {**stamped, "max.message.bytes": "262144"}
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
    wanted = [NewTopic(names["clicks"], 4, 1, config=bound),
              NewTopic(names["links"], 4, 1, config=bound),
              NewTopic(names["dlq"], 1, 1, config=stamped),
              NewTopic(names["counters"], 1, 1, config=bound),
              NewTopic(names["renewals"], 1, 1, config=bound)]
    for name, future in admin.create_topics(wanted).items():
        try:
            future.result(30)
            say(f"  created topic {name}")
        except KafkaException as e:
            if e.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise Failure(f"kafka: cannot create topic {name}: "
                              f"{e.args[0].str()}") from e


def create_spaces(config):
    for space in config["links"]["spaces"]:
        said = run_program("allocator", "create-space", "--space",
                           space["name"])
        if said and not said.startswith("nothing to do"):
            say(f"  {last_line(said)}")


# --- up, down, status -----------------------------------------------------------

def wait_ready(daemons):
    """Waits for all together, so that the slowest one sets the time."""
    deadline = time.monotonic() + READY_SECONDS
    waiting = list(daemons)
    while waiting:
        waiting = [d for d in waiting if not d.ready()]
        for daemon in waiting:
            if not daemon.running():
                raise daemon.failure()
            if time.monotonic() > deadline:
                raise Failure(f"{daemon.name} is not ready after "
                              f"{READY_SECONDS} s: {daemon.reason()}; see "
                              f"{daemon.log_path}")
        if waiting:
            time.sleep(0.05)


def start(daemons):
    for daemon in daemons:
        if daemon.running() and daemon.changed():
            say(f"  {daemon.name}: changed since it was started")
            daemon.stop()
        if not daemon.running():
            daemon.start()
            say(f"  {daemon.name} started")
    wait_ready(daemons)


def check_disk():
    free = shutil.disk_usage(DEV).free
    if free < MIN_FREE:
        raise Failure(f"only {free >> 20} MiB are free where {DEV} lies; "
                      f"{MIN_FREE >> 20} MiB are needed")


def up():
    began = time.monotonic()
    ports = settings.ports()
    settings.make_keys()
    settings.link_web()
    config = settings.write_config(ports)
    check_disk()
    stores, programs = make_daemons(ports)
    if all(d.running() and not d.changed() and d.ready()
           for d in stores + programs):
        say("stack: all is up")
    else:
        say("stack: starting")
        start(stores)
        create_topics(config, ports["kafka"])
        run_program("aggregator", "migrate")
        create_spaces(config)
        start(programs)
        say(f"stack: up after {time.monotonic() - began:.1f} s")
    say(f"  links      http://localhost:{ports['redirector']}/<code>\n"
        f"  API        http://localhost:{ports['allocator']}/v1/links   "
        f"(key: {settings.API_KEY})\n"
        f"  dashboard  http://localhost:{ports['aggregator']}/")
    return 0


def down():
    stores, programs = make_daemons(settings.ports())
    stopped = [d for d in reversed(stores + programs) if d.running()]
    for daemon in stopped:
        daemon.stop()
        say(f"  {daemon.name} stopped")
    say("stack: down" if stopped else "stack: was down")
    return 0


def status():
    stores, programs = make_daemons(settings.ports())
    all_up = True
    for daemon in stores + programs:
        state = "down"
        if daemon.running():
            state = "ready" if daemon.ready() else f"not ready: {daemon.reason()}"
        all_up = all_up and state == "ready"
        places = " ".join(f":{port}" for port in daemon.ports)
        say(f"{daemon.name:<11} {places:<14} {daemon.pid or '':<8} {state}")
    return 0 if all_up else 3


def main(arguments, usage):
    commands = {"up": up, "down": down, "status": status}
    if len(arguments) != 1 or arguments[0] not in commands:
        print(usage.strip(), file=sys.stderr)
        return 64
    try:
        DEV.mkdir(parents=True, exist_ok=True)
        with open(DEV / "lock", "w") as lock:
            # Two runs at once would start everything twice.
            fcntl.flock(lock, fcntl.LOCK_EX)
            return commands[arguments[0]]()
    except (Failure, ServerError) as e:
        print(f"stack: {e}", file=sys.stderr)
    except OSError as e:
        what = ("the disk is full" if e.errno == errno.ENOSPC
                else e.strerror or str(e))
        print(f"stack: {e.filename or DEV}: {what}", file=sys.stderr)
    except KeyboardInterrupt:
        print("stack: interrupted; `make down` stops what runs",
              file=sys.stderr)
    return 1
