// Parts of the numbers 0, 1, ... in the shape [4, 3, 5], as NumPy gives them. By
// subscript_values.py.
#pragma once

#include <sturnus/ops/subscript.h>

#include <vector>

namespace sturnus::testing {

struct ReadCase {
  const char* text;
  Array (*f)(const Array& x, const Array& i, const Array& j);
  Shape shape;
  std::vector<double> expected;
};

inline const std::vector<ReadCase> read_cases = {
    {"x[1]",
     [](const Array& x, const Array&, const Array&) { return x[1]; },
     {3, 5},
     {15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}},
    {"x[-1]",
     [](const Array& x, const Array&, const Array&) { return x[-1]; },
     {3, 5},
     {45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x(2, -1)",
     [](const Array& x, const Array&, const Array&) { return x(2, -1); },
     {5},
     {40, 41, 42, 43, 44}},
    {"x(Slice{})",
     [](const Array& x, const Array&, const Array&) { return x(Slice{}); },
     {4, 3, 5},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x(Slice{1, 3})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{1, 3});
     },
     {2, 3, 5},
     {15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
      30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44}},
    {"x(Slice{-3, {}})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{-3, {}});
     },
     {3, 3, 5},
     {15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,
      38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x(Slice{{}, -1})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{{}, -1});
     },
     {3, 3, 5},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
      23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44}},
    {"x(Slice{2, 99})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{2, 99});
     },
     {2, 3, 5},
     {30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
      45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x(Slice{3, 1})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{3, 1});
     },
     {0, 3, 5},
     {}},
    {"x(Slice{{}, {}, 2})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{{}, {}, 2});
     },
     {2, 3, 5},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
      30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44}},
    {"x(Slice{{}, {}, -1})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{{}, {}, -1});
     },
     {4, 3, 5},
     {45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 30, 31, 32, 33, 34,
      35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
      25, 26, 27, 28, 29, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14}},
    {"x(Slice{3, {}, -2})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{3, {}, -2});
     },
     {2, 3, 5},
     {45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
      15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}},
    {"x(Slice{-1, 0, -1})",
     [](const Array& x, const Array&, const Array&) {
       return x(Slice{-1, 0, -1});
     },
     {3, 3, 5},
     {45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 30, 31, 32, 33, 34, 35, 36, 37,
      38, 39, 40, 41, 42, 43, 44, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}},
    {"x(1, Slice{{}, {}, 2}, Slice{1, 4})",
     [](const Array& x, const Array&, const Array&) {
       return x(1, Slice{{}, {}, 2}, Slice{1, 4});
     },
     {2, 3},
     {16, 17, 18, 26, 27, 28}},
    {"x(ellipsis, 0)",
     [](const Array& x, const Array&, const Array&) { return x(ellipsis, 0); },
     {4, 3},
     {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55}},
    {"x(0, ellipsis)",
     [](const Array& x, const Array&, const Array&) { return x(0, ellipsis); },
     {3, 5},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    {"x(0, ellipsis, 1)",
     [](const Array& x, const Array&, const Array&) { return x(0, ellipsis, 1); },
     {3},
     {1, 6, 11}},
    {"x(new_axis, 0)",
     [](const Array& x, const Array&, const Array&) { return x(new_axis, 0); },
     {1, 3, 5},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    {"x(0, new_axis, Slice{}, new_axis)",
     [](const Array& x, const Array&, const Array&) { return x(0, new_axis, Slice{}, new_axis); },
     {1, 3, 1, 5},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    {"x(1, 2, 3)", [](const Array& x, const Array&, const Array&) { return x(1, 2, 3); }, {}, {28}},
    {"x[i]",
     [](const Array& x, const Array& i, const Array&) { return x[i]; },
     {3, 3, 5},
     {30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 0,  1,  2,  3,  4,  5,  6, 7,
      8,  9,  10, 11, 12, 13, 14, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x(Slice{}, j)",
     [](const Array& x, const Array&, const Array& j) { return x(Slice{}, j); },
     {4, 2, 3, 5},
     {5,  6,  7,  8,  9,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  5,  6,  7,  8,  9,
      5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 20, 21, 22, 23, 24, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
      35, 36, 37, 38, 39, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 35, 36, 37, 38, 39,
      35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 50, 51, 52, 53, 54, 45, 46, 47, 48, 49,
      50, 51, 52, 53, 54, 50, 51, 52, 53, 54, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x(ellipsis, j)",
     [](const Array& x, const Array&, const Array& j) { return x(ellipsis, j); },
     {4, 3, 2, 3},
     {1,  0,  3,  1,  1,  2,  6,  5,  8,  6,  6,  7,  11, 10, 13, 11, 11, 12,
      16, 15, 18, 16, 16, 17, 21, 20, 23, 21, 21, 22, 26, 25, 28, 26, 26, 27,
      31, 30, 33, 31, 31, 32, 36, 35, 38, 36, 36, 37, 41, 40, 43, 41, 41, 42,
      46, 45, 48, 46, 46, 47, 51, 50, 53, 51, 51, 52, 56, 55, 58, 56, 56, 57}},
    {"x(i, j)",
     [](const Array& x, const Array& i, const Array& j) { return x(i, j); },
     {2, 3, 5},
     {35, 36, 37, 38, 39, 0, 1, 2, 3, 4, 50, 51, 52, 53, 54,
      35, 36, 37, 38, 39, 5, 6, 7, 8, 9, 55, 56, 57, 58, 59}},
    {"x(i, Slice{}, j)",
     [](const Array& x, const Array& i, const Array& j) { return x(i, Slice{}, j); },
     {2, 3, 3},
     {31, 36, 41, 0, 5, 10, 48, 53, 58, 31, 36, 41, 1, 6, 11, 47, 52, 57}},
    {"x(Slice{}, i, j)",
     [](const Array& x, const Array& i, const Array& j) { return x(Slice{}, i, j); },
     {4, 2, 3},
     {11, 0,  13, 11, 1,  12, 26, 15, 28, 26, 16, 27,
      41, 30, 43, 41, 31, 42, 56, 45, 58, 56, 46, 57}},
    {"x(1, i)",
     [](const Array& x, const Array& i, const Array&) { return x(1, i); },
     {3, 5},
     {25, 26, 27, 28, 29, 15, 16, 17, 18, 19, 25, 26, 27, 28, 29}},
    {"x(1, Slice{}, i)",
     [](const Array& x, const Array& i, const Array&) { return x(1, Slice{}, i); },
     {3, 3},
     {17, 22, 27, 15, 20, 25, 19, 24, 29}},
    {"x(Slice{1, 3}, 0, j)",
     [](const Array& x, const Array&, const Array& j) {
       return x(Slice{1, 3}, 0, j);
     },
     {2, 2, 3},
     {16, 15, 18, 16, 16, 17, 31, 30, 33, 31, 31, 32}},
    {"x(new_axis, i, Slice{1, {}})",
     [](const Array& x, const Array& i, const Array&) {
       return x(new_axis, i, Slice{1, {}});
     },
     {1, 3, 2, 5},
     {35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 5,  6,  7,  8,  9,
      10, 11, 12, 13, 14, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x(Slice{}, new_axis, i)",
     [](const Array& x, const Array& i, const Array&) { return x(Slice{}, new_axis, i); },
     {4, 1, 3, 5},
     {10, 11, 12, 13, 14, 0,  1,  2,  3,  4,  10, 11, 12, 13, 14, 25, 26, 27, 28, 29,
      15, 16, 17, 18, 19, 25, 26, 27, 28, 29, 40, 41, 42, 43, 44, 30, 31, 32, 33, 34,
      40, 41, 42, 43, 44, 55, 56, 57, 58, 59, 45, 46, 47, 48, 49, 55, 56, 57, 58, 59}},
    {"x(i, new_axis, j)",
     [](const Array& x, const Array& i, const Array& j) { return x(i, new_axis, j); },
     {2, 3, 1, 5},
     {35, 36, 37, 38, 39, 0, 1, 2, 3, 4, 50, 51, 52, 53, 54,
      35, 36, 37, 38, 39, 5, 6, 7, 8, 9, 55, 56, 57, 58, 59}},
};

struct WriteCase {
  const char* text;
  Array (*f)(const Array& x, const Array& i, const Array& j, const Array& v);
  Shape shape;  // of the values that are written
  std::vector<double> expected;
};

inline const std::vector<WriteCase> write_cases = {
    {"x.at(1).set(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) { return x.at(1).set(v); },
     {3, 5},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 1,  3,  5,  7,  9,
      11, 2,  4,  6,  8,  10, 1,  3,  5,  7,  30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x.at(-1, Slice{1, 3}).add(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(-1, Slice{1, 3}).add(v);
     },
     {2, 5},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 51, 54, 57, 60, 63, 66, 58, 61, 64, 67}},
    {"x.at(Slice{}, 1).multiply(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(Slice{}, 1).multiply(v);
     },
     {4, 5},
     {0,   1,  2,  3,   4,   5,  18, 35, 56, 81, 10,  11,  12,  13,  14,  15,  16, 17,  18,  19,
      220, 42, 88, 138, 192, 25, 26, 27, 28, 29, 30,  31,  32,  33,  34,  350, 36, 111, 190, 273,
      40,  41, 42, 43,  44,  45, 46, 47, 48, 49, 450, 561, 104, 212, 324, 55,  56, 57,  58,  59}},
    {"x.at(Slice{{}, {}, 2}).set(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(Slice{{}, {}, 2}).set(v);
     },
     {2, 3, 5},
     {1,  3,  5,  7,  9,  11, 2,  4,  6,  8,  10, 1,  3,  5,  7,  15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 9,  11, 2,  4,  6,  8,  10, 1,  3,  5,
      7,  9,  11, 2,  4,  45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x.at(Slice{{}, {}, -1}).add(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(Slice{{}, {}, -1}).add(v);
     },
     {4, 3, 5},
     {3,  6,  9,  12, 15, 7,  10, 13, 16, 19, 11, 14, 17, 20, 23, 21, 24, 27, 19, 22,
      25, 28, 31, 34, 26, 29, 32, 35, 38, 30, 39, 42, 34, 37, 40, 43, 46, 38, 41, 44,
      47, 50, 53, 45, 48, 46, 49, 52, 55, 58, 61, 53, 56, 59, 62, 65, 57, 60, 63, 66}},
    {"x.at(Slice{3, 0, -2}, 0, Slice{1, 3}).set(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(Slice{3, 0, -2}, 0, Slice{1, 3}).set(v);
     },
     {2, 2},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 5,  7,  18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 1,  3,  48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x.at(ellipsis, 2).max(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(ellipsis, 2).max(v);
     },
     {4, 3},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x.at(ellipsis, 2).min(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(ellipsis, 2).min(v);
     },
     {4, 3},
     {0,  1,  1, 3,  4,  5,  6,  3,  8,  9,  10, 11, 5,  13, 14, 15, 16, 7, 18, 19,
      20, 21, 9, 23, 24, 25, 26, 11, 28, 29, 30, 31, 2,  33, 34, 35, 36, 4, 38, 39,
      40, 41, 6, 43, 44, 45, 46, 8,  48, 49, 50, 51, 10, 53, 54, 55, 56, 1, 58, 59}},
    {"x.at(Slice{2, 2}).set(v)",
     [](const Array& x, const Array&, const Array&, const Array& v) {
       return x.at(Slice{2, 2}).set(v);
     },
     {0, 3, 5},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x.at(i).add(v)",
     [](const Array& x, const Array& i, const Array&, const Array& v) { return x.at(i).add(v); },
     {3, 3, 5},
     {9,  12, 4,  7,  10, 13, 16, 8,  11, 14, 17, 20, 23, 15, 18, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31, 34, 37, 40, 43, 46, 38, 41, 44, 47,
      50, 42, 45, 48, 51, 51, 54, 57, 49, 52, 55, 58, 61, 64, 56, 59, 62, 65, 68, 60}},
    {"x.at(i).multiply(v)",
     [](const Array& x, const Array& i, const Array&, const Array& v) {
       return x.at(i).multiply(v);
     },
     {3, 3, 5},
     {0,   11,  4,   12,  24,  40,  60,  7,   24,  45,  70,  99,  132, 26,  56,
      15,  16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  26,  27,  28,  29,
      30,  93,  160, 231, 306, 385, 72,  148, 228, 312, 400, 41,  126, 215, 308,
      270, 368, 470, 48,  147, 250, 357, 468, 583, 108, 220, 336, 456, 580, 59}},
    {"x.at(i).max(v)",
     [](const Array& x, const Array& i, const Array&, const Array& v) { return x.at(i).max(v); },
     {3, 3, 5},
     {9,  11, 2,  4,  6,  8,  10, 7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x.at(i).min(v)",
     [](const Array& x, const Array& i, const Array&, const Array& v) { return x.at(i).min(v); },
     {3, 3, 5},
     {0,  1,  2,  3,  4,  5,  6,  1,  3,  5,  7, 9, 11, 2,  4, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 1, 3, 5,  7,  9, 11, 2,  4,  6,  8,
      10, 1,  3,  5,  7,  6,  8,  10, 1,  3,  5, 7, 9,  11, 2, 4,  6,  8,  10, 1}},
    {"x.at(Slice{1, 3}, i, 0).add(v)",
     [](const Array& x, const Array& i, const Array&, const Array& v) {
       return x.at(Slice{1, 3}, i, 0).add(v);
     },
     {2, 3},
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 18, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 31, 26, 27, 28, 29, 39, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      58, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
    {"x.at(i, Slice{}, j).add(v)",
     [](const Array& x, const Array& i, const Array& j, const Array& v) {
       return x.at(i, Slice{}, j).add(v);
     },
     {2, 3, 3},
     {7,  4,  2,  3,  4,  14, 11, 7,  8,  9,  21, 18, 12, 13, 14, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 40, 32, 33, 34, 35, 49, 37, 38, 39,
      40, 47, 42, 43, 44, 45, 46, 56, 50, 49, 50, 51, 63, 57, 54, 55, 56, 59, 64, 59}},
    {"x.at(new_axis, 0, j).add(v)",
     [](const Array& x, const Array&, const Array& j, const Array& v) {
       return x.at(new_axis, 0, j).add(v);
     },
     {1, 2, 3, 5},
     {11, 3,  6,  9,  12, 33, 31, 18, 27, 36, 17, 20, 23, 15, 18, 15, 16, 17, 18, 19,
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
      40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59}},
};

}  // namespace sturnus::testing
