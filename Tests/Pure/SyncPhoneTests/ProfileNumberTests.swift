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
            ("3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc", "US"), ("12345678-1234-1234-1234-123456789012", "US"),
            ("grandma", "US"), ("grandma-4155552671", "US"), ("4155552671_a", "US"), ("1-800-FLOWERS", "US"),
            ("+1 415 555 2671 x5", "US"), ("7", "US"), ("42", "US"), ("911", "US"), ("", "US"), ("+", nil),
            ("778 814 3739", nil), ("+999 1234567", nil), ("+1 778 814 373", nil), ("2024-06-15", "US"),
        ] as [(String, String?)])
    func `A UUID, a name or a number that nobody can have is no telephone number`(id: String, region: String?) {
        #expect(numbers.phoneNumber(ofProfile: id, region: region) == nil)
    }
}
