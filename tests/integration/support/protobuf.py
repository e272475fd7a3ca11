"""Message classes made from schemas/*.proto at run time, so that no generated Python
has to match the version of the protobuf library."""
import functools
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import servers


@functools.cache
def _pool(schema):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            ["protoc-c", f"--descriptor_set_out={out.name}",
             f"-I{servers.ROOT}", str(servers.ROOT / "schemas" / schema)],
            check=True)
        found = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    pool = descriptor_pool.DescriptorPool()
    for file in found.file:
        pool.Add(file)
    return pool


def message(schema, full_name):
    """message("click.proto", "shortloop.Click") returns a message class."""
    return message_factory.GetMessageClass(
        _pool(schema).FindMessageTypeByName(full_name))
