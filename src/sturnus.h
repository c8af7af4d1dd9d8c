// All of Sturnus.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/tree.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/rejection.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/sobol.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>
