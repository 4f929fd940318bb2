#include "checkpoint/quantize.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/failure.hpp"
#include "checkpoint/quantize_journal.hpp"
#include "checkpoint/quantize_plan.hpp"
#include "checkpoint/quantize_weight.hpp"

namespace radiance {

namespace fs = std::filesystem;

namespace {

// Raised when the same source and settings would give other bytes than before.
constexpr int kQuantizerVersion = 1;
constexpr size_t kCopyBytes = 8u << 20;

// A weight that cannot be quantized: no further run will get past it.
class SourceFault : public Error {
 public:
  using Error::Error;
};

template <typename T>
std::span<const uint8_t> as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

const char* format_name(QuantizeFormat format) {
  return format == QuantizeFormat::kMxfp4 ? "mxfp4" : "autoround";
}

void check_options(const QuantizeOptions& options) {
  const int64_t g = options.group;
  if (options.format == QuantizeFormat::kAutoRound && g != 128 && g != 64 && g != 32 && g != -1) {
    fail(RADIANCE_INVALID_ARGUMENT, "group is {}, supported are 128, 64, 32 and -1", g);
  }
  if (options.threads < 0) {
    fail(RADIANCE_INVALID_ARGUMENT, "threads is {}, supported are 0 or more", options.threads);
  }
}

nlohmann::json source_identity(const Checkpoint& source) {
  nlohmann::json files = nlohmann::json::array();
  const auto add = [&](const std::string& name, const FileIdentity& identity) {
    files.push_back(
        {{"file", name}, {"bytes", identity.bytes}, {"modified_ns", identity.modified_ns}});
  };
  add("config.json", MappedFile(source.directory() / "config.json").identity());
  for (const auto& shard : source.tensors().shards()) {
    add(shard->file().path().filename().string(), shard->file().identity());
  }
  return files;
}

// Copies in pieces, giving their pages back, so that a tensor of any size costs little memory.
template <typename Append>
void copy_pieces(const MappedFile& file, std::span<const uint8_t> bytes, Append append) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kCopyBytes));
    append(piece);
    file.drop(piece);
    bytes = bytes.subspan(piece.size());
  }
}

void copy_whole(const fs::path& from, const fs::path& to) {
  const MappedFile source(from);
  OutputFile out(to);
  out.reserve(source.bytes().size());
  copy_pieces(source, source.bytes(), [&](auto piece) { out.append(piece); });
  out.commit();
}

// Tokenizer, templates, generation settings: whatever is neither weights nor about to be written.
std::vector<std::string> files_to_copy(const fs::path& directory) {
  static const std::set<std::string> weights = {
      ".safetensors", ".bin", ".pt", ".pth", ".gguf", ".h5", ".onnx", ".msgpack", ".ot"};
  static const std::set<std::string> written = {"config.json", kIndexFileName, kJournalName};
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && !name.ends_with(".index.json") && !name.starts_with('.') &&
        written.count(name) == 0 && weights.count(entry.path().extension().string()) == 0) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Conversion {
 public:
  Conversion(const fs::path& source, const fs::path& destination, const QuantizeOptions& options)
      : options_(options),
        source_(Checkpoint::open(source)),
        destination_(destination),
        plan_(plan_quantization(source_, options)),
        journal_(destination,
                 {{"format", format_name(options.format)},
                  {"group", plan_.group},
                  {"version", kQuantizerVersion}},
                 source_identity(source_)) {
    threads_ = options.threads != 0
                   ? options.threads
                   : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (const PlannedShard& shard : plan_.shards) {
      for (const PlannedTensor& tensor : shard.tensors) {
        progress_.bytes += tensor.source->bytes().size();
      }
    }
    progress_.shards = plan_.shards.size();
  }

  QuantizeReport run() {
    prepare_destination();
    QuantizeReport report;
    try {
      for (const PlannedShard& shard : plan_.shards) {
        if (journal_.finished(shard.file_name) != nullptr) {
          ++report.shards_skipped;
          for (const PlannedTensor& t : shard.tensors) {
            progress_.bytes_done += t.source->bytes().size();
          }
        } else {
          write_shard(shard);
        }
        ++progress_.shards_done;
      }
      write_other_files();
    } catch (const OutputError&) {
      if (journal_.shards().empty()) remove_traces();
      throw;
    } catch (const SourceFault&) {
      remove_traces();
      throw;
    }
    fill(report);
    return report;
  }

 private:
  void prepare_destination() {
    std::error_code error;
    if (fs::equivalent(source_.directory(), destination_, error)) {
      fail(RADIANCE_INVALID_ARGUMENT, "{} is both the source and the destination",
           destination_.string());
    }
    if (fs::exists(destination_, error)) {
      if (!fs::is_directory(destination_, error)) {
        fail(RADIANCE_INVALID_ARGUMENT, "the destination {} is not a directory",
             destination_.string());
      }
      if (!fs::is_empty(destination_, error) && !fs::exists(destination_ / kJournalName, error)) {
        fail(RADIANCE_INVALID_ARGUMENT,
             "the destination {} holds other files; supported are a new or empty directory and one "
             "with an unfinished conversion",
             destination_.string());
      }
      journal_.resume();
    } else {
      created_ = fs::create_directories(destination_, error);
      if (error) {
        throw OutputError(
            fmt::format("{} cannot be created: {}", destination_.string(), error.message()));
      }
    }
    try {
      journal_.write();
    } catch (const OutputError&) {
      if (journal_.shards().empty()) remove_traces();
      throw;
    }
  }

  void remove_traces() {
    std::error_code error;
    for (const JournalShard& shard : journal_.shards()) {
      fs::remove(destination_ / shard.file_name, error);
    }
    fs::remove(destination_ / kJournalName, error);
    if (created_) fs::remove(destination_, error);  // only if empty
  }

  void write_shard(const PlannedShard& shard) {
    std::vector<TensorSpec> specs;
    for (const PlannedTensor& tensor : shard.tensors) {
      for (TensorSpec& spec : output_tensors(plan_, tensor)) specs.push_back(std::move(spec));
    }
    auto metadata = shard.source->metadata();
    metadata.try_emplace("format", "pt");  // transformers refuses files without it
    SafetensorsWriter writer(destination_ / shard.file_name, std::move(specs), metadata);
    JournalShard done{shard.file_name, writer.file_bytes(), {}};
    for (const PlannedTensor& tensor : shard.tensors) {
      if (tensor.module != nullptr) {
        const WeightError error = write_quantized(*tensor.module, writer);
        done.layers.push_back({tensor.module->name, tensor.module->n, tensor.module->k, error});
      } else {
        copy_pieces(shard.source->file(), tensor.source->bytes(),
                    [&](auto piece) { writer.append(tensor.source->name(), piece); });
      }
      tensor.source->drop_pages();
      progress_.tensor = tensor.source->name();
      progress_.bytes_done += tensor.source->bytes().size();
      if (options_.progress) options_.progress(progress_);
    }
    writer.finish();
    journal_.record(std::move(done));
  }

  WeightError write_quantized(const LinearModule& module, SafetensorsWriter& writer) {
    const Tensor& weight = *module.tensors.weight;
    const FloatMatrix matrix{weight.dtype(), weight.bytes(), module.n, module.k};
    try {
      if (plan_.format == QuantizeFormat::kMxfp4) {
        const QuantizedMxfp4 result = quantize_mxfp4(matrix, threads_);
        writer.append(module.name + ".weight_packed", as_bytes(result.weight_packed));
        writer.append(module.name + ".weight_scale", as_bytes(result.weight_scale));
        return result.error;
      }
      const QuantizedInt4 result = quantize_int4(matrix, plan_.group, threads_);
      writer.append(module.name + ".qweight", as_bytes(result.qweight));
      writer.append(module.name + ".qzeros", as_bytes(result.qzeros));
      writer.append(module.name + ".scales", as_bytes(result.scales));
      return result.error;
    } catch (const OutputError&) {
      throw;
    } catch (const Error& e) {
      throw SourceFault(e.status(), fmt::format("tensor {} of {}: {}", quote_name(weight.name()),
                                                weight.shard->file().path().string(), e.what()));
    }
  }

  void write_other_files() {
    for (const std::string& name : files_to_copy(source_.directory())) {
      copy_whole(source_.directory() / name, destination_ / name);
    }
    if (plan_.format == QuantizeFormat::kAutoRound) {
      write_text_file(destination_ / "quantization_config.json", quantization_config_text(plan_));
    }
    if (source_.tensors().has_index()) write_index();
    // Last: a directory without it is no checkpoint.
    write_text_file(destination_ / "config.json",
                    model_config_text(plan_, read_text_file(source_.directory() / "config.json",
                                                            uint64_t{1} << 30)));
  }

  void write_index() const {
    nlohmann::json map = nlohmann::json::object();
    uint64_t total = 0;
    for (const PlannedShard& shard : plan_.shards) {
      for (const PlannedTensor& tensor : shard.tensors) {
        for (const TensorSpec& spec : output_tensors(plan_, tensor)) {
          map[spec.name] = shard.file_name;
          total += spec.bytes();
        }
      }
    }
    const nlohmann::json index = {{"metadata", {{"total_size", total}}}, {"weight_map", map}};
    write_text_file(destination_ / kIndexFileName, index.dump(2) + "\n");
  }

  void fill(QuantizeReport& report) const {
    WeightError all;
    for (const JournalShard& shard : journal_.shards()) {
      report.written_bytes += shard.bytes;
      for (const JournalLayer& layer : shard.layers) {
        report.layers.push_back({layer.name, layer.n, layer.k, layer.error.relative(),
                                 static_cast<double>(layer.error.largest)});
        all.add(layer.error);
      }
    }
    std::sort(report.layers.begin(), report.layers.end(),
              [](const LayerError& a, const LayerError& b) { return a.name < b.name; });
    report.kept = plan_.kept;
    report.relative = all.relative();
    report.source_bytes = progress_.bytes;
    report.shards = plan_.shards.size();
  }

  const QuantizeOptions& options_;
  Checkpoint source_;
  fs::path destination_;
  QuantizePlan plan_;
  QuantizeJournal journal_;
  QuantizeProgress progress_;
  int threads_ = 1;
  bool created_ = false;
};

}  // namespace

QuantizeReport quantize_checkpoint(const fs::path& source, const fs::path& destination,
                                   const QuantizeOptions& options) {
  check_options(options);
  return Conversion(source, destination, options).run();
}

}  // namespace radiance
