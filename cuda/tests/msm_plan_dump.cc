// Prints the launches of kernel/msm_plan.h, for the comparison with another list of them.
//
//     msm_plan_dump GROUP SUM COUNT PICKS CAPABILITY MULTIPROCESSORS     GROUP 1 or 2; SUM and PICKS 0 or 1
#include <cstdio>
#include <cstdlib>

#include "../kernel/msm_plan.h"

int main(int count, char** arguments) {
    if (count != 7) return 2;
    uint32_t n[6];
    for (int i = 0; i < 6; i++) n[i] = (uint32_t)std::strtoul(arguments[i + 1], nullptr, 10);
    static const char* const buffers[] = {"Points", "Scalars", "Picks", "Result", "Workspace"};
    g16::Msm plan(n[0] == 2, n[1] == 1, n[2], n[3] == 1, g16::msm_tuning(n[0] == 2, n[4], n[5]));
    std::printf("workspace of %llu\n", (unsigned long long)plan.workspace_bytes());
    for (const g16::MsmLaunch& launch : plan.launches()) {
        std::printf("%s %u %u %u", g16::name(launch.kernel), launch.blocks, launch.threads, launch.shared_bytes);
        for (const g16::MsmArgument& argument : launch.arguments) {
            switch (argument.kind) {
                case g16::MsmArgument::number: std::printf(" %u", (unsigned)argument.value); break;
                case g16::MsmArgument::null: std::printf(" null"); break;
                default: std::printf(" %s[%llu]", buffers[(int)argument.buffer], (unsigned long long)argument.value);
            }
        }
        std::printf("\n");
    }
}
