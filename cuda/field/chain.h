// Additions, subtractions and multiply-adds of 32-bit words that hand a carry from one to the next.
//
// On the device each is one PTX instruction and the carry is the hardware's CC flag, which nothing may touch between
// two of them: `asm volatile` keeps their order, and no other PTX that the compiler emits writes CC. Elsewhere the
// carry is a member, so the same algorithms run and are tested on the CPU.
//
// A name's `_cc` at the end sets the carry, its `c` before an underscore or the end takes it: addc_cc does both.
// Chains of additions and of subtractions must not be mixed, since the flag's polarity differs.
#ifndef G16_FIELD_CHAIN_H
#define G16_FIELD_CHAIN_H

#include "platform.h"

namespace g16 {

#ifdef __CUDA_ARCH__

struct Chain {
#define G16_TWO(name, instruction)                                                              \
    G16_FN uint32_t name(uint32_t a, uint32_t b) {                                              \
        uint32_t out;                                                                           \
        asm volatile(instruction " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));                  \
        return out;                                                                             \
    }
#define G16_THREE(name, instruction)                                                            \
    G16_FN uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                                  \
        uint32_t out;                                                                           \
        asm volatile(instruction " %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(c));      \
        return out;                                                                             \
    }
    G16_TWO(add_cc, "add.cc.u32")
    G16_TWO(addc_cc, "addc.cc.u32")
    G16_TWO(addc, "addc.u32")
    G16_TWO(sub_cc, "sub.cc.u32")
    G16_TWO(subc_cc, "subc.cc.u32")
    G16_TWO(subc, "subc.u32")
    G16_THREE(mad_lo_cc, "mad.lo.cc.u32")
    G16_THREE(madc_lo_cc, "madc.lo.cc.u32")
    G16_THREE(madc_hi_cc, "madc.hi.cc.u32")
    G16_THREE(madc_hi, "madc.hi.u32")
#undef G16_TWO
#undef G16_THREE
};

G16_FN uint32_t mul_lo(uint32_t a, uint32_t b) {
    return a * b;
}

#else

struct Chain {
    uint32_t carry = 0;

    G16_FN uint32_t sum(uint64_t a, uint64_t b, uint64_t in) {
        uint64_t out = a + b + in;
        carry = (uint32_t)(out >> 32);
        return (uint32_t)out;
    }
    G16_FN uint32_t difference(uint64_t a, uint64_t b, uint64_t in) {
        uint64_t out = a - b - in;
        carry = (uint32_t)(out >> 32) & 1;
        return (uint32_t)out;
    }
    G16_FN static uint32_t low(uint32_t a, uint32_t b) {
        return (uint32_t)((uint64_t)a * b);
    }
    G16_FN static uint32_t high(uint32_t a, uint32_t b) {
        return (uint32_t)(((uint64_t)a * b) >> 32);
    }

    G16_FN uint32_t add_cc(uint32_t a, uint32_t b) { return sum(a, b, 0); }
    G16_FN uint32_t addc_cc(uint32_t a, uint32_t b) { return sum(a, b, carry); }
    G16_FN uint32_t addc(uint32_t a, uint32_t b) { return sum(a, b, carry); }
    G16_FN uint32_t sub_cc(uint32_t a, uint32_t b) { return difference(a, b, 0); }
    G16_FN uint32_t subc_cc(uint32_t a, uint32_t b) { return difference(a, b, carry); }
    G16_FN uint32_t subc(uint32_t a, uint32_t b) { return difference(a, b, carry); }
    G16_FN uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return sum(low(a, b), c, 0); }
    G16_FN uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return sum(low(a, b), c, carry); }
    G16_FN uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c) { return sum(high(a, b), c, carry); }
    G16_FN uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t c) { return sum(high(a, b), c, carry); }
};

G16_FN uint32_t mul_lo(uint32_t a, uint32_t b) {
    return Chain::low(a, b);
}
#endif

/// low, high = a b. One multiplication of 64 bits, so that ptxas keeps both words in a pair of registers, as it must for
/// the IMAD.WIDE that accumulate there.
G16_FN void mul_wide(uint32_t& low, uint32_t& high, uint32_t a, uint32_t b) {
    uint64_t product = (uint64_t)a * b;
    low = (uint32_t)product;
    high = (uint32_t)(product >> 32);
}

}  // namespace g16

#endif
