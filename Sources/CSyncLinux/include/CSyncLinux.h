#ifndef CSYNCLINUX_H
#define CSYNCLINUX_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the kernel has and Swift's Glibc does not show: it is built without _GNU_SOURCE. No function keeps anything; all
// of them may be called on any thread.

typedef struct {
    int64_t seconds;
    uint32_t nanoseconds;
} CSyncLinux_Time;

/// Of statx(2). Times are since 1970.
typedef struct {
    /// As stat(2) has it in `st_dev`.
    uint64_t device;
    uint64_t inode;
    /// Type and permissions, as in `st_mode`.
    uint32_t mode;
    /// Bytes.
    int64_t size;
    CSyncLinux_Time modified;
    /// When content, name, links or attributes changed last. No call sets it back.
    CSyncLinux_Time changed;
    /// When the file was made; nothing where the file system does not tell.
    CSyncLinux_Time born;
    bool isBirthKnown;
} CSyncLinux_Status;

/// The status of an open file.
///
/// Returns 0, or an errno; then `status` is as it was.
int32_t CSyncLinux_StatusOf(int32_t descriptor, CSyncLinux_Status *_Nonnull status);

/// The status of what has a name, a symbolic link not followed.
///
/// `folder` is the descriptor of the folder below which a relative `path` leads, or CSyncLinux_CurrentFolder. Returns 0,
/// or an errno; then `status` is as it was.
int32_t CSyncLinux_StatusAt(int32_t folder, const char *_Nonnull path, CSyncLinux_Status *_Nonnull status);

/// `AT_FDCWD`.
extern const int32_t CSyncLinux_CurrentFolder;

#ifdef __cplusplus
}
#endif

#endif
