// Multi-scalar multiplication and sums of points, against Python's vectors and against points that are known multiples of
// the generator: sum s_i (k_i G) = (sum s_i k_i mod r) G.

#define G16_CALL_PRODUCTS
#include "msm_device.h"
#include "suite.h"

namespace g16 {
namespace {

using Scalar = std::array<uint32_t, 8>;

/// Where an element stands among the generated points: index, sign in bit 31; or infinity.
constexpr uint32_t kInfinity = 0x7fffffff;

/// out[i] = the point that from[i] names.
template <class F>
G16_GLOBAL void arrange(Affine<F>* out, const Affine<F>* base, const uint32_t* from, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t at = from[i] & 0x7fffffff;
    Affine<F> point = at == kInfinity ? Affine<F>::infinity() : base[at];
    out[i] = from[i] >> 31 ? -point : point;
}

Scalar modulus() {
    Scalar out;
    for (int i = 0; i < 8; i++) out[i] = FrParameters::modulus(i);
    return out;
}
Scalar small(uint32_t value) {
    return {value};
}
/// r - value.
Scalar below_modulus(uint32_t value) {
    Scalar out = modulus();
    out[0] -= value;
    if (value > modulus()[0]) out[1] -= 1;
    return out;
}
Scalar half_modulus() {
    Scalar out = below_modulus(1);
    for (int i = 0; i < 8; i++) out[i] = out[i] >> 1 | (i < 7 ? out[i + 1] << 31 : 0);
    return out;
}
Scalar uniform(uint64_t seed, uint64_t i) {
    Scalar out;
    for (int w = 0; w < 4; w++) {
        uint64_t two = mixed(seed, 4 * i + w);
        out[2 * w] = (uint32_t)two;
        out[2 * w + 1] = (uint32_t)(two >> 32);
    }
    out[7] &= 0x3fffffff;
    return out;
}
Scalar power_of_two(uint32_t k) {
    Scalar out = {};
    out[k / 32] = 1u << (k % 32);
    return out;
}
Scalar ones_below(uint32_t k) {
    Scalar out = {};
    for (uint32_t i = 0; i < k; i++) out[i / 32] |= 1u << (i % 32);
    return out;
}

const char* const kDistributions[] = {
    "uniform", "zero", "one", "two", "r - 1", "(r - 1) / 2", "2^k", "2^k - 1", "all equal", "two values", "sorted",
    "mostly small", "one hot bucket", "2^255 - 1", "r and above", "witness"};
constexpr uint32_t kDistributionCount = sizeof(kDistributions) / sizeof(*kDistributions);

Scalar scalar(uint32_t distribution, uint64_t i) {
    uint64_t dice = mixed(99, i) % 100;
    switch (distribution) {
        case 0: return uniform(1, i);
        case 1: return small(0);
        case 2: return small(1);
        case 3: return small(2);
        case 4: return below_modulus(1);
        case 5: return half_modulus();
        case 6: return power_of_two((uint32_t)(i % 255));
        case 7: return ones_below((uint32_t)(i % 256));
        case 8: return uniform(2, 0);
        case 9: return uniform(3, i % 2);
        case 10: return small((uint32_t)i);
        case 11: return dice < 90 ? small((uint32_t)dice % 16) : uniform(4, i);
        case 12: {
            Scalar out = uniform(5, i);
            out[0] = 0x00070007;
            return out;
        }
        case 13: return ones_below(255);
        case 14: {
            Scalar out = modulus();
            out[0] += (uint32_t)(i % 1000);
            return out;
        }
        default:
            if (dice < 45) return small(0);
            if (dice < 90) return small(1);
            return dice < 95 ? small((uint32_t)mixed(6, i)) : uniform(6, i);
    }
}

/// sum of s_i k_i modulo r, in whole numbers of 12 words until the end.
class Expected {
  public:
    void add(const Scalar& s, uint32_t k, bool negative) {
        uint64_t carry = 0;
        uint32_t* sum = sums_[negative];
        for (int i = 0; i < 12; i++) {
            uint64_t product = i < 8 ? (uint64_t)s[i] * k : 0;
            carry += (uint64_t)sum[i] + (uint32_t)product;
            sum[i] = (uint32_t)carry;
            carry = (carry >> 32) + (product >> 32);
        }
    }
    template <class F>
    Affine<F> point() const {
        Fr value = reduced(sums_[0]) - reduced(sums_[1]);
        Fr canonical = value.to_canonical();
        Affine<F> base = generator<F>();
        Jacobian<F> out = Jacobian<F>::infinity();
        for (int bit = 255; bit >= 0; bit--) {
            out = out.twice();
            if (canonical.word[bit / 32] >> (bit % 32) & 1) out = out + base;
        }
        return out.is_infinity() ? Affine<F>::infinity() : out.to_affine();
    }

  private:
    static Fr reduced(const uint32_t* words) {
        Fr out = Fr::zero(), low = Fr::zero();
        for (int i = 11; i >= 8; i--) out.word[i - 8] = words[i];
        out = out.from_canonical();
        for (int i = 0; i < 256; i++) out = out.twice();
        for (int i = 0; i < 8; i++) low.word[i] = words[i];
        return out + low.from_canonical();
    }
    uint32_t sums_[2][12] = {};
};

/// Inputs on the device and what their MSM is.
template <class F>
struct Problem {
    uint32_t count = 0;
    Memory<Affine<F>> points;
    Memory<Scalar> scalars;
    Memory<uint32_t> picks;
    bool picked = false, sum = false;
    Affine<F> expected;
};

/// `from` names the generated point of each place; `picks`, where not empty, the places that scalars belong to.
template <class F>
Problem<F> problem(const Memory<Affine<F>>& base, const std::vector<uint32_t>& from, const std::vector<Scalar>& scalars,
                   const std::vector<uint32_t>& picks) {
    Problem<F> out;
    out.count = (uint32_t)scalars.size();
    out.points = Memory<Affine<F>>(from.size());
    Memory<uint32_t> names(from);
    if (!from.empty()) {
        launch(arrange<F>, (uint32_t)((from.size() + 127) / 128), 128, out.points.data(), base.data(), names.data(),
               (uint32_t)from.size());
    }
    out.scalars = Memory<Scalar>(scalars);
    out.picks = Memory<uint32_t>(picks);
    out.picked = !picks.empty();
    Expected expected;
    for (size_t i = 0; i < scalars.size(); i++) {
        uint32_t name = from[picks.empty() ? i : picks[i]];
        if ((name & 0x7fffffff) != kInfinity) expected.add(scalars[i], multiple(name & 0x7fffffff), name >> 31);
    }
    out.expected = expected.point<F>();
    wait();
    return out;
}

template <class F>
Affine<F> affine(const Jacobian<F>& p) {
    return p.is_infinity() ? Affine<F>::infinity() : p.to_affine();
}

template <class F>
bool solve(const Problem<F>& problem, const MsmTuning& tuning, MsmBuffers<F>& buffers, Jacobian<F>* got = nullptr) {
    Msm plan(kIsG2<F>, problem.sum, problem.count, problem.picked, tuning);
    buffers.reserve(plan);
    buffers.points = problem.points.data();
    buffers.scalars = problem.scalars.data();
    buffers.picks = problem.picks.data();
    buffers.run(plan.launches());
    wait();
    Jacobian<F> result = buffers.result.read()[0];
    if (got != nullptr) *got = result;
    return affine(result) == problem.expected;
}

std::vector<uint32_t> straight(size_t count) {
    std::vector<uint32_t> out(count);
    for (size_t i = 0; i < count; i++) out[i] = (uint32_t)i;
    return out;
}

std::vector<Scalar> drawn(uint32_t distribution, size_t count) {
    std::vector<Scalar> out(count);
    for (size_t i = 0; i < count; i++) out[i] = scalar(distribution, i);
    return out;
}

template <class F>
class MsmSuite {
  public:
    MsmSuite(size_t largest, MsmTuning tuning, Results& results)
        : base_(generated_points<F>(largest)), tuning_(tuning), results_(results) {}

    void distributions(size_t count) {
        for (uint32_t d = 0; d < kDistributionCount; d++) {
            check(problem<F>(base_, straight(count), drawn(d, count), {}), std::string(kDistributions[d]) + " scalars", count);
        }
    }
    void uniform_of(size_t count) { check(problem<F>(base_, straight(count), drawn(0, count), {}), "uniform scalars", count); }

    void infinities(size_t count) {
        for (int where = 0; where < 5; where++) {
            std::vector<uint32_t> from = straight(count);
            if (where == 0) from[0] = kInfinity;
            if (where == 1) from[count - 1] = kInfinity;
            if (where == 2) from[count / 2] = kInfinity;
            for (size_t i = 0; i < count && where > 2; i++) {
                if (where == 3 || i % 3 == 0) from[i] = kInfinity;
            }
            check(problem<F>(base_, from, drawn(0, count), {}), "infinity at " + std::to_string(where), count);
            check(problem<F>(base_, from, drawn(8, count), {}), "infinity, equal scalars, at " + std::to_string(where), count);
        }
    }
    /// Each point `times` times in succession, or opposite ones in turn, with equal and with different scalars.
    void duplicates(size_t count, size_t times) {
        for (uint32_t sign = 0; sign < 2; sign++) {
            std::vector<uint32_t> from(count);
            for (size_t i = 0; i < count; i++) from[i] = (uint32_t)(i / times) | (i % 2 * sign) << 31;
            std::string what = (sign ? " opposites" : " copies");
            check(problem<F>(base_, from, drawn(8, count), {}), std::to_string(times) + what + ", equal scalars", count);
            check(problem<F>(base_, from, drawn(0, count), {}), std::to_string(times) + what, count);
            check(problem<F>(base_, from, drawn(2, count), {}), std::to_string(times) + what + ", ones", count);
        }
        std::vector<uint32_t> from(count);
        for (size_t i = 0; i < count; i++) from[i] = (uint32_t)(i % (count / 2)) | (uint32_t)(i >= count / 2) << 31;
        check(problem<F>(base_, from, drawn(8, count), {}), "half of all opposite", count);
    }
    void picks(size_t points, size_t count) {
        std::vector<uint32_t> picks(count);
        for (size_t i = 0; i < count; i++) picks[i] = (uint32_t)(mixed(11, i) % points);
        check(problem<F>(base_, straight(points), drawn(0, count), picks), "picks", count);
        Problem<F> sum = problem<F>(base_, straight(points), drawn(2, count), picks);
        sum.sum = true;
        check(sum, "sum of picks", count);
    }
    void sums(size_t count) {
        for (int kind = 0; kind < 3; kind++) {
            std::vector<uint32_t> from = straight(count);
            for (size_t i = 0; i < count && kind > 0; i++) from[i] = kind == 1 ? 0 : i % 2 ? kInfinity : (uint32_t)i;
            Problem<F> sum = problem<F>(base_, from, drawn(2, count), {});
            sum.sum = true;
            check(sum, "sum, kind " + std::to_string(kind), count);
        }
    }
    void repeats(size_t count, uint32_t times) {
        Problem<F> one = problem<F>(base_, straight(count), drawn(15, count), {});
        Jacobian<F> first, again;
        bool same = solve(one, tuning_, buffers_, &first);
        for (uint32_t i = 1; i < times; i++) {
            same = same && solve(one, tuning_, buffers_, &again) && memcmp(&first, &again, sizeof first) == 0;
        }
        results_.add(same, std::to_string(times) + " repeats are equal, " + std::to_string(count));
    }
    void tunings(size_t count) {
        for (uint8_t bits : {2, 3, 5, 8, 11, 13}) {
            for (uint32_t variant = 0; variant < 3; variant++) {
                MsmTuning tuning = tuning_;
                for (uint8_t& entry : tuning.bits) entry = bits;
                if (variant == 1) tuning.chunks = 1 << 30, tuning.fan = 2, tuning.least = 1, tuning.windows = 3;
                if (variant == 2) tuning.log_chunk = 20, tuning.chunks = 1, tuning.blocks = 1, tuning.threads = 32, tuning.fan = 64;
                Problem<F> one = problem<F>(base_, straight(count), drawn(variant == 1 ? 11 : 0, count), {});
                results_.add(solve(one, tuning, buffers_),
                             "bits " + std::to_string(bits) + ", variant " + std::to_string(variant));
            }
        }
    }

  private:
    void check(const Problem<F>& one, const std::string& what, size_t count) {
        bool good = solve(one, tuning_, buffers_);
        results_.add(good, std::string(kIsG2<F> ? "g2 msm, " : "g1 msm, ") + what + ", " + std::to_string(count));
    }
    Memory<Affine<F>> base_;
    MsmTuning tuning_;
    Results& results_;
    MsmBuffers<F> buffers_;
};

template <class F>
void run_section(const Section& section, const MsmTuning& tuning, Results& results) {
    Problem<F> one;
    one.count = section.parameters[0];
    one.sum = section.parameters[1] == 1;
    std::vector<Affine<F>> points(one.count), expected(1);
    std::vector<Scalar> scalars(one.count);
    const uint32_t* words = section.input.data();
    if (one.count > 0) {
        memcpy((void*)points.data(), words, one.count * sizeof(Affine<F>));
        memcpy((void*)scalars.data(), words + one.count * (sizeof(Affine<F>) / 4), one.count * sizeof(Scalar));
    }
    memcpy((void*)&one.expected, section.output.data(), sizeof(Affine<F>));
    one.points = Memory<Affine<F>>(points);
    one.scalars = Memory<Scalar>(scalars);
    MsmBuffers<F> buffers;
    results.add(solve(one, tuning, buffers), section.name + " of " + std::to_string(one.count));
}

template <class F>
void run_suite(bool emulated, const MsmTuning& tuning, Results& results) {
    MsmSuite<F> suite(emulated ? 1025 : 65537, tuning, results);
    // On a CPU a point of G2 costs four of G1, and most of the code is the same: fewer sizes there.
    bool few = emulated && kIsG2<F>;
    for (size_t count : {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
        if (!few || count < 4 || count == 129) suite.uniform_of(count);
    }
    for (size_t count : {1023, 1024, 1025}) {
        if (!emulated || (count == 1025 && !few)) suite.uniform_of(count);
    }
    for (size_t count : {0, 1, 2, 33}) suite.sums(count);
    suite.distributions(33);
    if (!emulated) suite.distributions(300);
    suite.infinities(1);
    suite.infinities(few ? 5 : 67);
    for (size_t times : {2, 3, 4, 33}) {
        if (!few || times == 3) suite.duplicates(67, times);
    }
    suite.picks(50, few ? 60 : 200);
    if (!few) suite.tunings(70);
    suite.repeats(few ? 33 : 257, 3);
    if (emulated) return;
    for (size_t count : {65535, 65536, 65537}) suite.uniform_of(count), suite.sums(count), suite.picks(count, count / 2);
    suite.distributions(1025);
    suite.distributions(65537);
    suite.infinities(65537);
    for (size_t times : {2, 33, 8192, 65536}) suite.duplicates(65536, times);
    suite.tunings(4099);
    suite.repeats(65537, 100);
}

}  // namespace

void run_msm_section(const Section& section, const MsmTuning (&tunings)[2], Results& results) {
    if (section.name == "g1_msm") run_section<Fp>(section, tunings[0], results);
    else run_section<Fp2>(section, tunings[1], results);
}

void run_msm(bool emulated, const MsmTuning (&tunings)[2], Results& results) {
    run_suite<Fp>(emulated, tunings[0], results);
    run_suite<Fp2>(emulated, tunings[1], results);
}

namespace {

/// The sweep, the zoo and what is adversarial at 2^log_size, in both groups.
template <class F>
void run_large_suite(uint32_t log_size, const MsmTuning& tuning, Results& results) {
    size_t count = size_t(1) << log_size;
    MsmSuite<F> suite(count + 1, tuning, results);
    for (size_t size : {count - 1, count, count + 1}) suite.uniform_of(size);
    suite.sums(count);
    suite.picks(count / 2, count / 4 * 3);
    suite.distributions(count - 1);
    suite.infinities(count);
    for (size_t times : {size_t(2), size_t(33), count / 2, count}) suite.duplicates(count, times);
    suite.repeats(count, 3);
}

}  // namespace

void run_msm_large(uint32_t log_size, const MsmTuning (&tunings)[2], Results& results) {
    run_large_suite<Fp>(log_size, tunings[0], results);
    run_large_suite<Fp2>(log_size, tunings[1], results);
}

}  // namespace g16
