"""A screenshot with a palette of the colours that it cannot do without: a third of the size, and looks the same."""

import struct
import zlib
from base64 import b64decode, b64encode
from typing import Final

from playwright.async_api import Page

_COUNT: Final = """
async ([png, most]) => {
  const blob = await (await fetch("data:image/png;base64," + png)).blob();
  const bitmap = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
  const often = new Map();
  for (const pixel of pixels) often.set(pixel, (often.get(pixel) ?? 0) + 1);
  const part = (pixel, shift) => (pixel >>> shift) & 255;
  const between = (one, other) => [0, 8, 16].reduce((sum, at) => sum + (part(one, at) - part(other, at)) ** 2, 0);
  const ranked = [...often].sort((one, other) => other[1] - one[1]);
  const common = Math.ceil((2 * most) / 3);
  const palette = ranked.slice(0, common).map(([pixel]) => pixel);
  // The small mark of a candidate is rare, and its colour is like no other: what would be furthest off comes in, too.
  const rest = ranked.slice(common).map(([pixel, count]) =>
    ({ pixel, count, far: Math.min(...palette.map((other) => between(pixel, other))) }));
  while (palette.length < most && rest.length) {
    const { pixel } = rest.reduce((one, other) => (other.count * other.far > one.count * one.far ? other : one));
    palette.push(pixel);
    for (const one of rest) one.far = Math.min(one.far, between(one.pixel, pixel));
  }
  const places = new Map(palette.map((pixel, place) => [pixel, place]));
  const nearest = (pixel) => {
    let best = 0, least = Infinity;
    palette.forEach((other, place) => {
      const far = between(pixel, other);
      if (far < least) [best, least] = [place, far];
    });
    return best;
  };
  const indices = new Uint8Array(pixels.length);
  pixels.forEach((pixel, at) => {
    if (!places.has(pixel)) places.set(pixel, nearest(pixel));
    indices[at] = places.get(pixel);
  });
  const colours = palette.flatMap((pixel) => [part(pixel, 0), part(pixel, 8), part(pixel, 16)]);
  return { width: bitmap.width, height: bitmap.height, colours, indices: indices.toBase64?.() ?? btoa(
    Array.from({ length: Math.ceil(indices.length / 8192) }, (_, n) =>
      String.fromCharCode(...indices.subarray(n * 8192, (n + 1) * 8192))).join("")) };
}
"""


async def smaller(page: Page, png: bytes, *, colours: int) -> bytes:
    """The same picture; `page` is one that shows nothing, and does the counting."""
    found = await page.evaluate(_COUNT, [b64encode(png).decode(), colours])
    width, height, indices = found["width"], found["height"], b64decode(found["indices"])
    rows = b"".join(b"\0" + indices[at : at + width] for at in range(0, width * height, width))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(found["colours"])),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
