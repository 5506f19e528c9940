// How often each digit stands in the keys that a block has.
extern "C" __global__ void __launch_bounds__(256) NAME_digits(
    u64 length,
    u64 shift,
    const u32* __restrict__ keys,
    u64* __restrict__ counts
) {
    __shared__ u32 digits[256];
    digits[threadIdx.x] = 0;
    __syncthreads();
    const u64 begin = (u64)blockIdx.x * 4096;
    const u64 end = min(begin + 4096, length);
    for (u64 n = begin + threadIdx.x; n < end; n += 256) atomicAdd(&digits[keys[n] >> shift & 255], 1u);
    __syncthreads();
    counts[(u64)threadIdx.x * gridDim.x + blockIdx.x] = digits[threadIdx.x];
}

// Puts keys of one digit side by side, in the order in which they are, with the places that they had before all was sorted.
extern "C" __global__ void __launch_bounds__(256) NAME_sort(
    u64 length,
    u64 shift,
    u64 is_first,
    const u64* __restrict__ begins,
    const u32* __restrict__ keys,
    const u32* __restrict__ places,
    u32* __restrict__ sorted_keys,
    u32* __restrict__ sorted_places
) {
    // Where the next key of each digit goes, and how many of them the warps before have.
    __shared__ u64 next[256];
    __shared__ u32 warps[8][256];
    const u32 thread = threadIdx.x;
    const u32 lane = thread % 32;
    const u32 warp = thread / 32;
    next[thread] = begins[(u64)thread * gridDim.x + blockIdx.x];
    const u64 begin = (u64)blockIdx.x * 4096;
    const u64 end = min(begin + 4096, length);
    for (u64 first = begin; first < end; first += 256) {
        for (u32 n = 0; n < 8; n++) warps[n][thread] = 0;
        __syncthreads();
        const u64 n = first + thread;
        const u32 key = n < end ? keys[n] : 0;
        const u32 digit = n < end ? key >> shift & 255 : 256;
        const u32 mates = __match_any_sync(0xffffffffu, digit);
        const u32 before = __popc(mates & ((1u << lane) - 1));
        if (n < end && before == 0) warps[warp][digit] = __popc(mates);
        __syncthreads();
        u32 sum = 0;
        for (u32 n = 0; n < 8; n++) {
            const u32 own = warps[n][thread];
            warps[n][thread] = sum;
            sum += own;
        }
        __syncthreads();
        if (n < end) {
            const u64 to = next[digit] + warps[warp][digit] + before;
            sorted_keys[to] = key;
            sorted_places[to] = is_first ? n : places[n];
        }
        __syncthreads();
        next[thread] += sum;
    }
}
