// Multiples of one point: Python's vectors, and against a ladder for each scalar.

#define G16_CALL_PRODUCTS
#include "../kernel/fixed_base_kernels.h"

#include "random.h"
#include "suite.h"

namespace g16 {
namespace {

using Scalar = std::array<uint32_t, 8>;

template <class F>
struct Kernels;
#define G16_TABLE(g, F)                                               \
    template <>                                                       \
    struct Kernels<F> {                                               \
        static constexpr auto windows = g16_fixed_windows_##g;        \
        static constexpr auto table = g16_fixed_table_##g;            \
        static constexpr auto multiply = g16_fixed_base_##g;          \
        static constexpr auto normalise = g16_normalise_##g;          \
        static constexpr const char* name = #g;                       \
    };
G16_TABLE(g1, Fp)
G16_TABLE(g2, Fp2)
#undef G16_TABLE

/// Products, with `each` of them to an inverse.
template <class F>
Memory<Affine<F>> multiples(const Memory<Affine<F>>& table, const std::vector<Scalar>& scalars, uint32_t each) {
    uint32_t count = (uint32_t)scalars.size(), threads = (count + each - 1) / each;
    Memory<Affine<F>> out(count);
    Memory<Scalar> words(scalars);
    Memory<F> zz(count), zzz(count), scratch(count);
    if (count == 0) return out;
    launch(Kernels<F>::multiply, (count + G16_FIXED_THREADS - 1) / G16_FIXED_THREADS, G16_FIXED_THREADS, out.data(), zz.data(),
           zzz.data(), table.data(), reinterpret_cast<const Quad*>(words.data()), count);
    launch(Kernels<F>::normalise, (threads + 127) / 128, 128, out.data(), zz.data(), zzz.data(), scratch.data(), count, each);
    wait();
    return out;
}

template <class F>
Memory<Affine<F>> table_of(const Affine<F>& base) {
    Memory<Affine<F>> out(256 * G16_FIXED_WINDOWS), from(std::vector<Affine<F>>{base});
    Memory<F> zz(out.size()), zzz(out.size()), scratch(out.size());
    launch(Kernels<F>::windows, 1, 32, out.data(), from.data());
    launch(Kernels<F>::table, 64, 128, out.data(), zz.data(), zzz.data());
    launch(Kernels<F>::normalise, 8, 128, out.data(), zz.data(), zzz.data(), scratch.data(), (uint32_t)out.size(), 8u);
    wait();
    return out;
}

/// bad[0] = how many of out[i] are not scalars[i] times the base.
template <class F>
G16_GLOBAL void compare(uint32_t* bad, const Affine<F>* out, const Affine<F>* base, const uint32_t* scalars, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Jacobian<F> sum = Jacobian<F>::infinity();
    G16_ROLLED
    for (int bit = 255; bit >= 0; bit--) {
        sum = sum.twice();
        if (scalars[8 * (size_t)i + bit / 32] >> (bit % 32) & 1) sum = sum + *base;
    }
    // (x / z^2, y / z^3)
    Affine<F> got = out[i];
    F zz = sum.z.square();
    bool good = sum.is_infinity() ? got.is_infinity() : got.x * zz == sum.x && got.y * zz * sum.z == sum.y && !got.is_infinity();
    if (!good) atomicAdd(bad, 1u);
}

std::vector<Scalar> drawn(uint32_t count) {
    std::vector<Scalar> out(count);
    for (uint32_t i = 0; i < count; i++) {
        for (int w = 0; w < 8; w++) out[i][w] = (uint32_t)(mixed(41, 8 * (uint64_t)i + w) >> 32);
        out[i][7] &= 0x3fffffff;
        if (i % 11 == 2) out[i] = {};
        if (i % 11 == 3) out[i] = {i};
        if (i % 11 == 4) out[i] = Scalar{}, out[i][i / 11 % 8] = 1u << (i % 32);
    }
    return out;
}

/// Products by the kernels against a ladder for each.
template <class F>
void check_base(const Affine<F>& base, const Memory<Affine<F>>& table, const std::vector<Scalar>& scalars, uint32_t each,
                Results& results) {
    Memory<Affine<F>> from(std::vector<Affine<F>>{base}), out = multiples(table, scalars, each);
    Memory<uint32_t> bad(std::vector<uint32_t>{0});
    Memory<Scalar> words(scalars);
    uint32_t count = (uint32_t)scalars.size();
    if (count > 0) {
        launch(compare<F>, (count + 127) / 128, 128, bad.data(), out.data(), from.data(),
               reinterpret_cast<const uint32_t*>(words.data()), count);
    }
    wait();
    results.add(bad.read()[0] == 0, std::string(Kernels<F>::name) + " fixed base, " + std::to_string(count) + " by " + std::to_string(each));
}

template <class F>
void section_of(const Section& section, Results& results, Affine<F>& base) {
    uint32_t count = section.parameters[0];
    std::vector<Scalar> scalars(count);
    std::vector<Affine<F>> wanted(count);
    memcpy((void*)&base, section.input.data(), sizeof base);
    memcpy((void*)scalars.data(), section.input.data() + sizeof base / 4, count * sizeof(Scalar));
    memcpy((void*)wanted.data(), section.output.data(), count * sizeof base);
    Memory<Affine<F>> table = table_of(base);
    for (uint32_t each : {1u, 3u, 64u}) {
        bool good = multiples(table, scalars, each).read() == wanted;
        results.add(good, section.name + " of " + std::to_string(count) + " by " + std::to_string(each));
    }
}

/// Bases that the vectors brought.
G1Affine base1 = G1Affine::infinity();
G2Affine base2 = G2Affine::infinity();

}  // namespace

void run_fixed_base_section(const Section& section, Results& results) {
    if (section.name == "g1_fixed_base") section_of(section, results, base1);
    else section_of(section, results, base2);
}

void run_fixed_base(bool emulated, Results& results) {
    Memory<G1Affine> table1 = table_of(base1);
    Memory<G2Affine> table2 = table_of(base2);
    for (uint32_t count : {0u, 1u, 2u, 127u, 129u, emulated ? 257u : 65537u}) {
        check_base(base1, table1, drawn(count), count % 5 + 1, results);
        check_base(base2, table2, drawn(emulated ? count / 4 : count), count % 5 + 1, results);
    }
    G1Affine infinity = G1Affine::infinity();
    check_base(infinity, table_of(infinity), drawn(20), 4, results);
}

void run_fixed_base_large(uint32_t log_size, Results& results) {
    check_base(base1, table_of(base1), drawn(1u << log_size), 32, results);
    check_base(base2, table_of(base2), drawn((1u << log_size) / 4 + 1), 16, results);
}

}  // namespace g16
