#include <sturnus/functional/doubles.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace sturnus {
namespace {

/// "groups[0].weights[1,2]" as groups_0_weights and {1, 2}.
std::pair<std::string, std::vector<std::size_t>> parsed(const std::string& name) {
  std::size_t end = name.ends_with(']') ? name.rfind('[') : name.size();
  std::pair<std::string, std::vector<std::size_t>> result;
  for (char c : name.substr(0, end)) {
    if (c != ']') result.first += c == '.' || c == '[' ? '_' : c;
  }
  for (std::size_t at = end; at < name.size() && name[at] != ']';) {
    std::size_t next = name.find_first_of(",]", at + 1);
    result.second.push_back(std::stoul(name.substr(at + 1, next - at - 1)));
    at = next;
  }
  return result;
}

/// Which columns of all draws a parameter has.
struct Columns {
  ParameterDraws parameter;
  std::size_t begin = 0, count = 0;
};

std::vector<Columns> columns_of(const std::vector<std::string>& names) {
  std::vector<Columns> result;
  for (std::size_t i = 0; i < names.size(); i++) {
    auto [name, index] = parsed(names[i]);
    if (result.empty() || result.back().parameter.name != name) {
      result.push_back({{name, std::vector<std::size_t>(index.size(), 0), {}}, i, 0});
    }
    Columns& last = result.back();
    last.count++;
    for (std::size_t axis = 0; axis < index.size(); axis++) {
      last.parameter.shape[axis] = std::max(last.parameter.shape[axis], index[axis] + 1);
    }
  }
  return result;
}

/// These columns of chunks [chains, draws] or [chains, draws, width], the draws of a chain one
/// behind another. Chunks come to the host one at a time.
void join(const Arrays& chunks, std::size_t chains, std::size_t draws,
          std::vector<Columns>& columns) {
  for (Columns& c : columns) c.parameter.values.resize(chains * draws * c.count);
  std::size_t done = 0;
  for (const Array& chunk : chunks) {
    std::vector<double> values = to_doubles(chunk);
    auto length = static_cast<std::size_t>(chunk.shape()[1]);
    std::size_t width = chunk.rank() == 3 ? static_cast<std::size_t>(chunk.shape()[2]) : 1;
    for (Columns& c : columns) {
      for (std::size_t row = 0; row < chains * length; row++) {
        std::size_t place = row / length * draws + done + row % length;
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * width + c.begin), c.count,
                    c.parameter.values.begin() + static_cast<std::ptrdiff_t>(place * c.count));
      }
    }
    done += length;
  }
}

std::vector<ParameterDraws> parameters_of(const std::vector<std::string>& names,
                                          const Arrays& chunks, std::size_t chains,
                                          std::size_t draws) {
  std::vector<Columns> columns = columns_of(names);
  join(chunks, chains, draws, columns);
  std::vector<ParameterDraws> result;
  for (Columns& c : columns) result.push_back(std::move(c.parameter));
  return result;
}

}  // namespace

ChainDraws chain_draws(const std::vector<std::string>& names, const Array& values) {
  const Shape& shape = values.shape();
  if (names.empty() || shape.size() != 3 || shape[2] != static_cast<std::int64_t>(names.size())) {
    throw Error("chain_draws: values are " + values.type().str() + ", but there are " +
                std::to_string(names.size()) + " names. Give [chains, draws, names]");
  }
  ChainDraws result;
  result.chains = static_cast<std::size_t>(shape[0]);
  result.draws = static_cast<std::size_t>(shape[1]);
  result.parameters = parameters_of(names, {values}, result.chains, result.draws);
  return result;
}

ChainDraws chain_draws(const std::vector<Draws>& chunks) {
  if (chunks.empty()) throw Error("chain_draws: no chunk of draws. Give at least one");
  ChainDraws result;
  const Shape first = chunks[0].values.shape();
  for (const Draws& chunk : chunks) {
    const Shape& shape = chunk.values.shape();
    if (shape.size() != 3 || shape[0] != first[0] || shape[2] != first[2] ||
        chunk.names != chunks[0].names) {
      throw Error("chain_draws: a chunk of draws is " + chunk.values.type().str() +
                  ", but the first is " + chunks[0].values.type().str() +
                  ". Give chunks of one sampler");
    }
    result.draws += static_cast<std::size_t>(shape[1]);
  }
  result.chains = static_cast<std::size_t>(first[0]);

  auto parts = [&](auto member) {
    Arrays all;
    for (const Draws& chunk : chunks) all.push_back(member(chunk));
    return all;
  };
  result.parameters = parameters_of(chunks[0].names, parts([](const Draws& d) { return d.values; }),
                                    result.chains, result.draws);
  auto statistic = [&](Array SampleStats::*member) {
    Matrix matrix;
    if ((chunks[0].stats.*member).empty()) return matrix;
    matrix.rows = result.chains;
    matrix.cols = result.draws;
    std::vector<Columns> columns = {{.parameter = {}, .begin = 0, .count = 1}};
    join(parts([&](const Draws& d) { return d.stats.*member; }), result.chains, result.draws,
         columns);
    matrix.values = std::move(columns[0].parameter.values);
    return matrix;
  };
  result.statistics = {statistic(&SampleStats::log_density), statistic(&SampleStats::accept),
                       statistic(&SampleStats::step_size),   statistic(&SampleStats::depth),
                       statistic(&SampleStats::leapfrogs),   statistic(&SampleStats::divergent),
                       statistic(&SampleStats::energy)};
  return result;
}

}  // namespace sturnus
