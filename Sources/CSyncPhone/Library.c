#include <CSyncLibrary.h>

// The functions of libphonenumber that CSyncPhone.cc calls, by their names there (Itanium C++ ABI, 64 bits); c++filt(1) tells
// what they are. One that is missing here is an undefined symbol for the linker.
#define METHOD(F, rest) F(_ZNK4i18n12phonenumbers15PhoneNumberUtil##rest)
#define FUNCTIONS(F) \
    F(_ZN4i18n12phonenumbers11PhoneNumberC1ERKS1_) \
    F(_ZN4i18n12phonenumbers11PhoneNumberC2EPN6google8protobuf5ArenaEb) \
    F(_ZN4i18n12phonenumbers11PhoneNumberD1Ev) \
    F(_ZN4i18n12phonenumbers15PhoneNumberUtil11GetInstanceEv) \
    METHOD(F, 13GetNumberTypeERKNS0_11PhoneNumberE) \
    METHOD(F, 13IsValidNumberERKNS0_11PhoneNumberE) \
    METHOD(F, 19NormalizeDigitsOnlyEPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE) \
    METHOD(F, 20ParseAndKeepRawInputERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES9_PNS0_11PhoneNumberE) \
    METHOD(F, 21GetNddPrefixForRegionERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEbPS7_) \
    METHOD(F, 23GetCountryCodeForRegionERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE) \
    METHOD(F, 26IsPossibleNumberWithReasonERKNS0_11PhoneNumberE) \
    METHOD(F, 33IsPossibleNumberForTypeWithReasonERKNS0_11PhoneNumberENS1_15PhoneNumberTypeE) \
    METHOD(F, 6FormatERKNS0_11PhoneNumberENS1_17PhoneNumberFormatEPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)

CSYNC_LIBRARY(CSyncPhone_OpenLibrary, "libphonenumber.so.8", FUNCTIONS)
