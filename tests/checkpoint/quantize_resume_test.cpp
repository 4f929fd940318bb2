// Interruptions, kills, full disks: what remains, and how a repeated run continues.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "checkpoint/checkpoint.hpp"
#include "quantize_job.hpp"

namespace radiance {
namespace {

namespace fs = std::filesystem;
using test::CheckpointBuilder;
using test::expect_error;
using test::Job;
using test::read_file;
using test::small_llama;
using test::write_file;
using test::write_sharded;

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

TEST(QuantizeResume, ContinuesAfterAnInterruption) {
  Job whole;
  fs::remove_all(whole.source);
  write_sharded(small_llama(), whole.source);
  whole.run();

  Job job;
  fs::remove_all(job.source);
  write_sharded(small_llama(), job.source);
  job.options.progress = [](const QuantizeProgress& progress) {
    if (progress.shards_done == 1) throw Killed();
  };
  EXPECT_THROW(job.run(), Killed);
  EXPECT_TRUE(fs::exists(job.destination / "m-0.safetensors"));
  EXPECT_FALSE(fs::exists(job.destination / "m-1.safetensors"));
  expect_error(RADIANCE_BAD_INPUT, {"no checkpoint"}, [&] { Checkpoint::open(job.destination); });
  const auto first = fs::last_write_time(job.destination / "m-0.safetensors");

  job.options.progress = nullptr;
  auto report = job.run();
  EXPECT_EQ(report.shards_skipped, 1u);
  EXPECT_EQ(report.layers.size(), 14u);
  EXPECT_EQ(fs::last_write_time(job.destination / "m-0.safetensors"), first);
  for (const char* shard : {"m-0.safetensors", "m-1.safetensors", "m-2.safetensors"}) {
    EXPECT_EQ(read_file(job.destination / shard), read_file(whole.destination / shard));
  }
  // Done: once more changes nothing.
  report = job.run();
  EXPECT_EQ(report.shards_skipped, 3u);
  // A shard that was cut off afterwards is made again.
  fs::resize_file(job.destination / "m-1.safetensors", 100);
  EXPECT_EQ(job.run().shards_skipped, 2u);
  EXPECT_TRUE(Checkpoint::open(job.destination).servable());
}

TEST(QuantizeResume, ContinuesAfterSigkill) {
  Job job;
  fs::remove_all(job.source);
  write_sharded(small_llama(), job.source);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    job.options.threads = 1;
    job.options.progress = [](const QuantizeProgress& progress) {
      if (progress.shards_done == 1) raise(SIGKILL);
    };
    job.run();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(fs::exists(job.destination / "m-1.safetensors.partial"));
  EXPECT_EQ(job.run().shards_skipped, 1u);
  EXPECT_TRUE(Checkpoint::open(job.destination).servable());
  EXPECT_FALSE(fs::exists(job.destination / "m-1.safetensors.partial"));
}

TEST(QuantizeResume, RefusesToContinueSomethingElse) {
  Job job;
  job.run();
  job.options.group = 64;
  expect_error(RADIANCE_INVALID_ARGUMENT, {"other settings", "\"group\":32", "\"group\":64"},
               [&] { job.run(); });
  job.options.group = 32;
  fs::last_write_time(
      job.source / "model.safetensors",
      fs::last_write_time(job.source / "model.safetensors") + std::chrono::seconds(1));
  expect_error(RADIANCE_INVALID_ARGUMENT, {"another source"}, [&] { job.run(); });
  EXPECT_TRUE(Checkpoint::open(job.destination).servable());
  write_file(job.destination / kJournalName, "{}");
  expect_error(RADIANCE_BAD_INPUT, {kJournalName, "damaged"}, [&] { job.run(); });
}

// Runs the job under a file size limit, in which a write fails as it does on a full disk.
void run_limited(const Job& job, rlim_t bytes, std::initializer_list<std::string_view> parts) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  expect_error(RADIANCE_BAD_INPUT, parts, [&] { job.run(); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
}

TEST(QuantizeResume, LeavesNothingOnAFullDisk) {
  Job job;
  run_limited(job, 8192, {"model.safetensors", "cannot be written"});
  EXPECT_FALSE(fs::exists(job.destination));
  run_limited(job, 10, {kJournalName, "cannot be written"});
  EXPECT_FALSE(fs::exists(job.destination));
}

TEST(QuantizeResume, ContinuesAfterAFullDisk) {
  Job job;
  fs::remove_all(job.source);
  CheckpointBuilder builder = small_llama();
  builder.remove("lm_head.weight");
  builder.config["tie_word_embeddings"] = true;
  builder.at("model.embed_tokens.weight").shape = {800, 64};
  builder.at("model.embed_tokens.weight").bytes.resize(800 * 64 * 2);
  write_sharded(builder, job.source);
  run_limited(job, 60'000, {"m-2.safetensors", "cannot be written"});
  EXPECT_TRUE(fs::exists(job.destination / "m-1.safetensors"));
  EXPECT_FALSE(fs::exists(job.destination / "m-2.safetensors.partial"));
  EXPECT_EQ(job.run().shards_skipped, 2u);
  EXPECT_TRUE(Checkpoint::open(job.destination).servable());
}

}  // namespace
}  // namespace radiance
