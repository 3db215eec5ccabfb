// reduce IN OUT [MAX [ORIENTATION]]: the codec alone, for scripts/bench-codec.
//
// Prints the copy's size, the heap that the codec held, and last the process's peak memory in KiB.

#include "CSyncJPEG.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/// VmHWM of proc(5). Not getrusage(2): its peak includes the parent's memory from before exec.
static long peak_kib(void) {
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "VmHWM: %ld", &peak);
    }
    if (status != NULL) {
        fclose(status);
    }
    return peak;
}

int main(int count, char **arguments) {
    CSyncJPEG_Limits limits = {
        .file_bytes = (int64_t)1 << 30, .pixels = 1000000000, .memory_bytes = (int64_t)512 << 20, .scans = 100,
    };
    CSyncJPEG_Options options = {.max_dimension = 2048, .quality = 80, .orientation = 1, .keep_iptc = true};
    CSyncJPEG_Output output;
    CSyncJPEG_Failure failure;
    size_t exif_count;

    if (count < 3) {
        fprintf(stderr, "usage: reduce IN OUT [MAX [ORIENTATION]]\n");
        return 64;
    }
    options.max_dimension = count > 3 ? atoi(arguments[3]) : options.max_dimension;
    options.orientation = count > 4 ? atoi(arguments[4]) : options.orientation;
    int descriptor = open(arguments[1], O_RDONLY | O_CLOEXEC);
    CSyncJPEG_Reader *reader = CSyncJPEG_open(descriptor, &limits, &failure);
    if (reader == NULL) {
        fprintf(stderr, "%s: %d: %s\n", arguments[1], failure.status, failure.message);
        return 1;
    }
    const uint8_t *exif = CSyncJPEG_exif(reader, &exif_count);
    if (CSyncJPEG_reduce(reader, &options, exif, exif_count, &output, &failure) != CSYNC_JPEG_OK) {
        fprintf(stderr, "%s: %d: %s\n", arguments[1], failure.status, failure.message);
        CSyncJPEG_close(reader);
        return 1;
    }
    FILE *file = fopen(arguments[2], "wb");
    if (file == NULL || fwrite(output.bytes, 1, output.count, file) != output.count || fclose(file) != 0) {
        perror(arguments[2]);
        return 1;
    }
    printf(
        "%d x %d, %zu bytes, heap %lld KiB, process %ld\n", output.width, output.height, output.count,
        (long long)(output.peak_bytes >> 10), peak_kib());
    CSyncJPEG_freeOutput(&output);
    CSyncJPEG_close(reader);
    close(descriptor);
    return 0;
}
