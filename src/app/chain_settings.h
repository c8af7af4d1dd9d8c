// Settings of Markov chains.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace sturnus::app {

struct ChainSettings {
  std::string method = "nuts";  // or hmc, mala, random_walk
  std::int64_t chains = 4, warmup = 1000, draws = 1000;
  std::uint64_t seed = 0;
  std::optional<std::string> metric = {};        // unit, diagonal or dense; empty: diagonal
  std::optional<double> target_acceptance = {};  // empty: as the method likes
  std::optional<std::int64_t> max_depth = {};    // of NUTS alone; empty: 10
  std::optional<std::int64_t> leapfrogs = {};    // of HMC alone; empty: 16
};

inline constexpr int default_max_depth = 10;

/// As result.json has them: those that the method has.
nlohmann::json to_json(const ChainSettings& settings);

std::string metric(const ChainSettings& settings);
double target_acceptance(const ChainSettings& settings);
std::int64_t max_depth(const ChainSettings& settings);
std::int64_t leapfrogs(const ChainSettings& settings);

}  // namespace sturnus::app
