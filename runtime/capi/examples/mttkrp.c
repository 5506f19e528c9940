/* MTTKRP of a tensor in compressed fibers that lies in memory of the program: cc mttkrp.c -I ../include -L … -lspc_c */

#include <spc.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void check(spc_status status) {
    if (status != SPC_OK) {
        fprintf(stderr, "error %d: %s\n", (int)status, spc_message());
        exit(1);
    }
}

static spc_indices indices(const uint32_t *data, uint64_t length) {
    return (spc_indices){data, length, sizeof *data};
}

static void released(void *object) {
    printf("%s is released\n", (const char *)object);
}

int main(void) {
    if (spc_api_version() != SPC_API_VERSION) {
        fprintf(stderr, "the library is not the one of this header\n");
        return 1;
    }

    /* X(0, 0, 1) = 1, X(0, 0, 3) = 2, X(1, 2, 0) = 3, of shape 2 x 3 x 4. */
    static const uint32_t slices[] = {0, 2}, slice[] = {0, 1};
    static const uint32_t fibers[] = {0, 1, 2}, fiber[] = {0, 2};
    static const uint32_t entries[] = {0, 2, 3}, entry[] = {1, 3, 0};
    static const double values[] = {1, 2, 3};
    const spc_level levels[] = {
        {indices(slices, COUNT(slices)), indices(slice, COUNT(slice))},
        {indices(fibers, COUNT(fibers)), indices(fiber, COUNT(fiber))},
        {indices(entries, COUNT(entries)), indices(entry, COUNT(entry))},
    };
    const uint64_t shape[] = {2, 3, 4};
    /* The arrays are not copied; they are there until `released` is called. */
    const spc_owner owner = {(void *)"X", released};
    spc_tensor x;
    check(spc_tensor_levels(3, shape, "csf", levels, 3, &(spc_values){values, 3, SPC_F64}, &owner, &x));

    /* Without an owner they are. */
    double b_values[3 * 2], c_values[4 * 2];
    for (int n = 0; n < 3 * 2; n++) b_values[n] = 1 + n;
    for (int n = 0; n < 4 * 2; n++) c_values[n] = 1 + n % 2;
    spc_tensor b, c;
    check(spc_tensor_dense(2, (uint64_t[]){3, 2}, &(spc_values){b_values, 6, SPC_F64}, NULL, &b));
    check(spc_tensor_dense(2, (uint64_t[]){4, 2}, &(spc_values){c_values, 8, SPC_F64}, NULL, &c));

    spc_builder builder;
    spc_kernel mttkrp;
    check(spc_builder_new("A(i, r) = X(i, j, k) * B(j, r) * C(k, r)", &builder));
    check(spc_builder_format(builder, "X", "csf"));
    check(spc_kernel_compile(builder, &mttkrp));

    /* A result of its own, and one in an array of the program's. */
    const spc_tensor inputs[] = {x, b, c};
    spc_tensor a;
    check(spc_kernel_call(mttkrp, inputs, 3, &a, 1));
    double into[2 * 2];
    const spc_target target = {into, 4, SPC_F64, 2, (uint64_t[]){2, 2}};
    check(spc_kernel_call_into(mttkrp, inputs, 3, &target, 1));

    spc_values found;
    check(spc_tensor_values(a, &found));
    for (uint64_t n = 0; n < found.length; n++) {
        const double value = ((const double *)found.data)[n];
        printf("%g%s", value, value == into[n] ? "\n" : " differs\n");
    }

    /* An error has a status and a message. */
    spc_kernel none;
    check(spc_builder_format(builder, "B", "crs"));
    const spc_status status = spc_kernel_compile(builder, &none);
    printf("status %d, %s\n", (int)status, status == SPC_ERROR_TEXT ? "as it is to be" : spc_message());

    check(spc_free(builder));
    check(spc_free(mttkrp));
    check(spc_free(a));
    check(spc_free(b));
    check(spc_free(c));
    check(spc_free(x));
    printf("freed twice: status %d\n", (int)spc_free(x));
    return 0;
}
