import FoundationEssentials
import SyncCore
import SyncPhone
import SyncTestSupport
import Testing

/// Numbers in ids, written as somebody might who does not know of any rule.
@Suite struct NumberShapesTests {
    private static let numbers: [(international: String, national: String)] = [
        ("4915123455501", "015123455501"), ("493012355515", "03012355515"), ("14155555516", "4155555516"),
        ("17788143739", "7788143739"), ("447400123456", "07400123456"), ("4520123456", "20123456"),
        ("33612345678", "0612345678"), ("201512121234", "01512121234"), ("390669883145", "0669883145"),
        ("6591234567", "91234567"), ("41446681800", "0446681800"),
    ]
    private static let prefixes = [
        "", "+", "00", "user_", "u", "oma#", "gast.", "c_", "p=", "tel:", "whatsapp:", "id-7-", "3f2c8a90-", "Öma ",
        "(", "x9y",
        "20260615-", "2026-06-15_", "a/b/", "%2B", "٠", "ab12cd34ef", "3f2c8a90-1b7e-4c55-9d2a-7e1f00aa12bc-",
    ]
    private static let suffixes = [
        "", "x", "_profile", "@c.us", "@s.whatsapp.net", "-1", " ext. 5", "x55", "abc", "#", "-20260615", "/2026-06-15",
        ")",
        "-d41d8cd98f00b204e9800998ecf8427e", "zz9",
    ]
    private static let separators = [
        "", "", "", " ", "-", ".", "_", "'", "/", " / ", ",", "·", "\u{200B}", "\u{AD}", "\u{A0}", "x", "⁠-",
    ]
    /// Zero in some scripts.
    private static let zeros: [UInt32] = [0x30, 0x30, 0x30, 0xFF10, 0x660, 0x6F0, 0x966, 0x1D7CE, 0xE50]

    @Test(arguments: [UInt64](1...8))
    func `However a number is put into an id, the id is not one that may leave`(seed: UInt64) throws {
        let numbers = LibPhoneNumbers()
        var random = Dice(seed: seed)
        for _ in 0..<300 {
            let number = try #require(Self.numbers.randomElement(using: &random))
            let digits = Bool.random(using: &random) ? number.international : number.national
            let zero = try #require(Self.zeros.randomElement(using: &random))
            let separator = try #require(Self.separators.randomElement(using: &random))
            let group = Int.random(in: 2...4, using: &random)
            var text = ""
            for (index, digit) in digits.utf8.enumerated() {
                if index > 0, index.isMultiple(of: group) { text += separator }
                text.unicodeScalars.append(try #require(Unicode.Scalar(zero + UInt32(digit - 0x30))))
            }
            let id =
                try #require(Self.prefixes.randomElement(using: &random)) + text
                + #require(Self.suffixes.randomElement(using: &random))
            let region: String? = [nil, "US", "DE", "DK", "GB"].randomElement(using: &random) ?? nil
            #expect(
                numbers.identity(ofProfile: id, region: region) != .id,
                "seed \(seed): \"\(id)\" with \(digits), region \(region ?? "none")")
            let month = Date(timeIntervalSince1970: 1_740_787_200)...Date(timeIntervalSince1970: 1_743_465_600)
            #expect(numbers.mayTellNumber(id, region: region, times: month), "seed \(seed): \"\(id)\" with \(digits)")
        }
    }

    @Test(arguments: [UInt64](1...4))
    func `Ids that apps make by chance leave as they are, nearly always`(seed: UInt64) {
        let numbers = LibPhoneNumbers()
        var random = Dice(seed: seed)
        func word(_ alphabet: String, _ count: Int) -> String {
            String((0..<count).compactMap { _ in alphabet.randomElement(using: &random) })
        }
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let base62 = "0123456789" + letters + letters.uppercased()
        let kinds: [(name: String, least: Int, make: () -> String)] = [
            ("UUID", 200, { [8, 4, 4, 4, 12].map { word("0123456789abcdef", $0) }.joined(separator: "-") }),
            ("Firestore", 198, { word(base62, 20) }), ("Firebase", 198, { word(base62, 28) }),
            ("ULID", 190, { "01" + word("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24) }),
            ("Mongo", 170, { word("0123456789abcdef", 24) }), ("SHA-256", 150, { word("0123456789abcdef", 64) }),
        ]
        for kind in kinds {
            let kept = (0..<200).count { _ in numbers.identity(ofProfile: kind.make(), region: "US") == .id }
            #expect(kept >= kind.least, "\(kind.name): \(kept) of 200")
        }
    }
}
