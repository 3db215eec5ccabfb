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

/// The limit of memory is reached in a library that would end the process: the request is answered instead, and then the
/// process ends. No request is taken any more.
static void give_up(void) {
    static const CSyncDecoder_Reply reply = {
        .status = CSYNC_DECODER_OVER_LIMIT, .message = "decoding needs more than the limit of memory"};
    shutdown(SOCKET, SHUT_RD);
    CSyncDecoder_SendReply(SOCKET, &reply);
    _exit(EXIT_SUCCESS);
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
        CSyncDecoder_Reply reply = limit_memory(request.memory_bytes)
            ? decode_picture(&request, picture, memory)
            : (CSyncDecoder_Reply){.status = CSYNC_DECODER_INTERNAL, .message = "the limit of memory cannot be set"};
        malloc_trim(0);
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
    call_without_memory(give_up);
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
