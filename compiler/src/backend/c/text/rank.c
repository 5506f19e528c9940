/* How many of the lowest bits are ones. */
static inline uint64_t spc_rank(uint64_t bits, uint64_t count) {
    uint64_t ones = 0;
    for (bits &= ((uint64_t)1 << count) - 1; bits != 0; bits &= bits - 1) ones++;
    return ones;
}
