/* So many chunks are worth their while for that much work. */
static inline size_t spc_chunks(size_t work, size_t most) {
    const size_t worth = work / 4096;
    return worth < 1 || most < 1 ? 1 : worth < most ? worth : most;
}

/* Leaves out chunks without places. */
static size_t spc_distinct(size_t *bounds, size_t chunks) {
    size_t kept = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        if (bounds[chunk + 1] > bounds[kept]) bounds[++kept] = bounds[chunk + 1];
    }
    return kept;
}
