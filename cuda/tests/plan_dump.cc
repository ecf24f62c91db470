// Prints the launches of kernel/plan.h, for the comparison with the library's own list of them (src/gpu/cuda/plan.rs).
//
//     plan_dump LOG_SIZE GENERATOR SHIFT ROWS_LOG TILE_LOG COARSE_LOG
#include <cstdio>
#include <cstdlib>

#include "../kernel/plan.h"

static void print(const char* what, const g16::Plan& plan) {
    static const char* const buffers[] = {"A", "B", "C", "U", "Tables", "First"};
    std::printf("%s\n", what);
    for (const g16::Launch& launch : plan) {
        std::printf("%s %u %u %u", g16::name(launch.kernel), launch.blocks, launch.threads, launch.shared_bytes);
        for (const g16::Argument& argument : launch.arguments) {
            switch (argument.kind) {
                case g16::Argument::number: std::printf(" %u", (unsigned)argument.value); break;
                case g16::Argument::null: std::printf(" null"); break;
                default: std::printf(" %s[%llu]", buffers[(int)argument.buffer], (unsigned long long)argument.value);
            }
        }
        std::printf("\n");
    }
}

int main(int count, char** arguments) {
    if (count != 7) return 2;
    uint32_t n[6];
    for (int i = 0; i < 6; i++) n[i] = (uint32_t)std::strtoul(arguments[i + 1], nullptr, 10);
    g16::Transforms transforms(n[0], n[1], n[2], g16::Tuning{n[3], n[4], n[5]});
    std::printf("tables of %llu\n", (unsigned long long)transforms.table_elements());
    print("tables", transforms.tables());
    for (bool compare : {false, true}) {
        g16::Plan plan;
        transforms.quotient(plan, compare);
        print(compare ? "compared" : "quotient", plan);
    }
    g16::Plan inverse, forward;
    transforms.inverse(inverse, g16::Buffer::a);
    transforms.forward(forward, g16::Buffer::c);
    print("inverse", inverse);
    print("forward", forward);
    g16::Tuning tuning = g16::tuning_for(90);
    std::printf("90: %u %u %u\n", tuning.rows_log, tuning.tile_log, tuning.coarse_log);
}
