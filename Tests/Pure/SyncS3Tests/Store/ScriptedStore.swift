import FoundationEssentials
import SyncCore
import SyncS3

/// A store over a script, for a bucket `b` at Amazon's us-east-1 unless said otherwise.
struct ScriptedStore {
    static let keys = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"]
    /// 21 December 2012, midnight.
    static let start = Date(timeIntervalSince1970: 1_356_048_000)
    static let emptyList = ScriptedTransport.Answer.reply(200, [:], "<ListBucketResult></ListBucketResult>")

    let store: S3Store
    let transport: ScriptedTransport

    init(
        _ answers: [ScriptedTransport.Answer], endpoint: String? = nil, variables: [String: String] = keys,
        memory: (any EndpointFactStore)? = nil, change: (inout S3Settings) -> Void = { _ in },
        readFile: @escaping AWSEnvironment.FileReader = { _ throws(StoreError) in nil },
        now: @escaping @Sendable () -> Date = { start }
    ) throws {
        transport = ScriptedTransport(answers)
        var settings = S3Settings(bucket: "b", region: "us-east-1", endpoint: endpoint, addressing: .path)
        change(&settings)
        store = try S3Store(
            settings: settings,
            environment: AWSEnvironment(variables: variables, profile: nil, readFile: readFile), transport: transport,
            memory: memory, now: now)
    }

    /// Of the error that `work` throws; `nil` when it ends normally.
    static func code(_ work: () async throws -> Void) async throws -> StoreError.Code? {
        do {
            try await work()
            return nil
        } catch let error as StoreError {
            return error.code
        }
    }
}
