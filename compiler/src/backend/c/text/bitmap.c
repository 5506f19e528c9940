/* A set of keys below an extent: a bit for each, and one for each 64 of these of which one is set. */
typedef struct {
    uint64_t *bits, *summary;
    size_t words;
} spc_bitmap;

static spc_bitmap spc_bitmap_new(size_t extent) {
    const size_t lines = extent / 64 + 1, words = lines / 64 + 1;
    spc_bitmap set = {spc_memory(lines, sizeof(uint64_t)), spc_memory(words, sizeof(uint64_t)), words};
    memset(set.bits, 0, lines * sizeof(uint64_t));
    memset(set.summary, 0, words * sizeof(uint64_t));
    return set;
}

static void spc_bitmap_free(spc_bitmap *set) {
    free(set->bits);
    free(set->summary);
}

static inline void spc_mark(spc_bitmap *set, size_t key) {
    set->bits[key / 64] |= (uint64_t)1 << key % 64;
    set->summary[key / 4096] |= (uint64_t)1 << key / 64 % 64;
}

/* Takes the lowest bit out of a word; its place. */
static inline size_t spc_take_bit(uint64_t *word) {
    const uint64_t lowest = *word & (0 - *word);
    *word ^= lowest;
#if defined(__GNUC__)
    return (size_t)__builtin_ctzll(lowest);
#else
    size_t place = 0;
    while (lowest >> place != 1) place++;
    return place;
#endif
}
