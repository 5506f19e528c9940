// A CUDA driver for tests on machines without a GPU: the functions of libcuda that `spc` calls, on the processor.
//
// A module is what `nvrtc.cpp` makes: a shared library behind a head of 16 bytes. Memory is the host's. What is put into a
// stream is done when somebody waits for the stream, not before: who forgets to wait reads what nobody has written. Every
// copy is checked against what was allocated, and the process ends with a message where something is wrong.
#include <dlfcn.h>
#include <functional>
#include <map>
#include <mutex>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <time.h>
#include <unistd.h>
#include <utility>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))
typedef int Result;
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, INVALID_CONTEXT = 201 };

struct Configuration {
  uint32_t grid[3], block[3], shared, order, flags, padding;
  uint64_t seed, first, last;
};
typedef void (*Invoke)(void**);
typedef int (*Run)(Invoke, void**, const Configuration*, char*, size_t, uint64_t*);
struct Module { void* library; Run run; };
struct Function { Module* module; Invoke invoke; std::string name; };
struct Stream { std::vector<std::function<void()>> waiting; };
struct Event { double seconds; Stream* stream = nullptr; };

static std::recursive_mutex lock;
static std::map<uint64_t, size_t> memory;
static size_t used = 0;
static int context;
static thread_local void* current = nullptr;

static void fail(const char* what) { fprintf(stderr, "emulated driver: %s\n", what); abort(); }
static size_t limit() { const char* bytes = getenv("SPC_EMULATED_BYTES"); return bytes ? strtoull(bytes, nullptr, 10) : (size_t)1 << 32; }
static double now() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void check(uint64_t address, size_t bytes) {
  auto next = memory.upper_bound(address);
  if (next == memory.begin()) fail("a copy of memory that was not allocated");
  --next;
  if (address + bytes > next->first + next->second) fail("a copy leaves the memory that it is for");
}
static void put(void* stream, std::function<void()> work) {
  if (!stream) fail("the default stream is used");
  if (!current) fail("no context is current");
  std::lock_guard<std::recursive_mutex> hold(lock);
  ((Stream*)stream)->waiting.push_back(work);
}
// For what other libraries do in a stream.
EXPORT void spc_emulated_put(void* stream, void (*work)(void*), void* data) { put(stream, [=] { work(data); }); }
static void drain(Stream* stream) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  std::vector<std::function<void()>> waiting;
  waiting.swap(stream->waiting);
  for (auto& work : waiting) work();
}

EXPORT Result cuInit(unsigned) { return SUCCESS; }
EXPORT Result cuDeviceGetCount(int* count) { *count = 2; return SUCCESS; }
EXPORT Result cuDeviceGet(int* device, int number) { *device = number; return SUCCESS; }
EXPORT Result cuDeviceGetName(char* name, int length, int device) { snprintf(name, length, "Emulation %d", device); return SUCCESS; }
EXPORT Result cuDeviceGetAttribute(int* value, int attribute, int) { *value = attribute == 75 ? 9 : attribute == 38 ? 1 << 15 : 0; return SUCCESS; }
EXPORT Result cuDevicePrimaryCtxRetain(void** made, int) { *made = &context; return SUCCESS; }
EXPORT Result cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
EXPORT Result cuCtxSetCurrent(void* made) { current = made; return SUCCESS; }
EXPORT Result cuGetErrorName(Result error, const char** name) { *name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR"; return SUCCESS; }
EXPORT Result cuGetErrorString(Result error, const char** text) { *text = error == OUT_OF_MEMORY ? "out of memory" : "an error"; return SUCCESS; }
EXPORT Result cuStreamCreate(void** stream, unsigned) { if (!current) return INVALID_CONTEXT; *stream = new Stream; return SUCCESS; }
EXPORT Result cuStreamSynchronize(void* stream) { drain((Stream*)stream); return SUCCESS; }
EXPORT Result cuStreamDestroy_v2(void* stream) { drain((Stream*)stream); delete (Stream*)stream; return SUCCESS; }
EXPORT Result cuDeviceGetDefaultMemPool(void** pool, int) { *pool = &context; return SUCCESS; }
EXPORT Result cuMemPoolSetAttribute(void*, int, void*) { return SUCCESS; }
EXPORT Result cuMemGetInfo_v2(size_t* free, size_t* total) { *total = limit(); *free = *total - used; return SUCCESS; }
EXPORT Result cuMemAllocAsync(uint64_t* address, size_t bytes, void* stream) {
  if (bytes == 0) return INVALID_VALUE;
  if (!current) return INVALID_CONTEXT;
  std::lock_guard<std::recursive_mutex> hold(lock);
  drain((Stream*)stream);
  if (used + bytes > limit()) return OUT_OF_MEMORY;
  void* made = malloc(bytes + 8);
  memset(made, 0xAD, bytes);
  *address = (uint64_t)made;
  memory[*address] = bytes;
  used += bytes;
  return SUCCESS;
}
EXPORT Result cuMemFreeAsync(uint64_t address, void* stream) {
  put(stream, [=] {
    auto found = memory.find(address);
    if (found == memory.end()) fail("memory is freed that was not allocated");
    used -= found->second;
    memory.erase(found);
    free((void*)address);
  });
  return SUCCESS;
}
EXPORT Result cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) {
  put(stream, [=] { check(to, bytes); memset((void*)to, value, bytes); });
  return SUCCESS;
}
static size_t brought = 0, taken = 0;
static size_t counted(size_t& bytes) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  return std::exchange(bytes, 0);
}
// The bytes that were copied to the device since this was called last, and those from it.
EXPORT size_t spc_emulated_brought() { return counted(brought); }
EXPORT size_t spc_emulated_taken() { return counted(taken); }
EXPORT Result cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  brought += bytes;
  put(stream, [=] { check(to, bytes); memcpy((void*)to, from, bytes); });
  return SUCCESS;
}
EXPORT Result cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  taken += bytes;
  put(stream, [=] { check(from, bytes); memcpy(to, (void*)from, bytes); });
  return SUCCESS;
}
EXPORT Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  put(stream, [=] { check(from, bytes); check(to, bytes); memcpy((void*)to, (void*)from, bytes); });
  return SUCCESS;
}
static std::map<const void*, size_t> pinned;
EXPORT Result cuMemHostRegister_v2(void* bytes, size_t length, unsigned) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  if (getenv("SPC_EMULATED_PAGEABLE")) return OUT_OF_MEMORY;
  return pinned.emplace(bytes, length).second ? SUCCESS : INVALID_VALUE;
}
EXPORT Result cuMemHostUnregister(void* bytes) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  if (!pinned.erase(bytes)) fail("memory is unpinned that was not pinned");
  return SUCCESS;
}
EXPORT Result cuModuleLoadData(void** module, const void* image) {
  if (memcmp(image, "SPCMODUL", 8) != 0) return INVALID_VALUE;
  uint64_t length = *(const uint64_t*)((const char*)image + 8);
  char path[] = "/tmp/spc-module-XXXXXX";
  int file = mkstemp(path);
  if (file < 0 || write(file, (const char*)image + 16, length) != (ssize_t)length) fail("a module can't be written");
  close(file);
  Module* made = new Module;
  made->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (!made->library) fail(dlerror());
  made->run = (Run)dlsym(made->library, "spc_run");
  *module = made;
  return SUCCESS;
}
EXPORT Result cuModuleGetFunction(void** function, void* module, const char* name) {
  Module* in = (Module*)module;
  Invoke invoke = (Invoke)dlsym(in->library, (std::string("spc_invoke_") + name).c_str());
  if (!invoke) return NOT_FOUND;
  *function = new Function{in, invoke, name};
  return SUCCESS;
}
EXPORT Result cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, void* stream, void** arguments, void**) {
  Function* called = (Function*)function;
  if (gx == 0 || gy == 0 || gy > 65535 || bx * by * bz == 0 || bx * by * bz > 1024) return INVALID_VALUE;
  // No function takes more than these; each is of 64 bits.
  enum { MOST = 64 };
  std::vector<uint64_t> values;
  const char* count = (const char*)dlsym(called->module->library, ("spc_arguments_" + called->name).c_str());
  for (int n = 0; n < (count ? *(const int*)count : 0) && n < MOST; n++) values.push_back(*(uint64_t*)arguments[n]);
  put(stream, [=]() mutable {
    std::vector<void*> addresses;
    for (auto& value : values) addresses.push_back(&value);
    Configuration configuration = {{gx, gy, gz}, {bx, by, bz}, shared, 2, 3, 0, 1, 0, (uint64_t)gx * gy * gz};
    char message[512] = "";
    if (called->module->run(called->invoke, addresses.data(), &configuration, message, sizeof message, nullptr) != 0) fail(message);
  });
  return SUCCESS;
}
EXPORT Result cuEventCreate(void** event, unsigned) { *event = new Event{0}; return SUCCESS; }
EXPORT Result cuEventRecord(void* event, void* stream) {
  ((Event*)event)->stream = (Stream*)stream;
  put(stream, [=] { ((Event*)event)->seconds = now(); });
  return SUCCESS;
}
EXPORT Result cuEventSynchronize(void* event) {
  if (((Event*)event)->stream) drain(((Event*)event)->stream);
  return SUCCESS;
}
EXPORT Result cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  if (((Event*)start)->seconds == 0 || ((Event*)end)->seconds == 0) return 600;
  *milliseconds = (float)((((Event*)end)->seconds - ((Event*)start)->seconds) * 1e3);
  return SUCCESS;
}
EXPORT Result cuEventDestroy_v2(void* event) { (void)event; return SUCCESS; }
