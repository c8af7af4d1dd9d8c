#include "src/app/kept_work.h"

#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path fresh(const std::string& name) {
  fs::path folder = fs::path(testing::TempDir()) / "kept_work" / name;
  fs::remove_all(folder);
  return folder / "result.json";
}

TEST(KeptResult, IsMadeOnceForTheSameSettings) {
  fs::path file = fresh("once");
  int made = 0;
  auto result = [&](const json& settings) {
    return kept_result(file, settings, [&] { return json(++made); });
  };
  EXPECT_EQ(result({{"seed", 1}}), 1);
  EXPECT_EQ(result({{"seed", 1}}), 1);
  EXPECT_EQ(result({{"seed", 2}}), 2);
  EXPECT_EQ(kept_result("", {}, [] { return json(7); }), 7);
}

TEST(KeptResult, ADamagedFileIsNamedWithWhatToDo) {
  fs::path file = fresh("damaged");
  auto work = [] { return json{{"draws", std::vector<double>(20, 0.5)}}; };
  json settings = {{"seed", 1}};
  kept_result(file, settings, work);
  std::string whole = read_file(file);
  for (const std::string& contents :
       {std::string(), whole.substr(0, 1), whole.substr(0, whole.size() / 2), std::string("{}")}) {
    write_file(file, contents);
    try {
      kept_result(file, settings, work);
      ADD_FAILURE() << "nothing was thrown for " << contents;
    } catch (const Error& error) {
      std::string text = error.what(), end = ". Remove it, and it is made anew";
      std::string begin =
          file.string() + " cannot be used: " +
          (contents == "{}" ? "key 'settings' not found" : "it is cut off or damaged at byte ");
      EXPECT_EQ(text.substr(0, begin.size()), begin);
      EXPECT_EQ(text.substr(text.size() - end.size()), end);
    }
    EXPECT_EQ(read_file(file), contents);
  }
}

TEST(KeptResult, AFullDiskIsAWarning) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  fs::path file = fresh("full");
  fs::create_directories(file.parent_path());
  fs::create_symlink("/dev/full", file.string() + ".part");
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  EXPECT_EQ(kept_result(file, {}, [] { return json(7); }), 7);
  set_log_sink({});
  EXPECT_NE(warning.find("the work goes on but could not be kept: "), std::string::npos) << warning;
  EXPECT_NE(warning.find("No space left on device"), std::string::npos) << warning;
}

KeptWork work_in(const fs::path& folder) { return {{folder, true}, "run", "training", {{"a", 1}}}; }

std::string refusal(const KeptWork& work) {
  try {
    work.load([](const json&, std::string_view) {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Wherever a file is cut, or its second line spoilt.
TEST(KeptWork, SaysHowAFileIsDamaged) {
  fs::path folder = fresh("cut").parent_path();
  KeptWork work = work_in(folder);
  EXPECT_TRUE(work.save({{"note", 1}}, {}));
  EXPECT_EQ(refusal(work), "");
  std::string whole = read_file(work.name()), first = "sturnus training 1\n";
  ASSERT_EQ(whole.substr(0, first.size()), first);
  std::string end = ". Choose another --out, or remove the file to begin anew";
  for (std::size_t size : {first.size(), first.size() + 1, first.size() + 4}) {
    write_file(work.name(), whole.substr(0, size));
    EXPECT_EQ(refusal(work), work.name() + " cannot be continued: it ends too early" + end);
  }
  for (const char* line : {"\n", "many\n", "12 \n", "99999999999999999999999\n"}) {
    write_file(work.name(), first + line + "{}");
    EXPECT_EQ(refusal(work),
              work.name() +
                  " cannot be continued: its second line does not say how long the settings are" +
                  end);
  }
  write_file(work.name(), first + "18446744073709551615\n{}");
  EXPECT_EQ(refusal(work), work.name() + " cannot be continued: it ends too early" + end);
}

TEST(KeptWork, TellsWhetherItWrote) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  fs::path folder = fresh("unkept").parent_path();
  fs::create_directories(folder);
  fs::create_symlink("/dev/full", folder / "training.part.part");
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  EXPECT_FALSE(work_in(folder).save({}, {}));
  set_log_sink({});
  EXPECT_EQ(warning.rfind("the training could not be kept: cannot write ", 0), 0u) << warning;
  EXPECT_FALSE(work_in({}).save({}, {}));
}

}  // namespace
}  // namespace sturnus::app
