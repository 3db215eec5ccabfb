// What libFuzzer calls. SYNC_AGENT_FUZZ_TARGET names the reader that is tried; scripts/fuzz says which there are.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sync_fuzz_choose(const char *name);
int sync_fuzz_one(const uint8_t *bytes, size_t count);

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char *planted;

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    const char *name = getenv("SYNC_AGENT_FUZZ_TARGET");
    if (name == NULL || !sync_fuzz_choose(name)) {
        fprintf(stderr, "sync-fuzz: SYNC_AGENT_FUZZ_TARGET names no target\n");
        exit(64);
    }
    planted = getenv("SYNC_AGENT_FUZZ_PLANT");
    return 0;
}

// Planted by --self-test: a read one byte behind what a reader that accepts its input was given, and memory that is lost.
__attribute__((noinline)) static void plant(const uint8_t *bytes, size_t count) {
    if (strcmp(planted, "memory") == 0) {
        uint8_t *copy = malloc(count);
        memcpy(copy, bytes, count);
        volatile uint8_t behind = copy[count];
        (void)behind;
        free(copy);
    }
    if (strcmp(planted, "leak") == 0) {
        volatile char *lost = malloc(64);
        lost[0] = 1;
        lost = NULL;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    int accepted = sync_fuzz_one(bytes, count);
    if (planted != NULL && accepted && count > 0) plant(bytes, count);
    return 0;
}
