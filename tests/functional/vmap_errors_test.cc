// Bad input of vmap and collectives.
#include "tests/functional/misused_trees.h"

namespace sturnus {
namespace {

TEST(Errors, Vmap) {
  auto axes = [](Array x, Array) { return x; };
  auto by_net = [](const Net& n) { return n.layers[0].w; };
  expect_answers({
      // vmap.
      {"vmap, no argument mapped", [] { vmap(same, {.in_axes = {none}})(x3()); }, shape_error,
       "vmap: no argument is mapped: in_axes is none for all arrays (<here>). Give at least one of "
       "in_axes an axis, or axis_size"},
      {"vmap, unequal extents", [&] { vmap(axes)(x3(), zeros({4})); }, shape_error,
       "vmap: the mapped axis of argument 1, f32[4], has extent 4, that of argument 0, f32[3], has "
       "extent 3 (<here>). Map axes of one extent, or pass an argument whole with none"},
      {"vmap, entries of in_axes", [&] { vmap(axes, {.in_axes = {0}})(x3(), x3()); }, shape_error,
       "vmap: in_axes has 1 entry, the number of arguments is 2 (<here>). Give one entry per "
       "argument, or one without braces for all"},
      {"vmap, too many entries of in_axes",
       [] {
         vmap(same, {.in_axes = {0, 0}})(x3());
       },
       shape_error,
       "vmap: in_axes has 2 entries, the number of arguments is 1 (<here>). Give one entry per "
       "argument, or one without braces for all"},
      {"vmap, no arrays", [] { vmap([] { return Array(1.0); })(); }, shape_error,
       "vmap: the arguments have no arrays (<here>). Give one to map, or axis_size"},
      {"vmap, axis_size", [] { vmap(same, {.axis_size = 4})(x3()); }, shape_error,
       "vmap: the mapped axis of argument 0, f32[3], has extent 3, axis_size is 4 (<here>). Leave "
       "axis_size out, or map axes of that extent"},
      {"vmap, negative axis_size", [] { vmap(same, {.in_axes = none, .axis_size = -1})(x3()); },
       shape_error, "vmap: axis_size is -1 (<here>). Give 0 or more"},
      {"vmap, path in in_axes",
       [&] {
         vmap(by_net, {.in_axes = {by_path({{".layer", 0}})}})(net(1));
       },
       tree_error,
       "vmap: in_axes of argument 0 names .layer, which leads to no array of the tree {layers: "
       "[{w: "
       "*, b: *}], depth: 1} (<here>). Name a part of one of .layers[0].w, .layers[0].b"},
      {"vmap, path in out_axes",
       [] {
         vmap(same, {.out_axes = by_path({{".w", 0}})})(x3());
       },
       tree_error,
       "vmap: out_axes names .w, which leads to no array of the tree * (<here>). Give one axis for "
       "the whole tree"},
      {"vmap, a result passed whole", [] { vmap(same, {.out_axes = none})(x3()); }, shape_error,
       "vmap: out_axes passes a result of type f32[] whole, but it differs along the mapped axis "
       "(<here>). Give it an axis"},
      {"psum, unknown axis", [] { psum(1.0, "members"); }, error,
       "psum: no vmap around has an axis named \"members\"; named axes here: none (<here>). Give "
       "vmap "
       ".axis_name"},
      {"axis_index, unknown axis",
       [] { vmap([](Array x) { return x + axis_index("b"); }, {.axis_name = "a"})(x3()); }, error,
       "axis_index: no vmap around has an axis named \"b\"; named axes here: a (<here>). Give vmap "
       ".axis_name"},
      {"axis_size, unknown axis", [] { axis_size("a"); }, error,
       "axis_size: no vmap around has an axis named \"a\"; named axes here: none (<here>). Give "
       "vmap "
       ".axis_name"},

      {"vmap, in_axes", [] { vmap(same, {.in_axes = {1}})(x3()); }, shape_error,
       no_axis("vmap, in_axes of argument 0", "1", "f32[3]")},
      {"vmap, in_axes of a part", [] { vmap([](const Net& n) { return n.layers[0].w; })(net(1)); },
       shape_error,
       "vmap, in_axes of argument 0 .layers[0].b: axis 0 of f32[], which has no axes (<here>). "
       "Give "
       "it one with expand_dims"},
      {"vmap, out_axes", [] { vmap(same, {.out_axes = 1})(x3()); }, shape_error,
       no_axis("vmap, out_axes", "1", "f32[3]")},
  });
}

}  // namespace
}  // namespace sturnus
