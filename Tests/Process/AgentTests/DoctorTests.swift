import Foundation
import Glibc
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// `sync-agent doctor`: what it says, what it ends with, and that it leaves nothing behind.
struct DoctorTests {
    private func home(_ server: ScriptedS3Server, environment extra: [String: String] = [:]) throws -> AgentHome {
        try AgentHome(
            store: "{type: s3, bucket: \(server.bucket), region: \(server.region), endpoint: '\(server.endpoint)'}",
            environment: server.environment.merging(extra) { $1 })
    }

    private func examine(_ home: AgentHome) async throws -> (answer: DoctorAnswer, finished: Finished) {
        let finished = try await home.run("doctor", "--json")
        return (try JSONDecoder().decode(DoctorAnswer.self, from: Data(finished.output)), finished)
    }

    private func expectClean(_ server: ScriptedS3Server) {
        #expect(server.keys.isEmpty && server.openUploads.isEmpty)
        #expect(server.requests(.putBucketLifecycleConfiguration, .deleteBucketLifecycle).isEmpty)
    }

    // MARK: Servers

    @Test func `a server like Amazon's can do everything, and nothing is left on it`() async throws {
        try await ScriptedS3Server.run { server in
            let (answer, finished) = try await examine(home(server))
            let names = [
                "credentials", "clock", "region", "store", "objects", "keys", "characters", "ranges",
                "conditional-puts", "integrity", "checksums", "access", "delete-many", "links", "large-files",
                "storage-classes", "copies", "restores", "restore-status", "clean-up",
            ]
            for name in names { #expect(answer[name]?.state == "ok", "\(name): \(answer[name]?.detail ?? "missing")") }
            #expect(answer["lifecycle"]?.remedy?.hasSuffix("run: sync-agent lifecycle apply") == true)
            #expect(
                answer["restores"]?.detail
                    == "bulk from DEEP_ARCHIVE, standard from DEEP_ARCHIVE, expedited from GLACIER")
            #expect(finished.code == 0)
            #expect(!finished.text.contains(server.environment["AWS_SECRET_ACCESS_KEY"] ?? "?"))
            expectClean(server)
        }
    }

    struct Lack: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var imitate: @Sendable (inout StoreAbilities) -> Void
        /// The lines that are not ok, with a part of what they say.
        var limited: [String: String]
    }

    static let lacks = [
        Lack(
            testDescription: "conditions are ignored", imitate: { $0.conditionalPut = .ignored },
            limited: ["conditional-puts": "does not look at If-None-Match"]),
        Lack(
            testDescription: "conditions are refused", imitate: { $0.conditionalPut = .refused },
            limited: ["conditional-puts": "refuses If-None-Match (501 NotImplemented)"]),
        Lack(
            testDescription: "checksums are refused", imitate: { $0.checksumHeaders = .badRequest },
            limited: ["checksums": "refuses x-amz-checksum-sha256 (400 InvalidArgument)"]),
        Lack(
            testDescription: "one class only", imitate: { $0.storageClasses = [.standard] },
            limited: ["storage-classes": "no class but STANDARD", "restores": "no archive class"]),
        Lack(
            testDescription: "one class only, and no word about the others",
            imitate: {
                $0.storageClasses = [.standard]
                $0.namesRefusedClasses = false
            }, limited: ["storage-classes": "no class but STANDARD", "restores": "no archive class"]),
        Lack(
            testDescription: "a class that nothing hangs on",
            imitate: { $0.storageClasses.remove(StorageClass(rawValue: "INTELLIGENT_TIERING")) },
            limited: ["storage-classes": "INTELLIGENT_TIERING is not"]),
        Lack(
            testDescription: "classes that no listing tells", imitate: { $0.listsStorageClasses = false },
            limited: ["storage-classes": "lists it in another class", "restores": "no archive class"]),
        Lack(
            testDescription: "one tier only", imitate: { $0.restores = .standardTierOnly },
            limited: ["restores": "standard from DEEP_ARCHIVE; not bulk from DEEP_ARCHIVE"]),
        Lack(
            testDescription: "no tier element", imitate: { $0.restores = .daysOnly },
            limited: ["restores": "has one speed only"]),
        Lack(
            testDescription: "restores are not listed", imitate: { $0.listsRestoreStatus = false },
            limited: ["restore-status": "listings do not tell"]),
    ]

    @Test(arguments: lacks)
    func `what a server lacks is limited, not wrong, and told with what is done instead`(_ lack: Lack) async throws {
        try await ScriptedS3Server.run { server in
            server.imitate(lack.imitate)
            let (answer, finished) = try await examine(home(server))
            let limited = Set(answer.checks.filter { $0.state == "limited" }.map(\.name))
            #expect(limited == Set(lack.limited.keys).union(["agent", "lifecycle"]))
            for (name, words) in lack.limited {
                #expect(answer[name]?.detail.contains(words) == true, "\(answer[name]?.detail ?? "missing")")
                #expect(answer[name]?.remedy != nil)
            }
            #expect(finished.code == 0)
            expectClean(server)
        }
    }

    @Test func `archiving where nothing can be brought back is wrong; a store without rules is not`() async throws {
        try await ScriptedS3Server.run { server in
            server.imitate { $0.restores = .notImplemented }
            server.script(
                .answer(ScriptedAnswer(501, "NotImplemented")), on: .getBucketLifecycleConfiguration, numbers: 1...9)
            let (answer, finished) = try await examine(home(server))
            #expect(answer["restores"]?.state == "wrong")
            #expect(answer["restores"]?.remedy?.contains("tiers.mode: off") == true)
            #expect(answer["lifecycle"]?.state == "limited")
            #expect(finished.code == 1)
            expectClean(server)
        }
    }

    @Test func `photos that failed are counted, and the way to them is told`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        _ = try await home.run("sync")
        #expect(try await examine(home).answer["photos"]?.state == "ok")
        try home.gallery.appending("broken.jpg").create(SamplePhoto.truncated(2))
        _ = try await home.run("sync")
        let photos = try #require(try await examine(home).answer["photos"])
        #expect(photos.state == "limited")
        #expect(photos.detail == "1 photo failed")
        #expect(photos.remedy?.contains("sync-agent status names them") == true)
    }

    @Test func `what is learned is remembered: the agent's next puts need no HEAD`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try home(server)
            try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
            #expect(try await home.pass().uploaded == 1)
            #expect(server.requests(.headObject).count > 0)
            #expect(try await home.run("doctor").code == 0)
            server.clearRequests()
            try home.gallery.appending("b.jpg").create(SamplePhoto.unique(2))
            #expect(try await home.pass().uploaded == 1)
            #expect(server.requests(.putObject).count { $0.key?.tellsOfMachine != true } == 1)
            #expect(server.requests(.headObject).allSatisfy { $0.key?.tellsOfMachine == true })
        }
    }

    @Test func `ctrl-C ends it, and what it had stored is removed`() async throws {
        try await ScriptedS3Server.run { server in
            server.script(.stall(.beforeReply), on: .copyObject)
            let home = try home(server)
            let doctor = try home.start(["doctor"])
            try await doctor.progress.wait(for: "the trial of classes") { progress in
                String(decoding: progress.output, as: UTF8.self).contains("storage-classes") ? () : nil
            }
            #expect(!server.keys.isEmpty)
            doctor.send(SIGINT)
            let finished = try await doctor.finished()
            #expect(finished.code == 128 + SIGINT)
            #expect(finished.complaint.contains("interrupted"))
            expectClean(server)
        }
    }

    @Test func `what cannot be removed is named`() async throws {
        try await ScriptedS3Server.run { server in
            for operation in [S3Operation.deleteObject, .deleteObjects] {
                server.script(.answer(ScriptedAnswer(403, "AccessDenied")), on: operation, numbers: 1...10_000)
            }
            let (answer, finished) = try await examine(home(server))
            #expect(answer["clean-up"]?.state == "wrong")
            #expect(answer["clean-up"]?.remedy?.contains("users/ana/doctor-") == true)
            #expect(finished.code == 77)
        }
    }

    @Test func `ways by which nobody could be told are wrong, and those that work are not`() async throws {
        let tree = try TemporaryTree()
        let (program, secret) = (try tree.makeFolder("bin").appending("tell"), tree.path("secret"))
        let home = try AgentHome(
            more: """
                notify: {command: ['\(program)']}
                metrics: {textfile: '\(tree.path("metrics/agent.prom"))'}
                serve: {password_file: '\(secret)'}
                """)
        try tree.makeFolder("bin/tell")
        let names = ["notices", "metrics", "gallery"]
        let (answer, finished) = try await examine(home)
        for name in names { #expect(answer[name]?.state == "wrong", "\(name): \(answer[name]?.detail ?? "missing")") }
        #expect(finished.code == 78)
        #expect(rmdir(program.string) == 0)
        try program.create(Array("#!/bin/sh\n".utf8))
        try tree.makeFolder("metrics")
        try secret.create(Array("a long password\n".utf8))
        #expect(chmod(program.string, 0o700) == 0 && chmod(secret.string, 0o600) == 0)
        let (mended, _) = try await examine(home)
        for name in names { #expect(mended[name]?.state == "ok", "\(name): \(mended[name]?.detail ?? "missing")") }
        withExtendedLifetime(tree) {}
    }

    // MARK: The way there

    @Test func `a wrong secret ends with 77, and says where it came from`() async throws {
        try await ScriptedS3Server.run { server in
            let (answer, finished) = try await examine(
                home(server, environment: ["AWS_SECRET_ACCESS_KEY": "not-the-secret"]))
            #expect(answer["store"]?.state == "wrong")
            #expect(answer["credentials"]?.detail.hasSuffix("from environment") == true)
            #expect(answer["objects"] == nil)
            #expect(finished.code == 77)
            #expect(!finished.text.contains("not-the-secret"))
        }
    }

    @Test func `without credentials it ends with 77, and still looks at clock and region`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(
                store: "{type: s3, bucket: \(server.bucket), region: us-east-1, endpoint: '\(server.endpoint)'}")
            let (answer, finished) = try await examine(home)
            #expect(answer["credentials"]?.state == "wrong")
            #expect(answer["clock"]?.state == "ok")
            #expect(answer["region"]?.remedy?.contains("store.region: \(server.region)") == true)
            #expect(finished.code == 77)
        }
    }

    @Test func `a server that is away ends with 69, once told`() async throws {
        let port = try SilentPort(listens: false)
        let home = try AgentHome(
            store: "{type: s3, bucket: photos, region: us-east-1, endpoint: 'http://127.0.0.1:\(port.number)'}",
            environment: ["AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST0001", "AWS_SECRET_ACCESS_KEY": "no-secret-at-all"])
        let (answer, finished) = try await examine(home)
        #expect(answer.checks.filter { $0.state == "wrong" }.map(\.name) == ["store"])
        #expect(finished.code == 69)
    }

    @Test func `a clock that is off by an hour is wrong, with the amount; everything else is still tried`() async throws
    {
        try await ScriptedS3Server.run { server in
            server.setClock(ahead: .seconds(3_630))
            let (answer, finished) = try await examine(home(server))
            #expect(answer["clock"]?.state == "wrong")
            #expect(answer["clock"]?.detail.contains("1 h behind") == true)
            #expect(answer["objects"]?.state == "ok" && answer["links"]?.state == "ok")
            #expect(finished.code == 1)
        }
    }

    // MARK: This machine

    @Test func `a broken configuration ends with 78, and the rest of the machine is still looked at`() async throws {
        let home = try AgentHome()
        try home.configure("user: ana\nstore: {type: s3}\nupload: {batch_size: none}")
        let (answer, finished) = try await examine(home)
        #expect(answer["configuration"]?.state == "wrong")
        #expect(answer["configuration"]?.detail.contains("upload.batch_size") == true)
        #expect(answer["state-folder"] != nil && answer["free-space"] != nil && answer["store"] == nil)
        #expect(finished.code == 78)
    }

    @Test func `a secret that others may read is limited, and not printed`() async throws {
        let home = try AgentHome()
        try home.configure("user: ana\nnotify: {webhook: 'https://example.org/t0ken'}")
        #expect(chmod(home.tree.path("config.yaml").string, 0o644) == 0)
        let (answer, finished) = try await examine(home)
        #expect(answer["configuration"]?.state == "limited")
        #expect(answer["configuration"]?.detail.contains("notify.webhook") == true)
        #expect(!finished.text.contains("t0ken"))
        #expect(finished.code == 0)
    }

    @Test func `before the first pass it makes nothing: no ledger, no store`() async throws {
        let home = try AgentHome()
        let (answer, finished) = try await examine(home)
        #expect(finished.code == 0)
        #expect(answer["store"]?.detail.contains("not there yet") == true)
        #expect(access(home.tree.path("state").string, F_OK) != 0)
        #expect(access(home.tree.path("store").string, F_OK) != 0)
    }

    @Test func `the embedded store is tried too, beside an agent at work, and holds the same photos afterwards`()
        async throws
    {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        let agent = try await home.startAgent()
        try await agent.stored(atLeast: 1)
        let (answer, finished) = try await examine(home)
        #expect(finished.code == 0, "\(answer.checks.filter { $0.state == "wrong" })")
        #expect(answer["agent"]?.detail.contains("process \(agent.pid)") == true)
        #expect(answer.checks.filter { $0.name == "watched-folder" }.map(\.state) == ["ok", "ok", "ok"])
        #expect(answer["restores"]?.state == "ok" && answer["clean-up"]?.state == "ok")
        #expect(try home.store.objects().count == 1)
        agent.send(SIGTERM)
        #expect(try await agent.finished().code == 0)
    }

    @Test func `a watched folder that is gone is wrong; a state folder that others may read is limited`() async throws {
        let home = try AgentHome()
        _ = try await home.pass()
        #expect(rmdir(home.vacations.string) == 0)
        #expect(chmod(home.tree.path("state/sync-agent").string, 0o755) == 0)
        let (answer, finished) = try await examine(home)
        let folders = answer.checks.filter { $0.name == "watched-folder" }
        #expect(folders.count { $0.state == "wrong" && $0.detail.hasPrefix(home.vacations.string) } == 1)
        #expect(answer["state-folder"]?.remedy == "run: chmod 700 '\(home.tree.path("state/sync-agent"))'")
        #expect(finished.code == 1)
    }

    @Test func `a folder whose filter was changed is limited until somebody has looked at it`() async throws {
        let home = try AgentHome()
        func configure(_ filter: String) throws {
            try home.configure(
                """
                user: ana
                store: {type: directory, path: \(home.store.root)}
                watch: [{kind: gallery, path: \(home.gallery)\(filter)}]
                upload: {settle_seconds: 0.2}
                """)
        }
        func folder() async throws -> DoctorAnswer.Check? { try await examine(home).answer["watched-folder"] }
        try configure("")
        _ = try await home.pass()
        #expect(try await folder()?.state == "ok")
        try configure(", filter: ['- *.png']")
        let changed = try await folder()
        #expect(changed?.state == "limited", "\(String(describing: changed))")
        #expect(changed?.detail.contains("not looked at since its kind or filter was changed") == true)
        _ = try await home.pass()
        #expect(try await folder()?.state == "ok")
    }

    @Test func `an embedded store that has gone away is wrong, and not made anew`() async throws {
        let home = try AgentHome()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.pass().uploaded == 1)
        #expect(rename(home.store.root.string, home.tree.path("elsewhere").string) == 0)
        let (answer, finished) = try await examine(home)
        #expect(answer["store"]?.state == "wrong")
        #expect(finished.code == 69)
        #expect(access(home.store.root.string, F_OK) != 0)
        // No drive can be mounted on a file: every command that needs the store says so.
        try home.store.root.create([])
        #expect(try await examine(home).finished.code == 78)
        #expect(try await home.run("sync").code == 78)
    }

    /// The last one looks the same as the first: a store has them apart.
    @Test(arguments: ["eve", "rene\u{301}"])
    func `another user than the ledger's is wrong, and refused by all that uses the store`(other: String) async throws {
        let home = try AgentHome()
        func configure(_ user: String) throws {
            try home.configure(
                """
                user: \(user)
                store: {type: directory, path: \(home.store.root)}
                watch: [{kind: gallery, path: \(home.gallery)}]
                upload: {settle_seconds: 0.2}
                """)
        }
        try configure("ren\u{E9}")
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.pass().uploaded == 1)
        try configure(other)
        let (answer, finished) = try await examine(home)
        #expect(answer["store"]?.state == "wrong")
        #expect(answer["store"]?.remedy?.hasPrefix("correct store or user") == true)
        #expect(try await home.run("sync").code == 78 && finished.code == 78)
    }

    @Test func `people read a line for each thing, and a sum`() async throws {
        let finished = try await AgentHome().run("doctor")
        let lines = finished.text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("ok       configuration     ") == true)
        #expect(lines.last?.hasSuffix("limited, 0 WRONG") == true)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }
}

/// `doctor --json`
struct DoctorAnswer: Decodable, Sendable {
    struct Check: Decodable, Sendable {
        var name: String
        var state: String
        var detail: String
        var remedy: String?
    }

    var checks: [Check]

    /// The first of that name.
    subscript(name: String) -> Check? { checks.first { $0.name == name } }
}
