// A differential equation solved by Runge-Kutta steps in a scan, and the derivative of its end by a
// parameter, forwards and backwards, beside the closed form.
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct State {
  Array position, velocity;
};

// x'' + 2 damping x' + x = 0.
State rate(const State& s, const Array& damping) {
  return {s.velocity, -2.0 * damping * s.velocity - s.position};
}

State moved(const State& s, const State& along, double by) {
  return tree_map([by](const Array& x, const Array& d) { return x + by * d; }, s, along);
}

State runge_kutta_step(const State& s, const Array& damping, double dt) {
  State k1 = rate(s, damping);
  State k2 = rate(moved(s, k1, dt / 2), damping);
  State k3 = rate(moved(s, k2, dt / 2), damping);
  State k4 = rate(moved(s, k3, dt), damping);
  auto combine = [dt](const Array& x, const Array& a, const Array& b, const Array& c,
                      const Array& d) { return x + dt / 6 * (a + 2.0 * b + 2.0 * c + d); };
  return tree_map(combine, s, k1, k2, k3, k4);
}

// The positions at times dt, 2 dt, ..., end, from rest at 1.
Array solved(const Array& damping, double end, int steps) {
  State start{Array(1.0, DType::f64), Array(0.0, DType::f64)};
  auto step = [&](const State& s, const Array&) {
    State next = runge_kutta_step(s, damping, end / steps);
    return std::pair(next, next.position);
  };
  return scan(step, start, arange(steps)).second;
}

// exp(-z t) (cos(w t) + z / w sin(w t)) with w^2 = 1 - z^2.
Array closed_form(const Array& z, double t) {
  Array w = sqrt(1.0 - square(z));
  Array swing = sin(w * t);
  return exp(-z * t) * (cos(w * t) + z / w * swing);
}

int main() {
  Array damping(0.1, DType::f64);
  auto end = [](Array z) { return solved(z, 10, 200)[-1]; };
  auto exact = [](Array z) { return closed_form(z, 10); };

  Array by_forward = jit(grad(end))(damping);
  Array by_reverse = jit([&](Array z) { return vjp(end, z).second(ones_like(z)); })(damping);
  Array wanted = grad(exact)(damping);
  std::cout << "x(10)            " << end(damping) << ", closed form " << exact(damping) << "\n";
  std::cout << "its derivative   " << by_forward << " forwards, " << by_reverse << " backwards\n";
  std::cout << "closed form      " << wanted << "\n";
  Array gap = maximum(abs(by_forward - wanted), abs(by_reverse - wanted));
  return gap.item<double>() < 1e-5 ? 0 : 1;
}
