// Points that are known multiples of the generator.

#define G16_CALL_PRODUCTS
#include "msm_device.h"

namespace g16 {
namespace {

/// The number with these 96 hexadecimal digits, in Montgomery form.
Fp from_digits(const char* digits) {
    Fp out;
    for (int i = 0; i < Fp::n; i++) {
        char word[9] = {};
        memcpy(word, digits + 88 - 8 * i, 8);
        out.word[i] = (uint32_t)strtoul(word, nullptr, 16);
    }
    return out.from_canonical();
}

template <class F>
G16_GLOBAL void multiply_generator(Affine<F>* out, const Affine<F>* of, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Affine<F> base = *of;
    Xyzz<F> sum = Xyzz<F>::from(base);
    uint32_t k = multiple(i), bit = 31;
    while (!(k >> bit & 1)) bit--;
    G16_ROLLED
    while (bit-- > 0) {
        sum = sum.twice();
        if (k >> bit & 1) sum = sum + base;
    }
    out[i] = sum.to_affine();
}

}  // namespace

template <>
G1Affine generator<Fp>() {
    return {from_digits("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"),
            from_digits("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1")};
}

template <>
G2Affine generator<Fp2>() {
    return {
        {from_digits("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"),
         from_digits("13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e")},
        {from_digits("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801"),
         from_digits("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be")}};
}

template <class F>
Memory<Affine<F>> generated_points(size_t count) {
    Memory<Affine<F>> out(count), base(std::vector<Affine<F>>{generator<F>()});
    if (count > 0) {
        launch(multiply_generator<F>, (uint32_t)((count + 127) / 128), 128, out.data(), base.data(), (uint32_t)count);
    }
    wait();
    return out;
}
template Memory<G1Affine> generated_points<Fp>(size_t count);
template Memory<G2Affine> generated_points<Fp2>(size_t count);

}  // namespace g16
