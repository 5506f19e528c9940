// Runtime of the CUDA-on-CPU shim: threads of a block are fibers on one OS thread; blocks may be spread over OS threads.
// Optional: -DSPC_RACECHECK (kernel TU compiled with -fsanitize=thread, no libtsan): races, OOB, uninit shared.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "device.h"
#undef assert
#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <link.h>
#include <unistd.h>
#ifdef SPC_UCONTEXT
#include <ucontext.h>
#endif
#define EXPORT extern "C" __attribute__((visibility("default")))
struct spc_cfg {            // mirrors the Rust #[repr(C)] struct
  uint32_t grid[3], block[3], smem, order /*0 in order, 1 reverse, 2 random*/, flags /*1 poison shared, 2 strict*/, pad;
  uint64_t seed, first, last;
};
struct Blk; struct Warp;
struct Fiber;
#ifdef SPC_COUNT
namespace count { static void merge(Warp*); static void sync(Fiber*, unsigned, void*); static void block_begin(Blk*); static void block_end(Blk*); static void together(Warp*, unsigned); static void barrier(); }
#endif
struct Fiber { spc_ctx c; Blk* b; Warp* w; void* sp; char* stk; unsigned lin, lane, mask; int op, src, line, pred; uint64_t val, out;
#ifdef SPC_UCONTEXT
  ucontext_t uc;
#endif
  uint32_t epoch; uint32_t sync[32]; };
struct Warp { unsigned runnable, waiting, bar, live, n; uint32_t clk; Fiber* f; };
struct Blk { Fiber* f; Warp w[32]; unsigned n, nw, cw, live, nbar; int pred, bline; uint32_t epoch, id; uint64_t rng; unsigned order, flags, smem;
  void* main_sp; void (*inv)(void**); void** args; char* err; size_t nerr; bool abort; char* free_stk[1024]; unsigned nfree;
  char *pool; char *tls0, *tls1; uint64_t switches;
#ifdef SPC_UCONTEXT
  ucontext_t main_uc;
#endif
};
extern "C" { __thread spc_ctx* spc_cur; static __thread Blk* spc_blk; thread_local unsigned char shared_words[SPC_SMEM_MAX] __align__(128); }
enum { STK = 64 * 1024, STRIDE = STK + 4096 };
#define CUR ((Fiber*)spc_cur)
static void spc_fail(Blk* b, const char* fmt, ...) {
  if (b->err[0]) return;                                  // keep the first message
  va_list ap; va_start(ap, fmt); vsnprintf(b->err, b->nerr, fmt, ap); va_end(ap);
}
#ifndef SPC_UCONTEXT
extern "C" void spc_switch(void** save, void* to);
asm(".text\n.type spc_switch,@function\nspc_switch:\n push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n.size spc_switch,.-spc_switch\n");
#endif
static uint64_t rnd(Blk* b) { b->rng ^= b->rng << 13; b->rng ^= b->rng >> 7; b->rng ^= b->rng << 17; return b->rng; }
static Fiber* pick(Blk* b) {
  if (b->abort) return nullptr;
  unsigned k = b->cw;
  if (b->order == 2) k = (unsigned)(rnd(b) % b->nw);
  for (unsigned t = 0; t < b->nw; t++) {
    Warp* w = &b->w[k];
    if (unsigned m = w->runnable) {
      unsigned l;
      if (b->order == 0) l = __builtin_ctz(m); else if (b->order == 1) l = 31 - __builtin_clz(m);
      else { unsigned s = rnd(b) & 31; unsigned r = (m >> s) | (s ? m << (32 - s) : 0); l = (__builtin_ctz(r) + s) & 31; }
      w->runnable &= ~(1u << l); b->cw = k; return w->f + l;
    }
    if (b->order == 1) k = k ? k - 1 : b->nw - 1; else k = k + 1 == b->nw ? 0 : k + 1;
  }
  return nullptr;
}
static void fiber_main();
static void go(Fiber* from, Fiber* to) {                   // from == null: from the main stack; to == null: to the main stack
  Blk* b = spc_blk; b->switches++;
  if (to && !to->stk) {
    if (!b->nfree) abort();
    to->stk = b->free_stk[--b->nfree];
#ifdef SPC_UCONTEXT
    getcontext(&to->uc); to->uc.uc_stack.ss_sp = to->stk; to->uc.uc_stack.ss_size = STK; to->uc.uc_link = nullptr; makecontext(&to->uc, fiber_main, 0);
#else
    uintptr_t top = ((uintptr_t)to->stk + STK - 64 - (to->lin % 31) * 128) & ~(uintptr_t)63;   // colour the stacks
    void** s = (void**)top; *--s = nullptr; *--s = (void*)fiber_main; for (int i = 0; i < 6; i++) *--s = nullptr; to->sp = s;
#endif
  }
  spc_cur = to ? &to->c : nullptr;
#ifdef SPC_UCONTEXT
  swapcontext(from ? &from->uc : &b->main_uc, to ? &to->uc : &b->main_uc);
#else
  void* dead; spc_switch(from ? &from->sp : &b->main_sp, to ? to->sp : b->main_sp); (void)dead;
#endif
}
static void block_wait(Fiber* f) { Blk* b = f->b; Fiber* n = pick(b); if (n != f) go(f, n); }
static void try_release_barrier(Blk* b) {
  if (!b->live || b->nbar != b->live) return;
  b->nbar = 0; b->epoch++;
#ifdef SPC_COUNT
  count::barrier();
  for (unsigned i = 0; i < b->nw; i++) count::merge(b->w + i);
#endif
  for (unsigned i = 0; i < b->nw; i++) { b->w[i].runnable |= b->w[i].bar; b->w[i].bar = 0; b->w[i].clk++; }
  if (b->order != 2) b->cw = b->order ? b->nw - 1 : 0;
}
static void complete(Warp* w, unsigned mask, int op) {     // all live lanes of mask have arrived: compute every lane's result
  unsigned live = mask & w->live; uint64_t acc = 0; bool first = true;
#ifdef SPC_COUNT
  count::together(w, live);
#endif
  w->clk++;
  for (unsigned m = live; m; m &= m - 1) {
    unsigned l = __builtin_ctz(m); Fiber* f = w->f + l; uint64_t v = f->val;
    switch (op) {
      case SPC_BALLOT: acc |= v << l; break;
      case SPC_ADD: acc = (uint32_t)(acc + v); break;
      case SPC_MIN: acc = first || v < acc ? v : acc; break;
      case SPC_MAX: acc = first || v > acc ? v : acc; break;
      case SPC_SMIN: acc = first || (int64_t)v < (int64_t)acc ? v : acc; break;
      case SPC_SMAX: acc = first || (int64_t)v > (int64_t)acc ? v : acc; break;
      case SPC_AND: acc = first ? v : acc & v; break;
      case SPC_OR: acc |= v; break;
      case SPC_XOR: acc ^= v; break;
    }
    first = false;
  }
  for (unsigned m = live; m; m &= m - 1) {
    Fiber* f = w->f + __builtin_ctz(m);
    if (f->op != op) spc_fail(f->b, "warp op mismatch: lines %d and others in one warp, mask %08x", f->line, mask);
    if (op == SPC_SHFL) {
      if ((live >> f->src) & 1) f->out = w->f[f->src].val;
      else { f->out = 0xfff7dead00000000ull | 0xffc0dead; if (f->b->flags & 2) spc_fail(f->b, "line %d: thread %u shuffles from lane %d, which is not in mask %08x or has exited", f->line, f->lin, f->src, mask); }
    } else if (op == SPC_MATCH) { f->out = 0; for (unsigned k = live; k; k &= k - 1) if (w->f[__builtin_ctz(k)].val == f->val) f->out |= 1u << __builtin_ctz(k); }
    else f->out = acc;
    if (op == SPC_SYNC) for (unsigned k = live; k; k &= k - 1) f->sync[__builtin_ctz(k)] = w->clk;   // only __syncwarp orders memory
  }
  w->waiting &= ~live; w->runnable |= live;
}
static bool group_ready(Warp* w, Fiber* f) {
  unsigned live = f->mask & w->live;
  if ((w->waiting & live) != live) return false;
  for (unsigned m = live; m; m &= m - 1) if (w->f[__builtin_ctz(m)].mask != f->mask) return false;
  return true;
}
extern "C" uint64_t spc_warp_op(unsigned mask, int op, uint64_t val, int src, int line) {
  Fiber* f = CUR; Warp* w = f->w; Blk* b = f->b;
#ifdef SPC_COUNT
  count::sync(f, mask, __builtin_return_address(0));
#endif
  if (!((mask >> f->lane) & 1)) spc_fail(b, "line %d: thread %u calls a warp primitive whose mask %08x lacks its lane %u", line, f->lin, mask, f->lane);
  f->mask = mask; f->op = op; f->val = val; f->src = src; f->line = line; w->waiting |= 1u << f->lane;
  if (group_ready(w, f)) complete(w, mask, op);
  block_wait(f);                                           // also yields when complete: keeps lanes in scheduler order
  return f->out;
}
extern "C" int spc_barrier(int pred, int line) {
  Fiber* f = CUR; Blk* b = f->b;
  if (b->nbar == 0) { b->pred = 0; b->bline = line; }
  else if (line != b->bline && (b->flags & 2)) spc_fail(b, "divergent __syncthreads: thread %u at line %d, others at line %d", f->lin, line, b->bline);
  if (b->live != b->n && (b->flags & 2)) spc_fail(b, "divergent __syncthreads: thread %u waits at line %d after %u threads of the block exited", f->lin, line, b->n - b->live);
  b->pred += pred; f->line = line; f->w->bar |= 1u << f->lane; b->nbar++;
  try_release_barrier(b);
  block_wait(f);
  return b->pred;
}
extern "C" void spc_yield() { Fiber* f = CUR; f->w->runnable |= 1u << f->lane; f->b->cw = (f->b->cw + 1) % f->b->nw; block_wait(f); }
extern "C" unsigned spc_activemask() { return 1u << CUR->lane; }   // legal per the programming model: any subset
extern "C" void spc_trap(const char* what, int line) { Fiber* f = CUR; Blk* b = f->b;
  spc_fail(b, "line %d: %s (block %u,%u,%u thread %u,%u,%u)", line, what, f->c.bid.x, f->c.bid.y, f->c.bid.z, f->c.tid.x, f->c.tid.y, f->c.tid.z); b->abort = true; go(f, nullptr); __builtin_unreachable(); }
static void fiber_main() {
  for (;;) {
    Fiber* f = CUR; Blk* b = f->b; Warp* w = f->w;
    *(uint64_t*)f->stk = 0x5eed5eed5eed5eedull;                // canary (guard pages would cost 2 VMAs per stack: max_map_count)
    b->inv(b->args);
    if (*(uint64_t*)f->stk != 0x5eed5eed5eed5eedull) spc_fail(b, "thread %u overflowed its %d-byte stack", f->lin, (int)STK);
    w->live &= ~(1u << f->lane); b->live--;
#ifdef SPC_COUNT
    if (!w->live) count::merge(w);
#endif
    if (w->waiting) for (unsigned m = w->waiting; m; m &= m - 1) { Fiber* g = w->f + __builtin_ctz(m);
      if ((b->flags & 2) && ((g->mask >> f->lane) & 1)) spc_fail(b, "line %d: mask %08x names lane %u, which has exited", g->line, g->mask, f->lane);
      if (group_ready(w, g)) { complete(w, g->mask, g->op); break; } }
    if (b->nbar && (b->flags & 2)) spc_fail(b, "divergent __syncthreads: thread %u exited while others wait at line %d", f->lin, b->bline);
    try_release_barrier(b);
    Fiber* n = pick(b); char* mine = f->stk; f->stk = nullptr;
#ifndef SPC_UCONTEXT
    if (n && !n->stk) { n->stk = mine; spc_cur = &n->c; continue; }   // fresh thread: run it on this stack, no switch
#endif
    b->free_stk[b->nfree++] = mine;
    go(f, n);
  }
}
#ifdef SPC_COUNT
#include "count.inc"
#endif
static int find_tls(dl_phdr_info* i, size_t, void* p) {
  Blk* b = (Blk*)p; bool mine = false; size_t n = 0;
  for (int k = 0; k < i->dlpi_phnum; k++) { auto& h = i->dlpi_phdr[k]; uintptr_t a = i->dlpi_addr + h.p_vaddr;
    if (h.p_type == PT_LOAD && (uintptr_t)&find_tls >= a && (uintptr_t)&find_tls < a + h.p_memsz) mine = true;
    if (h.p_type == PT_TLS) n = h.p_memsz; }
  if (mine) { b->tls0 = (char*)i->dlpi_tls_data; b->tls1 = b->tls0 + n; }
  return mine;
}
#ifdef SPC_RACECHECK
#include "races.inc"                                      // stops at the first read of what nobody has written: no poison
#else
static void poison(Blk* b) {
  spc_ctx* c = spc_cur; Blk* k = b; char* dyn = (char*)shared_words;
  memset(b->tls0, 0xff, dyn - b->tls0); memset(dyn, 0xff, b->smem); memset(dyn + SPC_SMEM_MAX, 0xff, b->tls1 - dyn - SPC_SMEM_MAX);
  spc_cur = c; spc_blk = k;
}
#endif
static uint64_t gcd(uint64_t a, uint64_t b) { while (b) { uint64_t r = a % b; a = b; b = r; } return a; }
EXPORT int spc_run(void (*inv)(void**), void** args, const spc_cfg* g, char* err, size_t nerr, uint64_t* switches) {
  unsigned bx = g->block[0], by = g->block[1], bz = g->block[2], n = bx * by * bz;
  err[0] = 0;
  if (n == 0 || n > 1024 || g->smem > SPC_SMEM_MAX) { snprintf(err, nerr, "bad launch: %u threads per block, %u bytes shared", n, g->smem); return 1; }
  if (!spc_blk) {                                          // per OS thread, kept for its lifetime
    spc_blk = (Blk*)calloc(1, sizeof(Blk)); spc_blk->f = (Fiber*)calloc(1024, sizeof(Fiber));
    spc_blk->pool = (char*)mmap(nullptr, (size_t)STRIDE * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (int i = 0; i < 1024; i++) { spc_blk->free_stk[1023 - i] = spc_blk->pool + (size_t)i * STRIDE + 4096; }
    spc_blk->nfree = 1024; *(volatile char*)shared_words = 0; dl_iterate_phdr(find_tls, spc_blk);
  }
  Blk* b = spc_blk; Fiber* fs = b->f;
  b->n = n; b->nw = (n + 31) / 32; b->order = g->order; b->flags = g->flags; b->inv = inv; b->args = args; b->err = err; b->nerr = nerr; b->smem = g->smem; b->switches = 0;
#ifdef SPC_RACECHECK
  race_begin();
#endif
  uint64_t many = g->last - g->first, stride = 1, shift = 0;   // blocks run in a random order too
  if (g->order == 2 && many > 1) { stride = (g->seed * 0x9e3779b97f4a7c15ull >> 17) % many | 1; while (gcd(stride, many) != 1) stride += 2; shift = g->seed % many; }
  for (uint64_t turn = 0; turn < many; turn++) {
    uint64_t id = g->first + (turn * stride + shift) % many;
    uint3 bid = { (unsigned)(id % g->grid[0]), (unsigned)(id / g->grid[0] % g->grid[1]), (unsigned)(id / g->grid[0] / g->grid[1]) };
#ifndef SPC_RACECHECK
    if (g->flags & 1) poison(b);
#endif
    b->live = n; b->nbar = 0; b->epoch = 0; b->id = (uint32_t)id; b->abort = false; b->cw = g->order == 1 ? b->nw - 1 : 0; b->rng = (g->seed + 1) * 0x9e3779b97f4a7c15ull ^ (id + 1) * 0xd1342543de82ef95ull; if (!b->rng) b->rng = 1;
    for (unsigned t = 0; t < n; t++) { Fiber* f = fs + t; f->c.tid = { t % bx, t / bx % by, t / bx / by }; f->c.bid = bid; f->c.bdim = dim3(bx, by, bz); f->c.gdim = dim3(g->grid[0], g->grid[1], g->grid[2]);
      f->b = b; f->w = b->w + t / 32; f->lin = t; f->lane = t & 31; f->stk = nullptr;
#ifdef SPC_RACECHECK
      memset(f->sync, 0, sizeof f->sync);
#endif
    }
    for (unsigned k = 0; k < b->nw; k++) { Warp* w = b->w + k; unsigned c = n - k * 32; w->f = fs + k * 32; w->live = w->runnable = c >= 32 ? ~0u : (1u << c) - 1; w->waiting = w->bar = 0; w->clk = 1; }
#ifdef SPC_COUNT
    count::block_begin(b);
#endif
    go(nullptr, pick(b));
#ifdef SPC_COUNT
    count::block_end(b);
#endif
    if (b->live && !b->abort) {
      char s[200]; int o = 0; s[0] = 0;
      for (unsigned t = 0; t < n && o < 150; t++) { Fiber* f = fs + t; if ((f->w->live >> f->lane) & 1) if (t == 0 || t % 32 == 0 || fs[t - 1].line != f->line) o += snprintf(s + o, sizeof s - o, " t%u@%d%s", t, f->line, (f->w->bar >> f->lane) & 1 ? "(syncthreads)" : "(warp)"); }
      spc_fail(b, "deadlock in block %llu:%s", (unsigned long long)id, s);
    }
    if (b->live) { b->nfree = 0; for (int i = 0; i < 1024; i++) b->free_stk[b->nfree++] = b->pool + (size_t)(1023 - i) * STRIDE + 4096; }
    if (err[0]) break;
  }
  if (switches) *switches = b->switches;
  return err[0] != 0;
}
