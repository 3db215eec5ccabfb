import SyncCore
import SyncPhone
import Testing

@Suite struct LibPhoneNumbersTests {
    private let numbers = LibPhoneNumbers()

    @Test(
        arguments: [
            // With a country code, however it is written.
            ("+17788143739", nil, "+17788143739"),
            ("+1 778 814 3739", nil, "+17788143739"),
            ("+1 (778) 814-3739", nil, "+17788143739"),
            ("+1.778.814.3739", "DE", "+17788143739"),
            ("  +1\u{A0}778\u{2011}814\u{2011}3739\n", nil, "+17788143739"),
            ("\u{202A}+1 778 814 3739\u{202C}", nil, "+17788143739"),
            ("tel:+1-778-814-3739", nil, "+17788143739"),
            ("tel:814-3739;phone-context=+1778", nil, "+17788143739"),
            ("＋１ ７７８ ８１４ ３７３９", nil, "+17788143739"),
            ("+١ ٧٧٨ ٨١٤ ٣٧٣٩", nil, "+17788143739"),
            ("Ana: +1 778 814 3739", nil, "+17788143739"),
            ("+49 (0)30 901820", nil, "+4930901820"),
            ("+44 (0) 20 7946 0018", nil, "+442079460018"),
            ("+39 06 698 83145", nil, "+390669883145"),
            ("+39 347 123 4567", nil, "+393471234567"),
            ("+33 1 42 68 53 00", nil, "+33142685300"),
            ("+91 98765 43210", nil, "+919876543210"),
            ("+800 1234 5678", nil, "+80012345678"),
            // Without one, as in the region.
            ("(415) 555-2671", "US", "+14155552671"),
            ("415/555-2671", "us", "+14155552671"),
            ("1 415 555 2671", "US", "+14155552671"),
            ("1-800-FLOWERS", "US", "+18003569377"),
            ("778 814 3739", "CA", "+17788143739"),
            ("030 901820", "DE", "+4930901820"),
            ("0151 23456789", "DE", "+4915123456789"),
            ("0151/2345 6789", "DE", "+4915123456789"),
            ("020 7946 0018", "GB", "+442079460018"),
            ("07400 123456", "GB", "+447400123456"),
            ("06 698 83145", "IT", "+390669883145"),
            ("347 123 4567", "IT", "+393471234567"),
            ("01 42 68 53 00", "FR", "+33142685300"),
            ("06.12.34.56.78", "FR", "+33612345678"),
            ("098765 43210", "IN", "+919876543210"),
            ("98765-43210", "IN", "+919876543210"),
            ("4155552671", "US", "+14155552671"),
            ("４１５５５５２６７１", "US", "+14155552671"),
            // As one dials abroad from the region.
            ("0049 30 901820", "FR", "+4930901820"),
            ("00 1 778 814 3739", "DE", "+17788143739"),
            ("011 49 30 901820", "US", "+4930901820"),
            ("+49 30 901820", "US", "+4930901820"),
            // The region does not matter where the country code is there.
            ("+1 778 814 3739", "XX", "+17788143739"),
        ] as [(String, String?, String)])
    func `A number is read as people write it`(text: String, region: String?, e164: String) throws {
        #expect(try numbers.parse(text, region: region).e164 == e164)
    }

    @Test(
        arguments: [
            ("", nil, "no digits"),
            ("   ", "US", "no digits"),
            ("Grandma", "US", "no digits"),
            ("+", nil, "no digits"),
            ("5", "US", "no digits"),
            ("778 814 3739", nil, "no country code; begin it with +"),
            ("0049 30 901820", nil, "no country code; begin it with +"),
            ("778 814 3739", "XX", "\"XX\" is no region"),
            ("778 814 3739", "Canada", "\"CANADA\" is no region"),
            ("778 814 3739", "", "\"\" is no region"),
            ("+999 123 456 789", nil, "no country has this code"),
            ("+0 778 814 3739", "US", "no country has this code"),
            ("+1 778 814", nil, "too few digits for the country code +1"),
            ("77881", "US", "too few digits for the country code +1"),
            ("+1 778 814 37391", nil, "too many digits for the country code +1"),
            ("+49 30 9018 2000 3000 4000", nil, "too many digits"),
            ("555-0123", "US", "area code is missing"),
            ("+1 078 814 3739", nil, "no such number exists for the country code +1"),
            ("+44 9999 999999", nil, "no such number exists for the country code +44"),
            ("+33 12 34 56 78", nil, "too few digits"),
            ("911", "US", "too few digits"),
            ("110", "DE", "area code is missing"),
            ("5550018", "DE", "area code is missing"),
            ("30 5550018", "DE", "in front of that"),
            ("5550018", "AT", "area code is missing"),
            ("+1 415 555 2671 ext. 55", nil, "leave the extension out"),
            ("(415) 555-2671 x55", "US", "leave the extension out"),
            ("+49 30 901820 Durchwahl", nil, "too many digits"),
            (String(repeating: "1", count: 300), "US", "too many digits"),
            (String(repeating: "1", count: 1_001), "US", "too long"),
        ] as [(String, String?, String)])
    func `What is no number is told with its reason`(text: String, region: String?, reason: String) throws {
        let error = try #require(throws: InvalidPhoneNumber.self) { try numbers.parse(text, region: region) }
        #expect(error.reason.contains(reason), "\(error)")
        #expect(error.number == text)
    }

    @Test func `Many threads read numbers at once`() async throws {
        let texts = (0..<400).map { "+1 415 555 \(2_000 + $0)" }
        let found = await withTaskGroup(of: Set<String>.self) { group in
            for _ in 0..<8 {
                group.addTask { [numbers] in Set(texts.compactMap { try? numbers.parse($0, region: nil).e164 }) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == Array(repeating: Set((0..<400).map { "+1415555\(2_000 + $0)" }), count: 8))
    }

    @Test func `WhatsApp gets the digits alone`() throws {
        #expect(try numbers.parse("+39 06 698 83145", region: nil).digits == "390669883145")
    }
}
