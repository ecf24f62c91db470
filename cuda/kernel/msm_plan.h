// Which kernels make a multi-scalar multiplication, or a sum of points: a list of launches, as data, without any call of
// CUDA. Whoever owns memory and streams carries it out in order; each launch reads what those before it wrote. Shapes depend
// on the number of scalars and the tuning alone, never on the scalars.
//
// Workspace, for n scalars, W windows at once of c bits and the tuning's other numbers: 32 n bytes of scalars, 16 n W of
// pairs, 2^(c-1) W buckets of 192 bytes (G1) or 384 (G2), and a tenth more: in G1 0.5 GB at 2^20, 5.7 GB at 2^24, 18 GB at
// 2^26.
#ifndef G16_KERNEL_MSM_PLAN_H
#define G16_KERNEL_MSM_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

#include "../tuning/msm.h"

namespace g16 {

/// The buffers that launches name: what goes in, in the forms of msm_kernels.h; the result, one point as (x, y, z); scratch.
enum class MsmBuffer : uint8_t { points, scalars, picks, result, workspace };

/// The kernels, in the order of msm_kernels.h; those after `list` are of the plan's group.
enum class MsmKernel : uint8_t {
    recode, count_digits, count_pairs, segment_sums, segment_starts, totals, places, scatter_digits, scatter_pairs, list,
    clear, accumulate, join, reduce, merge, window, result
};
inline const char* name(MsmKernel kernel) {
    static const char* const names[] = {
        "g16_msm_recode", "g16_msm_count_digits", "g16_msm_count_pairs", "g16_msm_segment_sums", "g16_msm_segment_starts",
        "g16_msm_totals", "g16_msm_places", "g16_msm_scatter_digits", "g16_msm_scatter_pairs", "g16_msm_list",
        "g16_msm_clear", "g16_msm_accumulate", "g16_msm_join", "g16_msm_reduce", "g16_msm_merge", "g16_msm_window",
        "g16_msm_result"};
    return names[(int)kernel];
}

/// A kernel's argument: a 32-bit number, a null pointer, or the address of byte `value` of a buffer.
struct MsmArgument {
    enum Kind : uint8_t { number, null, address } kind;
    MsmBuffer buffer;
    uint64_t value;

    MsmArgument(uint32_t number_) : kind(number), buffer(MsmBuffer::points), value(number_) {}
    MsmArgument(MsmBuffer buffer_, uint64_t byte = 0) : kind(address), buffer(buffer_), value(byte) {}
    static MsmArgument none() {
        MsmArgument out(0u);
        out.kind = null;
        return out;
    }
};

struct MsmLaunch {
    MsmKernel kernel;
    uint32_t blocks, threads, shared_bytes;
    std::vector<MsmArgument> arguments;
};
using MsmLaunches = std::vector<MsmLaunch>;

/// The launches for `count` scalars, up to 2^26, or for the sum of `count` points.
class Msm {
  public:
    /// What the MSM runs over: scalar i belongs to point picks[i] where `picks`, else to point i. A point's number is
    /// below 2^31. `sum`: all scalars are one and none is read.
    Msm(bool g2, bool sum, uint32_t count, bool picks, const MsmTuning& tuning)
        : count_(count), picks_(picks), sum_(sum), tuning_(tuning), tail_(g2 ? 12 : 4), point_(g2 ? 384 : 192) {
        if (sum) layout_sum();
        else layout();
    }

    /// What the buffer `workspace` must hold, in bytes.
    uint64_t workspace_bytes() const { return bytes_; }
    uint32_t bits() const { return bits_; }
    uint32_t windows() const { return windows_; }
    uint64_t buckets() const { return (uint64_t)windows_ << (bits_ - 1); }

    MsmLaunches launches() const {
        MsmLaunches out;
        if (count_ == 0) {
            result(out, 0, 1);
            return out;
        }
        if (sum_) {
            out.push_back({MsmKernel::list, blocks(count_), kThreads, 0, {at(sorted_), at(total()), picks(), count_}});
            clear(out, 1);
            accumulate(out, at(total()));
            result(out, buckets_, 1);
            return out;
        }
        recode(out);
        for (uint32_t first = 0; first < windows_; first += together_) group(out, first, std::min(together_, windows_ - first));
        result(out, sums_, windows_);
        return out;
    }

  private:
    static constexpr uint32_t kThreads = 256, kTile = 8192, kSegment = 32, kSortThreads = 512;

    static uint32_t blocks(uint64_t count, uint32_t threads = kThreads) { return (uint32_t)((count + threads - 1) / threads); }
    static MsmArgument at(uint64_t byte) { return MsmArgument(MsmBuffer::workspace, byte); }
    MsmArgument picks() const { return picks_ ? MsmArgument(MsmBuffer::picks) : MsmArgument::none(); }
    uint64_t total() const { return starts_ + 4ull * together_; }

    uint64_t take(uint64_t bytes) {
        uint64_t out = bytes_;
        bytes_ += (bytes + 255) / 256 * 256;
        return out;
    }

    void layout() {
        uint32_t log_count = 0;
        while (log_count < 31 && (1ull << log_count) < count_) log_count++;
        bits_ = tuning_.bits[log_count];
        windows_ = (256 + bits_ - 1) / bits_;
        together_ = std::min(windows_, tuning_.windows);
        low_bits_ = bits_ / 2;
        high_bits_ = bits_ - 1 - low_bits_;
        while (log_chunk_ < std::min(tuning_.log_chunk, bits_ - 1) && (buckets() >> log_chunk_) > tuning_.chunks) log_chunk_++;
        tiles_ = std::max(1u, blocks(count_, kTile));
        segments_ = blocks(tiles_, kSegment);
        uint64_t pairs = (uint64_t)count_ * together_, nodes = (uint64_t)together_ << (bits_ - 1 - log_chunk_);
        planes_ = take(32ull * count_);
        pairs_ = take(8 * pairs);
        sorted_ = take(8 * pairs);
        counts_ = take((4ull * together_ * tiles_) << low_bits_);
        segment_sums_ = take((4ull * together_ * segments_) << low_bits_);
        totals_ = take((4ull * together_) << low_bits_);
        layout_points((uint64_t)together_ << (bits_ - 1));
        nodes_[0] = take(2 * nodes * point_);
        // The first level of the tree has half as many nodes of three parts, the second a quarter of four.
        nodes_[1] = take((3 * nodes / 2 + together_ * 3) * point_);
        sums_ = take(windows_ * point_);
    }
    void layout_sum() {
        windows_ = together_ = bits_ = 1;
        sorted_ = take(8ull * count_);
        layout_points(1);
    }
    void layout_points(uint64_t buckets) {
        starts_ = take(4ull * (together_ + 1));
        buckets_ = take(buckets * point_);
        uint64_t pairs = (uint64_t)count_ * together_, least = (uint64_t)tuning_.least * tuning_.threads;
        blocks_ = (uint32_t)std::min<uint64_t>(tuning_.blocks, (pairs + least - 1) / least);
        if (pairs / tuning_.threads / std::max(1u, blocks_) > tuning_.many) blocks_ *= 2;
        uint32_t heads = blocks_ * tuning_.threads;
        for (int i = 0; i < 2; i++) {
            heads_[i] = take(heads * point_);
            head_keys_[i] = take(4ull * heads);
            heads = blocks(heads, tuning_.fan);
        }
    }

    void recode(MsmLaunches& out) const {
        uint32_t offset[8] = {};
        for (uint32_t w = 0; w + 1 < windows_; w++) {
            uint32_t bit = w * bits_ + bits_ - 1;
            offset[bit / 32] |= 1u << (bit % 32);
        }
        MsmLaunch launch{MsmKernel::recode, blocks(count_), kThreads, 0, {at(planes_), MsmBuffer::scalars, count_}};
        for (uint32_t word : offset) launch.arguments.push_back(word);
        out.push_back(launch);
    }

    void group(MsmLaunches& out, uint32_t first, uint32_t windows) const {
        uint32_t grid = windows * tiles_;
        out.push_back({MsmKernel::count_digits, grid, kSortThreads, 4u << low_bits_,
                       {at(counts_), at(planes_), count_, tiles_, first, windows_, bits_, low_bits_}});
        prefix_sums(out, windows, low_bits_);
        bool two = high_bits_ > 0;
        out.push_back({MsmKernel::scatter_digits, grid, kSortThreads, scatter_bytes(low_bits_),
                       {at(two ? pairs_ : sorted_), at(planes_), picks(), at(counts_), count_, tiles_, first, windows_, bits_,
                        low_bits_}});
        if (two) {
            out.push_back({MsmKernel::count_pairs, grid, kSortThreads, 4u << high_bits_,
                           {at(counts_), at(pairs_), at(starts_), tiles_, low_bits_, high_bits_}});
            prefix_sums(out, windows, high_bits_);
            out.push_back({MsmKernel::scatter_pairs, grid, kSortThreads, scatter_bytes(high_bits_),
                           {at(sorted_), at(pairs_), at(starts_), at(counts_), tiles_, low_bits_, high_bits_}});
        }
        clear(out, windows << (bits_ - 1));
        accumulate(out, at(starts_ + 4ull * windows));
        reduce(out, first, windows);
    }
    static uint32_t scatter_bytes(uint32_t log_bins) {
        return 8 * kTile + ((2 * kSortThreads / 32 + 4) << log_bins) + 4 * 33;
    }
    void prefix_sums(MsmLaunches& out, uint32_t windows, uint32_t log_bins) const {
        uint64_t columns = (uint64_t)windows << log_bins;
        out.push_back({MsmKernel::segment_sums, blocks(columns * segments_), kThreads, 0,
                       {at(segment_sums_), at(counts_), windows, tiles_, segments_, log_bins}});
        out.push_back({MsmKernel::segment_starts, blocks(columns), kThreads, 0,
                       {at(segment_sums_), at(totals_), windows, segments_, log_bins}});
        out.push_back({MsmKernel::totals, 1, 1024, 4 * 33, {at(totals_), at(starts_), windows, log_bins}});
        out.push_back({MsmKernel::places, blocks(columns * segments_), kThreads, 0,
                       {at(counts_), at(segment_sums_), at(totals_), windows, tiles_, segments_, log_bins}});
    }

    void clear(MsmLaunches& out, uint32_t buckets) const {
        out.push_back({MsmKernel::clear, blocks(buckets), kThreads, 0, {at(buckets_), buckets}});
    }
    void accumulate(MsmLaunches& out, MsmArgument total) const {
        out.push_back({MsmKernel::accumulate, blocks_, tuning_.threads, 0,
                       {at(buckets_), at(heads_[0]), at(head_keys_[0]), MsmBuffer::points, at(sorted_), total, tuning_.least}});
        uint32_t from = 0;
        for (uint32_t heads = blocks_ * tuning_.threads; heads > 1; from ^= 1) {
            uint32_t left = blocks(heads, tuning_.fan);
            out.push_back({MsmKernel::join, blocks(left, kWork), kWork, 0,
                           {at(buckets_), at(heads_[from]), at(head_keys_[from]), heads, at(heads_[from ^ 1]),
                            at(head_keys_[from ^ 1]), tuning_.fan}});
            heads = left;
        }
    }
    void reduce(MsmLaunches& out, uint32_t first, uint32_t windows) const {
        uint32_t levels = bits_ - 1 - log_chunk_, nodes = windows << levels, from = 0;
        out.push_back({MsmKernel::reduce, blocks(nodes, kWork), kWork, 0, {at(nodes_[0]), at(buckets_), nodes, log_chunk_}});
        for (uint32_t level = 0; level < levels; level++, from ^= 1) {
            uint32_t parts = 2 + level;
            nodes /= 2;
            out.push_back({MsmKernel::merge, blocks((uint64_t)nodes * (parts + 1), kWork), kWork, 0,
                           {at(nodes_[from ^ 1]), at(nodes_[from]), nodes, parts}});
        }
        out.push_back({MsmKernel::window, windows, tail_, 0,
                       {at(sums_ + first * point_), at(nodes_[from]), windows, levels, log_chunk_}});
    }
    void result(MsmLaunches& out, uint64_t sums, uint32_t windows) const {
        if (count_ == 0) windows = 0;
        out.push_back({MsmKernel::result, 1, tail_, 0, {MsmBuffer::result, at(sums), windows, bits_}});
    }

    /// Threads of a block of the kernels that add points, but the accumulation.
    static constexpr uint32_t kWork = 128;

    uint32_t count_;
    bool picks_, sum_;
    MsmTuning tuning_;
    /// Threads of the tail, and bytes of a point.
    uint32_t tail_;
    uint64_t point_, bytes_ = 0;
    uint32_t bits_ = 1, windows_ = 0, together_ = 0, low_bits_ = 0, high_bits_ = 0, log_chunk_ = 0, tiles_ = 0, segments_ = 0, blocks_ = 0;
    uint64_t planes_ = 0, pairs_ = 0, sorted_ = 0, counts_ = 0, segment_sums_ = 0, totals_ = 0, starts_ = 0, buckets_ = 0;
    uint64_t heads_[2] = {}, head_keys_[2] = {}, nodes_[2] = {}, sums_ = 0;
};

}  // namespace g16

#endif
