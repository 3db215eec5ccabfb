import Foundation
import SyncTestSupport
import SystemPackage

extension AgentHome {
    /// Lines of the configuration by which a pass archives what it has stored.
    static let archivesAtOnce = "tiers: {mode: agent, archive_after_days: 0, minimum_archive_bytes: 0}"

    /// Runs `restore … --json`, which has to end with `code`.
    func restore(_ arguments: String..., code: Int32 = 0) async throws -> RestoreAnswer {
        let finished = try await start(["restore"] + arguments + ["--json"]).finished()
        guard finished.code == code else { throw UnexpectedEnd(finished: finished) }
        return try JSONDecoder().decode(RestoreAnswer.self, from: Data(finished.output))
    }

    /// Runs `restores … --json`.
    func restores(_ arguments: String...) async throws -> [RestoreJob] {
        let finished = try await start(["restores"] + arguments + ["--json"]).finished()
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        return try JSONDecoder().decode(RestoreJobs.self, from: Data(finished.output)).restores
    }

    /// Runs `restores --refresh` again and again until the newest job is right.
    func refreshed(until isRight: (RestoreJob) -> Bool) async throws -> RestoreJob {
        try await newest(["--refresh"], until: isRight)
    }

    /// Looks at the newest job again and again, without asking the store: for what an agent does.
    func restore(until isRight: (RestoreJob) -> Bool) async throws -> RestoreJob {
        try await newest([], until: isRight)
    }

    private func newest(_ options: [String], until isRight: (RestoreJob) -> Bool) async throws -> RestoreJob {
        var seen: RestoreJob?
        return try await eventually("the state of a restore", seen: { "\(String(describing: seen))" }) {
            let finished = try await start(["restores", "--json"] + options).finished()
            guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
            seen = try JSONDecoder().decode(RestoreJobs.self, from: Data(finished.output)).restores.first
            return seen.flatMap { isRight($0) ? $0 : nil }
        }
    }
}

extension AgentHome {
    /// A home over a scripted server.
    /// - Parameter tiers: by default a pass archives what it stores.
    convenience init(over server: ScriptedS3Server, tiers: String = archivesAtOnce) throws {
        try self.init(
            store: "{type: s3, bucket: \(server.bucket), region: \(server.region), endpoint: '\(server.endpoint)'}",
            more: tiers, environment: server.environment)
    }
}
