// A JPEG file as JPEG XL and back, by the codec of sync-agent-decoder, and compared: what keeping an original costs. Prints
// bytes of the file, bytes of the JPEG XL, and the peak of memory in KiB; ends with 1 when another file comes back.
//
//     original PHOTO.jpg
#define _GNU_SOURCE

#include "Decoder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static Job begin(int file, int64_t count) {
    Job job = {.picture = file, .memory = memfd_create("original", MFD_CLOEXEC)};
    job.request = (CSyncDecoder_Request){
        .pixels = 1000000000, .memory_bytes = (int64_t)2 << 30, .file_bytes = count};
    return job;
}

static int stop(const Job *job) {
    fprintf(stderr, "original: %s\n", job->reply.message);
    return EXIT_FAILURE;
}

static bool is_same(int one, int other, size_t count) {
    enum { PIECE = 1 << 20 };
    static char bytes[2][PIECE];
    for (size_t at = 0; at < count;) {
        size_t length = count - at < PIECE ? count - at : PIECE;
        if (pread(one, bytes[0], length, (off_t)at) != (ssize_t)length) return false;
        if (pread(other, bytes[1], length, (off_t)at) != (ssize_t)length) return false;
        if (memcmp(bytes[0], bytes[1], length) != 0) return false;
        at += length;
    }
    return true;
}

/// VmHWM of proc(5), as in reduce.c.
static long peak_kib(void) {
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmHWM: %ld", &peak);
    if (status != NULL) fclose(status);
    return peak;
}

int main(int count, char **arguments) {
    struct stat status;
    int file = count == 2 ? open(arguments[1], O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0 || fstat(file, &status) != 0) return EXIT_FAILURE;
    Job there = begin(file, status.st_size);
    if (!jpeg_to_jxl(&there)) return stop(&there);
    Job back = begin(there.memory, (int64_t)there.reply.samples_bytes);
    if (!jxl_to_jpeg(&back)) return stop(&back);
    if (back.reply.samples_bytes != (uint64_t)status.st_size) return EXIT_FAILURE;
    if (!is_same(file, back.memory, (size_t)status.st_size)) return EXIT_FAILURE;
    printf("%lld %llu %ld\n", (long long)status.st_size, (unsigned long long)there.reply.samples_bytes, peak_kib());
    return EXIT_SUCCESS;
}
