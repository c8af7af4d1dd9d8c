// Every transform in a line or two. All of them nest, take closures, and act on plain structs.
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Wave {
  Array amplitude, rate;
};

Array wave(const Wave& w, Array t) { return w.amplitude * sin(w.rate * t); }

template <class T>
void show(const std::string& what, const T& value) {
  std::cout << what << std::string(what.size() < 24 ? 24 - what.size() : 1, ' ') << value << "\n";
}

int main() {
  Wave w{2.0, 3.0};
  Array t(0.5, DType::f32), ts = linspace(0.0, 1.0, 4), x = array({1, 2, 3});
  auto cubes = [](Array x) { return sum(x * x * x); };
  auto turned = [](Array x) { return x(Slice{0, 2}) * x[2]; };
  auto of_t = [&](Array t) { return wave(w, t); };

  // Derivatives.
  show("grad", grad(cubes)(x));
  show("grad of a struct", grad(wave)(w, t).rate);
  show("grad<1>", grad<1>(wave)(w, t));
  show("grad of grad", grad(grad(of_t))(t));
  auto [value, gradient] = value_and_grad(cubes)(x);
  show("value_and_grad", value);
  show("jvp", jvp(cubes, x, ones_like(x)).second);
  show("linearize", linearize(cubes, x).second(ones_like(x)));
  show("vjp", vjp(turned, x).second(array({1, 1})));
  show("jacfwd", jacfwd(turned)(x));
  show("jacrev", jacrev(turned)(x));
  show("hessian", hessian(cubes)(x));
  show("hvp", hvp(cubes, x, ones_like(x)));
  show("hessian_diagonal", hessian_diagonal(cubes)(x));
  show("laplacian", laplacian(cubes)(x));
  show("derivatives", derivatives(of_t, t, 4).back());
  show("jet", jet(of_t, t, std::vector<Array>{1.0, 0.0}).second[1]);
  auto floor_through = custom_jvp([](Array x) { return floor(x); },
                                  [](Array x, Array dx) { return std::pair(floor(x), dx); });
  show("custom_jvp", grad(floor_through)(2.5));
  auto halved = custom_vjp([](Array x) { return x; }, [](Array x) { return std::pair(x, x); },
                           [](Array, Array ct) { return 0.5 * ct; });
  show("custom_vjp", grad([&](Array x) { return sum(halved(x)); })(x));
  show("checkpoint", grad(checkpoint(cubes))(x));
  show("stop_gradient", grad([](Array x) { return sum(x * stop_gradient(x)); })(x));

  // Many at once.
  Wave waves{array({1, 2}), array({3, 3})};
  show("vmap", vmap(of_t)(ts));
  show("vmap twice", vmap(vmap(wave, {.in_axes = {none, 0}}), {.in_axes = {0, none}})(waves, ts));
  MapAxis by_amplitude = by_path({{".amplitude", 0}});
  Wave one_rate{waves.amplitude, 3.0};
  show("vmap by_path", vmap(wave, {.in_axes = {by_amplitude, none}})(one_rate, t));
  auto centred = [](Array x) { return x - pmean(x, "all"); };
  show("vmap with pmean", vmap(centred, {.axis_name = "all"})(x));
  show("map", map(of_t, ts));

  // Loops and decisions.
  auto add = [](Array total, Array x) { return std::pair(total + x, total + x); };
  show("scan", scan(add, 0.0, x).second);
  show("fori_loop", fori_loop(
                        0, 5, [](Array i, Array s) { return s + i; }, 0));
  auto below = [](Array s) { return s < 100.0; };
  show("while_loop", while_loop(
                         below, [](Array s) { return 2.0 * s; }, 1.0));
  show("cond", cond(
                   t < 1.0, [&] { return sin(t); }, [&] { return t; }));
  std::vector<std::function<Array(Array)>> choices = {of_t, cubes};
  show("switch_", switch_(1, choices, t));
  show("associative_scan", associative_scan([](Array a, Array b) { return a * b; }, x));
  show("reduce", reduce(x, 1.0, [](Array a, Array b) { return a * b; }));

  // Programs.
  show("jit", jit(cubes)(x));
  show("eval_shape", eval_shape(turned, x).type().str());
  show("lower", lower(cubes, x).graph());
}
