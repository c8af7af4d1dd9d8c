// How many transitions of chains to make at a time: the bits are the same however many.
#pragma once

#include <cstdint>

#include "src/app/chain_settings.h"

namespace sturnus::app {

/// A chunk takes about 5 seconds, so that little is lost when the process ends, and is at most a
/// tenth of the warm-up or of the draws, so that there is something to see.
class ChainChunks {
 public:
  ChainChunks(const ChainSettings& settings, std::int64_t parameters);

  /// The length of the next chunk when so many transitions are done.
  std::int64_t next(std::int64_t done) const;
  /// So many transitions took so long. Trees grow and shrink as chains learn: a chunk is at most 4
  /// times as long as the one before.
  void took(std::int64_t transitions, double seconds);

 private:
  std::int64_t warmup_, draws_, longest_in_warmup_, paced_;
};

}  // namespace sturnus::app
