/* Appends an element. */
static inline void spc_push_NAME(spc_vector *vector, TYPE value) {
    if (vector->length == vector->capacity) spc_reserve(vector, 1, sizeof(TYPE));
    ((TYPE *)vector->data)[vector->length++] = value;
}
