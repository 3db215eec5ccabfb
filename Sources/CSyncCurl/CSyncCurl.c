#include "CSyncCurl.h"

#include <CSyncLibrary.h>
#include <curl/curl.h>
#include <stdlib.h>

CSYNC_LIBRARY_OPENING(CSyncCurl_OpenLibrary);

#define SAME(ours, theirs) _Static_assert((int)ours == (int)theirs, #theirs)
SAME(CSyncCurl_CodeOK, CURLE_OK);
SAME(CSyncCurl_CodeUnsupportedProtocol, CURLE_UNSUPPORTED_PROTOCOL);
SAME(CSyncCurl_CodeMalformedURL, CURLE_URL_MALFORMAT);
SAME(CSyncCurl_CodeCouldNotResolveProxy, CURLE_COULDNT_RESOLVE_PROXY);
SAME(CSyncCurl_CodeCouldNotResolveHost, CURLE_COULDNT_RESOLVE_HOST);
SAME(CSyncCurl_CodeCouldNotConnect, CURLE_COULDNT_CONNECT);
SAME(CSyncCurl_CodeWeirdServerReply, CURLE_WEIRD_SERVER_REPLY);
SAME(CSyncCurl_CodePartialFile, CURLE_PARTIAL_FILE);
SAME(CSyncCurl_CodeTimedOut, CURLE_OPERATION_TIMEDOUT);
SAME(CSyncCurl_CodeTLSConnectError, CURLE_SSL_CONNECT_ERROR);
SAME(CSyncCurl_CodeGotNothing, CURLE_GOT_NOTHING);
SAME(CSyncCurl_CodeSendError, CURLE_SEND_ERROR);
SAME(CSyncCurl_CodeReceiveError, CURLE_RECV_ERROR);
SAME(CSyncCurl_CodeCertificateProblem, CURLE_SSL_CERTPROBLEM);
SAME(CSyncCurl_CodeTLSCipher, CURLE_SSL_CIPHER);
SAME(CSyncCurl_CodePeerFailedVerification, CURLE_PEER_FAILED_VERIFICATION);
SAME(CSyncCurl_CodeSendFailedRewind, CURLE_SEND_FAIL_REWIND);
SAME(CSyncCurl_CodeCABadFile, CURLE_SSL_CACERT_BADFILE);
SAME(CSyncCurl_CodeTLSIssuerError, CURLE_SSL_ISSUER_ERROR);
SAME(CSyncCurl_CodeProxy, CURLE_PROXY);

int CSyncCurl_GlobalInit(void) {
    return CSyncCurl_OpenLibrary() == NULL ? curl_global_init(CURL_GLOBAL_DEFAULT) : CURLE_FAILED_INIT;
}

const char *CSyncCurl_CodeText(int code) {
    const char *missing = CSyncCurl_OpenLibrary();
    return missing != NULL ? missing : curl_easy_strerror((CURLcode)code);
}

struct CSyncCurl_Transfer {
    CURL *easy;
    struct curl_slist *headers;
    CSyncCurl_Callbacks callbacks;
    void *context;
    char errorText[CURL_ERROR_SIZE];
};

static size_t readBody(char *buffer, size_t size, size_t count, void *context) {
    CSyncCurl_Transfer *transfer = context;
    int64_t filled = transfer->callbacks.read(transfer->context, buffer, size * count);
    if (filled == CSyncCurl_ReadPause) return CURL_READFUNC_PAUSE;
    return filled < 0 ? CURL_READFUNC_ABORT : (size_t)filled;
}

static int seekBody(void *context, curl_off_t offset, int origin) {
    CSyncCurl_Transfer *transfer = context;
    if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
    return transfer->callbacks.seek(transfer->context, offset) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

// curl ends a transfer when these return anything but the number of bytes it handed over.
static size_t writeBody(char *bytes, size_t size, size_t count, void *context) {
    CSyncCurl_Transfer *transfer = context;
    if (size * count == 0) return 0;
    return transfer->callbacks.write(transfer->context, bytes, size * count) ? size * count : 0;
}

static size_t writeHeader(char *bytes, size_t size, size_t count, void *context) {
    CSyncCurl_Transfer *transfer = context;
    if (size * count == 0) return 0;
    return transfer->callbacks.header(transfer->context, bytes, size * count) ? size * count : 0;
}

CSyncCurl_Transfer *CSyncCurl_TransferCreate(CSyncCurl_Callbacks callbacks, void *context) {
    CSyncCurl_Transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer == NULL) return NULL;
    transfer->callbacks = callbacks;
    transfer->context = context;
    transfer->easy = curl_easy_init();
    if (transfer->easy == NULL) {
        free(transfer);
        return NULL;
    }
    // These cannot fail: they only store a pointer in the handle.
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_ERRORBUFFER, transfer->errorText);
    curl_easy_setopt(transfer->easy, CURLOPT_READFUNCTION, readBody);
    curl_easy_setopt(transfer->easy, CURLOPT_READDATA, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_SEEKFUNCTION, seekBody);
    curl_easy_setopt(transfer->easy, CURLOPT_SEEKDATA, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, writeBody);
    curl_easy_setopt(transfer->easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_HEADERFUNCTION, writeHeader);
    curl_easy_setopt(transfer->easy, CURLOPT_HEADERDATA, transfer);
    return transfer;
}

void CSyncCurl_TransferFree(CSyncCurl_Transfer *transfer) {
    if (transfer == NULL) return;
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    free(transfer);
}

int CSyncCurl_TransferSetNumber(CSyncCurl_Transfer *transfer, CSyncCurl_NumberOption option, int64_t value) {
    CURL *easy = transfer->easy;
    switch (option) {
    case CSyncCurl_NumberOptionConnectTimeoutMilliseconds:
        return curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)value);
    case CSyncCurl_NumberOptionContinueTimeoutMilliseconds:
        return curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, (long)value);
    case CSyncCurl_NumberOptionFollowLocation: return curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, (long)value);
    case CSyncCurl_NumberOptionHTTPGet: return curl_easy_setopt(easy, CURLOPT_HTTPGET, (long)value);
    case CSyncCurl_NumberOptionHTTPOneOnly:
        return curl_easy_setopt(
            easy, CURLOPT_HTTP_VERSION, (long)(value != 0 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_NONE));
    case CSyncCurl_NumberOptionLowSpeedLimit: return curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)value);
    case CSyncCurl_NumberOptionLowSpeedTime: return curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)value);
    case CSyncCurl_NumberOptionTimeoutMilliseconds: return curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)value);
    case CSyncCurl_NumberOptionMaximumConnectionAge: return curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)value);
    case CSyncCurl_NumberOptionMaximumSendSpeed:
        return curl_easy_setopt(easy, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)value);
    case CSyncCurl_NumberOptionMaximumReceiveSpeed:
        return curl_easy_setopt(easy, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)value);
    case CSyncCurl_NumberOptionNoBody: return curl_easy_setopt(easy, CURLOPT_NOBODY, (long)value);
    case CSyncCurl_NumberOptionNoSignal: return curl_easy_setopt(easy, CURLOPT_NOSIGNAL, (long)value);
    case CSyncCurl_NumberOptionPathAsIs: return curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, (long)value);
    case CSyncCurl_NumberOptionSuppressConnectHeaders:
        return curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, (long)value);
    case CSyncCurl_NumberOptionTCPKeepAlive: return curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, (long)value);
    case CSyncCurl_NumberOptionUpload: return curl_easy_setopt(easy, CURLOPT_UPLOAD, (long)value);
    case CSyncCurl_NumberOptionUploadBufferSize: return curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)value);
    case CSyncCurl_NumberOptionUploadSize: return curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)value);
    case CSyncCurl_NumberOptionVerifyHost: return curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, (long)value);
    case CSyncCurl_NumberOptionVerifyPeer: return curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, (long)value);
    }
    return CURLE_UNKNOWN_OPTION;
}

int CSyncCurl_TransferSetText(CSyncCurl_Transfer *transfer, CSyncCurl_TextOption option, const char *value) {
    CURL *easy = transfer->easy;
    switch (option) {
    case CSyncCurl_TextOptionCABundle: return curl_easy_setopt(easy, CURLOPT_CAINFO, value);
    case CSyncCurl_TextOptionCustomRequest: return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, value);
    case CSyncCurl_TextOptionProtocols: return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, value);
    case CSyncCurl_TextOptionProxy: return curl_easy_setopt(easy, CURLOPT_PROXY, value);
    case CSyncCurl_TextOptionURL: return curl_easy_setopt(easy, CURLOPT_URL, value);
    }
    return CURLE_UNKNOWN_OPTION;
}

int CSyncCurl_TransferAddHeader(CSyncCurl_Transfer *transfer, const char *line) {
    struct curl_slist *longer = curl_slist_append(transfer->headers, line);
    if (longer == NULL) return CURLE_OUT_OF_MEMORY;
    transfer->headers = longer;
    return curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, longer);
}

// It fails where there is no connection, as while curl gets another one: then nothing has paused.
void CSyncCurl_TransferGoOn(CSyncCurl_Transfer *transfer) { (void)curl_easy_pause(transfer->easy, CURLPAUSE_CONT); }

const char *CSyncCurl_TransferErrorText(CSyncCurl_Transfer *transfer, int code) {
    return transfer->errorText[0] != 0 ? transfer->errorText : curl_easy_strerror((CURLcode)code);
}

int64_t CSyncCurl_TransferNewConnections(CSyncCurl_Transfer *transfer) {
    long count = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &count);
    return count;
}

struct CSyncCurl_Multi {
    CURLM *multi;
    int64_t hostConnections;
};

static CURLM *newMulti(int64_t hostConnections) {
    CURLM *multi = curl_multi_init();
    if (multi == NULL) return NULL;
    // Without descriptors curl makes one that nobody can wake, and says so only of the try.
    if (curl_multi_wakeup(multi) != CURLM_OK) {
        curl_multi_cleanup(multi);
        return NULL;
    }
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)hostConnections);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)hostConnections);
    return multi;
}

CSyncCurl_Multi *CSyncCurl_MultiCreate(int64_t hostConnections) {
    CSyncCurl_Multi *multi = calloc(1, sizeof *multi);
    if (multi == NULL) return NULL;
    multi->hostConnections = hostConnections;
    multi->multi = newMulti(hostConnections);
    if (multi->multi == NULL) {
        free(multi);
        return NULL;
    }
    return multi;
}

void CSyncCurl_MultiCloseConnections(CSyncCurl_Multi *multi) {
    CURLM *empty = newMulti(multi->hostConnections);
    if (empty == NULL) return;
    curl_multi_cleanup(multi->multi);
    multi->multi = empty;
}

void CSyncCurl_MultiFree(CSyncCurl_Multi *multi) {
    if (multi == NULL) return;
    curl_multi_cleanup(multi->multi);
    free(multi);
}

int CSyncCurl_MultiAdd(CSyncCurl_Multi *multi, CSyncCurl_Transfer *transfer) {
    return curl_multi_add_handle(multi->multi, transfer->easy);
}

void CSyncCurl_MultiRemove(CSyncCurl_Multi *multi, CSyncCurl_Transfer *transfer) {
    curl_multi_remove_handle(multi->multi, transfer->easy);
}

int CSyncCurl_MultiPerform(CSyncCurl_Multi *multi) {
    int running = 0;
    return curl_multi_perform(multi->multi, &running);
}

int CSyncCurl_MultiPoll(CSyncCurl_Multi *multi, int timeoutMilliseconds) {
    return curl_multi_poll(multi->multi, NULL, 0, timeoutMilliseconds, NULL);
}

int CSyncCurl_MultiWakeup(CSyncCurl_Multi *multi) { return curl_multi_wakeup(multi->multi); }

CSyncCurl_Transfer *CSyncCurl_MultiNextDone(CSyncCurl_Multi *multi, int *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        char *transfer = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        return (CSyncCurl_Transfer *)transfer;
    }
    return NULL;
}
