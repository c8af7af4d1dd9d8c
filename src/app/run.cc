#include <sturnus/runtime/error.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>

#include "src/app/commands.h"

namespace sturnus::app {

void run_experiment(std::ostream&, const std::string& name) {
  static constexpr std::array<std::string_view, 4> planned = {"exponential", "damped_oscillator",
                                                              "advection", "lotka_volterra"};
  if (std::find(planned.begin(), planned.end(), name) == planned.end()) {
    throw Error("run: there is no experiment \"" + name +
                "\". Planned are exponential, damped_oscillator, advection and lotka_volterra");
  }
  throw Error("run: " + name +
              " cannot run yet: this version has the runtime and the core of the transforms, but "
              "not yet the ensembles that the experiment is made of. What works: "
              "`sturnus devices`, `sturnus plugins`, `sturnus compile`");
}

}  // namespace sturnus::app
