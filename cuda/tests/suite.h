// What the parts of the test program share.
#ifndef G16_TESTS_SUITE_H
#define G16_TESTS_SUITE_H

#include <array>
#include <string>
#include <vector>

#include "../tuning/msm.h"
#include "device.h"

namespace g16 {

/// A section of the file that vectors.py writes.
struct Section {
    std::string name;
    uint32_t parameters[4];
    uint32_t input_words, output_words, cases;
    std::vector<uint32_t> input, output;
};

/// Counts what passed and prints what did not.
struct Results {
    uint32_t passed = 0, failed = 0;
    void add(bool good, const std::string& what) {
        good ? passed++ : failed++;
        if (!good) printf("FAILED %s\n", what.c_str());
    }
};

/// An operation on words, one case a thread.
struct Operation {
    const char* name;
    uint32_t input_words, output_words;
    void (*run)(const uint32_t* in, uint32_t* out, uint32_t cases);
};

template <class Op>
G16_GLOBAL void operation_kernel(const uint32_t* in, uint32_t* out, uint32_t cases) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cases) return;
    typename Op::Input input;
    typename Op::Output output;
    constexpr uint32_t input_words = sizeof(input) / 4, output_words = sizeof(output) / 4;
    uint32_t* words = reinterpret_cast<uint32_t*>(&input);
    for (uint32_t w = 0; w < input_words; w++) words[w] = in[(size_t)i * input_words + w];
    output = Op::apply(input);
    words = reinterpret_cast<uint32_t*>(&output);
    for (uint32_t w = 0; w < output_words; w++) out[(size_t)i * output_words + w] = words[w];
}

template <class Op>
Operation operation(const char* name) {
    return {name, sizeof(typename Op::Input) / 4, sizeof(typename Op::Output) / 4,
            [](const uint32_t* in, uint32_t* out, uint32_t cases) {
                launch(operation_kernel<Op>, (cases + 63) / 64, 64, in, out, cases);
            }};
}

template <class A, class B>
struct Two {
    A a;
    B b;
};

/// An operation named `type`, of `in` to `out`, by the expression over the input `x`.
#define G16_OPERATION(type, in, out, expression)                      \
    struct type {                                                     \
        using Input = in;                                             \
        using Output = out;                                           \
        static G16_FN Output apply(const Input& x) { return expression; } \
    };

std::vector<Operation> field_operations();
std::vector<Operation> g1_operations();
std::vector<Operation> g2_operations();

/// Sections ntt_* and quotient, with several tunings.
void run_transform_section(const Section& section, Results& results);
/// Transforms and a quotient of 2^log_size elements, by the round trip and by values at points.
void run_large(uint32_t log_size, uint32_t generator, const Tuning& tuning, Results& results);

// The other kernels of a proof. `emulated` keeps sizes small; the large ones are of about 2^log_size elements.

/// Sections r1cs.
void run_r1cs_section(const Section& section, Results& results);
void run_r1cs(bool emulated, Results& results);
void run_r1cs_large(uint32_t log_size, Results& results);
/// A circuit and a satisfying witness, in iden3's files.
void run_circuit_files(const char* circuit_path, const char* witness_path, Results& results);
/// Sections split.
void run_split_section(const Section& section, Results& results);
void run_split(bool emulated, Results& results);
void run_split_large(uint32_t log_size, Results& results);
/// Sections g1_import and g2_import, and checksum.
void run_import_section(const Section& section, Results& results);
void run_import(bool emulated, Results& results);
void run_import_large(uint32_t log_size, Results& results);
/// Sections g1_fixed_base and g2_fixed_base.
void run_fixed_base_section(const Section& section, Results& results);
void run_fixed_base(bool emulated, Results& results);
void run_fixed_base_large(uint32_t log_size, Results& results);

// Null in a program that is linked without them.

/// Sections g1_msm and g2_msm; tunings are those of G1 and G2.
__attribute__((weak)) void run_msm_section(const Section& section, const MsmTuning (&tunings)[2], Results& results);
/// MSMs and sums of all kinds: small ones, and up to 65537 points unless `emulated`.
__attribute__((weak)) void run_msm(bool emulated, const MsmTuning (&tunings)[2], Results& results);
/// MSMs and sums of about 2^log_size points.
__attribute__((weak)) void run_msm_large(uint32_t log_size, const MsmTuning (&tunings)[2], Results& results);

}  // namespace g16

#endif
