// The split of a witness. split_kernels.h says what each kernel does.

#include "split_kernels.h"

namespace g16 {
namespace split {

constexpr uint32_t kTile = G16_SPLIT_TILE, kWords = kTile / 32, kWarps = G16_SPLIT_THREADS / 32;
constexpr uint32_t kQueries = 3, kColumns = G16_SPLIT_COLUMNS;
static_assert(kWords == 32, "a warp's lanes take the words of a tile");

/// Which variables have a point in each query.
struct Members {
    const uint32_t *a_bits, *a_ranks, *b_bits, *b_ranks;
    uint32_t num_inputs;

    /// Of the variables [32 word, 32 word + 32).
    G16_DEVICE uint32_t of(uint32_t query, uint32_t word) const {
        const uint32_t* bits = query == 1 ? a_bits : b_bits;
        if (query > 0) return bits != nullptr ? bits[word] : 0xffffffff;
        uint32_t begin = 32 * word;
        if (begin >= num_inputs) return 0xffffffff;
        return num_inputs - begin >= 32 ? 0 : 0xffffffff << (num_inputs - begin);
    }
    /// The point of variable 32 word + lane, which is a member.
    G16_DEVICE uint32_t point(uint32_t query, uint32_t word, uint32_t lane) const {
        if (query == 0) return 32 * word + lane - num_inputs;
        const uint32_t *bits = query == 1 ? a_bits : b_bits, *ranks = query == 1 ? a_ranks : b_ranks;
        if (bits == nullptr) return 32 * word + lane;
        uint32_t before = ranks[word / 2] + (word % 2 == 1 ? (uint32_t)__popc(bits[word - 1]) : 0);
        return before + (uint32_t)__popc(bits[word] & ((1u << lane) - 1));
    }
};

/// entries[column][word of the tile]: how many of a word's variables go to that list.
G16_DEVICE void count_entries(uint32_t* entries, const Members& members, const uint32_t* masks, uint32_t words) {
    uint32_t local = threadIdx.x % kWords, word = blockIdx.x * kWords + local;
    for (uint32_t column = threadIdx.x / kWords; column < kColumns; column += kWarps) {
        uint32_t mask = word < words ? masks[2 * (size_t)word + column % 2] & members.of(column / 2, word) : 0;
        entries[column * 33 + local] = (uint32_t)__popc(mask);
    }
}

/// The sum over the lanes up to this one.
G16_DEVICE uint32_t sum_upto(uint32_t value) {
    uint32_t lane = threadIdx.x % 32;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_sync(0xffffffff, value, (lane - step) & 31);
        if (lane >= step) value += other;
    }
    return value;
}

/// Where a query's entries go.
struct Lists {
    uint32_t* ones;
    uint32_t* picks;
    Fr* scalars;
};

}  // namespace split
}  // namespace g16

using g16::Fr;

G16_KERNEL(G16_SPLIT_THREADS, 4)
g16_split_masks(uint32_t* masks, uint32_t* places, const Fr* w, uint32_t count, uint32_t num_inputs, const uint32_t* a_bits,
                const uint32_t* b_bits) {
    using namespace g16::split;
    G16_SHARED(shared);
    uint32_t *entries = reinterpret_cast<uint32_t*>(shared), lane = threadIdx.x % 32;
    uint32_t words = count / 32 + (count % 32 != 0), begin = blockIdx.x * kWords;
    Members members = {a_bits, nullptr, b_bits, nullptr, num_inputs};
    // All loads are under way before the first is used.
    Fr values[kWords / kWarps];
    G16_UNROLL
    for (uint32_t j = 0; j < kWords / kWarps; j++) {
        uint32_t i = 32 * (begin + threadIdx.x / 32 + j * kWarps) + lane;
        values[j] = i < count ? g16::load(w + i) : Fr::zero();
    }
    G16_UNROLL
    for (uint32_t j = 0; j < kWords / kWarps; j++) {
        uint32_t word = begin + threadIdx.x / 32 + j * kWarps;
        bool one = values[j] == Fr::one(), rest = !one && !values[j].is_zero();
        uint32_t all_ones = __ballot_sync(0xffffffff, one), all_rest = __ballot_sync(0xffffffff, rest);
        if (lane < 2 && word < words) masks[2 * (size_t)word + lane] = lane == 0 ? all_ones : all_rest;
    }
    __syncthreads();
    count_entries(entries, members, masks, words);
    __syncthreads();
    uint32_t column = threadIdx.x / 32;
    if (column >= kColumns) return;
    uint32_t sum = sum_upto(entries[column * 33 + lane]);
    if (lane == 31) places[(size_t)column * gridDim.x + blockIdx.x] = sum;
}

G16_KERNEL(1024, 1) g16_split_places(uint32_t* places, uint32_t* counts, uint32_t tiles) {
    using namespace g16::split;
    G16_SHARED(shared);
    uint32_t *sums = reinterpret_cast<uint32_t*>(shared), *column = places + (size_t)blockIdx.x * tiles;
    uint32_t each = (tiles + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * each, sum = 0;
    uint32_t end = begin + each < tiles ? begin + each : tiles;
    for (uint32_t i = begin; i < end; i++) sum += column[i];
    uint32_t upto = sum_upto(sum), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 31) sums[warp] = upto;
    __syncthreads();
    if (warp == 0) {
        uint32_t here = sums[lane], all = sum_upto(here);
        sums[lane] = all - here;
        if (lane == 31) counts[blockIdx.x] = all;
    }
    __syncthreads();
    uint32_t place = sums[warp] + upto - sum;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t here = column[i];
        column[i] = place;
        place += here;
    }
}

G16_KERNEL(G16_SPLIT_THREADS, 4)
g16_split_scatter(const uint32_t* masks, const uint32_t* places, const Fr* w, uint32_t count, uint32_t num_inputs,
                  const uint32_t* a_bits, const uint32_t* a_ranks, const uint32_t* b_bits, const uint32_t* b_ranks,
                  uint32_t* l_ones, uint32_t* l_picks, Fr* l_scalars, uint32_t* a_ones, uint32_t* a_picks, Fr* a_scalars,
                  uint32_t* b_ones, uint32_t* b_picks, Fr* b_scalars) {
    using namespace g16::split;
    G16_SHARED(shared);
    uint32_t *entries = reinterpret_cast<uint32_t*>(shared), lane = threadIdx.x % 32;
    uint32_t words = count / 32 + (count % 32 != 0), begin = blockIdx.x * kWords;
    Members members = {a_bits, a_ranks, b_bits, b_ranks, num_inputs};
    count_entries(entries, members, masks, words);
    __syncthreads();
    uint32_t *rest_places = entries + kColumns * 33, *rest_list = rest_places + 33;
    for (uint32_t column = threadIdx.x / 32; column <= kColumns; column += kWarps) {
        bool all = column == kColumns;
        if (all) entries[column * 33 + lane] = begin + lane < words ? (uint32_t)__popc(masks[2 * (size_t)(begin + lane) + 1]) : 0;
        uint32_t here = entries[column * 33 + lane], upto = sum_upto(here);
        entries[column * 33 + lane] = (all ? 0 : places[(size_t)column * gridDim.x + blockIdx.x]) + upto - here;
        if (all && lane == 31) rest_places[32] = upto;
    }
    __syncthreads();
    const Lists lists[kQueries] = {{l_ones, l_picks, l_scalars}, {a_ones, a_picks, a_scalars}, {b_ones, b_picks, b_scalars}};
    for (uint32_t local = threadIdx.x / 32; local < kWords && begin + local < words; local += kWarps) {
        uint32_t word = begin + local, ones = masks[2 * (size_t)word], rest = masks[2 * (size_t)word + 1];
        uint32_t below = (1u << lane) - 1;
        if (rest >> lane & 1) rest_list[rest_places[local] + (uint32_t)__popc(rest & below)] = 32 * local + lane;
        if (!(ones >> lane & 1)) continue;
        G16_UNROLL
        for (uint32_t query = 0; query < kQueries; query++) {
            uint32_t member = members.of(query, word);
            if (lists[query].ones == nullptr || !(member >> lane & 1)) continue;
            uint32_t place = entries[2 * query * 33 + local] + (uint32_t)__popc(ones & member & below);
            lists[query].ones[place] = members.point(query, word, lane);
        }
    }
    __syncthreads();
    // What costs a product is done by full warps, however few of the variables it is.
    for (uint32_t k = threadIdx.x; k < rest_places[32]; k += blockDim.x) {
        uint32_t local = rest_list[k] / 32, at = rest_list[k] % 32, word = begin + local, rest = masks[2 * (size_t)word + 1];
        Fr scalar = g16::load(w + 32 * (size_t)word + at).to_canonical();
        G16_UNROLL
        for (uint32_t query = 0; query < kQueries; query++) {
            uint32_t member = members.of(query, word);
            if (lists[query].ones == nullptr || !(member >> at & 1)) continue;
            uint32_t place = entries[(2 * query + 1) * 33 + local] + (uint32_t)__popc(rest & member & ((1u << at) - 1));
            lists[query].picks[place] = members.point(query, word, at);
            g16::store(lists[query].scalars + place, scalar);
        }
    }
}

G16_KERNEL(256, 1) g16_to_canonical(Fr* out, const Fr* in, uint32_t count) {
    uint32_t i = g16::thread_number();
    if (i < count) g16::store(out + i, g16::load(in + i).to_canonical());
}

G16_KERNEL(256, 1) g16_read_scalars(Fr* values, uint32_t count, uint32_t is_canonical, uint32_t* first) {
    uint32_t i = g16::thread_number();
    if (i >= count) return;
    Fr value = g16::load(values + i), less;
    Fr::Math::reduce_once(less.word, value.word);
    if (less != value) {
        atomicMin(first, i);
        value = Fr::zero();
    } else if (is_canonical != 0) {
        value = value.from_canonical();
    } else {
        return;
    }
    g16::store(values + i, value);
}
