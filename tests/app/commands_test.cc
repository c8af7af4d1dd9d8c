#include "src/app/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/gpu_target.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/plugin_search.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/interrupting.h"
#include "tests/runtime/fake.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A machine with the build's own plugin and those that a test names; without Python.
class Commands : public testing::Test {
 protected:
  Commands() {
    for (const char* name : {"PJRT_NAMES_AND_LIBRARY_PATHS", "STURNUS_PLUGIN_CUDA",
                             "STURNUS_PLUGIN_TPU", "VIRTUAL_ENV", "CONDA_PREFIX"}) {
      set(name, std::nullopt);
    }
    set("HOME", folder.path().string());
    set("XDG_DATA_HOME", (folder.path() / "data").string());
    set("PATH", (folder.path() / "bin").string());
  }
  void set(const std::string& name, std::optional<std::string> value) {
    variables.emplace_front(name, std::move(value));
  }
  fs::path file(const char* name, std::string_view text) const {
    std::ofstream(folder.path() / name) << text;
    return folder.path() / name;
  }

  TemporaryFolder folder;
  std::list<Variable> variables;  // the latest first, so that each is restored before older ones
  std::ostringstream out;
};

// -------------------------------------------------------------------------- devices and plugins

TEST_F(Commands, ShowTheDevicesOfAPlatform) {
  set("STURNUS_PLUGIN_BIRD", fake().fresh_file().string());
  Part devices("DEVICES", "2");
  Part remote("REMOTE_DEVICES", "1");
  show_devices(out, "bird");
  EXPECT_EQ(out.str(),
            "PLATFORM  DEVICE  KIND         MEMORY                             PROCESS\n"
            "fake      0       Fake device  device, 1.0 KiB of 1.0 GiB in use  0\n"
            "fake      1       Fake device  device, 2.0 KiB of 1.0 GiB in use  0\n"
            "fake      2       Fake device  of another process                 1\n");
  EXPECT_EQ(fake().live(), 0);
}

TEST_F(Commands, ShowDevicesEvenIfOnePluginDoesNotWork) {
  set("STURNUS_PLUGIN_BIRD", fake().fresh_file().string());
  set("STURNUS_PLUGIN_BROKEN", file("broken.so", "text").string());
  set("STURNUS_PLUGIN_TPU", file("tpu.so", "text").string());
  show_devices(out, "");
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("\nfake      1       Fake device"),
                    HasSubstr("The plugin for broken does not work here: Plugin::load: "),
                    HasSubstr("plugin for tpu")));
  EXPECT_THAT(error_of<PluginError>([&] { show_devices(out, "broken"); }), HasSubstr("broken.so"));
  EXPECT_THAT(error_of<PluginError>([&] { show_devices(out, "cat"); }),
              HasSubstr("there is no PJRT plugin for \"cat\""));
}

TEST_F(Commands, ShowThePlugins) {
  fs::path plugin = fake().fresh_file();
  set("STURNUS_PLUGIN_BIRD", plugin.string());
  set("STURNUS_PLUGIN_BROKEN", file("broken.so", "text").string());
  Part minor("MINOR", "116");
  show_plugins(out);
  std::istringstream lines(out.str());
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, StartsWith("PLATFORM  PJRT API"));
  std::string bird, broken, cpu;
  while (std::getline(lines, line)) {
    if (line.starts_with("bird ")) bird = line;
    if (line.starts_with("broken ")) broken = line;
    if (line.starts_with("cpu ")) cpu = line;
  }
  EXPECT_THAT(bird, AllOf(HasSubstr(" 0.116 "), HasSubstr(" 1.13.3 "),
                          HasSubstr(" STURNUS_PLUGIN_BIRD "), HasSubstr(plugin.string())));
  EXPECT_THAT(broken, HasSubstr(" does not load "));
  EXPECT_THAT(cpu, HasSubstr(" 0.81 "));
  EXPECT_THAT(out.str(), AllOf(HasSubstr("\nSturnus speaks PJRT API 0.81; plugins of other minor"),
                               HasSubstr("broken.so is not a shared library")));
}

TEST_F(Commands, SayWhatInstallingAPluginNeeds) {
  EXPECT_THAT(error_of([&] { install_plugin(out, "cpu"); }),
              AnyOf(HasSubstr("plugins install: python3 is not installed. Install python3 and pip"),
                    // when the build is outside of the source tree
                    HasSubstr("plugins install: fetch_plugin.py is neither in the source tree")));
  EXPECT_FALSE(fs::exists(user_data_folder()));
}

TEST_F(Commands, SayWhichDeviceIsNotThere) {
  EXPECT_THAT(error_of([] { select_device("cpu:99"); }),
              "device: there is no cpu:99; cpu has 1 device");
  EXPECT_THAT(error_of([] { select_device("cpu:2", 2); }),
              "device: there is no cpu:2; cpu has 2 devices, counted from 0");
  for (const char* name : {"cpu:", "cpu:one", "cpu:1st", "cpu:-1"}) {
    EXPECT_EQ(error_of([&] { select_device(name); }),
              "device: \"" + std::string(name) + "\" is not platform:number, such as cpu:0");
  }
  EXPECT_EQ(error_of([] { select_device("cpu:1", 2); }),
            "device: 2 devices from cpu:1 on are asked for, but cpu has 2, counted from 0. Give "
            "--device cpu:0, or fewer --devices");
  EXPECT_THAT(error_of<PluginError>([] { select_device("abacus"); }),
              HasSubstr("there is no PJRT plugin for \"abacus\""));
  // A plugin without its hardware.
  set("STURNUS_PLUGIN_BIRD", fake().fresh_file().string());
  Part failing("FAIL", "PJRT_Client_Create:9:No visible GPU devices.");
  EXPECT_EQ(error_of([] { select_device("bird:1"); }),
            "device: there is no bird here: PJRT_Client_Create: No visible GPU devices. "
            "[FAILED_PRECONDITION]. `sturnus devices` lists what there is");
}

// --------------------------------------------------------------------------------------- targets

TEST_F(Commands, ShowATarget) {
  for (std::string_view name : gpu_target_names()) {
    std::ostringstream text;
    show_target(text, std::string(name));
    EXPECT_EQ(text.str(), target_config_text(*find_gpu_target(name)));
  }
  EXPECT_EQ(error_of([&] { show_target(out, "v100"); }),
            "targets: no GPU named \"v100\"; there are a100, b200, h100");
}

// --------------------------------------------------------------------------------------- compile

TEST_F(Commands, CompileAProgramAndReportOnIt) {
  CompileRequest request;
  request.program = file("loop.mlir", programs::loop);
  request.targets = {"cpu"};
  request.json = folder.path() / "report.json";
  request.save = folder.path() / "made" / "on the way";
  compile_program(out, request);
  EXPECT_THAT(out.str(), AllOf(StartsWith("cpu\nloop\n"), HasSubstr("\narguments "),
                               HasSubstr("iteration of loop 1")));

  nlohmann::json report = nlohmann::json::parse(contents(request.json)).at("cpu");
  EXPECT_EQ(report.at("name"), "loop");
  EXPECT_EQ(report.at("argument_bytes"), 8 + 4096);
  EXPECT_EQ(report.at("output_bytes"), 4096);
  EXPECT_GT(report.at("compile_s"), 0);
  EXPECT_EQ(report.at("instructions").at("while"), 1);
  EXPECT_EQ(report.at("run").at("has_open_loops"), true);
  EXPECT_TRUE(report.at("run").at("collectives").empty());
  ASSERT_EQ(report.at("loops").size(), 1u);
  EXPECT_FALSE(report.at("loops")[0].at("iteration").at("kernels").empty());
  EXPECT_FALSE(report.at("loops")[0].contains("trip_count"));

  LoadedExecutable saved = cpu().load(contents(request.save / "loop.cpu.xla"));
  EXPECT_EQ(saved.parameter_types().at(1)->str(), "f32[32,32]");
  slow_result(saved).await();
}

TEST_F(Commands, CompileAProgramForSeveralDevices) {
  CompileRequest request;
  request.program = file("sum.mlir", R"(module @sum attributes {mhlo.num_partitions = 2 : i32} {
    sdy.mesh @mesh = <["x"=2]>
    func.func public @main(%v: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
        -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      return %sum : tensor<f32>
    }
  })");
  request.targets = {"cpu"};
  request.devices = 2;
  request.json = folder.path() / "report.json";
  compile_program(out, request);
  nlohmann::json report = nlohmann::json::parse(contents(request.json)).at("cpu");
  EXPECT_EQ(report.at("argument_bytes"), 16);
  EXPECT_EQ(report.at("run").at("collectives").at("all-reduce"),
            (nlohmann::json{{"count", 1}, {"bytes", 4}}));
}

// The whole training of an experiment, whatever folders have its name.
TEST_F(Commands, CompileAnExperiment) {
  const fs::path before = fs::current_path();
  fs::create_directories(folder.path() / "exponential");
  fs::current_path(folder.path());
  CompileRequest request;
  request.program = "exponential";
  request.members = 2;
  request.targets = {"cpu"};
  request.json = "report.json";
  compile_program(out, request);
  request.variant = "ful";
  std::string message = error_of([&] { compile_program(out, request); });
  fs::current_path(before);
  EXPECT_THAT(message, HasSubstr("there is no variant \"ful\""));
  EXPECT_THAT(message, HasSubstr("full, correlated. Did you mean \"full\"?"));
  nlohmann::json report = nlohmann::json::parse(contents(folder.path() / "report.json")).at("cpu");
  EXPECT_EQ(report.at("run").at("has_open_loops"), true) << "the iterations are an argument";
  // Weights and moments of 2 x (1 x 20 + 20 + 20 x 20 + 20 + 20 x 1 + 1) numbers, at least.
  EXPECT_GT(report.at("argument_bytes"), 3 * 4 * 2 * 481);
  EXPECT_THAT(out.str(), HasSubstr("iteration of loop 1"));
}

TEST_F(Commands, CompileAFileOfSettings) {
  CompileRequest request;
  request.program = file("mine.json", R"({"experiment": "exponential", "variant": "none",
      "members": 2, "network": {"hidden": [3]}})");
  request.targets = {"cpu"};
  request.json = folder.path() / "report.json";
  compile_program(out, request);
  nlohmann::json report = nlohmann::json::parse(contents(request.json)).at("cpu");
  EXPECT_EQ(report.at("run").at("has_open_loops"), true);
  EXPECT_LT(report.at("argument_bytes"), 4000);
  request.program = file("mine.json", R"({"experiment": "exponential", "membrs": 2})");
  EXPECT_THAT(error_of([&] { compile_program(out, request); }),
              HasSubstr("there is no setting \"membrs\""));
  request.program = "exponential";
  request.members = 100000;
  EXPECT_THAT(error_of([&] { compile_program(out, request); }),
              StartsWith("Ensemble: 100000 members, whose pairs a median bandwidth ranks."));
}

TEST_F(Commands, RefuseToCompileWhatTheyCannot) {
  set("STURNUS_PLUGIN_CUDA", "/no/cuda.so");
  set("STURNUS_PLUGIN_TPU", "/no/tpu.so");
  const fs::path program = file("twice.mlir", programs::twice);
  const fs::path text = file("notes.txt", "no description");
  const fs::path missing = folder.path() / "missing";
  const auto request = [&](const fs::path& source, std::string target, int devices = 1,
                           fs::path json = {}, fs::path save = {}) {
    return CompileRequest{.program = source,
                          .targets = {std::move(target)},
                          .devices = devices,
                          .json = std::move(json),
                          .save = std::move(save)};
  };
  const std::pair<CompileRequest, std::string> rows[] = {
      {request(missing, "cpu"), "there is no experiment and no file \"" + missing.string() + "\""},
      {request(folder.path(), "cpu"),
       "there is no experiment and no file \"" + folder.path().string() + "\""},
      {request(program, "h1000"),
       "compile: no target \"h1000\". There are cpu, a100, b200, h100, tpu:<topology>"},
      {request(program, text.string()), "is not a GPU description: it has no gpu_device_info"},
      {request(program, folder.path().string()), "cannot read " + folder.path().string()},
      {request(program, "cpu", 0), "partitions"},
      {request(program, "h100"), "STURNUS_PLUGIN_CUDA names /no/cuda.so, which is not a file"},
      {request(program, "tpu:v5e:2x2"), "STURNUS_PLUGIN_TPU names /no/tpu.so, which is not a file"},
      {request(text, "cpu"), "line 1 of the program: no description"},
      {request(program, "cpu", 1, program / "x.json"), "cannot write " + program.string()},
      {request(program, "cpu", 1, {}, program), "cannot write " + program.string()},
  };
  for (const auto& [wrong, message] : rows) {
    EXPECT_THAT(error_of([&, &r = wrong] { compile_program(out, r); }), HasSubstr(message));
  }
}

// ------------------------------------------------------------------------------------------- run

TEST_F(Commands, RunAnExperimentAndSayWhatIsWrong) {
  std::ostringstream progress;
  RunRequest request;
  request.experiment = "exponential";
  request.members = 3;
  request.iterations = 4;
  request.out = folder.path() / "result";
  set("STURNUS_PLOTLY", "/dev/null");
  run_experiment(out, progress, request);
  EXPECT_THAT(out.str(), HasSubstr("logL lambda"));
  EXPECT_TRUE(fs::exists(request.out / "result.json"));
  EXPECT_THAT(contents(request.out / "report.html"), HasSubstr("exponential"));

  {
    request.out = folder.path() / "interrupted";
    Interrupting buffer("4/4");
    std::ostream interrupted(&buffer);
    run_experiment(out, interrupted, request);
    EXPECT_THAT(out.str(), HasSubstr("\nInterrupted when the training had ended; its scores are "
                                     "complete.\n"));
    EXPECT_FALSE(fs::exists(request.out / "training.part"));
  }

  request.variant = "fulll";
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              HasSubstr("exponential: there is no variant \"fulll\"; there are none, f, lambda, "
                        "joint, factorized, full, correlated. Did you mean \"full\"?"));
  request.variant = "";
  request.out = folder.path() / "nothing";
  request.experiment = "pendulum";
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              AllOf(HasSubstr("there is no experiment and no file \"pendulum\""),
                    HasSubstr("damped_oscillator")));
  request.experiment = "exponential";
  request.against = "tempering";
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              HasSubstr("but the experiment is exponential"));
  request.against = "nut";
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              HasSubstr("there are nuts, tempering. Did you mean \"nuts\"?"));
  request.against = "";
  request.device = "cpu:99";
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              HasSubstr("there is no cpu:99"));
  request.device = "cpu:one";
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              HasSubstr("is not platform:number"));
}

TEST_F(Commands, ARunTakesAllOfAVariantOverAFile) {
  set("STURNUS_PLOTLY", "/dev/null");
  std::ostringstream progress;
  RunRequest request;
  request.experiment = file("settings.json", R"({"experiment": "exponential", "variant": "none",
      "members": 4, "network": {"hidden": [4]}})")
                           .string();
  request.variant = "correlated";
  request.iterations = 2;
  request.out = folder.path() / "result";
  run_experiment(out, progress, request);
  nlohmann::json settings =
      nlohmann::json::parse(contents(request.out / "result.json")).at("settings");
  EXPECT_EQ(settings.at("variant"), "correlated");
  EXPECT_EQ(settings.at("residual_weight").at("kind"), "exponential");
  EXPECT_EQ(settings.at("optimizer").at("rate").at("kind"), "cosine");
  EXPECT_EQ(settings.at("repulsion").at("factorization"), "correlated");
  EXPECT_EQ(settings.at("network").at("hidden"), nlohmann::json({4}));
  EXPECT_EQ(settings.at("iterations"), 2);

  // What is finished stays, and an unusable file too.
  std::string written = contents(request.out / "result.json");
  for (bool resume : {false, true}) {
    request.resume = resume;
    EXPECT_EQ(error_of([&] { run_experiment(out, progress, request); }),
              "run: " + (request.out / "result.json").string() +
                  " holds a finished result. Choose another --out, or remove it");
  }
  EXPECT_EQ(contents(request.out / "result.json"), written);
  file("result/result.json", written.substr(0, 50));
  EXPECT_EQ(error_of([&] { run_experiment(out, progress, request); }),
            (request.out / "result.json").string() +
                " cannot be used: it is cut off or damaged at byte 51. Choose another --out, or "
                "remove it");
}

TEST_F(Commands, ARunHasAFolderOfItsOwnName) {
  std::ostringstream progress;
  for (std::string variant : {"../mine", "two\\nlines"}) {
    RunRequest request;
    request.experiment = file("settings.json", R"({"experiment": "exponential", "repulsion": {},
        "variant": ")" + variant + "\"}")
                             .string();
    EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
                AllOf(StartsWith("run: the folder of results would be named after the variant \""),
                      HasSubstr("Give --out, or the variant another name")));
  }
}

// Found out before anything is compiled or trained.
TEST_F(Commands, RefuseAPlaceThatTakesNoFiles) {
  std::ostringstream progress;
  const fs::path taken = file("taken", "notes");
  const auto message = [&](const std::string& command, const std::string& option) {
    return command + ": nothing can be written to the folder " + taken.string() +
           ": Not a directory. Choose another " + option;
  };
  RunRequest run;
  run.experiment = "exponential";
  run.out = taken;
  EXPECT_EQ(error_of([&] { run_experiment(out, progress, run); }), message("run", "--out"));
  TableRequest table;
  table.experiment = "exponential";
  table.out = taken;
  EXPECT_EQ(error_of([&] { run_table(out, progress, table); }), message("table", "--out"));
  table.out = folder.path() / "table";
  table.keep = taken;
  EXPECT_EQ(error_of([&] { run_table(out, progress, table); }), message("table", "--keep"));
  SampleRequest sample;
  sample.problem = "exponential";
  sample.out = taken;
  EXPECT_EQ(error_of([&] { sample_problem(out, progress, sample); }), message("sample", "--out"));
  VariationalRequest vi;
  vi.out = taken;
  for (const char* problem : {"exponential", "oscillator_network"}) {
    vi.problem = problem;
    EXPECT_EQ(error_of([&] { fit_problem(out, progress, vi); }), message("vi", "--out"));
  }
  if (fs::exists("/proc")) {
    run.out = "/proc/sturnus";
    EXPECT_THAT(error_of([&] { run_experiment(out, progress, run); }),
                StartsWith("run: nothing can be written to the folder /proc/sturnus: "));
  }
  EXPECT_EQ(contents(taken), "notes");
  EXPECT_EQ(progress.str(), "");
}

TEST_F(Commands, OverwriteNoFinishedResult) {
  std::ostringstream progress;
  fs::create_directories(folder.path() / "done");
  const fs::path result = file("done/result.json", R"({"finished": true})");
  const std::string end =
      ": " + result.string() + " holds a finished result. Choose another --out, or remove it";
  SampleRequest sample;
  sample.problem = "exponential";
  sample.out = folder.path() / "done";
  EXPECT_EQ(error_of([&] { sample_problem(out, progress, sample); }), "sample" + end);
  VariationalRequest vi;
  vi.out = sample.out;
  for (const char* problem : {"exponential", "oscillator_network"}) {
    vi.problem = problem;
    EXPECT_EQ(error_of([&] { fit_problem(out, progress, vi); }), "vi" + end);
  }
}

// More than any machine has.
TEST_F(Commands, SayWhatNeedsLessMemory) {
  std::ostringstream progress;
  RunRequest request;
  request.experiment = file("huge.json", R"({"experiment": "exponential", "variant": "none",
      "members": 60000, "iterations": 1, "network": {"hidden": [40000, 40000]}})")
                           .string();
  request.out = folder.path() / "result";
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              AllOf(HasSubstr("Out of memory"), HasSubstr(". Give fewer members, points or widths"),
                    Not(HasSubstr("keeps what was done"))));
}

// A published run has the seed that it has in the table.
TEST_F(Commands, ARunHasTheSeedOfTheTable) {
  set("STURNUS_PLOTLY", "/dev/null");
  std::ostringstream progress;
  RunRequest request;
  request.experiment = "exponential";
  request.members = 2;
  request.iterations = 2;
  request.run = 3;
  const std::pair<std::optional<std::uint64_t>, int> rows[] = {{{}, 3}, {0, 0}};
  for (const auto& [asked, seed] : rows) {
    request.seed = asked;
    request.out = folder.path() / std::to_string(seed);
    run_experiment(out, progress, request);
    nlohmann::json settings =
        nlohmann::json::parse(contents(request.out / "result.json")).at("settings");
    EXPECT_EQ(settings.at("seed"), seed);
    EXPECT_EQ(settings.at("run"), 3);
  }
}

// Neither result nor draws are lost, and the report can be had when there is room again.
TEST_F(Commands, AReportThatFindsNoRoomIsMadeLater) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  set("STURNUS_PLOTLY", "/dev/null");
  std::ostringstream progress;
  RunRequest request;
  request.experiment = "exponential";
  request.members = 3;
  request.iterations = 4;
  request.out = folder.path() / "result";
  fs::create_directories(request.out);
  fs::create_symlink("/dev/full", request.out / "report.html.part");
  EXPECT_EQ(error_of([&] { run_experiment(out, progress, request); }),
            "run: there is no report: cannot write " + (request.out / "report.html.part").string() +
                ": No space left on device. When there is room, `sturnus report " +
                request.out.string() + "` makes it");
  EXPECT_THAT(out.str(), AllOf(HasSubstr("logL lambda"), HasSubstr("draws.nc"),
                               Not(HasSubstr("report.html"))));
  EXPECT_FALSE(fs::exists(request.out / "report.html"));
  const fs::path result = request.out / "result.json";
  ASSERT_TRUE(fs::exists(result));

  for (const fs::path& given : {request.out, result}) {
    make_report(out, given);
    EXPECT_THAT(contents(request.out / "report.html"), HasSubstr("Exponential growth"));
    fs::remove(request.out / "report.html");
  }
  fs::create_symlink("/dev/full", request.out / "report.html.part");
  EXPECT_THAT(error_of([&] { make_report(out, result); }), HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::exists(result));
  // Where there is no result either, nothing but the training can make both.
  request.out = folder.path() / "full";
  fs::create_directories(request.out);
  for (const char* file : {"result.json.part", "report.html.part"}) {
    fs::create_symlink("/dev/full", request.out / file);
  }
  EXPECT_THAT(error_of([&] { run_experiment(out, progress, request); }),
              HasSubstr("No space left on device. When there is room, the same command with "
                        "--resume writes the result and it"));
  request.resume = true;
  run_experiment(out, progress, request);
  EXPECT_TRUE(fs::exists(request.out / "report.html"));
  std::string end = ". Give a result.json of run, sample or vi, or its folder";
  EXPECT_EQ(error_of([&] { make_report(out, folder.path() / "none"); }),
            (folder.path() / "none").string() + " cannot be used: cannot read " +
                (folder.path() / "none").string() + end);
  const fs::path other = file("other.json", "{}");
  EXPECT_EQ(error_of([&] { make_report(out, other); }),
            other.string() + " cannot be used: it holds no result" + end);
}

TEST_F(Commands, ATableSaysWhatItCannotDo) {
  std::ostringstream progress;
  const auto message = [&](const std::function<void(TableRequest&)>& ask) {
    TableRequest request;
    request.experiment = "exponential";
    request.out = folder.path() / "table";
    ask(request);
    return error_of([&] { run_table(out, progress, request); });
  };
  EXPECT_EQ(message([](TableRequest& r) {
              r.runs = {0, 9};
            }),
            "table: run 9 of exponential is asked for, but there are runs 0 to 4. Give one of "
            "them");
  EXPECT_EQ(message([](TableRequest& r) {
              r.variants = {"none", "jont"};
            }),
            "exponential: there is no variant \"jont\"; there are none, f, lambda, joint, "
            "factorized, full, correlated. Did you mean \"joint\"?");
  EXPECT_EQ(
      message([](TableRequest& r) { r.against = "nuts"; }),
      "table: nuts draws the posterior of advection, but the experiment is exponential. Leave "
      "--against nuts out");
  EXPECT_THAT(message([](TableRequest& r) { r.runs = {0}, r.data_seeds = {7}; }),
              HasSubstr("Leave --runs or --data-seeds out"));
  EXPECT_FALSE(fs::exists(folder.path() / "table"));

  const auto first = [](TableRequest& r) { r.variants = {"none"}, r.runs = {0}; };
  fs::create_directories(folder.path() / "table" / "none-run0");
  const fs::path result = file("table/none-run0/result.json", R"({"finished": true, "sett)");
  EXPECT_EQ(message(first),
            result.string() +
                " cannot be used: it is cut off or damaged at byte 25. Choose another "
                "--out, or remove it");
  file("table/none-run0/result.json", R"({"finished": true, "settings": {"experiment": "x"}})");
  EXPECT_THAT(message(first),
              AllOf(StartsWith(result.string() +
                               " cannot be used: $.settings.experiment: \"x\" is none of"),
                    HasSubstr(". Choose another --out, or remove it")));
  file("table/none-run0/result.json",
       R"({"finished": true, "settings": {"experiment": "exponential", "variant": "none",
           "members": 3}})");
  EXPECT_EQ(message(first), result.string() +
                                " cannot be used: it is a finished result of other settings: "
                                "/members differs. Choose another --out, or remove it");
  const fs::path kept = file("exponential.json", R"({"variants": []})");
  EXPECT_EQ(message([&](TableRequest& r) { r.keep = folder.path(); }),
            kept.string() +
                " cannot be used: key 'exact' not found. Choose another --keep, or remove it");

  // Before the first training.
  EXPECT_EQ(
      message([](TableRequest& r) { r.members = 3, r.runs = {1}; }),
      "$.members: Ensemble: 3 members, of each of which the correlated density sees 2 numbers. "
      "Give at least 4, or let it see less");
  file("table/none-run0/result.json",
       R"({"finished": true, "settings": {"experiment": "exponential", "variant": "none"}})");
  fs::create_directories(folder.path() / "table" / "f-run0");
  file("table/f-run0/result.json",
       R"({"finished": true, "settings": {"experiment": "exponential", "variant": "f",
           "members": 4}})");
  EXPECT_THAT(message([](TableRequest& r) { r.runs = {0}; }), HasSubstr("/members differs"));
  EXPECT_EQ(progress.str(), "");
}

// Each data set is run once; those of an earlier table stay in the next.
TEST_F(Commands, ATableOfFreshDataGoesOnFromWhatIsKept) {
  std::ostringstream progress;
  TableRequest request;
  request.experiment = "exponential";
  request.variants = {"lambda"};
  request.data_seeds = {101};
  request.members = 3;
  request.iterations = 3;
  request.out = folder.path() / "table";
  request.keep = folder.path() / "kept";
  run_table(out, progress, request);
  std::string first = progress.str();
  EXPECT_THAT(first, HasSubstr("run 0 of data seed 101"));
  request.data_seeds = {101, 103};
  request.out = folder.path() / "elsewhere";
  run_table(out, progress, request);
  EXPECT_THAT(progress.str().substr(first.size()),
              AllOf(HasSubstr("seed 103"), Not(HasSubstr("seed 101"))));
  EXPECT_THAT(out.str(), Not(HasSubstr("published")));
  EXPECT_FALSE(fs::exists(request.keep / "exponential.json"));
  EXPECT_THAT(contents(request.keep / "exponential_fresh.md"),
              AllOf(StartsWith("# exponential, fresh data\n"), HasSubstr("over 2 runs"),
                    HasSubstr("`sturnus table exponential --variants lambda --data-seeds 101,103 "
                              "--members 3 --iterations 3 --keep"),
                    HasSubstr("[exponential_fresh.json](exponential_fresh.json)"),
                    Not(HasSubstr("ublished numbers"))));
  nlohmann::json all = nlohmann::json::parse(contents(request.keep / "exponential_fresh.json"));
  const nlohmann::json& runs = all.at("variants").at(0).at("runs");
  const nlohmann::json& exact = all.at("exact").at(0).at("runs");
  ASSERT_EQ(runs.size(), 2u);
  ASSERT_EQ(exact.size(), 2u);
  for (std::size_t i = 0; i < 2; i++) {
    EXPECT_EQ(runs[i].at("data_seed"), 101 + 2 * i);
    EXPECT_EQ(exact[i].at("data_seed"), 101 + 2 * i);
  }
  EXPECT_NE(runs[0].at("metrics").at("w_f"), runs[1].at("metrics").at("w_f"));
}

TEST_F(Commands, ATableGoesOnWhereItStopped) {
  std::ostringstream progress;
  TableRequest request;
  request.experiment = "exponential";
  request.variants = {"none", "full"};
  request.runs = {0, 1};
  request.members = 3;
  request.iterations = 3;
  request.out = folder.path() / "table";
  request.keep = folder.path() / "kept";
  {
    Interrupting buffer("3/3");
    std::ostream interrupted(&buffer);
    run_table(out, interrupted, request);
    EXPECT_EQ(out.str(), "Interrupted; the same command goes on where this one stopped.\n");
    EXPECT_TRUE(fs::exists(request.out / "none-run0" / "result.json"));
    EXPECT_FALSE(fs::exists(request.out / "none-run1"));
  }
  run_table(out, progress, request);
  EXPECT_THAT(progress.str(), AllOf(HasSubstr("none run 1"), Not(HasSubstr("none run 0"))));
  EXPECT_THAT(out.str(), AllOf(HasSubstr("Sturnus"), HasSubstr("published"), HasSubstr("exact")));
  EXPECT_THAT(contents(request.keep / "exponential.md"), HasSubstr("| full | published |"));
  std::string first = progress.str();
  run_table(out, progress, request);
  EXPECT_EQ(progress.str(), first) << "what is there is not run again";
}

TEST_F(Commands, ATableGoesOnFromWhatIsKept) {
  std::ostringstream progress;
  TableRequest request;
  request.experiment = "lotka_volterra";
  request.variants = {"none"};
  request.runs = {0, 1};
  request.members = 2;
  request.iterations = 3;
  request.out = folder.path() / "here";
  request.keep = folder.path() / "kept";
  run_table(out, progress, request);
  std::string first = progress.str();
  request.out = folder.path() / "elsewhere";
  request.runs = {2};
  run_table(out, progress, request);
  EXPECT_THAT(progress.str().substr(first.size()),
              AllOf(HasSubstr("run 2"), Not(HasSubstr("run 1"))));
  EXPECT_THAT(contents(request.keep / "lotka_volterra.md"), HasSubstr("over 3 runs"));
  // Each row tells its seed; what was kept before rows did is known too.
  nlohmann::json kept = nlohmann::json::parse(contents(request.keep / "lotka_volterra.json"));
  EXPECT_EQ(kept["variants"][0]["runs"][2]["seed"], 2);
  EXPECT_EQ(kept["variants"][0]["runs"][0]["seed"], 0);

  // Other settings do not take the place of what is kept.
  std::string written = contents(request.keep / "lotka_volterra.json");
  request.iterations = 4;
  request.runs = {0};
  for (const char* variant : {"none", "f"}) {
    request.variants = {variant};
    EXPECT_EQ(error_of([&] { run_table(out, progress, request); }),
              (request.keep / "lotka_volterra.json").string() +
                  " cannot be used: its runs of none have other settings: /iterations differs. "
                  "Choose another --keep, or remove it");
  }
  EXPECT_EQ(contents(request.keep / "lotka_volterra.json"), written);
}

// Its scores are told all the same, and the same command keeps them later.
TEST_F(Commands, ATableThatCannotKeepItsPageGoesOn) {
  std::ostringstream progress;
  TableRequest request;
  request.experiment = "exponential";
  request.variants = {"none"};
  request.runs = {0, 1};
  request.members = 3;
  request.iterations = 3;
  request.out = folder.path() / "table";
  request.keep = folder.path() / "kept";
  const fs::path page = request.keep / "exponential.md";
  fs::create_directories(page / "in the way");
  std::string warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings += std::string(text) + '\n'; });
  std::string message = error_of([&] { run_table(out, progress, request); });
  set_log_sink({});
  EXPECT_THAT(message, AllOf(StartsWith("table: the page could not be kept: cannot write "),
                             HasSubstr("; when there is room the same command writes it")));
  std::size_t first = warnings.find("the page could not be kept: ");
  EXPECT_NE(first, std::string::npos) << warnings;
  EXPECT_EQ(warnings.find("the page could not be kept: ", first + 1), std::string::npos);
  EXPECT_THAT(progress.str(), HasSubstr("none run 1"));
  EXPECT_THAT(out.str(), AllOf(HasSubstr("exact draws"), HasSubstr("table.json")));

  fs::remove_all(page);
  std::string trained = progress.str();
  run_table(out, progress, request);
  EXPECT_EQ(progress.str(), trained);
  EXPECT_THAT(contents(page), HasSubstr("over 2 runs"));

  // The other file is told of as well.
  fs::remove(request.out / "table.json");
  fs::create_directories(request.out / "table.json" / "in the way");
  request.keep.clear();
  out.str("");
  EXPECT_THAT(error_of([&] { run_table(out, progress, request); }),
              StartsWith("table: there is no table.json: cannot write "));
  EXPECT_THAT(out.str(), HasSubstr("exact draws"));
}

// What is not asked for is not checked.
TEST_F(Commands, ATableOfOneMemberHasOneVariant) {
  std::ostringstream progress;
  TableRequest request;
  request.experiment = "exponential";
  request.variants = {"none"};
  request.runs = {0};
  request.members = 1;
  request.iterations = 2;
  request.out = folder.path() / "table";
  run_table(out, progress, request);
  EXPECT_THAT(out.str(), HasSubstr("none"));
}

}  // namespace
}  // namespace sturnus::app
