// Sums of the counts before each one, for the counts of a block; and the block's total.
extern "C" __global__ void __launch_bounds__(256) NAME_scan(
    u64 length,
    u64* __restrict__ counts,
    u64* __restrict__ totals
) {
    __shared__ u64 warps[8];
    const u64 begin = (u64)blockIdx.x * 1024 + threadIdx.x * 4;
    const u32 lane = threadIdx.x % 32;
    u64 own[4];
    u64 sum = 0;
    for (u32 n = 0; n < 4; n++) {
        own[n] = begin + n < length ? counts[begin + n] : 0;
        sum += own[n];
    }
    u64 before = sum;
    for (u32 offset = 1; offset < 32; offset *= 2) {
        const u64 other = __shfl_up_sync(0xffffffffu, before, offset);
        if (lane >= offset) before += other;
    }
    if (lane == 31) warps[threadIdx.x / 32] = before;
    __syncthreads();
    before -= sum;
    for (u32 n = 0; n < threadIdx.x / 32; n++) before += warps[n];
    if (threadIdx.x == 255) totals[blockIdx.x] = before + sum;
    for (u32 n = 0; n < 4 && begin + n < length; n++) {
        counts[begin + n] = before;
        before += own[n];
    }
}

// Adds what all blocks before have.
extern "C" __global__ void __launch_bounds__(256) NAME_shift(
    u64 length,
    u64 first,
    u64* __restrict__ counts,
    const u64* __restrict__ totals
) {
    const u64 n = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= length) return;
    counts[n] += first + totals[n / 1024];
}
