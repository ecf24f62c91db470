// Transforms by passes: each takes up to G16_SMALL_LOG levels of the transform through shared memory.
//
// An index of the vector of d elements is cut into fields, from the highest: d = 2^(k_1 + k_2 + ...). Pass i owns field i
// of k_i = rows_log bits and there are `low` bits below it. A tile is 2^rows_log rows, 2^low elements apart, times
// 2^columns_log columns, which are neighbours; where low = 0 a tile is simply contiguous, and its columns are whole
// vectors of 2^rows_log elements. One block takes one tile; it has
// exactly an eighth as many threads as the tile has elements.
//
// The inverse transform (decimation in frequency, W. M. Gentleman and G. Sande, 1966) takes the fields from the
// highest: it transforms each column, leaving frequency q at row reverse(q), and multiplies by the twist
// w^-(q n), n the index in the low bits, w a root of order 2^(low + rows_log). So natural order becomes bit-reversed order
// and nothing is ever moved. The forward transform (decimation in time, J. W. Cooley and J. W. Tukey, 1965) is the
// mirror: fields from the lowest, twist first, then columns from bit-reversed to natural order.
//
// Inside a tile, steps of three levels: a thread takes 8 elements of a column into registers, transforms them, and puts
// them back; the levels that are left over (rows_log mod 3) are a step of their own on 8 neighbours. Twiddles between
// the steps are powers of the root of order 2^G16_SMALL_LOG, from the table `small`.
//
// Elements are below 2 r between the steps and between the passes, and reduced by the last pass of a transform alone: a
// product with a reduced factor stays below 2 r without a subtraction (field/montgomery.h).
//
// Twists: `twists` holds that of row and index n at row << low | n where order = low + rows_log <= coarse_log. Else the exponent
// is cut into its lowest order - coarse_log bits and the others: those give an entry of `coarse`, all powers of the root
// of order 2^coarse_log, and the low ones with the row one of `twists`. A twist may carry a factor that depends on the row,
// and so the shift to the coset: g to the index of a coefficient is a product over the fields of its index.

#include "kernels.h"

using g16::copy_async;
using g16::Fr;
using g16::Quad;
using g16::wait_copies;

namespace {

/// Eight elements' places in bit-reversed order.
G16_DEVICE uint32_t reverse3(uint32_t j) {
    return ((j & 1) << 2) | (j & 2) | (j >> 2);
}

/// A tile in shared memory. The halves of an element lie in two planes, and every eighth place is left out, so that
/// quarter-warps touch all banks once, whatever the power of two that separates their elements.
struct Tile {
    Quad* low;
    Quad* high;
    uint32_t rows_log, columns_log;
    /// Element number of (row, column) = row << row_shift | column << column_shift.
    uint32_t row_shift, column_shift;

    G16_DEVICE Tile(Quad* shared, uint32_t rows_log, uint32_t columns_log, bool contiguous)
        : low(shared), rows_log(rows_log), columns_log(columns_log) {
        high = shared + slot(size()) + 4;
        row_shift = contiguous ? 0 : columns_log;
        column_shift = contiguous ? rows_log : 0;
    }
    G16_DEVICE uint32_t size() const { return 1u << (rows_log + columns_log); }
    G16_DEVICE static uint32_t slot(uint32_t e) { return e + (e >> 3); }
    G16_DEVICE Fr get(uint32_t e) const {
        Quad l = low[slot(e)], h = high[slot(e)];
        return {{l.x, l.y, l.z, l.w, h.x, h.y, h.z, h.w}};
    }
    G16_DEVICE void put(uint32_t e, const Fr& value) const {
        low[slot(e)] = {value.word[0], value.word[1], value.word[2], value.word[3]};
        high[slot(e)] = {value.word[4], value.word[5], value.word[6], value.word[7]};
    }
    /// Quad i of the tile in the order of its elements.
    G16_DEVICE Quad& quad(uint32_t i) const {
        Quad* plane = i & 1 ? high : low;
        return plane[slot(i >> 1)];
    }
};

/// Where a tile's elements are in the vector.
struct Place {
    /// Of the tile's first element.
    size_t base;
    /// The bits below the rows of the first column's index.
    uint32_t column;
    uint32_t low, run_log;

    /// Tile number `index` of a pass with `low` bits below its rows.
    G16_DEVICE Place(const Tile& tile, uint32_t index, uint32_t low) : low(low) {
        if (low == 0) {
            base = (size_t)index << (tile.rows_log + tile.columns_log);
            column = 0;
            run_log = tile.rows_log + tile.columns_log;
        } else {
            uint32_t groups_log = low - tile.columns_log;
            column = (index & ((1u << groups_log) - 1)) << tile.columns_log;
            base = ((size_t)(index >> groups_log) << (low + tile.rows_log)) + column;
            run_log = tile.columns_log;
        }
    }
    /// The quad of the vector that is quad i of the tile.
    G16_DEVICE size_t quad(uint32_t i) const {
        uint32_t run = i >> (run_log + 1), rest = i & ((2u << run_log) - 1);
        return 2 * (base + ((size_t)run << low)) + rest;
    }
};

G16_DEVICE void load_tile(const Tile& tile, const Place& place, const Fr* data) {
    const Quad* quads = reinterpret_cast<const Quad*>(data);
    for (uint32_t i = threadIdx.x; i < 2 * tile.size(); i += blockDim.x) copy_async(&tile.quad(i), quads + place.quad(i));
    wait_copies();
}

G16_DEVICE void store_tile(const Tile& tile, const Place& place, Fr* data) {
    Quad* quads = reinterpret_cast<Quad*>(data);
    for (uint32_t i = threadIdx.x; i < 2 * tile.size(); i += blockDim.x) quads[place.quad(i)] = tile.quad(i);
}

/// Power `exponent` of the root of order 2^log_order, of its inverse if `inverse`.
template <bool inverse>
G16_DEVICE uint32_t small_index(uint32_t exponent, uint32_t log_order) {
    uint32_t index = exponent << (G16_SMALL_LOG - log_order);
    return inverse ? (0u - index) & ((1u << G16_SMALL_LOG) - 1) : index;
}

/// (a, b) to (a + b, a - b), modulo 2 r.
G16_DEVICE void butterfly(Fr& a, Fr& b) {
    Fr x = a, y = b;
    Fr::Math::add_lazy(a.word, x.word, y.word);
    Fr::Math::subtract_lazy(b.word, x.word, y.word);
}

/// `factor`, reduced, times `value`, below 2 r; so is the result.
G16_DEVICE Fr times(const Fr& factor, const Fr& value) {
    return Fr::multiply_unreduced(factor, value);
}

/// The last `levels` levels, 1 to 3, of the inverse transform of 8 elements, natural to bit-reversed order.
template <int levels>
G16_DEVICE void inverse8(Fr (&x)[8], const Fr* small) {
    if constexpr (levels >= 3) {
        G16_UNROLL
        for (int j = 0; j < 4; j++) {
            butterfly(x[j], x[j + 4]);
            if (j > 0) x[j + 4] = times(g16::load(small + small_index<true>(j, 3)), x[j + 4]);
        }
    }
    if constexpr (levels >= 2) {
        Fr fourth = g16::load(small + small_index<true>(1, 2));
        G16_UNROLL
        for (int block = 0; block < 8; block += 4) {
            butterfly(x[block], x[block + 2]);
            butterfly(x[block + 1], x[block + 3]);
            x[block + 3] = times(fourth, x[block + 3]);
        }
    }
    G16_UNROLL
    for (int j = 0; j < 8; j += 2) butterfly(x[j], x[j + 1]);
}

/// The first `levels` levels of the forward transform of 8 elements, bit-reversed to natural order.
template <int levels>
G16_DEVICE void forward8(Fr (&x)[8], const Fr* small) {
    G16_UNROLL
    for (int j = 0; j < 8; j += 2) butterfly(x[j], x[j + 1]);
    if constexpr (levels >= 2) {
        Fr fourth = g16::load(small + small_index<false>(1, 2));
        G16_UNROLL
        for (int block = 0; block < 8; block += 4) {
            butterfly(x[block], x[block + 2]);
            x[block + 3] = times(fourth, x[block + 3]);
            butterfly(x[block + 1], x[block + 3]);
        }
    }
    if constexpr (levels >= 3) {
        G16_UNROLL
        for (int j = 0; j < 4; j++) {
            if (j > 0) x[j + 4] = times(g16::load(small + small_index<false>(j, 3)), x[j + 4]);
            butterfly(x[j], x[j + 4]);
        }
    }
}

/// The eight elements that a thread takes in a step: those of one column whose rows differ in three bits.
struct Group {
    uint32_t first, stride, below;

    /// Group number g; the three bits stand above `shift` others of the row.
    G16_DEVICE Group(const Tile& tile, uint32_t g, uint32_t shift) {
        uint32_t rest_log = tile.rows_log - 3, column, rest;
        if (tile.row_shift == 0) {
            rest = g & ((1u << rest_log) - 1);
            column = g >> rest_log;
        } else {
            column = g & ((1u << tile.columns_log) - 1);
            rest = g >> tile.columns_log;
        }
        below = rest & ((1u << shift) - 1);
        uint32_t row = ((rest >> shift) << (shift + 3)) | below;
        first = (row << tile.row_shift) | (column << tile.column_shift);
        stride = 1u << (shift + tile.row_shift);
    }
};

/// Multiplies the elements of a group by the twiddles of a step: element j by root^(+-reverse(j) below), root of order
/// 2^(shift + 3).
template <bool inverse>
G16_DEVICE void twiddle8(Fr (&x)[8], const Group& group, uint32_t shift, const Fr* small) {
    G16_UNROLL
    for (int j = 1; j < 8; j++) {
        uint32_t index = small_index<inverse>(reverse3(j) * group.below, shift + 3);
        x[j] = times(g16::load(small + index), x[j]);
    }
}

/// `levels` levels of a group, with the twiddles between them and the `shift` levels below if `twiddles`. All variants
/// are straight code: ptxas takes accumulating products apart where their operands come from two branches.
template <bool inverse, int levels, bool twiddles>
G16_DEVICE void step8(const Tile& tile, uint32_t g, uint32_t shift, const Fr* small) {
    Group group(tile, g, shift);
    Fr x[8];
    G16_UNROLL
    for (int j = 0; j < 8; j++) x[j] = tile.get(group.first + j * group.stride);
    if constexpr (inverse) {
        inverse8<levels>(x, small);
        if constexpr (twiddles) twiddle8<inverse>(x, group, shift, small);
    } else {
        if constexpr (twiddles) twiddle8<inverse>(x, group, shift, small);
        forward8<levels>(x, small);
    }
    G16_UNROLL
    for (int j = 0; j < 8; j++) tile.put(group.first + j * group.stride, x[j]);
}

/// The step on groups of 8 neighbours, which takes `levels` levels.
template <bool inverse>
G16_DEVICE void lowest_step(const Tile& tile, uint32_t g, uint32_t levels, const Fr* small) {
    if (levels == 3) step8<inverse, 3, false>(tile, g, 0, small);
    else if (levels == 2) step8<inverse, 2, false>(tile, g, 0, small);
    else step8<inverse, 1, false>(tile, g, 0, small);
}

/// Transforms the columns, natural to bit-reversed order. Begins and ends without a barrier.
G16_DEVICE void inverse_columns(const Tile& tile, const Fr* small) {
    uint32_t left = tile.rows_log;
    G16_ROLLED
    while (left > 3) {
        left -= 3;
        step8<true, 3, true>(tile, threadIdx.x, left, small);
        __syncthreads();
    }
    lowest_step<true>(tile, threadIdx.x, left, small);
}

/// Transforms the columns, bit-reversed to natural order. Begins and ends without a barrier.
G16_DEVICE void forward_columns(const Tile& tile, const Fr* small) {
    uint32_t done = tile.rows_log % 3 == 0 ? 3 : tile.rows_log % 3;
    lowest_step<false>(tile, threadIdx.x, done, small);
    G16_ROLLED
    for (; done < tile.rows_log; done += 3) {
        __syncthreads();
        step8<false, 3, true>(tile, threadIdx.x, done, small);
    }
}

/// Where twists come from, see above.
struct Twists {
    const Fr* coarse;
    uint32_t coarse_log;
    const Fr* twists;
};

/// Takes a tile's elements from below 2 r to below r.
G16_DEVICE void reduce_tile(const Tile& tile) {
    for (uint32_t e = threadIdx.x; e < tile.size(); e += blockDim.x) {
        Fr value = tile.get(e);
        Fr::Math::reduce_once(value.word, value.word);
        tile.put(e, value);
    }
    __syncthreads();
}

/// The twists of a tile. `split` must be whether there are low parts: a template, since ptxas takes an accumulating
/// product apart where its operands come from two branches.
template <bool inverse, bool split>
G16_DEVICE void twist_tile_by(const Tile& tile, const Place& place, const Twists& twists) {
    uint32_t order = place.low + tile.rows_log;
    uint32_t rest_log = order - twists.coarse_log;
    auto fetch = [&](uint32_t e, Fr& high, Fr& low) {
        // Beyond the tile, any twist will do.
        uint32_t row = (e >> tile.columns_log) & ((1u << tile.rows_log) - 1);
        uint32_t n = place.column + (e & ((1u << tile.columns_log) - 1));
        if constexpr (!split) {
            high = g16::load(twists.twists + ((row << place.low) | n));
        } else {
            uint32_t exponent = g16::reverse_bits(row, tile.rows_log) * n;
            if (inverse) exponent = (0u - exponent) & ((1u << order) - 1);
            high = g16::load(twists.coarse + (exponent >> rest_log));
            low = g16::load(twists.twists + ((row << rest_log) | (exponent & ((1u << rest_log) - 1))));
        }
    };
    // The next twist is on its way while this one is multiplied by; beyond the tile it is some other one.
    Fr next_high, next_low;
    fetch(threadIdx.x, next_high, next_low);
    G16_ROLLED
    for (uint32_t e = threadIdx.x; e < tile.size(); e += blockDim.x) {
        Fr high = next_high, low = next_low;
        fetch(e + blockDim.x, next_high, next_low);
        Fr value = times(high, tile.get(e));
        if constexpr (split) value = times(low, value);
        tile.put(e, value);
    }
}

template <bool inverse>
G16_DEVICE void twist_tile(const Tile& tile, const Place& place, const Twists& twists) {
    if (place.low + tile.rows_log > twists.coarse_log) twist_tile_by<inverse, true>(tile, place, twists);
    else twist_tile_by<inverse, false>(tile, place, twists);
}

/// The factors of contiguous elements, by their rows.
G16_DEVICE void scale_tile(const Tile& tile, const Fr* factors) {
    auto fetch = [&](uint32_t e) { return g16::load(factors + (e & ((1u << tile.rows_log) - 1))); };
    Fr next = fetch(threadIdx.x);
    G16_ROLLED
    for (uint32_t e = threadIdx.x; e < tile.size(); e += blockDim.x) {
        Fr factor = next;
        next = fetch(e + blockDim.x);
        tile.put(e, times(factor, tile.get(e)));
    }
}

}  // namespace

G16_KERNEL(G16_PASS_THREADS, G16_PASS_BLOCKS)
g16_inverse_pass(Fr* data, uint32_t rows_log, uint32_t columns_log, uint32_t low, const Fr* small, const Fr* coarse,
                 uint32_t coarse_log, const Fr* twists) {
    G16_SHARED(shared);
    Tile tile(shared, rows_log, columns_log, false);
    Place place(tile, blockIdx.x, low);
    load_tile(tile, place, data);
    __syncthreads();
    inverse_columns(tile, small);
    __syncthreads();
    twist_tile<true>(tile, place, Twists{coarse, coarse_log, twists});
    __syncthreads();
    store_tile(tile, place, data);
}

G16_KERNEL(G16_PASS_THREADS, G16_PASS_BLOCKS)
g16_forward_pass(Fr* data, uint32_t rows_log, uint32_t columns_log, uint32_t low, const Fr* small, const Fr* coarse,
                 uint32_t coarse_log, const Fr* twists, uint32_t last) {
    G16_SHARED(shared);
    Tile tile(shared, rows_log, columns_log, false);
    Place place(tile, blockIdx.x, low);
    load_tile(tile, place, data);
    __syncthreads();
    twist_tile<false>(tile, place, Twists{coarse, coarse_log, twists});
    __syncthreads();
    forward_columns(tile, small);
    __syncthreads();
    if (last) reduce_tile(tile);
    store_tile(tile, place, data);
}

G16_KERNEL(G16_PASS_THREADS, G16_PASS_BLOCKS)
g16_contiguous_pass(Fr* data, uint32_t rows_log, uint32_t columns_log, uint32_t mode, const Fr* small,
                    const Fr* factors) {
    G16_SHARED(shared);
    Tile tile(shared, rows_log, columns_log, true);
    Place place(tile, blockIdx.x, 0);
    load_tile(tile, place, data);
    __syncthreads();
    if (mode & 1) {
        inverse_columns(tile, small);
        __syncthreads();
    }
    if (mode & 2) {
        scale_tile(tile, factors);
        __syncthreads();
    }
    if (mode & 4) {
        forward_columns(tile, small);
        __syncthreads();
    }
    if (mode & 8) reduce_tile(tile);
    store_tile(tile, place, data);
}
