// The API without exceptions, compiled with -fno-exceptions -fno-rtti.
#include "common.hpp"

namespace {

groth16::result<groth16::bytes> prove(const test_case& c, bool& valid) {
  groth16::engine_options options;
  options.backend = groth16::backend::cpu;
  options.cpu_threads = 1;
  auto engine = groth16::engine::create(options);
  if (!engine) return engine.error();
  auto circuit = engine->load_circuit(c.circuit);
  if (!circuit) return circuit.error();
  auto key = engine->load_key(c.key, &*circuit);
  if (!key) return key.error();
  groth16::job_options job;
  job.circuit = &*circuit;
  const groth16::scalars witness(c.witness);
  job.inputs = witness.first(c.num_inputs);
  job.aux = witness.after(c.num_inputs);
  int terminals = 0;
  job.on_event = [&](const groth16::job_ref&, groth16::event e) { terminals += e == groth16::event::terminal; };
  auto started = engine->start(*key, job);
  if (!started) return started.error();
  const groth16::job owned = std::move(*started);
  CHECK(!started->wait());  // moved from: an error, not a crash
  CHECK(owned.wait().has_value());
  CHECK(*owned.wait_for(std::chrono::seconds(0)));
  CHECK(owned.poll()->terminal());
  auto proof = owned.proof();
  if (!proof) return proof.error();
  auto answer = key->verify(job.inputs, *proof);
  if (!answer) return answer.error();
  valid = *answer;
  engine = groth16::result<groth16::engine>(groth16::engine());  // the old one ends: callbacks have returned
  CHECK(terminals == 1);
  return proof;
}

}  // namespace

void test_results(const test_case& c) {
  static_assert(GROTH16_HPP_THROWS == 0);
  CHECK(groth16::check_version().has_value());
  bool valid = false;
  const auto proof = prove(c, valid);
  CHECK(proof && proof->size() == 192 && valid);

  test_case wrong = c;
  wrong.key = "/no/such/key";
  const auto missing = prove(wrong, valid);
  CHECK(!missing && missing.error().code() == groth16::status::io);
  CHECK(std::string(missing.error().what()).find("/no/such/key") != std::string::npos);
  wrong = c;
  wrong.witness.back() ^= 1;
  const auto unsatisfied = prove(wrong, valid);
  CHECK(!unsatisfied && unsatisfied.error().code() == groth16::status::unsatisfied);
  wrong.witness.pop_back();
  CHECK(groth16::engine().metrics().error().code() == groth16::status::invalid);
}
