/* The bits of a code at the ones of a mask, side by side. */
static inline uint64_t spc_gather(uint64_t bits, uint64_t mask) {
#ifdef __BMI2__
    return _pext_u64(bits, mask);
#else
    uint64_t moved = 0;
    for (uint64_t bit = 1; mask != 0; bit <<= 1, mask &= mask - 1) {
        if (bits & mask & (0 - mask)) moved |= bit;
    }
    return moved;
#endif
}

/* The lowest bits of a number, at the ones of a mask. */
static inline uint64_t spc_scatter(uint64_t bits, uint64_t mask) {
#ifdef __BMI2__
    return _pdep_u64(bits, mask);
#else
    uint64_t moved = 0;
    for (uint64_t bit = 1; mask != 0; bit <<= 1, mask &= mask - 1) {
        if (bits & bit) moved |= mask & (0 - mask);
    }
    return moved;
#endif
}
