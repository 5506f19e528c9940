/* Where in a list of keys each of them stands: one more than its place, in a slot of its own where keys are small, else in a hash table
   with open addressing that is at most half full. */
typedef struct {
    uint32_t *direct;
    size_t extent;
    uint64_t *keys;
    uint32_t *places;
    unsigned bits;
} spc_table;

static spc_table spc_table_new(size_t extent) {
    spc_table table = {NULL, 0, NULL, NULL, 0};
    if (extent <= (size_t)1 << 22) {
        table.extent = extent;
        table.direct = spc_memory(extent, sizeof(uint32_t));
        memset(table.direct, 0, extent * sizeof(uint32_t));
    }
    return table;
}

static void spc_table_free(spc_table *table) {
    free(table->direct);
    free(table->keys);
    free(table->places);
}

/* Spread by the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4), after the upper bits are mixed in. */
static inline size_t spc_slot(const spc_table *table, uint64_t key) {
    return (size_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> (64 - table->bits));
}

static inline uint32_t *spc_find(spc_table *table, uint64_t key) {
    const size_t mask = ((size_t)1 << table->bits) - 1;
    size_t slot = spc_slot(table, key);
    while (table->places[slot] != 0 && table->keys[slot] != key) slot = (slot + 1) & mask;
    table->keys[slot] = key;
    return &table->places[slot];
}

static void spc_table_grow(spc_table *table) {
    const spc_table old = *table;
    table->bits = old.bits == 0 ? 6 : old.bits + 1;
    const size_t length = (size_t)1 << table->bits;
    table->keys = spc_memory(length, sizeof(uint64_t));
    table->places = spc_memory(length, sizeof(uint32_t));
    memset(table->places, 0, length * sizeof(uint32_t));
    for (size_t slot = 0; old.bits != 0 && slot < (size_t)1 << old.bits; slot++) {
        if (old.places[slot] != 0) *spc_find(table, old.keys[slot]) = old.places[slot];
    }
    free(old.keys);
    free(old.places);
}

/* The slot of a key, which holds 0 where it is new; `count` keys are there. */
static inline uint32_t *spc_table_slot(spc_table *table, uint64_t key, size_t count) {
    if (table->direct != NULL && key < table->extent) return &table->direct[key];
    if (table->bits == 0 || 2 * count >= (size_t)1 << table->bits) spc_table_grow(table);
    return spc_find(table, key);
}
