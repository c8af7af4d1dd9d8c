#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/shape.h>

#include <utility>

#include "src/inference/models/ode_step.h"

namespace sturnus::internal {
namespace {

// Of RODAS (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.7): with the
// Jacobian J at the start, stage i is the u_i of
//   (1 / (gamma h) - J) u_i = f(t + c_i h, y + sum_j a_ij u_j) + sum_j b_ij u_j / h + d_i h df/dt,
// the end is y + sum_j a_6j u_j + u_6, and u_6 is its error. c and d follow from a and b: c_i is
// sum_j a_ij u_j and d_i is u_i for t' = 1 with h = 1. (Odeint has a d_4 of the other sign, with
// which the method is of order 1 where f depends on time.)
constexpr double gamma = 0.25;
const std::vector<double> c = {0, 0.386, 0.21, 0.63, 1, 1};
const std::vector<double> d = {0.25, -0.1043, 0.1035, -0.0362, 0, 0};
const std::vector<std::vector<double>> a = {
    {},
    {1.544},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1}};
const std::vector<std::vector<double>> b = {
    {},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
     -6.058818238834054}};

Array flat(const Array& x) { return reshape(x, {x.size()}); }

}  // namespace

OdeStep rosenbrock_step(VectorField f) {
  auto trial = [f = std::move(f)](const Array& t, const Array& y, const Array& slope,
                                  const Array& h) {
    auto field = [&](const Array& time, const Array& place) {
      return flat(f(time, reshape(place, y.shape())));
    };
    Array start = flat(y);
    Array by_place = jacfwd([&](const Array& place) { return field(t, place); })(start);
    Array by_time =
        jvp([&](const Array& time) { return field(time, start); }, t, ones_like(t)).second;
    Array solver = inverse(eye(start.size(), y.dtype()) / (gamma * h) - by_place);
    Arrays u = {matmul(solver, flat(slope) + d[0] * h * by_time)};
    Array end;
    for (std::size_t i = 1; i < 6; i++) {
      end = start + weighted_sum(a[i], u);
      Array right = field(t + c[i] * h, end) + weighted_sum(b[i], u) / h;
      u.push_back(matmul(solver, d[i] == 0 ? right : right + d[i] * h * by_time));
    }
    end = end + u[5];
    auto shaped = [&](const Array& x) { return reshape(x, y.shape()); };
    OdeTrial result = {shaped(end), {}, shaped(u[5]), {}};
    result.slope = f(t + h, result.y);
    // Hermite's cubic, which has the slope at the end: derivatives by times need it.
    result.continuous = {
        {{0, 3, -2}, result.y - y}, {{1, -2, 1}, h * slope}, {{0, -1, 1}, h * result.slope}};
    return result;
  };
  // Between ends a continuous solution has errors far above the tolerance where f is very stiff.
  return {.order = 4, .ends_at_times = true, .trial = trial};
}

}  // namespace sturnus::internal
