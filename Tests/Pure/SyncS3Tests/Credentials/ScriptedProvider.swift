import FoundationEssentials
import SyncSystem

@testable import SyncS3

/// Answers from a script, the last answer again and again, and counts how often it was asked.
final class ScriptedProvider: CredentialProvider {
    typealias Answer = @Sendable () async throws -> CredentialAnswer

    private let answers: [Answer]
    private let asked = Lock(0)

    init(_ answers: [Answer]) {
        self.answers = answers
    }

    convenience init(_ answer: CredentialAnswer) {
        self.init([{ answer }])
    }

    var count: Int { asked.withLock { $0 } }

    func credentials() async throws -> CredentialAnswer {
        let number = asked.withLock { count in
            count += 1
            return count
        }
        return try await answers[min(number, answers.count) - 1]()
    }
}

extension AWSCredentials {
    static func named(_ id: String, until end: Date? = nil) -> AWSCredentials {
        AWSCredentials(accessKeyID: id, secretAccessKey: "s", expiration: end, source: .container)
    }
}
