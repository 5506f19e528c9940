/* The place of a key in a list, to which it is appended if it is not there. */
static inline size_t spc_insert_NAME(spc_table *table, spc_vector *keys, TYPE key) {
    uint32_t *const slot = spc_table_slot(table, key, keys->length);
    if (*slot == 0) {
        *slot = (uint32_t)keys->length + 1;
        spc_push_NAME(keys, key);
    }
    return *slot - 1;
}

/* Forgets the keys of a list. */
static void spc_reset_NAME(spc_table *table, spc_vector *keys) {
    if (table->direct != NULL) {
        for (size_t n = 0; n < keys->length; n++) table->direct[((TYPE *)keys->data)[n]] = 0;
    } else if (table->bits != 0) {
        memset(table->places, 0, ((size_t)1 << table->bits) * sizeof(uint32_t));
    }
    keys->length = 0;
}
