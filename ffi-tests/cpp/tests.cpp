// Tests of groth16.hpp as a user meets it.
//
//   tests KEY CIRCUIT NUM_INPUTS WITNESS TRACE
//
// for a small circuit, which WITNESS (a .wtns file) satisfies; TRACE is a file to write.
#include "common.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using groth16::status;
using namespace std::chrono_literals;

template <class T>
constexpr bool moves_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                            !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(moves_only<groth16::engine> && moves_only<groth16::circuit> && moves_only<groth16::proving_key>);
static_assert(moves_only<groth16::buffer> && moves_only<groth16::job>);

/// The status and message of the groth16::error that call throws.
template <class Call>
std::pair<status, std::string> error_of(Call call) {
  try {
    call();
  } catch (const groth16::error& error) {
    return {error.code(), error.what()};
  }
  return {status::ok, ""};
}

template <class Call>
status status_of(Call call) {
  return error_of(call).first;
}

struct fixture {
  const test_case& c;
  groth16::engine engine = groth16::engine::create(options());
  groth16::circuit circuit = engine.load_circuit(c.circuit);
  groth16::proving_key key = engine.load_key(c.key, &circuit);

  static groth16::engine_options options() {
    groth16::engine_options out;
    out.backend = groth16::backend::cpu;
    out.cpu_threads = 2;
    out.max_queued_jobs = 16;
    return out;
  }
  explicit fixture(const test_case& from) : c(from) {}
  groth16::scalars inputs() const { return groth16::scalars(c.witness).first(c.num_inputs); }
  groth16::job_options job() const {
    groth16::job_options out;
    out.circuit = &circuit;
    out.inputs = inputs();
    out.aux = groth16::scalars(c.witness).after(c.num_inputs);
    return out;
  }
  groth16::job start() { return engine.start(key, job()); }
};

void test_proofs(const test_case& c) {
  fixture f(c);
  const groth16::bytes proof = f.start().proof();
  CHECK(proof.size() == 192 && f.key.verify(f.inputs(), proof));

  // The same r and s give the same bytes; each format verifies.
  const std::vector<std::uint8_t> r(32, 1), s(32, 2);
  groth16::job_options options = f.job();
  options.r = r;
  options.s = s;
  const groth16::bytes once = f.engine.start(f.key, options).proof();
  CHECK(once == f.engine.start(f.key, options).proof() && once != proof);
  for (const auto format : {groth16::proof_format::uncompressed, groth16::proof_format::json}) {
    options.proof_format = format;
    const groth16::bytes other = f.engine.start(f.key, options).proof();
    CHECK(other.size() >= 384 && other != once && f.key.verify(f.inputs(), other));
  }

  // Wrong inputs, and bytes that are no proof.
  std::vector<std::uint8_t> wrong(c.witness.begin(), c.witness.begin() + static_cast<std::ptrdiff_t>(32 * c.num_inputs));
  wrong[32] ^= 1;
  CHECK(!f.key.verify(wrong, proof));
  CHECK(status_of([&] { f.key.verify(f.inputs(), groth16::span<const std::uint8_t>(proof).first(191)); }) == status::format);

  // Scalars in a buffer, which the job keeps alive.
  groth16::buffer buffer = f.engine.allocate(c.witness.size());
  CHECK(buffer.size() == c.witness.size() && buffer.data()[0] == 0);
  std::copy(c.witness.begin(), c.witness.end(), buffer.data().begin());
  const groth16::scalars witness(buffer.data());
  options = f.job();
  options.inputs = witness.first(c.num_inputs);
  options.aux = witness.after(c.num_inputs);
  const groth16::job job = f.engine.start(f.key, options);
  buffer = groth16::buffer();
  CHECK(f.key.verify(f.inputs(), job.proof()));
}

void test_infos(const test_case& c, const std::string& trace) {
  fixture f(c);
  groth16::check_version();
  CHECK(groth16::name(status::queue_full) == "GROTH16_E_QUEUE_FULL");
  const std::size_t devices = groth16::device_count();
  CHECK(status_of([&] { groth16::device(devices); }) == status::invalid);
  CHECK(f.engine.info().backend == GROTH16_BACKEND_CPU && f.engine.info().cpu_threads == 2);
  CHECK(f.circuit.info().num_inputs == c.num_inputs && f.key.info().num_inputs == c.num_inputs);
  CHECK(f.circuit.info().num_inputs + f.circuit.info().num_aux == c.witness.size() / 32);
  CHECK(f.key.verifying_key().size() > 864);
  f.start().wait();
  CHECK(f.engine.metrics().find("groth16_") != std::string::npos && f.engine.metrics().back() == '\n');
  CHECK(f.engine.memory_pressure() < 64);
  f.engine.trace(trace);
  CHECK(!read_file(trace).empty());
  CHECK(status_of([&] { f.engine.trace("/no/such/folder/trace"); }) == status::io);
}

void test_moves(const test_case& c) {
  fixture f(c);
  groth16::job a = f.start(), b = f.start();
  groth16_job* const raw = a.get();
  groth16::job moved = std::move(a);
  CHECK(!a && moved && moved.get() == raw);
  CHECK(status_of([&] { a.poll(); }) == status::invalid && status_of([&] { a.proof(); }) == status::invalid);
  a.cancel();
  moved = std::move(b);  // what it held is cancelled and freed
  CHECK(f.key.verify(f.inputs(), moved.proof()));
  groth16::job& self = moved;
  moved = std::move(self);
  CHECK(moved && moved.poll().terminal());

  std::vector<groth16::job> many;
  for (int i = 0; i < 5; i++) many.push_back(f.start());
  groth16::engine engine = std::move(f.engine);
  groth16::proving_key key = std::move(f.key);
  CHECK(!f.engine && status_of([&] { f.engine.metrics(); }) == status::invalid);
  CHECK(status_of([&] { f.key.info(); }) == status::invalid);
  CHECK(groth16::buffer().data().empty());
  f.circuit = groth16::circuit();  // the jobs keep it
  for (const groth16::job& job : many) CHECK(key.verify(f.inputs(), job.proof()));

  // Another engine takes the place of the first, whose jobs end; its key still verifies.
  many.push_back(std::move(moved));
  const groth16::bytes proof = many.back().proof();
  engine = groth16::engine::create(fixture::options());
  CHECK(key.verify(f.inputs(), proof));
}

void test_errors(const test_case& c) {
  fixture f(c);
  const auto missing = error_of([&] { f.engine.load_circuit("/no/such/circuit"); });
  CHECK(missing.first == status::io && missing.second.find("/no/such/circuit") != std::string::npos);
  CHECK(status_of([&] { f.engine.load_circuit(c.key); }) == status::format);
  groth16::engine_options engine;
  engine.device_uuids = {"no such device"};
  CHECK(status_of([&] { groth16::engine::create(engine); }) != status::ok);

  groth16::job_options job = f.job();
  job.inputs = {};
  CHECK(status_of([&] { f.engine.start(f.key, job); }) == status::invalid);
  job = f.job();
  std::vector<std::uint8_t> ragged = c.witness;
  ragged.push_back(0);
  job.aux = groth16::scalars(ragged).after(c.num_inputs);
  CHECK(status_of([&] { f.engine.start(f.key, job); }) == status::invalid);
  job.aux = f.job().aux;
  job.inputs = groth16::scalars(ragged).first(c.num_inputs);
  CHECK(status_of([&] { f.engine.start(f.key, job); }) == status::invalid);
  ragged.resize(33);
  CHECK(status_of([&] { f.key.verify(ragged, ragged); }) == status::invalid);
  job = f.job();
  job.r = ragged;
  CHECK(status_of([&] { f.engine.start(f.key, job); }) == status::invalid);

  groth16::pk_options key;
  key.path = c.key;
  const std::uint64_t word = 0;
  key.a_aux.words = {&word, 1};
  key.a_aux.count = 65;
  CHECK(status_of([&] { f.engine.load_key(key); }) == status::invalid);
  key.a_aux = {};
  key.circuit = &f.circuit;
  key.blake2b = ragged;
  CHECK(status_of([&] { f.engine.load_key(key); }) == status::invalid);
  const std::vector<std::uint8_t> digest(64);
  key.blake2b = digest;
  CHECK(status_of([&] { f.engine.load_key(key); }) == status::format);
  const std::vector<std::uint8_t> data = read_file(c.key);
  key = {};
  key.data = data;
  key.circuit = &f.circuit;
  CHECK(f.engine.load_key(key).info().num_inputs == c.num_inputs);

  // A witness that is wrong is the job's error, again and again, in the words of the library.
  test_case wrong = c;
  wrong.witness.back() ^= 1;
  job = f.job();
  job.aux = groth16::scalars(wrong.witness).after(c.num_inputs);
  const groth16::job failed = f.engine.start(f.key, job);
  for (int i = 0; i < 2; i++) {
    const auto why = error_of([&] { failed.proof(); });
    CHECK(why.first == status::unsatisfied && !why.second.empty());
  }
  CHECK(failed.poll().state == groth16::state::failed && failed.poll().result == status::unsatisfied);
}

void test_matrices(const test_case& c) {
  fixture f(c);
  // x * x = y, with y public: variables are 1, y, x.
  const std::uint64_t starts[] = {0, 1};
  const std::uint32_t x[] = {2}, y[] = {1};
  std::uint8_t one[32] = {1};
  groth16::circuit_options options;
  options.a = options.b = {starts, x, {one, 1}};
  options.c = {starts, y, {one, 1}};
  options.num_rows = 1;
  options.num_inputs = 2;
  options.num_aux = 1;
  CHECK(f.engine.load_circuit(options).info().num_terms == 3);
  options.num_rows = 2;
  CHECK(status_of([&] { f.engine.load_circuit(options); }) == status::invalid);
  options.num_rows = 1;
  options.b.values = {};
  CHECK(status_of([&] { f.engine.load_circuit(options); }) == status::invalid);
}

void test_waits(const test_case& c) {
  fixture f(c);
  std::vector<groth16::job> jobs;
  for (int i = 0; i < 14; i++) jobs.push_back(f.start());
  CHECK(!jobs.back().wait_for(-1h) && !jobs.back().wait_for(0ns) && !jobs.back().wait_for(std::chrono::duration<double, std::nano>(0.5)));
  for (const groth16::job& job : jobs) job.cancel();
  CHECK(jobs.back().wait_for(std::chrono::hours::max()));
  for (const groth16::job& job : jobs) {
    job.wait();
    const groth16::progress now = job.poll();
    if (now.state == groth16::state::done) continue;
    CHECK(now.state == groth16::state::cancelled && now.result == status::cancelled);
    CHECK(status_of([&] { job.proof(); }) == status::cancelled);
  }
  CHECK(jobs.back().poll().state == groth16::state::cancelled && jobs.back().poll().queued > 0ns);

  // A full queue is refused, and a job without an owner is cancelled.
  const auto full = error_of([&] {
    for (;;) jobs.push_back(f.start());
  });
  CHECK(full.first == status::queue_full && jobs.size() > 16);
}

void test_events(const test_case& c) {
  fixture f(c);
  std::atomic<int> terminals{0}, valid{0}, refused{0};
  std::vector<groth16::job> jobs;
  std::vector<std::weak_ptr<const void>> owners;
  for (int i = 0; i < 8; i++) {
    // The witness is owned by the job alone.
    const auto values = std::make_shared<std::vector<std::uint8_t>>(c.witness);
    owners.push_back(values);
    groth16::job_options options = f.job();
    options.inputs = groth16::scalars(*values).first(c.num_inputs);
    options.aux = groth16::scalars(*values).after(c.num_inputs);
    options.keep_alive = values;
    options.on_event = [&](const groth16::job_ref& job, groth16::event event) {
      if (event != groth16::event::terminal) return;
      ++terminals;
      if (job.poll().state == groth16::state::done && job.proof().size() == 192) ++valid;
      if (status_of([&] { f.engine.load_circuit(c.circuit); }) == status::invalid) ++refused;  // it could wait
    };
    jobs.push_back(f.engine.start(f.key, std::move(options)));
  }
  jobs.erase(jobs.begin() + 5, jobs.end());  // cancelled, and done with when that returns
  for (std::size_t i = 5; i < 8; i++) CHECK(owners[i].expired());
  for (const groth16::job& job : jobs) job.wait();
  f.engine = groth16::engine();
  CHECK(terminals == 8 && valid >= 5 && refused == 8);
  for (const auto& owner : owners) CHECK(owner.expired());
  for (const groth16::job& job : jobs) CHECK(!job.callback_exception());

  // A job that is refused leaves nothing behind.
  const auto owner = std::make_shared<int>(0);
  groth16::job_options options = f.job();
  options.keep_alive = owner;
  options.on_event = [owner](const groth16::job_ref&, groth16::event) { std::abort(); };
  CHECK(status_of([&] { f.engine.start(f.key, std::move(options)); }) == status::invalid);
  CHECK(owner.use_count() == 1);
}

/// Jobs that are destroyed in the callback of their own terminal event, and in that of another job.
void test_destroyed_in_callback(const test_case& c) {
  fixture f(c);
  const auto values = std::make_shared<std::vector<std::uint8_t>>(c.witness);
  std::mutex mutex;
  groth16::job first, second;
  std::atomic<int> terminals{0};
  {
    const std::lock_guard<std::mutex> lock(mutex);  // the callback waits until both have their owners
    for (groth16::job* job : {&first, &second}) {
      groth16::job_options options = f.job();
      options.inputs = groth16::scalars(*values).first(c.num_inputs);
      options.aux = groth16::scalars(*values).after(c.num_inputs);
      options.keep_alive = values;
      options.on_event = [&](const groth16::job_ref&, groth16::event event) {
        if (event != groth16::event::terminal) return;
        groth16::job ended, other;
        const std::lock_guard<std::mutex> held(mutex);
        ended = std::move(first);
        other = std::move(second);
        ++terminals;
      };
      *job = f.engine.start(f.key, std::move(options));
    }
  }
  while (terminals < 2) std::this_thread::sleep_for(1ms);
  f.engine = groth16::engine();
  CHECK(!first && !second && values.use_count() == 1);
}

void test_callbacks_that_throw(const test_case& c) {
  struct thrown {
    int value;
  };
  groth16::engine_options with_log = fixture::options();
  std::atomic<int> lines{0};
  with_log.log_level = groth16::log_level::trace;
  with_log.log = [&](groth16::log_level, std::string_view text) {
    CHECK(!text.empty());
    ++lines;
    throw thrown{1};
  };
  fixture f(c);
  f.engine = groth16::engine::create(with_log);
  f.engine = [](groth16::engine engine) { return engine; }(std::move(f.engine));  // the function moves along
  f.circuit = f.engine.load_circuit(c.circuit);

  groth16::pk_options key;
  key.path = c.key;
  key.circuit = &f.circuit;
  int caught = 0;
  key.progress = [](std::uint64_t, std::uint64_t) -> bool { throw thrown{2}; };
  try {
    f.engine.load_key(key);
  } catch (const thrown& t) {
    caught = t.value;
  }
  CHECK(caught == 2);
  key.progress = [](std::uint64_t, std::uint64_t) { return false; };
  CHECK(status_of([&] { f.engine.load_key(key); }) == status::cancelled);
  std::uint64_t last = 0, all = 1;
  key.progress = [&](std::uint64_t done, std::uint64_t total) {
    last = done;
    all = total;
    return true;
  };
  f.key = f.engine.load_key(key);
  CHECK(last == all && lines > 0);

  groth16::job_options options = f.job();
  options.on_event = [](const groth16::job_ref&, groth16::event event) {
    if (event == groth16::event::terminal) throw thrown{3};
  };
  const groth16::job job = f.engine.start(f.key, std::move(options));
  CHECK(f.key.verify(f.inputs(), job.proof()));
  f.engine = groth16::engine();
  try {
    std::rethrow_exception(job.callback_exception());
  } catch (const thrown& t) {
    caught = t.value;
  }
  CHECK(caught == 3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  test_case c{argv[1], argv[2], read_file(argv[4]), static_cast<std::size_t>(std::atoi(argv[3]))};
  c.witness.erase(c.witness.begin(), c.witness.begin() + 76);
  test_second(c);
  test_newer(c);
  test_results(c);
  test_proofs(c);
  test_infos(c, argv[5]);
  test_moves(c);
  test_errors(c);
  test_matrices(c);
  test_waits(c);
  test_events(c);
  test_destroyed_in_callback(c);
  test_callbacks_that_throw(c);
  std::puts("C++ tests passed");
}
