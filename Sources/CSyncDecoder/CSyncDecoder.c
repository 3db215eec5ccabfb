#define _GNU_SOURCE

#include "CSyncDecoder.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DESCRIPTORS = 2 };

/// Room for the descriptors' header, aligned as cmsg(3) wants it.
typedef union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
} Control;

static int32_t send_whole(int socket, const struct msghdr *message, size_t count) {
    ssize_t sent;
    do {
        sent = sendmsg(socket, message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return errno == ECONNRESET ? EPIPE : errno;
    return (size_t)sent == count ? 0 : EPROTO;
}

/// A closed socket gives ECONNRESET when something was on its way to it.
static int32_t receive_whole(int socket, struct msghdr *message, size_t count) {
    ssize_t received;
    do {
        received = recvmsg(socket, message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return errno == ECONNRESET ? EPIPE : errno;
    if (received == 0) return EPIPE;
    return (size_t)received == count && (message->msg_flags & MSG_TRUNC) == 0 ? 0 : EPROTO;
}

int32_t CSyncDecoder_SendRequest(
    int32_t socket, const CSyncDecoder_Request *request, int32_t picture, int32_t samples) {
    Control control = {0};
    struct iovec part = {.iov_base = (void *)request, .iov_len = sizeof *request};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(DESCRIPTORS * sizeof(int));
    memcpy(CMSG_DATA(header), (int[DESCRIPTORS]){picture, samples}, DESCRIPTORS * sizeof(int));
    return send_whole(socket, &message, sizeof *request);
}

int32_t CSyncDecoder_ReceiveRequest(
    int32_t socket, CSyncDecoder_Request *request, int32_t *picture, int32_t *samples) {
    Control control = {0};
    struct iovec part = {.iov_base = request, .iov_len = sizeof *request};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int32_t failure = receive_whole(socket, &message, sizeof *request);
    int descriptors[DESCRIPTORS];
    size_t count = 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(descriptors, CMSG_DATA(header), count * sizeof(int));
    }
    if (failure == 0 && (count != DESCRIPTORS || (message.msg_flags & MSG_CTRUNC) != 0)) failure = EPROTO;
    if (failure != 0) {
        for (size_t index = 0; index < count; index += 1) close(descriptors[index]);
        return failure;
    }
    *picture = descriptors[0];
    *samples = descriptors[1];
    return 0;
}

int32_t CSyncDecoder_SendReply(int32_t socket, const CSyncDecoder_Reply *reply) {
    struct iovec part = {.iov_base = (void *)reply, .iov_len = sizeof *reply};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return send_whole(socket, &message, sizeof *reply);
}

int32_t CSyncDecoder_ReceiveReply(int32_t socket, CSyncDecoder_Reply *reply) {
    struct iovec part = {.iov_base = reply, .iov_len = sizeof *reply};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int32_t failure = receive_whole(socket, &message, sizeof *reply);
    if (failure == 0) reply->message[sizeof reply->message - 1] = 0;
    return failure;
}
