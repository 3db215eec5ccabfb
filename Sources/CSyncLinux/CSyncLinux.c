#define _GNU_SOURCE

#include "CSyncLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

const int32_t CSyncLinux_CurrentFolder = AT_FDCWD;

static CSyncLinux_Time time_of(struct statx_timestamp time) {
    return (CSyncLinux_Time){.seconds = time.tv_sec, .nanoseconds = time.tv_nsec};
}

static int32_t look(int folder, const char *path, int flags, CSyncLinux_Status *status) {
    struct statx found;
    if (statx(folder, path, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return errno;
    *status = (CSyncLinux_Status){
        .device = makedev(found.stx_dev_major, found.stx_dev_minor),
        .inode = found.stx_ino,
        .mode = found.stx_mode,
        .size = (int64_t)found.stx_size,
        .modified = time_of(found.stx_mtime),
        .changed = time_of(found.stx_ctime),
        .isBirthKnown = (found.stx_mask & STATX_BTIME) != 0,
    };
    if (status->isBirthKnown) status->born = time_of(found.stx_btime);
    return 0;
}

int32_t CSyncLinux_StatusOf(int32_t descriptor, CSyncLinux_Status *status) {
    return look(descriptor, "", AT_EMPTY_PATH, status);
}

int32_t CSyncLinux_StatusAt(int32_t folder, const char *path, CSyncLinux_Status *status) {
    return look(folder, path, AT_SYMLINK_NOFOLLOW, status);
}
