// NVIDIA's cuSPARSE for tests on machines without it: the functions that the program `device` calls, on the memory of
// `driver.cpp`. What is put into a stream is done when the driver does it; a product of two sparse matrices is made at once, as
// there, where its size is asked for. Calls in a wrong order end the process with a message.
#include <dlfcn.h>
#include <functional>
#include <map>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID = 3, UNSUPPORTED = 10, SINGLE = 0, DOUBLE = 1, ROW_MAJOR = 2, INDICES_32 = 2, BUFFER = 64 };

struct Handle { void* stream; };
struct Csr { int64_t rows, columns, entries; int32_t *positions, *coordinates; void* values; int kind; };
struct Dense { int64_t rows, columns; void* values; int kind; };
struct Product { bool is_estimated, is_computed; std::vector<std::map<int32_t, double>> rows; };

static void fail(const char* what) { fprintf(stderr, "emulated cuSPARSE: %s\n", what); abort(); }
static double get(const void* values, int kind, int64_t at) { return kind == SINGLE ? ((const float*)values)[at] : ((const double*)values)[at]; }
static void set(void* values, int kind, int64_t at, double value) {
  if (kind == SINGLE) ((float*)values)[at] = (float)value; else ((double*)values)[at] = value;
}
static double scalar(const void* number, int kind) { return get(number, kind, 0); }
static void put(void* handle, std::function<void()> work) {
  typedef void (*Put)(void*, void (*)(void*), void*);
  static Put driver = (Put)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "spc_emulated_put");
  if (!driver) fail("the driver is another one");
  if (!((Handle*)handle)->stream) fail("no stream was set");
  auto run = [](void* data) { auto* work = (std::function<void()>*)data; (*work)(); delete work; };
  driver(((Handle*)handle)->stream, run, new std::function<void()>(work));
}

EXPORT int cusparseCreate(void** handle) { *handle = new Handle{nullptr}; return SUCCESS; }
EXPORT int cusparseDestroy(void* handle) { delete (Handle*)handle; return SUCCESS; }
EXPORT int cusparseSetStream(void* handle, void* stream) { ((Handle*)handle)->stream = stream; return SUCCESS; }
EXPORT int cusparseGetVersion(void*, int* version) { *version = 12345; return SUCCESS; }
EXPORT const char* cusparseGetErrorString(int status) { return status == UNSUPPORTED ? "the operation is not supported" : "an error"; }

EXPORT int cusparseCreateCsr(void** made, int64_t rows, int64_t columns, int64_t entries, void* positions, void* coordinates, void* values,
                             int position, int coordinate, int base, int kind) {
  if (position != INDICES_32 || coordinate != INDICES_32 || base != 0 || kind > DOUBLE) return INVALID;
  *made = new Csr{rows, columns, entries, (int32_t*)positions, (int32_t*)coordinates, values, kind};
  return SUCCESS;
}
EXPORT int cusparseCreateDnVec(void** made, int64_t length, void* values, int kind) { *made = new Dense{length, 1, values, kind}; return SUCCESS; }
EXPORT int cusparseCreateDnMat(void** made, int64_t rows, int64_t columns, int64_t stride, void* values, int kind, int order) {
  if (order != ROW_MAJOR || stride != columns) return INVALID;
  *made = new Dense{rows, columns, values, kind};
  return SUCCESS;
}
EXPORT int cusparseDestroySpMat(void* matrix) { delete (Csr*)matrix; return SUCCESS; }
EXPORT int cusparseDestroyDnVec(void* vector) { delete (Dense*)vector; return SUCCESS; }
EXPORT int cusparseDestroyDnMat(void* matrix) { delete (Dense*)matrix; return SUCCESS; }

// C = alpha A B + beta C; of a vector, one column.
static void multiply(void* handle, double alpha, Csr a, Dense b, double beta, Dense c) {
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns) fail("these shapes do not fit");
  put(handle, [=] {
    for (int64_t i = 0; i < a.rows; i++)
      for (int64_t r = 0; r < b.columns; r++) {
        double sum = 0;
        for (int32_t p = a.positions[i]; p < a.positions[i + 1]; p++)
          sum += get(a.values, a.kind, p) * get(b.values, b.kind, a.coordinates[p] * b.columns + r);
        double before = beta == 0 ? 0 : beta * get(c.values, c.kind, i * c.columns + r);
        // A test asks whether who compares results finds what is wrong.
        set(c.values, c.kind, i * c.columns + r, (alpha * sum + before) * (getenv("SPC_EMULATED_WRONG") && i == 7 ? 1.01 : 1));
      }
  });
}
EXPORT int cusparseSpMV_bufferSize(void*, int, const void*, void*, void*, const void*, void*, int, int, size_t* bytes) { *bytes = BUFFER; return SUCCESS; }
EXPORT int cusparseSpMV(void* handle, int operation, const void* alpha, void* a, void* x, const void* beta, void* y, int kind, int algorithm, void* buffer) {
  if (operation != 0 || !buffer) return INVALID;
  // One that this version lacks.
  if (algorithm == 3) return UNSUPPORTED;
  multiply(handle, scalar(alpha, kind), *(Csr*)a, *(Dense*)x, scalar(beta, kind), *(Dense*)y);
  return SUCCESS;
}
EXPORT int cusparseSpMM_bufferSize(void*, int, int, const void*, void*, void*, const void*, void*, int, int, size_t* bytes) { *bytes = BUFFER; return SUCCESS; }
EXPORT int cusparseSpMM_preprocess(void*, int, int, const void*, void*, void*, const void*, void*, int, int, void* buffer) { return buffer ? SUCCESS : INVALID; }
EXPORT int cusparseSpMM(void* handle, int left, int right, const void* alpha, void* a, void* b, const void* beta, void* c, int kind, int, void* buffer) {
  if (left != 0 || right != 0 || !buffer) return INVALID;
  multiply(handle, scalar(alpha, kind), *(Csr*)a, *(Dense*)b, scalar(beta, kind), *(Dense*)c);
  return SUCCESS;
}
EXPORT int cusparseSDDMM_bufferSize(void*, int, int, const void*, void*, void*, const void*, void*, int, int, size_t* bytes) { *bytes = BUFFER; return SUCCESS; }
EXPORT int cusparseSDDMM_preprocess(void*, int, int, const void*, void*, void*, const void*, void*, int, int, void* buffer) { return buffer ? SUCCESS : INVALID; }
EXPORT int cusparseSDDMM(void* handle, int left, int right, const void* alpha, void* a, void* b, const void* beta, void* c, int kind, int, void* buffer) {
  if (left != 0 || right != 1 || !buffer) return INVALID;
  double one = scalar(alpha, kind), before = scalar(beta, kind);
  Dense rows = *(Dense*)a, columns = *(Dense*)b;
  Csr made = *(Csr*)c;
  if (rows.columns != columns.columns || rows.rows != made.rows || columns.rows != made.columns) fail("these shapes do not fit");
  put(handle, [=] {
    for (int64_t i = 0; i < made.rows; i++)
      for (int32_t p = made.positions[i]; p < made.positions[i + 1]; p++) {
        double sum = 0;
        for (int64_t r = 0; r < rows.columns; r++)
          sum += get(rows.values, kind, i * rows.columns + r) * get(columns.values, kind, made.coordinates[p] * columns.columns + r);
        set(made.values, kind, p, one * sum + (before == 0 ? 0 : before * get(made.values, kind, p)));
      }
  });
  return SUCCESS;
}

EXPORT int cusparseSpGEMM_createDescr(void** made) { *made = new Product{}; return SUCCESS; }
EXPORT int cusparseSpGEMM_destroyDescr(void* product) { delete (Product*)product; return SUCCESS; }
EXPORT int cusparseSpGEMM_workEstimation(void*, int, int, const void*, void*, void*, const void*, void*, int, int, void* product, size_t* bytes, void* buffer) {
  *bytes = BUFFER;
  ((Product*)product)->is_estimated = buffer != nullptr;
  return SUCCESS;
}
EXPORT int cusparseSpGEMM_compute(void*, int, int, const void* alpha, void* left, void* right, const void*, void* result, int kind, int, void* product,
                                  size_t* bytes, void* buffer) {
  Product* made = (Product*)product;
  *bytes = BUFFER;
  if (!made->is_estimated) fail("a product is made before its work is known");
  if (!buffer) return SUCCESS;
  Csr a = *(Csr*)left, b = *(Csr*)right;
  if (a.columns != b.rows) fail("these shapes do not fit");
  made->rows.assign(a.rows, {});
  int64_t entries = 0;
  for (int64_t i = 0; i < a.rows; i++) {
    for (int32_t p = a.positions[i]; p < a.positions[i + 1]; p++)
      for (int32_t q = b.positions[a.coordinates[p]]; q < b.positions[a.coordinates[p] + 1]; q++)
        made->rows[i][b.coordinates[q]] += scalar(alpha, kind) * get(a.values, kind, p) * get(b.values, kind, q);
    entries += made->rows[i].size();
  }
  ((Csr*)result)->entries = entries;
  made->is_computed = true;
  return SUCCESS;
}
EXPORT int cusparseSpMatGetSize(void* matrix, int64_t* rows, int64_t* columns, int64_t* entries) {
  Csr* of = (Csr*)matrix;
  *rows = of->rows, *columns = of->columns, *entries = of->entries;
  return SUCCESS;
}
EXPORT int cusparseCsrSetPointers(void* matrix, void* positions, void* coordinates, void* values) {
  Csr* of = (Csr*)matrix;
  of->positions = (int32_t*)positions, of->coordinates = (int32_t*)coordinates, of->values = values;
  return SUCCESS;
}
EXPORT int cusparseSpGEMM_copy(void* handle, int, int, const void*, void*, void*, const void*, void* result, int kind, int, void* product) {
  Product made = *(Product*)product;
  Csr c = *(Csr*)result;
  if (!made.is_computed || !c.coordinates || !c.values) fail("a product is copied before it is made");
  put(handle, [=] {
    int32_t at = 0;
    for (size_t i = 0; i < made.rows.size(); i++) {
      c.positions[i] = at;
      for (auto& entry : made.rows[i]) { c.coordinates[at] = entry.first; set(c.values, kind, at++, entry.second); }
    }
    c.positions[made.rows.size()] = at;
  });
  return SUCCESS;
}

// C = alpha A + beta B, of double precision: counted first, then made.
EXPORT int cusparseCreateMatDescr(void** made) { *made = new int(0); return SUCCESS; }
EXPORT int cusparseDestroyMatDescr(void* made) { delete (int*)made; return SUCCESS; }
EXPORT int cusparseDcsrgeam2_bufferSizeExt(void*, int, int, const double*, void*, int, const double*, const int32_t*, const int32_t*, const double*,
                                           void*, int, const double*, const int32_t*, const int32_t*, void*, double*, int32_t*, int32_t*,
                                           size_t* bytes) {
  *bytes = BUFFER;
  return SUCCESS;
}
EXPORT int cusparseXcsrgeam2Nnz(void*, int rows, int, void*, int, const int32_t* ap, const int32_t* ac, void*, int, const int32_t* bp,
                                const int32_t* bc, void*, int32_t* cp, int* total, void* buffer) {
  if (!buffer) return INVALID;
  *total = 0;
  for (int i = 0; i < rows; i++) {
    cp[i] = *total;
    std::map<int32_t, double> row;
    for (int32_t p = ap[i]; p < ap[i + 1]; p++) row[ac[p]];
    for (int32_t p = bp[i]; p < bp[i + 1]; p++) row[bc[p]];
    *total += (int)row.size();
  }
  cp[rows] = *total;
  return SUCCESS;
}
EXPORT int cusparseDcsrgeam2(void* handle, int rows, int, const double* alpha, void*, int, const double* av, const int32_t* ap, const int32_t* ac,
                             const double* beta, void*, int, const double* bv, const int32_t* bp, const int32_t* bc, void*, double* cv,
                             int32_t* cp, int32_t* cc, void* buffer) {
  if (!buffer) return INVALID;
  const double a = *alpha, b = *beta;
  put(handle, [=] {
    for (int i = 0; i < rows; i++) {
      std::map<int32_t, double> row;
      for (int32_t p = ap[i]; p < ap[i + 1]; p++) row[ac[p]] += a * av[p];
      for (int32_t p = bp[i]; p < bp[i + 1]; p++) row[bc[p]] += b * bv[p];
      int32_t at = cp[i];
      for (auto& entry : row) { cc[at] = entry.first; cv[at++] = entry.second; }
    }
  });
  return SUCCESS;
}
