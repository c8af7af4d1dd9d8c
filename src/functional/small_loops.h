// Loops over a few numbers, quicker on the CPU.
#pragma once

namespace sturnus::internal {

/// While one lives, programs that its thread compiles to run on the CPU have each outermost loop
/// that is small as one function of machine code: XLA makes a kernel of each fused operation, and
/// for arrays of a few numbers calling kernels takes longer than what they do. A loop is small when
/// no array that it computes has more than 4096 elements and nothing in it calls a library.
class SmallLoops {
 public:
  SmallLoops() { depth_++; }
  ~SmallLoops() { depth_--; }
  SmallLoops(const SmallLoops&) = delete;
  SmallLoops& operator=(const SmallLoops&) = delete;

  static bool on() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace sturnus::internal
