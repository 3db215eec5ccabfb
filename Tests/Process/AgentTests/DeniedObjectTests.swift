import Foundation
import SyncCore
import SyncDigest
import SyncTestSupport
import SystemPackage
import Testing

/// A store that denies some objects and gives all others, by the program.
struct DeniedObjectTests {
    private typealias Fields = [String: Any]

    private static let denial = ScriptedAnswer(403, "AccessDenied")

    private func fields(_ finished: Finished) throws -> Fields {
        try #require(try JSONSerialization.jsonObject(with: Data(finished.output)) as? Fields, "\(finished)")
    }

    private static func originalKey(_ photo: [UInt8]) -> String {
        "users/ana/originals/\(ContentDigest(of: photo).md5).dat"
    }

    private func keepOriginals(_ home: AgentHome) throws {
        try home.configure(
            try String(contentsOfFile: home.tree.path("config.yaml").string, encoding: .utf8)
                .replacing("max_dimension: 100", with: "max_dimension: 100, keep_originals: true"))
    }

    @Test func `one photo that the store denies ends no verification, and is named in its summary`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "")
            for number in 0..<3 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
            _ = try await home.pass()
            let key = try #require(try await home.photo(home.gallery.appending("1.jpg"))?.key)
            server.script(.answer(Self.denial), on: .getObject, key: key, numbers: 1...99)
            let verified = try await home.run("verify", "--all", "--budget", "5", "--json")
            #expect(verified.code == 3, "\(verified)")
            let answer = try fields(verified)
            #expect(answer["ok"] as? Int == 2 && answer["undecided"] as? Int == 1, "\(verified)")
            #expect((answer["errors"] as? [String])?.contains { $0.contains(key) } == true, "\(verified)")
            let told = try await home.run("verify", "--all", "--budget", "5")
            #expect(told.code == 3 && told.text.contains("of 1 the store could not tell"), "\(told)")
        }
    }

    @Test func `what the store denies to restores keeps no original from being kept`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "photos: {max_dimension: 100}")
            let count = 21
            for number in 0..<count {
                try home.gallery.appending("\(number).jpg").create(SamplePhoto.taken(number))
            }
            _ = try await home.pass()
            for key in server.photoKeys {
                server.script(.answer(Self.denial), on: .getObject, key: key, numbers: 1...999)
            }
            let back = try home.tree.makeFolder("back")
            _ = try await home.run("restore", "--yes", "--output", back.string, home.gallery.string)
            try keepOriginals(home)
            let pass = try await home.run("sync", "--json")
            #expect(pass.complaint.contains("restores wait for the store"), "\(pass)")
            #expect(try fields(pass)["originals"] as? Int == count, "\(pass)")
        }
    }

    @Test func `an original that the store denies holds up no other, and is kept when it is taken`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "photos: {max_dimension: 100}")
            for number in 0..<3 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.taken(number)) }
            _ = try await home.pass()
            try keepOriginals(home)
            let key = Self.originalKey(try SamplePhoto.taken(0))
            server.script(.answer(Self.denial), on: .putObject, key: key, numbers: 1...99)
            let pass = try await home.run("sync", "--json")
            let answer = try fields(pass)
            #expect(pass.code == 3 && answer["originals"] as? Int == 2, "\(pass)")
            let problems = (answer["problems"] as? [Fields])?.compactMap { $0["path"] as? String } ?? []
            #expect(problems.contains { $0.hasSuffix("/0.jpg") }, "\(pass)")
            server.clearScript()
            #expect(try await fields(home.run("sync", "--json"))["originals"] as? Int == 1)
        }
    }

    @Test func `originals that the store denied come last in the next pass, behind one that it takes`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server, tiers: "photos: {max_dimension: 100}")
            let count = 24
            for number in 0..<count {
                try home.gallery.appending("\(100 + number).jpg").create(SamplePhoto.taken(number))
            }
            _ = try await home.pass()
            try home.gallery.appending("last.jpg").create(SamplePhoto.taken(count))
            _ = try await home.pass()
            try keepOriginals(home)
            for number in 0..<count {
                server.script(
                    .answer(Self.denial), on: .putObject, key: Self.originalKey(try SamplePhoto.taken(number)),
                    numbers: 1...99)
            }
            let refused = try await home.run("sync", "--json")
            #expect(refused.code == 3 && refused.complaint.contains("originals wait for the store"), "\(refused)")
            #expect(try fields(refused)["originals"] as? Int == 0, "\(refused)")
            #expect(try await fields(home.run("sync", "--json"))["originals"] as? Int == 1)
            server.clearScript()
            #expect(try await fields(home.run("sync", "--json"))["originals"] as? Int == count)
        }
    }
}
