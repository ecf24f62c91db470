// The kernels that evaluate a rank-1 constraint system: out = M w, one element a row.
//
// The matrix M is resident, in compressed rows: `row_starts` (rows + 1 numbers, the first 0, the last the number of terms, at
// most 2^31), `columns` (a variable a term), `coefficients` (an index into `table` a term). table[0] is 1 and table[1] is -1;
// neither is ever read, since those terms cost no product. Elements are Fr in Montgomery form, reduced, 32 bytes, aligned to
// 16. A row may name a variable twice, and may be empty.
//
// Balance. Rows and terms make one sequence, each row after its terms, which is cut into tiles of G16_R1CS_TILE (merge path:
// D. Merrill and M. Garland, "Merge-based parallel sparse matrix-vector multiplication", 2016). So a tile never holds more
// than that many terms and rows, whatever the rows' lengths are. A row that begins in an earlier tile leaves a carry, which a
// second launch adds. Sums in a field do not depend on their order, so results are equal from run to run.
//
// Once a matrix, after its upload:
//     g16_r1cs_tiles    blocks: (tiles + 1) / 256 rounded up, threads: 256
// For each witness, in this order (`tail` may run beside):
//     g16_r1cs_rows     blocks: tiles, threads: G16_R1CS_THREADS, shared bytes: G16_R1CS_SHARED
//     g16_r1cs_join     blocks: 32 tiles / 128 rounded up, threads: 128
//     g16_r1cs_tail     blocks: (size - rows) / 256 rounded up, threads: 256
// with tiles = (rows + terms) / G16_R1CS_TILE rounded up; launches of no blocks are left out. rows + terms is below
// 2^32 - G16_R1CS_TILE.
//
// Workspace: tile_rows, 4 (tiles + 1) bytes, which stays with the matrix; carries, 32 tiles bytes, which matrices that are
// evaluated one after the other may share.
#ifndef G16_KERNEL_R1CS_KERNELS_H
#define G16_KERNEL_R1CS_KERNELS_H

#include "kernel.h"

/// Rows and terms of one tile, and threads of its block.
#define G16_R1CS_TILE 1024
#define G16_R1CS_THREADS 256
/// Terms of a row that one thread adds up, at most; longer ones, of which a tile has G16_R1CS_TILE / (G16_R1CS_SHORT + 1) at
/// most, take a warp.
#define G16_R1CS_SHORT 16
/// Dynamic shared memory of a tile: its products, the list of its long rows and their number.
#define G16_R1CS_SHARED (32 * G16_R1CS_TILE + 256)

extern "C" {

/// tile_rows[t], t from 0 to `tiles`: the rows that end before tile t. Its first term is min(t G16_R1CS_TILE, rows + terms) -
/// tile_rows[t].
G16_GLOBAL void g16_r1cs_tiles(uint32_t* tile_rows, const uint32_t* row_starts, uint32_t rows, uint32_t tiles);
/// out[row] = sum of table[coefficients[k]] w[columns[k]] over the terms k of the row, for those that lie in the tile where the
/// row begins; carries[t] = the sum of those of tile t that belong to a row which began before, where there is one.
/// `w` has an element for every variable that a column names.
G16_GLOBAL void g16_r1cs_rows(g16::Fr* out, g16::Fr* carries, const g16::Fr* w, const uint32_t* row_starts,
                              const uint32_t* columns, const uint32_t* coefficients, const g16::Fr* table,
                              const uint32_t* tile_rows, uint32_t rows);
/// Adds the carries to their rows.
G16_GLOBAL void g16_r1cs_join(g16::Fr* out, const g16::Fr* carries, const uint32_t* row_starts, const uint32_t* tile_rows,
                              uint32_t rows, uint32_t tiles);
/// The rows that a key's form appends, and the padding: out[rows + i] = w[i] for i below `added` (0 for the matrix B), and
/// zero from there to `size`, at least rows + added.
G16_GLOBAL void g16_r1cs_tail(g16::Fr* out, const g16::Fr* w, uint32_t rows, uint32_t added, uint32_t size);

}  // extern "C"

#endif
