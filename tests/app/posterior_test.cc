#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>

#include <filesystem>
#include <functional>
#include <sstream>
#include <string>

#include "src/app/commands.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;

TEST(Posterior, SaysWhatIsWrongBeforeItBegins) {
  auto message = [](const std::function<void(PosteriorRequest&)>& change) -> std::string {
    PosteriorRequest request;
    request.out = fs::path(testing::TempDir()) / "no_posterior";
    change(request);
    std::ostringstream out, progress;
    std::string said = "nothing was thrown";
    try {
      run_posterior(out, progress, request);
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_EQ(progress.str(), "");
    EXPECT_FALSE(fs::exists(request.out));
    return said;
  };
  EXPECT_EQ(message([](auto& r) { r.experiment = "oscillator"; }),
            "posterior: there is no experiment \"oscillator\"; there are lotka_volterra");
  EXPECT_EQ(message([](auto& r) { r.chain_draws = 3; }),
            "posterior: 3 chain-draws. Give --chain-draws at least 4");
  EXPECT_EQ(message([](auto& r) { r.draws = 3; }), "posterior: 3 draws. Give --draws at least 4");
  EXPECT_EQ(message([](auto& r) { r.chains = 0; }),
            "posterior: 0 chains. Give --chains at least 1");
  EXPECT_EQ(message([](auto& r) { r.walkers = 5; }),
            "posterior: 5 walkers. Give --walkers at least 14");
  EXPECT_EQ(message([](auto& r) { r.walkers = 2000; }),
            "posterior: 1024 particles. Give --particles at least 2000");
  EXPECT_EQ(message([](auto& r) {
              r.runs = {0, 5};
            }),
            "posterior: run 5 of lotka_volterra is asked for, but there are runs 0 to 4. Give one "
            "of them");
}

}  // namespace
}  // namespace sturnus::app
