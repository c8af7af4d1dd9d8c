#include "src/inference/chains/learned_steps.h"

#include <sturnus/functional/doubles.h>
#include <sturnus/runtime/error.h>

#include <cstdio>
#include <string>
#include <vector>

namespace sturnus::internal {

void check_learned_steps(const ChainState& chains, const SamplingOptions& options) {
  std::vector<double> done = to_doubles(chains.adaptation.transition);
  std::vector<double> steps = to_doubles(chains.adaptation.step.size);
  for (std::size_t c = 0; c < steps.size(); c++) {
    if (done[c] < static_cast<double>(options.warmup)) continue;
    if (steps[c] <= StepSearch::longest) continue;
    char length[32];
    std::snprintf(length, sizeof length, "%.3g", steps[c]);
    throw Error("sample: after " + std::to_string(static_cast<std::int64_t>(done[c])) +
                " transitions the steps of chain " + std::to_string(c) + " have the length " +
                length +
                ": none was too long, since the log density is flat. Give every parameter a prior, "
                "and units in which it is not far from 1");
  }
}

}  // namespace sturnus::internal
