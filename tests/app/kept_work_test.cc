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

}  // namespace
}  // namespace sturnus::app
