/* Proves with the README's function in a program that has blst's symbols, and Rust's, a second time. Calling those
 * would be noticed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int prove(const char *key_path, const char *circuit_path, const void *inputs, size_t num_inputs, const void *aux,
          size_t num_aux, unsigned char proof[192]);

#ifdef SECOND_BLST
#define TRAP(name) \
  void name(void); \
  void name(void) { fprintf(stderr, "%s of the host was called\n", #name), abort(); }
TRAP(blst_fp_mul)
TRAP(blst_fr_mul)
TRAP(blst_p1_add_or_double)
TRAP(blst_miller_loop)
TRAP(blst_final_exp)
TRAP(mul_mont_384)
TRAP(mulx_mont_384)
TRAP(rust_eh_personality)
TRAP(rust_begin_unwind)
#endif

#ifdef WITH_CRYPTO
#include <openssl/sha.h>
static int use_crypto(void) {
  static const unsigned char abc[] = {0xba, 0x78, 0x16, 0xbf};
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256((const unsigned char *)"abc", 3, digest);
  return memcmp(digest, abc, sizeof abc) == 0;
}
#else
static int use_crypto(void) { return 1; }
#endif

/* The values of a .wtns file as iden3's tools write it start here. */
#define VALUES 76

int main(int argc, char **argv) {
  unsigned char proof[192], *witness;
  size_t num_inputs, len;
  FILE *file;
  if (argc != 6) return 2;
  num_inputs = (size_t)atoi(argv[4]);
  if ((file = fopen(argv[3], "rb")) == NULL) return perror(argv[3]), 2;
  witness = malloc(1 << 20);
  len = fread(witness, 1, 1 << 20, file);
  fclose(file);
  if (len < VALUES + 32 * num_inputs || !use_crypto()) return 2;
  if (prove(argv[1], argv[2], witness + VALUES, num_inputs, witness + VALUES + 32 * num_inputs,
            (len - VALUES) / 32 - num_inputs, proof))
    return 1;
  free(witness);
  if ((file = fopen(argv[5], "wb")) == NULL) return perror(argv[5]), 2;
  fwrite(proof, 1, sizeof proof, file);
  return fclose(file) == 0 ? 0 : 2;
}
