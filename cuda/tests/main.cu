// gpu-test and emulate-test: VECTORS [LOG_SIZE | SUITE | SUITE:LOG_SIZE | X.r1cs X.wtns]... checks the device code against the vectors that
// vectors.py wrote, and transforms and the suites r1cs, split, import, fixed and msm at the given sizes; the last line is "N
// passed, N failed" and the exit code is 0 only if none failed. `brief`: suites after it are of
// the emulator's sizes. Multi-scalar multiplications are there where they are linked.

#include "suite.h"

namespace g16 {
namespace {

uint32_t number(FILE* file) {
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, file) != 4) stop("vectors", "file ends too early");
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

std::vector<uint32_t> numbers(FILE* file, size_t count) {
    std::vector<uint32_t> out(count);
    for (uint32_t& value : out) value = number(file);
    return out;
}

std::vector<Section> read_sections(const char* path) {
    FILE* file = fopen(path, "rb");
    char magic[4], name[32];
    if (file == nullptr || fread(magic, 1, 4, file) != 4 || memcmp(magic, "G16V", 4) != 0) stop(path, "no vectors");
    std::vector<Section> out;
    while (fread(name, 1, 32, file) == 32) {
        Section section;
        section.name = std::string(name, strnlen(name, 32));
        for (uint32_t& parameter : section.parameters) parameter = number(file);
        section.input_words = number(file);
        section.output_words = number(file);
        section.cases = number(file);
        section.input = numbers(file, (size_t)section.input_words * section.cases);
        section.output = numbers(file, (size_t)section.output_words * section.cases);
        out.push_back(section);
    }
    fclose(file);
    return out;
}

void run_operation(const Operation& operation, const Section& section, Results& results) {
    if (operation.input_words != section.input_words || operation.output_words != section.output_words) {
        return results.add(false, section.name + ": words of a case");
    }
    Memory<uint32_t> in(section.input), out(section.output.size());
    operation.run(in.data(), out.data(), section.cases);
    wait();
    std::vector<uint32_t> got = out.read();
    for (uint32_t i = 0; i < section.cases; i++) {
        size_t at = (size_t)i * section.output_words;
        bool good = memcmp(&got[at], &section.output[at], section.output_words * 4) == 0;
        results.add(good, section.name + " case " + std::to_string(i));
    }
}

struct Suite {
    const char* name;
    void (*small)(bool emulated, Results& results);
    void (*large)(uint32_t log_size, Results& results);
};
const Suite kSuites[] = {{"r1cs", run_r1cs, run_r1cs_large},
                         {"split", run_split, run_split_large},
                         {"import", run_import, run_import_large},
                         {"fixed", run_fixed_base, run_fixed_base_large}};

}  // namespace
}  // namespace g16

int main(int count, char** arguments) {
    using namespace g16;
    if (count < 2) stop("usage", "VECTORS [LOG_SIZE...]");
    setvbuf(stdout, nullptr, _IOLBF, 0);
    Tuning tuning = tuning_for(0);
    bool brief = true;
    MsmTuning msm[2] = {msm_tuning(false, 0, 1), msm_tuning(true, 0, 1)};
#ifdef __CUDACC__
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "device");
    printf("%s, compute capability %d.%d\n", properties.name, properties.major, properties.minor);
    uint32_t capability = properties.major * 10 + properties.minor;
    tuning = tuning_for(capability);
    brief = false;
    for (int g = 0; g < 2; g++) msm[g] = msm_tuning(g == 1, capability, properties.multiProcessorCount);
#endif
    std::vector<Operation> operations = field_operations();
    for (const Operation& operation : g1_operations()) operations.push_back(operation);
    for (const Operation& operation : g2_operations()) operations.push_back(operation);
    Results results;
    std::vector<bool> seen(operations.size());
    for (const Section& section : read_sections(arguments[1])) {
        if (section.name.rfind("ntt_", 0) == 0 || section.name == "quotient") {
            run_transform_section(section, results);
            continue;
        }
        auto is = [&](const char* name) { return section.name == name; };
        void (*of_proof)(const Section&, Results&) = is("r1cs") ? run_r1cs_section
                                                     : is("split") ? run_split_section
                                                     : is("g1_import") || is("g2_import") || is("checksum") ? run_import_section
                                                     : is("g1_fixed_base") || is("g2_fixed_base") ? run_fixed_base_section
                                                                                                  : nullptr;
        if (of_proof != nullptr) {
            of_proof(section, results);
            continue;
        }
        if (section.name == "g1_msm" || section.name == "g2_msm") {
            if (run_msm_section) run_msm_section(section, msm, results);
            continue;
        }
        bool known = false;
        for (size_t i = 0; i < operations.size(); i++) {
            if (section.name != operations[i].name) continue;
            known = seen[i] = true;
            run_operation(operations[i], section, results);
        }
        if (!known) results.add(false, section.name + ": no such operation");
    }
    for (size_t i = 0; i < operations.size(); i++) results.add(seen[i], std::string(operations[i].name) + ": no vectors");
    for (int i = 2; i < count; i++) {
        uint32_t before = results.failed;
        if (strcmp(arguments[i], "brief") == 0) {
            brief = true;
            continue;
        }
        if (strncmp(arguments[i], "msm", 3) == 0) {
            if (!run_msm) stop(arguments[i], "this program was linked without multi-scalar multiplication");
            if (arguments[i][3] == ':') run_msm_large((uint32_t)atoi(arguments[i] + 4), msm, results);
            else run_msm(brief, msm, results);
            printf("%s %s\n", arguments[i], results.failed == before ? "good" : "BAD");
            continue;
        }
        if (strstr(arguments[i], ".r1cs") != nullptr && i + 1 < count) {
            run_circuit_files(arguments[i], arguments[i + 1], results);
            printf("%s %s\n", arguments[i++], results.failed == before ? "good" : "BAD");
            continue;
        }
        bool suite = false;
        for (const Suite& one : kSuites) {
            size_t length = strlen(one.name);
            if (strncmp(arguments[i], one.name, length) != 0) continue;
            suite = true;
            if (arguments[i][length] == ':') one.large((uint32_t)atoi(arguments[i] + length + 1), results);
            else one.small(brief, results);
            printf("%s %s\n", arguments[i], results.failed == before ? "good" : "BAD");
        }
        if (suite) continue;
        run_large((uint32_t)atoi(arguments[i]), i % 2 ? 5 : 7, tuning, results);
        printf("2^%s %s\n", arguments[i], results.failed == before ? "good" : "BAD");
    }
    printf("%u passed, %u failed\n", results.passed, results.failed);
    return results.failed == 0 ? 0 : 1;
}
