// A worker that proves one witness after the other and keeps the pipeline full while it does.
//
//   worker KEY CIRCUIT NUM_INPUTS WITNESS...
//
// KEY is in bellman's format, CIRCUIT an iden3 .r1cs, each WITNESS an iden3 .wtns as iden3's tools write it; NUM_INPUTS
// counts the constant one. Each proof becomes a line on standard output,
//
//   proof WITNESS HEX queued 0.1 ms prepare 5.2 ms device 400.3 ms finish 3.1 ms
//
// in the order of the witnesses. While it works, a terminal on standard error shows where the jobs are; otherwise a line
// now and then tells how far it has come. The exit status is 0 if all were proved, 1 if some were not, 2 for an error.
#include <groth16.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr std::size_t in_flight = 8;  // jobs between start and proof: their witnesses are in memory
constexpr std::size_t header_of_wtns = 76;

/// The values of a .wtns file, owned by whoever holds it.
std::shared_ptr<std::vector<std::uint8_t>> read_witness(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  auto values = std::make_shared<std::vector<std::uint8_t>>();
  char header[header_of_wtns];
  if (!file.read(header, sizeof header) || std::string(header, 4) != "wtns") {
    throw std::runtime_error(path + ": not a .wtns file");
  }
  values->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return values;
}

struct task {
  std::string path;
  groth16::job job;
};

/// Tells how far the work has come: by one line that is rewritten on a terminal, else by a line every few seconds.
class display {
 public:
  explicit display(std::size_t total) : terminal_(isatty(STDERR_FILENO) != 0), total_(total) {}

  void loading(std::uint64_t done, std::uint64_t total) const {
    if (terminal_ && total > 0) {
      std::fprintf(stderr, "\r\033[Kloading the key: %3.0f %%", 100.0 * static_cast<double>(done) / static_cast<double>(total));
    }
  }

  void working(std::size_t finished, const std::deque<task>& tasks) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? 100ms : 2000ms);
    std::size_t queued = 0, prepared = 0, on_device = 0, finishing = 0, done = 0;
    for (const task& t : tasks) {
      switch (t.job.poll().state) {
        case groth16::state::queued: ++queued; break;
        case groth16::state::preparing: ++prepared; break;
        case groth16::state::on_device: ++on_device; break;
        case groth16::state::finishing: ++finishing; break;
        default: ++done;
      }
    }
    std::fprintf(stderr, "%s%zu of %zu proofs; %zu queued, %zu preparing, %zu on the device, %zu finishing, %zu done%s",
                 terminal_ ? "\r\033[K" : "", finished, total_, queued, prepared, on_device, finishing, done,
                 terminal_ ? "" : "\n");
  }

  void clear() const {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }

 private:
  bool terminal_;
  std::size_t total_;
  std::chrono::steady_clock::time_point next_{};
};

class worker {
 public:
  worker(const std::string& key, const std::string& circuit, std::size_t num_inputs, std::vector<std::string> paths)
      : paths_(std::move(paths)), num_inputs_(num_inputs), display_(paths_.size()) {
    engine_ = groth16::engine::create();
    circuit_ = engine_.load_circuit(circuit);
    groth16::pk_options options;
    options.path = key;
    options.circuit = &circuit_;
    options.progress = [this](std::uint64_t done, std::uint64_t total) {
      display_.loading(done, total);
      return true;
    };
    key_ = engine_.load_key(options);
    display_.clear();
  }

  /// How many witnesses could not be proved.
  std::size_t run() {
    std::size_t finished = 0;
    while (finished < paths_.size()) {
      while (tasks_.size() < in_flight && started_ < paths_.size() && start_next()) {
      }
      display_.working(finished, tasks_);
      if (tasks_.front().job.wait_for(20ms)) {
        finish_oldest();
        ++finished;
      }
    }
    display_.clear();
    return failed_;
  }

 private:
  /// False if the queue has no room now: the jobs in flight will make some.
  bool start_next() {
    const auto values = read_witness(paths_[started_]);
    const groth16::scalars witness(*values);
    groth16::job_options options;
    options.circuit = &circuit_;
    options.inputs = witness.first(num_inputs_);
    options.aux = witness.after(num_inputs_);
    options.keep_alive = values;
    try {
      tasks_.push_back({paths_[started_], engine_.start(key_, std::move(options))});
    } catch (const groth16::error& error) {
      if (error.code() == groth16::status::queue_full && !tasks_.empty()) return false;
      throw;
    }
    ++started_;
    return true;
  }

  void finish_oldest() {
    const task done = std::move(tasks_.front());
    tasks_.pop_front();
    display_.clear();
    try {
      const groth16::bytes proof = done.job.proof();
      const groth16::progress times = done.job.poll();
      std::printf("proof %s ", done.path.c_str());
      for (const std::uint8_t byte : proof) std::printf("%02x", byte);
      const auto ms = [](std::chrono::nanoseconds ns) { return std::chrono::duration<double, std::milli>(ns).count(); };
      std::printf(" queued %.1f ms prepare %.1f ms device %.1f ms finish %.1f ms\n", ms(times.queued), ms(times.prepare),
                  ms(times.on_device), ms(times.finish));
    } catch (const groth16::error& error) {  // of this witness alone
      ++failed_;
      std::fprintf(stderr, "worker: %s: %s\n", done.path.c_str(), error.what());
    }
    if (std::fflush(stdout) != 0) throw std::runtime_error("standard output cannot be written");
  }

  std::vector<std::string> paths_;
  std::size_t num_inputs_, started_ = 0, failed_ = 0;
  display display_;
  groth16::engine engine_;
  groth16::circuit circuit_;
  groth16::proving_key key_;
  std::deque<task> tasks_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: worker KEY CIRCUIT NUM_INPUTS WITNESS...\n");
    return 2;
  }
  try {
    groth16::check_version();
    const std::size_t num_inputs = std::strtoul(argv[3], nullptr, 10);
    worker w(argv[1], argv[2], num_inputs, {argv + 4, argv + argc});
    return w.run() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker: %s\n", error.what());
    return 2;
  }
}
