#!/usr/bin/env python3
"""Prints complex_values.h: values and gradients of functions of complex numbers, from JAX.

    JAX_ENABLE_X64=1 python3 complex_values.py > complex_values.h
"""
import jax
import jax.numpy as jnp

# What C++ writes, and what JAX does. The gradient is of real(w * f(z)), which shows the convention.
FUNCTIONS = [
    ("exp(z)", jnp.exp),
    ("expm1(z)", jnp.expm1),
    ("log(z)", jnp.log),
    ("log1p(z)", jnp.log1p),
    ("sqrt(z)", jnp.sqrt),
    ("rsqrt(z)", jax.lax.rsqrt),
    ("sin(z)", jnp.sin),
    ("cos(z)", jnp.cos),
    ("tanh(z)", jnp.tanh),
    ("square(z)", jnp.square),
    ("pow(z, 3)", lambda z: z**3),
    ("1.0 / z", lambda z: 1 / z),
    ("z * conj(z)", lambda z: z * jnp.conj(z)),
    ("conj(z)", jnp.conj),
    ("real(z)", jnp.real),
    ("imag(z)", jnp.imag),
    ("abs(z)", jnp.abs),
    ("angle(z)", jnp.angle),
    ("sign(z)", lambda z: z / jnp.abs(z)),
    ("exp(abs(z)) * z", lambda z: jnp.exp(jnp.abs(z)) * z),
    ("fft(z)", jnp.fft.fft),
    ("ifft(z)", jnp.fft.ifft),
    ("irfft(z)", jnp.fft.irfft),
    ("irfft(z, 1, 5)", lambda z: jnp.fft.irfft(z, 5)),
    ("rfft(real(z)) + rfft(imag(z))", lambda z: jnp.fft.rfft(z.real) + jnp.fft.rfft(z.imag)),
    ("matmul(z, outer(z, z))", lambda z: z @ jnp.outer(z, z)),
    ("sum(z) * z", lambda z: jnp.sum(z) * z),
    ("where(real(z) > 0.0, z * z, conj(z))",
     lambda z: jnp.where(z.real > 0, z * z, jnp.conj(z))),
]
POINTS = jnp.array([0.5 + 0.25j, -1.25 + 0.75j, 1.5 - 2.0j])


def numbers(z):
    return "{" + ", ".join(f"{{{complex(v).real!r}, {complex(v).imag!r}}}" for v in z.ravel()) + "}"


print("""// Values and gradients of functions of complex numbers, from JAX. By complex_values.py.
#pragma once

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <complex>
#include <vector>

namespace sturnus::testing {

struct ComplexCase {
  const char* text;
  Array (*f)(const Array& z);
  std::vector<std::complex<double>> value;
  std::vector<std::complex<double>> gradient;  // of real(sum((0.5 - 2i) f(z)))
};
""")
print(f"inline const std::vector<std::complex<double>> complex_points = {numbers(POINTS)};\n")
print("inline const std::vector<ComplexCase> complex_cases = {")
for text, f in FUNCTIONS:
    gradient = jax.grad(lambda z: jnp.real(jnp.sum((0.5 - 2j) * f(z))))(POINTS)
    print(f'    {{"{text}", [](const Array& z) {{ return {text}; }}, {numbers(f(POINTS))}, '
          f'{numbers(gradient)}}},')
print("""};

}  // namespace sturnus::testing""")
