/* The first of the places begin, begin + stride, ... before end whose element is not less than value, else end. */
static inline size_t spc_search_NAME(const TYPE *array, size_t begin, size_t end, size_t value, size_t stride) {
    size_t low = 0, high = end > begin ? (end - begin) / stride : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (array[begin + middle * stride] < value) low = middle + 1;
        else high = middle;
    }
    return begin + low * stride;
}
