"""Writes .deps/kafka/classes.jsa: the broker's classes in the JVM's memory
format (JEP 350), which halves the processor time of a start.  A JVM that the
archive does not fit, such as a newer one, reads the jars as before.
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import servers  # noqa: E402

SECONDS = 120


def main():
    archive = servers.KAFKA_CLASSES
    archive.unlink(missing_ok=True)
    port, controller = servers.free_port(), servers.free_port()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        broker = servers.Process("kafka", servers.kafka_command(
            directory / "kafka", port, controller,
            options=[f"-XX:ArchiveClassesAtExit={archive}"]),
            directory / "kafka.log")
        try:
            servers.wait_ready(broker, lambda: servers.kafka_ready(port),
                               SECONDS)
        finally:
            broker.stop(SECONDS)
        if not archive.exists():
            raise servers.ServerError("kafka: no archive of its classes: "
                                      + broker.log()[-2000:])


if __name__ == "__main__":
    try:
        main()
    except servers.ServerError as e:
        sys.exit(str(e))
