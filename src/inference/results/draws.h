// Draws of Markov chains as samplers hand them on: to summaries, warnings and files.
#pragma once

#include <sturnus/inference/results/matrix_view.h>

#include <cstddef>
#include <string>
#include <vector>

namespace sturnus {

/// Draws of one parameter: chains x draws x its own shape, row-major. A scalar's shape is empty.
struct ParameterDraws {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// What a Hamiltonian sampler says of each draw, chains x draws. What it does not say stays empty.
struct SamplerStatistics {
  Matrix log_density;
  Matrix acceptance;  // mean over the trajectory, 0 to 1
  Matrix step_size;
  Matrix tree_depth;
  Matrix leapfrog_steps;
  Matrix divergent;  // 0 or 1
  Matrix energy;     // Hamiltonian of the draw
};

/// All that was drawn after warm-up.
struct ChainDraws {
  std::size_t chains = 0;
  std::size_t draws = 0;
  std::vector<ParameterDraws> parameters;
  SamplerStatistics statistics;
};

/// A scalar of a parameter: its indices, and its place in the row-major values of one draw.
struct ParameterElement {
  std::vector<std::size_t> index;
  std::size_t place = 0;
};

/// All of them, the first index fastest, which is Stan's order.
std::vector<ParameterElement> elements(const ParameterDraws& parameter);

/// The indices counted from 1: {0, 1} with "." is "1.2".
std::string index_text(const ParameterElement& element, const char* separator);

/// The draws of one scalar, chains x draws.
Matrix chains_of(const ChainDraws& draws, const ParameterDraws& parameter,
                 const ParameterElement& element);

/// `count` draws as rows of all parameters, spread evenly over all chains. Throws Error when there
/// are fewer draws than that.
Matrix rows_of(const ChainDraws& draws, std::size_t count);
/// The draws `begin` to `end` - 1, counted chain by chain, as such rows. Throws Error when there
/// are fewer draws than that.
Matrix rows_between(const ChainDraws& draws, std::size_t begin, std::size_t end);

/// Throws Error, in the name of `function`, unless every array has the extents that `draws` and its
/// shape say, and every parameter a name of its own that files can hold: letters, digits and _, a
/// letter first, no __ at the end.
void check_draws(const char* function, const ChainDraws& draws);

}  // namespace sturnus
