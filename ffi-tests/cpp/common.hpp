// What the tests share. The header is what is tested, so it comes first.
#ifndef COMMON_HPP
#define COMMON_HPP
#include <groth16.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                            \
    }                                                                          \
  } while (0)

/// A circuit, its key and a witness, as files and as bytes.
struct test_case {
  std::string key, circuit;
  std::vector<std::uint8_t> witness;
  std::size_t num_inputs = 0;
};

inline std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void test_second(const test_case& c);
void test_newer(const test_case& c);
void test_results(const test_case& c);

#endif
