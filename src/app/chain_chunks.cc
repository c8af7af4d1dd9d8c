#include "src/app/chain_chunks.h"

#include <algorithm>
#include <cmath>

namespace sturnus::app {
namespace {

constexpr double chunk_seconds = 5;
constexpr std::int64_t first_chunk = 10;  // nothing is known of the chains' speed before it
constexpr std::int64_t looks = 10;
// What a chunk of the warm-up draws is forgotten, but has to fit into memory.
constexpr std::int64_t warmup_bytes = std::int64_t{1} << 26;

}  // namespace

ChainChunks::ChainChunks(const ChainSettings& settings, std::int64_t parameters)
    : warmup_(settings.warmup),
      draws_(settings.draws),
      longest_in_warmup_(
          std::max<std::int64_t>(1, warmup_bytes / (8 * settings.chains * parameters))),
      paced_(first_chunk) {}

std::int64_t ChainChunks::next(std::int64_t done) const {
  auto part = [](std::int64_t all) { return (all + looks - 1) / looks; };
  if (done < warmup_) return std::min({paced_, part(warmup_), longest_in_warmup_, warmup_ - done});
  return std::min({paced_, part(draws_), warmup_ + draws_ - done});
}

void ChainChunks::took(std::int64_t transitions, double seconds) {
  double factor = std::min(chunk_seconds / std::max(seconds, 1e-9), 4.0);
  paced_ = std::max<std::int64_t>(1, std::llround(factor * static_cast<double>(transitions)));
}

}  // namespace sturnus::app
