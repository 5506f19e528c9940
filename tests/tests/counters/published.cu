// Ways to multiply a sparse matrix by a vector, as libraries have them: by rows, by shares of the entries, by entries with coordinates.
typedef unsigned int u32; typedef unsigned long long u64; typedef double f64;
// A group of blockDim.x lanes for each row.
__global__ void by_rows(u64 n, const u32* __restrict__ pos, const u32* __restrict__ crd, const f64* __restrict__ vals, const f64* __restrict__ x, f64* __restrict__ y) {
    const u64 row = (u64)blockIdx.x * blockDim.y + threadIdx.y; if (row >= n) return;
    const u32 wide = blockDim.x, group = (threadIdx.y * wide % 32) / wide;
    const u32 mates = wide == 32 ? ~0u : ((1u << wide) - 1) << group * wide;
    f64 t = 0;
    for (u32 p = pos[row] + threadIdx.x; p < pos[row + 1]; p += wide) t += vals[p] * x[crd[p]];
    for (u32 o = wide / 2; o > 0; o /= 2) t += __shfl_xor_sync(mates, t, o);
    if (threadIdx.x == 0) y[row] = t;
}
// A warp for each share of the entries, which finds its first row by a search; from there each lane goes to its own row, through empty ones too.
__global__ void by_shares(u64 n, u64 nnz, u64 share, const u32* __restrict__ pos, const u32* __restrict__ crd, const f64* __restrict__ vals, const f64* __restrict__ x, f64* __restrict__ y) {
    const u64 warp = (u64)blockIdx.x * blockDim.y + threadIdx.y, first = warp * share; if (first >= nnz) return;
    const u64 end = min(first + share, nnz); const u32 lane = threadIdx.x;
    u64 low = 0, high = n;
    while (low < high) { const u64 middle = (low + high) / 2; if (pos[middle + 1] <= first) low = middle + 1; else high = middle; }
    for (u64 at = first; at < end; at += 32) {
        const bool is = at + lane < end; const u64 p = is ? at + lane : end - 1;
        while (pos[low + 1] <= p) low++;
        const u32 row = low; f64 t = is ? vals[p] * x[crd[p]] : 0;
        for (u32 o = 1; o < 32; o *= 2) { const f64 other = __shfl_up_sync(~0u, t, o); const u32 of = __shfl_up_sync(~0u, row, o); if (lane >= o && of == row) t += other; }
        const u32 next = __shfl_down_sync(~0u, row, 1);
        if (lane == 31 || next != row) atomicAdd(&y[row], t);
    }
}
// A warp for each share of the entries, which have their rows beside them: sums of equal rows by shuffles, one atomic operation for each.
__global__ void by_entries(u64 nnz, u64 share, const u32* __restrict__ rows, const u32* __restrict__ crd, const f64* __restrict__ vals, const f64* __restrict__ x, f64* __restrict__ y) {
    const u64 warp = (u64)blockIdx.x * blockDim.y + threadIdx.y, first = warp * share; if (first >= nnz) return;
    const u64 end = min(first + share, nnz); const u32 lane = threadIdx.x;
    for (u64 at = first; at < end; at += 32) {
        const bool is = at + lane < end; const u64 p = is ? at + lane : end - 1;
        const u32 row = rows[p]; f64 t = is ? vals[p] * x[crd[p]] : 0;
        for (u32 o = 1; o < 32; o *= 2) { const f64 other = __shfl_up_sync(~0u, t, o); const u32 of = __shfl_up_sync(~0u, row, o); if (lane >= o && of == row) t += other; }
        const u32 next = __shfl_down_sync(~0u, row, 1);
        if (lane == 31 || next != row) atomicAdd(&y[row], t);
    }
}
__global__ void copy(u64 n, const f64* __restrict__ x, f64* __restrict__ y) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i];
}
__global__ void triad(u64 n, const f64* __restrict__ a, const f64* __restrict__ b, f64* __restrict__ y) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a[i] + 3.0 * b[i];
}
__global__ void strided(u64 stride, const float* __restrict__ x, float* __restrict__ y) {
    float t = 0;
    for (u32 k = 0; k < 4; k++) t += x[(threadIdx.x + 32 * k) * stride];
    y[threadIdx.x] = t;
}
__global__ void strided_wide(u64 stride, const f64* __restrict__ x, f64* __restrict__ y) {
    f64 t = 0;
    for (u32 k = 0; k < 4; k++) t += x[(threadIdx.x + 32 * k) * stride];
    y[threadIdx.x] = t;
}
