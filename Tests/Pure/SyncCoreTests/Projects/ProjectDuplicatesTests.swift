import FoundationEssentials
import SyncCore
import Testing

@Suite struct ProjectDuplicatesTests {
    /// `a oil 3 C r1`: id, template, second of creation, first letter of the status, request.
    private static func records(_ lines: [String]) -> [ProjectRecord] {
        lines.map { line in
            let words = line.split(separator: " ").map { String($0) }
            return ProjectRecord(
                id: words[0], templateID: words[1], templateName: words[1],
                createdAt: Date(timeIntervalSince1970: 1_777_000_000 + (Double(words[2]) ?? 0)),
                status: ProjectRecord.Status.allCases.first { $0.rawValue.hasPrefix(words[3]) } ?? .failed,
                requestID: words.count > 4 ? words[4] : nil)
        }
    }

    @Test(
        arguments: [
            (["a oil 0 C r1", "b ink 900 C r1"], ["b": "a"]),
            // By creation, not by the place in the file.
            (["b ink 900 C r1", "a oil 0 C r1"], ["b": "a"]),
            (["b oil 0 C r1", "a oil 0 C r1"], ["a": "b"]),
            (["a oil 0 C", "b oil 5 C"], ["b": "a"]),
            (["a oil 0 C", "b oil 5.01 C"], [:]),
            (["a oil 0 C", "b ink 1 C"], [:]),
            // Within 5 s of the original, not of another duplicate.
            (["a oil 0 C", "b oil 4 C", "c oil 8 C"], ["b": "a"]),
            (["a oil -3 C", "b oil 1 C"], ["b": "a"]),
            (["a oil 0 P r1", "b oil 900 C r1"], ["a": "b"]),
            // A failed project has no image to repeat.
            (["a oil 0 F r1", "b oil 1 C r1"], [:]),
            (["a oil 0 C r1", "b oil 900 C r2"], [:]),
        ])
    func `the first of one image counts`(lines: [String], expected: [ByteString: ByteString]) {
        #expect(ProjectDuplicates.find(in: Self.records(lines), stored: [], onDisk: [], requests: [:]) == expected)
    }

    @Test func `what is stored stays the original`() {
        let records = Self.records(["a oil 0 C r1", "b oil 3 C r1"])
        #expect(ProjectDuplicates.find(in: records, stored: ["b"], onDisk: [], requests: [:]) == ["a": "b"])
    }

    @Test func `one with an image comes before one without, and after one that is stored`() {
        let records = Self.records(["a oil 0 C r1", "b oil 3 P r1", "c oil 4 C r1"])
        #expect(
            ProjectDuplicates.find(in: records, stored: [], onDisk: ["b"], requests: [:]) == ["a": "b", "c": "b"])
        #expect(
            ProjectDuplicates.find(in: records, stored: ["c"], onDisk: ["b"], requests: [:]) == ["a": "c", "b": "c"])
    }

    @Test func `a request of an earlier project makes a duplicate, but not of the project itself`() {
        let records = Self.records(["a oil 0 C r1", "b ink 900 C r2"])
        #expect(
            ProjectDuplicates.find(in: records, stored: [], onDisk: [], requests: ["r1": "old", "r2": "b"]) == [
                "a": "old"
            ])
    }

    @Test func `a request of an earlier project makes no duplicate of one that was there with it`() {
        let records = Self.records(["b oil 900 C r1", "c oil 9000 C r1"])
        #expect(
            ProjectDuplicates.find(
                in: records, stored: [], onDisk: [], requests: ["r1": "a"], survivors: ["b", "c"]) == ["c": "b"])
    }

    @Test func `ids, templates and requests that look alike and differ in bytes are different`() {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        let records = Self.records(["a \(one) 0 C \(one)", "b \(two) 1 C \(two)"])
        #expect(ProjectDuplicates.find(in: records, stored: [], onDisk: [], requests: [:]) == [:])
    }

    @Test func `5,000 projects with pairs are told apart`() {
        let lines = (0..<5_000).map { number in
            "p\(number) t\(number % 7) \(number / 2 * 60 + number % 2) C r\(number % 2 == 0 ? number : number - 1)"
        }
        let duplicates = ProjectDuplicates.find(in: Self.records(lines), stored: [], onDisk: [], requests: [:])
        #expect(duplicates.count == 2_500)
        #expect(duplicates["p4999"] == "p4998")
    }
}
