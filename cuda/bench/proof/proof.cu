// gpu-proof-bench: times of a constraint system's evaluation, a witness's split, a key's import and multiples of one point.
//
//     gpu-proof-bench [CIRCUIT.r1cs WITNESS.wtns]     copies of that circuit instead of one of Spend's shape
//
// Times are device events around the launches, best of five after a warm-up, everything in device memory.

#define G16_CALL_PRODUCTS
#include <algorithm>
#include <array>

#include "../../kernel/fixed_base_kernels.h"
#include "../../kernel/import_kernels.h"
#include "../../kernel/r1cs_kernels.h"
#include "../../kernel/split_kernels.h"
#include "../../tests/iden3.h"
#include "../../tests/msm_device.h"
#include "../best.h"

namespace {

using namespace g16;

/// What a copy moves, bytes read and written, and 32 x 32 -> 64 multiply-adds: the limits of one H200.
const double kMemory = 4.3e12, kWide = 8.36e12;
/// Multiply-adds of field products (see NOTES.md).
const double kMul = 294, kSqr = 228;

uint32_t blocks(uint64_t count, uint32_t threads) {
    return (uint32_t)((count + threads - 1) / threads);
}

__global__ void fill(Fr* out, uint32_t count, uint32_t zeros, uint32_t ones) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t dice = (uint32_t)(mixed(99, i) % 100);
    Fr value = Fr::zero();
    for (int w = 0; w < 8 && dice >= zeros + ones; w++) value.word[w] = (uint32_t)(mixed(1, 8 * (uint64_t)i + w) >> (w == 7 ? 34 : 32));
    store(out + i, dice >= zeros && dice < zeros + ones ? Fr::one() : value);
}

/// Copies of a circuit beside one another, which share the inputs, until there are `rows` rows.
Matrix copies(const Matrix& of, const Circuit& circuit, uint32_t rows) {
    Matrix out;
    uint32_t aux = circuit.variables - circuit.inputs;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t from = row % of.rows(), shift = row / of.rows() * aux;
        for (uint32_t k = of.row_starts[from]; k < of.row_starts[from + 1]; k++) {
            out.add(of.columns[k] < circuit.inputs ? of.columns[k] : of.columns[k] + shift, of.coefficients[k]);
        }
        out.end_row();
    }
    return out;
}

/// One with the lengths, coefficients and use of the constant one that Sapling's Spend has in A and B (see NOTES.md).
Circuit like_spend() {
    Circuit out;
    out.inputs = 8, out.variables = 98646;
    out.table.assign(9250, Fr::from(5));
    for (uint32_t row = 0; row < 98777; row++) {
        uint64_t dice = mixed(71, row) % 100000;
        uint32_t length = dice < 94 ? 540 : dice < 168 ? 0 : dice < 37300 ? 1 : dice < 81050 ? 2 : dice < 82280 ? 3 : 4 + dice % 3 / 1;
        for (uint32_t k = 0; k < length; k++) {
            uint64_t more = mixed(72, 1000ull * row + k);
            uint32_t near = 8 + (uint32_t)((row + more % 3000) % 98638), kind = (uint32_t)(more >> 32) % 100;
            bool one = (more >> 40) % 100 < 24;
            out.matrices[0].add(one ? 0 : near, kind < 26 ? 0 : kind < 45 ? 1 : 2 + (uint32_t)(more >> 48) % 9248);
        }
        out.matrices[0].end_row();
        length = dice < 1200 ? 2 : dice < 1323 ? 0 : 1;
        for (uint32_t k = 0; k < length; k++) out.matrices[1].add(8 + (row + 17 * k) % 98638, 0);
        out.matrices[1].end_row();
    }
    return out;
}

/// A resident matrix and what evaluates it.
struct Evaluation {
    uint32_t rows, tiles;
    Memory<uint32_t> starts, columns, coefficients, tile_rows;
    Memory<Fr> carries;

    explicit Evaluation(const Matrix& m)
        : rows(m.rows()), tiles((uint32_t)((rows + m.columns.size() + G16_R1CS_TILE - 1) / G16_R1CS_TILE)), starts(m.row_starts),
          columns(m.columns), coefficients(m.coefficients), tile_rows(tiles + 1), carries(tiles) {
        tile_kernel();
    }
    void tile_kernel() const { launch(g16_r1cs_tiles, tiles / 256 + 1, 256, tile_rows.data(), starts.data(), rows, tiles); }
    void rows_kernel(Fr* out, const Fr* w, const Fr* table) const {
        launch_shared(g16_r1cs_rows, tiles, G16_R1CS_THREADS, G16_R1CS_SHARED, out, carries.data(), w, starts.data(),
                      columns.data(), coefficients.data(), table, tile_rows.data(), rows);
    }
    void join_kernel(Fr* out) const {
        launch(g16_r1cs_join, blocks(32ull * tiles, 128), 128, out, carries.data(), starts.data(), tile_rows.data(), rows, tiles);
    }
    void tail_kernel(Fr* out, const Fr* w, uint32_t added, uint32_t size) const {
        if (size > rows) launch(g16_r1cs_tail, blocks(size - rows, 256), 256, out, w, rows, added, size);
    }
};

void evaluate(const Circuit& circuit, const std::vector<Fr>& witness, uint32_t log_size) {
    uint32_t size = 1u << log_size, rows = size - circuit.inputs, aux = circuit.variables - circuit.inputs;
    uint32_t variables = circuit.inputs + (rows / circuit.matrices[0].rows() + 1) * aux;
    Memory<Fr> w(variables), table(circuit.table), out[2] = {Memory<Fr>(size), Memory<Fr>(size)};
    launch(fill, blocks(variables, 256), 256, w.data(), variables, 45, 50);
    if (!witness.empty()) {
        std::vector<Fr> all(witness.begin(), witness.begin() + circuit.inputs);
        while (all.size() < variables) all.insert(all.end(), witness.begin() + circuit.inputs, witness.end());
        w.write(all.data(), variables);
    }
    double sum = 0;
    for (int m = 0; m < 2; m++) {
        Matrix matrix = copies(circuit.matrices[m], circuit, rows);
        Evaluation evaluation(matrix);
        uint64_t terms = matrix.columns.size();
        Fr* to = out[m].data();
        double tiles = best([&] { evaluation.tile_kernel(); });
        double products = best([&] { evaluation.rows_kernel(to, w.data(), table.data()); });
        double join = best([&] { evaluation.join_kernel(to); });
        double tail = best([&] { evaluation.tail_kernel(to, w.data(), m == 0 ? circuit.inputs : 0, size); });
        double all = best([&] {
            evaluation.rows_kernel(to, w.data(), table.data());
            evaluation.join_kernel(to);
            evaluation.tail_kernel(to, w.data(), m == 0 ? circuit.inputs : 0, size);
        });
        sum += all;
        double bytes = 40.0 * terms + 36.0 * rows;
        printf("r1cs 2^%u %c: %lu terms, %.3f ms (rows %.3f, join %.3f, tail %.3f), %.0f GB/s if each term moves 40 bytes, %.0f %% of a copy's; "
               "once a matrix %.3f ms\n", log_size, "AB"[m], (unsigned long)terms, all, products, join, tail, bytes / all * 1e-6,
               100 * bytes / (all * 1e-3) / kMemory, tiles);
    }
    printf("r1cs 2^%u, A and B: %.3f ms\n", log_size, sum);
    if (log_size == 24) printf("RATIO r1cs_2^24_vs_15ms %.3f\n", 15 / sum);
}

void skewed(uint32_t log_terms) {
    Circuit circuit;
    uint32_t terms = 1u << log_terms;
    Memory<Fr> w(terms), table(std::vector<Fr>(16, Fr::from(3))), out(terms);
    launch(fill, blocks(terms, 256), 256, w.data(), terms, 10, 10);
    const char* names[] = {"one term a row", "one row of all terms", "rows of 16", "rows of 17", "no terms"};
    for (int kind = 0; kind < 5; kind++) {
        Matrix m;
        uint32_t each = kind == 0 ? 1 : kind == 1 ? terms : kind == 2 ? 16 : kind == 3 ? 17 : 0;
        uint32_t rows = each == 0 ? terms : terms / each;
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t k = 0; k < each; k++) m.add((uint32_t)(mixed(81, (uint64_t)row * each + k) % terms), k % 3);
            m.end_row();
        }
        Evaluation evaluation(m);
        double ms = best([&] { evaluation.rows_kernel(out.data(), w.data(), table.data()), evaluation.join_kernel(out.data()); });
        printf("r1cs of 2^%u terms anywhere, %s: %.3f ms\n", log_terms, names[kind], ms);
    }
}

void split(uint32_t log_size) {
    uint32_t count = 1u << log_size, tiles = blocks(count, G16_SPLIT_TILE);
    Memory<Fr> w(count), scalars[3];
    Memory<uint32_t> masks(count / 16), places(6 * tiles), counts(6), lists[6];
    std::vector<uint32_t> bits(count / 32), ranks(count / 64 + 1);
    for (uint32_t i = 0; i < count / 32; i++) {
        bits[i] = (uint32_t)mixed(91, i) | (uint32_t)mixed(92, i);
        if (i % 2 == 1) ranks[i / 2 + 1] = ranks[i / 2] + __builtin_popcount(bits[i]) + __builtin_popcount(bits[i - 1]);
    }
    Memory<uint32_t> bitmap(bits), before(ranks);
    for (auto& list : lists) list = Memory<uint32_t>(count);
    for (auto& list : scalars) list = Memory<Fr>(count);
    launch(fill, blocks(count, 256), 256, w.data(), count, 45, 50);
    auto run = [&] {
        launch_shared(g16_split_masks, tiles, G16_SPLIT_THREADS, G16_SPLIT_SHARED, masks.data(), places.data(), w.data(), count, 8,
                      bitmap.data(), bitmap.data());
        launch_shared(g16_split_places, 6, 1024, 4 * 33, places.data(), counts.data(), tiles);
        launch_shared(g16_split_scatter, tiles, G16_SPLIT_THREADS, G16_SPLIT_SHARED, masks.data(), places.data(), w.data(), count, 8,
                      bitmap.data(), before.data(), bitmap.data(), before.data(), lists[0].data(), lists[1].data(),
                      scalars[0].data(), lists[2].data(), lists[3].data(), scalars[1].data(), lists[4].data(), lists[5].data(),
                      scalars[2].data());
    };
    double ms = best(run);
    std::vector<uint32_t> sizes = counts.read();
    double bytes = 32.0 * count, rest = 0;
    for (int i = 0; i < 6; i++) bytes += (i % 2 ? 36.0 : 4.0) * sizes[i], rest = std::max(rest, (double)sizes[i]);
    bytes += 0.05 * 32 * count;
    printf("split 2^%u of L, A, B, 45 %% zeros, 50 %% ones: %.3f ms, %.0f %% of the memory limit\n", log_size, ms, 100 * bytes / kMemory / (ms * 1e-3));
    double form = best([&] { launch(g16_to_canonical, blocks(count, 256), 256, w.data(), w.data(), count); });
    printf("canonical form of 2^%u: %.3f ms, %.0f %% of the memory limit\n", log_size, form, 100 * 64.0 * count / kMemory / (form * 1e-3));
}

__device__ void write_number(uint32_t* out, const Fp& value) {
    Fp words = value.to_canonical();
    for (int i = 0; i < Fp::n; i++) out[i] = __byte_perm(words.word[Fp::n - 1 - i], 0, 0x0123);
}
__device__ void write_field(uint32_t* out, const Fp& value) {
    write_number(out, value);
}
__device__ void write_field(uint32_t* out, const Fp2& value) {
    write_number(out, value.c1);
    write_number(out + 12, value.c0);
}
template <class F>
__global__ void encode(uint32_t* out, const Affine<F>* points, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t* to = out + (size_t)i * sizeof(Affine<F>) / 4;
    write_field(to, points[i].x);
    write_field(to + sizeof(F) / 4, points[i].y);
}

template <class F>
struct Kernels;
#define G16_TABLE(g, F)                                           \
    template <>                                                   \
    struct Kernels<F> {                                           \
        static constexpr auto windows = g16_fixed_windows_##g;    \
        static constexpr auto table = g16_fixed_table_##g;        \
        static constexpr auto multiply = g16_fixed_base_##g;      \
        static constexpr auto normalise = g16_normalise_##g;      \
        static constexpr auto decode = g16_import_##g;            \
        static constexpr auto subgroup = g16_subgroup_##g;        \
        static constexpr const char* name = #g;                   \
    };
G16_TABLE(g1, Fp)
G16_TABLE(g2, Fp2)

/// Multiples of the generator, then their import.
template <class F>
void points(uint32_t log_fixed, uint32_t log_import) {
    const bool g2 = kIsG2<F>;
    uint32_t count = 1u << log_fixed, piece = std::min(count, 1u << 22), each = std::max(1u, std::min(64u, piece >> 16));
    Memory<Affine<F>> out(count), table(256 * G16_FIXED_WINDOWS), base(std::vector<Affine<F>>{generator<F>()});
    Memory<Fr> scalars(count);
    Memory<F> zz(piece), zzz(piece), scratch(piece);
    launch(fill, blocks(count, 256), 256, scalars.data(), count, 0, 0);
    double ms = best([&] {
        launch(Kernels<F>::windows, 1, 32, table.data(), base.data());
        launch(Kernels<F>::table, 64, 128, table.data(), zz.data(), zzz.data());
        launch(Kernels<F>::normalise, 8, 128, table.data(), zz.data(), zzz.data(), scratch.data(), 8192u, 8u);
    });
    printf("%s fixed base, table: %.3f ms\n", Kernels<F>::name, ms);
    auto multiply = [&](uint32_t at) {
        launch(Kernels<F>::multiply, blocks(piece, G16_FIXED_THREADS), G16_FIXED_THREADS, out.data() + at, zz.data(), zzz.data(),
               table.data(), reinterpret_cast<const Quad*>(scalars.data() + at), piece);
    };
    auto normalise = [&](uint32_t at) {
        launch(Kernels<F>::normalise, blocks(blocks(piece, each), 128), 128, out.data() + at, zz.data(), zzz.data(), scratch.data(), piece, each);
    };
    ms = best([&] {
        for (uint32_t at = 0; at < count; at += piece) multiply(at), normalise(at);
    });
    double part = best([&] { multiply(0); }) * (count / piece);
    normalise(0);
    double wide = 32 * (g2 ? 8 * 3 * kMul + 2 * 2 * kMul : 8 * kMul + 2 * kSqr);
    printf("%s fixed base 2^%u: %.2f ms (sums %.2f), %.1f M points/s, sums at %.0f %% of the products' limit\n", Kernels<F>::name,
           log_fixed, ms, part, count / ms * 1e-3, 100 * wide * count / (part * 1e-3) / kWide);

    count = 1u << log_import;
    Memory<uint32_t> bytes(count * (sizeof(Affine<F>) / 4));
    Memory<uint64_t> first(std::vector<uint64_t>{~0ull});
    auto* word = reinterpret_cast<unsigned long long*>(first.data());
    launch(encode<F>, blocks(count, 128), 128, bytes.data(), out.data(), count);
    Memory<Affine<F>> imported(count);
    double decode = best([&] {
        launch(Kernels<F>::decode, blocks(count, G16_IMPORT_THREADS), G16_IMPORT_THREADS, imported.data(),
               reinterpret_cast<const Quad*>(bytes.data()), count, 0ull, 1u, word);
    });
    double subgroup = best([&] {
        launch(Kernels<F>::subgroup, blocks(count, G16_SUBGROUP_THREADS), G16_SUBGROUP_THREADS, imported.data(), count, 0ull, word);
    });
    if (first.read()[0] != ~0ull) stop("import", "refuses good points");
    wide = g2 ? 63 * 16 * kMul + 5 * 29 * kMul : 126 * (2 * kMul + 5 * kSqr) + 10 * (12 * kMul + 4 * kSqr);
    double rate = count / (decode + subgroup) * 1e-3;
    printf("%s import 2^%u: decode %.2f, subgroup %.2f ms: %.2f M points/s, subgroup at %.0f %% of the products' limit\n",
           Kernels<F>::name, log_import, decode, subgroup, rate, 100 * wide * count / (subgroup * 1e-3) / kWide);
    if (!g2) printf("RATIO g1_import_2^%u_vs_10M %.3f\n", log_import, rate / 10);
    Memory<uint64_t> sum(std::vector<uint64_t>{0});
    double ms_sum = best([&] {
        launch_shared(g16_checksum, 132 * 8, 256, 2048, reinterpret_cast<unsigned long long*>(sum.data()), bytes.data(), bytes.size(), 0ull);
    });
    printf("checksum of %.0f MB: %.3f ms, %.0f GB/s\n", bytes.bytes() * 1e-6, ms_sum, bytes.bytes() / ms_sum * 1e-6);
}

}  // namespace

int main(int count, char** arguments) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "device");
    printf("%s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
    bool real = count > 2;
    Circuit circuit = real ? read_circuit(arguments[1]) : like_spend();
    std::vector<Fr> witness;
    if (real) witness = read_witness(arguments[2]);
    for (uint32_t log_size : {20, 24}) evaluate(circuit, witness, log_size);
    skewed(24);
    for (uint32_t log_size : {20, 24}) split(log_size);
    points<Fp>(24, 22);
    points<Fp2>(22, 20);
    return 0;
}
