#!/usr/bin/env python3
# Part of the sparseattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes latents of a video clip for sparseattn-dit-host, and looks at them.

    make_latents.py CLIP OUT.npy [--start N] [--frames N] [--size HxW]
    make_latents.py --synthetic SEED OUT.npy [--frames N] [--size HxW]
    make_latents.py --decode LATENTS.npy FOLDER

Latents stand in for a video autoencoder's: every cell of 4 frames x 8 x 8
pixels becomes 16 channels, the lowest coefficients of an orthonormal
three-dimensional DCT of its Y, Cb and Cr samples (CHANNELS below, BT.601 full
range, nothing subsampled). The file is float16 [16, frames/4, height/8,
width/8]. The transform is orthonormal, so a squared error over coefficients is
the same squared error over samples of the decoded clip, and nothing else is
needed to go back. The clip is cropped to the asked aspect ratio about its
middle and scaled by area averages; frames that repeat the one before (24 to 25
frames a second) are dropped.

Needs numpy (Debian: python3-numpy). Reading a clip needs `ffmpeg` on PATH
(Debian: ffmpeg) or the PyPI package `av`. --synthetic makes a clip of moving
textured shapes from a seed, --decode writes PNG files; both need numpy alone.
"""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np

# (plane, t, y, x) of each channel: 10 of Y, 3 of Cb, 3 of Cr.
CHANNELS = [
    (0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0), (0, 0, 1, 1),
    (0, 0, 0, 2), (0, 0, 2, 0), (0, 1, 0, 0), (0, 1, 0, 1),
    (0, 1, 1, 0), (0, 2, 0, 0),
    (1, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 0),
    (2, 0, 0, 0), (2, 0, 0, 1), (2, 0, 1, 0),
]
CELL = (4, 8, 8)
REPEAT_BELOW = 0.05  # mean absolute difference of a repeated frame, in levels


def fail(what, got, expected):
    sys.exit(f"error: {what}: got {got}, expected {expected}")


# -- Clips -------------------------------------------------------------------


def read_with_ffmpeg(path):
    """Yields [height, width, 3] uint8 frames."""
    with subprocess.Popen(
            ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-fps_mode",
             "passthrough", "-f", "image2pipe", "-c:v", "ppm", "-"],
            stdout=subprocess.PIPE) as process:
        try:
            # Every image has a header of its own: P6, width and height, 255.
            while process.stdout.readline() == b"P6\n":
                width, height = map(int, process.stdout.readline().split())
                process.stdout.readline()
                data = process.stdout.read(width * height * 3)
                yield np.frombuffer(data, np.uint8).reshape(height, width, 3)
        finally:
            process.kill()


def read_with_av(path):
    import av
    try:
        with av.open(path) as container:
            for frame in container.decode(video=0):
                yield frame.to_ndarray(format="rgb24")
    except (av.error.FFmpegError, IndexError) as problem:
        fail("clip", f"'{path}' ({problem})", "a video")


def read_clip(path):
    if not os.path.isfile(path):
        fail("clip", f"'{path}'", "a readable file")
    if shutil.which("ffmpeg"):
        return read_with_ffmpeg(path)
    try:
        import av  # noqa: F401
    except ImportError:
        fail("video reader", "none", "ffmpeg on PATH or the Python package av")
    return read_with_av(path)


def area_weights(source, begin, end, target):
    """[target, source] weights that average source pixels of [begin, end)."""
    edges = np.linspace(begin, end, target + 1)
    pixel = np.arange(source)
    overlap = (np.minimum(edges[1:, None], pixel[None] + 1) -
               np.maximum(edges[:-1, None], pixel[None]))
    overlap = np.clip(overlap, 0, None)
    return (overlap / overlap.sum(1, keepdims=True)).astype(np.float32)


def fit(frame, height, width):
    """Crops about the middle to the aspect ratio and scales."""
    rows, columns = frame.shape[:2]
    scale = max(height / rows, width / columns)
    half_h, half_w = height / scale / 2, width / scale / 2
    down = area_weights(rows, rows / 2 - half_h, rows / 2 + half_h, height)
    across = area_weights(columns, columns / 2 - half_w, columns / 2 + half_w,
                          width)
    scaled = np.tensordot(down, frame.astype(np.float32), (1, 0))
    return np.tensordot(across, scaled, (1, 1)).transpose(1, 0, 2)


def load_frames(path, start, count, height, width):
    kept, last, seen = [], None, 0
    for frame in read_clip(path):
        frame = fit(frame, height, width)
        if last is not None and np.abs(frame - last).mean() < REPEAT_BELOW:
            continue
        last = frame
        if seen >= start:
            kept.append(frame)
        seen += 1
        if len(kept) == count:
            return np.stack(kept)
    fail(f"frames of '{path}' that differ", seen, f"at least {start + count}")


def synthetic_frames(seed, count, height, width):
    """Textured shapes that move over a panning textured background."""
    random = np.random.RandomState(seed)

    def texture(rows, columns, roughness):
        fy = np.fft.fftfreq(rows)[:, None]
        fx = np.fft.rfftfreq(columns)[None]
        falloff = 1 / np.maximum(np.hypot(fy, fx), 1 / rows) ** roughness
        planes = []
        for _ in range(3):
            noise = random.normal(size=(rows, columns // 2 + 1))
            noise = noise + 1j * random.normal(size=noise.shape)
            plane = np.fft.irfft2(noise * falloff, (rows, columns))
            planes.append(plane / plane.std())
        mixed = np.stack(planes, -1)
        mixed[..., 1:] = 0.6 * mixed[..., :1] + 0.4 * mixed[..., 1:]
        return mixed

    ground = 110 + 40 * texture(height * 2, width * 2, 1.6)
    pan = random.uniform(-1.2, 1.2, 2)
    shapes = []
    for _ in range(9):
        shapes.append(dict(
            centre=random.uniform(0, 1, 2) * (height, width),
            speed=random.uniform(-2.5, 2.5, 2),
            radius=random.uniform(0.08, 0.28, 2) * height,
            level=random.uniform(40, 215, 3),
            skin=texture(height * 2, width * 2, 1.4)))
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    frames = []
    for t in range(count):
        def sample(image, dy, dx):
            rows = (np.arange(height) + int(round(dy))) % image.shape[0]
            columns = (np.arange(width) + int(round(dx))) % image.shape[1]
            return image[rows][:, columns]
        frame = sample(ground, *(pan * t))
        for shape in shapes:
            at = shape["centre"] + shape["speed"] * t
            inside = (((y - at[0]) / shape["radius"][0]) ** 2 +
                      ((x - at[1]) / shape["radius"][1]) ** 2)
            cover = np.clip((1 - inside) * 6, 0, 1)[..., None]
            skin = sample(shape["skin"], *(-shape["speed"] * t))
            frame = frame * (1 - cover) + cover * (shape["level"] + 18 * skin)
        frames.append(np.clip(frame, 0, 255).astype(np.float32))
    return np.stack(frames)


# -- Transform ---------------------------------------------------------------


def dct_matrix(n):
    k, i = np.mgrid[0:n, 0:n]
    matrix = np.cos(np.pi * (2 * i + 1) * k / (2 * n)) * np.sqrt(2 / n)
    matrix[0] /= np.sqrt(2)
    return matrix.astype(np.float32)


def to_ycbcr(rgb):
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return np.stack([y, (b - y) / 1.772 + 128, (r - y) / 1.402 + 128])


def to_rgb(planes):
    y, cb, cr = planes[0], planes[1] - 128, planes[2] - 128
    r, b = y + 1.402 * cr, y + 1.772 * cb
    g = (y - 0.299 * r - 0.114 * b) / 0.587
    return np.stack([r, g, b], -1)


def encode(frames):
    """[T, H, W, 3] RGB levels -> [16, T/4, H/8, W/8] coefficients."""
    planes = to_ycbcr(frames)
    t, h, w = (n // c for n, c in zip(planes.shape[1:], CELL))
    cells = planes.reshape(3, t, CELL[0], h, CELL[1], w, CELL[2])
    dt, dy, dx = (dct_matrix(n) for n in CELL)
    channels = []
    for plane, kt, ky, kx in CHANNELS:
        channels.append(np.einsum("tihjwk,i,j,k->thw", cells[plane], dt[kt],
                                  dy[ky], dx[kx], optimize=True))
    return np.stack(channels)


def decode(latents):
    """The inverse, with every coefficient that has no channel at zero."""
    _, t, h, w = latents.shape
    dt, dy, dx = (dct_matrix(n) for n in CELL)
    planes = np.zeros((3, t, CELL[0], h, CELL[1], w, CELL[2]), np.float32)
    for values, (plane, kt, ky, kx) in zip(latents.astype(np.float32), CHANNELS):
        planes[plane] += np.einsum("thw,i,j,k->tihjwk", values, dt[kt], dy[ky],
                                   dx[kx], optimize=True)
    return to_rgb(planes.reshape(3, t * CELL[0], h * CELL[1], w * CELL[2]))


def write_png(path, rgb):
    data = np.clip(np.rint(rgb), 0, 255).astype(np.uint8)
    height, width = data.shape[:2]
    rows = np.concatenate(
        [np.zeros((height, 1), np.uint8), data.reshape(height, -1)], 1)

    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2,
                                              0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)))
        file.write(chunk(b"IEND", b""))


def psnr(a, b):
    return 10 * np.log10(255 ** 2 / np.mean((a - b) ** 2))


# -- Command line ------------------------------------------------------------


def parse_size(text):
    try:
        height, width = (int(n) for n in text.split("x"))
    except ValueError:
        fail("--size", f"'{text}'", "HxW, for example 240x416")
    if height < 8 or width < 8 or height % 8 or width % 8:
        fail("--size", f"'{text}'", "positive multiples of 8")
    return height, width


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", nargs="?", help="clip, or latents to decode")
    parser.add_argument("output", help="latents .npy, or a folder with --decode")
    parser.add_argument("--start", type=int, default=0,
                        help="first frame, repeated frames not counted")
    parser.add_argument("--frames", type=int, default=36)
    parser.add_argument("--size", default="240x416", help="HxW in pixels")
    parser.add_argument("--synthetic", type=int, metavar="SEED")
    parser.add_argument("--decode", action="store_true")
    options = parser.parse_args()

    if (options.input is None) != (options.synthetic is not None):
        fail("input", options.input, "a clip, or --synthetic and no clip")
    if options.decode:
        try:
            latents = np.load(options.input)
        except (OSError, ValueError) as problem:
            fail("latents", f"'{options.input}' ({problem})", "a .npy file")
        if latents.ndim != 4 or latents.shape[0] != len(CHANNELS):
            fail(f"shape of '{options.input}'", list(latents.shape),
                 f"[{len(CHANNELS)}, T, H, W]")
        os.makedirs(options.output, exist_ok=True)
        for index, frame in enumerate(decode(latents)):
            write_png(os.path.join(options.output, f"{index:04}.png"), frame)
        return
    height, width = parse_size(options.size)
    if options.frames < 4 or options.frames % 4:
        fail("--frames", options.frames, "a positive multiple of 4")
    if options.synthetic is not None:
        frames = synthetic_frames(options.synthetic, options.frames, height, width)
    else:
        frames = load_frames(options.input, options.start, options.frames,
                             height, width)
    latents = encode(frames).astype(np.float16)
    with open(options.output + ".part", "wb") as file:
        np.save(file, latents)
    os.replace(options.output + ".part", options.output)
    kept = psnr(to_ycbcr(decode(latents)), to_ycbcr(frames))
    print(f"{options.output}: {list(latents.shape)} float16, "
          f"{os.path.getsize(options.output)} bytes, {kept:.1f} dB to the clip")


if __name__ == "__main__":
    main()
