// device.h - lets a host C++ compiler compile CUDA C kernels unchanged. g++ -x c++ -include spc_cuda_emu.h k.cu
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ thread_local          // block scope: implies static storage; also legal after `extern`
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#ifndef SPC_SMEM_MAX
#define SPC_SMEM_MAX (227 * 1024)
#endif
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
#define SPC_VEC(T, N) struct __align__(sizeof(T) * 2) N##2 { T x, y; }; struct __align__(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) N##4 { T x, y, z, w; }; \
  static inline N##2 make_##N##2(T a, T b) { return {a, b}; } static inline N##4 make_##N##4(T a, T b, T c, T d) { return {a, b, c, d}; }
SPC_VEC(int, int) SPC_VEC(unsigned, uint) SPC_VEC(float, float) SPC_VEC(double, double) SPC_VEC(long long, longlong)
#undef SPC_VEC
struct spc_ctx { uint3 tid, bid; dim3 bdim, gdim; };                 // one per CUDA thread, first member of the fiber
extern "C" {
extern __thread spc_ctx* spc_cur;
enum { SPC_SYNC, SPC_SHFL, SPC_BALLOT, SPC_ADD, SPC_MIN, SPC_MAX, SPC_SMIN, SPC_SMAX, SPC_AND, SPC_OR, SPC_XOR, SPC_MATCH };
uint64_t spc_warp_op(unsigned mask, int op, uint64_t val, int src, int line);
int spc_barrier(int pred, int line);                                  // returns popcount of pred over the block
void spc_yield();
unsigned spc_activemask();
void spc_trap(const char* what, int line) __attribute__((noreturn));
int printf(const char*, ...);
}
#define threadIdx (spc_cur->tid)
#define blockIdx (spc_cur->bid)
#define blockDim (spc_cur->bdim)
#define gridDim (spc_cur->gdim)
#define warpSize 32
#define SPC_L int line = __builtin_LINE()
#define SPC_FN static inline __attribute__((always_inline))
SPC_FN void __syncthreads(SPC_L) { spc_barrier(0, line); }
SPC_FN int __syncthreads_count(int p, SPC_L) { return spc_barrier(!!p, line); }
SPC_FN int __syncthreads_or(int p, SPC_L) { return spc_barrier(!!p, line) > 0; }
SPC_FN int __syncthreads_and(int p, SPC_L) { return spc_barrier(!p, line) == 0; }
SPC_FN void __syncwarp(unsigned m = ~0u, SPC_L) { spc_warp_op(m, SPC_SYNC, 0, -1, line); }
SPC_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SPC_FN void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SPC_FN void __nanosleep(unsigned) { spc_yield(); }
SPC_FN unsigned __activemask() { return spc_activemask(); }
SPC_FN void __trap(SPC_L) { spc_trap("__trap", line); }
SPC_FN int spc_lane() { return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u); }
template <class T> SPC_FN T spc_shfl(unsigned m, T v, int src, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffle of 4 or 8 bytes only");
  uint64_t b = 0; memcpy(&b, &v, sizeof v); b = spc_warp_op(m, SPC_SHFL, b, src, line); memcpy(&v, &b, sizeof v); return v;
}
template <class T> SPC_FN T __shfl_sync(unsigned m, T v, int s, int w = 32, SPC_L) { return spc_shfl(m, v, (spc_lane() & ~(w - 1)) | (s & (w - 1)), line); }
template <class T> SPC_FN T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32, SPC_L) { int l = spc_lane(); return spc_shfl(m, v, (int)(l % w + d) < w ? l + (int)d : l, line); }
template <class T> SPC_FN T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32, SPC_L) { int l = spc_lane(); return spc_shfl(m, v, l % w >= (int)d ? l - (int)d : l, line); }
template <class T> SPC_FN T __shfl_xor_sync(unsigned m, T v, int x, int w = 32, SPC_L) { int l = spc_lane(), t = l ^ x; return spc_shfl(m, v, (t / w) <= (l / w) ? t : l, line); }
SPC_FN unsigned __ballot_sync(unsigned m, int p, SPC_L) { return (unsigned)spc_warp_op(m, SPC_BALLOT, !!p, -1, line); }
SPC_FN int __any_sync(unsigned m, int p, SPC_L) { return __ballot_sync(m, p, line) != 0; }
SPC_FN int __all_sync(unsigned m, int p, SPC_L) { return __ballot_sync(m, !p, line) == 0; }
SPC_FN unsigned __reduce_add_sync(unsigned m, unsigned v, SPC_L) { return (unsigned)spc_warp_op(m, SPC_ADD, v, -1, line); }
SPC_FN int __reduce_add_sync(unsigned m, int v, SPC_L) { return (int)spc_warp_op(m, SPC_ADD, (unsigned)v, -1, line); }
SPC_FN unsigned __reduce_min_sync(unsigned m, unsigned v, SPC_L) { return (unsigned)spc_warp_op(m, SPC_MIN, v, -1, line); }
SPC_FN unsigned __reduce_max_sync(unsigned m, unsigned v, SPC_L) { return (unsigned)spc_warp_op(m, SPC_MAX, v, -1, line); }
SPC_FN int __reduce_min_sync(unsigned m, int v, SPC_L) { return (int)spc_warp_op(m, SPC_SMIN, (uint64_t)(int64_t)v, -1, line); }
SPC_FN int __reduce_max_sync(unsigned m, int v, SPC_L) { return (int)spc_warp_op(m, SPC_SMAX, (uint64_t)(int64_t)v, -1, line); }
SPC_FN unsigned __reduce_and_sync(unsigned m, unsigned v, SPC_L) { return (unsigned)spc_warp_op(m, SPC_AND, v, -1, line); }
SPC_FN unsigned __reduce_or_sync(unsigned m, unsigned v, SPC_L) { return (unsigned)spc_warp_op(m, SPC_OR, v, -1, line); }
SPC_FN unsigned __reduce_xor_sync(unsigned m, unsigned v, SPC_L) { return (unsigned)spc_warp_op(m, SPC_XOR, v, -1, line); }
template <class T> SPC_FN unsigned __match_any_sync(unsigned m, T v, SPC_L) { uint64_t b = 0; memcpy(&b, &v, sizeof v); return (unsigned)spc_warp_op(m, SPC_MATCH, b, -1, line); }
// atomics (relaxed, device scope). Integers map to builtins, floating point to CAS loops.
#define SPC_RMW_INT(N, B) template <class T> SPC_FN T N(T* p, T v) { return B(p, v, __ATOMIC_RELAXED); } 
SPC_RMW_INT(spc_iadd, __atomic_fetch_add) SPC_RMW_INT(atomicAnd, __atomic_fetch_and) SPC_RMW_INT(atomicOr, __atomic_fetch_or) SPC_RMW_INT(atomicXor, __atomic_fetch_xor)
template <class T> SPC_FN T atomicExch(T* p, T v) { T o; __atomic_exchange(p, &v, &o, __ATOMIC_RELAXED); return o; }
template <class T> SPC_FN T atomicCAS(T* p, T c, T v) { __atomic_compare_exchange(p, &c, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); return c; }
template <class T, class I, class F> SPC_FN T spc_rmw(T* p, F f) {
  I o = __atomic_load_n((I*)p, __ATOMIC_RELAXED), n; T t;
  do { memcpy(&t, &o, sizeof t); T u = f(t); memcpy(&n, &u, sizeof n); } while (!__atomic_compare_exchange_n((I*)p, &o, n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return t;
}
SPC_FN int atomicAdd(int* p, int v) { return spc_iadd(p, v); }
SPC_FN unsigned atomicAdd(unsigned* p, unsigned v) { return spc_iadd(p, v); }
SPC_FN unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) { return spc_iadd(p, v); }
SPC_FN float atomicAdd(float* p, float v) { return spc_rmw<float, uint32_t>(p, [=](float o) { return o + v; }); }
SPC_FN double atomicAdd(double* p, double v) { return spc_rmw<double, uint64_t>(p, [=](double o) { return o + v; }); }
SPC_FN int atomicSub(int* p, int v) { return spc_iadd(p, -v); }
template <class T> SPC_FN T atomicMax(T* p, T v) { return spc_rmw<T, T>(p, [=](T o) { return o > v ? o : v; }); }
template <class T> SPC_FN T atomicMin(T* p, T v) { return spc_rmw<T, T>(p, [=](T o) { return o < v ? o : v; }); }
// scalar helpers that CUDA provides without headers
template <class T> SPC_FN T __ldg(const T* p) { return *p; }
template <class T> SPC_FN T __ldcs(const T* p) { return *p; }
template <class T> SPC_FN T __ldcg(const T* p) { return *p; }
template <class T> SPC_FN void __stcs(T* p, T v) { *p = v; }
#define SPC_MM(T) SPC_FN T min(T a, T b) { return b < a ? b : a; } SPC_FN T max(T a, T b) { return a < b ? b : a; }
SPC_MM(int) SPC_MM(unsigned) SPC_MM(long long) SPC_MM(unsigned long long) SPC_MM(float) SPC_MM(double)
#undef SPC_MM
SPC_FN int __popc(unsigned v) { return __builtin_popcount(v); }
SPC_FN int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
SPC_FN int __ffs(int v) { return __builtin_ffs(v); }
SPC_FN int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
SPC_FN unsigned __brev(unsigned v) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= ((v >> i) & 1u) << (31 - i); return r; }
SPC_FN float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SPC_FN double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
SPC_FN int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
SPC_FN float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
SPC_FN long long __double_as_longlong(double f) { long long i; memcpy(&i, &f, 8); return i; }
SPC_FN double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
#ifdef NDEBUG_DEVICE
#define assert(c) ((void)0)
#else
#define assert(c) ((c) ? (void)0 : spc_trap("device assert: " #c, __LINE__))
#endif
// kernel export: SPC_EXPORT(k) gives `extern "C" void spc_invoke_k(void** kernelParams)` (cuLaunchKernel argument layout)
template <size_t... I> struct spc_seq {};
template <size_t N, size_t... I> struct spc_mk : spc_mk<N - 1, N - 1, I...> {};
template <size_t... I> struct spc_mk<0, I...> { typedef spc_seq<I...> t; };
template <auto K> struct spc_inv;
template <class... A, void (*K)(A...)> struct spc_inv<K> {
  template <size_t... I> static inline __attribute__((always_inline, no_sanitize("thread"))) void go(void** a, spc_seq<I...>) { K(*(A*)a[I]...); (void)a; }
  static inline __attribute__((always_inline, no_sanitize("thread"))) void call(void** a) { go(a, typename spc_mk<sizeof...(A)>::t()); }
};
#define SPC_EXPORT_AS(NAME, ...) extern "C" __attribute__((visibility("default"), no_sanitize("thread"))) void spc_invoke_##NAME(void** a) { spc_inv<__VA_ARGS__>::call(a); }
#define SPC_EXPORT(K) SPC_EXPORT_AS(K, K)
