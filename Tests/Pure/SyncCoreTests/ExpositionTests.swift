import FoundationEssentials
import SyncCore
import Testing

@Suite struct ExpositionTests {
    @Test func `a metric has its meaning, its kind and a line for each sample`() {
        var page = Exposition()
        page.add(
            "a_total", .counter, "All of it.",
            [.init(3, [("folder", "/a b"), ("state", "stored")]), .init(0.25), .init(12_345_678_901_234)])
        page.add("b", .gauge, "Nothing yet.", [])
        #expect(
            page.text == """
                # HELP a_total All of it.
                # TYPE a_total counter
                a_total{folder="/a b",state="stored"} 3
                a_total 0.25
                a_total 12345678901234
                # HELP b Nothing yet.
                # TYPE b gauge

                """)
    }

    @Test(arguments: [
        (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#), ("a\r\nb", "a\r\\nb"),
        ("zoë {x=\"1\"}", #"zoë {x=\"1\"}"#),
        ("e\u{301}\u{7}", "e\u{301}\u{7}"),
    ])
    func `what would end a label is escaped, and nothing else`(value: String, written: String) {
        var page = Exposition()
        page.add("a", .gauge, "-", [.init(1, [("l", value)])])
        #expect(Array(page.text.utf8) == Array("# HELP a -\n# TYPE a gauge\na{l=\"\(written)\"} 1\n".utf8))
    }

    @Test func `a meaning stays on its line, with its quotation marks`() {
        var page = Exposition()
        page.add("a", .gauge, "one \"two\" \\ three\nfour", [.init(Date(timeIntervalSince1970: 1.5))])
        #expect(page.text == "# HELP a one \"two\" \\\\ three\\nfour\n# TYPE a gauge\na 1.5\n")
    }
}
