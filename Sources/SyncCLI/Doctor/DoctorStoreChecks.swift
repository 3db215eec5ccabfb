import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncPhotos
import SyncS3
import SyncSystem
import SystemPackage
import UnixSignals

/// What `doctor` tries with a store. It makes nothing but objects in a scratch folder, and removes them whatever happens.
struct DoctorStoreChecks: Sendable {
    /// For the first answer, and for tidying up after a Ctrl-C.
    private static let patience = Duration.seconds(20)

    let installation: Installation
    /// With retries.
    let store: any ObjectStore
    let checks: Checks
    let steps: StoreSteps

    /// Somebody pressed Ctrl-C; what was made is removed.
    struct Interrupted: Error { let signal: UnixSignal }

    /// - Throws: ``Interrupted``.
    func run() async throws {
        guard await isUsable() else { return }
        let scratch = ScratchFolder(store, user: installation.settings.user, id: .random(in: .min ... .max))
        try await closing({ await cleanUp(scratch) }) {
            let end = try await Interruptible.run(until: .sigint, .sigterm, .sighup) { [steps, store] in
                try await steps.run(StoreChecks(store, scratch: scratch), scratch)
            }
            if case .interrupted(let signal, _) = end { throw Interrupted(signal: signal) }
        }
    }

    private func isUsable() async -> Bool {
        do {
            try await installation.time.within(Self.patience) { [store] in try await store.check() }
            checks.add(.ok("store", store.identity.location))
            return true
        } catch let error as StoreError {
            checks.add(.wrong("store", error))
        } catch {
            let isServer = if case .s3 = installation.settings.store { true } else { false }
            checks.add(
                .wrong(
                    "store", "no answer within \(Quantities.span(Self.patience))",
                    remedy: isServer
                        ? "check the network, and store.endpoint" : "see that the drive it is on answers",
                    cause: CommandFailure(.storeUnreachable, store.identity.location)))
        }
        return false
    }

    private func cleanUp(_ scratch: ScratchFolder) async {
        let name = "clean-up"
        let remedy = "the next doctor removes them, from an hour on; or delete \(scratch.prefix)"
        do {
            let (left, older) = try await installation.time.within(Self.patience) { [installation] in
                (try await scratch.empty(), try await scratch.removeLeftovers(now: installation.time.now()))
            }
            let others =
                older.removed == 0 ? "" : "; so are \(Quantities.counted(older.removed, "object")) of earlier doctors"
            let all = left + older.left
            guard let first = all.first else {
                return checks.add(.ok(name, "all that was tried is removed again\(others)"))
            }
            let count = Quantities.counted(all.count, "object")
            // What is tried at a share comes first.
            let next =
                first.key.isBelow(ShareKeys.prefix)
                ? "\(remedy) and \(first.key.segments.prefix(2).joined(separator: "/"))/" : remedy
            checks.add(
                .wrong(
                    name, "\(count) could not be removed, of them \(first.key): \(Advice(first.reason).reason)",
                    remedy: left.isEmpty ? "the next doctor tries again; or delete \(first.key)" : next,
                    cause: first.error))
        } catch let error as StoreError {
            checks.add(.wrong(name, error.description, remedy: remedy, cause: error))
        } catch {
            checks.add(.wrong(name, "objects could not be removed: \(error)", remedy: remedy, cause: error))
        }
    }
}

/// Which trials there are, in which order. What is decided below the port is tried there.
struct StoreSteps: Sendable {
    let checks: Checks
    let policy: TierPolicy
    /// `nil` for a store without a server.
    let s3: S3Store?
    /// Whether classes and restores may be tried: each object in them is billed for months at Amazon.
    let triesArchive: Bool
    /// Reads what is shared as everybody can; `nil` where nobody can without a link of the store's.
    var openReader: (@Sendable (ObjectKey) async throws -> [UInt8]?)?

    /// - Throws: `CancellationError`; `InvalidName`.
    func run(_ probe: StoreChecks, _ scratch: ScratchFolder) async throws {
        let first = try await probe.objects()
        checks.add(first)
        // Where nothing can be stored or read back, all else would fail in the same way.
        guard first.state != .wrong else { return }
        checks.add(try await probe.keys())
        checks.add(try await probe.characters())
        checks.add(try await probe.ranges())
        if let s3 {
            try await S3Steps(checks: checks, store: s3, scratch: scratch).run(probe)
        } else {
            checks.add(try await probe.conditionalPuts())
            checks.add(try await probe.integrity())
            checks.add(try await probe.deleteMany())
            checks.add(try await probe.links(nil))
        }
        if let openReader { checks.add(try await probe.guestPhotos(openReader)) }
        let classes = try await archive(probe)
        if let s3, triesArchive, s3.configuredClass != .standard {
            let name = "storage-class"
            if let classes {
                checks.add(
                    S3Steps.finding(
                        name, s3.configuredClass, isTaken: classes.contains(s3.configuredClass),
                        ignoredFor: s3.ignoredClass?.seen))
            } else {
                checks.add(.notTried(name, since: Self.classes))
            }
        }
        checks.add(try await probe.lifecycle(policy, classes: classes))
        if let s3 { await S3Examiner(s3).remember(classes ?? []) }
    }

    private static let classes = "storage-classes"

    /// - Returns: the storage classes that were tried and are there; `nil` when they were not all tried.
    private func archive(_ probe: StoreChecks) async throws -> [StorageClass]? {
        guard triesArchive else {
            checks.add(try await probe.copies(into: []))
            for name in [Self.classes, "restores"] {
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

/// What `doctor` says of the program that decodes pictures: whether it is there, with what, and how well it is locked in.
struct DoctorDecoderCheck: Sendable {
    private static let name = "pictures"
    private static let patience = Duration.seconds(20)
    private static let mostBytes = 64 << 10

    /// What `sync-agent-decoder --check` prints.
    private struct Abilities: Decodable {
        var landlock: Bool
        var seccomp: Bool
        var libraries: [String: String]
    }

    let pictures: PictureWorkers

    /// Blocks: for a thread of ours.
    func finding(_ flag: CancellationFlag) throws -> Finding {
        let program = PictureWorkers.programName
        guard let path = pictures.program else {
            return .limited(
                Self.name, "\(program) is not installed beside sync-agent",
                instead: "HEIC, PNG and other pictures are stored as they are, and not looked into; make install has it"
            )
        }
        let abilities: Abilities
        do {
            let check = ChildProcess(
                words: [path.string, "--check"], environment: [:], timeout: Self.patience, outputLimit: Self.mostBytes)
            let ending = try check.run(flag)
            switch ending.status {
            case .exited(0): break
            case .exited(let code): return broken(path, "it ended with \(code)")
            case .signalled(let signal): return broken(path, "it died of signal \(signal)")
            }
            abilities = try JSONDecoder().decode(Abilities.self, from: Data(ending.output))
        } catch is CancellationError {
            throw CancellationError()
        } catch let failure as ChildProcess.Failure {
            switch failure {
            case .notStarted(let error): return broken(path, "it cannot be started: \(error)")
            case .tooSlow: return broken(path, "it does not answer")
            case .tooMuch: return broken(path, "its answer does not end")
            }
        } catch is DecodingError {
            return broken(path, "its answer is none of a decoder")
        }
        let libraries = abilities.libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let detail = "decoded by \(path) with \(libraries.joined(separator: ", "))"
        let missing = [abilities.landlock ? nil : "landlock", abilities.seccomp ? nil : "seccomp"].compactMap(\.self)
        if missing.isEmpty { return .ok(Self.name, detail + ", without network and files (landlock, seccomp)") }
        return .limited(
            Self.name, detail + "; this kernel has no \(missing.joined(separator: " and no "))",
            instead: abilities.seccomp
                ? "system calls are limited all the same"
                : "only limits on memory, files and processes hold a decoder back")
    }

    private func broken(_ path: FilePath, _ reason: String) -> Finding {
        .wrong(
            Self.name, "\(path) --check: \(reason)",
            remedy: "reinstall it, with the libraries that it needs (make install)")
    }
}
