/* Memory for `count` elements; for at least one. */
static inline void *spc_memory(size_t count, size_t size) {
    void *memory = count > SIZE_MAX / 2 / size ? NULL : malloc((count + (count == 0)) * size);
    if (memory == NULL) SPC_STOP("there is no memory for an array of a kernel");
    return memory;
}
