import Testing

@testable import SyncQR

@Suite struct QRCodeTests {
    /// The three corners by which a reader finds a code (ISO/IEC 18004, 6.3.3).
    @Test(arguments: ["a", "https://photos.example.net/s/6f1d2c0e-8f2a-4c57-9c55-1b1a0c9b5b2d/"])
    func `a code has its three corners and light around it`(text: String) throws {
        let code = try #require(QRCode(text))
        let corner = ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"]
        let last = code.side - 4 - 7
        for (top, left) in [(4, 4), (4, last), (last, 4)] {
            let seen = (0..<7).map { row in
                (0..<7).map { code.isDark(row: top + row, column: left + $0) ? "#" : "." }.joined()
            }
            #expect(seen == corner)
        }
        for edge in 0..<code.side {
            for depth in 0..<4 {
                #expect(!code.isDark(row: depth, column: edge) && !code.isDark(row: edge, column: depth))
                #expect(!code.isDark(row: code.side - 1 - depth, column: edge))
                #expect(!code.isDark(row: edge, column: code.side - 1 - depth))
            }
        }
    }

    @Test func `a terminal and a page are given the same modules`() throws {
        let code = try #require(QRCode("https://example.net/"))
        let lines = code.lines
        #expect(lines.count == (code.side + 1) / 2 && lines.allSatisfy { $0.count == code.side })
        let drawn = lines.enumerated().reduce(into: Set<String>()) { drawn, line in
            for (column, character) in line.element.enumerated() {
                if character == " " || character == "▄" { drawn.insert("M\(column) \(line.offset * 2)h1v1h-1z") }
                if character == " " || character == "▀", line.offset * 2 + 1 < code.side {
                    drawn.insert("M\(column) \(line.offset * 2 + 1)h1v1h-1z")
                }
            }
        }
        #expect(drawn == Set(code.path.split(separator: "z").map { $0 + "z" }))
    }

    @Test func `what no code can hold has none`() {
        #expect(QRCode("") == nil)
        #expect(QRCode(String(repeating: "x", count: 2_331)) != nil)
        #expect(QRCode(String(repeating: "x", count: 2_332)) == nil)
        #expect(QRCode("a") == QRCode("a") && QRCode("a") != QRCode("b"))
    }
}
