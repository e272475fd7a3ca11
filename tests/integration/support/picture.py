"""Pictures of QR codes: PNG and SVG as rows of pixels, and their text."""
import re
import struct
import xml.etree.ElementTree as ElementTree
import zlib

import zxingcpp


def chunks_of(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        crc, = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert zlib.crc32(kind + body) == crc
        yield kind, body
        at += 12 + length


BLACK_WHITE = bytes.maketrans(b"01", b"\x00\xff")


def read_png(data):
    """Returns rows of bytes, 0 black and 255 white, of a 1-bit grey PNG."""
    chunks = list(chunks_of(data))
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB",
                                                        chunks[0][1])
    assert (depth, colour, rest) == (1, 0, [0, 0, 0])
    raw = zlib.decompress(b"".join(b for k, b in chunks if k == b"IDAT"))
    stride = (width + 7) // 8 + 1
    assert len(raw) == stride * height
    rows = []
    for y in range(height):
        line = raw[y * stride:(y + 1) * stride]
        assert line[0] == 0, "a filter this reader does not know"
        bits = f"{int.from_bytes(line[1:], 'big'):0{8 * (stride - 1)}b}"
        rows.append(bits[:width].encode().translate(BLACK_WHITE))
    return rows


PATH = re.compile(r"M(\d+) (\d+)h(\d+)v(\d+)(?:h-|H)(\d+)z")


def read_svg(text, scale=4):
    """Returns the same for an SVG that is made of rectangles."""
    root = ElementTree.fromstring(text)
    x0, y0, width, height = map(int, root.get("viewBox").split())
    assert (x0, y0) == (0, 0)
    rows = [bytearray(b"\x80" * width * scale) for _ in range(height * scale)]
    for path in root:
        colour = {"#fff": 255, "#000": 0}[path.get("fill")]
        d = path.get("d")
        assert PATH.sub("", d) == ""
        for x, y, w, h, _ in (map(int, m) for m in PATH.findall(d)):
            for row in rows[y * scale:(y + h) * scale]:
                row[x * scale:(x + w) * scale] = bytes([colour]) * w * scale
    assert all(128 not in row for row in rows), "not all is painted"
    return [bytes(row) for row in rows]


def qr_of(rows):
    """Returns (text, error correction level) of the only QR code in the picture."""
    image = memoryview(b"".join(rows)).cast("B", (len(rows), len(rows[0])))
    found = zxingcpp.read_barcodes(image)
    assert len(found) == 1, found
    assert found[0].format == zxingcpp.BarcodeFormat.QRCode
    return found[0].text, found[0].ec_level
