// sync-agent-decoder: decodes pictures of strangers for sync-agent, with nothing in reach but them.
//
//     sync-agent-decoder               the worker; standard input is its end of the socket (CSyncDecoder.h)
//     sync-agent-decoder --check       what isolates it on this machine, and its libraries: one line of JSON
//     sync-agent-decoder --self-test   tries what must not work; 1 when some of it does

#define _GNU_SOURCE

#include "Decoder.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET = STDIN_FILENO, IDLE_MILLISECONDS = 30000, USAGE = 64 };

static bool decode(Job *job) {
    if (!limit_memory(job->request.memory_bytes)) {
        return fail(job, CSYNC_DECODER_INTERNAL, "the limit of memory cannot be set");
    }
    switch (job->request.format) {
    case CSYNC_DECODER_HEIF: return decode_heif(job);
    case CSYNC_DECODER_PNG: return decode_png(job);
    case CSYNC_DECODER_WEBP: return decode_webp(job);
    case CSYNC_DECODER_TIFF: return decode_tiff(job);
    case CSYNC_DECODER_GIF: return decode_gif(job);
    case CSYNC_DECODER_BMP: return decode_bmp(job);
    case CSYNC_DECODER_RAW: return decode_raw(job);
    default: return fail(job, CSYNC_DECODER_UNSUPPORTED, "no decoder of kind %u", job->request.format);
    }
}

/// Decodes one picture. Of one that failed, the reply tells nothing but why.
static CSyncDecoder_Reply reply_to(const CSyncDecoder_Request *request, int picture, int memory) {
    Job job = {.picture = picture, .memory = memory, .request = *request};
    job.reply.orientation = 1;
    job.reply.pictures = 1;
    bool is_done = decode(&job);
    if (!is_done) fail(&job, CSYNC_DECODER_INTERNAL, "the decoder gives no reason");
    free(job.row);
    malloc_trim(0);
    if (job.reply.pictures > 1) job.reply.dropped |= CSYNC_DECODER_DROPPED_PICTURES;
    if (is_done) return job.reply;
    CSyncDecoder_Reply failure = {.status = job.reply.status, .error_number = job.reply.error_number};
    memcpy(failure.message, job.reply.message, sizeof failure.message);
    return failure;
}

/// Answers requests until the other end is closed, or none has come for a while.
static int serve(void) {
    for (bool is_idle = false;;) {
        struct pollfd end = {.fd = SOCKET, .events = POLLIN};
        int ready = poll(&end, 1, is_idle ? 0 : IDLE_MILLISECONDS);
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return EXIT_FAILURE;
        if (ready == 0) {
            if (is_idle) return EXIT_SUCCESS;
            // From here on no request is taken; one that was sent before is still answered.
            shutdown(SOCKET, SHUT_RD);
            is_idle = true;
            continue;
        }
        CSyncDecoder_Request request;
        int picture;
        int memory;
        int32_t failure = CSyncDecoder_ReceiveRequest(SOCKET, &request, &picture, &memory);
        if (failure == EPIPE) return EXIT_SUCCESS;
        if (failure != 0) return EXIT_FAILURE;
        CSyncDecoder_Reply reply = reply_to(&request, picture, memory);
        close(picture);
        close(memory);
        if (CSyncDecoder_SendReply(SOCKET, &reply) != 0) return EXIT_SUCCESS;
    }
}

static int check(void) {
    Sandbox sandbox = {0};
    int failure = enter_sandbox(&sandbox);
    if (failure != 0) {
        fprintf(stderr, "sync-agent-decoder: no sandbox: %s\n", strerror(failure));
        return EXIT_FAILURE;
    }
    printf(
        "{\"landlock\": %s, \"seccomp\": %s, \"libraries\": {", sandbox.has_landlock ? "true" : "false",
        sandbox.has_seccomp ? "true" : "false");
    print_libraries();
    printf("}}\n");
    return EXIT_SUCCESS;
}

static int work(void) {
    // What a library prints must not get into a file that a request brings along.
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return EXIT_FAILURE;
    Sandbox sandbox = {0};
    int failure = enter_sandbox(&sandbox);
    if (failure == 0) return serve();
    fprintf(stderr, "sync-agent-decoder: no sandbox: %s\n", strerror(failure));
    return EXIT_FAILURE;
}

int main(int count, char **arguments) {
    const char *command = count > 1 ? arguments[1] : "";
    bool is_check = strcmp(command, "--check") == 0;
    bool is_trial = strcmp(command, "--self-test") == 0;
    if (count > 2 || (count == 2 && !is_check && !is_trial)) {
        fprintf(stderr, "sync-agent-decoder: it is started by sync-agent; else: --check, --self-test\n");
        return USAGE;
    }
    prepare_libraries();
    int code = is_check ? check() : is_trial ? try_sandbox() > 0 : work();
    // Not exit(3): there is nothing to put in order.
    fflush(stdout);
    _exit(code);
}
