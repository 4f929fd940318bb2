// Graphs: what a capture noted, to be run again. They come from captures only; the functions that
// build one node by node are not exported.
#pragma once

#include <vector>

#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {

Graph* make_graph(std::vector<Operation> operations);

void destroy_all_graphs();

}  // namespace radiance::emulator::hip
