// Graphs as text.
#pragma once

#include <sturnus/functional/graph.h>

#include <string>
#include <vector>

namespace sturnus::internal {

/// One operation per line, inputs before users: "%3 = multiply %1 %2 : f32[3]   # pinn.cc:41".
/// `names` are those of the parameters, where there are any.
std::string print_graph(const Arrays& parameters, const std::vector<std::string>& names,
                        const Arrays& outputs);

/// One element in the host's memory, as short as reads back the same (f64: eight digits).
std::string print_element(DType dtype, const void* element);
/// Elements in the host's memory, as NumPy prints them but for the point behind whole floats.
std::string print_elements(const ArrayType& type, const void* elements);

}  // namespace sturnus::internal
