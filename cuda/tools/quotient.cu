// quotient LOG_SIZE GENERATOR: reads a, b and c, 2^LOG_SIZE elements of 32 bytes each (Montgomery form, little-endian, padded
// with zeros), from standard input and writes h, as many, to standard output; so that any other implementation can be
// compared at any size. Exit code 0; 3 where a b is not c, and the first such row on standard error; 2 on other errors.

#include "../tests/device.h"

namespace g16 {

/// h of a, b, c with d = 2^log_size elements each, in host memory; `c` may be null. Returns the first row where a b is not c,
/// or 0xffffffff.
static uint32_t quotient(const Fr* a, const Fr* b, const Fr* c, uint32_t log_size, uint32_t generator, Fr* h) {
    size_t d = size_t(1) << log_size;
    Transforms transforms(log_size, generator, generator, tuning_for(0));
    Memory<Fr> on_a(d), on_b(d), on_c(c == nullptr ? 0 : d), on_u(d), tables(transforms.table_elements());
    Memory<uint32_t> first(std::vector<uint32_t>{0xffffffff});
    on_a.write(a, d);
    on_b.write(b, d);
    if (c != nullptr) on_c.write(c, d);
    Buffers buffers{&on_a, &on_b, &on_c, &on_u, &tables, &first};
    buffers.run(transforms.tables());
    Plan plan;
    transforms.quotient(plan, c != nullptr);
    buffers.run(plan);
    std::vector<Fr> out = on_b.read();
    memcpy((void*)h, out.data(), d * sizeof(Fr));
    return first.read()[0];
}

}  // namespace g16

int main(int count, char** arguments) {
    using namespace g16;
    if (count != 3) stop("usage", "LOG_SIZE GENERATOR < a, b, c > h");
    uint32_t log_size = (uint32_t)atoi(arguments[1]);
    if (log_size > 27) stop(arguments[1], "too large");
    size_t d = size_t(1) << log_size;
    std::vector<Fr> values(3 * d), h(d);
    if (fread((void*)values.data(), sizeof(Fr), 3 * d, stdin) != 3 * d) stop("standard input", "ends too early");
    uint32_t first = quotient(&values[0], &values[d], &values[2 * d], log_size, (uint32_t)atoi(arguments[2]), h.data());
    if (fwrite(h.data(), sizeof(Fr), d, stdout) != d || fflush(stdout) != 0) stop("standard output", "cannot be written");
    if (first == 0xffffffff) return 0;
    fprintf(stderr, "row %u is not satisfied\n", first);
    return 3;
}
