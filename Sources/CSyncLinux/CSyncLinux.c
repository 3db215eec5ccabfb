#define _GNU_SOURCE

#include "CSyncLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

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
        .links = found.stx_nlink,
        .user = found.stx_uid,
        .group = found.stx_gid,
        .size = (int64_t)found.stx_size,
        // Of 512 bytes each, whatever the blocks of the file system are.
        .allocated = (int64_t)found.stx_blocks * 512,
        .modified = time_of(found.stx_mtime),
        .changed = time_of(found.stx_ctime),
        .isBirthKnown = (found.stx_mask & STATX_BTIME) != 0,
        .isFixed = (found.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0,
        .isMountRoot = (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0,
    };
    if (status->isBirthKnown) status->born = time_of(found.stx_btime);
    return 0;
}

int32_t CSyncLinux_StatusOf(int32_t descriptor, CSyncLinux_Status *status) {
    return look(descriptor, "", AT_EMPTY_PATH, status);
}

int32_t CSyncLinux_StatusAt(int32_t folder, const char *path, bool followsLinks, CSyncLinux_Status *status) {
    return look(folder, path, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW, status);
}

int32_t CSyncLinux_Exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

int32_t CSyncLinux_RenameIfFree(const char *old_name, const char *new_name) {
    return renameat2(AT_FDCWD, old_name, AT_FDCWD, new_name, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

int32_t CSyncLinux_StartWriting(int32_t descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE) == 0 ? 0 : errno;
}

int64_t CSyncLinux_AttributeNames(int32_t descriptor, char *names, int64_t capacity) {
    ssize_t size = flistxattr(descriptor, names, (size_t)capacity);
    return size < 0 ? -(int64_t)errno : size;
}

int64_t CSyncLinux_Attribute(int32_t descriptor, const char *name, void *value, int64_t capacity) {
    ssize_t size = fgetxattr(descriptor, name, value, (size_t)capacity);
    return size < 0 ? -(int64_t)errno : size;
}

int32_t CSyncLinux_SetAttribute(int32_t descriptor, const char *name, const void *value, int64_t size) {
    return fsetxattr(descriptor, name, value, (size_t)size, 0) == 0 ? 0 : errno;
}

// `struct fsuuid2` and FS_IOC_GETFSUUID of <linux/fs.h>, which older headers lack.
struct file_system_uuid {
    uint8_t length;
    uint8_t bytes[16];
};

int32_t CSyncLinux_FileSystemUUID(int32_t descriptor, uint8_t *uuid) {
    struct file_system_uuid found = {0};
    if (ioctl(descriptor, _IOR(0x15, 0, struct file_system_uuid), &found) != 0) return -errno;
    if (found.length > sizeof found.bytes) return -EINVAL;
    memcpy(uuid, found.bytes, sizeof found.bytes);
    return found.length;
}

int32_t CSyncLinux_TakeReadLease(int32_t descriptor) {
    return fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0 ? 0 : errno;
}

void CSyncLinux_DropLease(int32_t descriptor) {
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
}

static struct flock write_lock(int64_t start, int64_t length) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

int32_t CSyncLinux_LockBytes(int32_t descriptor, int64_t start, int64_t length) {
    struct flock lock = write_lock(start, length);
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

int32_t CSyncLinux_AreBytesLocked(int32_t descriptor, int64_t start, int64_t length, bool *isLocked) {
    struct flock lock = write_lock(start, length);
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return errno;
    *isLocked = lock.l_type != F_UNLCK;
    return 0;
}

int32_t CSyncLinux_MemoryFile(const char *name) {
    int descriptor = memfd_create(name, MFD_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

void CSyncLinux_NameThread(const char *name) {
    prctl(PR_SET_NAME, name);
}

int32_t CSyncLinux_ThreadID(void) {
    return gettid();
}

#ifdef __GLIBC__
// Before main: Swift runs an async one on a second thread, which has an arena of its own by then.
__attribute__((constructor)) static void share_arena(void) {
    mallopt(M_ARENA_MAX, 1);
}
#endif

static int release_pages(struct dl_phdr_info *object, size_t size, void *page) {
    const uintptr_t mask = *(uintptr_t *)page - 1;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr + mask) & ~mask;
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~mask;
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void CSyncLinux_ReleaseMemory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(release_pages, &page);
}
