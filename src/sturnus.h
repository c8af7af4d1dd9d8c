// All of Sturnus.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/functional/associative.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/tree.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/einsum.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>
