/* Makes room in a vector for `more` elements. */
static void spc_reserve(spc_vector *vector, size_t more, size_t size) {
    size_t capacity = vector->capacity < 8 ? 8 : vector->capacity;
    if (more > SIZE_MAX / 4 / size || vector->length > SIZE_MAX / 4 / size) SPC_STOP("a result would be too long");
    while (capacity < vector->length + more) capacity *= 2;
    if (capacity == vector->capacity) return;
    void *memory = realloc(vector->data, capacity * size);
    if (memory == NULL) SPC_STOP("there is no memory for a result");
    vector->data = memory;
    vector->capacity = capacity;
}
