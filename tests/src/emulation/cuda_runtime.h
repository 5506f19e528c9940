// What host code uses of CUDA's run time, where the device is emulated: its memory is the host's, and a stream does each thing at once.
#pragma once
#include <stdio.h>
#include <stdlib.h>

typedef struct spc_stream *cudaStream_t;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorMisalignedAddress = 716, cudaErrorLaunchFailure = 719 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };

static char spc_said[512];
static cudaError_t spc_last = cudaSuccess;

static inline const char *cudaGetErrorString(cudaError_t status) {
    return status == cudaErrorLaunchFailure ? spc_said : status == cudaSuccess ? "no error" : "invalid argument";
}
static inline cudaError_t cudaGetLastError() {
    const cudaError_t status = spc_last;
    spc_last = cudaSuccess;
    return status;
}
static inline cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t) {
    *memory = malloc(bytes + 8);
    if (*memory == nullptr) return cudaErrorMemoryAllocation;
    memset(*memory, 0xa7, bytes); // What was not set is not zero.
    return cudaSuccess;
}
static inline cudaError_t cudaFreeAsync(void *memory, cudaStream_t) {
    free(memory);
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t) {
    memset(memory, byte, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
    memcpy(to, from, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

// A launch, whose fields are those of `runtime.cpp`.
struct spc_cfg {
    uint32_t grid[3], block[3], smem, order, flags, pad;
    uint64_t seed, first, last;
};
extern "C" int spc_run(void (*)(void **), void **, const spc_cfg *, char *, size_t, uint64_t *);

template <class... P> struct spc_kernel {
    template <size_t... I> static void go(void **a, spc_seq<I...>) { (*(void (**)(P...))a[0])(*(P *)a[I + 1]...); }
    static void invoke(void **a) { go(a, typename spc_mk<sizeof...(P)>::t()); }

    static void launch(void (*function)(P...), const spc_cfg &launch, P... arguments) {
        void *addresses[] = {(void *)&function, (void *)&arguments...};
        const int status = spc_run(&invoke, addresses, &launch, spc_said, sizeof spc_said, nullptr);
        if (status != 0 && spc_last == cudaSuccess) spc_last = cudaErrorLaunchFailure;
    }
};

template <class... P, class Grid, class... A> void spc_launch(void (*function)(P...), const Grid &grid, A... arguments) {
    static uint64_t seed = 0;
    const uint64_t blocks = (uint64_t)grid.blocks[0] * grid.blocks[1];
    const spc_cfg launch = {{grid.blocks[0], grid.blocks[1], 1}, {grid.threads[0], grid.threads[1], 1}, (uint32_t)grid.shared, 2, 3, 0, ++seed, 0, blocks};
    spc_kernel<P...>::launch(function, launch, arguments...);
}
#define SPC_LAUNCH(function, grid, stream, ...) spc_launch(function, grid, __VA_ARGS__)
