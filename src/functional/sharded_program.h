// One program that several devices run together, each with its part of the arrays.
#pragma once

#include <sturnus/functional/program.h>

#include <string>
#include <vector>

namespace sturnus {

/// Which arguments and results are cut along their first axis into a part for each device; the
/// others are whole on every device.
struct Cut {
  internal::Mask arguments, results;
};

/// A traced function compiled for several devices. What they must tell each other XLA puts in: the
/// results are those of one device, to rounding.
class ShardedProgram {
 public:
  /// Throws Error when there is no device, or when a first axis cannot be cut into equal parts.
  ShardedProgram(const Lowered& lowered, std::vector<Device> devices, const Cut& cut);

  /// The results, put together on the first device.
  Arrays run(const Arrays& arguments) const;

  const LoadedExecutable& executable() const { return executable_; }

  /// The program with its annotations, in StableHLO and Shardy.
  static std::string stablehlo(const Lowered& lowered, std::size_t devices, const Cut& cut,
                               std::string_view platform = "cpu");

 private:
  std::vector<Device> devices_;
  Cut cut_;
  internal::ArrayTypes result_types_;
  LoadedExecutable executable_;
};

}  // namespace sturnus
