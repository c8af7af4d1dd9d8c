// The commands of the program, one function each. They write their result to `out` and throw Error
// with what is wrong; main.cc turns that into a message and an exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "src/app/chain_settings.h"

namespace sturnus::app {

/// `sturnus plugins`: every plugin found, its versions and where it lies.
void show_plugins(std::ostream& out);

/// `sturnus plugins install NAME`: fetches the pinned wheel into the user's data folder.
void install_plugin(std::ostream& out, const std::string& name);

/// `sturnus devices`: the devices of one platform, or of every platform whose hardware is here.
void show_devices(std::ostream& out, const std::string& platform);

struct CompileRequest {
  std::filesystem::path program;  // a file with StableHLO text or settings, or an experiment
  std::string variant = {};       // of the experiment; empty: full, or what the file says
  std::optional<std::int64_t> members = {};
  std::vector<std::string> targets;  // "cpu", "h100", "tpu:v5e:2x2", a file with a GPU description
  int devices = 1;                   // the program is split over so many
  std::filesystem::path json;        // where the reports go as JSON; empty: nowhere
  std::filesystem::path save;        // folder for the serialised programs; empty: nowhere
};

/// `sturnus compile`: compiles a program for devices that need not be here, and reports on each.
void compile_program(std::ostream& out, const CompileRequest& request);

/// `sturnus targets NAME`: the description of a GPU, to start one's own from.
void show_target(std::ostream& out, const std::string& name);

struct RunRequest {
  std::string experiment;  // a name, or a file with settings in JSON
  std::string variant;     // empty: full, or what the file says; see with_variant
  std::optional<std::int64_t> members, iterations, run;
  std::optional<std::uint64_t> seed;    // empty: the number of the run, or what the file says
  std::string device;                   // "cpu", "cuda:1"; empty: the default device
  std::optional<std::int64_t> devices;  // members are spread over so many, from `device` on
  std::filesystem::path out;            // folder; empty: results/<experiment>-<variant>-run<number>
  bool resume = false;
  std::string against;  // "nuts" or "tempering" draws the posterior too; empty: nothing does
};

/// `sturnus run`: trains an ensemble, prints its scores, writes result.json and report.html.
/// Throws Error when the folder holds a finished result, as sample_problem and fit_problem do.
void run_experiment(std::ostream& out, std::ostream& progress, const RunRequest& request);

/// `sturnus report`: writes report.html beside a result.json of `run` or `sample`, which is given
/// by its name or its folder's.
void make_report(std::ostream& out, const std::filesystem::path& result);

struct TableRequest {
  std::string experiment;
  std::vector<std::string> variants;      // empty: all, the published ones and `correlated`
  std::vector<int> runs;                  // empty: the published ones
  std::vector<std::uint64_t> data_seeds;  // fresh data of these seeds instead of published runs
  std::optional<std::int64_t> members, iterations;
  // "tempering" (Lotka-Volterra) or "nuts" (advection): distances to that posterior, where none is
  // known exactly. What is kept is not run again, and stays without.
  std::string against;
  std::string device;
  std::filesystem::path out;  // folder; empty: results/table-<experiment>
  // Folder for <experiment>.json and .md, of fresh data <experiment>_fresh; empty: not kept.
  std::filesystem::path keep;
};

/// `sturnus table`: variants x runs of an experiment, and the published table beside them. What is
/// in the folder already is not run again. Throws Error for variants and runs that are none, and
/// for files that cannot be used, with the remedy.
void run_table(std::ostream& out, std::ostream& progress, const TableRequest& request);

struct SampleRequest : ChainSettings {
  std::string problem;
  std::optional<int> run;  // which of the published data sets; empty: 0
  std::string device;
  std::filesystem::path out;  // folder; empty: results/sample-<problem>
  bool resume = false;
};

/// `sturnus sample`: Markov chains of a posterior. Prints their summary and writes result.json,
/// report.html, the draws as <problem>_1.csv, ... in Stan's format and as draws.nc for ArviZ.
void sample_problem(std::ostream& out, std::ostream& progress, const SampleRequest& request);

struct PosteriorRequest {
  std::string experiment = "lotka_volterra";
  std::vector<int> runs;  // empty: the published ones
  std::int64_t particles = 1024, walkers = 64, draws = 1000;
  std::int64_t chains = 8, chain_draws = 2000;
  std::uint64_t seed = 0;
  std::string device;
  std::filesystem::path out;   // folder; empty: results/posterior-<experiment>
  std::filesystem::path keep;  // folder for <experiment>_posterior.json and .md; empty: not kept
};

/// `sturnus posterior`: a posterior that is not known exactly, by tempering and by NUTS, side by
/// side for every run. What is in the folder already is not done again.
void run_posterior(std::ostream& out, std::ostream& progress, const PosteriorRequest& request);

struct VariationalRequest {
  std::string problem;
  std::string family = "mean_field";
  std::string divergence = "exact";  // of oscillator_network: or published, with its slip
  // Empty: as the problem has them.
  std::optional<std::int64_t> iterations, draws_per_iteration, draws;
  std::optional<double> rate;  // of the optimiser at the beginning; not of oscillator_network
  std::uint64_t seed = 0;
  std::optional<int> run;  // which of the published data sets; empty: 0, of the network 3
  std::string device;
  std::filesystem::path out;  // folder; empty: results/vi-<problem>
  bool resume = false;
};

/// `sturnus vi`: the Gaussian nearest to a posterior. Prints the summary of its draws and writes
/// result.json, report.html and draws.nc; an interrupted fit stays in fit.part.
/// `oscillator_network` is scored as ensembles are, and has their report.
void fit_problem(std::ostream& out, std::ostream& progress, const VariationalRequest& request);

/// Makes "cpu", "cuda:1", ... the default device, on a client that has at least so many `devices`
/// if it is the CPU's. Throws Error when there is none such.
void select_device(const std::string& name, int devices = 1);

}  // namespace sturnus::app
