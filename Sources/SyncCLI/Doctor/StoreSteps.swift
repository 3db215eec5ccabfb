import SyncCore
import SyncEngine
import SyncS3

/// Which trials there are, in which order. What is decided below the port is tried there.
struct StoreSteps: Sendable {
    let checks: Checks
    let policy: TierPolicy
    /// `nil` for a store without a server.
    let s3: S3Store?
    /// Whether classes and restores may be tried: each object in them is billed for months at Amazon.
    let triesArchive: Bool

    /// - Throws: `CancellationError`; `InvalidName`.
    func run(_ probe: StoreChecks, _ scratch: ScratchFolder) async throws {
        let first = try await probe.objects()
        checks.add(first)
        // Where nothing can be stored or read back, all else would fail in the same way.
        guard first.state != .wrong else { return }
        checks.add(try await probe.keys())
        checks.add(try await probe.ranges())
        if let s3 {
            try await S3Steps(checks: checks, store: s3, scratch: scratch).run(probe)
        } else {
            checks.add(try await probe.conditionalPuts())
            checks.add(try await probe.integrity())
            checks.add(try await probe.deleteMany())
            checks.add(try await probe.links(nil))
        }
        let classes = try await archive(probe)
        checks.add(try await probe.lifecycle(policy, classes: classes))
        if let s3 { await S3Examiner(s3).remember(classes ?? []) }
    }

    /// - Returns: the storage classes that were tried and are there; `nil` when none was tried.
    private func archive(_ probe: StoreChecks) async throws -> [StorageClass]? {
        guard triesArchive else {
            checks.add(try await probe.copies(into: []))
            for name in ["storage-classes", "restores"] {
                checks.add(
                    .ok(
                        name,
                        "Amazon has them; not tried here: each object is billed for months. --archive tries, for about $0.02"
                    ))
            }
            return nil
        }
        let (finding, classes) = try await probe.storageClasses()
        checks.add(finding)
        checks.add(try await probe.copies(into: classes))
        for finding in try await probe.restores(from: classes) {
            let isTierless = s3?.knowledge.capabilities.takesRestoreTiers == false
            checks.add(
                finding.name == "restores" && finding.state == .ok && isTierless
                    ? .limited(
                        finding.name, "the server restores, and has one speed only",
                        instead: "--tier makes no difference")
                    : finding)
        }
        return classes
    }
}
