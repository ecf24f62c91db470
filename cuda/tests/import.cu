// Import of points and checksums: Python's vectors, and each kind of wrong point at many positions among good ones.

#define G16_CALL_PRODUCTS
#include "../kernel/import_kernels.h"

#include "random.h"
#include "suite.h"

namespace g16 {
namespace {

template <class F>
struct Kernels;
#define G16_TABLE(g, F)                                           \
    template <>                                                   \
    struct Kernels<F> {                                           \
        static constexpr auto decode = g16_import_##g;            \
        static constexpr auto check = g16_check_##g;              \
        static constexpr auto subgroup = g16_subgroup_##g;        \
        static constexpr const char* name = #g;                   \
    };
G16_TABLE(g1, Fp)
G16_TABLE(g2, Fp2)
#undef G16_TABLE

constexpr uint64_t kNothing = ~0ull;

template <class F>
using Bytes = std::array<uint32_t, 2 * sizeof(F) / 4>;

/// Encoded points with their device forms and kinds of fault.
template <class F>
struct Cases {
    std::vector<Bytes<F>> bytes;
    std::vector<Affine<F>> points;
    std::vector<uint32_t> kinds;
};
Cases<Fp> cases1;
Cases<Fp2> cases2;
Cases<Fp>& cases(const Fp&) {
    return cases1;
}
Cases<Fp2>& cases(const Fp2&) {
    return cases2;
}

uint32_t blocks(uint32_t count, uint32_t threads) {
    return (count + threads - 1) / threads;
}

struct First {
    Memory<uint64_t> word{std::vector<uint64_t>{kNothing}};
    unsigned long long* data() const { return reinterpret_cast<unsigned long long*>(word.data()); }
    uint64_t read() const { return wait(), word.read()[0]; }
};

/// Decodes and tests; what was reported.
template <class F>
uint64_t import(const Memory<Bytes<F>>& bytes, Memory<Affine<F>>& out, uint32_t count, uint64_t base, bool refuse) {
    First first;
    launch(Kernels<F>::decode, blocks(count, G16_IMPORT_THREADS), G16_IMPORT_THREADS, out.data(),
           reinterpret_cast<const Quad*>(bytes.data()), count, base, refuse ? 1u : 0u, first.data());
    launch(Kernels<F>::subgroup, blocks(count, G16_SUBGROUP_THREADS), G16_SUBGROUP_THREADS, out.data(), count, base, first.data());
    return first.read();
}
/// The same checks of points in device form.
template <class F>
uint64_t check(const Memory<Affine<F>>& points, uint32_t count, uint64_t base, bool refuse) {
    First first;
    launch(Kernels<F>::check, blocks(count, G16_IMPORT_THREADS), G16_IMPORT_THREADS, points.data(), count, base,
           refuse ? 1u : 0u, first.data());
    launch(Kernels<F>::subgroup, blocks(count, G16_SUBGROUP_THREADS), G16_SUBGROUP_THREADS, points.data(), count, base, first.data());
    return first.read();
}

/// out[i] = the bytes of case from[i].
template <class F>
G16_GLOBAL void arrange(Bytes<F>* out, const Bytes<F>* of, const uint32_t* from, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    constexpr uint32_t words = 2 * sizeof(F) / 4;
    if (i >= count) return;
    for (uint32_t w = 0; w < words; w++) {
        reinterpret_cast<uint32_t*>(out + i)[w] = reinterpret_cast<const uint32_t*>(of + from[i])[w];
    }
}

/// A vector of good cases in which some positions are others.
template <class F>
class Placed {
  public:
    explicit Placed(uint32_t count) : count_(count), from_(count) {
        const Cases<F>& all = cases(F());
        for (uint32_t i = 0; i < all.kinds.size(); i++) {
            // Infinity is good unless it is refused, so here it is none of the good ones.
            if (all.kinds[i] == 0 && !all.points[i].is_infinity()) good_.push_back(i);
            else others_.push_back(i);
        }
        for (uint32_t i = 0; i < count; i++) from_[i] = good_[mixed(51, i) % good_.size()];
        of_ = Memory<Bytes<F>>(all.bytes);
    }
    const std::vector<uint32_t>& others() const { return others_; }

    /// Cases at positions; checks what is reported, and all points.
    void check(const std::vector<std::pair<uint32_t, uint32_t>>& wrong, uint64_t base, bool refuse, const std::string& what,
               Results& results) const {
        const Cases<F>& all = cases(F());
        std::vector<uint32_t> from = from_;
        uint64_t wanted = kNothing;
        for (auto [position, one] : wrong) from[position] = one;
        for (uint32_t i = 0; i < count_; i++) {
            uint32_t kind = all.kinds[from[i]];
            if (kind == 0 && refuse && all.points[from[i]].is_infinity()) kind = G16_FAULT_INFINITY;
            if (kind != 0 && wanted == kNothing) wanted = (base + i) << 8 | kind;
        }
        Memory<Bytes<F>> bytes(count_);
        Memory<uint32_t> names(from);
        Memory<Affine<F>> out(count_);
        launch(arrange<F>, blocks(count_, 128), 128, bytes.data(), of_.data(), names.data(), count_);
        bool good = import<F>(bytes, out, count_, base, refuse) == wanted;
        std::vector<Affine<F>> points = out.read();
        for (uint32_t i = 0; i < count_; i++) good = good && points[i] == all.points[from[i]];
        results.add(good, std::string(Kernels<F>::name) + " import, " + what + ", " + std::to_string(count_));
    }

  private:
    uint32_t count_;
    std::vector<uint32_t> from_, good_, others_;
    Memory<Bytes<F>> of_;
};

template <class F>
void one_by_one(Results& results) {
    const Cases<F>& all = cases(F());
    for (uint32_t i = 0; i < all.kinds.size(); i++) {
        Memory<Bytes<F>> bytes(std::vector<Bytes<F>>{all.bytes[i]});
        for (bool refuse : {false, true}) {
            uint32_t kind = all.kinds[i] == 0 && refuse && all.points[i].is_infinity() ? (uint32_t)G16_FAULT_INFINITY : all.kinds[i];
            Memory<Affine<F>> out(1);
            uint64_t got = import<F>(bytes, out, 1, 1000, refuse), wanted = kind == 0 ? kNothing : 1000ull << 8 | kind;
            bool good = got == wanted && out.read()[0] == all.points[i];
            results.add(good, std::string(Kernels<F>::name) + " import of case " + std::to_string(i));
            // In device form there is no encoding to be wrong, but a point outside stays one.
            if (kind != 0 && kind != G16_FAULT_SUBGROUP && kind != G16_FAULT_INFINITY) continue;
            got = check<F>(out, 1, 1000, refuse);
            results.add(got == wanted, std::string(Kernels<F>::name) + " check of case " + std::to_string(i));
        }
    }
}

/// Device forms that are no points: a coordinate not reduced, or changed.
template <class F>
void device_forms(uint32_t count, Results& results) {
    const Cases<F>& all = cases(F());
    std::vector<Affine<F>> points;
    for (uint32_t i = 0; points.size() < count; i = (i + 1) % all.kinds.size()) {
        if (all.kinds[i] == 0) points.push_back(all.points[i]);
    }
    constexpr uint32_t words = sizeof(F) / 4;
    for (uint32_t at : {0u, count / 2, count - 1}) {
        for (int what = 0; what < 5; what++) {
            std::vector<Affine<F>> wrong = points;
            for (uint32_t i = at; wrong[at].is_infinity(); i = (i + 1) % count) wrong[at] = points[i];
            uint32_t* x = reinterpret_cast<uint32_t*>(&wrong[at].x);
            uint32_t* y = reinterpret_cast<uint32_t*>(&wrong[at].y);
            uint32_t kind = what < 2 ? G16_FAULT_X : what == 2 ? G16_FAULT_Y : G16_FAULT_CURVE;
            if (what == 0) for (uint32_t w = 0; w < 12; w++) x[w] = FpParameters::modulus((int)w);
            if (what == 1) x[words - 1] = 0xffffffff;
            if (what == 2) for (uint32_t w = 0; w < 12; w++) y[words - 12 + w] = FpParameters::modulus((int)w);
            if (what == 3) wrong[at].x = wrong[at].x + wrong[at].x;
            if (what == 4) wrong[at].y = wrong[at].y + wrong[at].y;
            Memory<Affine<F>> memory(wrong);
            First first;
            launch(Kernels<F>::check, blocks(count, G16_IMPORT_THREADS), G16_IMPORT_THREADS, memory.data(), count, 7ull << 40, 0u,
                   first.data());
            results.add(first.read() == (((7ull << 40) + at) << 8 | kind), std::string(Kernels<F>::name) + " check, change " + std::to_string(what));
        }
    }
}

template <class F>
void positions(uint32_t count, Results& results) {
    Placed<F> placed(count);
    placed.check({}, 0, true, "all good", results);
    std::vector<std::pair<uint32_t, uint32_t>> all;
    uint32_t at = count;
    for (uint32_t one : placed.others()) {
        // One wrong point, first, last and elsewhere; then more and more before the last one.
        uint32_t where = one % 4 == 0 ? 0 : one % 4 == 1 ? count - 1 : (uint32_t)(mixed(52, one) % count);
        placed.check({{where, one}}, one, one % 2 == 0, "case " + std::to_string(one) + " at " + std::to_string(where), results);
        if (at == 0) continue;
        all.push_back({--at, one});
        if (at % 7 == 0) placed.check(all, 5ull << 33, false, "many", results);
    }
}

uint64_t checksum_on_host(const std::vector<uint32_t>& words, uint64_t first) {
    uint64_t sum = 0;
    for (uint64_t j = 0; j < (words.size() + 1) / 2; j++) {
        uint64_t v = words[2 * j] | (2 * j + 1 < words.size() ? (uint64_t)words[2 * j + 1] << 32 : 0);
        sum += (v ^ v >> 32) * ((j + first) * 0x9e3779b97f4a7c15ull | 1);
    }
    return sum;
}

uint64_t checksum(const Memory<uint32_t>& words, uint64_t count, uint32_t blocks, uint64_t pieces) {
    Memory<uint64_t> sum(std::vector<uint64_t>{0});
    uint64_t each = (count / pieces + 1) & ~1ull;
    for (uint64_t at = 0; at < count || at == 0; at += each) {
        uint64_t here = at + each < count ? each : count - at;
        launch_shared(g16_checksum, blocks, 256, 2048, reinterpret_cast<unsigned long long*>(sum.data()), words.data() + at, here, at / 2);
        if (each == 0) break;
    }
    wait();
    return sum.read()[0];
}

void checksums(uint64_t count, Results& results) {
    std::vector<uint32_t> words(count);
    for (uint64_t i = 0; i < count; i++) words[i] = (uint32_t)mixed(61, i);
    uint64_t wanted = checksum_on_host(words, 0);
    Memory<uint32_t> memory(words);
    bool good = checksum(memory, count, 1, 1) == wanted && checksum(memory, count, 5, 1) == wanted;
    if (count > 10) good = good && checksum(memory, count, 3, 4) == wanted;
    results.add(good, "checksum of " + std::to_string(count));
    for (uint64_t i : {uint64_t(0), count / 2, count - 1}) {
        if (count == 0 || (i + 1 == count && count > 1 && words[i] == words[i - 1])) continue;
        std::vector<uint32_t> other = words;
        other[i] ^= 0x80000000;
        results.add(checksum(Memory<uint32_t>(other), count, 2, 1) != wanted, "checksum with a bit changed");
        if (i == 0) continue;
        other = words;
        std::swap(other[i], other[i - 1]);
        results.add(checksum(Memory<uint32_t>(other), count, 2, 1) != wanted, "checksum with words exchanged");
    }
}

template <class F>
void take(const Section& section) {
    Cases<F>& all = cases(F());
    constexpr uint32_t words = 2 * sizeof(F) / 4;
    for (uint32_t i = 0; i < section.cases; i++) {
        Bytes<F> bytes;
        Affine<F> point;
        memcpy((void*)&bytes, &section.input[(size_t)i * words], sizeof bytes);
        memcpy((void*)&point, &section.output[(size_t)i * (words + 1) + 1], sizeof point);
        all.bytes.push_back(bytes);
        all.points.push_back(point);
        all.kinds.push_back(section.output[(size_t)i * (words + 1)]);
    }
}

}  // namespace

void run_import_section(const Section& section, Results& results) {
    if (section.name == "g1_import") take<Fp>(section);
    else if (section.name == "g2_import") take<Fp2>(section);
    else {
        std::vector<uint32_t> words(section.input);
        uint64_t wanted = section.output[0] | (uint64_t)section.output[1] << 32;
        Memory<uint32_t> memory(words);
        results.add(checksum(memory, words.size(), 2, 1) == wanted, "checksum of vectors");
    }
}

void run_import(bool emulated, Results& results) {
    one_by_one<Fp>(results);
    one_by_one<Fp2>(results);
    device_forms<Fp>(130, results);
    device_forms<Fp2>(130, results);
    for (uint64_t count : {0, 1, 2, 3, 511, 512, 513, 5001}) checksums(count, results);
    if (emulated) {
        positions<Fp>(9, results);
        positions<Fp2>(5, results);
        return;
    }
    positions<Fp>(257, results);
    positions<Fp2>(257, results);
    positions<Fp>(5000, results);
    checksums(10000001, results);
}

void run_import_large(uint32_t log_size, Results& results) {
    uint32_t count = 1u << log_size;
    Placed<Fp> placed(count);
    placed.check({}, 0, true, "all good", results);
    for (uint32_t one : placed.others()) {
        if (one % 5 != 0) continue;
        placed.check({{count - 1, one}}, 1ull << 40, true, "wrong at the end", results);
    }
    Placed<Fp2> placed2(count / 4);
    placed2.check({}, 0, true, "all good", results);
    placed2.check({{count / 8, placed2.others().back()}}, 0, true, "wrong in the middle", results);
}

}  // namespace g16
