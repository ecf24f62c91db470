// The header in a second object of one program.
#include "common.hpp"

#ifdef WITH_CRYPTO
#include <openssl/sha.h>
#endif

void test_second(const test_case&) {
  CHECK(GROTH16_HPP_THROWS == 1);
  CHECK(!groth16::version().empty());
#ifdef WITH_CRYPTO
  // OpenSSL is itself beside the library.
  const unsigned char abc[] = {'a', 'b', 'c'}, start[] = {0xba, 0x78, 0x16, 0xbf};
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(abc, sizeof abc, digest);
  for (std::size_t i = 0; i < sizeof start; i++) CHECK(digest[i] == start[i]);
#endif
}
