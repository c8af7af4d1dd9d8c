// Settings of Markov chains.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace sturnus::app {

struct ChainSettings {
  std::string method = "nuts";  // or hmc, random_walk
  std::int64_t chains = 4, warmup = 1000, draws = 1000;
  std::uint64_t seed = 0;
  std::string metric = "diagonal";               // or unit, dense
  std::optional<double> target_acceptance = {};  // empty: 0.8, for a random walk 0.234
  std::int64_t max_depth = 10;                   // of NUTS
  std::int64_t leapfrogs = 16;                   // of HMC
};

/// As result.json has them: those that the method has.
nlohmann::json to_json(const ChainSettings& settings);

double target_acceptance(const ChainSettings& settings);

}  // namespace sturnus::app
