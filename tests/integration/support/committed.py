"""The committed offset of a group and the bytes beside it, by librdkafka.

The Python client reads those bytes as a string that ends with a zero, and so reads
beyond their end.
"""
import ctypes
import ctypes.util

from support.program import PATIENCE

CONSUMER = 1  # RD_KAFKA_CONSUMER


class _Partition(ctypes.Structure):
    _fields_ = [("topic", ctypes.c_char_p),
                ("partition", ctypes.c_int32),
                ("offset", ctypes.c_int64),
                ("metadata", ctypes.c_void_p),
                ("metadata_size", ctypes.c_size_t),
                ("opaque", ctypes.c_void_p),
                ("err", ctypes.c_int),
                ("private", ctypes.c_void_p)]


def _library():
    lib = ctypes.CDLL(ctypes.util.find_library("rdkafka"))
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, *arguments in (
            ("conf_new", pointer),
            ("conf_set", ctypes.c_int, pointer, text, text, text,
             ctypes.c_size_t),
            ("new", pointer, ctypes.c_int, pointer, text, ctypes.c_size_t),
            ("destroy", None, pointer),
            ("topic_partition_list_new", pointer, ctypes.c_int),
            ("topic_partition_list_add", ctypes.POINTER(_Partition), pointer,
             text, ctypes.c_int32),
            ("topic_partition_list_destroy", None, pointer),
            ("committed", ctypes.c_int, pointer, pointer, ctypes.c_int),
            ("err2str", text, ctypes.c_int)):
        function = getattr(lib, "rd_kafka_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


def _client(lib, bootstrap, group):
    why = ctypes.create_string_buffer(512)
    conf = lib.rd_kafka_conf_new()
    for name, value in (("bootstrap.servers", bootstrap), ("group.id", group)):
        failed = lib.rd_kafka_conf_set(conf, name.encode(), value.encode(),
                                       why, len(why))
        assert not failed, why.value
    client = lib.rd_kafka_new(CONSUMER, conf, why, len(why))
    assert client, why.value
    return client


def committed_bytes(bootstrap, group, topic, partition):
    """Returns (offset, bytes); the offset of a partition without one is below zero."""
    lib = _library()
    client = _client(lib, bootstrap, group)
    wanted = lib.rd_kafka_topic_partition_list_new(1)
    try:
        entry = lib.rd_kafka_topic_partition_list_add(
            wanted, topic.encode(), partition)
        failed = lib.rd_kafka_committed(client, wanted, PATIENCE * 1000)
        failed = failed or entry.contents.err
        assert not failed, lib.rd_kafka_err2str(failed)
        size = entry.contents.metadata_size
        return entry.contents.offset, (ctypes.string_at(
            entry.contents.metadata, size) if size else b"")
    finally:
        lib.rd_kafka_topic_partition_list_destroy(wanted)
        lib.rd_kafka_destroy(client)


def commit_bytes(bootstrap, group, topic, partition, offset, beside):
    """Commits as a member of the group, while the group has no members."""
    lib = _library()
    strdup = ctypes.CDLL(None).strdup
    strdup.restype, strdup.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    lib.rd_kafka_commit.restype = ctypes.c_int
    lib.rd_kafka_commit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    client = _client(lib, bootstrap, group)
    wanted = lib.rd_kafka_topic_partition_list_new(1)
    try:
        entry = lib.rd_kafka_topic_partition_list_add(
            wanted, topic.encode(), partition).contents
        entry.offset = offset
        entry.metadata, entry.metadata_size = strdup(beside), len(beside)
        failed = lib.rd_kafka_commit(client, wanted, 0) or entry.err
        assert not failed, lib.rd_kafka_err2str(failed)
    finally:
        lib.rd_kafka_topic_partition_list_destroy(wanted)
        lib.rd_kafka_destroy(client)
