#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/plugin_search.h>

#include <fstream>
#include <functional>
#include <list>

#include "tests/runtime/fake.h"

namespace sturnus {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// An empty machine: nothing is set, and whatever is found was put there by the test.
class PluginSearch : public testing::Test {
 protected:
  PluginSearch() {
    for (const char* name : {"PJRT_NAMES_AND_LIBRARY_PATHS", "VIRTUAL_ENV", "CONDA_PREFIX",
                             "PYTHONPATH", "XDG_DATA_HOME"}) {
      set(name, std::nullopt);
    }
    set("STURNUS_CACHE", (folder.path() / "no cache").string());  // instead of the build's
    std::vector<std::string> plugins;                             // that the user has chosen
    for (char** entry = environ; *entry != nullptr; entry++) {
      std::string name = *entry;
      if (name.starts_with("STURNUS_PLUGIN_")) plugins.push_back(name.substr(0, name.find('=')));
    }
    for (const std::string& name : plugins) set(name, std::nullopt);
    set("HOME", (folder.path() / "home").string());
    python_with({});  // comes before the real one, and has no packages
    set("PATH", (folder.path() / "bin").string() + ":/bin");
  }

  void set(const std::string& name, std::optional<std::string> value) {
    variables.emplace_front(name, std::move(value));
  }
  // A file below the test's folder, with the folders above it.
  fs::path file(const fs::path& name, const std::string& contents = "") const {
    fs::path path = folder.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << contents;
    return path;
  }
  void script(const fs::path& name, const std::string& text) const {
    fs::path path = file(name, "#!/bin/sh\n" + text);
    fs::permissions(path, fs::perms::owner_all);
  }
  // A python3 that looks for packages in these folders.
  void python_with(const std::vector<fs::path>& folders, const fs::path& name = "bin/python3") {
    std::string text = "echo\n";  // the first is empty: the folder one is in
    for (const fs::path& path : folders) text += "echo \"" + path.string() + "\"\n";
    script(name, text);
  }

  TemporaryFolder folder;
  std::list<Variable> variables;  // the latest first, so that each is restored before older ones
};

// ------------------------------------------------------------------------------------- the order

// Every place but the prefix beside this program, from the last to the first: each wins over those
// before.
TEST_F(PluginSearch, HasAnOrder) {
  const fs::path wheel = fs::path("xla_plugins") / "xla_bird_pjrt" / "xla_bird_pjrt.so";
  const auto below = [&](const char* place) { return folder.path() / place; };
  struct Place {
    std::string source;
    std::function<fs::path()> fill;  // puts a plugin there, and gives its file
  };
  const Place places[] = {
      {"packages of python3",
       [&] {
         python_with({below("site")});
         return file("site" / wheel);
       }},
      {"packages of " + below("conda").string() + "/bin/python3",
       [&] {
         python_with({below("conda/lib")}, "conda/bin/python3");
         set("CONDA_PREFIX", below("conda").string());
         return file("conda/lib" / wheel);
       }},
      {"packages of " + below("venv").string() + "/bin/python3",
       [&] {
         python_with({below("venv/lib")}, "venv/bin/python3");
         set("VIRTUAL_ENV", below("venv").string());
         return file("venv/lib" / wheel);
       }},
      {"the user's data folder",
       [&] { return file("home/.local/share/sturnus/plugins/bird/1.0" / wheel); }},
      {"the user's data folder",
       [&] {
         set("XDG_DATA_HOME", below("data").string());
         return file("data/sturnus/plugins/bird/1.0" / wheel);
       }},
      {"STURNUS_CACHE",
       [&] {
         set("STURNUS_CACHE", below("cache").string());
         return file("cache/plugins/bird/1.0" / wheel);
       }},
      {"PJRT_NAMES_AND_LIBRARY_PATHS",
       [&] {
         fs::path path = file("named.so");
         set("PJRT_NAMES_AND_LIBRARY_PATHS", "cat:/nowhere.so,bird:" + path.string());
         return path;
       }},
      {"STURNUS_PLUGIN_BIRD",
       [&] {
         fs::path path = file("chosen.so");
         set("STURNUS_PLUGIN_BIRD", path.string());
         return path;
       }},
  };
  EXPECT_THROW(find_plugin("bird"), PluginError);
  for (const Place& place : places) {
    fs::path expected = place.fill();
    PluginLocation found = find_plugin("bird");
    EXPECT_EQ(found.file, expected);
    EXPECT_EQ(found.source, place.source);
    EXPECT_EQ(found.name, "bird");
  }
  fs::path given = file("given.so");
  PluginLocation found = find_plugin(given.string());
  EXPECT_EQ(found.file, given);
  EXPECT_EQ(found.source, "the path given");
}

TEST_F(PluginSearch, PrefersTheNewestOfACache) {
  for (const char* version : {"0.9.0-1a2b", "0.10.1-ffff", "0.10.0-9999"}) {
    file(fs::path("cache/plugins/bird") / version / "xla_plugins/bird/bird.so");
  }
  set("STURNUS_CACHE", (folder.path() / "cache").string());
  EXPECT_THAT(find_plugin("bird").file.string(), HasSubstr("/0.10.1-ffff/"));
}

TEST_F(PluginSearch, KnowsTheLayoutsOfWheels) {
  const struct {
    const char* file;
    const char* platform;
  } rows[] = {{"xla_plugins/xla_finch_pjrt/xla_finch_pjrt.so", "finch"},
              {"xla_plugins/wren/wren.so", "wren"},
              {"xla_plugins/xla_crow/pjrt_plugin_crow.so", "crow"},
              {"jax_plugins/xla_cuda13/xla_cuda_plugin.so", "cuda"},
              {"jax_plugins/xla_rocm7/xla_rocm_plugin.so", "rocm"},
              {"libtpu/libtpu.so", "tpu"}};
  set("STURNUS_CACHE", (folder.path() / "cache").string());
  for (const auto& row : rows) {
    fs::path path = file(fs::path("cache/plugins/any/1.0") / row.file);
    EXPECT_EQ(find_plugin(row.platform).file, path) << row.file;
  }
  // Folders in the place of files, and packages that are something else, are passed by.
  fs::create_directories(folder.path() / "cache/plugins/any/1.0/xla_plugins/owl/owl.so");
  file("cache/plugins/any/1.0/jax_plugins/tern/__init__.py");
  EXPECT_THROW(find_plugin("owl"), PluginError);
  EXPECT_THROW(find_plugin("tern"), PluginError);
}

// --------------------------------------------------------------------------------------- Python

TEST_F(PluginSearch, AsksPythonWhereItsPackagesAre) {
  fs::path one = file("one/libtpu/libtpu.so"), two = file("two/libtpu/libtpu.so");
  fs::path missing = folder.path() / "missing";
  python_with({missing, folder.path() / "two", folder.path() / "one"});
  EXPECT_EQ(find_plugin("tpu").file, two);
  set("VIRTUAL_ENV", missing.string());
  EXPECT_EQ(find_plugin("tpu").file, two) << "an environment without a python3 is none";
}

TEST_F(PluginSearch, TakesAnyFolderName) {
  fs::path packages = folder.path() / "it's here; $(false) \"quoted\"" / "lib";
  fs::path path = file(packages / "libtpu" / "libtpu.so");
  fs::path environment = folder.path() / "Ann's $HOME; exit 1";
  script(environment / "bin/python3", "cat <<'end'\n" + packages.string() + "\nend\n");
  set("VIRTUAL_ENV", environment.string());
  EXPECT_EQ(find_plugin("tpu").file, path);
}

TEST_F(PluginSearch, DoesWithoutPython) {
  set("PATH", (folder.path() / "nothing").string());
  EXPECT_THAT(error_of<PluginError>([] { find_plugin("bird"); }), HasSubstr("Searched:"));
  fs::path path = file("home/.local/share/sturnus/plugins/bird/1/xla_plugins/bird/bird.so");
  EXPECT_EQ(find_plugin("bird").file, path);
  EXPECT_NO_THROW(list_plugins());
}

TEST_F(PluginSearch, SurvivesABrokenPython) {
  testing::internal::CaptureStderr();
  for (const char* broken : {"echo oops >&2; exit 1", "printf 'no end of line'", "kill -9 $$"}) {
    script("bin/python3", broken);
    EXPECT_THAT(error_of<PluginError>([] { find_plugin("bird"); }), HasSubstr("Searched:"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// --------------------------------------------------------------------------------------- errors

TEST_F(PluginSearch, ListsEveryPlaceWhenThereIsNone) {
  python_with({folder.path() / "home"});
  fs::create_directories(folder.path() / "home");
  set("STURNUS_CACHE", (folder.path() / "cache").string());
  file("cache/plugins/finch/1.0/xla_plugins/finch/finch.so");
  std::string message = error_of<PluginError>([] { find_plugin("bird"); });
  EXPECT_THAT(message, StartsWith("find_plugin: there is no PJRT plugin for \"bird\" (there is one "
                                  "for finch"));
  std::size_t at = 0;
  for (const std::string& place :
       {std::string("Searched:"), std::string("$STURNUS_PLUGIN_BIRD (not set)"),
        std::string("$PJRT_NAMES_AND_LIBRARY_PATHS"),
        (folder.path() / "cache/plugins").string() + " (STURNUS_CACHE)",
        (folder.path() / "cache/plugins/finch/1.0").string() + " (STURNUS_CACHE)",
        (folder.path() / "home/.local/share/sturnus/plugins").string() +
            " (the user's data folder)",
        std::string("(the installed prefix)"),
        (folder.path() / "home").string() + " (packages of python3)",
        std::string("Set STURNUS_PLUGIN_BIRD to its file.")}) {
    std::size_t found = message.find(place, at);
    EXPECT_NE(found, message.npos) << place << " is not in its place in\n" << message;
    if (found != message.npos) at = found;
  }
}

TEST_F(PluginSearch, NamesTheCommandThatInstallsAPlugin) {
  for (std::string name : {"cuda", "tpu"}) {
    EXPECT_THAT(error_of<PluginError>([&] { find_plugin(name); }),
                HasSubstr("\nInstall it with `sturnus plugins install " + name + "`, or set " +
                          (name == "tpu" ? "STURNUS_PLUGIN_TPU" : "STURNUS_PLUGIN_CUDA") +
                          " to its file."));
  }
  EXPECT_THAT(error_of<PluginError>([] { find_plugin("bird"); }), Not(HasSubstr("install bird")));
}

TEST_F(PluginSearch, RefusesSettingsThatNameNoFile) {
  std::string missing = (folder.path() / "missing.so").string();
  const auto message = [](const std::string& name) {
    return error_of<PluginError>([&] { find_plugin(name); });
  };
  const auto names = [](const std::string& source, const std::string& what) {
    return "find_plugin: " + source + " names " + what +
           ", which is not a file. `sturnus plugins` lists the plugins that are there";
  };
  EXPECT_EQ(message(missing), names("the path given", missing));
  EXPECT_EQ(message("missing.so"), names("the path given", "missing.so"));
  EXPECT_EQ(message(folder.path().string()), names("the path given", folder.path().string()));
  set("PJRT_NAMES_AND_LIBRARY_PATHS", "bird:" + missing);
  EXPECT_EQ(message("bird"), names("PJRT_NAMES_AND_LIBRARY_PATHS", missing));
  set("STURNUS_PLUGIN_BIRD", folder.path().string());
  EXPECT_EQ(message("bird"), names("STURNUS_PLUGIN_BIRD", folder.path().string()));
}

TEST_F(PluginSearch, RefusesMalformedNamesAndPaths) {
  fs::path path = file("bird.so");
  for (const char* wrong : {"bird", "/a/file.so", "cat:/cat.so,bird"}) {
    set("PJRT_NAMES_AND_LIBRARY_PATHS", wrong);
    std::string message = error_of<PluginError>([] { find_plugin("bird"); });
    EXPECT_THAT(message, AllOf(HasSubstr("PJRT_NAMES_AND_LIBRARY_PATHS has the entry \""),
                               HasSubstr("Write name:file,name:file")));
    EXPECT_THROW(list_plugins(), PluginError);
  }
  for (std::string right : {"bird:" + path.string(), ",bird:" + path.string() + ",,",
                            "bird:" + path.string() + ",bird:/other.so"}) {
    set("PJRT_NAMES_AND_LIBRARY_PATHS", right);
    EXPECT_EQ(find_plugin("bird").file, path) << "the first counts";
  }
}

// ----------------------------------------------------------------------------------- all of them

TEST_F(PluginSearch, ListsEachFileOnce) {
  fs::path path = file("site/xla_plugins/bird/bird.so");
  fs::path tpu = file("site/libtpu/libtpu.so");
  fs::create_directories(folder.path() / "other/xla_plugins/bird");
  fs::create_symlink(path, folder.path() / "other/xla_plugins/bird/bird.so");
  python_with({folder.path() / "site", folder.path() / "other", folder.path() / "site"});
  set("PJRT_NAMES_AND_LIBRARY_PATHS", "sparrow:" + path.string());
  set("STURNUS_PLUGIN_FINCH", path.string());
  set("STURNUS_PLUGIN_EMPTY", "");
  std::vector<std::string> listed;
  for (const PluginLocation& location : list_plugins()) {
    if (location.file.string().starts_with(folder.path().string())) {
      listed.push_back(location.name + " " + location.source);
    }
  }
  EXPECT_EQ(listed,
            (std::vector<std::string>{"finch STURNUS_PLUGIN_FINCH", "tpu packages of python3"}));
}

TEST_F(PluginSearch, InstallsIntoTheUsersDataFolder) {
  EXPECT_EQ(user_data_folder(), folder.path() / "home/.local/share/sturnus");
  set("XDG_DATA_HOME", "/data");
  EXPECT_EQ(user_data_folder(), "/data/sturnus");
  set("XDG_DATA_HOME", "");
  EXPECT_EQ(user_data_folder(), folder.path() / "home/.local/share/sturnus");
}

}  // namespace
}  // namespace sturnus
