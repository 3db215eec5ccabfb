import SyncCore
import SyncPhone
import Testing

@Suite struct ProfileNumberTests {
    private let numbers = LibPhoneNumbers()

    @Test(
        arguments: [
            ("+17788143739", nil), ("17788143739", "CA"), ("+1 (778) 814-3739", nil), ("778.814.3739", "US"),
            ("778/814 3739", "US"), ("tel:+1-778-814-3739", nil), ("TEL:+17788143739", nil), ("001 778 814 3739", "DE"),
            ("\u{202A}+1 778 814 3739\u{202C}", nil), ("＋１７７８８１４３７３９", nil), ("+1−778−814−3739", nil),
        ] as [(String, String?)])
    func `A profile that goes by a telephone number is found in any spelling`(id: String, region: String?) {
        #expect(numbers.phoneNumber(ofProfile: id, region: region) == PhoneNumber(e164: "+17788143739"))
    }

    @Test(
        arguments: [
            // Without a country, digits may be anybody's number.
            ("7788143739", nil, .unreadNumber), ("015112345678", nil, .unreadNumber),
            ("4915112345678", nil, .unreadNumber),
            ("00491511234567", nil, .unreadNumber), ("778 814 3739", nil, .unreadNumber),
            ("8143739", nil, .unreadNumber),
            ("7788143739", "CA", .number(PhoneNumber(e164: "+17788143739"))),
            ("+17788143739", nil, .number(PhoneNumber(e164: "+17788143739"))),
            // With one, what is no number there is an id; but not one of another country.
            ("4915112345678", "US", .unreadNumber), ("015112345678", "US", .unreadNumber), ("1000001", "US", .id),
            ("123456", nil, .id), ("42", nil, .id), ("1234567890123456789", nil, .id),
            ("20240615120000123456", nil, .id),
            ("grandma", nil, .id), ("3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc", nil, .id),
        ] as [(String, String?, ProfileIdentity)])
    func `What looks like a telephone number is no id that may stand in a key`(
        id: String, region: String?, expected: ProfileIdentity
    ) {
        #expect(numbers.identity(ofProfile: id, region: region) == expected)
    }

    @Test(
        arguments: [
            ("3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc", "US"), ("12345678-1234-1234-1234-123456789012", "US"),
            ("grandma", "US"), ("grandma-4155552671", "US"), ("4155552671_a", "US"), ("1-800-FLOWERS", "US"),
            ("+1 415 555 2671 x5", "US"), ("7", "US"), ("42", "US"), ("911", "US"), ("", "US"), ("+", nil),
            ("778 814 3739", nil), ("+999 1234567", nil), ("+1 778 814 373", nil), ("2024-06-15", "US"),
        ] as [(String, String?)])
    func `A UUID, a name or a number that nobody can have is no telephone number`(id: String, region: String?) {
        #expect(numbers.phoneNumber(ofProfile: id, region: region) == nil)
    }
}
