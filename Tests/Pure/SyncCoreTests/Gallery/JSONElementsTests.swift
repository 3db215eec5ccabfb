import SyncCore
import Testing

@Suite struct JSONElementsTests {
    private func texts(_ file: String) -> [String] {
        let bytes = Array(file.utf8)
        return JSONElements(of: bytes).elements.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test(
        arguments: [
            (#"[{"a":1},{"b":[2,{"c":"]"}]}]"#, [#"{"a":1}"#, #"{"b":[2,{"c":"]"}]}"#]),
            (" [ 1 ,\n-0.5e+3 , \"x\\\"y\" , null,true ] \n", ["1", "-0.5e+3", "\"x\\\"y\"", "null", "true"]),
            ("[]", []), ("[ ]", []), (#"{"a":{}}"#, [#"{"a":{}}"#]), ("\u{FEFF}[7]", ["7"]), ("7", []),
            (#""text""#, []),
        ])
    func `the elements of an array, or the one object, are found as they are written`(file: String, expected: [String])
    {
        #expect(texts(file) == expected)
        #expect(JSONElements(of: Array(file.utf8)).damage == nil)
    }

    @Test(
        arguments: [
            (#"[{"a":1},{"b":"#, 1, 14, "the file ends"),
            (#"[{"a":1} {"b":2}]"#, 1, 9, "a comma is missing"),
            (#"[1,2,]"#, 2, 5, "no value begins here"),
            (#"[01]"#, 1, 2, "a comma is missing"),
            (#"[1]x"#, 1, 3, "something follows the end of the value"),
            (#"{"a":1}{"a":2}"#, 1, 7, "something follows the end of the value"),
            ("[\"a\nb\"]", 0, 3, "a control character in a text"),
            (#"["\x"]"#, 0, 3, "an unknown escape"), (#"["\u12G4"]"#, 0, 6, "an escape is damaged"),
            (#"[tru]"#, 0, 4, "an unknown word"), (#"[{a:1}]"#, 0, 2, "a name in quotes is missing"),
            (#"[{"a" 1}]"#, 0, 6, "a colon is missing"), ("", 0, 0, "the file ends"),
            ("[1.]", 0, 3, "a digit is missing"),
            (#"["abc"#, 0, 5, "the file ends within a text"),
        ])
    func `what comes before the damage is found, and the damage has its place`(
        file: String, found: Int, offset: Int, reason: String
    ) {
        let elements = JSONElements(of: Array(file.utf8))
        #expect(elements.elements.count == found)
        #expect(elements.damage?.offset == offset)
        #expect(elements.damage?.reason == reason)
    }

    @Test func `values nested without end are damage and not a crash`() {
        let elements = JSONElements(of: [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
        #expect(elements.damage?.reason == "values are nested more than 64 deep")
    }

    @Test func `more elements than anybody has are not read`() {
        let file = "[" + String(repeating: "1,", count: JSONElements.maximumCount) + "1]"
        let elements = JSONElements(of: Array(file.utf8))
        #expect(elements.elements.count == JSONElements.maximumCount)
        #expect(elements.damage?.reason == "more than 100000 elements are not read")
    }

    @Test func `more elements below a name than anybody has are not read either, and that is told`() {
        let file = "{\"events\":[" + String(repeating: "{},", count: JSONElements.maximumCount) + "{}]}"
        let elements = JSONElements(of: Array(file.utf8), likeness: { $0.members.isEmpty ? .certain : .none })
        #expect(elements.elements.count == JSONElements.maximumCount)
        #expect(elements.damage?.reason == "more than 100000 elements are not read")
    }

    @Test(
        arguments: [
            ([0], " [\n  {\"b\": 2} ,{\"c\":3}\n] "), ([1], " [\n  {\"a\":1} ,{\"c\":3}\n] "),
            ([2], " [\n  {\"a\":1},\n  {\"b\": 2}\n] "), ([0, 1], " [\n  {\"c\":3}\n] "),
            ([1, 2], " [\n  {\"a\":1}\n] "), ([0, 2], " [\n  {\"b\": 2}\n] "), ([0, 1, 2], " [\n  \n] "),
            ([], " [\n  {\"a\":1},\n  {\"b\": 2} ,{\"c\":3}\n] "),
        ])
    func `a file without some of its elements keeps all other bytes`(removed: [Int], expected: String) {
        let bytes = Array(" [\n  {\"a\":1},\n  {\"b\": 2} ,{\"c\":3}\n] ".utf8)
        let elements = JSONElements(of: bytes)
        let cuts = elements.cuts(without: Set(removed))
        let rest = bytes.indices.filter { index in !cuts.contains { $0.contains(index) } }.map { bytes[$0] }
        #expect(String(decoding: rest, as: UTF8.self) == expected)
        #expect(JSONElements(of: rest).damage == nil)
        #expect(JSONElements(of: rest).elements.count == 3 - removed.count)
    }

    @Test func `a file cut off or damaged anywhere never leads outside of it`() {
        let whole = Array(#"[{"id":"é\u00e9","n":[1,-2.5e3,{}]},{"t":true,"f":false,"z":null},"x\\"]"#.utf8)
        for length in 0...whole.count {
            let cut = Array(whole.prefix(length))
            let elements = JSONElements(of: cut)
            #expect(elements.elements.allSatisfy { $0.upperBound <= length && !$0.isEmpty })
            #expect((elements.damage == nil) == (length == whole.count))
        }
        var noise = Noise(seed: 7)
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<3 { bytes[noise.next(below: bytes.count)] = UInt8(noise.next(below: 256)) }
            let elements = JSONElements(of: bytes)
            #expect(elements.elements.allSatisfy { $0.upperBound <= bytes.count && !$0.isEmpty })
            #expect((0...bytes.count).contains(elements.damage?.offset ?? 0))
            for range in elements.elements { _ = JSONObject(bytes, at: range)?.members.map(\.name) }
        }
    }
}

/// Numbers that look random and are the same each time (Knuth's MMIX generator).
struct Noise {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}
