/* How many threads parallel loops run on. */
static inline size_t spc_threads(void) {
#ifdef _OPENMP
    return (size_t)omp_get_max_threads();
#else
    return 1;
#endif
}
