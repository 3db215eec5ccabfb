// What the process gives up before it reads the first byte of a stranger: landlock(7), seccomp(2), getrlimit(2).
//
// All libraries are loaded by then, and each call that they make while they decode is in the table below. No thread is
// started: the decoders of HEVC and AV1 run without (HEVC.c, AV1.c).

#define _GNU_SOURCE

#include "Decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the table of system calls is for x86_64 and aarch64"
#endif

/// Private memory of the process as it entered the sandbox, in bytes.
static int64_t memory_at_start;

/// What a request may ask for at most, beside that.
static const int64_t most_memory = (int64_t)2 << 30;

/// What stays taken between requests, and rows of samples.
static const int64_t spare_memory = 32 << 20;

// MARK: System calls

static const int allowed[] = {
    SYS_read, SYS_write, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_ftruncate, SYS_fstat, SYS_close,
    SYS_recvmsg, SYS_sendmsg, SYS_shutdown, SYS_ppoll, SYS_munmap, SYS_mremap, SYS_brk, SYS_madvise, SYS_futex,
    SYS_clock_gettime, SYS_gettimeofday, SYS_clock_nanosleep, SYS_getrandom, SYS_sched_yield, SYS_getpid, SYS_gettid,
    SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall, SYS_exit,
    SYS_exit_group,
#ifdef SYS_poll
    SYS_poll,
#endif
};

/// What libraries ask for and do well without: a time zone, the number of processors, another thread.
static const int refused[] = {
    SYS_openat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_getcwd, SYS_ioctl, SYS_fcntl, SYS_prctl,
    SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_uname, SYS_sysinfo, SYS_getuid, SYS_geteuid, SYS_clone,
    SYS_clone3,
#ifdef SYS_open
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink,
#endif
};

typedef struct Filter {
    struct sock_filter lines[256];
    unsigned short count;
} Filter;

static void add(Filter *filter, struct sock_filter line) {
    filter->lines[filter->count] = line;
    filter->count += 1;
}

static void load(Filter *filter, size_t offset) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void answer(Filter *filter, unsigned action) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void answer_call(Filter *filter, int call, unsigned action) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1));
    answer(filter, action);
}

/// The lower half of an argument: all that are looked at are small.
static size_t argument(int index) {
    return offsetof(struct seccomp_data, args) + 8 * (size_t)index;
}

/// Memory that can be run is none that a decoder needs.
static void allow_without_code(Filter *filter, int call) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4));
    load(filter, argument(2));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    answer(filter, SECCOMP_RET_ALLOW);
}

static void allow_with(Filter *filter, int call, int index, unsigned value) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4));
    load(filter, argument(index));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(filter, SECCOMP_RET_ALLOW);
    answer(filter, SECCOMP_RET_KILL_PROCESS);
}

static bool filter_calls(void) {
    Filter filter = {.count = 0};
    load(&filter, offsetof(struct seccomp_data, arch));
    add(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    answer(&filter, SECCOMP_RET_KILL_PROCESS);
    load(&filter, offsetof(struct seccomp_data, nr));
    for (size_t index = 0; index < sizeof allowed / sizeof *allowed; index += 1) {
        answer_call(&filter, allowed[index], SECCOMP_RET_ALLOW);
    }
    for (size_t index = 0; index < sizeof refused / sizeof *refused; index += 1) {
        answer_call(&filter, refused[index], SECCOMP_RET_ERRNO | EPERM);
    }
    allow_without_code(&filter, SYS_mmap);
    allow_without_code(&filter, SYS_mprotect);
    // abort(3) sends itself a signal; the limit of memory is set for each request.
    allow_with(&filter, SYS_tgkill, 0, (unsigned)getpid());
    allow_with(&filter, SYS_prlimit64, 1, RLIMIT_DATA);
    answer(&filter, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {.len = filter.count, .filter = filter.lines};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

// MARK: Files

// The numbers are the same on all architectures; Debian 12's headers know the first version only.
enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, ASK_VERSION = 1 };

/// No right on any file, and no TCP port where the kernel knows of them.
static bool give_up_files(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) return false;
    struct {
        uint64_t files;
        uint64_t ports;
    } rules = {.files = (1 << 13) - 1};
    if (version >= 2) rules.files |= 1 << 13;  // renaming into another folder
    if (version >= 3) rules.files |= 1 << 14;  // truncating
    if (version >= 4) rules.ports = 3;         // bind, connect
    if (version >= 5) rules.files |= 1 << 15;  // ioctl on devices
    int ruleset = (int)syscall(CREATE_RULESET, &rules, version >= 4 ? sizeof rules : sizeof rules.files, 0);
    if (ruleset < 0) return false;
    bool is_done = syscall(RESTRICT_SELF, ruleset, 0) == 0;
    close(ruleset);
    return is_done;
}

// MARK: Limits

/// The pages that RLIMIT_DATA counts: sixth in proc_pid_statm(5).
static int64_t private_memory(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return -1;
    long long pages = -1;
    if (fscanf(file, "%*d %*d %*d %*d %*d %lld", &pages) != 1) pages = -1;
    fclose(file);
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

static int set_limit(int resource, rlim_t value) {
    return setrlimit((__rlimit_resource_t)resource, &(struct rlimit){value, value}) == 0 ? 0 : errno;
}

static int set_limits(void) {
    memory_at_start = private_memory();
    if (memory_at_start < 0) return EIO;
    enum { FILES = 8 };
    int failure = set_limit(RLIMIT_CORE, 0);
    if (failure == 0) failure = set_limit(RLIMIT_NOFILE, FILES);
    if (failure == 0) failure = set_limit(RLIMIT_NPROC, 0);
    if (failure == 0) failure = set_limit(RLIMIT_FSIZE, (rlim_t)4 << 30);
    if (failure == 0) failure = set_limit(RLIMIT_DATA, (rlim_t)(memory_at_start + most_memory + spare_memory));
    return failure;
}

bool limit_memory(int64_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0) return false;
    if (bytes > most_memory) bytes = most_memory;
    limit.rlim_cur = (rlim_t)(memory_at_start + bytes + spare_memory);
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}

int enter_sandbox(Sandbox *sandbox) {
    if (syscall(SYS_close_range, 3, ~0U, 0) != 0) {
        for (int descriptor = 3; descriptor < 1024; descriptor += 1) close(descriptor);
    }
    // A file that grows too large is an error of its write(2).
    signal(SIGXFSZ, SIG_IGN);
    int failure = set_limits();
    if (failure != 0) return failure;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
    sandbox->has_landlock = give_up_files();
    sandbox->has_seccomp = filter_calls();
    return 0;
}

// MARK: Trying it

static bool opens_file(void) { return open("/etc/passwd", O_RDONLY) >= 0; }
static bool makes_file(void) { return open("/tmp", O_TMPFILE | O_WRONLY, 0600) >= 0; }
static bool opens_socket(void) { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }
static bool makes_pair(void) { return socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}) == 0; }
static bool sends_signal(void) { return kill(getppid(), 0) == 0; }

static bool starts_process(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0;
}

static bool starts_program(void) {
    // Its own code says that it ran.
    execl("/bin/sh", "sh", "-c", "exit 1", (char *)NULL);
    return false;
}

static bool makes_code(void) {
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool takes_memory(void) {
    if (!limit_memory(64 << 20)) return false;
    return mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

int try_sandbox(void) {
    const struct {
        const char *name;
        bool (*works)(void);
    } trials[] = {
        {"open a file", opens_file}, {"make a file", makes_file}, {"open a socket", opens_socket},
        {"make a socket pair", makes_pair}, {"send a signal", sends_signal}, {"start a process", starts_process},
        {"start a program", starts_program}, {"make code", makes_code}, {"take more memory", takes_memory},
    };
    int failures = 0;
    for (size_t index = 0; index < sizeof trials / sizeof *trials; index += 1) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            Sandbox sandbox;
            _exit(enter_sandbox(&sandbox) != 0 || trials[index].works() ? 1 : 0);
        }
        int status = 0;
        bool is_refused = child > 0 && waitpid(child, &status, 0) == child
            && (WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGSYS);
        printf("%s: %s\n", trials[index].name, is_refused ? "refused" : "ALLOWED");
        if (!is_refused) failures += 1;
    }
    return failures;
}
