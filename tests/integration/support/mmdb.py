"""MaxMind DB files for tests: https://maxmind.github.io/MaxMind-DB/"""
import ipaddress
import struct

MARKER = b"\xab\xcd\xefMaxMind.com"


def control(kind, size):
    """Returns the bytes before a payload."""
    more = b""
    if size >= 65821:
        size, more = 31, (size - 65821).to_bytes(3, "big")
    elif size >= 285:
        size, more = 30, (size - 285).to_bytes(2, "big")
    elif size >= 29:
        size, more = 29, (size - 29).to_bytes(1, "big")
    if kind < 8:
        return bytes([kind << 5 | size]) + more
    return bytes([size, kind - 7]) + more


class Data:
    """The data section; equal texts and maps are stored once."""

    def __init__(self):
        self.bytes = bytearray()
        self.offsets = {}

    def pointer(self, offset):
        if offset < 2048:
            return bytes([1 << 5 | offset >> 8, offset & 255])
        offset -= 2048
        assert offset < 524288
        return (bytes([1 << 5 | 1 << 3 | offset >> 16])
                + (offset & 65535).to_bytes(2, "big"))

    def encode(self, value):
        if isinstance(value, bytes):  # already encoded
            return value
        if isinstance(value, bool):
            return control(14, int(value))
        if isinstance(value, str):
            text = value.encode()
            return control(2, len(text)) + text
        if isinstance(value, float):
            return control(3, 8) + struct.pack(">d", value)
        if isinstance(value, int):
            size = (value.bit_length() + 7) // 8
            kind = 5 if size <= 2 else 6 if size <= 4 else 9
            return control(kind, size) + value.to_bytes(size, "big")
        if isinstance(value, list):
            return control(11, len(value)) + b"".join(
                self.refer(v) for v in value)
        return control(7, len(value)) + b"".join(
            self.refer(k) + self.refer(v) for k, v in value.items())

    def refer(self, value):
        if isinstance(value, (bool, int, float)):
            return self.encode(value)
        return self.pointer(self.place(value))

    def place(self, value):
        encoded = self.encode(value)
        if encoded not in self.offsets:
            self.offsets[encoded] = len(self.bytes)
            self.bytes += encoded
        return self.offsets[encoded]


class Mmdb:
    def __init__(self, version=6, record_size=24):
        self.version, self.record_size = version, record_size
        self.data = Data()
        self.nodes = [[None, None]]

    def add(self, network, record):
        """Add wider networks before those within them."""
        net = ipaddress.ip_network(network)
        bits, length = int(net.network_address), net.prefixlen
        width = 32 if self.version == 4 else 128
        if self.version == 6 and net.version == 4:
            length += 96
        leaf = ("data", self.data.place(record))
        node = 0
        for depth in range(length):
            side = bits >> width - 1 - depth & 1
            if depth + 1 == length:
                self.nodes[node][side] = leaf
            elif not isinstance(self.nodes[node][side], int):
                self.nodes.append([self.nodes[node][side]] * 2)
                self.nodes[node][side] = len(self.nodes) - 1
            node = self.nodes[node][side]
        return self

    def number(self, record):
        if record is None:
            return len(self.nodes)
        if isinstance(record, int):
            return record
        return len(self.nodes) + 16 + record[1]

    def node(self, left, right):
        if self.record_size == 28:
            return (left << 32 & 0xffffff << 32 | left >> 24 << 28
                    | right).to_bytes(7, "big")
        return b"".join(n.to_bytes(self.record_size // 8, "big")
                        for n in (left, right))

    def content(self):
        tree = b"".join(self.node(*map(self.number, pair))
                        for pair in self.nodes)
        metadata = {  # the types are those of the specification
            "node_count": control(6, 4) + len(self.nodes).to_bytes(4, "big"),
            "record_size": self.record_size,
            "ip_version": self.version, "database_type": "Test",
            "binary_format_major_version": 2, "binary_format_minor_version": 0,
            "build_epoch": control(9, 1) + b"\1",
            "languages": [], "description": {}}
        plain = Data()
        plain.refer = plain.encode
        return (tree + bytes(16) + bytes(self.data.bytes) + MARKER
                + plain.encode(metadata))

    def save(self, path):
        """Saves the file atomically, as it should be done."""
        fresh = path.with_suffix(".new")
        fresh.write_bytes(self.content())
        fresh.rename(path)
        return path
