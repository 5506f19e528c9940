/*
 * spc for C: sparse tensor kernels, compiled from index notation for the formats of their operands.
 *
 *     spc_builder builder; spc_kernel spmv; spc_tensor y;
 *     spc_builder_new("y(i) = A(i, j) * x(j)", &builder);
 *     spc_builder_format(builder, "A", "csr");
 *     spc_kernel_compile(builder, &spmv);
 *     spc_kernel_call(spmv, (spc_tensor[]){A, x}, 2, &y, 1);
 *
 * Errors.  Each function returns a status, SPC_OK or why it did nothing. spc_message() tells more, with the place in a text. What a
 * function would have written is left as it was.
 *
 * Handles  are numbers. One that was freed, is of another kind or was never given out is SPC_ERROR_HANDLE, and no number is given out
 * twice. spc_free frees any of them; what a call uses at that time lives until the call ends.
 *
 * Arrays  go in with their length and the type of their elements. With an owner they are borrowed, without a copy, until the owner's
 * `release` is called: once, by any thread, when neither a tensor nor a result that has the same index arrays has them any longer. If the
 * function fails nothing is borrowed and nothing is released. Without an owner (NULL, or `release` NULL) they are copied; so are
 * values SPC_BOOL, which are bytes, each 0 or 1. Index arrays are checked when a tensor is made, and must not change as long as they are
 * borrowed; borrowed values must not change during a call.
 * What a function can't check is that so many elements lie where a pointer says: that is the caller's word.
 *
 * Threads.  Every function may be called by any thread at any time, with the same handles, too. Messages are each thread's own. A
 * kernel runs on as many threads as there are processors (RAYON_NUM_THREADS says otherwise), or on those of spc_builder_threads. In a
 * process that was forked after the first call, only kernels with threads of their own that were compiled there run.
 *
 * Strings  are UTF-8 and end in 0. Where a function fills `buffer`, `*length` becomes the length of the text without its end; with
 * `buffer` NULL and `capacity` 0 that is all it does. `length` may be NULL.
 *
 * Shapes count elements; modes, levels and indices count from 0. Messages count modes from 1.
 */
#ifndef SPC_H
#define SPC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these functions: compare with spc_api_version(). It changes when something that was there does. */
#define SPC_API_VERSION 1

/* How a call ended. */
typedef int32_t spc_status;
#define SPC_OK 0
#define SPC_ERROR_ARGUMENT 1 /* a pointer, length, number or string is none that the function takes */
#define SPC_ERROR_HANDLE 2   /* a handle is none, was freed, or is of another kind */
#define SPC_ERROR_TEXT 3     /* a text or a format is wrong; the message shows where */
#define SPC_ERROR_TENSOR 4   /* arrays are no tensor of the format */
#define SPC_ERROR_CALL 5     /* inputs or targets do not fit the kernel */
#define SPC_ERROR_MEMORY 6   /* there is not enough memory */
#define SPC_ERROR_FILE 7     /* a file can't be read or written */
#define SPC_ERROR_RUN 8      /* a kernel can't be compiled here, or stopped while it ran */
#define SPC_ERROR_INTERNAL 9 /* a mistake of the library */

/* The types of elements. Complex numbers are pairs: real, imaginary. Truth values are bytes, 0 or 1. */
#define SPC_F64 0
#define SPC_F32 1
#define SPC_F16 2
#define SPC_BF16 3
#define SPC_I8 4
#define SPC_I16 5
#define SPC_I32 6
#define SPC_I64 7
#define SPC_U8 8
#define SPC_U16 9
#define SPC_U32 10
#define SPC_U64 11
#define SPC_BOOL 12
#define SPC_C32 13
#define SPC_C64 14

/* Handles; 0 is none. */
typedef uint64_t spc_tensor;
typedef uint64_t spc_builder;
typedef uint64_t spc_kernel;

/* Positions or coordinates: `length` numbers of `bytes` bytes (1, 2, 4 or 8). All zero for an array that a level does not have. Signed
 * indices may be handed in as they are: negative ones are beyond every extent, and refused. */
typedef struct spc_indices {
    const void *data;
    uint64_t length;
    uint64_t bytes;
} spc_indices;

/* The arrays of a level. `dense` has none; `compressed` has positions, one more than there are positions of the level above, and
 * coordinates; `singleton` has coordinates. */
typedef struct spc_level {
    spc_indices positions;
    spc_indices coordinates;
} spc_level;

/* `length` values of a type: SPC_F64 and so on. */
typedef struct spc_values {
    const void *data;
    uint64_t length;
    int32_t element;
} spc_values;

/* What keeps arrays that are borrowed. */
typedef struct spc_owner {
    void *object;
    void (*release)(void *object);
} spc_owner;

/* An array that a call writes a result to: contiguous, the last mode fastest. */
typedef struct spc_target {
    void *data;
    uint64_t length;
    int32_t element;
    uint32_t order;
    const uint64_t *shape;
} spc_target;

/* How large a tensor is. */
typedef struct spc_info {
    int32_t element;
    uint32_t order;
    uint64_t levels;
    uint64_t entries;
    uint64_t values;
    uint64_t bytes;
} spc_info;

/* The message of this thread's last call that failed; empty if none did. It is there until another call of the thread fails. */
const char *spc_message(void);

/* SPC_API_VERSION of the library, and its version as "0.1.0". */
uint32_t spc_api_version(void);
const char *spc_version(void);

/* Frees a tensor, a builder or a kernel; 0 is none, and no error. */
spc_status spc_free(uint64_t handle);

/* -- Tensors -- */

/* A dense tensor: `order` extents, and a value for each element, the last mode fastest. Of order 0 it is a number. */
spc_status spc_tensor_dense(uint32_t order, const uint64_t *shape, const spc_values *values, const spc_owner *owner, spc_tensor *result);

/* A matrix in compressed rows: `rows + 1` positions, and a column and a value for each entry, the columns of a row ascending. With
 * indices of 4 bytes it is what kernels call `csr`, with others `[dense, compressed(u64, pos = u64)]`. */
spc_status spc_tensor_csr(uint64_t rows, uint64_t columns, const spc_indices *positions, const spc_indices *coordinates, const spc_values *values, const spc_owner *owner, spc_tensor *result);

/* Coordinates, sorted by the first mode, then the second and so on: an array of them for each of the `order` modes. */
spc_status spc_tensor_coo(uint32_t order, const uint64_t *shape, const spc_indices *coordinates, const spc_values *values, const spc_owner *owner, spc_tensor *result);

/* A tensor of any format (`csf`, `dcsr`, `[dense, compressed(u64, pos = u64)]`): the arrays of each level, outermost first. */
spc_status spc_tensor_levels(uint32_t order, const uint64_t *shape, const char *format, const spc_level *levels, uint64_t level_count, const spc_values *values, const spc_owner *owner, spc_tensor *result);

/* Entries in any order, packed into a format: an array of coordinates for each mode. Several with one index become their sum, or are an
 * error if `is_summed` is 0. */
spc_status spc_tensor_entries(uint32_t order, const uint64_t *shape, const char *format, const spc_indices *coordinates, const spc_values *values, int32_t is_summed, spc_tensor *result);

/* The same tensor in another format. */
spc_status spc_tensor_convert(spc_tensor tensor, const char *format, spc_tensor *result);

/* The tensor of a file, and a file of a tensor: .tns, .mtx, .npy, .npz, .spct, each also .gz. */
spc_status spc_tensor_read(const char *path, spc_tensor *result);
spc_status spc_tensor_write(spc_tensor tensor, const char *path);

/* How large a tensor is, its extents (`capacity` is at least its order), and its format, level by level. */
spc_status spc_tensor_info(spc_tensor tensor, spc_info *info);
spc_status spc_tensor_shape(spc_tensor tensor, uint64_t *shape, uint64_t capacity);
spc_status spc_tensor_format(spc_tensor tensor, char *buffer, uint64_t capacity, uint64_t *length);

/* The arrays of a level, and the values: for reading, in the tensor's memory, until the tensor is freed. */
spc_status spc_tensor_level(spc_tensor tensor, uint64_t level, spc_level *arrays);
spc_status spc_tensor_values(spc_tensor tensor, spc_values *values);

/* -- Kernels -- */

/* Begins a kernel: an assignment, whose tensors are `dense` with elements f64 unless spc_builder_format says otherwise, or a whole
 * `fn name(A: csr, x: f32 dense) -> y: dense { … }`. */
spc_status spc_builder_new(const char *text, spc_builder *result);

/* How a tensor of an assignment is stored: "csr", "f32 dense". */
spc_status spc_builder_format(spc_builder builder, const char *tensor, const char *format);

/* The extent of an index: needed where no input has it; a short one that is known makes loops over it faster. */
spc_status spc_builder_extent(spc_builder builder, const char *index, uint64_t extent);

/* How many threads of its own the kernel runs on. */
spc_status spc_builder_threads(spc_builder builder, uint32_t count);

/* What runs the kernel: "native", "jit" or "interpreter"; the best that there is if nothing is said. */
spc_status spc_builder_backend(spc_builder builder, const char *backend);

/* The same inputs give the same bits, on any number of threads. */
spc_status spc_builder_deterministic(spc_builder builder);

/* Compiles what was begun, which stays as it is. */
spc_status spc_kernel_compile(spc_builder builder, spc_kernel *result);

/* The number of inputs and of results. */
spc_status spc_kernel_counts(spc_kernel kernel, uint64_t *inputs, uint64_t *results);

/* A parameter as it is declared: "A: f64 [dense, compressed]". Inputs come first, in the order of a call, then results. */
spc_status spc_kernel_parameter(spc_kernel kernel, uint64_t place, char *buffer, uint64_t capacity, uint64_t *length);

/* What there is to say: "rust" or "c" for the loops, "backend" for what runs them, "fallback" for why that is not a Rust compiler's code,
 * "warnings" for what is probably not meant, a line each. */
spc_status spc_kernel_text(spc_kernel kernel, const char *what, char *buffer, uint64_t capacity, uint64_t *length);

/* Calls a kernel with all its inputs, in the formats that it declares. Each result is a new tensor. */
spc_status spc_kernel_call(spc_kernel kernel, const spc_tensor *inputs, uint64_t input_count, spc_tensor *results, uint64_t result_count);

/* Calls a kernel all of whose results are dense, and writes them to arrays of the caller's, which share no memory with inputs or each
 * other. What they hold before does not matter. If the call fails while the kernel runs, what they hold is not said. */
spc_status spc_kernel_call_into(spc_kernel kernel, const spc_tensor *inputs, uint64_t input_count, const spc_target *targets, uint64_t target_count);

#ifdef __cplusplus
}
#endif

#endif
