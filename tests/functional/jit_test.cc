// Caching, static arguments, donation, devices; programs as text and in files.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/debug.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sturnus {
namespace {

struct Settings {
  Array x;
  int power = 2;
  std::string name;
};
struct Scaled {
  Array x;
  const double rate = 3;
  const std::string name = "a";
};

TEST(Jit, TracesOncePerStructureAndTypes) {
  int traces = 0;
  auto f = jit([&](const Settings& s) {
    traces++;
    return pow(s.x, s.power);
  });
  Array two(2.0f);
  EXPECT_EQ(f(Settings{two, 3, "a"}).item<float>(), 8);
  EXPECT_EQ(f(Settings{Array(3.0f), 3, "a"}).item<float>(), 27);
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f(Settings{two, 2, "a"}).item<float>(), 4);  // another static part
  EXPECT_EQ(traces, 2);
  f(Settings{two, 2, "b"});
  EXPECT_EQ(traces, 3);
  f(Settings{zeros({3}), 2, "b"});  // another type
  EXPECT_EQ(traces, 4);
  f(Settings{two, 3, "a"});
  EXPECT_EQ(traces, 4);
}

// Positions, bounds and numbers to fold in are data: what differs in them alone is one program.
TEST(Eager, OneProgramServesAllNumbers) {
  Array x = reshape(convert(arange(40), DType::f32), {10, 4});
  auto expect_one_program = [](const char* name, auto f) {
    f(1), f(2);
    std::size_t before = internal::kept_programs();
    for (int i = 3; i < 7; i++) f(i);
    EXPECT_EQ(internal::kept_programs(), before) << name;
  };
  expect_one_program("x * i", [&](int i) { return x * i; });
  expect_one_program("x[i]", [&](int i) { return x[i]; });
  expect_one_program("x(i, i - 1)", [&](int i) { return x(i, i % 4); });
  expect_one_program("x(Slice)", [&](int i) { return x(Slice{i, i + 3}); });
  expect_one_program("slice", [&](int i) { return slice(x, {i, 0}, {i + 1, 3}); });
  expect_one_program("at", [&](int i) { return x.at(i).add(2 * i); });
  expect_one_program("fold_in", [&](int i) { return fold_in(key(1), i); });
  Key keys = split(key(1), 9);
  expect_one_program("key_at", [&](int i) { return key_at(keys, i); });
  expect_one_program("uniform", [&](int i) { return uniform(key(1), {3}, -i, i + 0.5); });
  EXPECT_EQ(x[7].to_vector<float>(), (std::vector<float>{28, 29, 30, 31}));
  EXPECT_EQ(x(Slice{2, 10, 3}, 1).to_vector<float>(), (std::vector<float>{9, 21, 33}));
}

TEST(Eager, ProgramsCanBeFreed) {
  auto f = jit([](Array x) { return sin(x) + 0.25; });
  float before = f(1.0).item<float>();
  ASSERT_GT(internal::kept_programs(), 0u);
  clear_programs();
  EXPECT_EQ(internal::kept_programs(), 0u);
  EXPECT_EQ(f(1.0).item<float>(), before);
  EXPECT_EQ((Array(1.0) + 2.0).item<float>(), 3);
}

TEST(Jit, StaticArgumentsComeAsTheyAre) {
  auto f = jit<1>([](Array x, int n) {
    Array y = x;
    for (int i = 1; i < n; i++) y = y * x;
    return y;
  });
  EXPECT_EQ(f(Array(2.0f), 3).item<float>(), 8);
  EXPECT_EQ(f(Array(2.0f), 5).item<float>(), 32);
}

TEST(Jit, TextInQuotesIsAStaticString) {
  auto f = [](Array x, const std::string& name) { return name == "double" ? 2.0 * x : x; };
  EXPECT_EQ(jit<1>(f)(Array(3.0), "double").item<float>(), 6);
  EXPECT_EQ(jit(f)(Array(3.0), "single").item<float>(), 3);
  EXPECT_EQ(jit<1>(f).compile(Array(3.0), "double")(4.0, "double").item<float>(), 8);
}

TEST(Jit, CompiledFunctionsKeepTheirStructure) {
  auto f = [](const Settings& s) { return s.x * static_cast<double>(s.power); };
  auto compiled = jit(f).compile(Settings{Array(1.0), 2, "a"});
  EXPECT_EQ(compiled(Settings{Array(3.0), 2, "a"}).item<float>(), 6);
  EXPECT_THROW(compiled(Settings{Array(3.0), 5, "a"}), TreeError);
  EXPECT_THROW(compiled(Settings{Array(3.0), 2, "b"}), TreeError);
  auto scaled = jit<1>([](Array x, int n) { return x * static_cast<double>(n); });
  EXPECT_EQ(scaled.compile(Array(1.0), 2)(3.0, 2).item<float>(), 6);
  EXPECT_THROW(scaled.compile(Array(1.0), 2)(3.0, 5), TreeError);
}

TEST(Jit, NumbersAreScalarsAndNestedCallsAreInlined) {
  auto inner = jit([](Array x) { return x + 1.0; });
  auto outer = jit([&](Array x) { return inner(x) * 2.0; });
  EXPECT_EQ(outer(1.5).item<float>(), 5);
  EXPECT_EQ(grad(outer)(1.5).item<float>(), 2);
}

TEST(Jit, DonatedArgumentsAreGone) {
  auto f = jit([](Array x) { return x + 1.0; }, {.donate = {0}});
  Array x = ones({1000});
  Array y = f(x);
  EXPECT_EQ(y.to_vector<float>()[999], 2);
  EXPECT_THROW(f(x), Error);
  EXPECT_THROW(jit([](Array v) { return v; }, {.donate = {1}})(y), Error);
}

// Such a tree can be copied, but not assigned to.
TEST(Trees, MayHaveConstMembers) {
  auto scaled = [](const Scaled& s) { return Scaled{s.x * s.rate}; };
  auto loss = [](const Scaled& s, Array y) { return sum(s.x * s.x * y) * s.rate; };
  auto expect = [](const Scaled& s, std::vector<float> x) {
    EXPECT_EQ(s.x.to_vector<float>(), x);
    EXPECT_EQ(s.rate, 3);
    EXPECT_EQ(s.name, "a");
  };
  Scaled s{array({1, 2})};
  Array y = array({1, 10});
  expect(jit(scaled)(s), {3, 6});
  expect(jit(scaled).compile(s)(s), {3, 6});
  expect(grad(loss)(s, y), {6, 120});
  expect(std::get<0>(grad<0, 1>(loss)(s, y)), {6, 120});
  EXPECT_EQ(grad<1>(loss)(s, y).to_vector<float>(), (std::vector<float>{3, 12}));
  auto beside = [&](const Scaled& s) { return std::pair(sum(s.x), scaled(s)); };
  expect(grad(beside)(s).second, {3, 6});
  expect(std::get<2>(jvp(has_aux(beside), s, s)), {3, 6});
  expect(jvp(scaled, s, s).second, {3, 6});
  expect(vjp(scaled, s).second(s), {3, 6});
  expect(linearize(scaled, s).second(s), {3, 6});
  expect(vmap(scaled)(s), {3, 6});
  auto step = [&](const Scaled& carry, const Scaled& x) {
    return std::pair(Scaled{carry.x + x.x}, scaled(x));
  };
  auto [end, all] = scan(step, Scaled{0.0}, s);
  expect(end, {3});
  expect(all, {3, 6});
  expect(map(scaled, s), {3, 6});
  expect(fori_loop(
             0, 2, [&](Array, const Scaled& t) { return scaled(t); }, s),
         {9, 18});
  expect(while_loop([](const Scaled& t) { return sum(t.x) < 20.0; }, scaled, s), {9, 18});
  auto same = [](const Scaled& t) { return t; };
  expect(cond(y[0] > 0.0, scaled, same, s), {3, 6});
  expect(switch_(1, std::tuple(scaled, same), s), {1, 2});
}

// Of one client, the first of them the default from now on.
std::vector<Device> two_devices() {
  static const std::vector<Device> devices = Client::cpu(2).devices();
  set_default_device(devices[0]);
  return devices;
}

TEST(Jit, RunsOnTheDeviceThatIsAskedFor) {
  auto devices = two_devices();
  auto f = jit([](Array x) { return x * 2.0; }, {.device = devices[1]});
  Array y = f(ones({4}));
  EXPECT_EQ(y.device(), devices[1]);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 2, 2, 2}));
}

TEST(Jit, FollowsItsArguments) {
  auto devices = two_devices();
  Array c = ones({4}), here = ones({4});
  Array there = here.to(devices[1]);
  auto f = jit([&](Array x) { return x + c; });
  EXPECT_EQ(f(here).device(), devices[0]);
  EXPECT_EQ(f(there).device(), devices[1]);
  EXPECT_EQ((there * 2.0).device(), devices[1]);  // at once, too
  EXPECT_EQ(grad([](Array x) { return sum(x * x); })(there).device(), devices[1]);
}

TEST(Program, CopiesArgumentsThatAreElsewhere) {
  auto devices = two_devices();
  Array here = array({1, 2}), there = here.to(devices[1]);
  auto f = [](Array x, Array y) { return x + 10.0 * y; };
  const std::vector<float> expected = {11, 22};
  Program program = lower(f, here, here).compile(devices[1]);
  auto compiled = jit(f, {.device = devices[1]}).compile(here, here);
  for (const Array& x : {here, there}) {
    for (const Array& y : {here, there}) {
      Array by_program = program.run({x, y})[0], by_function = compiled(x, y);
      EXPECT_EQ(by_program.device(), devices[1]);
      EXPECT_EQ(by_function.device(), devices[1]);
      EXPECT_EQ(by_program.to_vector<float>(), expected);
      EXPECT_EQ(by_function.to_vector<float>(), expected);
    }
  }
  EXPECT_EQ(here.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Jit, CapturedArraysAreArgumentsNotPartOfTheProgram) {
  Array c = ones({3});
  auto f = jit([&](Array x) { return x + c; });
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

TEST(Lowered, GraphNamesOperationsTypesAndLines) {
  auto f = [](Array x) { return sin(x) * x; };
  int line = __LINE__ - 1;
  std::string text = lower(f, zeros({3})).graph();
  EXPECT_NE(text.find("%x0: f32[3]"), std::string::npos) << text;
  EXPECT_NE(text.find("sin %x0 : f32[3]"), std::string::npos) << text;
  EXPECT_NE(text.find("jit_test.cc:" + std::to_string(line)), std::string::npos) << text;
  std::string loop = lower(
                         [](Array x) {
                           return fori_loop(
                               0, 3, [](Array, Array y) { return cos(y); }, x);
                         },
                         zeros({}))
                         .graph();
  EXPECT_NE(loop.find("cos"), std::string::npos) << loop;
}

TEST(Lowered, StablehloIsCompleteAndKnowsConstants) {
  Array c = array({1, 2, 3});
  Lowered lowered = lower([&](Array x) { return x * c; }, zeros({3}));
  std::string text = lowered.stablehlo();
  EXPECT_NE(text.find("stablehlo.multiply"), std::string::npos);
  auto program = default_device().owner().compile(text);
  Array two = full({3}, 2);
  auto results = program.run({&two.buffer()});
  EXPECT_EQ(results[0].to_vector<float>(), (std::vector<float>{2, 4, 6}));
}

TEST(Lowered, WorksWithoutValues) {
  auto f = jit([](Array x) { return sum(x * x); });
  Program program = f.lower(abstract_array(DType::f32, {4})).compile();
  EXPECT_EQ(program.argument_types()[0], (ArrayType{DType::f32, {4}}));
  EXPECT_EQ(program.run({full({4}, 2)})[0].item<float>(), 16);
  EXPECT_FALSE(program.cost().empty());
  EXPECT_NE(program.optimized().find("entry"), std::string::npos);
  EXPECT_THROW(program.run({ones({3})}), Error);
}

TEST(EvalShape, TellsTypesAndRunsNothing) {
  Settings s{abstract_array(DType::f64, {1'000'000, 1'000'000}), 1, ""};
  auto result = eval_shape(
      [](const Settings& t) {
        return Settings{sum(t.x, 0), t.power + 1, "sum"};
      },
      s);
  EXPECT_EQ(result.x.type(), (ArrayType{DType::f64, {1'000'000}}));
  EXPECT_EQ(result.power, 2);
  EXPECT_THROW(result.x.item<double>(), TraceError);
}

class ProgramFile : public ::testing::Test {
 protected:
  std::string path_ = (std::filesystem::path(::testing::TempDir()) / "program.sturnus").string();
  ~ProgramFile() override { std::filesystem::remove(path_); }
};

TEST_F(ProgramFile, SavedProgramsGiveTheSame) {
  Array c = array({1, 2, 3});
  for (bool captures : {false, true}) {
    auto f = [&](Array x) { return captures ? exp(x) * c : exp(x); };
    auto compiled = jit(f).compile(c);
    Array before = compiled(c);
    compiled.program().save(path_);
    Program program = Program::load(path_);
    EXPECT_EQ(program.run({c})[0].to_vector<float>(), before.to_vector<float>());
    EXPECT_EQ(program.argument_types().size(), 1u);
  }
}

TEST_F(ProgramFile, DamagedFilesAreRefused) {
  jit([](Array x) { return x; }).compile(Array(1.0f)).program().save(path_);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  EXPECT_THROW(Program::load(path_), Error);
  EXPECT_THROW(Program::load(path_), Error);
  std::ofstream(path_) << "something else";
  EXPECT_THROW(Program::load(path_), Error);
  EXPECT_THROW(Program::load(path_ + ".missing"), Error);
}

TEST_F(ProgramFile, MessagesNameTheFileTheCauseAndTheLine) {
  auto answer = [](auto misuse) -> std::string {
    try {
      misuse();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  auto at = [](int line) { return " (jit_test.cc:" + std::to_string(line) + "). "; };
  auto f = jit([](Array x) { return x; });
  int made = __LINE__ - 1;
  Program program = f.compile(ones({3})).program();
  const std::string missing = path_ + ".missing", below = path_ + "/below",
                    again = "Save the program again";
  const std::string wrote = "Name a file that Program::save wrote";

  EXPECT_EQ(answer([&] { Program::load(missing); }), "Program::load: cannot read " + missing +
                                                         ": No such file or directory" +
                                                         at(__LINE__ - 2) + wrote);
  EXPECT_EQ(
      answer([&] { f.load(missing, ones({3})); }),
      "Program::load: cannot read " + missing + ": No such file or directory" + at(made) + wrote);
  EXPECT_EQ(answer([] { Program::load(::testing::TempDir()); }),
            "Program::load: cannot read " + ::testing::TempDir() + ": Is a directory" +
                at(__LINE__ - 2) + wrote);
  std::ofstream(path_) << "something else";
  EXPECT_EQ(answer([&] { Program::load(path_); }), "Program::load: " + path_ +
                                                       " is not a program that this version saved" +
                                                       at(__LINE__ - 2) + again);
  EXPECT_EQ(answer([&] { program.save(below); }), "Program::save: cannot write " + below +
                                                      ": Not a directory" + at(__LINE__ - 1) +
                                                      "Name a file that can be written");
  program.save(path_);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  std::string damaged = answer([&] { Program::load(path_); });
  EXPECT_EQ(damaged.rfind("Program::load: " + path_ + " is damaged: its checksum is ", 0), 0u);
  EXPECT_NE(damaged.find(at(__LINE__ - 2) + again), damaged.npos) << damaged;
}

// Machine code with one wrong byte would end the process when it is loaded.
TEST_F(ProgramFile, FlippedBytesAreRefused) {
  jit([](Array x) { return exp(x); }).compile(ones({3})).program().save(path_);
  std::ifstream in(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t i = 0; i < whole.size(); i += 1 + whole.size() / 200) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    std::ofstream(path_, std::ios::binary) << flipped;
    EXPECT_THROW(Program::load(path_), Error) << "byte " << i;
  }
  std::ofstream(path_, std::ios::binary) << whole;
  EXPECT_EQ(Program::load(path_).result_types()[0].shape, Shape{3});
}

TEST_F(ProgramFile, PrintsInAnotherProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto save = [&] {
    lower([](Array x) { return debug_print("x", x); }, ones({2})).compile().save(path_);
    std::_Exit(0);
  };
  EXPECT_EXIT(save(), ::testing::ExitedWithCode(0), "");
  std::vector<std::string> lines;
  set_debug_sink([&](const std::string& line) { lines.push_back(line.substr(0, 8)); });
  Program::load(path_).run({array({3, 4})})[0].await();
  set_debug_sink({});
  EXPECT_EQ(lines, std::vector<std::string>{"x: [3 4]"});
}

TEST_F(ProgramFile, LoadedFunctionsHaveTheirTypes) {
  auto f = jit([](const Settings& s) { return std::pair(s.x * 2.0, s.power); });
  Settings like{ones({2}), 3, "a"};
  f.compile(like).program().save(path_);
  auto loaded = f.load(path_, like);
  auto [doubled, power] = loaded(like);
  EXPECT_EQ(doubled.to_vector<float>(), (HostVector<float>{2, 2}));
  EXPECT_EQ(power, 3);
  EXPECT_THROW(loaded(Settings{ones({2}), 4, "a"}), TreeError);
  EXPECT_THROW(f.load(path_, Settings{ones({5}), 3, "a"}), ShapeError);
  EXPECT_THROW(jit([](const Settings& s) { return sum(s.x); }).load(path_, like), ShapeError);
}

}  // namespace
}  // namespace sturnus
