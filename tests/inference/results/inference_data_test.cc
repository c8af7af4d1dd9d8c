#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sturnus/inference/results/inference_data.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/version.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace sturnus {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// A file read with the NetCDF library; a call that fails throws its message.
class Reader {
 public:
  explicit Reader(const fs::path& path) { check(nc_open(path.c_str(), NC_NOWRITE, &file_)); }
  ~Reader() { nc_close(file_); }

  std::vector<std::string> groups() const {
    int count = 0;
    check(nc_inq_grps(file_, &count, nullptr));
    std::vector<int> ids(static_cast<std::size_t>(count));
    check(nc_inq_grps(file_, &count, ids.data()));
    std::vector<std::string> names;
    for (int id : ids) {
      char name[NC_MAX_NAME + 1];
      check(nc_inq_grpname(id, name));
      names.push_back(name);
    }
    return names;
  }

  std::vector<std::string> variables(const char* group) const {
    int count = 0;
    check(nc_inq_nvars(id_of(group), &count));
    std::vector<std::string> names;
    for (int variable = 0; variable < count; ++variable) {
      char name[NC_MAX_NAME + 1];
      check(nc_inq_varname(id_of(group), variable, name));
      names.push_back(name);
    }
    return names;
  }

  int type(const char* group, const char* variable) const {
    int type = 0;
    check(nc_inq_vartype(id_of(group), id_of(group, variable), &type));
    return type;
  }

  /// "chain=2, draw=3"
  std::string dims(const char* group, const char* variable) const {
    int count = 0;
    check(nc_inq_varndims(id_of(group), id_of(group, variable), &count));
    std::vector<int> ids(static_cast<std::size_t>(count));
    check(nc_inq_vardimid(id_of(group), id_of(group, variable), ids.data()));
    std::string text;
    for (int id : ids) {
      char name[NC_MAX_NAME + 1];
      std::size_t extent = 0;
      check(nc_inq_dim(id_of(group), id, name, &extent));
      text += (text.empty() ? "" : ", ") + std::string(name) + "=" + std::to_string(extent);
    }
    return text;
  }

  std::vector<double> values(const char* group, const char* variable, std::size_t count) const {
    std::vector<double> values(count);
    check(nc_get_var_double(id_of(group), id_of(group, variable), values.data()));
    return values;
  }

  std::string attribute(const char* group, const char* variable, const char* name) const {
    int of = variable ? id_of(group, variable) : NC_GLOBAL;
    std::size_t length = 0;
    check(nc_inq_attlen(id_of(group), of, name, &length));
    std::string text(length, '\0');
    check(nc_get_att_text(id_of(group), of, name, text.data()));
    return text;
  }

 private:
  static void check(int status) {
    if (status != NC_NOERR) throw std::runtime_error(nc_strerror(status));
  }
  int id_of(const char* group) const {
    int id = 0;
    check(nc_inq_grp_ncid(file_, group, &id));
    return id;
  }
  int id_of(const char* group, const char* variable) const {
    int id = 0;
    check(nc_inq_varid(id_of(group), variable, &id));
    return id;
  }
  int file_ = 0;
};

std::vector<double> counted(std::size_t n, double offset) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), offset);
  for (double& value : values) value /= 3;
  return values;
}

ChainDraws example() {
  ChainDraws draws;
  draws.chains = 2;
  draws.draws = 3;
  draws.parameters.push_back({"mu", {}, counted(6, 1)});
  draws.parameters.push_back({"beta", {2, 4}, counted(48, 10)});
  SamplerStatistics& said = draws.statistics;
  said.log_density.values = counted(6, -5);
  said.energy.values = counted(6, 5);
  said.step_size.values = counted(6, 3);
  said.acceptance.values = counted(6, 0);
  said.tree_depth.values = {1, 2, 3, 4, 5, 6};
  said.leapfrog_steps.values = {1, 3, 7, 15, 31, 63};
  said.divergent.values = {0, 0, 1, 0, 1, 0};
  for (Matrix* statistic : {&said.log_density, &said.energy, &said.step_size, &said.acceptance,
                            &said.tree_depth, &said.leapfrog_steps, &said.divergent}) {
    statistic->rows = 2;
    statistic->cols = 3;
  }
  return draws;
}

/// A folder that goes when the test does.
class InferenceDataTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("inference_data_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path path() const { return folder_ / "made" / "exp.nc"; }

  fs::path folder_;
};

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(InferenceDataTest, HasGroupsVariablesAndDimensionsAsArvizNamesThem) {
  InferenceData data = inference_data(example());
  data.groups.push_back({"posterior_predictive",
                         {{"y", {"chain", "draw", "t"}, {2, 3, 2}, counted(12, 0)},
                          {"t", {"t"}, {2}, std::vector<double>{0.5, 1.5}}},
                         {{"note", "without noise"}}});
  data.groups.push_back({"observed_data",
                         {{"y", {"t"}, {2}, std::vector<double>{3.25, 4.5}},
                          {"t", {"t"}, {2}, std::vector<double>{0.5, 1.5}},
                          {"sigma", {}, {}, std::vector<double>{0.1}},
                          {"count", {"t"}, {2}, std::vector<std::int64_t>{-7, INT64_MAX}}},
                         {}});
  write_inference_data(path(), data);

  Reader file(path());
  EXPECT_THAT(file.groups(), UnorderedElementsAre("posterior", "sample_stats",
                                                  "posterior_predictive", "observed_data"));
  EXPECT_THAT(file.variables("posterior"),
              UnorderedElementsAre("chain", "draw", "beta_dim_0", "beta_dim_1", "mu", "beta"));
  EXPECT_EQ(file.dims("posterior", "mu"), "chain=2, draw=3");
  EXPECT_EQ(file.dims("posterior", "beta"), "chain=2, draw=3, beta_dim_0=2, beta_dim_1=4");
  EXPECT_EQ(file.values("posterior", "mu", 6), counted(6, 1));
  EXPECT_EQ(file.values("posterior", "beta", 48), counted(48, 10));
  EXPECT_THAT(file.values("posterior", "draw", 3), ElementsAre(0, 1, 2));
  EXPECT_EQ(file.type("posterior", "draw"), NC_INT64);
  EXPECT_EQ(file.attribute("posterior", nullptr, "inference_library"), "sturnus");
  EXPECT_EQ(file.attribute("posterior", nullptr, "inference_library_version"), version);

  EXPECT_THAT(file.variables("sample_stats"),
              UnorderedElementsAre("chain", "draw", "lp", "acceptance_rate", "step_size",
                                   "tree_depth", "n_steps", "diverging", "energy"));
  EXPECT_EQ(file.values("sample_stats", "lp", 6), counted(6, -5));
  EXPECT_EQ(file.values("sample_stats", "acceptance_rate", 6), counted(6, 0));
  EXPECT_EQ(file.values("sample_stats", "step_size", 6), counted(6, 3));
  EXPECT_EQ(file.values("sample_stats", "energy", 6), counted(6, 5));
  EXPECT_THAT(file.values("sample_stats", "tree_depth", 6), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(file.values("sample_stats", "n_steps", 6), ElementsAre(1, 3, 7, 15, 31, 63));
  EXPECT_THAT(file.values("sample_stats", "diverging", 6), ElementsAre(0, 0, 1, 0, 1, 0));
  EXPECT_EQ(file.type("sample_stats", "tree_depth"), NC_INT64);
  EXPECT_EQ(file.type("sample_stats", "diverging"), NC_BYTE);
  EXPECT_EQ(file.attribute("sample_stats", "diverging", "dtype"), "bool");

  EXPECT_THAT(file.variables("posterior_predictive"),
              UnorderedElementsAre("chain", "draw", "t", "y"));
  EXPECT_EQ(file.values("posterior_predictive", "y", 12), counted(12, 0));
  EXPECT_THAT(file.values("posterior_predictive", "t", 2), ElementsAre(0.5, 1.5));
  EXPECT_EQ(file.attribute("posterior_predictive", nullptr, "note"), "without noise");

  EXPECT_EQ(file.dims("observed_data", "y"), "t=2");
  EXPECT_EQ(file.dims("observed_data", "sigma"), "");
  EXPECT_THAT(file.values("observed_data", "sigma", 1), ElementsAre(0.1));
  EXPECT_THAT(file.values("observed_data", "count", 2), ElementsAre(-7, 0x1p63));
}

TEST_F(InferenceDataTest, LeavesOutStatisticsThatAreNotKept) {
  ChainDraws draws = example();
  draws.statistics.tree_depth = {};
  InferenceData data = inference_data(draws);
  ASSERT_EQ(data.groups.size(), 2u);
  EXPECT_EQ(data.groups[1].variables.size(), 6u);
  draws.statistics = {};
  data = inference_data(draws);
  ASSERT_EQ(data.groups.size(), 1u);
  EXPECT_EQ(data.groups[0].name, "posterior");
}

TEST_F(InferenceDataTest, KeepsSpecialValuesAndEmptyArrays) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  write_inference_data(
      path(), {{{"observed_data",
                 {{"y", {"t"}, {4}, std::vector<double>{nan, inf, -inf, 9.9692099683868690e36}},
                  {"none", {"k"}, {0}, std::vector<double>{}}},
                 {}}}});
  Reader file(path());
  std::vector<double> y = file.values("observed_data", "y", 4);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], inf);
  EXPECT_EQ(y[2], -inf);
  EXPECT_EQ(y[3], 9.9692099683868690e36);
  EXPECT_EQ(file.dims("observed_data", "none"), "k=0");
}

TEST_F(InferenceDataTest, EqualResultsAreEqualFilesAndReplaceOldOnes) {
  write_inference_data(path(), inference_data(example()));
  std::string first = read_file(path());
  ChainDraws other = example();
  other.parameters[0].values[0] = 17;
  write_inference_data(path(), inference_data(other));
  EXPECT_NE(read_file(path()), first);
  write_inference_data(path(), inference_data(example()));
  EXPECT_EQ(read_file(path()), first);
  EXPECT_EQ(std::distance(fs::directory_iterator(path().parent_path()), fs::directory_iterator()),
            1);
}

TEST_F(InferenceDataTest, RefusesWhatDoesNotFitAndLeavesTheOldFile) {
  write_inference_data(path(), inference_data(example()));
  std::string before = read_file(path());
  auto refused = [&](std::vector<DataVariable> variables) {
    return message([&] { write_inference_data(path(), {{{"posterior", variables, {}}}}); });
  };
  EXPECT_EQ(refused({{"a", {"t"}, {2}, counted(2, 0)}, {"b", {"t"}, {3}, counted(3, 0)}}),
            "write_inference_data: posterior/b has extent 3 along t, another variable of the group "
            "has 2. Give dimensions of different extents different names.");
  EXPECT_THAT(refused({{"a", {"t"}, {2}, counted(3, 0)}}), HasSubstr("posterior/a has 1 dim"));
  EXPECT_THAT(refused({{"a", {"t"}, {}, counted(1, 0)}}), HasSubstr("0 extents for 1 values"));
  EXPECT_THAT(refused({{"a", {"t", "t"}, {2, 2}, counted(4, 0)}}), HasSubstr("t twice"));
  EXPECT_THAT(refused({{"a", {}, {}, counted(1, 0)}, {"a", {}, {}, counted(1, 0)}}),
              HasSubstr("variable a: "));
  EXPECT_THAT(refused({{"a/b", {}, {}, counted(1, 0)}}), HasSubstr("variable a/b: "));
  EXPECT_THAT(refused({{"", {}, {}, counted(1, 0)}}), HasSubstr("variable : "));
  EXPECT_THAT(message([&] {
                write_inference_data(path(), {{{"x", {}, {}}, {"x", {}, {}}}});
              }),
              HasSubstr("group x: "));
  EXPECT_EQ(read_file(path()), before);

  ChainDraws draws = example();
  draws.parameters[1].shape = {2, 3};
  EXPECT_THAT(message([&] { inference_data(draws); }), HasSubstr("parameter beta has 48 values"));
}

TEST_F(InferenceDataTest, NamesTheCauseWhenItCannotWrite) {
  EXPECT_THAT(
      message([] { write_inference_data("/proc/sturnus/exp.nc", inference_data(example())); }),
      HasSubstr("cannot write /proc/sturnus/exp.nc: "));
  // A device that is always full; its name ends as write_file's temporary files do.
  fs::create_directories(folder_);
  fs::create_symlink("/dev/full", folder_ / "full.nc.part");
  EXPECT_THAT(
      message([&] { write_inference_data(folder_ / "full.nc", inference_data(example())); }),
      HasSubstr("No space left on device"));
  EXPECT_FALSE(fs::exists(folder_ / "full.nc"));
}

TEST_F(InferenceDataTest, HasMeasurementsAndWhatIsPredictedOfThem) {
  InferenceData data = inference_data(example());
  Samples measured = {
      .points = 3, .outputs = 2, .x = counted(3, 0), .truth = {}, .y = counted(6, 7)};
  Matrix predicted(6, 6);
  predicted.values = counted(36, 1);
  add_measurements(data, measured, predicted, 2);
  write_inference_data(path(), data);
  Reader file(path());
  EXPECT_EQ(file.dims("observed_data", "y"), "point=3, output=2");
  EXPECT_EQ(file.values("observed_data", "y", 6), counted(6, 7));
  EXPECT_EQ(file.dims("constant_data", "x"), "point=3");
  EXPECT_EQ(file.values("constant_data", "x", 3), counted(3, 0));
  EXPECT_EQ(file.dims("posterior_predictive", "y"), "chain=2, draw=3, point=3, output=2");
  EXPECT_EQ(file.values("posterior_predictive", "y", 36), counted(36, 1));

  EXPECT_EQ(message([&] { add_measurements(data, measured, predicted, 4); }),
            "add_measurements: 6 x 6 predictions for 4 chains and 6 measurements. Give a row for "
            "each draw, as many of each chain, and a column for each measurement.");
}

}  // namespace
}  // namespace sturnus
