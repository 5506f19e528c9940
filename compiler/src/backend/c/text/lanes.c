/* Rows of constant length, several elements at a time, in registers: with GCC and Clang; elsewhere one at a time. */
#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 9
#define SPC_LANES(count) count
#define SPC_CONVERT(value, type) __builtin_convertvector(value, type)
#define SPC_VECTOR_OF(type, count) type __attribute__((vector_size(count * sizeof(type)), aligned(sizeof(type)), may_alias))
#ifdef __clang__
#define SPC_ROW _Pragma("clang loop unroll(full)")
#else
#define SPC_ROW _Pragma("GCC unroll 128")
#endif
#else
#define SPC_LANES(count) 1
#define SPC_CONVERT(value, type) ((type)(value))
#define SPC_VECTOR_OF(type, count) type
#define SPC_ROW
#endif
/* The value in each lane: also a zero keeps its sign. */
#define SPC_EACH(value, type) ((value) - (type){0})
