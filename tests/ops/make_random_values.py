#!/usr/bin/env python3
"""Makes random_values.h: random numbers of JAX 0.10 with its default generator, to compare ours with.

    JAX_ENABLE_X64=1 python3 make_random_values.py > random_values.h      (needs jax)
"""

import jax
import jax.numpy as jnp
import numpy as np

assert jax.config.jax_threefry_partitionable and jax.config.jax_enable_x64

TYPES = {
    "uint8": "std::uint8_t", "uint16": "std::uint16_t", "uint32": "std::uint32_t",
    "uint64": "std::uint64_t", "int32": "std::int32_t", "int64": "std::int64_t", "bool": "bool",
    "float32": "float", "float64": "double",
}


def text(value, dtype):
  if dtype == "bool":
    return "true" if value else "false"
  if dtype.startswith("float"):
    return float(value).hex() + ("f" if dtype == "float32" else "")
  return str(int(value)) + {"uint32": "u", "uint64": "u", "int64": ""}.get(dtype, "")


def record(name, array):
  array = np.asarray(array)
  dtype = array.dtype.name
  numbers = [text(value, dtype) for value in array.ravel()]
  lines, line = [], "   "
  for number in numbers:
    if len(line) + len(number) > 96:
      lines.append(line)
      line = "   "
    line += " " + number + ","
  lines.append(line)
  body = "\n".join(lines)
  print(f"inline const std::vector<{TYPES[dtype]}> {name} = {{\n{body}\n}};")


print("// Made by make_random_values.py with JAX " + jax.__version__ + ". Do not edit.")
print("#pragma once\n\n#include <cstdint>\n#include <vector>\n")
print("namespace sturnus::testing::recorded {\n// clang-format off\n")
key = jax.random.key(42)
data = jax.random.key_data
record("key_large", data(jax.random.key(np.uint64(0x123456789ABCDEF0))))
record("split_3", data(jax.random.split(key, 3)))
record("folded_7", data(jax.random.fold_in(key, 7)))
record("folded_minus_1", data(jax.random.fold_in(key, np.uint32(2**32 - 1))))
for width in (8, 16, 32, 64):
  record(f"bits_{width}", jax.random.bits(key, (2, 3), f"uint{width}"))
for dtype, short in ((jnp.float32, "f32"), (jnp.float64, "f64")):
  record(f"uniform_{short}", jax.random.uniform(key, (3, 4), dtype))
  record(f"uniform_range_{short}", jax.random.uniform(key, (3, 4), dtype, -2.5, 7.25))
  record(f"normal_{short}", jax.random.normal(key, (4, 16), dtype))
  record(f"exponential_{short}", jax.random.exponential(key, (12,), dtype))
  record(f"laplace_{short}", jax.random.laplace(key, (12,), dtype))
  record(f"logistic_{short}", jax.random.logistic(key, (12,), dtype))
  record(f"gumbel_{short}", jax.random.gumbel(key, (12,), dtype))
  record(f"cauchy_{short}", jax.random.cauchy(key, (12,), dtype))
  record(f"truncated_normal_{short}", jax.random.truncated_normal(key, -1.0, 2.0, (12,), dtype))
probability = jnp.linspace(jnp.float32(0.1), jnp.float32(0.9), 12)
record("bernoulli", jax.random.bernoulli(key, probability))
logits = jnp.log(jnp.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], jnp.float32))
record("categorical", jax.random.categorical(key, logits, shape=(10, 2)).astype(jnp.int32))
record("randint_i32", jax.random.randint(key, (12,), -3, 1000, jnp.int32))
record("randint_i64", jax.random.randint(key, (12,), -3, 1000000, jnp.int64))
record("permutation_20", jax.random.permutation(key, 20).astype(jnp.int32))
with jax.enable_x64(False):  # indices of 32 bits
  table = jnp.arange(12, dtype=jnp.int32).reshape(3, 4)
  weights = jnp.array([1, 4, 2, 3], jnp.float32)
  record("choice_even", jax.random.choice(key, 20, (8,)))
  record("choice_once", jax.random.choice(key, 20, (8,), replace=False))
  record("choice_weighted", jax.random.choice(key, 4, (16,), p=weights / 10))
  record("choice_weighted_once", jax.random.choice(key, 4, (3,), replace=False, p=weights / 10))
  record("choice_rows", jax.random.choice(key, table, (2, 2)))
  record("choice_columns", jax.random.choice(key, table, (2,), replace=False, axis=1))
  record("choice_weighted_columns", jax.random.choice(key, table, (5,), p=weights / 10, axis=-1))
print("\n// clang-format on\n}  // namespace sturnus::testing::recorded")
