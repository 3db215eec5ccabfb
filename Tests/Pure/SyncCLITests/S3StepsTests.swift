import SyncCore
import SyncEngine
import SyncS3
import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct S3StepsTests {
    @Test(
        arguments: [
            (.honoured, nil, .ok, nil), (.honoured, true, .ok, nil),
            (.honoured, false, .limited, "a HEAD goes before each put; without store.conditional_writes"),
            (.ignored, nil, .limited, "a HEAD goes before each put"),
            (.ignored, true, .wrong, "take store.conditional_writes out"),
            (.ignored, false, .limited, "as store.conditional_writes says"),
            (.refused("501"), nil, .limited, "a HEAD goes before each put"),
            (.refused("501"), true, .wrong, "take store.conditional_writes out"),
            (.refused("501"), false, .limited, "as store.conditional_writes says"),
        ] as [(S3Examiner.Condition, Bool?, Finding.State, String?)])
    func `What a server makes of conditions is held against the configuration`(
        found: S3Examiner.Condition, configured: Bool?, state: Finding.State, remedy: String?
    ) {
        let finding = S3Steps.finding("conditional-puts", found, configured: configured)
        #expect(finding.state == state)
        #expect((finding.remedy == nil) == (remedy == nil))
        #expect(remedy.map { finding.remedy?.contains($0) == true } ?? true, "\(finding.remedy ?? "")")
        let checks = Checks { _ in }
        checks.add(finding)
        #expect(checks.status == (state == .wrong ? .configuration : .done))
    }

    @Test(
        arguments: [
            (true, nil, .ok, "stored in STANDARD_IA, as"),
            (false, .standard, .limited, "stored in STANDARD: the server"),
            (false, nil, .wrong, "does not have STANDARD_IA"),
        ] as [(Bool, StorageClass?, Finding.State, String)])
    func `What a server makes of the configured class is told`(
        isTaken: Bool, seen: StorageClass?, state: Finding.State, words: String
    ) {
        let finding = S3Steps.finding("storage-class", .standardIA, isTaken: isTaken, ignoredFor: seen)
        #expect(finding.state == state && finding.detail.contains(words), "\(finding.detail)")
    }

    @Test func `An examined store does not believe what earlier runs learned, and is remembered all the same`() {
        let memory = InMemoryEndpointFacts()
        memory.remember("delete-many", value: "no", of: "place")
        let examined = IgnoringStoredFacts(base: memory)
        #expect(examined.facts(of: "place").isEmpty)
        examined.remember("delete-many", value: "yes", of: "place")
        #expect(memory.facts(of: "place") == ["delete-many": "yes"])
    }
}
