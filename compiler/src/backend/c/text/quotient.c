// The parts of a quotient of complex numbers, whose squares may be beyond the range of numbers.
static inline void spc_quotient(double a, double b, double c, double d, double *parts) {
    if (c == 0 && d == 0) {
        parts[0] = a / fabs(c);
        parts[1] = b / fabs(c);
        return;
    }
    if ((isinf(c) || isinf(d)) && isfinite(a) && isfinite(b)) {
        parts[0] = parts[1] = 0;
        return;
    }
    const double large = fmax(fabs(a), fabs(b)), size = fmax(fabs(c), fabs(d));
    const int up = large > 0 && isfinite(large) ? -ilogb(large) : 0, down = isfinite(size) ? -ilogb(size) : 0;
    a = scalbn(a, up);
    b = scalbn(b, up);
    c = scalbn(c, down);
    d = scalbn(d, down);
    const double square = c * c + d * d;
    parts[0] = scalbn((a * c + b * d) / square, down - up);
    parts[1] = scalbn((b * c - a * d) / square, down - up);
}
