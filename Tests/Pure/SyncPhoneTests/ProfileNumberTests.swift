import FoundationEssentials
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
        #expect(phoneNumber(ofProfile: id, region: region) == PhoneNumber(e164: "+17788143739"))
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
            ("4915112345678", "US", .unreadNumber), ("015112345678", "US", .unreadNumber), ("1000001", "US", .doubtful),
            ("123456", nil, .id), ("42", nil, .id), ("1234567890123456789", nil, .doubtful),
            ("20240615120000123456", nil, .doubtful),
            ("grandma", nil, .id), ("3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc", nil, .id),
        ] as [(String, String?, ProfileIdentity)])
    func `What looks like a telephone number is no id that may stand in a key`(
        id: String, region: String?, expected: ProfileIdentity
    ) {
        #expect(numbers.identity(ofProfile: id, region: region) == expected)
    }

    @Test(
        arguments: [
            ("whatsapp:+49305550010", nil, "+49305550010"), ("x+4930555016", nil, "+4930555016"),
            ("p_+49 30 5550021", nil, "+49305550021"), ("user-0049305550020", nil, "+49305550020"),
            ("+49305550010@c.us", nil, "+49305550010"), ("mailto:+49305550010@example.org", nil, "+49305550010"),
            ("tel:+49-30-5550010;ext=5", nil, "+49305550010"),
            ("sip:+49305550010@example.org;user=phone", nil, "+49305550010"),
            ("whatsapp%3A%2B49305550010", nil, "+49305550010"), ("Anna ＋４９３０５５５００１０", nil, "+49305550010"),
            ("49305550010@c.us", nil, "+49305550010"), ("49305550010@s.whatsapp.net", nil, "+49305550010"),
            ("49305550010-1405345678@g.us", nil, "+49305550010"), ("https://wa.me/49305550010", nil, "+49305550010"),
            ("phone_49305550010", nil, "+49305550010"), ("tel:0305550010", "DE", "+49305550010"),
            ("user0049305550020", nil, "+49305550020"), ("p 00 49 (0) 30/5550020", nil, "+49305550020"),
            ("+49_30_5550021_anna", nil, "+49305550021"), ("+49 30 5550021, 2026-06-15", nil, "+49305550021"),
            ("+1 415 555 2671 x5", "US", "+14155552671"),
            ("3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc+49305550010", nil, "+49305550010"),
            ("030/5550010", "DE", "+49305550010"), ("+49 (0) 30/5550004", nil, "+49305550004"),
            // As the region writes them.
            ("grandma-4155552671", "US", "+14155552671"), ("4155552671_a", "US", "+14155552671"),
            ("order-7-415-555-2671-99", "US", "+14155552671"), ("anna-015112345678", "DE", "+4915112345678"),
            ("anna (030) 5550010", "DE", "+49305550010"), ("whatsapp:015112345678", "DE", "+4915112345678"),
        ] as [(String, String?, String)])
    func `A telephone number is seen wherever it stands in an id`(id: String, region: String?, number: String) {
        #expect(numbers.identity(ofProfile: id, region: region) == .number(PhoneNumber(e164: number)))
    }

    @Test(
        arguments: [
            "tel:030", "tel:grandma", "whatsapp:015112345678", "x+999 1234567", "user-015112345678", "030/12345",
            "5550018", "(030) 5550010 Anna",
        ])
    func `What may be a number and lacks its country waits`(id: String) {
        #expect(numbers.identity(ofProfile: id, region: nil) == .unreadNumber)
    }

    @Test(
        arguments: [
            "user-20260615", "20260615", "2026-06-15", "15.06.2026", "trip 2026/6/15", "user-20260615120000",
            "user-20260615-0001", "img_20260615_101530",
            "3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc", "12345678-1234-1234-1234-123456789012",
            "{12345678-1234-1234-1234-123456789012}", "user_00493055-5002-4030-8049-004930555002",
            "d41d8cd98f00b204e9800998ecf8427e", "507f1f77bcf86cd799439011", "01HV3K8W2N4Q6R8T0V2X4Z6B8D",
            "tNbGv3Z8c1R5kq0WmXy7LsJd2Pf9", "Xk29fLq0ZrT7bVn3Ws5e",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709", "user-12345", "user-00000123", "user123_profile456", "a+1",
            "c++20",
            "grandma", "1-800-FLOWERS", "10.0.0.1",
        ], [nil, "US", "DE", "DK"])
    func `What holds a number only by chance is an id`(id: String, region: String?) {
        // A Dane may have that number.
        let isDanish = region == "DK" && id.contains("20260615") && !id.contains("20260615120000")
        #expect((numbers.identity(ofProfile: id, region: region) == .id) != isDanish)
    }

    @Test func `A number without its town is none, and stands in no key`() {
        #expect(numbers.identity(ofProfile: "5550018", region: "DE") == .unreadNumber)
        #expect(numbers.identity(ofProfile: "whatsapp:5550018", region: "DE") == .unreadNumber)
        #expect(numbers.identity(ofProfile: "user-5550018", region: "DE") == .doubtful)
    }

    @Test(
        arguments: [
            "user_4915123455501", "u4915123455501", "oma#4915123455501", "oma=03012355515", "c_0301235524",
            "gast.030.12355513", "4155555516_profile", "415_555_5538", "415'555'5537", "415.555.5537x", "415x555x5537",
            "４１５５５５５５１６-a", "p٤١٥٥٥٥٥٥١٦", "u𝟒𝟏𝟓𝟓𝟓𝟓𝟓𝟓𝟏𝟔", "u⁴¹⁵⁵⁵⁵⁵⁵¹⁶", "u④①⑤⑤⑤⑤⑤⑤①⑥", "a4️⃣1️⃣5️⃣5️⃣5️⃣5️⃣5️⃣5️⃣1️⃣6️⃣",
            "u4\u{200B}1\u{AD}5\u{2060}5\u{3164}5\u{34F}5\u{FE0F}5516", "u%34%31%35%35%35%35%35%35%31%36",
            "u%2534%2531%2535%2535%2535%2535%2535%2535%2531%2536", "user-5555516", "user-1601234567", "user-1000001",
            "k3x4155552671z", "google-107691503500061234567", "41555555164155555517", "abc4155555516000",
            "fee4915123455501", "00493055500204e9800998ecf8427eab", "grandma 415 555 5516 (home)", "id:415,555,5516;",
            "user-0000123456789", "tasks/4155555516/9",
        ], [nil, "US", "DE", "DK", "GB"])
    func `Seven digits that nothing proves to be something else are no id`(id: String, region: String?) {
        #expect(numbers.identity(ofProfile: id, region: region) != .id)
        #expect(numbers.mayTellNumber(id, region: region))
    }

    @Test(
        arguments: [
            "+49305550010/+49305550011", "+49 30 5550010, +1 415 555 2671", "0049305550010;0049305550011",
            "+49305550010+49305550011", "+49305550010 4155552671",
        ], [nil, "US", "DE"])
    func `An id that holds two numbers is neither's, and waits`(id: String, region: String?) {
        #expect(numbers.identity(ofProfile: id, region: region) == .unreadNumber)
    }

    @Test func `A number that stands twice in an id is one`() {
        let id = "sip:+49305550010@example.org;tel=+49305550010"
        #expect(numbers.identity(ofProfile: id, region: nil) == .number(PhoneNumber(e164: "+49305550010")))
    }

    @Test(arguments: ["event-1750000000123", "1750000000123", "e_1750000000", "1750000000"])
    func `An id made of the clock is no number near that moment, and may be one at any other`(id: String) {
        let moment = Date(timeIntervalSince1970: 1_750_000_000)
        #expect(!numbers.mayTellNumber(id, region: "US", times: moment.addingTimeInterval(-60)...moment + 60))
        #expect(numbers.mayTellNumber(id, region: "US", times: moment.addingTimeInterval(60)...moment + 120))
        #expect(numbers.mayTellNumber(id, region: "US"))
    }

    @Test(
        arguments: [
            ("3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc", "US"), ("12345678-1234-1234-1234-123456789012", "US"),
            ("grandma", "US"), ("1-800-FLOWERS", "US"), ("7", "US"), ("42", "US"), ("911", "US"), ("", "US"),
            ("+", nil),
            ("778 814 3739", nil), ("+999 1234567", nil), ("+1 778 814 373", nil), ("2024-06-15", "US"),
        ] as [(String, String?)])
    func `A UUID, a name or a number that nobody can have is no telephone number`(id: String, region: String?) {
        #expect(phoneNumber(ofProfile: id, region: region) == nil)
    }

    private func phoneNumber(ofProfile id: String, region: String?) -> PhoneNumber? {
        if case .number(let number) = numbers.identity(ofProfile: id, region: region) { number } else { nil }
    }
}
