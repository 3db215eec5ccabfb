import FoundationEssentials
import SyncCore
import Testing

@Suite struct ProjectListTests {
    private static let id = "0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D"

    private func list(_ text: String) throws -> ProjectList { try ProjectList(Array(text.utf8)) }

    private static func record(_ changes: String = "") -> String {
        """
        {"id": "\(id)", "templateId": "oil", "templateName": "Oil painting", "thumbnailURL": "https://a.example/t.jpg",
         "createdAt": "2026-05-01T10:15:00Z", "status": "Completed", "requestId": "r1"\(changes)}
        """
    }

    @Test(
        arguments: [
            "[\(record())]", "{\"projects\": [\(record())]}", "\u{FEFF}[\(record())]\n",
            "{\"version\": 2, \"projects\": [\(record())], \"by\": {\"projects\": []}}",
        ])
    func `an array and an object with projects are read alike`(text: String) throws {
        let list = try list(text)
        let expected = ProjectRecord(
            id: Self.id, templateID: "oil", templateName: "Oil painting", thumbnailURL: "https://a.example/t.jpg",
            createdAt: Date(timeIntervalSince1970: 1_777_630_500), status: .completed, requestID: "r1")
        #expect(list.records == [expected])
        #expect(list.problems.isEmpty)
    }

    @Test(
        arguments: [
            (#""2026-05-01T10:15:00Z""#, 1_777_630_500.0), (#""2026-05-01T12:15:00+02:00""#, 1_777_630_500),
            ("1777630500", 1_777_630_500), ("1777630500000", 1_777_630_500), ("1777630500.5", 1_777_630_500.5),
            // Seconds since 2001, as JSONEncoder writes them by itself.
            ("799323300", 1_777_630_500), (#""1777630500""#, 1_777_630_500),
        ])
    func `a moment of creation is read in every form that apps write`(written: String, expected: Double) throws {
        let text =
            #"[{"id": "a", "templateId": "t", "templateName": "T", "status": "Failed", "createdAt": \#(written)}]"#
        let record = try #require(try list(text).records.first)
        #expect(abs(record.createdAt.timeIntervalSince1970 - expected) < 0.001)
    }

    @Test(
        arguments: [
            ("5", "it is no object"), ("null", "it is no object"), ("{}", "it has no id"),
            (
                #"{"id": "../x", "templateId": "t", "createdAt": 1777630500, "status": "Failed"}"#,
                "its id cannot be the name of a file"
            ),
            (#"{"id": "b", "createdAt": 1777630500, "status": "Failed"}"#, "it has no templateId"),
            (
                #"{"id": "b", "templateId": "t", "status": "Failed"}"#,
                "its createdAt is neither ISO 8601 nor a number of seconds or milliseconds"
            ),
            (
                #"{"id": "b", "templateId": "t", "createdAt": "yesterday", "status": "Failed"}"#,
                "its createdAt is neither ISO 8601 nor a number of seconds or milliseconds"
            ),
            (#"{"id": "b", "templateId": "t", "createdAt": 1777630500}"#, "it has no status"),
            (
                #"{"id": "b", "templateId": "t", "createdAt": 1777630500, "status": "Done"}"#,
                "its status is none of Processing, Completed and Failed"
            ),
            (record(), "another record has the same id"),
        ])
    func `a record that makes no sense is named and left out, and the others count`(record: String, reason: String)
        throws
    {
        let list = try list("[\(Self.record()), \(record)]")
        #expect(list.records.map(\.id) == [Self.id])
        #expect(list.problems.map(\.reason) == [reason])
        #expect(list.problems.map(\.number) == [2])
    }

    @Test func `of a project without a usable record it is known why, and what can be read of it`() throws {
        let list = try list(
            #"""
            [{"id": "a", "templateId": null, "templateName": "Oil", "createdAt": 1777630500, "status": "completed"},
             {"id": "a"}, {"id": "b", "templateId": "t", "createdAt": "soon", "status": "Done"}, {"id": ""}, 5,
             {"id": "c", "templateId": "t", "createdAt": 1777630500, "status": "Done"},
             {"id": "c", "templateId": "t", "createdAt": 1777630500, "status": "Failed"}]
            """#)
        #expect(Set(list.unusable.keys) == ["a", "b"])
        let (first, second) = try (#require(list.unusable["a"]), #require(list.unusable["b"]))
        #expect(first.reason == "it has no templateId")
        let created = Date(timeIntervalSince1970: 1_777_630_500)
        #expect(
            first.record
                == ProjectRecord(
                    id: "a", templateID: "", templateName: "Oil", createdAt: created, status: .completed))
        #expect(second.reason.hasPrefix("its createdAt is neither"))
        #expect(second.record?.createdAt == Date(timeIntervalSince1970: 0) && second.record?.status == .failed)
    }

    @Test(
        arguments: [
            "", "  \n", "[", "[{", #"[{"id": "a"}"#, #"[{"id": "a}]"#, "[]]", "{}", #"{"items": []}"#, "no", "[{a}]",
            #"[{"id": "a"} {"id": "b"}]"#, #"[{"id": "a"},]"#, "[}", "\u{0}\u{0}\u{0}", #"{"projects": 5}"#,
        ])
    func `what does not hang together is damage, and no record of it counts`(text: String) {
        #expect(throws: ProjectListDamage.self) { try list(text) }
    }

    @Test(arguments: [true, false], [true, false])
    func `a list in UTF-16 is told by its name`(isBigEndian: Bool, hasMark: Bool) {
        let units: [UInt16] = (hasMark ? [0xFEFF] : []) + Array("[\(Self.record())]".utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isBigEndian ? [high, low] : [low, high]
        }
        let damage = #expect(throws: ProjectListDamage.self) { try ProjectList(bytes) }
        #expect(damage?.description == "it is text in UTF-16; save it as UTF-8")
    }

    @Test func `every beginning of a list is damage`() throws {
        let bytes = Array("[\(Self.record()), \(Self.record(#", "x": [1, "]"]"#))]".utf8)
        for length in bytes.indices {
            #expect(throws: ProjectListDamage.self) { try ProjectList(Array(bytes[..<length])) }
        }
        #expect(try ProjectList(bytes).records.count == 1)
    }

    @Test(
        arguments: [
            (["a"], "{ \"v\": 1,\n \"projects\" : [\n  {\"id\":\"b\", \"x\" : 1.50},\n  {\"id\":\"c\"} ] , \"w\":2}\n"),
            (["b"], "{ \"v\": 1,\n \"projects\" : [\n  {\"id\":\"a\"} ,\n  {\"id\":\"c\"} ] , \"w\":2}\n"),
            (
                ["c"],
                "{ \"v\": 1,\n \"projects\" : [\n  {\"id\":\"a\"} ,\n  {\"id\":\"b\", \"x\" : 1.50} ] , \"w\":2}\n"
            ),
            (["a", "b", "c"], "{ \"v\": 1,\n \"projects\" : [\n   ] , \"w\":2}\n"),
        ])
    func `taking records out leaves all other bytes as they are`(ids: [String], expected: String) throws {
        let text =
            "{ \"v\": 1,\n \"projects\" : [\n  {\"id\":\"a\"} ,\n  {\"id\":\"b\", \"x\" : 1.50},\n  {\"id\":\"c\"} ] , \"w\":2}\n"
        let rest = try #require(try list(text).removing(Set(ids.map(\.inBytes))))
        #expect(String(decoding: rest, as: UTF8.self) == expected)
        #expect(try list(text).removing(["z"]) == nil)
    }

    @Test func `the more telling one of two records with one id counts`() throws {
        let processing = Self.record().replacing("Completed", with: "Processing")
        let list = try list("[\(processing), \(Self.record())]")
        #expect(list.records.map(\.status) == [.completed])
    }
}
