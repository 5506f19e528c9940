/* Sorts keys, ascending, equal ones in the order that they had. Then `places` says where each stood. */
static void spc_sort_NAME(spc_vector *keys, spc_vector *places) {
    typedef struct { TYPE key; PLACE place; } spc_pair;
    const size_t length = keys->length;
    TYPE *const key = keys->data;
    places->length = 0;
    if (length > places->capacity) spc_reserve(places, length, sizeof(PLACE));
    PLACE *const place = places->data;
    places->length = length;
    if (length <= 32) {
        for (size_t n = 0; n < length; n++) {
            const TYPE next = key[n];
            size_t at = n;
            for (; at > 0 && key[at - 1] > next; at--) {
                key[at] = key[at - 1];
                place[at] = place[at - 1];
            }
            key[at] = next;
            place[at] = (PLACE)n;
        }
        return;
    }
    spc_pair *from = spc_memory(2 * length, sizeof(spc_pair)), *const memory = from, *to = from + length;
    TYPE bits = 0;
    for (size_t n = 0; n < length; n++) {
        from[n] = (spc_pair){key[n], (PLACE)n};
        bits |= key[n] ^ key[0];
    }
    /* By one byte after the other, the lowest first, and only by those that differ. */
    for (unsigned shift = 0; shift < 8 * sizeof(TYPE) && (uint64_t)bits >> shift != 0; shift += 8) {
        if (((uint64_t)bits >> shift & 255) == 0) continue;
        size_t starts[257] = {0};
        for (size_t n = 0; n < length; n++) starts[((uint64_t)from[n].key >> shift & 255) + 1]++;
        for (size_t digit = 0; digit < 256; digit++) starts[digit + 1] += starts[digit];
        for (size_t n = 0; n < length; n++) to[starts[(uint64_t)from[n].key >> shift & 255]++] = from[n];
        spc_pair *const swapped = from;
        from = to;
        to = swapped;
    }
    for (size_t n = 0; n < length; n++) {
        key[n] = from[n].key;
        place[n] = from[n].place;
    }
    free(memory);
}
