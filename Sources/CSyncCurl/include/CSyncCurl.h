#ifndef CSYNCCURL_H
#define CSYNCCURL_H

#include <stddef.h>
#include <stdint.h>

// libcurl's multi interface (libcurl-multi(3)) with fixed types in place of variadic calls.
//
// Thread rule: a multi and its transfers belong to one thread at a time; only CSyncCurl_MultiWakeup may be called from
// any other. Functions that return `int` return a code of curl's: 0 is success, CSyncCurl_CodeText explains the others.

/// Opens libcurl and what it needs, 27 libraries; then curl_global_init(3). Before any other function of this file but
/// CSyncCurl_CodeText. Safe to call from any thread, any number of times.
int CSyncCurl_GlobalInit(void);

/// What a CURLcode means; without libcurl, what is missing. The pointer stays valid until the thread calls it again.
const char *_Nonnull CSyncCurl_CodeText(int code);

/// Those of curl's codes (libcurl-errors(3)) that callers tell apart; the others are told by their text.
typedef enum {
    CSyncCurl_CodeOK = 0,
    CSyncCurl_CodeUnsupportedProtocol = 1,
    CSyncCurl_CodeMalformedURL = 3,
    CSyncCurl_CodeCouldNotResolveProxy = 5,
    CSyncCurl_CodeCouldNotResolveHost = 6,
    CSyncCurl_CodeCouldNotConnect = 7,
    CSyncCurl_CodeWeirdServerReply = 8,
    CSyncCurl_CodePartialFile = 18,
    CSyncCurl_CodeTimedOut = 28,
    CSyncCurl_CodeTLSConnectError = 35,
    CSyncCurl_CodeGotNothing = 52,
    CSyncCurl_CodeSendError = 55,
    CSyncCurl_CodeReceiveError = 56,
    CSyncCurl_CodeCertificateProblem = 58,
    CSyncCurl_CodeTLSCipher = 59,
    CSyncCurl_CodePeerFailedVerification = 60,
    CSyncCurl_CodeSendFailedRewind = 65,
    CSyncCurl_CodeCABadFile = 77,
    CSyncCurl_CodeTLSIssuerError = 83,
    CSyncCurl_CodeProxy = 97,
} CSyncCurl_Code;

// MARK: One transfer

/// One request and its reply: a CURL easy handle, its header list and its error text.
typedef struct CSyncCurl_Transfer CSyncCurl_Transfer;

/// What a body's reader answers in place of a count.
enum {
    /// Ends the transfer.
    CSyncCurl_ReadAbort = -1,
    /// Nothing is there now: the transfer pauses until CSyncCurl_TransferGoOn. Most versions of curl count that as a
    /// stall.
    CSyncCurl_ReadPause = -2,
};

/// Called on the thread that performs the multi, only between adding the transfer to it and removing it.
typedef struct {
    /// Fills up to `capacity` bytes of the request's body; returns how many, 0 at its end, or one of those above.
    int64_t (*_Nonnull read)(void *_Nonnull context, void *_Nonnull buffer, size_t capacity);
    /// Goes to a byte of the request's body; returns 1, or 0 when it cannot.
    int (*_Nonnull seek)(void *_Nonnull context, int64_t offset);
    /// Takes bytes of the reply's body; returns 1, or 0 to end the transfer.
    int (*_Nonnull write)(void *_Nonnull context, const void *_Nonnull bytes, size_t count);
    /// Takes one line of the reply's head, the status line of each reply included; returns 1, or 0 to end the transfer.
    int (*_Nonnull header)(void *_Nonnull context, const void *_Nonnull bytes, size_t count);
} CSyncCurl_Callbacks;

/// NULL when memory is short. The caller owns it; `context` has to outlive it and is handed to every callback.
CSyncCurl_Transfer *_Nullable CSyncCurl_TransferCreate(CSyncCurl_Callbacks callbacks, void *_Nonnull context);

/// Not while it is in a multi.
void CSyncCurl_TransferFree(CSyncCurl_Transfer *_Nullable transfer);

/// curl_easy_setopt(3) for options that take a number.
typedef enum __attribute__((enum_extensibility(closed))) {
    CSyncCurl_NumberOptionConnectTimeoutMilliseconds,
    /// CURLOPT_EXPECT_100_TIMEOUT_MS
    CSyncCurl_NumberOptionContinueTimeoutMilliseconds,
    CSyncCurl_NumberOptionFollowLocation,
    CSyncCurl_NumberOptionHTTPGet,
    /// CURLOPT_HTTP_VERSION = CURL_HTTP_VERSION_1_1 when not 0.
    CSyncCurl_NumberOptionHTTPOneOnly,
    CSyncCurl_NumberOptionLowSpeedLimit,
    CSyncCurl_NumberOptionLowSpeedTime,
    CSyncCurl_NumberOptionTimeoutMilliseconds,
    CSyncCurl_NumberOptionMaximumConnectionAge,
    /// CURLOPT_MAX_RECV_SPEED_LARGE, bytes a second; 0 for no limit; also while the transfer is in a multi.
    CSyncCurl_NumberOptionMaximumReceiveSpeed,
    /// CURLOPT_MAX_SEND_SPEED_LARGE, as the one before.
    CSyncCurl_NumberOptionMaximumSendSpeed,
    CSyncCurl_NumberOptionNoBody,
    CSyncCurl_NumberOptionNoSignal,
    CSyncCurl_NumberOptionPathAsIs,
    CSyncCurl_NumberOptionSuppressConnectHeaders,
    CSyncCurl_NumberOptionTCPKeepAlive,
    CSyncCurl_NumberOptionUpload,
    CSyncCurl_NumberOptionUploadBufferSize,
    /// CURLOPT_INFILESIZE_LARGE
    CSyncCurl_NumberOptionUploadSize,
    CSyncCurl_NumberOptionVerifyHost,
    CSyncCurl_NumberOptionVerifyPeer,
} CSyncCurl_NumberOption;

int CSyncCurl_TransferSetNumber(CSyncCurl_Transfer *_Nonnull transfer, CSyncCurl_NumberOption option, int64_t value);

/// curl_easy_setopt(3) for options that take a text; curl keeps a copy.
typedef enum __attribute__((enum_extensibility(closed))) {
    CSyncCurl_TextOptionCABundle,
    CSyncCurl_TextOptionCustomRequest,
    CSyncCurl_TextOptionProtocols,
    CSyncCurl_TextOptionProxy,
    CSyncCurl_TextOptionURL,
} CSyncCurl_TextOption;

int CSyncCurl_TransferSetText(
    CSyncCurl_Transfer *_Nonnull transfer, CSyncCurl_TextOption option, const char *_Nonnull value);

/// Adds a line to CURLOPT_HTTPHEADER; curl keeps a copy. Not while the transfer is in a multi.
int CSyncCurl_TransferAddHeader(CSyncCurl_Transfer *_Nonnull transfer, const char *_Nonnull line);

/// Goes on with a transfer whose reader has answered CSyncCurl_ReadPause (curl_easy_pause(3)). For any other it does
/// nothing. While it is in a multi, and in none of its callbacks.
void CSyncCurl_TransferGoOn(CSyncCurl_Transfer *_Nonnull transfer);

/// What went wrong, in curl's words, with host and port; the code's text where curl said nothing more. Valid until the
/// transfer is freed.
const char *_Nonnull CSyncCurl_TransferErrorText(CSyncCurl_Transfer *_Nonnull transfer, int code);

/// How many connections the transfer had to open (CURLINFO_NUM_CONNECTS): 0 when it used one that was there.
int64_t CSyncCurl_TransferNewConnections(CSyncCurl_Transfer *_Nonnull transfer);

// MARK: Many transfers at once

/// A CURLM.
typedef struct CSyncCurl_Multi CSyncCurl_Multi;

/// NULL when memory or descriptors are short. The caller owns it.
/// - hostConnections: CURLMOPT_MAX_HOST_CONNECTIONS; further transfers wait inside curl.
CSyncCurl_Multi *_Nullable CSyncCurl_MultiCreate(int64_t hostConnections);

/// Closes all connections, and lets go of what curl keeps for later ones (names, authorities). By itself curl closes one
/// only while it looks for another. The multi has to be empty, and nobody may wake it meanwhile; what woke it before is
/// forgotten. When memory or descriptors are short, all stays as it is.
void CSyncCurl_MultiCloseConnections(CSyncCurl_Multi *_Nonnull multi);

/// Closes all connections. The multi has to be empty.
void CSyncCurl_MultiFree(CSyncCurl_Multi *_Nullable multi);

int CSyncCurl_MultiAdd(CSyncCurl_Multi *_Nonnull multi, CSyncCurl_Transfer *_Nonnull transfer);
/// Ends the transfer if it is under way: its connection is closed then.
void CSyncCurl_MultiRemove(CSyncCurl_Multi *_Nonnull multi, CSyncCurl_Transfer *_Nonnull transfer);

/// Does what can be done without waiting. The callbacks run in here.
int CSyncCurl_MultiPerform(CSyncCurl_Multi *_Nonnull multi);

/// Waits for work, a wakeup or the timeout. It also returns when a timer of curl's own is due.
int CSyncCurl_MultiPoll(CSyncCurl_Multi *_Nonnull multi, int timeoutMilliseconds);

/// Ends the poll under way, or the next one. Any thread, as long as the multi exists.
int CSyncCurl_MultiWakeup(CSyncCurl_Multi *_Nonnull multi);

/// A transfer that has ended, and how; NULL when there is none. The caller removes it from the multi.
CSyncCurl_Transfer *_Nullable CSyncCurl_MultiNextDone(CSyncCurl_Multi *_Nonnull multi, int *_Nonnull code);

#endif
