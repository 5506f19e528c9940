/* Appends `count` elements `fill`. */
static inline void spc_extend_NAME(spc_vector *vector, size_t count, TYPE fill) {
    if (count > vector->capacity - vector->length) spc_reserve(vector, count, sizeof(TYPE));
    TYPE *end = (TYPE *)vector->data + vector->length;
    for (size_t n = 0; n < count; n++) end[n] = fill;
    vector->length += count;
}
