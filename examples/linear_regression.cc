// A line through points: the closed form, and the same by gradient descent in one program.
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Line {
  Array slope, intercept;
};

Array loss(const Line& line, const Array& x, const Array& y) {
  return mean(square(line.slope * x + line.intercept - y));
}

int main() {
  auto [for_x, for_noise] = split(key(0));
  Array x = uniform(for_x, {200}, -1.0, 1.0);
  Array y = 2.0 * x - 1.0 + 0.1 * normal(for_noise, {200});

  Array ones = ones_like(x);
  Array exact = lstsq(stack({x, ones}, 1), y);

  auto train = jit([](const Line& start, const Array& x, const Array& y) {
    auto step = [&](Array, const Line& line) {
      Line slope = grad(loss)(line, x, y);
      return tree_map([](const Array& p, const Array& d) { return p - 0.3 * d; }, line, slope);
    };
    return fori_loop(0, 200, step, start);
  });
  Line found = train(Line{0.0, 0.0}, x, y);

  std::cout << "closed form       y = " << exact[0] << " x + " << exact[1] << "\n";
  std::cout << "gradient descent  y = " << found.slope << " x + " << found.intercept << "\n";
  float gap = max(abs(stack({found.slope, found.intercept}) - exact)).item<float>();
  return gap < 1e-5f ? 0 : 1;
}
