#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer's own entry, which the compiler brings along with `-sanitize=fuzzer`.
int LLVMFuzzerRunDriver(
    int *argument_count, char ***arguments, int (*callback)(const uint8_t *data, size_t size));
