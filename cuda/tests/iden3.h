// The matrices of a circuit and a witness from iden3's files (.r1cs, .wtns), for tests and benches: files that are trusted.
#ifndef G16_TESTS_IDEN3_H
#define G16_TESTS_IDEN3_H

#include <array>
#include <map>
#include <string>

#include "device.h"

namespace g16 {

/// A matrix in compressed rows, as r1cs_kernels.h has it.
struct Matrix {
    std::vector<uint32_t> row_starts{0}, columns, coefficients;

    uint32_t rows() const { return (uint32_t)row_starts.size() - 1; }
    void end_row() { row_starts.push_back((uint32_t)columns.size()); }
    void add(uint32_t column, uint32_t coefficient) {
        columns.push_back(column);
        coefficients.push_back(coefficient);
    }
};

struct Circuit {
    /// A, B, C and the table of their coefficients, in Montgomery form; the first two are 1 and -1.
    Matrix matrices[3];
    std::vector<Fr> table;
    /// Inputs with the constant one, and all variables.
    uint32_t inputs = 0, variables = 0;
};

/// A file of iden3's sections.
class Iden3File {
  public:
    explicit Iden3File(const char* path) : path_(path) {
        FILE* file = fopen(path, "rb");
        if (file == nullptr) stop(path, "cannot be opened");
        fseek(file, 0, SEEK_END);
        bytes_.resize((size_t)ftell(file));
        rewind(file);
        if (fread(bytes_.data(), 1, bytes_.size(), file) != bytes_.size()) stop(path, "cannot be read");
        fclose(file);
        size_t at = 12;
        for (uint32_t i = number(8); i > 0; i--) {
            size_t size = (size_t)number(at + 4) | (size_t)number(at + 8) << 32;
            sections_[number(at)] = at + 12;
            at += 12 + size;
        }
    }
    size_t section(uint32_t type) const { return sections_.at(type); }
    uint32_t number(size_t at) const {
        uint32_t out;
        if (at + 4 > bytes_.size()) stop(path_.c_str(), "ends too early");
        memcpy(&out, &bytes_[at], 4);
        return out;
    }
    /// The canonical number of 32 bytes at a place.
    Fr words(size_t at) const {
        Fr out;
        for (int i = 0; i < Fr::n; i++) out.word[i] = number(at + 4 * i);
        return out;
    }

  private:
    std::string path_;
    std::vector<unsigned char> bytes_;
    std::map<uint32_t, size_t> sections_;
};

inline Circuit read_circuit(const char* path) {
    Iden3File file(path);
    Circuit out;
    out.table = {Fr::one(), -Fr::one()};
    std::map<std::array<uint32_t, 8>, uint32_t> indices;
    auto index = [&](const Fr& words) {
        std::array<uint32_t, 8> key;
        memcpy(key.data(), words.word, sizeof key);
        auto [at, fresh] = indices.try_emplace(key, (uint32_t)out.table.size());
        if (!fresh) return at->second;
        Fr value = words.from_canonical();
        if (value == out.table[0] || value == out.table[1]) return at->second = value == out.table[0] ? 0u : 1u;
        out.table.push_back(value);
        return at->second;
    };
    size_t header = file.section(1) + 4 + file.number(file.section(1));
    out.variables = file.number(header);
    out.inputs = 1 + file.number(header + 4) + file.number(header + 8);
    uint32_t rows = file.number(header + 24);
    size_t at = file.section(2);
    for (uint32_t row = 0; row < rows; row++) {
        for (Matrix& matrix : out.matrices) {
            uint32_t terms = file.number(at);
            at += 4;
            for (; terms > 0; terms--, at += 36) matrix.add(file.number(at), index(file.words(at + 4)));
            matrix.end_row();
        }
    }
    return out;
}

/// The values of all variables, in Montgomery form.
inline std::vector<Fr> read_witness(const char* path) {
    Iden3File file(path);
    uint32_t count = file.number(file.section(1) + 4 + file.number(file.section(1)));
    std::vector<Fr> out(count);
    for (uint32_t i = 0; i < count; i++) out[i] = file.words(file.section(2) + 32 * (size_t)i).from_canonical();
    return out;
}

}  // namespace g16

#endif
