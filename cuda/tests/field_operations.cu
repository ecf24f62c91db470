#include "../field/fp2.h"
#include "suite.h"

namespace g16 {
namespace {

template <class F>
struct Of {
    using Pair = Two<F, F>;
    G16_OPERATION(Mul, Pair, F, x.a * x.b)
    G16_OPERATION(Add, Pair, F, x.a + x.b)
    G16_OPERATION(Sub, Pair, F, x.a - x.b)
    G16_OPERATION(Sqr, F, F, x.square())
    G16_OPERATION(Neg, F, F, -x)
    G16_OPERATION(Dbl, F, F, x.twice())
    G16_OPERATION(Inv, F, F, x.inverse())
};

template <class F>
G16_FN F reduced_product(const Two<F, F>& x) {
    F out = F::multiply_unreduced(x.a, x.b);
    F::Math::reduce_once(out.word, out.word);
    return out;
}

template <class F>
struct OfPrime : Of<F> {
    using Pair = Two<F, F>;
    G16_OPERATION(To, F, F, x.to_canonical())
    G16_OPERATION(From, F, F, x.from_canonical())
    G16_OPERATION(MulAny, Pair, F, reduced_product(x))
};

}  // namespace

std::vector<Operation> field_operations() {
    using A = OfPrime<Fp>;
    using B = OfPrime<Fr>;
    using C = Of<Fp2>;
    return {
        operation<A::Mul>("fp_mul"), operation<A::Add>("fp_add"), operation<A::Sub>("fp_sub"),
        operation<A::Sqr>("fp_sqr"), operation<A::Neg>("fp_neg"), operation<A::Dbl>("fp_dbl"),
        operation<A::Inv>("fp_inv"), operation<A::To>("fp_to"), operation<A::From>("fp_from"),
        operation<A::MulAny>("fp_mul_any"), operation<B::Mul>("fr_mul"), operation<B::Add>("fr_add"),
        operation<B::Sub>("fr_sub"), operation<B::Sqr>("fr_sqr"), operation<B::Neg>("fr_neg"),
        operation<B::Dbl>("fr_dbl"), operation<B::Inv>("fr_inv"), operation<B::To>("fr_to"),
        operation<B::From>("fr_from"), operation<B::MulAny>("fr_mul_any"), operation<C::Mul>("fp2_mul"),
        operation<C::Add>("fp2_add"), operation<C::Sub>("fp2_sub"), operation<C::Sqr>("fp2_sqr"),
        operation<C::Neg>("fp2_neg"), operation<C::Inv>("fp2_inv"),
    };
}

}  // namespace g16
