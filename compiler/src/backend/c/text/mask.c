/* Ones where a number has its bits when those of all are interleaved: the place of a bit is the number of bits that are lower, or as low
   and of narrower numbers. */
static uint64_t spc_mask(size_t part, size_t numbers, const uint64_t *extents) {
    unsigned widths[64];
    for (size_t number = 0; number < numbers; number++) {
        widths[number] = 0;
        while (widths[number] < 64 && extents[number] > (uint64_t)1 << widths[number]) widths[number]++;
    }
    uint64_t mask = 0;
    for (unsigned bit = 0; bit < widths[part]; bit++) {
        unsigned place = 0;
        for (size_t number = 0; number < numbers; number++) {
            const unsigned width = widths[number];
            const bool is_before = width < widths[part] || (width == widths[part] && number < part);
            place += width <= bit ? width : bit + is_before;
        }
        mask |= (uint64_t)1 << place;
    }
    return mask;
}
