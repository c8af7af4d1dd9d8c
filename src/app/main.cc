// The program `sturnus`.
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/version.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>

#include "src/app/commands.h"
#include "src/app/progress.h"

namespace {

// What strtoull would take silently is no seed: a minus sign, or more than 64 bits.
std::string wrong_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  auto [stopped, problem] = std::from_chars(text.data(), end, seed);
  if (problem == std::errc() && stopped == end) return "";
  return text + " is not a whole number from 0 to 2^64 - 1";
}
const CLI::Validator is_seed(wrong_seed, "", "seed");

}  // namespace

int main(int argc, char** argv) {
  using namespace sturnus::app;

  CLI::App program("JAX-style function transforms and Bayesian inverse problems on XLA devices");
  program.name("sturnus");
  program.set_version_flag("--version", sturnus::version);
  program.require_subcommand(1);

  CLI::App* run = program.add_subcommand("run", "Train the ensemble of an experiment");
  RunRequest run_request;
  run->add_option("experiment", run_request.experiment,
                  "exponential, oscillator, advection, lotka_volterra, or a file with settings")
      ->required();
  run->add_option("--variant", run_request.variant,
                  "none, f, lambda, joint, factorized, full (default) or correlated; over a file "
                  "of settings: its repulsion, and what else makes it this variant");
  run->add_option("--members", run_request.members, "Networks in the ensemble");
  run->add_option("--iterations", run_request.iterations, "Steps of the optimiser");
  run->add_option("--seed", run_request.seed,
                  "For the networks' first weights (default: the number of the run, as in table)")
      ->check(is_seed);
  run->add_option("--run", run_request.run, "Which of the published data sets, 0 to 4");
  run->add_option("--device", run_request.device, "cpu, cuda:1, ...");
  run->add_option("--devices", run_request.devices, "Spread the members over so many devices");
  run->add_option("--out", run_request.out, "Folder for result.json and report.html");
  run->add_flag("--resume", run_request.resume, "Go on with a training that was interrupted");
  run->add_option("--against", run_request.against,
                  "nuts, or tempering for lotka_volterra: draw the posterior too, and tell how far "
                  "the ensemble is");
  run->callback([&] { run_experiment(std::cout, std::cerr, run_request); });

  CLI::App* report = program.add_subcommand("report", "Write the report of a result anew");
  std::filesystem::path result;
  report->add_option("result", result, "A result.json of run, sample or vi, or its folder")
      ->required();
  report->callback([&] { make_report(std::cout, result); });

  CLI::App* table = program.add_subcommand("table", "An experiment's published table, and ours");
  TableRequest table_request;
  table->add_option("experiment", table_request.experiment, "For instance oscillator")->required();
  table
      ->add_option(
          "--variants", table_request.variants,
          "Some of the variants of run (default: the published ones, and correlated, which "
          "trains twice as long, where there is one)")
      ->delimiter(',');
  table->add_option("--runs", table_request.runs, "Some of the runs 0 to 4 (default: all)")
      ->delimiter(',');
  table
      ->add_option("--data-seeds", table_request.data_seeds,
                   "Fresh data of these seeds instead of the published runs")
      ->delimiter(',')
      ->check(is_seed);
  table->add_option("--members", table_request.members,
                    "Networks in the ensemble (default: as published, 50 of exponential, else 25)");
  table->add_option("--iterations", table_request.iterations,
                    "Steps of the optimiser (default: as published, of each variant its own)");
  table->add_option("--against", table_request.against,
                    "tempering for lotka_volterra, nuts for advection: distances to that "
                    "posterior, of trainings that are not kept already");
  table->add_option("--device", table_request.device, "cpu, cuda:1, ...");
  table->add_option("--out", table_request.out,
                    "Folder; what is there is not run again (default: results/table-EXPERIMENT)");
  table->add_option("--keep", table_request.keep,
                    "Folder for the results page and its JSON, which go on from what they hold "
                    "(default: not kept)");
  table->callback([&] { run_table(std::cout, std::cerr, table_request); });

  CLI::App* sample = program.add_subcommand("sample", "Draw from a posterior by Markov chains");
  SampleRequest sample_request;
  sample
      ->add_option(
          "problem", sample_request.problem,
          "exponential, oscillator, free_phase_oscillator, advection, lotka_volterra, "
          "eight_schools, hare_lynx, oscillator_bpinn, poisson_bpinn, or with hidden layers "
          "oscillator_bpinn_tanh, poisson_bpinn_tanh")
      ->required();
  sample->add_option("--method", sample_request.method, "nuts (default), hmc, mala or random_walk");
  sample->add_option("--chains", sample_request.chains, "Markov chains (default: 4)");
  sample->add_option("--warmup", sample_request.warmup, "Transitions to learn by (default: 1000)");
  sample->add_option("--draws", sample_request.draws, "Of each chain (default: 1000)");
  sample->add_option("--seed", sample_request.seed, "For starts and draws")->check(is_seed);
  sample->add_option("--run", sample_request.run, "Which of the published data sets, 0 to 4");
  sample->add_option("--metric", sample_request.metric, "unit, diagonal (default) or dense");
  sample->add_option(
      "--target-acceptance", sample_request.target_acceptance,
      "Nearer to 1: shorter steps (default: 0.8, for mala 0.574, for random_walk 0.234)");
  sample->add_option("--max-depth", sample_request.max_depth,
                     "Of the tree of nuts: 2^depth steps at most (default: 10)");
  sample->add_option("--leapfrogs", sample_request.leapfrogs, "Steps of hmc (default: 16)");
  sample->add_option("--device", sample_request.device, "cpu, cuda:1, ...");
  sample->add_option("--out", sample_request.out,
                     "Folder for result.json, report.html and the draws");
  sample->add_flag("--resume", sample_request.resume, "Go on with chains that were interrupted");
  sample->callback([&] { sample_problem(std::cout, std::cerr, sample_request); });

  CLI::App* posterior = program.add_subcommand(
      "posterior", "A posterior that is not known exactly, by tempering and by NUTS");
  PosteriorRequest posterior_request;
  posterior->add_option("experiment", posterior_request.experiment, "lotka_volterra")->required();
  posterior->add_option("--runs", posterior_request.runs, "Some of the runs 0 to 4")
      ->delimiter(',');
  posterior->add_option("--particles", posterior_request.particles, "Tempered (default: 1024)");
  posterior->add_option("--walkers", posterior_request.walkers, "That go on (default: 64)");
  posterior->add_option("--draws", posterior_request.draws, "Of each walker (default: 1000)");
  posterior->add_option("--chains", posterior_request.chains, "Of NUTS (default: 8)");
  posterior->add_option("--chain-draws", posterior_request.chain_draws, "Of each (default: 2000)");
  posterior->add_option("--seed", posterior_request.seed, "For all random numbers")->check(is_seed);
  posterior->add_option("--device", posterior_request.device, "cpu, cuda:1, ...");
  posterior->add_option("--out", posterior_request.out, "Folder; what is there is not run again");
  posterior->add_option("--keep", posterior_request.keep, "Folder for the page and its JSON");
  posterior->callback([&] { run_posterior(std::cout, std::cerr, posterior_request); });

  CLI::App* vi = program.add_subcommand("vi", "Fit a Gaussian to a posterior");
  VariationalRequest vi_request;
  vi->add_option("problem", vi_request.problem, "As for sample, or oscillator_network")->required();
  vi->add_option("--family", vi_request.family, "mean_field (default) or full_rank");
  vi->add_option("--divergence", vi_request.divergence,
                 "Of oscillator_network: exact (default) or published, with its slip");
  vi->add_option("--iterations", vi_request.iterations,
                 "Steps of the optimiser (default: 10000, of the network 20000)");
  vi->add_option("--draws-per-iteration", vi_request.draws_per_iteration,
                 "That each step is an average of (default: 10, of the network as published)");
  vi->add_option("--rate", vi_request.rate,
                 "Of the optimiser at the beginning (default: 0.05); it falls to a hundredth");
  vi->add_option("--draws", vi_request.draws,
                 "Of the Gaussian at the end (default: 4000, of the network 100)");
  vi->add_option("--seed", vi_request.seed, "For start, steps and draws")->check(is_seed);
  vi->add_option("--run", vi_request.run, "Which of the published data sets, 0 to 4");
  vi->add_option("--device", vi_request.device, "cpu, cuda:1, ...");
  vi->add_option("--out", vi_request.out, "Folder for result.json, report.html and the draws");
  vi->add_flag("--resume", vi_request.resume, "Go on with a fit that was interrupted");
  vi->callback([&] { fit_problem(std::cout, std::cerr, vi_request); });

  CLI::App* devices = program.add_subcommand("devices", "List the devices");
  std::string platform;
  devices->add_option("--platform", platform, "cpu, cuda, tpu, ... (default: all that are here)");
  devices->callback([&] { show_devices(std::cout, platform); });

  CLI::App* plugins = program.add_subcommand("plugins", "List the PJRT plugins, or install one");
  std::string plugin;
  CLI::App* install = plugins->add_subcommand("install", "Fetch a pinned plugin for this user");
  install->add_option("name", plugin, "cpu, cuda, tpu, or plotly for reports")->required();
  install->callback([&] { install_plugin(std::cout, plugin); });
  plugins->callback([&] {
    if (!*install) show_plugins(std::cout);
  });

  CLI::App* compile =
      program.add_subcommand("compile", "Compile StableHLO, also for devices that are not here");
  CompileRequest request;
  request.targets = {"cpu"};
  compile
      ->add_option("program", request.program,
                   "A file with StableHLO text, or an experiment or a file with its settings: its "
                   "whole training")
      ->required();
  compile->add_option("--variant", request.variant, "Of the experiment, as for run");
  compile->add_option("--members", request.members, "Of the experiment");
  compile
      ->add_option("--for,--target", request.targets,
                   "cpu, h100, a100, b200, tpu:v5e:2x2, or a file with a GPU description")
      ->delimiter(',');
  compile->add_option("--devices", request.devices, "Split the program over so many devices");
  compile->add_option("--json", request.json, "Write the reports to this file");
  compile->add_option("--save", request.save, "Write the compiled programs to this folder");
  compile->callback([&] { compile_program(std::cout, request); });

  CLI::App* targets = program.add_subcommand("targets", "Print the description of a GPU");
  std::string target;
  targets->add_option("name", target, "a100, b200 or h100")->required();
  targets->callback([&] { show_target(std::cout, target); });

  try {
    program.parse(argc, argv);
    return interrupted_exit_code().value_or(0);
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "sturnus: " << error.what() << '\n';
    return interrupted_exit_code().value_or(1);
  }
}
