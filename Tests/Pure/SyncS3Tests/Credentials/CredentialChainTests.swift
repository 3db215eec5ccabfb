import FoundationEssentials
import SyncCore
import SyncSystem
import Testing

@testable import SyncS3

@Suite struct CredentialChainTests {
    private let now = Date(timeIntervalSince1970: 1_767_225_600)

    private func chain(_ providers: [any CredentialProvider]) -> CredentialChain {
        CredentialChain(providers: providers, remedy: "do this") { now }
    }

    @Test func `The first place that has some decides`() async throws {
        let later = ScriptedProvider(.found(.named("LATER")))
        let chain = chain([
            ScriptedProvider(.absent(reason: "a")), ScriptedProvider(.found(.named("FIRST"))), later,
        ])
        #expect(try await chain.resolve().accessKeyID == "FIRST")
        #expect(later.count == 0)
    }

    @Test func `Without any, each place is told`() async {
        let chain = chain([ScriptedProvider(.absent(reason: "A is not set")), ScriptedProvider(.absent(reason: "b"))])
        let error = await #expect(throws: StoreError.self) { try await chain.resolve() }
        #expect(error?.code == .credentialsMissing)
        #expect(error?.message == "no S3 credentials: A is not set; b. To go on, do this")
    }

    @Test func `A place that fails ends the search`() async {
        let failure = StoreError(.credentialsRejected, operation: "credentials", message: "exited with 1")
        let later = ScriptedProvider(.found(.named("LATER")))
        let chain = chain([ScriptedProvider([{ throw failure }]), later])
        await #expect(throws: failure) { try await chain.resolve() }
        #expect(later.count == 0)
    }

    @Test(arguments: [(0, true), (-86_400, true), (1, false)] as [(TimeInterval, Bool)])
    func `Expired credentials are told from missing ones`(left: TimeInterval, areExpired: Bool) async {
        let chain = chain([ScriptedProvider(.found(.named("OLD", until: now.addingTimeInterval(left))))])
        do {
            let found = try await chain.resolve()
            #expect(!areExpired && found.accessKeyID == "OLD")
        } catch let error as StoreError {
            #expect(areExpired && error.code == .credentialsRejected)
            let end = left == 0 ? "2026-01-01T00:00:00Z" : "2025-12-31T00:00:00Z"
            #expect(error.message == "the credentials are from container, expired at \(end); get new ones")
        } catch {
            Issue.record(error)
        }
    }

    @Test(arguments: [(nil, "ENV"), ("work", "WORK")] as [(String?, String)])
    func `A profile in the configuration leaves the variables aside`(profile: String?, key: String) async throws {
        let environment = AWSEnvironment(
            variables: ["HOME": "/h", "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"], profile: profile
        ) { path throws(StoreError) in
            path == "/h/.aws/credentials" ? "[work]\naws_access_key_id = WORK\naws_secret_access_key = s\n" : nil
        }
        #expect(try await standard(environment).resolve().accessKeyID == key)
    }

    @Test func `The places of the AWS tools are all named when none has any`() async {
        let environment = AWSEnvironment(
            variables: ["HOME": "/h", "AWS_EC2_METADATA_DISABLED": "true"], profile: nil
        ) { _ throws(StoreError) in nil }
        let error = await #expect(throws: StoreError.self) { try await standard(environment).resolve() }
        #expect(
            error?.message
                == "no S3 credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set; AWS_WEB_IDENTITY_TOKEN_FILE is "
                + "not set; there is no profile \"default\" in /h/.aws/credentials and /h/.aws/config; AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and "
                + "AWS_CONTAINER_CREDENTIALS_FULL_URI are not set; AWS_EC2_METADATA_DISABLED is true. To go on, set "
                + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add the profile")
    }

    private func standard(_ environment: AWSEnvironment) -> CredentialChain {
        CredentialChain(
            CredentialServices(
                environment: environment, transport: ScriptedTransport([]),
                pool: BlockingPool(name: "test", threads: 1), now: { now }))
    }
}
