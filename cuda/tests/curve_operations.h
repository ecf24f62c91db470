// The operations on points, for a field F: the results are compared by coordinates.
#define G16_CALL_PRODUCTS
#include "../curve/jacobian.h"
#include "suite.h"

namespace g16 {
namespace {

/// For one form of points.
template <class F, class Point>
struct OfPoints {
    using Coordinates = Affine<F>;
    using Pair = Two<Point, Point>;
    using Mixed = Two<Point, Coordinates>;
    G16_OPERATION(Add, Pair, Coordinates, (x.a + x.b).to_affine())
    G16_OPERATION(Madd, Mixed, Coordinates, (x.a + x.b).to_affine())
    G16_OPERATION(Dbl, Point, Coordinates, x.twice().to_affine())
    G16_OPERATION(Neg, Point, Coordinates, (-x).to_affine())
    G16_OPERATION(From, Coordinates, Coordinates, Point::from(x).to_affine())

    static void append(std::vector<Operation>& out, const char* const (&names)[5]) {
        out.push_back(operation<Add>(names[0]));
        out.push_back(operation<Madd>(names[1]));
        out.push_back(operation<Dbl>(names[2]));
        out.push_back(operation<Neg>(names[3]));
        out.push_back(operation<From>(names[4]));
    }
};

template <class F>
struct Across {
    using Point = Xyzz<F>;
    using Coordinates = Affine<F>;
    G16_OPERATION(Jacobian_, Point, Coordinates, Jacobian<F>::from(x).to_affine())
};

}  // namespace
}  // namespace g16
