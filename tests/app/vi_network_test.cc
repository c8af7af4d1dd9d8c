#include "src/app/vi_network.h"

#include <gtest/gtest.h>
#include <sturnus/runtime/files.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(ViNetwork, IsScoredAsEnsemblesAre) {
  VariationalRequest request;
  request.problem = "oscillator_network";
  request.out = fs::path(testing::TempDir()) / "fitted_network";
  fs::remove_all(request.out);
  request.iterations = 30;
  request.draws = 20;
  request.divergence = "published";
  std::ostringstream printed, progress;
  fit_network(printed, progress, request);
  std::string out = printed.str();
  json result = json::parse(read_file(request.out / "result.json"));
  for (const char* score : {"rmse", "logl_per_n", "abs_dlambda", "logl_lambda", "w_f", "w_lambda",
                            "crps_f", "crps_lambda"}) {
    EXPECT_TRUE(result.at("metrics").at(score).is_number()) << score;
  }
  EXPECT_EQ(result.at("predictions").at("members").size(), 20);
  EXPECT_EQ(result["predictions"]["members"][0].size(), 200);
  EXPECT_TRUE(result.at("summary").at("zeta").at("q95").is_number());
  EXPECT_EQ(result.at("settings").at("run"), 3);
  EXPECT_EQ(result["settings"].at("divergence"), "published");
  EXPECT_EQ(read_file(request.out / "draws.nc").substr(1, 3), "HDF");
  EXPECT_NE(read_file(request.out / "report.html").find("Damped oscillator"), std::string::npos);
  EXPECT_NE(out.find("logL/N"), std::string::npos) << out;
}

}  // namespace
}  // namespace sturnus::app
