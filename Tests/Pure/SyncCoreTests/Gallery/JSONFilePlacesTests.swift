import SyncCore
import Testing

/// Pieces of files in UTF-16, read without the rest.
@Suite struct JSONFilePlacesTests {
    /// One unit, two, three and four bytes of UTF-8 to a character, and halves of a pair that stand alone.
    private static let units = Array(#"[{"id": "é春🐈e\#u{301}"}]"#.utf16) + [0xD83D, 0x61, 0xDC08, 0xD83D]

    private static func file(_ isBigEndian: Bool, hasMark: Bool) -> [UInt8] {
        ((hasMark ? [0xFEFF] : []) + units).flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
            return isBigEndian ? [high, low] : [low, high]
        }
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)], [1, 4, 1_000])
    func `each piece is that of the whole text`(form: (Bool, Bool), step: Int) throws {
        let file = Self.file(form.0, hasMark: form.1)
        let text = JSONFileText(file).bytes
        let places = try #require(JSONFilePlaces(file, step: step))
        for start in 0...text.count {
            for end in start...text.count {
                let piece = try #require(places.piece(of: start..<end))
                let read = places.text(Array(file[piece.file]))
                #expect(Array(read[(start - piece.start)..<(end - piece.start)]) == Array(text[start..<end]))
            }
        }
        #expect(places.piece(of: 0..<text.count + 1)?.start == nil)
    }

    @Test func `a piece is read without what is before it`() throws {
        let file = Self.file(true, hasMark: true)
        let places = try #require(JSONFilePlaces(file, step: 4))
        let text = JSONFileText(file).bytes
        let piece = try #require(places.piece(of: text.count - 1..<text.count))
        #expect(piece.file.lowerBound > file.count / 2)
    }

    @Test func `a file in UTF-8 is its text`() {
        let places = JSONFilePlaces(Array("[{}]".utf8))
        #expect(places?.piece(of: 0..<1)?.start == nil)
    }
}
