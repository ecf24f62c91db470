// The split of a witness and canonical forms: Python's vectors, and shapes of all kinds against the definition.

#include "../kernel/split_kernels.h"

#include "random.h"
#include "suite.h"

namespace g16 {
namespace {

/// A set of variables as the kernels take it; `all` stands for a null bitmap.
struct Density {
    bool all = false;
    std::vector<uint32_t> bits, ranks;

    template <class Member>
    static Density of(uint32_t count, Member member) {
        Density out;
        out.bits.assign(2 * ((count + 63) / 64), 0);
        uint32_t rank = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (i % 64 == 0) out.ranks.push_back(rank);
            if (!member(i)) continue;
            rank++;
            out.bits[i / 32] |= 1u << (i % 32);
        }
        out.ranks.push_back(rank);
        return out;
    }
    static Density everything() {
        Density out;
        out.all = true;
        return out;
    }
    bool has(uint32_t i) const { return all || (bits[i / 32] >> (i % 32) & 1); }
};

/// The lists of one query.
struct Lists {
    std::vector<uint32_t> ones, picks;
    std::vector<Fr> scalars;
    bool operator==(const Lists& other) const { return ones == other.ones && picks == other.picks && scalars == other.scalars; }
};

using Queries = std::array<Lists, 3>;

Queries expected(const std::vector<Fr>& w, uint32_t num_inputs, const Density& a, const Density& b) {
    Queries out;
    uint32_t next[3] = {};
    for (uint32_t i = 0; i < w.size(); i++) {
        const bool member[3] = {i >= num_inputs, a.has(i), b.has(i)};
        for (int q = 0; q < 3; q++) {
            if (!member[q]) continue;
            uint32_t point = next[q]++;
            if (w[i] == Fr::one()) out[q].ones.push_back(point);
            else if (!w[i].is_zero()) {
                out[q].picks.push_back(point);
                out[q].scalars.push_back(w[i].to_canonical());
            }
        }
    }
    return out;
}

/// The device's lists; false if it wrote beyond their ends.
bool split(const std::vector<Fr>& values, uint32_t num_inputs, const Density& a, const Density& b, Queries& out) {
    uint32_t count = (uint32_t)values.size(), tiles = (count + G16_SPLIT_TILE - 1) / G16_SPLIT_TILE;
    Memory<Fr> w(values);
    Memory<uint32_t> a_bits(a.bits), a_ranks(a.ranks), b_bits(b.bits), b_ranks(b.ranks);
    Memory<uint32_t> masks(2 * ((count + 31) / 32)), places(6 * tiles), counts(std::vector<uint32_t>(6, 0));
    Memory<uint32_t> lists[6];
    Memory<Fr> scalars[3];
    // What is behind the end of a list is read below, so it is written here.
    Fr guard;
    for (uint32_t& word : guard.word) word = 0xcccccccc;
    for (auto& list : lists) list = Memory<uint32_t>(std::vector<uint32_t>(count + 1, 0xcccccccc));
    for (auto& list : scalars) list = Memory<Fr>(std::vector<Fr>(count + 1, guard));
    if (tiles > 0) {
        launch_shared(g16_split_masks, tiles, G16_SPLIT_THREADS, G16_SPLIT_SHARED, masks.data(), places.data(), w.data(), count,
                      num_inputs, a_bits.data(), b_bits.data());
        launch_shared(g16_split_places, 6, 1024, 4 * 33, places.data(), counts.data(), tiles);
        launch_shared(g16_split_scatter, tiles, G16_SPLIT_THREADS, G16_SPLIT_SHARED, masks.data(), places.data(), w.data(), count,
                      num_inputs, a_bits.data(), a_ranks.data(), b_bits.data(), b_ranks.data(), lists[0].data(),
                      lists[1].data(), scalars[0].data(), lists[2].data(), lists[3].data(), scalars[1].data(),
                      lists[4].data(), lists[5].data(), scalars[2].data());
    }
    wait();
    std::vector<uint32_t> sizes = counts.read();
    bool good = true;
    for (int q = 0; q < 3; q++) {
        uint32_t ones = sizes[2 * q], rest = sizes[2 * q + 1];
        if (ones > count || rest > count) return false;
        out[q] = {lists[2 * q].read(0, ones), lists[2 * q + 1].read(0, rest), scalars[q].read(0, rest)};
        good = good && lists[2 * q].read(ones, 1)[0] == 0xcccccccc && lists[2 * q + 1].read(rest, 1)[0] == 0xcccccccc &&
               scalars[q].read(rest, 1)[0].word[7] == 0xcccccccc;
    }
    return good;
}

/// Values of which `zeros` and `ones` in a hundred are that, the rest extreme or any.
std::vector<Fr> witness(uint32_t count, uint32_t zeros, uint32_t ones) {
    std::vector<Fr> out(count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t dice = mixed(21, i) % 100;
        for (int word = 0; word < 8; word++) out[i].word[word] = (uint32_t)(mixed(22, 8 * (uint64_t)i + word) >> 32);
        out[i].word[7] &= 0x3fffffff;
        if (i % 5 == 0) out[i] = Fr::zero() - Fr::one();
        if (i % 5 == 1) out[i] = Fr::from(2 + (uint32_t)dice);
        if (dice < zeros) out[i] = Fr::zero();
        else if (dice < zeros + ones) out[i] = Fr::one();
    }
    return out;
}

void check(const std::vector<Fr>& w, uint32_t num_inputs, const Density& a, const Density& b, const std::string& what, Results& results) {
    Queries got;
    bool good = split(w, num_inputs, a, b, got) && got == expected(w, num_inputs, a, b);
    results.add(good, "split, " + what + ", " + std::to_string(w.size()));
}

void forms(uint32_t count, Results& results) {
    std::vector<Fr> in = witness(count, 10, 10), wanted = in;
    for (Fr& value : wanted) value = value.to_canonical();
    Memory<Fr> from(in), to(count);
    if (count > 0) {
        launch(g16_to_canonical, (count + 255) / 256, 256, to.data(), from.data(), count);
        launch(g16_to_canonical, (count + 255) / 256, 256, from.data(), from.data(), count);
    }
    wait();
    results.add(to.read() == wanted, "canonical form, " + std::to_string(count));
    results.add(from.read() == wanted, "canonical form in place, " + std::to_string(count));
}

/// Scalars of a host: any words, and the modulus with its neighbours at places that differ from size to size.
void host_scalars(uint32_t count, Results& results) {
    for (uint32_t is_canonical : {0u, 1u}) {
        for (uint32_t bad : {0u, count / 2, count == 0 ? 0 : count - 1, count}) {
            std::vector<Fr> in = witness(count, 10, 10);
            Fr modulus = Fr::zero();
            for (int word = 0; word < 8; word++) modulus.word[word] = Fr::Parameters::modulus(word);
            for (uint32_t i = 0; i < count; i += 7) in[i] = modulus, in[i].word[0] = 0;
            // The modulus, what is above it in its last and in its first word, and all bits, from `bad` on.
            for (uint32_t i = bad; i < count; i += 3) {
                in[i] = modulus;
                if (i % 4 == 1) in[i].word[0]++;
                if (i % 4 == 2) in[i].word[7]++;
                if (i % 4 == 3) memset((void*)&in[i], 0xff, sizeof(Fr));
            }
            std::vector<Fr> wanted = in;
            for (uint32_t i = 0; i < count; i++) {
                bool is_bad = i >= bad && (i - bad) % 3 == 0;
                if (is_bad) wanted[i] = Fr::zero();
                else if (is_canonical != 0) wanted[i] = in[i].from_canonical();
            }
            Memory<Fr> values(in);
            Memory<uint32_t> first(std::vector<uint32_t>(1, 0xffffffff));
            if (count > 0) launch(g16_read_scalars, (count + 255) / 256, 256, values.data(), count, is_canonical, first.data());
            wait();
            bool good = values.read() == wanted && first.read()[0] == (bad < count ? bad : 0xffffffff);
            results.add(good, "scalars of a host, " + std::to_string(count) + ", bad from " + std::to_string(bad) + " on");
        }
    }
}

void densities(uint32_t count, uint32_t num_inputs, uint32_t zeros, uint32_t ones, Results& results) {
    std::vector<Fr> w = witness(count, zeros, ones);
    Density all = Density::everything(), none = Density::of(count, [](uint32_t) { return false; });
    Density some = Density::of(count, [](uint32_t i) { return mixed(31, i) % 3 > 0; });
    Density few = Density::of(count, [](uint32_t i) { return mixed(32, i) % 50 == 0; });
    check(w, num_inputs, some, few, "some, few", results);
    check(w, num_inputs, all, none, "all, none", results);
    check(w, num_inputs, Density::of(count, [](uint32_t) { return true; }), some, "full bitmap, some", results);
}

}  // namespace

void run_split_section(const Section& section, Results& results) {
    auto [count, num_inputs, density_bits, unused] = section.parameters;
    (void)density_bits, (void)unused;
    const uint32_t* from = section.input.data();
    std::vector<Fr> w(count);
    if (count > 0) memcpy((void*)w.data(), from, count * sizeof(Fr));
    from += 8 * count;
    Density densities[2];
    for (Density& density : densities) {
        density = Density::of(count, [&](uint32_t i) { return from[i / 32] >> (i % 32) & 1; });
        from += 2 * ((count + 63) / 64);
    }
    Queries wanted, got;
    from = section.output.data();
    for (Lists& lists : wanted) {
        uint32_t ones = *from++, rest = *from++;
        lists.ones.assign(from, from + ones);
        lists.picks.assign(from + ones, from + ones + rest);
        lists.scalars.resize(rest);
        if (rest > 0) memcpy((void*)lists.scalars.data(), from + ones + rest, rest * sizeof(Fr));
        from += ones + 9 * rest;
    }
    results.add(split(w, num_inputs, densities[0], densities[1], got) && got == wanted, "split of " + std::to_string(count));
}

void run_split(bool emulated, Results& results) {
    for (uint32_t count : {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049, 5000}) {
        for (uint32_t inputs : {0u, 1u, 5u, 32u, 33u, count}) {
            if (inputs > count) continue;
            std::vector<Fr> w = witness(count, 45, 45);
            Density a = Density::of(count, [](uint32_t i) { return mixed(31, i) % 3 > 0; });
            check(w, inputs, a, Density::of(count, [](uint32_t i) { return i % 2 == 0; }), "witness-like", results);
        }
        forms(count, results);
        host_scalars(count, results);
    }
    for (uint32_t percent : {0u, 100u}) {
        densities(3000, 7, percent, 100 - percent, results);
        densities(3000, 7, 0, 0, results);
    }
    densities(2500, 8, 45, 45, results);
    if (emulated) return;
    for (uint32_t count : {65535, 65536, 65537, 1100000}) {
        densities(count, 1000, 45, 45, results);
        forms(count, results);
        host_scalars(count, results);
    }
}

void run_split_large(uint32_t log_size, Results& results) {
    densities((1u << log_size) + 1, 8, 45, 50, results);
    forms(1u << log_size, results);
    host_scalars(1u << log_size, results);
}

}  // namespace g16
