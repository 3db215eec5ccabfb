#include "CSyncPhone.h"

#include <CSyncLibrary.h>
#include <cstdint>
#include <cstring>
#include <phonenumbers/phonenumberutil.h>
#include <string>

CSYNC_LIBRARY_OPENING(CSyncPhone_OpenLibrary);

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

namespace {

// RFC 3966 and ITU E.123 begin an international number with "+"; full-width input methods write U+FF0B.
bool has_plus(const std::string &text) {
    return text.find('+') != std::string::npos || text.find("\xEF\xBC\x8B") != std::string::npos;
}

// The library has one error for "no country code", "unknown country code" and "unknown region".
CSyncPhone_Verdict country_verdict(const PhoneNumberUtil &library, const std::string &text, const char *region) {
    if (has_plus(text)) return CSyncPhone_VerdictUnknownCountryCode;
    if (region == nullptr) return CSyncPhone_VerdictNoRegion;
    if (library.GetCountryCodeForRegion(region) == 0) return CSyncPhone_VerdictUnknownRegion;
    return CSyncPhone_VerdictUnknownCountryCode;
}

CSyncPhone_Verdict length_verdict(PhoneNumberUtil::ValidationResult result) {
    switch (result) {
    case PhoneNumberUtil::IS_POSSIBLE: return CSyncPhone_VerdictNumber;
    case PhoneNumberUtil::IS_POSSIBLE_LOCAL_ONLY: return CSyncPhone_VerdictLocalOnly;
    case PhoneNumberUtil::INVALID_COUNTRY_CODE: return CSyncPhone_VerdictUnknownCountryCode;
    case PhoneNumberUtil::TOO_SHORT: return CSyncPhone_VerdictTooShort;
    case PhoneNumberUtil::INVALID_LENGTH: return CSyncPhone_VerdictNotAssigned;
    case PhoneNumberUtil::TOO_LONG: return CSyncPhone_VerdictTooLong;
    }
    return CSyncPhone_VerdictNotAssigned;
}

bool is_possible(const PhoneNumberUtil &library, PhoneNumber number, uint64_t national) {
    number.set_national_number(national);
    return library.IsPossibleNumberForTypeWithReason(number, PhoneNumberUtil::FIXED_LINE) == PhoneNumberUtil::IS_POSSIBLE;
}

// Where the numbers of towns differ in length (Germany, Austria), the library takes the number of a subscriber for a whole
// one: 5550018, dialled in Berlin, would be +49 5550018, which is somebody in another town. There the prefix of calls to
// other towns ("0") tells the two apart. Where all have one length, as in India, people leave it out, and so they do of
// mobile numbers.
bool lacks_area_code(const PhoneNumberUtil &library, const std::string &text, const PhoneNumber &number,
                     const char *region) {
    if (region == nullptr || number.country_code_source() != PhoneNumber::FROM_DEFAULT_COUNTRY) return false;
    if (library.GetNumberType(number) != PhoneNumberUtil::FIXED_LINE) return false;
    std::string prefix, national, digits = text;
    library.GetNddPrefixForRegion(region, true, &prefix);
    if (prefix.empty()) return false;
    library.Format(number, PhoneNumberUtil::NATIONAL, &national);
    library.NormalizeDigitsOnly(&national);
    // Some regions have such a prefix and do not write it.
    if (national.compare(0, prefix.size(), prefix) != 0) return false;
    library.NormalizeDigitsOnly(&digits);
    if (digits.compare(0, prefix.size(), prefix) == 0) return false;
    uint64_t value = number.national_number();
    return is_possible(library, number, value / 10) || is_possible(library, number, value * 10);
}

CSyncPhone_Verdict parse(const std::string &text, const char *region, CSyncPhone_Answer &answer) {
    const PhoneNumberUtil &library = *PhoneNumberUtil::GetInstance();
    PhoneNumber number;
    // "ZZ" is no region: then only numbers with a country code are read.
    switch (library.ParseAndKeepRawInput(text, region != nullptr ? region : "ZZ", &number)) {
    case PhoneNumberUtil::NO_PARSING_ERROR: break;
    case PhoneNumberUtil::INVALID_COUNTRY_CODE_ERROR: return country_verdict(library, text, region);
    case PhoneNumberUtil::NOT_A_NUMBER: return CSyncPhone_VerdictNotANumber;
    case PhoneNumberUtil::TOO_SHORT_AFTER_IDD:
    case PhoneNumberUtil::TOO_SHORT_NSN: return CSyncPhone_VerdictTooShort;
    case PhoneNumberUtil::TOO_LONG_NSN: return CSyncPhone_VerdictTooLong;
    }
    answer.countryCode = number.country_code();
    CSyncPhone_Verdict length = length_verdict(library.IsPossibleNumberWithReason(number));
    if (length != CSyncPhone_VerdictNumber) return length;
    if (!library.IsValidNumber(number)) return CSyncPhone_VerdictNotAssigned;
    if (lacks_area_code(library, text, number, region)) return CSyncPhone_VerdictNoPrefix;
    if (!number.extension().empty()) return CSyncPhone_VerdictExtension;

    std::string e164;
    library.Format(number, PhoneNumberUtil::E164, &e164);
    if (e164.size() >= sizeof answer.e164) return CSyncPhone_VerdictTooLong;
    std::memcpy(answer.e164, e164.c_str(), e164.size() + 1);
    return CSyncPhone_VerdictNumber;
}

} // namespace

CSyncPhone_Answer CSyncPhone_Parse(const char *text, size_t count, const char *region) {
    CSyncPhone_Answer answer = {};
    if (CSyncPhone_OpenLibrary() != nullptr) {
        answer.verdict = CSyncPhone_VerdictNoLibrary;
        return answer;
    }
    try {
        answer.verdict = parse(std::string(text, count), region, answer);
    } catch (...) {
        // std::bad_alloc, or what protobuf throws in its place.
        answer.verdict = CSyncPhone_VerdictFailed;
    }
    return answer;
}
