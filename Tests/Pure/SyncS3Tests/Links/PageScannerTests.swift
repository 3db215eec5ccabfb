import SyncTestSupport
import Testing

@testable import SyncS3

@Suite struct PageScannerTests {
    private static let type = PageScanner.manifestType

    private func reference(in page: String) -> String? { PageScanner(Array(page.utf8)).manifestReference }

    @Test(arguments: [
        "<link rel=\"alternate\" type=\"\(type)\" href=\"vacation.json?a=1&amp;b=2\">",
        "<!doctype html><html><head><title>a < b</title><LINK HREF='vacation.json?a=1&#38;b=2' TYPE='\(type.uppercased())' REL=Alternate /></head>",
        "<link\n\trel = 'nofollow alternate'\n type=\(type)\n href=vacation.json?a=1&#x26;b=2>",
        "<link rel=stylesheet href=a.css><link rel=alternate type=\(type) href=' vacation.json?a=1&amp;b=2 '>",
        "<!-- <link rel=alternate type=\(type) href=evil> --><link rel=alternate type=\(type) href=vacation.json?a=1&b=2>",
        "<script>'<link rel=alternate type=\(type) href=evil>'</script><style><link rel=alternate type=\(type) href=evil></STYLE ><link rel=alternate href=vacation.json?a=1&b=2 type=\(type)>",
        "<p title='<link rel=alternate type=\(type) href=evil>'><link rel=alternate type=\(type) href=vacation.json?a=1&b=2 href=evil>",
        "<< <3 </link><link x=y = rel=alternate type=\(type) href=vacation.json?a=1&b=2",
    ])
    func `The link to the manifest is found`(page: String) {
        #expect(reference(in: page) == "vacation.json?a=1&b=2")
    }

    @Test(arguments: [
        "", "<", "<link", "<link rel=alternate", "plain text", "<!-- <link rel=alternate type=\(type) href=x>",
        "<script><link rel=alternate type=\(type) href=x>", "<link rel=alternate type=\(type)>",
        "<link rel=alternate type=application/json href=x>", "<link rel=stylesheet type=\(type) href=x>",
        "<a rel=alternate type=\(type) href=x>", "<link rel=alternate type=\(type) href='a b'>",
        "<link rel=alternate type=\(type) href=''>",
    ])
    func `A page without one has none`(page: String) {
        #expect(reference(in: page) == nil)
    }

    @Test(arguments: [
        ("a&amp;b", "a&b"), ("&lt;&gt;&quot;&apos;", "<>\"'"), ("&#65;&#x41;&#X41;", "AAA"), ("&", "&"),
        ("&&amp;", "&&"),
        ("&nbsp;", "&nbsp;"), ("&#1114112;", "&#1114112;"), ("&#xD800;", "&#xD800;"), ("&#-65;", "&#-65;"),
        ("&#x+41;", "&#x+41;"), ("a&amp", "a&amp"), ("&amp;lt;", "&lt;"), ("&#;", "&#;"),
        ("&#99999999999999999999;", "&#99999999999999999999;"),
    ])
    func `Character references are read once`(text: String, decoded: String) {
        #expect(HTMLText.decoded(Array(text.utf8)) == decoded)
    }

    @Test func `No bytes make it stumble`() {
        let pieces = [
            "<link ", "rel=", "alternate ", "type=", Self.type, " href=", "x", ">", "<!--", "-->", "<script>",
            "</script",
            "'", "\"", "=", "/", "<", "&#x", ";", "\u{0}", "é", " ",
        ]
        var found = 0
        for seed in 0..<5_000 {
            let page = [UInt8].noise(40, seed: UInt64(seed)).map { pieces[Int($0) % pieces.count] }.joined()
            if reference(in: page) != nil { found += 1 }
            _ = PageScanner([UInt8].noise(200, seed: UInt64(seed))).manifestReference
        }
        #expect(found < 5_000)
    }

    @Test func `A page of four megabytes is read in one go`() {
        let open = String(repeating: "<link rel=alternate <!- <script", count: 130_000)
        #expect(reference(in: open) == nil)
        #expect(reference(in: String(repeating: "&", count: 4 << 20)) == nil)
    }
}
