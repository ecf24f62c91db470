// Transforms and quotients: against the vectors, and at large sizes by the round trip and by values at points.

#include "suite.h"

namespace g16 {
namespace {

/// Fills with elements that depend on the seed: SplitMix64 of the position (S. Vigna), cut below the modulus.
G16_GLOBAL void fill(Fr* out, uint32_t count, uint64_t seed) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Fr value;
    for (int w = 0; w < Fr::n; w++) {
        uint64_t z = seed + ((uint64_t)i * Fr::n + w + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        value.word[w] = (uint32_t)(z ^ (z >> 31));
    }
    value.word[Fr::n - 1] &= 0x3fffffff;
    store(out + i, value);
}

/// *count += the positions where a[i] factor is not b[i].
G16_GLOBAL void compare(const Fr* a, const Fr* b, const Fr* factor, uint32_t size, uint32_t* count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && load(factor) * load(a + i) != load(b + i)) atomicAdd(count, 1);
}

/// out[i] = in[2 i] + x in[2 i + 1]: one level of Horner's rule, a tree.
G16_GLOBAL void fold(Fr* out, const Fr* in, const Fr* x, uint32_t size) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) store(out + i, load(in + 2 * (size_t)i) + load(x) * load(in + 2 * (size_t)i + 1));
}

uint32_t blocks(uint64_t count) {
    return (uint32_t)((count + 255) / 256);
}

/// The value at x of the polynomial with these 2^log_size coefficients, in natural or in bit-reversed order.
Fr evaluate(const Memory<Fr>& coefficients, uint32_t log_size, Fr x, bool reversed) {
    // Neighbours differ by half of the size in bit-reversed order, by one in natural order.
    std::vector<Fr> powers = {x};
    for (uint32_t i = 1; i < log_size; i++) powers.push_back(powers.back().square());
    Memory<Fr> power(1), one(1), two(1);
    if (log_size > 0) one = Memory<Fr>(size_t(1) << (log_size - 1)), two = Memory<Fr>(size_t(1) << (log_size - 1));
    const Fr* from = coefficients.data();
    Fr* to = one.data();
    for (uint32_t i = 0; i < log_size; i++) {
        power.write(&powers[reversed ? log_size - 1 - i : i], 1);
        uint32_t left = 1u << (log_size - 1 - i);
        launch(fold, blocks(left), 256, to, from, power.data(), left);
        wait();
        from = to;
        to = to == one.data() ? two.data() : one.data();
    }
    if (log_size == 0) return coefficients.read(0, 1)[0];
    return (from == one.data() ? one : two).read(0, 1)[0];
}

/// The first element of `domain` table entry `entry`.
Fr entry(const Memory<Fr>& tables, uint32_t entry) {
    return tables.read(entry, 1)[0];
}

std::vector<Fr> elements(const uint32_t* words, size_t count) {
    std::vector<Fr> out(count);
    memcpy((void*)out.data(), words, count * sizeof(Fr));
    return out;
}

const Tuning kTunings[] = {{9, 10, 18}, {9, 9, 18}, {5, 6, 4}, {6, 10, 8}, {7, 8, 6}};

}  // namespace

void run_transform_section(const Section& section, Results& results) {
    uint32_t log_size = section.parameters[0];
    size_t d = size_t(1) << log_size;
    bool quotient = section.name == "quotient";
    std::vector<Fr> expected = elements(section.output.data(), d);
    for (const Tuning& tuning : kTunings) {
        Transforms transforms(log_size, section.parameters[1], quotient || section.parameters[2] ? section.parameters[2] : 7, tuning);
        Memory<Fr> a(elements(section.input.data(), d)), tables(transforms.table_elements());
        Memory<Fr> b(d), c(d), u(d);
        Memory<uint32_t> first(std::vector<uint32_t>{0xffffffff});
        Buffers buffers{&a, &b, &c, &u, &tables, &first};
        buffers.run(transforms.tables());
        Plan plan;
        if (section.name == "ntt_inverse") transforms.inverse(plan, Buffer::a);
        else if (section.name == "ntt_forward") transforms.forward(plan, Buffer::a);
        else if (section.name == "ntt_coset") transforms.to_coset(plan, Buffer::a);
        else transforms.quotient(plan, true);
        if (quotient) {
            b.write(section.input.data() + d * Fr::n, d);
            c.write(section.input.data() + 2 * d * Fr::n, d);
        }
        buffers.run(plan);
        wait();
        bool good = (quotient ? b : a).read() == expected;
        if (quotient) good = good && first.read()[0] == section.parameters[3];
        std::string what = section.name + " of 2^" + std::to_string(log_size) + ", generator " +
                           std::to_string(section.parameters[1]) + ", rows 2^" + std::to_string(tuning.rows_log) +
                           ", tiles 2^" + std::to_string(tuning.tile_log) + ", roots 2^" + std::to_string(tuning.coarse_log);
        results.add(good, what);
    }
}

namespace {

/// h in `b`; the values of a, b must still satisfy a(z) b(z) - u(z) = h(z) (z^d - 1) at a point z of no domain.
void check_quotient(const Transforms& transforms, uint32_t log_size, const Buffers& buffers, Results& results) {
    size_t d = size_t(1) << log_size;
    Memory<Fr>&a = *buffers.a, &b = *buffers.b, &c = *buffers.c, &u = *buffers.u;
    Fr z = Fr::from(0x12345679), scale = entry(*buffers.tables, G16_DOMAIN_INVERSE_SIZE), value[3];
    launch(fill, blocks(d), 256, a.data(), d, 101);
    launch(fill, blocks(d), 256, b.data(), d, 202);
    launch(g16_product, blocks(d), 256, c.data(), a.data(), b.data(), (const Fr*)nullptr, d, (uint32_t*)nullptr);
    const Memory<Fr>* inputs[] = {&a, &b, &c};
    for (int i = 0; i < 3; i++) {
        u.copy_from(*inputs[i]);
        Plan plan;
        transforms.inverse(plan, Buffer::u);
        buffers.run(plan);
        value[i] = scale * evaluate(u, log_size, z, true);
    }
    uint32_t broken = (uint32_t)(d / 3);
    c.write(&z, 0);
    Memory<Fr> wrong(std::vector<Fr>{z});
    std::vector<uint32_t> firsts;
    Fr h = Fr::zero();
    for (int pass = 0; pass < 2; pass++) {
        launch(fill, blocks(d), 256, a.data(), d, 101);
        launch(fill, blocks(d), 256, b.data(), d, 202);
        if (pass == 1) launch(fill, 1, 1, c.data() + broken, 1, 303);
        uint32_t none = 0xffffffff;
        buffers.first->write(&none, 1);
        Plan plan;
        transforms.quotient(plan, true);
        buffers.run(plan);
        wait();
        firsts.push_back(buffers.first->read()[0]);
        if (pass == 0) h = evaluate(b, log_size, z, false);
    }
    Fr vanishing = z;
    for (uint32_t i = 0; i < log_size; i++) vanishing = vanishing.square();
    vanishing = vanishing - Fr::one();
    std::string size = " of 2^" + std::to_string(log_size);
    results.add(value[0] * value[1] - value[2] == h * vanishing, "large quotient" + size);
    results.add(b.read(d - 1, 1)[0].is_zero(), "last coefficient of the quotient" + size);
    results.add(firsts[0] == 0xffffffff && firsts[1] == broken, "first unsatisfied row" + size);
}

}  // namespace

void run_large(uint32_t log_size, uint32_t generator, const Tuning& tuning, Results& results) {
    size_t d = size_t(1) << log_size;
    std::string size = " of 2^" + std::to_string(log_size) + ", generator " + std::to_string(generator);
    Transforms transforms(log_size, generator, generator, tuning);
    Memory<Fr> a(d), b(d), c(d), u(d), tables(transforms.table_elements());
    Memory<uint32_t> first(1);
    Buffers buffers{&a, &b, &c, &u, &tables, &first};
    buffers.run(transforms.tables());
    launch(fill, blocks(d), 256, a.data(), d, 1);
    launch(fill, blocks(d), 256, u.data(), d, 1);
    Fr root = entry(tables, G16_DOMAIN_ROOTS + log_size), count = Fr::one();
    for (uint32_t i = 0; i < log_size; i++) count = count.twice();
    Plan inverse, forward, coset;
    transforms.inverse(inverse, Buffer::a);
    transforms.forward(forward, Buffer::a);
    transforms.to_coset(coset, Buffer::u);
    buffers.run(inverse);
    buffers.run(coset);
    // Coefficients times d, in bit-reversed order: their values at points of the domain and of the coset.
    b.copy_from(u);
    launch(fill, blocks(d), 256, c.data(), d, 1);
    for (uint64_t i : {uint64_t(0), uint64_t(1), uint64_t(d / 2), uint64_t(d * 5 / 7), uint64_t(d - 1)}) {
        if (i >= d) continue;
        Fr x = root.power(i);
        results.add(evaluate(a, log_size, x, true) == count * c.read(i, 1)[0], "value " + std::to_string(i) + size);
        results.add(evaluate(a, log_size, Fr::from(generator) * x, true) == count * b.read(i, 1)[0],
                    "coset value " + std::to_string(i) + size);
    }
    buffers.run(forward);
    Memory<uint32_t> different(std::vector<uint32_t>{0});
    Memory<Fr> factor(std::vector<Fr>{count});
    launch(compare, blocks(d), 256, c.data(), a.data(), factor.data(), d, different.data());
    wait();
    results.add(different.read()[0] == 0, "round trip" + size);
    check_quotient(transforms, log_size, buffers, results);
}

}  // namespace g16
