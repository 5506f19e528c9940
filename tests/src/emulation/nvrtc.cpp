// NVIDIA's run-time compiler for tests on machines without one: the functions of libnvrtc that `spc` calls, by `g++`.
//
// "Machine code" is a shared library behind a head of 16 bytes, which `driver.cpp` loads. The folder that SPC_EMULATION names
// has `device.h` and `runtime.o`.
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID_OPTION = 5, COMPILATION = 6 };
struct Program { std::string text, log, image; };

static std::string read(const std::string& path) {
  std::string all;
  if (FILE* file = fopen(path.c_str(), "rb")) {
    char piece[1 << 16];
    while (size_t count = fread(piece, 1, sizeof piece, file)) all.append(piece, count);
    fclose(file);
  }
  return all;
}
static void write(const std::string& path, const std::string& text) {
  FILE* file = fopen(path.c_str(), "wb");
  if (!file || fwrite(text.data(), 1, text.size(), file) != text.size()) abort();
  fclose(file);
}
// The functions for the device, with the numbers of their parameters.
static std::vector<std::pair<std::string, int>> functions(const std::string& text) {
  std::vector<std::pair<std::string, int>> found;
  for (size_t at = text.find("__global__"); at != std::string::npos; at = text.find("__global__", at + 1)) {
    const std::string bounds = "__launch_bounds__";
    size_t begin = text.find("void", at) + 5;
    if (text.compare(begin, bounds.size(), bounds) == 0) begin = text.find(')', begin) + 2;
    size_t open = text.find('(', begin), end = open, close = text.find(')', open);
    int count = 0;
    bool any = false;
    for (size_t n = open + 1; n < close; n++) { count += text[n] == ','; any = any || !isspace(text[n]); }
    found.push_back({text.substr(begin, end - begin), any ? count + 1 : 0});
  }
  return found;
}

EXPORT int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*, const char* const*) {
  *program = new Program{text, "", ""};
  return SUCCESS;
}
EXPORT int nvrtcCompileProgram(void* handle, int count, const char* const* options) {
  Program* program = (Program*)handle;
  for (int n = 0; n < count; n++)
    if (strncmp(options[n], "--gpu-architecture=sm_", 22) == 0 && strcmp(options[n], "--gpu-architecture=sm_90") != 0) {
      program->log = "unknown architecture\n";
      return INVALID_OPTION;
    }
  std::string home = getenv("SPC_EMULATION");
  char made[] = "/tmp/spc-nvrtc-XXXXXX";
  if (!mkdtemp(made)) abort();
  std::string folder = made, exports;
  for (auto& function : functions(program->text)) {
    const std::string& name = function.first;
    exports += "SPC_EXPORT(" + name + ")\nextern \"C\" __attribute__((visibility(\"default\"))) const int spc_arguments_" + name + " = " +
               std::to_string(function.second) + ";\n";
    program->log += "ptxas info    : Compiling entry function '" + name + "' for 'sm_90'\nptxas info    : Used 32 registers\n";
  }
  write(folder + "/kernel.cpp", program->text + "\n" + exports);
  std::string command = "g++ -std=c++17 -w -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -fno-extern-tls-init -DSPC_SMEM_MAX=49152 "
                        "-O1 -fwrapv -ffp-contract=off -include " + home + "/device.h -shared " + folder + "/kernel.cpp " + home +
                        "/runtime.o -o " + folder + "/kernel.so 2> " + folder + "/log";
  int status = system(command.c_str());
  if (status == 0) {
    std::string library = read(folder + "/kernel.so");
    uint64_t length = library.size();
    program->image = "SPCMODUL" + std::string((const char*)&length, 8) + library;
  } else {
    program->log += read(folder + "/log");
  }
  if (system(("rm -r " + folder).c_str()) != 0) abort();
  return status == 0 ? SUCCESS : COMPILATION;
}
EXPORT int nvrtcDestroyProgram(void** program) { delete (Program*)*program; return SUCCESS; }
EXPORT int nvrtcGetProgramLogSize(void* program, size_t* size) { *size = ((Program*)program)->log.size() + 1; return SUCCESS; }
EXPORT int nvrtcGetProgramLog(void* program, char* log) { strcpy(log, ((Program*)program)->log.c_str()); return SUCCESS; }
EXPORT int nvrtcGetCUBINSize(void* program, size_t* size) { *size = ((Program*)program)->image.size(); return SUCCESS; }
EXPORT int nvrtcGetCUBIN(void* program, char* image) {
  const std::string& from = ((Program*)program)->image;
  memcpy(image, from.data(), from.size());
  return SUCCESS;
}
EXPORT int nvrtcGetPTXSize(void*, size_t* size) { *size = 1; return SUCCESS; }
EXPORT int nvrtcGetPTX(void*, char* text) { *text = 0; return SUCCESS; }
EXPORT int nvrtcGetNumSupportedArchs(int* count) { *count = 1; return SUCCESS; }
EXPORT int nvrtcGetSupportedArchs(int* all) { *all = 90; return SUCCESS; }
