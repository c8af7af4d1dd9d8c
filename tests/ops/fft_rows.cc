#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/fft.h>

#include "tests/ops/op_table.h"

namespace sturnus::testing {
namespace {

// Both parts in one real number.
Array both(const Array& z) { return real(z) + 2.0 * imag(z); }

}  // namespace

std::vector<Row> fft_rows() {
  return {
      {"fft",
       [](const Arrays& x) { return both(square(fft(make_complex(x[0], x[1])))); },
       {{2, 5}, {2, 5}}},
      {"ifft over two axes",
       [](const Arrays& x) { return both(square(ifft(make_complex(x[0], x[1]), 2))); },
       {{2, 3, 4}, {2, 3, 4}}},
      {"rfft", [](const Arrays& x) { return both(square(rfft(x[0]))); }, {{2, 6}}},
      {"rfft over three axes",
       [](const Arrays& x) { return both(square(rfft(x[0], 3))); },
       {{2, 3, 5}}},
      {"irfft",
       [](const Arrays& x) { return square(irfft(make_complex(x[0], x[1]))); },
       {{2, 4}, {2, 4}}},
      {"irfft of odd length over two axes",
       [](const Arrays& x) { return square(irfft(make_complex(x[0], x[1]), 2, 5)); },
       {{3, 3}, {3, 3}}},
  };
}

}  // namespace sturnus::testing
