// Pairs of bucket and point, and their radix sort: two passes, each count, prefix sums and a stable scatter.
//
// Stable, so that the order of a bucket's points, and with it every intermediate result, depends on the input alone.

#include "msm_kernels.h"

namespace g16 {
namespace sort {

constexpr uint32_t kTile = G16_SORT_TILE, kThreads = G16_SORT_THREADS, kWarps = kThreads / 32, kRounds = kTile / kThreads;
constexpr uint32_t kMaxBins = 1u << G16_SORT_BITS;

/// The lanes of the calling warp whose `value`, below 2^bits, is the same. All 32 must call.
G16_DEVICE uint32_t same_lanes(uint32_t value, uint32_t bits) {
#ifdef __CUDACC__
    uint32_t out = 0xffffffff;
    for (uint32_t b = 0; b < bits; b++) {
        uint32_t bit = (value >> b) & 1, set = __ballot_sync(0xffffffff, bit);
        out &= bit ? set : ~set;
    }
    return out;
#else
    (void)bits;
    return g16::emulate::peers(value);
#endif
}

/// Where pairs come from: a tile's `size` of them, of which some may be missing.
struct FromDigits {
    const uint32_t* planes;
    const uint32_t* picks;
    uint32_t count, begin, size, window, key_base, bits;
    bool top;

    G16_DEVICE FromDigits(const uint32_t* planes_, const uint32_t* picks_, uint32_t count_, uint32_t tiles, uint32_t first,
                          uint32_t windows, uint32_t bits_) {
        uint32_t local = blockIdx.x / tiles, tile = blockIdx.x % tiles;
        planes = planes_;
        picks = picks_;
        count = count_;
        begin = tile * kTile;
        size = count - begin < kTile ? count - begin : kTile;
        window = first + local;
        key_base = local << (bits_ - 1);
        bits = bits_;
        top = window + 1 == windows;
    }
    /// Whether scalar begin + i has a digit that is not zero, and its pair.
    G16_DEVICE bool get(uint32_t i, Pair& pair) const {
        uint32_t position = window * bits, word = position / 32, shift = position % 32, at = begin + i;
        uint64_t words = planes[(size_t)word * count + at];
        if (shift + bits > 32 && word < 7) words |= (uint64_t)planes[(size_t)(word + 1) * count + at] << 32;
        uint32_t raw = (uint32_t)(words >> shift) & ((1u << bits) - 1), half = 1u << (bits - 1);
        bool negative = !top && raw < half;
        uint32_t magnitude = top ? raw : negative ? half - raw : raw - half;
        if (magnitude == 0) return false;
        pair.key = key_base + magnitude - 1;
        pair.value = (picks != nullptr ? picks[at] : at) | (uint32_t)negative << 31;
        return true;
    }
};

struct FromPairs {
    const Pair* pairs;
    uint32_t size;

    G16_DEVICE FromPairs(const Pair* pairs_, const uint32_t* starts, uint32_t tiles) {
        uint32_t window = blockIdx.x / tiles, tile = blockIdx.x % tiles;
        uint32_t begin = starts[window] + tile * kTile, end = starts[window + 1];
        pairs = pairs_ + begin;
        size = begin >= end ? 0 : end - begin < kTile ? end - begin : kTile;
    }
    G16_DEVICE bool get(uint32_t i, Pair& pair) const {
        pair = pairs[i];
        return true;
    }
};

/// counts[block][bin] of a tile.
template <class Source>
G16_DEVICE void count_tile(const Source& source, uint32_t* counts, uint32_t shift, uint32_t log_bins) {
    G16_SHARED(shared);
    uint32_t* bins = reinterpret_cast<uint32_t*>(shared);
    uint32_t size = 1u << log_bins;
    for (uint32_t i = threadIdx.x; i < size; i += kThreads) bins[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < source.size; i += kThreads) {
        Pair pair;
        if (source.get(i, pair)) atomicAdd(bins + ((pair.key >> shift) & (size - 1)), 1u);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < size; i += kThreads) counts[((size_t)blockIdx.x << log_bins) + i] = bins[i];
}

/// The sum of `value` over the threads before this one, of up to 1024. `scratch` has 33 words.
G16_DEVICE uint32_t sum_before(uint32_t value, uint32_t* scratch) {
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, upto = value;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_sync(0xffffffff, upto, (lane - step) & 31);
        if (lane >= step) upto += other;
    }
    if (lane == 31) scratch[warp] = upto;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < blockDim.x / 32; i++) {
            uint32_t here = scratch[i];
            scratch[i] = sum;
            sum += here;
        }
        scratch[32] = sum;
    }
    __syncthreads();
    uint32_t out = scratch[warp] + upto - value;
    __syncthreads();
    return out;
}

/// Shared memory of a scatter: the tile's pairs in their new order; for each warp 16 bits a bin, a count that becomes the
/// place in the tile; for each bin what takes a place in the tile to one in `out`; scratch.
struct ScatterMemory {
    Pair* pairs;
    uint32_t* warps;
    uint32_t* delta;
    uint32_t* scratch;

    G16_DEVICE ScatterMemory(Quad* shared, uint32_t bins) {
        pairs = reinterpret_cast<Pair*>(shared);
        warps = reinterpret_cast<uint32_t*>(pairs + kTile);
        delta = warps + kWarps * bins / 2;
        scratch = delta + bins;
    }
};

/// Adds to a 16-bit count and returns what it was.
G16_DEVICE uint32_t add_half(uint32_t* counts, uint32_t bin, uint32_t value) {
    uint32_t shift = 16 * (bin & 1);
    return (atomicAdd(counts + bin / 2, value << shift) >> shift) & 0xffff;
}

/// Turns the warps' counts into places in the tile. A thread does bins in pairs, so that it owns its words.
G16_DEVICE void place_bins(const ScatterMemory& memory, const uint32_t* places, uint32_t log_bins) {
    uint32_t bins = 1u << log_bins, each = bins / kThreads > 2 ? bins / kThreads : 2;
    uint32_t from = threadIdx.x * each, sum = 0;
    bool mine = from < bins;
    for (uint32_t word = from / 2; mine && word < (from + each) / 2; word++) {
        for (uint32_t warp = 0; warp < kWarps; warp++) {
            uint32_t both = memory.warps[warp * bins / 2 + word];
            sum += (both & 0xffff) + (both >> 16);
        }
    }
    uint32_t place = sum_before(sum, memory.scratch);
    for (uint32_t word = from / 2; mine && word < (from + each) / 2; word++) {
        uint32_t low = 0, high = place;
        for (uint32_t warp = 0; warp < kWarps; warp++) high += memory.warps[warp * bins / 2 + word] & 0xffff;
        low = place;
        const uint32_t* global = places + ((size_t)blockIdx.x << log_bins) + 2 * word;
        memory.delta[2 * word] = global[0] - low;
        memory.delta[2 * word + 1] = global[1] - high;
        for (uint32_t warp = 0; warp < kWarps; warp++) {
            uint32_t* both = memory.warps + warp * bins / 2 + word;
            uint32_t here = *both;
            *both = low | high << 16;
            low += here & 0xffff;
            high += here >> 16;
        }
        place = high;
    }
}

template <class Source>
G16_DEVICE void scatter_tile(const Source& source, Pair* out, const uint32_t* places, uint32_t shift, uint32_t log_bins) {
    G16_SHARED(shared);
    uint32_t bins = 1u << log_bins, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    ScatterMemory memory(shared, bins);
    uint32_t* counts = memory.warps + warp * bins / 2;
    for (uint32_t i = threadIdx.x; i < kWarps * bins / 2; i += kThreads) memory.warps[i] = 0;
    __syncthreads();
    // Pairs of a warp: rounds of 32, as many as the tile has.
    uint32_t begin = warp * 32 * kRounds, end = begin + 32 * kRounds < source.size ? begin + 32 * kRounds : source.size;
    for (uint32_t at = begin; at < end; at += 32) {
        Pair pair;
        uint32_t i = at + lane;
        if (i < source.size && source.get(i, pair)) add_half(counts, (pair.key >> shift) & (bins - 1), 1);
    }
    __syncthreads();
    place_bins(memory, places, log_bins);
    __syncthreads();
    for (uint32_t at = begin; at < end; at += 32) {
        Pair pair = {0, 0};
        uint32_t i = at + lane;
        bool valid = i < source.size && source.get(i, pair);
        uint32_t bin = valid ? (pair.key >> shift) & (bins - 1) : bins;
        uint32_t peers = same_lanes(bin, log_bins + 1);
        uint32_t leader = (uint32_t)__ffs(peers) - 1, before = (uint32_t)__popc(peers & ((1u << lane) - 1)), place = 0;
        if (valid && lane == leader) place = add_half(counts, bin, (uint32_t)__popc(peers));
        place = __shfl_sync(0xffffffff, place, leader);
        if (valid) memory.pairs[place + before] = pair;
    }
    __syncthreads();
    // After the scatter a warp's place of the last bin is its end; the last warp's is the tile's.
    uint32_t total = memory.warps[(kWarps - 1) * bins / 2 + bins / 2 - 1] >> 16;
    for (uint32_t i = threadIdx.x; i < total; i += kThreads) {
        Pair pair = memory.pairs[i];
        out[memory.delta[(pair.key >> shift) & (bins - 1)] + i] = pair;
    }
}

/// Splits a thread's number into bin, segment and window.
struct Column {
    uint32_t bin, segment, window;
    size_t at;
    bool there;

    G16_DEVICE Column(uint32_t windows, uint32_t segments, uint32_t log_bins) {
        at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
        bin = (uint32_t)at & ((1u << log_bins) - 1);
        uint32_t rest = (uint32_t)(at >> log_bins);
        segment = rest % segments;
        window = rest / segments;
        there = window < windows;
    }
};

}  // namespace sort
}  // namespace g16

using g16::Pair;
using g16::Quad;

G16_KERNEL(256, 1) g16_msm_recode(uint32_t* planes, const Quad* scalars, uint32_t count, uint32_t offset0, uint32_t offset1,
                                  uint32_t offset2, uint32_t offset3, uint32_t offset4, uint32_t offset5, uint32_t offset6,
                                  uint32_t offset7) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Quad low = scalars[2 * (size_t)i], high = scalars[2 * (size_t)i + 1];
    const uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    const uint32_t offsets[8] = {offset0, offset1, offset2, offset3, offset4, offset5, offset6, offset7};
    uint64_t sum = 0;
    G16_UNROLL
    for (int j = 0; j < 8; j++) {
        sum += (uint64_t)words[j] + offsets[j];
        planes[(size_t)j * count + i] = (uint32_t)sum;
        sum >>= 32;
    }
}

G16_KERNEL(G16_SORT_THREADS, 2) g16_msm_count_digits(uint32_t* counts, const uint32_t* planes, uint32_t count, uint32_t tiles,
                                                     uint32_t first, uint32_t windows, uint32_t bits, uint32_t log_bins) {
    g16::sort::count_tile(g16::sort::FromDigits(planes, nullptr, count, tiles, first, windows, bits), counts, 0, log_bins);
}

G16_KERNEL(G16_SORT_THREADS, 2) g16_msm_count_pairs(uint32_t* counts, const Pair* pairs, const uint32_t* starts,
                                                    uint32_t tiles, uint32_t shift, uint32_t log_bins) {
    g16::sort::count_tile(g16::sort::FromPairs(pairs, starts, tiles), counts, shift, log_bins);
}

G16_KERNEL(256, 1) g16_msm_segment_sums(uint32_t* sums, const uint32_t* counts, uint32_t windows, uint32_t tiles,
                                        uint32_t segments, uint32_t log_bins) {
    g16::sort::Column column(windows, segments, log_bins);
    if (!column.there) return;
    uint32_t tile = column.segment * G16_SORT_SEGMENT, end = tile + G16_SORT_SEGMENT < tiles ? tile + G16_SORT_SEGMENT : tiles;
    uint32_t sum = 0;
    for (; tile < end; tile++) sum += counts[(((size_t)column.window * tiles + tile) << log_bins) + column.bin];
    sums[column.at] = sum;
}

G16_KERNEL(256, 1) g16_msm_segment_starts(uint32_t* sums, uint32_t* totals, uint32_t windows, uint32_t segments,
                                          uint32_t log_bins) {
    g16::sort::Column column(windows, 1, log_bins);
    if (!column.there) return;
    uint32_t sum = 0;
    for (uint32_t segment = 0; segment < segments; segment++) {
        uint32_t* at = sums + (((size_t)column.window * segments + segment) << log_bins) + column.bin;
        uint32_t here = *at;
        *at = sum;
        sum += here;
    }
    totals[column.at] = sum;
}

G16_KERNEL(1024, 1) g16_msm_totals(uint32_t* totals, uint32_t* starts, uint32_t windows, uint32_t log_bins) {
    G16_SHARED(shared);
    uint32_t count = windows << log_bins, each = (count + blockDim.x - 1) / blockDim.x;
    uint32_t begin = threadIdx.x * each, end = begin + each < count ? begin + each : count, sum = 0;
    for (uint32_t i = begin; i < end; i++) sum += totals[i];
    uint32_t place = g16::sort::sum_before(sum, reinterpret_cast<uint32_t*>(shared));
    for (uint32_t i = begin; i < end; i++) {
        uint32_t here = totals[i];
        totals[i] = place;
        if ((i & ((1u << log_bins) - 1)) == 0) starts[i >> log_bins] = place;
        place += here;
        if (i + 1 == count) starts[windows] = place;
    }
}

G16_KERNEL(256, 1) g16_msm_places(uint32_t* counts, const uint32_t* sums, const uint32_t* totals, uint32_t windows,
                                  uint32_t tiles, uint32_t segments, uint32_t log_bins) {
    g16::sort::Column column(windows, segments, log_bins);
    if (!column.there) return;
    uint32_t tile = column.segment * G16_SORT_SEGMENT, end = tile + G16_SORT_SEGMENT < tiles ? tile + G16_SORT_SEGMENT : tiles;
    uint32_t place = totals[(column.window << log_bins) + column.bin] + sums[column.at];
    for (; tile < end; tile++) {
        uint32_t* at = counts + (((size_t)column.window * tiles + tile) << log_bins) + column.bin;
        uint32_t here = *at;
        *at = place;
        place += here;
    }
}

G16_KERNEL(G16_SORT_THREADS, 2) g16_msm_scatter_digits(Pair* out, const uint32_t* planes, const uint32_t* picks,
                                                       const uint32_t* places, uint32_t count, uint32_t tiles, uint32_t first,
                                                       uint32_t windows, uint32_t bits, uint32_t log_bins) {
    g16::sort::scatter_tile(g16::sort::FromDigits(planes, picks, count, tiles, first, windows, bits), out, places, 0, log_bins);
}

G16_KERNEL(G16_SORT_THREADS, 2) g16_msm_scatter_pairs(Pair* out, const Pair* pairs, const uint32_t* starts,
                                                      const uint32_t* places, uint32_t tiles, uint32_t shift,
                                                      uint32_t log_bins) {
    g16::sort::scatter_tile(g16::sort::FromPairs(pairs, starts, tiles), out, places, shift, log_bins);
}

G16_KERNEL(256, 1) g16_msm_list(Pair* pairs, uint32_t* total, const uint32_t* picks, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *total = count;
    if (i >= count) return;
    pairs[i] = {0, picks != nullptr ? picks[i] : i};
}
