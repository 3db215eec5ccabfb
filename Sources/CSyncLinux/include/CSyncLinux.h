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
    /// Names.
    uint32_t links;
    uint32_t user;
    uint32_t group;
    /// Bytes.
    int64_t size;
    /// Bytes on the disk, as `st_blocks` has them in blocks.
    int64_t allocated;
    CSyncLinux_Time modified;
    /// When content, name, links or attributes changed last. No call sets it back.
    CSyncLinux_Time changed;
    /// When the file was made; nothing where the file system does not tell.
    CSyncLinux_Time born;
    bool isBirthKnown;
    /// Immutable or append-only: nobody takes its name away, nor, where it is a folder, a name in it.
    bool isFixed;
    /// The root of a mount, which may be a file.
    bool isMountRoot;
} CSyncLinux_Status;

/// The status of an open file.
///
/// Returns 0, or an errno; then `status` is as it was.
int32_t CSyncLinux_StatusOf(int32_t descriptor, CSyncLinux_Status *_Nonnull status);

/// The status of what has a name.
///
/// `folder` is the descriptor of the folder below which a relative `path` leads, or CSyncLinux_CurrentFolder. Returns 0,
/// or an errno; then `status` is as it was.
int32_t CSyncLinux_StatusAt(
    int32_t folder, const char *_Nonnull path, bool followsLinks, CSyncLinux_Status *_Nonnull status);

/// `AT_FDCWD`.
extern const int32_t CSyncLinux_CurrentFolder;

/// Gives each of two files the name of the other, in one step: renameat2(2), RENAME_EXCHANGE.
///
/// Returns 0, or an errno; ENOSYS, EINVAL or ENOTSUP where kernel or file system cannot.
int32_t CSyncLinux_Exchange(const char *_Nonnull one, const char *_Nonnull other);

/// Gives a file another name, unless something has that: renameat2(2), RENAME_NOREPLACE.
///
/// Returns 0, or an errno; EEXIST where something has the name, ENOSYS, EINVAL or ENOTSUP where kernel or file system cannot.
int32_t CSyncLinux_RenameIfFree(const char *_Nonnull old_name, const char *_Nonnull new_name);

/// Has the kernel begin to write a file's bytes to the disk, and does not wait: sync_file_range(2),
/// SYNC_FILE_RANGE_WRITE. It makes nothing safe by itself.
///
/// Returns 0, or an errno.
int32_t CSyncLinux_StartWriting(int32_t descriptor);

/// The names of a file's extended attributes, each ended by a zero byte: flistxattr(2).
///
/// Returns how many bytes there are, or a negative errno; ERANGE where they are more than `capacity`. 0 asks for the size.
int64_t CSyncLinux_AttributeNames(int32_t descriptor, char *_Nullable names, int64_t capacity);

/// The value of an extended attribute: fgetxattr(2).
///
/// Returns and `capacity` as above.
int64_t CSyncLinux_Attribute(
    int32_t descriptor, const char *_Nonnull name, void *_Nullable value, int64_t capacity);

/// Sets an extended attribute: fsetxattr(2).
///
/// Returns 0, or an errno; ENOTSUP where the file system keeps none.
int32_t CSyncLinux_SetAttribute(
    int32_t descriptor, const char *_Nonnull name, const void *_Nullable value, int64_t size);

/// The UUID of the file system that an open file is on, as its driver has read it: FS_IOC_GETFSUUID, from Linux 6.9 on.
/// `uuid` has room for 16 bytes.
///
/// Returns how many bytes it has, or a negative errno; ENOTTY where kernel or file system tells none.
int32_t CSyncLinux_FileSystemUUID(int32_t descriptor, uint8_t *_Nonnull uuid);

/// Takes a read lease on an open file without waiting: fcntl(2), F_SETLEASE with F_RDLCK.
///
/// Returns 0, or an errno; EAGAIN while some process has the file open for writing.
int32_t CSyncLinux_TakeReadLease(int32_t descriptor);

/// Gives a lease back: F_UNLCK.
void CSyncLinux_DropLease(int32_t descriptor);

/// Takes an open file description lock for writing without waiting: fcntl(2), F_OFD_SETLK. It belongs to this opening of
/// the file, and ends with it.
///
/// A `length` of 0 is all from `start` on. Returns 0, or an errno; EAGAIN or EACCES while another opening has it.
int32_t CSyncLinux_LockBytes(int32_t descriptor, int64_t start, int64_t length);

/// Tells whether another opening has a lock in the way of one for writing: F_OFD_GETLK. Takes none.
///
/// Returns 0, or an errno; then `isLocked` is as it was.
int32_t CSyncLinux_AreBytesLocked(int32_t descriptor, int64_t start, int64_t length, bool *_Nonnull isLocked);

/// A file in memory without a name, closed by execve(2): memfd_create(2).
///
/// Returns its descriptor, which is the caller's, or a negative errno.
int32_t CSyncLinux_MemoryFile(const char *_Nonnull name);

/// Names the calling thread; the kernel keeps 15 bytes: prctl(2), PR_SET_NAME.
void CSyncLinux_NameThread(const char *_Nonnull name);

/// The calling thread, as the kernel numbers it: gettid(2).
int32_t CSyncLinux_ThreadID(void);

/// Gives back what nobody uses: free pages of the heap (malloc_trim(3), for glibc), and pages of the program and its libraries,
/// which are unmapped and stay in the page cache (madvise(2), MADV_DONTNEED, of segments that cannot be written to). Whoever
/// calls it next finds them there, at the price of a page fault each 64 KiB.
///
/// Takes up to some milliseconds, during which other threads wait to allocate.
///
/// In each program with this library, all threads allocate from one arena (mallopt(3), M_ARENA_MAX), in place of eight
/// for each core: what one frees, another takes, and of any other arena the free end would stay.
void CSyncLinux_ReleaseMemory(void);

#ifdef __cplusplus
}
#endif

#endif
