#include "emulator/hip/graph.hpp"

#include <map>

#include "emulator/hip/errors.hpp"

namespace radiance::emulator::hip {

struct Graph {
  std::vector<Operation> operations;
};

// Independent of the graph that it was made from. Shared, because a captured launch of it may
// outlive the handle.
struct ExecutableGraph {
  std::shared_ptr<const std::vector<Operation>> operations;
};

namespace {

struct Graphs {
  std::mutex mutex;
  std::map<Graph*, std::unique_ptr<Graph>> graphs;
  std::map<ExecutableGraph*, std::unique_ptr<ExecutableGraph>> executables;
};

Graphs& graphs() {
  static Graphs* const only = new Graphs;
  return *only;
}

void instantiate(ExecutableGraph** executable, Graph* handle) {
  require(executable != nullptr, kInvalidValue, "the pointer for the executable graph is null");
  const std::lock_guard lock(graphs().mutex);
  const auto found = graphs().graphs.find(handle);
  require(found != graphs().graphs.end(), kInvalidValue, "that is no graph");
  auto made = std::make_unique<ExecutableGraph>();
  made->operations = std::make_shared<const std::vector<Operation>>(found->second->operations);
  *executable = made.get();
  graphs().executables[made.get()] = std::move(made);
}

}  // namespace

Graph* make_graph(std::vector<Operation> operations) {
  auto made = std::make_unique<Graph>();
  made->operations = std::move(operations);
  Graph* const handle = made.get();
  const std::lock_guard lock(graphs().mutex);
  graphs().graphs[handle] = std::move(made);
  return handle;
}

void destroy_all_graphs() {
  const std::lock_guard lock(graphs().mutex);
  graphs().graphs.clear();
  graphs().executables.clear();
}

RADIANCE_HIP_EXPORT Result hipGraphInstantiate(ExecutableGraph** executable, Graph* graph,
                                               void** error_node, char* log, size_t log_bytes) {
  return device_api([&] {
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && log_bytes > 0) *log = '\0';
    instantiate(executable, graph);
  });
}

RADIANCE_HIP_EXPORT Result hipGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                                        unsigned long long) {
  return device_api([&] { instantiate(executable, graph); });
}

RADIANCE_HIP_EXPORT Result hipGraphUpload(ExecutableGraph*, Stream*) {
  return device_api([] {});
}

RADIANCE_HIP_EXPORT Result hipGraphLaunch(ExecutableGraph* handle, Stream* stream) {
  return device_api([&] {
    std::shared_ptr<const std::vector<Operation>> operations;
    {
      const std::lock_guard lock(graphs().mutex);
      const auto found = graphs().executables.find(handle);
      require(found != graphs().executables.end(), kInvalidValue, "that is no executable graph");
      operations = found->second->operations;
    }
    issue(stream, [operations] {
      for (const Operation& operation : *operations) operation();
    });
  });
}

RADIANCE_HIP_EXPORT Result hipGraphGetNodes(Graph* handle, void** nodes, size_t* count) {
  return device_api([&] {
    require(count != nullptr, kInvalidValue, "the pointer for the count is null");
    require(nodes == nullptr, kNotSupported, "nodes of a graph have no handles here");
    const std::lock_guard lock(graphs().mutex);
    const auto found = graphs().graphs.find(handle);
    require(found != graphs().graphs.end(), kInvalidValue, "that is no graph");
    *count = found->second->operations.size();
  });
}

RADIANCE_HIP_EXPORT Result hipGraphDestroy(Graph* handle) {
  return api([&] {
    const std::lock_guard lock(graphs().mutex);
    require(graphs().graphs.erase(handle) == 1, kInvalidValue, "that is no graph");
  });
}

RADIANCE_HIP_EXPORT Result hipGraphExecDestroy(ExecutableGraph* handle) {
  return api([&] {
    const std::lock_guard lock(graphs().mutex);
    require(graphs().executables.erase(handle) == 1, kInvalidValue, "that is no executable graph");
  });
}

}  // namespace radiance::emulator::hip
