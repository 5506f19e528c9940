/* Appends to an array what chunks appended to theirs, in order, and frees these. */
static void spc_join(spc_vector *whole, spc_vector *parts, size_t chunks, size_t size) {
    size_t total = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++) total += parts[chunk].length;
    if (chunks == 1 && whole->length == 0) {
        free(whole->data);
        *whole = parts[0];
        parts[0] = (spc_vector){0};
    } else if (total > 0) {
        spc_reserve(whole, total, size);
        size_t *starts = spc_memory(chunks, sizeof(size_t));
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            starts[chunk] = whole->length;
            whole->length += parts[chunk].length;
        }
#pragma omp parallel for schedule(dynamic)
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            if (parts[chunk].length > 0) {
                memcpy((char *)whole->data + starts[chunk] * size, parts[chunk].data, parts[chunk].length * size);
            }
        }
        free(starts);
    }
    for (size_t chunk = 0; chunk < chunks; chunk++) free(parts[chunk].data);
    free(parts);
}
