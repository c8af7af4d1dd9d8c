#include <netcdf.h>
#include <netcdf_mem.h>
#include <sturnus/inference/results/inference_data.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/version.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

namespace sturnus {
namespace {

void check(int status, const std::string& what) {
  if (status == NC_NOERR) return;
  throw Error("write_inference_data: " + what + ": " + nc_strerror(status) +
              ". Use names of letters, digits and _, and each once.");
}

std::size_t count(const DataVariable& variable) {
  return std::visit([](const auto& values) { return values.size(); }, variable.values);
}

/// The extent of every dimension of a group, after all its variables agree on them.
std::map<std::string, std::size_t> dimensions(const DataGroup& group) {
  std::map<std::string, std::size_t> extents;
  for (const DataVariable& variable : group.variables) {
    std::string where = "write_inference_data: " + group.name + "/" + variable.name;
    std::size_t size = std::accumulate(variable.shape.begin(), variable.shape.end(), std::size_t{1},
                                       std::multiplies<>());
    if (variable.dims.size() != variable.shape.size() || size != count(variable)) {
      throw Error(where + " has " + std::to_string(variable.dims.size()) + " dimensions, " +
                  std::to_string(variable.shape.size()) + " extents for " + std::to_string(size) +
                  " values, and " + std::to_string(count(variable)) +
                  " values. Give one extent per dimension and as many values as they say.");
    }
    std::set<std::string> own;
    for (std::size_t axis = 0; axis < variable.dims.size(); ++axis) {
      const std::string& name = variable.dims[axis];
      if (!own.insert(name).second) {
        throw Error(where + " has the dimension " + name + " twice. Give each a name of its own.");
      }
      auto [place, added] = extents.try_emplace(name, variable.shape[axis]);
      if (!added && place->second != variable.shape[axis]) {
        throw Error(where + " has extent " + std::to_string(variable.shape[axis]) + " along " +
                    name + ", another variable of the group has " + std::to_string(place->second) +
                    ". Give dimensions of different extents different names.");
      }
    }
  }
  return extents;
}

void put_attribute(int group, int variable, const std::string& name, const std::string& value) {
  check(nc_put_att_text(group, variable, name.c_str(), value.size(), value.data()),
        "attribute " + name);
}

int define(int group, const std::string& name, int type, const std::vector<int>& dims) {
  int variable = 0;
  check(
      nc_def_var(group, name.c_str(), type, static_cast<int>(dims.size()), dims.data(), &variable),
      "variable " + name);
  return variable;
}

void put(int group, const std::string& name, const std::vector<int>& dims,
         const std::vector<double>& values) {
  int variable = define(group, name, NC_DOUBLE, dims);
  check(nc_put_var_double(group, variable, values.data()), "values of " + name);
}

void put(int group, const std::string& name, const std::vector<int>& dims,
         const std::vector<std::int64_t>& values) {
  int variable = define(group, name, NC_INT64, dims);
  const std::vector<long long> wide(values.begin(), values.end());
  check(nc_put_var_longlong(group, variable, wide.data()), "values of " + name);
}

// As xarray writes them: NetCDF has no truth values.
void put(int group, const std::string& name, const std::vector<int>& dims,
         const std::vector<bool>& values) {
  int variable = define(group, name, NC_BYTE, dims);
  put_attribute(group, variable, "dtype", "bool");
  const std::vector<signed char> bytes(values.begin(), values.end());
  check(nc_put_var_schar(group, variable, bytes.data()), "values of " + name);
}

void put_group(int file, const DataGroup& group) {
  int id = 0;
  check(nc_def_grp(file, group.name.c_str(), &id), "group " + group.name);
  put_attribute(id, NC_GLOBAL, "inference_library", "sturnus");
  put_attribute(id, NC_GLOBAL, "inference_library_version", version);
  for (const auto& [name, value] : group.attributes) put_attribute(id, NC_GLOBAL, name, value);

  std::map<std::string, int> ids;
  for (const auto& [name, extent] : dimensions(group)) {
    check(nc_def_dim(id, name.c_str(), extent, &ids[name]), "dimension " + name);
    bool has_points = std::any_of(group.variables.begin(), group.variables.end(),
                                  [&, &name = name](const auto& v) { return v.name == name; });
    if (has_points) continue;
    std::vector<std::int64_t> points(extent);
    std::iota(points.begin(), points.end(), 0);
    put(id, name, {ids[name]}, points);
  }
  for (const DataVariable& variable : group.variables) {
    std::vector<int> dims;
    for (const std::string& name : variable.dims) dims.push_back(ids[name]);
    std::visit([&](const auto& values) { put(id, variable.name, dims, values); }, variable.values);
  }
}

/// A NetCDF file that is being made in memory.
class MemoryFile {
 public:
  MemoryFile() {
    check(nc_create_mem("inference_data", NC_NETCDF4, 1 << 16, &id_), "a file in memory");
  }
  ~MemoryFile() {
    if (open_) nc_abort(id_);
    std::free(content_.memory);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int id() const { return id_; }

  std::string_view finish() {
    open_ = false;
    check(nc_close_memio(id_, &content_), "a file in memory");
    return {static_cast<const char*>(content_.memory), content_.size};
  }

 private:
  int id_ = 0;
  bool open_ = true;
  NC_memio content_ = {};
};

std::vector<std::int64_t> whole(const Matrix& values) {
  return {values.values.begin(), values.values.end()};
}

}  // namespace

InferenceData inference_data(const ChainDraws& draws) {
  check_draws("inference_data", draws);
  DataGroup posterior = {"posterior", {}, {}};
  for (const ParameterDraws& parameter : draws.parameters) {
    DataVariable variable = {
        parameter.name, {"chain", "draw"}, {draws.chains, draws.draws}, parameter.values};
    for (std::size_t axis = 0; axis < parameter.shape.size(); ++axis) {
      variable.dims.push_back(parameter.name + "_dim_" + std::to_string(axis));
      variable.shape.push_back(parameter.shape[axis]);
    }
    posterior.variables.push_back(std::move(variable));
  }

  DataGroup stats = {"sample_stats", {}, {}};
  auto add = [&](const char* name, const Matrix& kept, auto values) {
    if (kept.values.empty()) return;
    stats.variables.push_back(
        {name, {"chain", "draw"}, {draws.chains, draws.draws}, std::move(values)});
  };
  const SamplerStatistics& said = draws.statistics;
  add("lp", said.log_density, said.log_density.values);
  add("acceptance_rate", said.acceptance, said.acceptance.values);
  add("step_size", said.step_size, said.step_size.values);
  add("tree_depth", said.tree_depth, whole(said.tree_depth));
  add("n_steps", said.leapfrog_steps, whole(said.leapfrog_steps));
  add("diverging", said.divergent,
      std::vector<bool>(said.divergent.values.begin(), said.divergent.values.end()));
  add("energy", said.energy, said.energy.values);

  InferenceData data = {{std::move(posterior)}};
  if (!stats.variables.empty()) data.groups.push_back(std::move(stats));
  return data;
}

void add_measurements(InferenceData& data, const Samples& measured, MatrixView predicted,
                      std::size_t chains) {
  if (chains == 0 || predicted.rows % chains != 0 || predicted.cols != measured.y.size()) {
    throw Error("add_measurements: " + std::to_string(predicted.rows) + " x " +
                std::to_string(predicted.cols) + " predictions for " + std::to_string(chains) +
                " chains and " + std::to_string(measured.y.size()) +
                " measurements. Give a row for each draw, as many of each chain, and a column for "
                "each measurement.");
  }
  auto with = [](std::vector<std::size_t> shape, std::size_t last) {
    if (last > 1) shape.push_back(last);
    return shape;
  };
  auto named = [](std::vector<std::string> dims, std::size_t last, const char* name) {
    if (last > 1) dims.push_back(name);
    return dims;
  };
  std::size_t points = measured.points, outputs = measured.outputs, inputs = measured.inputs;
  std::vector<double> values(predicted.data, predicted.data + predicted.rows * predicted.cols);
  data.groups.push_back({"posterior_predictive",
                         {{"y", named({"chain", "draw", "point"}, outputs, "output"),
                           with({chains, predicted.rows / chains, points}, outputs), values}},
                         {}});
  data.groups.push_back(
      {"observed_data",
       {{"y", named({"point"}, outputs, "output"), with({points}, outputs), measured.y}},
       {}});
  data.groups.push_back(
      {"constant_data",
       {{"x", named({"point"}, inputs, "input"), with({points}, inputs), measured.x}},
       {}});
}

void write_inference_data(const std::filesystem::path& path, const InferenceData& data) {
  MemoryFile file;
  for (const DataGroup& group : data.groups) put_group(file.id(), group);
  write_file(path, file.finish());
}

}  // namespace sturnus
