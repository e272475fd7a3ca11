"""kafka-topics.sh --create, with the options that README uses."""
import argparse

from confluent_kafka.admin import AdminClient, NewTopic

parser = argparse.ArgumentParser(prog="kafka-topics.sh")
parser.add_argument("--bootstrap-server", required=True)
parser.add_argument("--create", action="store_true", required=True)
parser.add_argument("--topic", required=True)
parser.add_argument("--partitions", type=int, required=True)
parser.add_argument("--config", action="append", default=[])
given = parser.parse_args()

# The requests of a client end with it.
client = AdminClient({"bootstrap.servers": given.bootstrap_server})
made = client.create_topics([
    NewTopic(given.topic, num_partitions=given.partitions,
             replication_factor=1,
             config=dict(c.split("=", 1) for c in given.config))])
made[given.topic].result(60)
print(f"Created topic {given.topic}.")
