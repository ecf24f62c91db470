// C++20 beside C++17 in one program: std::span where the other objects have the header's own, and designated initializers.
#include "common.hpp"

#include <array>
#include <span>

void test_newer(const test_case& c) {
  static_assert(std::is_same_v<groth16::span<int>, std::span<int>>);
  groth16::engine engine = groth16::engine::create({.backend = groth16::backend::cpu, .cpu_threads = 1});
  const groth16::circuit circuit = engine.load_circuit({.path = c.circuit});
  const groth16::proving_key key = engine.load_key({.path = c.key, .circuit = &circuit});
  std::vector<std::array<std::uint8_t, 32>> witness(c.witness.size() / 32);
  for (std::size_t i = 0; i < c.witness.size(); i++) witness[i / 32][i % 32] = c.witness[i];
  const std::span inputs = std::span(witness).first(c.num_inputs);
  const groth16::job job =
      engine.start(key, {.circuit = &circuit, .inputs = inputs, .aux = std::span(witness).subspan(c.num_inputs)});
  CHECK(key.verify(inputs, job.proof()));
}
