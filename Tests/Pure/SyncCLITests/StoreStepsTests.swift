import SyncCore
import SyncEngine
import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct StoreStepsTests {
    private func checks(
        _ store: any ObjectStore, triesArchive: Bool, mode: TierMode = .off
    ) async throws -> Checks {
        let checks = Checks { _ in }
        let scratch = ScratchFolder(store, user: "ana", id: 7)
        let policy = TierPolicy(
            user: "ana", mode: mode, archiveAfterDays: 180, originalsAfterDays: 180,
            floor: ArchiveFloor(configured: 131_072, prices: nil), shareExpireDays: 30)
        try await StoreSteps(checks: checks, policy: policy, s3: nil, triesArchive: triesArchive)
            .run(StoreChecks(store, scratch: scratch), scratch)
        return checks
    }

    @Test func `Where an archived object is billed for months, none is made, and the lines say so`() async throws {
        let store = InMemoryStore()
        let findings = try await checks(store, triesArchive: false).findings
        for name in ["storage-classes", "restores"] {
            let finding = try #require(findings.first { $0.name == name })
            #expect(
                finding.state == .ok && finding.detail.contains("not tried") && finding.detail.contains("--archive"))
        }
        let stored = try await store.list(prefix: "", after: nil, limit: 1_000).objects
        #expect(!stored.isEmpty && stored.allSatisfy { $0.storageClass == .standard })
    }

    @Test func `Each line comes once`() async throws {
        let names = try await checks(InMemoryStore(), triesArchive: true).findings.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.first == "objects" && names.last == "lifecycle")
    }

    @Test func `Where nothing can be stored, nothing further is tried`() async throws {
        let store = FaultyStore(InMemoryStore(), faults: [StoreFault(.put, .failBefore(.accessDenied))])
        let checks = try await checks(store, triesArchive: true)
        #expect(checks.findings.map(\.name) == ["objects"])
        #expect(checks.status == .refused)
        #expect(store.count(.put) == 1)
    }

    @Test func `A disk that is full after the first object has no archive that is missing`() async throws {
        let store = FaultyStore(
            InMemoryStore(), faults: [StoreFault(.put, numbers: 2...Int.max, .failBefore(.noSpace))])
        let checks = try await checks(store, triesArchive: true, mode: .agent)
        for finding in checks.findings {
            #expect(finding.remedy?.contains("tiers.mode") != true, "\(finding)")
            #expect(finding.name == "links" || !finding.detail.contains("has no"), "\(finding)")
        }
        #expect(checks.findings.first { $0.name == "storage-classes" }?.state == .wrong)
        #expect(checks.findings.first { $0.name == "restores" }?.detail.contains("not tried") == true)
        #expect(checks.status == .storeUnreachable)
    }
}
