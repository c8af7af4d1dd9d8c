// Random words and points on the CPU. Inside of a program of XLA's the hash is a hundred
// operations, which its compiler repeats wherever a random number is used; programs compiled for
// the CPU call these functions instead, and are compiled much sooner.
#pragma once

#include <sturnus/runtime/host_callback.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::internal {

/// The names under which every process has them among its host callbacks.
inline constexpr std::string_view host_threefry_name = "threefry";
inline constexpr std::string_view host_sobol_name = "scrambled_sobol";

/// Two words of keys and two of counters as arguments, two words as results, all u32. Arguments may
/// have fewer elements than the results: each stands for `repeats` neighbours, and when all are
/// used up they begin again. The parameter has the repeats of the four arguments.
std::string host_threefry_parameter(const std::vector<std::int64_t>& repeats);
void host_threefry_callback(const HostCall& call);

/// Points of scrambled Sobol sequences, [..., points, dimensions] in f32 or f64. Arguments: keys,
/// u32[..., 2], and the first directions of every dimension, u32[directions, dimensions]. The
/// parameter says with which point to begin.
std::string host_sobol_parameter(std::int64_t first);
void host_sobol_callback(const HostCall& call);

}  // namespace sturnus::internal
