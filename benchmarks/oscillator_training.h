// The training of the damped oscillator's repulsive ensemble, written as a user would write it:
// nested grad, vmap over points and over members, kernel density, Adam, all in one loop.
#pragma once

#include <sturnus/inference/optimizers/optimizer.h>
#include <sturnus/sturnus.h>

#include <vector>

namespace sturnus::benchmarks {

struct Layer {
  Array w, b;
};

struct Member {
  std::vector<Layer> net;
  Array lambda;  // omega, zeta
};

/// What Adam carries along.
struct State {
  Array rows;  // one per member
  OptimizerState optimizer;
  Array loss;
};

/// The published setting: 3 hidden layers of 20, 100 collocation points on [0, 25].
struct Oscillator {
  std::vector<double> t, y;  // measurements
  std::int64_t members = 25;

  Array net(const std::vector<Layer>& layers, Array time) const;
  Array residual(const Member& member, Array time) const;
  Array repulsion(const Array& values) const;
  Array loss(const Member& members, const Array& iteration) const;

  /// Rows of parameters, one per member: W1 (in x out), b1, W2, ..., lambda.
  Member unpack(const Array& rows) const;
  Array pack(const Member& members) const;

  /// `count` iterations from `rows`, the schedules starting at `first`.
  Array train(const Array& rows, const Array& first, const Array& count) const;
  /// One iteration's loss and gradient, for checks.
  std::pair<Array, Array> loss_and_gradient(const Array& rows, const Array& iteration) const;
};

}  // namespace sturnus::benchmarks
