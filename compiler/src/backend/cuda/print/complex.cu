// Complex numbers.
struct NAME {
    PART re, im;
};
static __device__ NAME operator+(NAME a, NAME b) { return {a.re + b.re, a.im + b.im}; }
static __device__ NAME operator-(NAME a, NAME b) { return {a.re - b.re, a.im - b.im}; }
static __device__ NAME operator*(NAME a, NAME b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static __device__ NAME operator/(NAME a, NAME b) {
    const PART square = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
}
static __device__ NAME operator-(NAME a) { return {-a.re, -a.im}; }
static __device__ bool operator==(NAME a, NAME b) { return a.re == b.re && a.im == b.im; }
static __device__ bool operator!=(NAME a, NAME b) { return !(a == b); }
static __device__ void operator+=(NAME& a, NAME b) { a = a + b; }
static __device__ void operator*=(NAME& a, NAME b) { a = a * b; }
