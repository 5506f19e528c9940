
#ifndef SPC_VECTOR
#define SPC_VECTOR
typedef struct {
    void *data;
    size_t length;
    size_t capacity;
} spc_vector;
#endif

typedef struct {
    size_t (*threads)(void);
    unsigned char (*run_all)(size_t count, void (*body)(const void *data, size_t index), const void *data);
    unsigned char *(*allocate)(size_t size, size_t align);
    unsigned char *(*allocate_zeroed)(size_t size, size_t align);
    unsigned char *(*reallocate)(unsigned char *memory, size_t size, size_t align, size_t new_size);
    void (*free)(unsigned char *memory, size_t size, size_t align);
} spc_host;

typedef struct {
    const size_t *dimensions;
    spc_vector *arrays;
    spc_vector message;
} spc_call;

/* The alignment of an array of the host's. */
static inline size_t spc_align(size_t size) {
    return size > 8 ? 8 : size;
}

static inline void spc_begin(const spc_host *host) {
#ifdef _OPENMP
    omp_set_num_threads((int)host->threads());
#else
    (void)host;
#endif
}

/* What a kernel appends to is its own; what the host has given for it is freed. */
static inline spc_vector spc_empty(const spc_host *host, spc_vector *given, size_t size) {
    if (given->capacity > 0) host->free((unsigned char *)given->data, given->capacity * size, spc_align(size));
    return (spc_vector){0};
}

static inline void spc_give(const spc_host *host, spc_vector *given, spc_vector *vector, size_t size) {
    const size_t length = vector->length;
    unsigned char *memory = (unsigned char *)spc_align(size);
    if (length > 0) {
        memory = host->allocate(length * size, spc_align(size));
        if (memory == NULL) abort();
        memcpy(memory, vector->data, length * size);
    }
    *given = (spc_vector){memory, length, length};
    free(vector->data);
}

/* The call went wrong, and why. */
static inline int32_t spc_fail(const spc_host *host, spc_call *call, const char *why) {
    const size_t length = strlen(why);
    unsigned char *memory = host->allocate(length + 1, 1);
    if (memory == NULL) abort();
    memcpy(memory, why, length);
    call->message = (spc_vector){memory, length, length + 1};
    return 1;
}

#ifdef __cplusplus
/* An address of elements of any type. */
struct spc_any {
    void *data;
    explicit spc_any(void *data) : data(data) {}
    template <class T> operator T *() const { return (T *)data; }
};
#endif
