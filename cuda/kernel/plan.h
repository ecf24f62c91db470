// Which kernels make a transform or a quotient: a list of launches, as data, without any call of CUDA. Whoever owns memory
// and streams carries it out in order; each launch reads what those before it wrote.
//
// Memory, in elements of 32 bytes, for a domain of d = 2^L: the vectors, d each, in place (a quotient takes a, b and u; c
// only where it is compared), and the tables of table_elements(): 100 + 2^9 + 2^min(L, coarse_log) + 2^(k + 1), k
// the bits of the lowest field, and for each other field four tables of at most 2^max(coarse_log, bits + L - coarse_log). With
// coarse_log = 18 that is 19 MB at 2^24 and 75 MB at 2^27 (42 MB at 2^18, with one table of twists a direction).
#ifndef G16_KERNEL_PLAN_H
#define G16_KERNEL_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "../tuning/tuning.h"

namespace g16 {

/// The buffers that a plan's launches name.
enum class Buffer : uint8_t { a, b, c, u, tables, first };

/// The kernels, in the order of kernels.h.
enum class Kernel : uint8_t {
    domain, root_powers, shift_powers, twists, radix2_inverse, radix2_forward, shift, inverse_pass, forward_pass,
    contiguous_pass, product, finish
};
inline const char* name(Kernel kernel) {
    static const char* const names[] = {
        "g16_domain", "g16_root_powers", "g16_shift_powers", "g16_twists", "g16_radix2_inverse", "g16_radix2_forward",
        "g16_shift", "g16_inverse_pass", "g16_forward_pass", "g16_contiguous_pass", "g16_product", "g16_finish"};
    return names[(int)kernel];
}

/// A kernel's argument: a 32-bit number, a null pointer, or the address of element `value` of a buffer.
struct Argument {
    enum Kind : uint8_t { number, null, address } kind;
    Buffer buffer;
    uint64_t value;

    Argument(uint32_t number_) : kind(number), buffer(Buffer::a), value(number_) {}
    Argument(Buffer buffer_, uint64_t element = 0) : kind(address), buffer(buffer_), value(element) {}
    static Argument none() {
        Argument out(0u);
        out.kind = null;
        return out;
    }
};

struct Launch {
    Kernel kernel;
    uint32_t blocks, threads, shared_bytes;
    std::vector<Argument> arguments;
};
using Plan = std::vector<Launch>;

/// A field of the index: bits, and bits below it.
struct Field {
    uint32_t bits, low;
};

/// The launches over one domain of 2^log_size elements, log_size from 0 to 27 (memory allowing, to 31).
class Transforms {
  public:
    /// `generator` is the non-residue that the roots of unity are powers of (7, or 5 for .zkey), `shift` the coset's.
    Transforms(uint32_t log_size, uint32_t generator, uint32_t shift, const Tuning& tuning)
        : log_size_(log_size), generator_(generator), coset_(shift), tuning_(tuning) {
        // Fields of nearly equal size, from the highest: three bits at least, which Tuning's bounds ensure.
        uint32_t count = by_passes() ? (log_size + tuning.rows_log - 1) / tuning.rows_log : 0;
        uint32_t low = log_size;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t bits = (low + count - i - 1) / (count - i);
            low -= bits;
            fields_.push_back({bits, low});
        }
        low_log_ = count > 0 ? fields_.back().bits : log_size;
        coarse_log_ = log_size < tuning.coarse_log ? log_size : tuning.coarse_log;
        small_ = kDomainElements;
        coarse_ = small_ + (1u << kSmallLog);
        shift_ = coarse_ + (1ull << coarse_log_);
        unshift_ = shift_ + (1ull << low_log_);
        elements_ = unshift_ + (1ull << low_log_);
        for (size_t i = 0; i + 1 < fields_.size(); i++) {
            twists_.push_back(elements_);
            elements_ += kDirections * twist_count(fields_[i]);
        }
    }

    uint64_t size() const { return 1ull << log_size_; }
    /// What the buffer `tables` must hold.
    uint64_t table_elements() const { return elements_; }
    const std::vector<Field>& fields() const { return fields_; }

    /// Fills the tables; once a domain.
    Plan tables() const {
        Plan plan;
        plan.push_back({Kernel::domain, 1, 32, 0, {table(0), generator_, coset_, log_size_}});
        powers(plan, small_, kSmallLog, 1u << kSmallLog);
        powers(plan, coarse_, coarse_log_, 1u << coarse_log_);
        factors(plan, shift_, kShift, kInverseSize);
        factors(plan, unshift_, kUnshift, kQuotientScale);
        for (size_t i = 0; i + 1 < fields_.size(); i++) {
            for (uint32_t direction = 0; direction < kDirections; direction++) twists(plan, i, direction);
        }
        return plan;
    }

    /// Values in natural order to coefficients times d in bit-reversed order.
    void inverse(Plan& plan, Buffer data) const { stages(plan, data, kInverse, kPlain); }
    /// Coefficients in bit-reversed order to values in natural order.
    void forward(Plan& plan, Buffer data) const { stages(plan, data, kForward, kPlain); }
    /// Values on the domain to values on the coset, both in natural order.
    void to_coset(Plan& plan, Buffer data) const { stages(plan, data, kInverse | kFactors | kForward, kShifted); }

    /// h into `b`: d coefficients in natural order, of which the last is zero (src/math/quotient.rs). `a` and `b` hold the
    /// values, padded with zeros to d; `c` the same where `compare`, and then the word `first`, which must be
    /// 0xffffffff before, becomes the first row where a b is not c. `a` and `u` end as scratch.
    void quotient(Plan& plan, bool compare) const {
        Argument c = compare ? Argument(Buffer::c) : Argument::none();
        Argument first = compare ? Argument(Buffer::first) : Argument::none();
        uint32_t count = (uint32_t)size();
        plan.push_back({Kernel::product, blocks(count), kThreads, 0, {Buffer::u, Buffer::a, Buffer::b, c, count, first}});
        inverse(plan, Buffer::u);
        to_coset(plan, Buffer::a);
        to_coset(plan, Buffer::b);
        plan.push_back({Kernel::product, blocks(count), kThreads, 0,
                        {Buffer::a, Buffer::a, Buffer::b, Argument::none(), count, Argument::none()}});
        stages(plan, Buffer::a, kInverse, kUnshifted);
        plan.push_back({Kernel::finish, blocks(count), kThreads, 0,
                        {Buffer::b, Buffer::a, Buffer::u, table(unshift_), table(kQuotientScale), low_log_, log_size_}});
    }

    /// Products of Fr in inverse() and forward(), or in to_coset(): the twiddles that are multiplied by, whether they are
    /// one or not, twists, and their own making. Counted, not measured; for the bench.
    double products(bool coset) const {
        double each = 0;
        for (const Field& field : fields_) {
            uint32_t left = field.bits;
            while (left > 0) {
                uint32_t levels = left < 3 ? left : 3;
                left -= levels;
                each += (levels == 3 ? 5.0 : levels == 2 ? 2.0 : 0.0) / 8 + (left > 0 ? 7.0 / 8 : 0);
            }
            if (field.low > 0) each += field.low + field.bits > coarse_log_ ? 2 : 1;
        }
        return (2 * each + (coset ? 1 : 0)) * (double)size();
    }

  private:
    static constexpr uint32_t kSmallLog = 9, kThreads = 256, kDomainElements = 100;
    static constexpr uint32_t kShift = 33, kUnshift = 65, kOne = 97, kInverseSize = 98, kQuotientScale = 99;
    /// The tables of twists: of the inverse, that with the shift or its inverse, and of the forward transform.
    static constexpr uint32_t kPlain = 0, kShifted = 1, kUnshifted = 2, kBack = 3, kDirections = 4;
    static constexpr uint32_t kInverse = 1, kFactors = 2, kForward = 4, kReduce = 8;

    static uint32_t blocks(uint64_t count) { return (uint32_t)((count + kThreads - 1) / kThreads); }
    static Argument table(uint64_t element) { return Argument(Buffer::tables, element); }
    bool by_passes() const { return log_size_ >= 3; }

    void powers(Plan& plan, uint64_t at, uint32_t log_order, uint32_t count) const {
        plan.push_back({Kernel::root_powers, blocks(count), kThreads, 0, {table(at), table(0), log_order, count}});
    }
    /// The factors of the lowest field, the scale with them.
    void factors(Plan& plan, uint64_t at, uint32_t powers, uint32_t scale) const {
        uint32_t count = 1u << low_log_, highest = log_size_ > 0 ? log_size_ - 1 : 0;
        plan.push_back({Kernel::shift_powers, blocks(count), kThreads, 0,
                        {table(at), table(powers), table(scale), highest, count}});
    }
    bool split(const Field& field) const { return field.low + field.bits > coarse_log_; }
    /// log2 of the twists of one row of a field's table.
    uint32_t twist_log(const Field& field) const {
        return split(field) ? field.low + field.bits - coarse_log_ : field.low;
    }
    uint64_t twist_count(const Field& field) const { return 1ull << (field.bits + twist_log(field)); }
    uint64_t twist_table(size_t field, uint32_t direction) const {
        return twists_[field] + direction * twist_count(fields_[field]);
    }
    void twists(Plan& plan, size_t index, uint32_t direction) const {
        const Field& field = fields_[index];
        uint32_t order = field.low + field.bits, count = (uint32_t)twist_count(field);
        Argument powers = direction == kShifted     ? table(kShift)
                          : direction == kUnshifted ? table(kUnshift)
                                                    : Argument::none();
        plan.push_back({Kernel::twists, blocks(count), kThreads, 0,
                        {table(twist_table(index, direction)), table(0), field.bits, twist_log(field), order,
                         split(field) ? 1u : 0u, direction == kBack ? 0u : 1u, powers, log_size_ - order, count}});
    }

    void stages(Plan& plan, Buffer data, uint32_t mode, uint32_t direction) const {
        if (!by_passes()) return stages_radix2(plan, data, mode);
        if (mode & kInverse) {
            for (size_t i = 0; i + 1 < fields_.size(); i++) strided(plan, Kernel::inverse_pass, data, i, direction);
        }
        bool ends = fields_.size() == 1 || !(mode & kForward);
        contiguous(plan, data, mode | (ends ? kReduce : 0));
        if (mode & kForward) {
            for (size_t i = fields_.size() - 1; i > 0; i--) strided(plan, Kernel::forward_pass, data, i - 1, kBack);
        }
    }
    void stages_radix2(Plan& plan, Buffer data, uint32_t mode) const {
        uint32_t pairs = (uint32_t)(size() / 2), count = (uint32_t)size();
        for (uint32_t level = log_size_; level-- > 0 && (mode & kInverse);) {
            plan.push_back({Kernel::radix2_inverse, blocks(pairs), kThreads, 0, {data, table(0), level, pairs}});
        }
        if (mode & kFactors) {
            plan.push_back({Kernel::shift, blocks(count), kThreads, 0, {data, table(shift_), count}});
        }
        for (uint32_t level = 0; level < log_size_ && (mode & kForward); level++) {
            plan.push_back({Kernel::radix2_forward, blocks(pairs), kThreads, 0, {data, table(0), level, pairs}});
        }
    }

    /// log2 of the columns of a tile with rows of this field.
    uint32_t columns_log(const Field& field) const {
        uint32_t wanted = tuning_.tile_log > field.bits ? tuning_.tile_log - field.bits : 0;
        uint32_t available = field.low > 0 ? field.low : log_size_ - field.bits;
        return wanted < available ? wanted : available;
    }
    Launch tile_launch(Kernel kernel, const Field& field) const {
        uint32_t tile_log = field.bits + columns_log(field), tile = 1u << tile_log;
        uint32_t shared_bytes = 2 * 16 * (tile + tile / 8 + 4);
        return {kernel, 1u << (log_size_ - tile_log), tile / 8, shared_bytes, {}};
    }
    void strided(Plan& plan, Kernel kernel, Buffer data, size_t index, uint32_t direction) const {
        const Field& field = fields_[index];
        Launch launch = tile_launch(kernel, field);
        launch.arguments = {data, field.bits, columns_log(field), field.low, table(small_),
                            table(coarse_), coarse_log_, table(twist_table(index, direction))};
        if (kernel == Kernel::forward_pass) launch.arguments.push_back(index == 0 ? 1u : 0u);
        plan.push_back(launch);
    }
    void contiguous(Plan& plan, Buffer data, uint32_t mode) const {
        const Field& field = fields_.back();
        Launch launch = tile_launch(Kernel::contiguous_pass, field);
        launch.arguments = {data, field.bits, columns_log(field), mode, table(small_), table(shift_)};
        plan.push_back(launch);
    }

    uint32_t log_size_, generator_, coset_;
    Tuning tuning_;
    std::vector<Field> fields_;
    uint32_t low_log_, coarse_log_;
    uint64_t small_, coarse_, shift_, unshift_, elements_;
    std::vector<uint64_t> twists_;
};

}  // namespace g16

#endif
