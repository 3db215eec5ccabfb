import SyncCore
import SystemPackage
import Testing

@Suite struct PathFilterTests {
    @Test(
        arguments: [
            ("*.jpg", "a.jpg", true), ("*.jpg", "x/a.jpg", true), ("*.jpg", "a.JPG", false),
            ("*.jpg", "a.jpg.x", false),
            ("a.jpg", "x/a.jpg", true), ("a.jpg", "xa.jpg", false), ("/a.jpg", "a.jpg", true),
            ("/a.jpg", "x/a.jpg", false),
            ("x/a.jpg", "y/x/a.jpg", true), ("x/*.jpg", "x/y/a.jpg", false), ("x/**.jpg", "x/y/a.jpg", true),
            ("/x/**", "x/y/a.jpg", true), ("/x/**", "y/x/a.jpg", false), ("x/", "y/x/z/a.jpg", true),
            ("x/", "x", false),
            ("/x/", "x/a.jpg", true), ("/x/", "xx/a.jpg", false), ("**", "any/thing", true), ("*", "any/thing", true),
            ("/*", "any/thing", false), ("IMG_????.jpg", "IMG_1234.jpg", true), ("IMG_????.jpg", "IMG_123.jpg", false),
            ("?.jpg", "ü.jpg", true), ("a?b", "a/b", false), ("[a-c]*.jpg", "b1.jpg", true),
            ("[a-c]*.jpg", "d1.jpg", false),
            ("[!a-c]*.jpg", "d1.jpg", true), ("x[!a]y", "x/y", false), ("[]]", "]", true), ("[a\\]]", "]", true),
            ("[a-]", "-", true), ("*.{cr2,CR2,dng}", "a.dng", true), ("*.{cr2,CR2,dng}", "a.jpg", false),
            ("{x,y}/{a,b}", "y/b", true), ("{,x}a", "xa", true), ("\\*", "*", true), ("\\*", "a", false),
            ("\\{a,b}", "{a,b}", true), ("a\\\\b", "a\\b", true), ("***", "a/b", true), ("ä", "ä", true),
            ("[\\\\]", "\\", true), ("[\\\\]", "a", false), ("[^]a]", "]", false), ("[^]a]", "b", true),
            ("[!\\]]", "x", true),
            ("a*b*c*d*e*f*g*h", String(repeating: "abcdefg", count: 500), false),
        ])
    func `a pattern matches what those of rclone match`(pattern: String, path: String, matches: Bool) throws {
        let filter = try PathFilter(["- \(pattern)"])
        #expect((filter.exclusion(of: FilePath(path)) != nil) == matches)
    }

    @Test(
        arguments: [
            ("2026/a.jpg", nil), ("2026/raw/a.jpg", "- raw/"), ("2025/a.jpg", "- *"), ("a.jpg", "- *"),
            ("2025/keep.jpg", nil),
        ] as [(FilePath, String?)])
    func `the first rule that matches decides`(path: FilePath, rule: String?) throws {
        let filter = try PathFilter(["+ keep.jpg", "- raw/", "+ /2026/**", "- *"])
        #expect(filter.exclusion(of: path) == rule)
        #expect(try PathFilter(["+ *.jpg"]).exclusion(of: path) == nil)
        #expect(PathFilter().exclusion(of: path) == nil)
    }

    @Test(
        arguments: [
            ("*.jpg", "a rule begins with \"- \""), ("-*.jpg", "a rule begins with"), ("- ", "is empty"),
            ("+ /", "is empty"), ("- a\nb", "one line"), ("- a\n- *", "one line"),
            ("- [a", "a \"[\" is not closed"), ("- {a,b", "a \"{\" is not closed"),
            ("- {a,{b,c}}", "braces stand inside"),
            ("- a\\", "ends a rule"), ("- [z-a]", "goes backwards"), ("- {[a,b}", "a \"[\" is not closed"),
            ("- " + String(repeating: "{a,b}", count: 7), "more than 100 patterns"),
        ])
    func `what is no rule is told`(rule: String, reason: String) {
        let error = #expect(throws: PathFilter.Invalid.self) { try PathFilter([rule]) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }
}
