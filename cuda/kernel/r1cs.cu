// Products of a sparse matrix with a vector, by tiles of equal work. r1cs_kernels.h says what each kernel does.

#include "r1cs_kernels.h"

namespace g16 {
namespace r1cs {

constexpr uint32_t kTile = G16_R1CS_TILE, kThreads = G16_R1CS_THREADS, kEach = kTile / kThreads, kWarps = kThreads / 32;
constexpr uint32_t kPlusOne = 0, kMinusOne = 1;

/// The products of a tile, as halves of 16 bytes so that neighbours lie in different banks.
struct Products {
    Quad *low, *high;

    G16_DEVICE explicit Products(Quad* shared) : low(shared), high(shared + kTile) {}
    G16_DEVICE void set(uint32_t i, const Fr& value) const {
        low[i] = {value.word[0], value.word[1], value.word[2], value.word[3]};
        high[i] = {value.word[4], value.word[5], value.word[6], value.word[7]};
    }
    G16_DEVICE Fr get(uint32_t i) const {
        Quad a = low[i], b = high[i];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
};

/// The sum of the values of the warp's lanes, on all of them.
G16_DEVICE Fr warp_sum(Fr sum) {
    G16_ROLLED
    for (uint32_t mask = 16; mask > 0; mask /= 2) {
        Fr other;
        G16_UNROLL
        for (int i = 0; i < Fr::n; i++) other.word[i] = __shfl_xor_sync(0xffffffff, sum.word[i], mask);
        sum = sum + other;
    }
    return sum;
}

/// The products of terms [begin, begin + count) of the matrix.
G16_DEVICE void multiply(const Products& products, const Fr* w, const uint32_t* columns, const uint32_t* coefficients,
                         const Fr* table, uint32_t begin, uint32_t count) {
    Fr values[kEach];
    uint32_t factors[kEach];
    // All loads are under way before the first is used.
    G16_UNROLL
    for (uint32_t j = 0; j < kEach; j++) {
        uint32_t i = threadIdx.x + j * kThreads;
        factors[j] = kPlusOne;
        if (i < count) {
            factors[j] = coefficients[begin + i];
            values[j] = load(w + columns[begin + i]);
        }
    }
    G16_UNROLL
    for (uint32_t j = 0; j < kEach; j++) {
        uint32_t i = threadIdx.x + j * kThreads;
        if (i >= count) continue;
        if (factors[j] == kMinusOne) values[j] = -values[j];
        else if (factors[j] != kPlusOne) values[j] = load(table + factors[j]) * values[j];
        products.set(i, values[j]);
    }
}

/// The rows of a tile.
struct Rows {
    const uint32_t* starts;
    uint32_t first, count, begin, end;

    /// What row `first` + j has in the tile, counted from the tile's first term.
    G16_DEVICE void range(uint32_t j, uint32_t& from, uint32_t& to) const {
        uint32_t low = starts[first + j], high = starts[first + j + 1];
        from = (low > begin ? low : begin) - begin;
        to = (high < end ? high : end) - begin;
    }
    G16_DEVICE void store_sum(Fr* out, Fr* carry, uint32_t j, const Fr& sum) const {
        store(j == 0 && starts[first] < begin ? carry : out + first + j, sum);
    }
};

}  // namespace r1cs
}  // namespace g16

using g16::Fr;

G16_KERNEL(256, 1) g16_r1cs_tiles(uint32_t* tile_rows, const uint32_t* row_starts, uint32_t rows, uint32_t tiles) {
    uint32_t tile = g16::thread_number();
    if (tile > tiles) return;
    // The last row r with row_starts[r] + r up to here, which grows with r and is 0 for the first.
    uint64_t here = (uint64_t)tile * G16_R1CS_TILE;
    uint32_t low = 0, high = rows;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if ((uint64_t)row_starts[middle] + middle <= here) low = middle;
        else high = middle - 1;
    }
    tile_rows[tile] = low;
}

G16_KERNEL(G16_R1CS_THREADS, 4)
g16_r1cs_rows(Fr* out, Fr* carries, const Fr* w, const uint32_t* row_starts, const uint32_t* columns,
              const uint32_t* coefficients, const Fr* table, const uint32_t* tile_rows, uint32_t rows) {
    using namespace g16::r1cs;
    G16_SHARED(shared);
    Products products(shared);
    uint32_t *long_rows = reinterpret_cast<uint32_t*>(shared + 2 * kTile), *long_count = long_rows + 63;
    uint32_t first = tile_rows[blockIdx.x], last = tile_rows[blockIdx.x + 1], terms = row_starts[rows];
    uint64_t next_tile = (uint64_t)(blockIdx.x + 1) * kTile, all = (uint64_t)rows + terms;
    uint32_t begin = blockIdx.x * kTile - first, end = (uint32_t)((next_tile < all ? next_tile : all) - last);
    // Row `last` does not end here, but may have begun.
    bool begun = last < rows && end > row_starts[last];
    Rows tile = {row_starts, first, last - first + (begun ? 1 : 0), begin, end};
    if (threadIdx.x == 0) *long_count = 0;
    multiply(products, w, columns, coefficients, table, begin, end - begin);
    __syncthreads();
    Fr* carry = carries + blockIdx.x;
    for (uint32_t j = threadIdx.x; j < tile.count; j += kThreads) {
        uint32_t from, to;
        tile.range(j, from, to);
        if (to - from > G16_R1CS_SHORT) {
            long_rows[atomicAdd(long_count, 1u)] = j;
            continue;
        }
        Fr sum = from < to ? products.get(from) : Fr::zero();
        G16_ROLLED
        for (uint32_t i = from + 1; i < to; i++) sum = sum + products.get(i);
        tile.store_sum(out, carry, j, sum);
    }
    __syncthreads();
    for (uint32_t at = threadIdx.x / 32; at < *long_count; at += kWarps) {
        uint32_t j = long_rows[at], from, to;
        tile.range(j, from, to);
        Fr sum = Fr::zero();
        G16_ROLLED
        for (uint32_t i = from + threadIdx.x % 32; i < to; i += 32) sum = sum + products.get(i);
        sum = warp_sum(sum);
        if (threadIdx.x % 32 == 0) tile.store_sum(out, carry, j, sum);
    }
}

G16_KERNEL(128, 1)
g16_r1cs_join(Fr* out, const Fr* carries, const uint32_t* row_starts, const uint32_t* tile_rows, uint32_t rows,
              uint32_t tiles) {
    constexpr uint32_t kTile = G16_R1CS_TILE;
    uint32_t tile = g16::thread_number() / 32, lane = threadIdx.x % 32;
    if (tile == 0 || tile >= tiles) return;
    uint32_t row = tile_rows[tile];
    // A row that began before this tile, but not before the one before: its first carry is here.
    if (row >= rows || tile * kTile - row <= row_starts[row]) return;
    if (tile_rows[tile - 1] == row && (tile - 1) * kTile - row > row_starts[row]) return;
    uint32_t last = (uint32_t)(((uint64_t)row_starts[row + 1] + row) / kTile);
    Fr sum = lane == 0 ? g16::load(out + row) : Fr::zero();
    for (uint32_t i = tile + lane; i <= last; i += 32) sum = sum + g16::load(carries + i);
    sum = g16::r1cs::warp_sum(sum);
    if (lane == 0) g16::store(out + row, sum);
}

G16_KERNEL(256, 1) g16_r1cs_tail(Fr* out, const Fr* w, uint32_t rows, uint32_t added, uint32_t size) {
    uint32_t i = g16::thread_number();
    if (i >= size - rows) return;
    g16::store(out + rows + i, i < added ? g16::load(w + i) : Fr::zero());
}
