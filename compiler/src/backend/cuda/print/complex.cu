// Complex numbers.
struct NAME {
    PART re, im;
};
static __device__ NAME operator+(NAME a, NAME b) { return {a.re + b.re, a.im + b.im}; }
static __device__ NAME operator-(NAME a, NAME b) { return {a.re - b.re, a.im - b.im}; }
static __device__ NAME operator*(NAME a, NAME b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
// The squares of its operands may be beyond the range of numbers.
static __device__ NAME operator/(NAME x, NAME y) {
    double a = x.re, b = x.im, c = y.re, d = y.im;
    if (c == 0 && d == 0) return {(PART)(a / fabs(c)), (PART)(b / fabs(c))};
    if ((isinf(c) || isinf(d)) && isfinite(a) && isfinite(b)) return {0, 0};
    const double large = fmax(fabs(a), fabs(b)), size = fmax(fabs(c), fabs(d));
    const int up = large > 0 && isfinite(large) ? -ilogb(large) : 0, down = isfinite(size) ? -ilogb(size) : 0;
    a = scalbn(a, up);
    b = scalbn(b, up);
    c = scalbn(c, down);
    d = scalbn(d, down);
    const double square = c * c + d * d;
    return {(PART)scalbn((a * c + b * d) / square, down - up), (PART)scalbn((b * c - a * d) / square, down - up)};
}
static __device__ NAME operator-(NAME a) { return {-a.re, -a.im}; }
static __device__ bool operator==(NAME a, NAME b) { return a.re == b.re && a.im == b.im; }
static __device__ bool operator!=(NAME a, NAME b) { return !(a == b); }
static __device__ void operator+=(NAME& a, NAME b) { a = a + b; }
static __device__ void operator*=(NAME& a, NAME b) { a = a * b; }
