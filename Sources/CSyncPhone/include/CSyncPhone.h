#ifndef CSYNCPHONE_H
#define CSYNCPHONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Google's libphonenumber, which knows the numbering plan of every country. It is C++: no exception and no type of its
// own leaves the .cc file. The function may be called on any thread.

typedef enum __attribute__((enum_extensibility(closed))) {
    CSyncPhone_VerdictNumber = 0,
    /// Nothing in it can be dialled.
    CSyncPhone_VerdictNotANumber,
    CSyncPhone_VerdictTooShort,
    CSyncPhone_VerdictTooLong,
    /// A number that only works inside its town: the area code is missing.
    CSyncPhone_VerdictLocalOnly,
    /// It may be one of those, or one that lacks what is dialled in front of the area code.
    CSyncPhone_VerdictNoPrefix,
    CSyncPhone_VerdictUnknownCountryCode,
    /// The numbering plan of its country has no such number.
    CSyncPhone_VerdictNotAssigned,
    /// A number with an extension of a switchboard, which E.164 has no place for.
    CSyncPhone_VerdictExtension,
    /// It has no country code, and no region was given.
    CSyncPhone_VerdictNoRegion,
    /// It has no country code, and nobody knows the region that was given.
    CSyncPhone_VerdictUnknownRegion,
    /// The library ran out of memory.
    CSyncPhone_VerdictFailed,
    /// The library, or one that it needs, is not on this machine, or is of another version.
    CSyncPhone_VerdictNoLibrary,
} CSyncPhone_Verdict;

typedef struct {
    CSyncPhone_Verdict verdict;
    /// Of the number, also of one that is not assigned; 0 when it was not come to.
    int32_t countryCode;
    /// `+`, at most 15 digits (E.164) and a zero byte; empty unless the verdict is that it is a number.
    char e164[17];
} CSyncPhone_Answer;

/// Reads a number in any spelling: with spaces, punctuation, digits of other scripts, letters of a keypad.
///
/// `text` is UTF-8, any bytes at all. `region` is two capital letters (ISO 3166-1) whose numbers may be without a country
/// code and with the region's own prefixes for calls abroad, or NULL. The first call opens the library,
/// with the 14 that it needs, and reads its tables.
CSyncPhone_Answer CSyncPhone_Parse(const char *_Nonnull text, size_t count, const char *_Nullable region);

#ifdef __cplusplus
}
#endif

#endif
