/* A length that is a product. */
static inline size_t spc_product(size_t a, size_t b) {
    if (b != 0 && a > SIZE_MAX / b) SPC_STOP("an array of a kernel would be too long");
    return a * b;
}
