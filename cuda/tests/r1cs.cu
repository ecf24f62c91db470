// Evaluations of constraint systems: Python's vectors, shapes of all kinds against the definition, and the systems of real
// circuits from iden3's files.

#include "../kernel/r1cs_kernels.h"

#include "iden3.h"
#include "random.h"
#include "suite.h"

namespace g16 {
namespace {

std::vector<Fr> expected(const Matrix& m, const std::vector<Fr>& table, const std::vector<Fr>& w, uint32_t added, uint32_t size) {
    std::vector<Fr> out(size, Fr::zero());
    for (uint32_t row = 0; row < m.rows(); row++) {
        for (uint32_t k = m.row_starts[row]; k < m.row_starts[row + 1]; k++) {
            out[row] = out[row] + table[m.coefficients[k]] * w[m.columns[k]];
        }
    }
    for (uint32_t i = 0; i < added; i++) out[m.rows() + i] = w[i];
    return out;
}

/// The same on the device; memory that a launch must not touch keeps its pattern, which the caller compares.
std::vector<Fr> evaluated(const Matrix& m, const std::vector<Fr>& table, const std::vector<Fr>& w, uint32_t added, uint32_t size) {
    uint32_t rows = m.rows(), tiles = (uint32_t)((rows + m.columns.size() + G16_R1CS_TILE - 1) / G16_R1CS_TILE);
    Memory<uint32_t> starts(m.row_starts), columns(m.columns), coefficients(m.coefficients), tile_rows(tiles + 1);
    Memory<Fr> entries(table), values(w), out(size), carries(tiles);
    launch(g16_r1cs_tiles, tiles / 256 + 1, 256, tile_rows.data(), starts.data(), rows, tiles);
    if (tiles > 0) {
        launch_shared(g16_r1cs_rows, tiles, G16_R1CS_THREADS, G16_R1CS_SHARED, out.data(), carries.data(), values.data(),
                      starts.data(), columns.data(), coefficients.data(), entries.data(), tile_rows.data(), rows);
        launch(g16_r1cs_join, (32 * tiles + 127) / 128, 128, out.data(), carries.data(), starts.data(), tile_rows.data(), rows, tiles);
    }
    if (size > rows) launch(g16_r1cs_tail, (size - rows + 255) / 256, 256, out.data(), values.data(), rows, added, size);
    wait();
    return out.read();
}

bool same(const std::vector<Fr>& a, const std::vector<Fr>& b) {
    return a.size() == b.size() && (a.empty() || memcmp((const void*)a.data(), (const void*)b.data(), a.size() * sizeof(Fr)) == 0);
}

std::vector<Fr> elements(uint64_t seed, size_t count) {
    std::vector<Fr> out(count);
    for (size_t i = 0; i < count; i++) {
        for (int word = 0; word < 8; word++) out[i].word[word] = (uint32_t)(mixed(seed, 8 * i + word) >> 32);
        out[i].word[7] &= 0x3fffffff;
        if (i % 7 == 3) out[i] = Fr::zero();
        if (i % 7 == 4) out[i] = Fr::zero() - Fr::one();
    }
    if (count > 0) out[0] = Fr::one();
    return out;
}

struct Problem {
    std::vector<Fr> table, w;
    explicit Problem(uint32_t variables) : table(elements(3, 50)), w(elements(4, variables)) { table[1] = Fr::zero() - table[0]; }
    uint32_t variables() const { return (uint32_t)w.size(); }

    /// A term of row `row`: mostly 1 or -1, as `percent` says.
    void add(Matrix& m, uint64_t dice, uint32_t percent) const {
        uint32_t kind = (uint32_t)(dice >> 40) % 100;
        m.add((uint32_t)dice % variables(), kind < percent ? kind % 2 : (uint32_t)(dice >> 50) % table.size());
    }
    void check(const Matrix& m, uint32_t added, uint32_t more, const std::string& what, Results& results) const {
        uint32_t size = m.rows() + added + more;
        bool good = same(evaluated(m, table, w, added, size), expected(m, table, w, added, size));
        results.add(good, "r1cs, " + what + ", " + std::to_string(m.rows()) + " rows, " + std::to_string(m.columns.size()) + " terms");
    }
};

/// Rows of lengths that `length` gives by their number.
template <class Length>
Matrix matrix(const Problem& problem, uint32_t rows, uint32_t percent, Length length) {
    Matrix out;
    uint64_t term = 0;
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t k = length(row); k > 0; k--) problem.add(out, mixed(5, term++), percent);
        out.end_row();
    }
    return out;
}

/// About Spend's matrix A, or B: see bench/circuit.cu.
uint32_t spend_length(bool b, uint32_t row) {
    uint64_t dice = mixed(b ? 8 : 9, row) % 10000;
    if (b) return dice < 9865 ? 1 : dice < 9987 ? 2 : 0;
    if (dice < 10) return 256 + (uint32_t)dice * 32;
    return dice < 3720 ? 1 : dice < 8100 ? 2 : dice < 8230 ? 3 : 4 + (uint32_t)dice % 2;
}

void shapes(bool emulated, Results& results) {
    Problem problem(777);
    const uint32_t tile = G16_R1CS_TILE;
    for (uint32_t rows : {0u, 1u, 2u, 3u, 31u, 32u, 33u, 511u, 512u, 513u, 1023u, 1024u, 1025u, 2047u, 2049u}) {
        problem.check(matrix(problem, rows, 90, [](uint32_t) { return 1u; }), rows % 3, rows % 5, "one term a row", results);
        problem.check(matrix(problem, rows, 50, [](uint32_t row) { return row % 5; }), 2, 0, "up to four terms a row", results);
        problem.check(matrix(problem, rows, 50, [](uint32_t) { return 0u; }), 1, 3, "empty rows", results);
    }
    // One row of all terms: alone, first, last, between empty rows.
    for (uint32_t terms : {1u, 15u, 16u, 17u, 31u, 32u, 33u, tile - 2, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 5 * tile + 7}) {
        for (uint32_t rows : {1u, 2u, 40u}) {
            for (uint32_t where : {0u, rows / 2, rows - 1}) {
                auto length = [&](uint32_t row) { return row == where ? terms : 0u; };
                problem.check(matrix(problem, rows, 60, length), 0, 1, "one row of all terms", results);
            }
        }
    }
    problem.check(matrix(problem, 90, 0, [](uint32_t row) { return row * 3; }), 3, 5, "growing rows", results);
    problem.check(matrix(problem, 90, 100, [](uint32_t row) { return (89 - row) * 3; }), 3, 5, "falling rows", results);
    for (uint32_t each : {15u, 16u, 17u, 18u, 255u, 1023u, 1024u}) {
        problem.check(matrix(problem, 20, 70, [&](uint32_t) { return each; }), 3, 5, "equal rows", results);
    }
    problem.check(matrix(problem, 30, 70, [&](uint32_t row) { return row % 2 ? 3000u : 0u; }), 3, 5, "long and empty rows", results);
    for (uint32_t rows : {3000u, emulated ? 9000u : 300000u}) {
        problem.check(matrix(problem, rows, 45, [](uint32_t row) { return spend_length(false, row); }), 8, 0, "as Spend's A", results);
        problem.check(matrix(problem, rows, 99, [](uint32_t row) { return spend_length(true, row); }), 0, 8, "as Spend's B", results);
    }
}

}  // namespace

void run_r1cs_section(const Section& section, Results& results) {
    auto [rows, terms, variables, sizes] = section.parameters;
    uint32_t added = sizes & 0xffff, size = sizes >> 16;
    const uint32_t* from = section.input.data();
    auto take = [&](auto& out, size_t count) {
        out.resize(count);
        size_t words = count * sizeof(out[0]) / 4;
        if (count > 0) memcpy((void*)out.data(), from, 4 * words);
        from += words;
    };
    Matrix m;
    std::vector<Fr> table, w, out;
    take(m.row_starts, rows + 1);
    take(m.columns, terms);
    take(m.coefficients, terms);
    take(w, variables);
    take(table, (section.input_words - (from - section.input.data())) / 8);
    from = section.output.data();
    take(out, size);
    results.add(same(evaluated(m, table, w, added, size), out), "r1cs of " + std::to_string(rows) + " rows");
}

void run_r1cs(bool emulated, Results& results) {
    shapes(emulated, results);
}

void run_r1cs_large(uint32_t log_size, Results& results) {
    uint32_t rows = 1u << log_size;
    Problem problem(rows);
    problem.check(matrix(problem, rows - 8, 45, [](uint32_t row) { return spend_length(false, row); }), 8, 0, "as Spend's A", results);
    problem.check(matrix(problem, rows - 8, 99, [](uint32_t row) { return spend_length(true, row); }), 0, 8, "as Spend's B", results);
    problem.check(matrix(problem, 2, 50, [&](uint32_t row) { return row * 2 * rows; }), 0, 0, "one row of all terms", results);
    problem.check(matrix(problem, rows, 50, [&](uint32_t row) { return row == rows / 2 ? rows : 0; }), 0, 0, "the same and empty ones", results);
}

void run_circuit_files(const char* circuit_path, const char* witness_path, Results& results) {
    Circuit circuit = read_circuit(circuit_path);
    std::vector<Fr> w = read_witness(witness_path), out[3];
    uint32_t rows = circuit.matrices[0].rows(), log_size = 0;
    while (1u << log_size < rows + circuit.inputs) log_size++;
    for (int m = 0; m < 3; m++) {
        uint32_t added = m == 0 ? circuit.inputs : 0;
        out[m] = evaluated(circuit.matrices[m], circuit.table, w, added, 1u << log_size);
        bool good = same(out[m], expected(circuit.matrices[m], circuit.table, w, added, 1u << log_size));
        results.add(good, std::string(circuit_path) + ", matrix " + "ABC"[m]);
    }
    // The witness satisfies its circuit: whatever evaluated wrong would hardly do so.
    bool satisfied = true;
    for (uint32_t row = 0; row < 1u << log_size; row++) satisfied = satisfied && out[0][row] * out[1][row] == out[2][row];
    results.add(satisfied, std::string(circuit_path) + " is satisfied");
}

}  // namespace g16
