// Loaded before the C library (LD_PRELOAD), makes one write to a file below a folder shorter than was asked for, as
// write(2) allows: half of the bytes are written and counted, and the caller has to go on.
//
//   SHORT_WRITE_BELOW  the folder     SHORT_WRITE_AT  which write there, from 1     SHORT_WRITE_LOG  gets the file's path
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ssize_t (*write_call)(int, const void *, size_t);
typedef ssize_t (*pwrite_call)(int, const void *, size_t, off_t);

static atomic_long writes;

// How many bytes of this write are to be written.
static size_t allowed(int descriptor, size_t size) {
    const char *below = getenv("SHORT_WRITE_BELOW"), *at = getenv("SHORT_WRITE_AT"), *log = getenv("SHORT_WRITE_LOG");
    struct stat status;
    if (!below || !at || !log || size < 2 || fstat(descriptor, &status) || !S_ISREG(status.st_mode)) return size;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return size;
    path[length] = 0;
    if (strncmp(path, below, strlen(below)) || atomic_fetch_add(&writes, 1) + 1 != atol(at)) return size;
    FILE *file = fopen(log, "a");
    if (file) {
        fprintf(file, "%s\n", path);
        fclose(file);
    }
    return size / 2;
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    static write_call next;
    if (!next) next = (write_call)dlsym(RTLD_NEXT, "write");
    return next(descriptor, bytes, allowed(descriptor, size));
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
    static pwrite_call next;
    if (!next) next = (pwrite_call)dlsym(RTLD_NEXT, "pwrite");
    return next(descriptor, bytes, allowed(descriptor, size), offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
    static pwrite_call next;
    if (!next) next = (pwrite_call)dlsym(RTLD_NEXT, "pwrite64");
    return next(descriptor, bytes, allowed(descriptor, size), offset);
}
