// What a description of a GPU (runtime/src/cuda/model/gpus) says of one, measured: bandwidths, latencies, what a launch takes, and rates of
// atomic operations. `nvcc -O3 -arch=native constants.cu -o constants && ./constants`; each line is a property and its value, or a
// rate by which the constants of runtime/src/cuda/model/predict.rs are judged.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        cudaError_t status = (call);                                                                                 \
        if (status != cudaSuccess) {                                                                                 \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                     \
            std::exit(1);                                                                                            \
        }                                                                                                            \
    } while (0)

// The median of some launches, in seconds, by events.
template <class Launch>
double seconds(Launch launch, int repeat = 15) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int turn = 0; turn < repeat + 2; ++turn) {
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        if (turn >= 2) times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] * 1e-3;
}

__global__ void nothing() {}

__global__ void copy(const float4 *from, float4 *to, size_t count) {
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < count; at += (size_t)gridDim.x * blockDim.x)
        to[at] = from[at];
}

// Reads the array several times, each block from elsewhere in each turn, past the first level. `count` is a power of two.
__global__ void read(const float4 *from, unsigned count, int times, float *sink) {
    float4 sum = {0, 0, 0, 0};
    const unsigned mask = count - 1, step = gridDim.x * blockDim.x;
    for (int turn = 0; turn < times; ++turn) {
        const unsigned first = blockIdx.x * blockDim.x + threadIdx.x + turn * 1027 * blockDim.x;
#pragma unroll 8
        for (unsigned n = 0; n < count; n += step) {
            const float4 v = __ldcg(from + (first + n & mask));
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
    }
    if (sum.x + sum.y + sum.z + sum.w == 12345.678f) *sink = sum.x;
}

__global__ void chase(const uint32_t *next, int steps, uint32_t *sink, long long *clocks) {
    uint32_t at = 0;
    for (int step = 0; step < 512; ++step) at = next[at];
    long long start = clock64();
    for (int step = 0; step < steps; ++step) at = next[at];
    *clocks = clock64() - start;
    *sink = at;
}

// `way`: 0 a warp's lanes side by side, warps at random; 1 all of a warp at one address, warps at random; 2 every lane at random;
// 3 all of the device at one address; 4 all warps at the same 32 addresses; 5 as 0, but few places: 256 of them.
template <class T>
__global__ void atomics(T *to, unsigned count, int times, int way) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    for (int turn = 0; turn < times; ++turn) {
        unsigned mixed = (warp * 2654435761u + turn * 40503u * 65599u) ^ (warp >> 3);
        mixed ^= mixed >> 15;
        mixed *= 2246822519u;
        mixed ^= mixed >> 13;
        unsigned each = (mixed + lane * 2246822519u) * 2654435761u;
        unsigned place = way == 0   ? (mixed % (count / 32)) * 32 + lane
                         : way == 1 ? mixed % count
                         : way == 2 ? (each >> 3) % count
                         : way == 3 ? 0
                         : way == 4 ? lane
                                    : (mixed % 256) * 32 + lane;
        atomicAdd(to + place, (T)1);
    }
}

double chased(size_t bytes) {
    // One place in each line of 128 bytes, in an order that no prefetcher knows.
    size_t lines = bytes / 128;
    std::vector<uint32_t> order(lines), next(bytes / 4);
    for (size_t line = 0; line < lines; ++line) order[line] = line;
    uint64_t state = 88172645463325252ull;
    for (size_t line = lines - 1; line > 0; --line) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        std::swap(order[line], order[state % (line + 1)]);
    }
    for (size_t line = 0; line < lines; ++line) next[order[line] * 32] = order[(line + 1) % lines] * 32;
    uint32_t *memory, *sink;
    long long *clocks, result;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMalloc(&sink, 4));
    CHECK(cudaMalloc(&clocks, 8));
    CHECK(cudaMemcpy(memory, next.data(), bytes, cudaMemcpyHostToDevice));
    int steps = 4096;
    // What is larger than the caches is new each time; what is smaller is there after a way through all of it.
    if (bytes <= (64 << 20)) chase<<<1, 1>>>(memory, lines, sink, clocks);
    chase<<<1, 1>>>(memory, steps, sink, clocks);
    CHECK(cudaMemcpy(&result, clocks, 8, cudaMemcpyDeviceToHost));
    cudaFree(memory), cudaFree(sink), cudaFree(clocks);
    return (double)result / steps;
}

template <class T>
void rates(const char *type, double hertz, int multiprocessors) {
    const char *ways[] = {"side by side", "one address a warp", "all at random", "one address", "the same 32 addresses", "256 places side by side"};
    for (size_t megabytes : {16, 1024}) {
        T *to;
        unsigned count = megabytes * (1u << 20) / sizeof(T);
        CHECK(cudaMalloc(&to, (size_t)count * sizeof(T)));
        CHECK(cudaMemset(to, 0, (size_t)count * sizeof(T)));
        for (int way = 0; way < (megabytes == 16 ? 6 : 3); ++way) {
            int blocks = multiprocessors * 8, times = way >= 3 ? 8 : 32;
            double time = seconds([&] { atomics<T><<<blocks, 256>>>(to, count, times, way); }, 5);
            double warps = (double)blocks * 8 * times, sectors = way == 0 || way >= 4 ? warps * sizeof(T) : way == 2 ? warps * 32 : warps;
            std::printf("atomics %s, %zu MB, %s: %.1f us, %.3f sectors a clock, %.3f lanes a clock\n", type, megabytes, ways[way], time * 1e6,
                        sectors / time / hertz, warps * 32 / time / hertz);
        }
        cudaFree(to);
    }
}

int main() {
    cudaDeviceProp gpu;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int kilohertz = 0;
    CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    double hertz = kilohertz * 1e3;
    std::printf("name = %s\nmultiprocessors = %d\nclock_ghz = %.3f\nl2 size = %d\n", gpu.name, gpu.multiProcessorCount, hertz / 1e9, gpu.l2CacheSize);
    // What a launch takes between two events, and each of a row of launches.
    std::printf("launch_us = %.2f\n", seconds([] { nothing<<<132, 256>>>(); }, 101) * 1e6);
    std::printf("launch in a row us = %.2f\n", seconds([] { for (int i = 0; i < 100; ++i) nothing<<<132, 256>>>(); }, 11) * 1e4);
    size_t bytes = (size_t)1 << 30;
    char *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemset(from, 0, bytes));
    CHECK(cudaMemset(to, 0, bytes));
    int blocks = gpu.multiProcessorCount * 8;
    std::printf("memory_gbs, copy by a kernel = %.0f\n", 2 * bytes / seconds([&] { copy<<<blocks * 4, 256>>>((float4 *)from, (float4 *)to, bytes / 16); }) / 1e9);
    std::printf("memory_gbs, copy by the driver = %.0f\n", 2 * bytes / seconds([&] { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice); }) / 1e9);
    for (unsigned megabytes : {4, 8, 16, 32, 64, 128, 1024}) {
        size_t size = (size_t)megabytes << 20;
        int times = std::max<size_t>(1, ((size_t)2 << 30) / size);
        double time = seconds([&] { read<<<blocks, 256>>>((const float4 *)from, size / 16, times, (float *)to); }, 5);
        std::printf("read of %u MB = %.0f GB/s\n", megabytes, size * (double)times / time / 1e9);
    }
    std::printf("l1_clocks = %.0f\n", chased(16 << 10));
    for (size_t megabytes : {1, 8, 20, 32}) std::printf("l2_clocks, %zu MB = %.0f\n", megabytes, chased(megabytes << 20));
    std::printf("memory_clocks = %.0f\n", chased((size_t)1 << 30));
    rates<float>("f32", hertz, gpu.multiProcessorCount);
    rates<double>("f64", hertz, gpu.multiProcessorCount);
    rates<int>("i32", hertz, gpu.multiProcessorCount);
    return 0;
}
