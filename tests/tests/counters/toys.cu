// Kernels whose counts are known by hand. All arguments have 64 bits.
typedef unsigned int u32; typedef unsigned long long u64; typedef double f64;
__global__ void toy_stride(u64 n, u64 stride, const f64* __restrict__ x, f64* __restrict__ y) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    y[i] = x[i * stride];
}
__global__ void toy_gather(u64 n, const u32* __restrict__ c, const f64* __restrict__ x, f64* __restrict__ y) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    y[i] = x[c[i]];
}
__global__ void toy_atomic(u64 n, u64 ways, f64* __restrict__ y) {   // so many lanes of a warp meet
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    atomicAdd(&y[i / ways], 1.0);
}
__global__ void toy_count(u64 n, u64 ways, u32* __restrict__ y) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    atomicAdd(&y[i / ways], 1u);
}
__global__ void toy_shared(u64 stride, f64* __restrict__ y) {
    __shared__ float s[1024];
    for (int k = threadIdx.x; k < 1024; k += 32) s[k] = 1.0f;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x * stride % 1024];
}
__global__ void toy_shared_wide(u64 stride, f64* __restrict__ y) {
    __shared__ f64 s[512];
    for (int k = threadIdx.x; k < 512; k += 32) s[k] = 1.0;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x * stride % 512];
}
__global__ void toy_nest(u64 outer, const u32* __restrict__ a, u64* __restrict__ y) {   // lane l: (l + o) % 32 turns inside
    u64 t = 0;
    for (u64 o = 0; o < outer; o++) {
        const u64 turns = (threadIdx.x + o) % 32;
        for (u64 k = 0; k < turns; k++) t += a[k * 32 + threadIdx.x];
    }
    y[threadIdx.x] = t;
}
__global__ void toy_group(u64 n, const u32* __restrict__ pos, const f64* __restrict__ x, f64* __restrict__ y) {   // 4 groups of 8 lanes
    const u32 lane = threadIdx.x % 8, g = threadIdx.x / 8; const u32 mates = 0xffu << g * 8;
    for (u64 row = g; row < n; row += 4) {
        f64 t = 0;
        for (u32 p = pos[row] + lane; p < pos[row + 1]; p += 8) t += x[p];
        for (int o = 4; o > 0; o /= 2) t += __shfl_xor_sync(mates, t, o);
        if (lane == 0) y[row] = t;
    }
}
__global__ void toy_divergent(u64 n, const f64* __restrict__ x, f64* __restrict__ y) {   // odd lanes do something else
    const u64 i = threadIdx.x;
    f64 t;
    if (i % 2) t = x[i] * 2.0; else t = y[i] - 1.0;
    y[i] = t;
}
