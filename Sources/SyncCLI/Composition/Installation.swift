import FoundationEssentials
import Glibc
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncS3
import SyncSystem
import SystemPackage

/// What a command works on: the configuration that counts here, the state folder, and how to open ledger and store.
struct Installation: Sendable {
    let location: ConfigLocation
    let settings: Settings
    let environment: [String: String]
    let logger: Logger
    let time: TimeSource
    /// What all requests to the store hear of it.
    let throttling = Throttling()

    static func logger(_ options: GlobalOptions, _ environment: [String: String]) -> Logger {
        var logger = Logger(label: "sync-agent") { _ in
            ConsoleLogHandler(level: options.logLevel, environment: environment)
        }
        logger.logLevel = options.logLevel
        return logger
    }

    /// By these two, a state folder is known.
    static let (ledgerName, lockName) = ("ledger.sqlite", "agent.lock")

    var lockFile: FilePath { location.stateFolder.appending(Self.lockName) }
    /// What processes lock while they hold shares, send restores, or are about to make one: by it, they are told from those
    /// that have ended.
    var claimsLockFile: FilePath { location.stateFolder.appending("shares.lock") }

    /// This process, as others know it that work with the same ledger: for as long as the value lives.
    func makeClaimOwner() -> ClaimOwner { ClaimOwner(OwnerLock(at: claimsLockFile, pid: getpid())) }

    var ledgerFile: FilePath { location.stateFolder.appending(Self.ledgerName) }

    /// Of the catalogue's lock holder: a segment while it is made or read.
    var catalogSpool: FilePath { location.stateFolder.appending("catalog.part") }

    /// Of this process: a segment while it is read.
    var rebuildSpool: FilePath { location.stateFolder.appending("rebuild-\(getpid()).part") }

    /// Of this process: a segment while it is read for what others have merged.
    var mergeSpool: FilePath { location.stateFolder.appending("merges-\(getpid()).part") }

    /// Removes what processes that were killed have left of theirs. One that has the number of such a process keeps its file
    /// for now.
    func removeLeftSpools() {
        for name in (try? Folder.names(in: location.stateFolder)) ?? [] {
            let parts = name.string.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, ["rebuild", "merges"].contains(parts[0]), parts[1].hasSuffix(".part"),
                let pid = pid_t(parts[1].dropLast(".part".count)), pid > 0, kill(pid, 0) != 0, errno == ESRCH
            else { continue }
            // What stays takes room, and is tried again by the next command that takes the lock.
            _ = try? location.stateFolder.appending(name).unlink()
        }
        StoreCopy.removeLeftovers(in: location.stateFolder)
    }

    /// What this machine is called in the store's catalogue.
    var machineName: String { settings.machineName ?? ProcessEnvironment.hostName }

    /// Opens the ledger, and makes it and the state folder when they are not there yet.
    /// - Throws: ``LedgerError``.
    func openLedger(_ connections: Ledger.Connections = .pool) throws -> Ledger {
        try Ledger(at: ledgerFile, connections: connections)
    }

    /// Takes the one agent's lock. The ledger has to be open: it makes the state folder.
    /// - Throws: ``AgentLock/Held``; ``CommandFailure`` when the file cannot be made.
    func takeLock() throws -> AgentLock { try takeLock(at: lockFile) }

    /// Whether an agent, or a pass, is at work at this moment.
    func agentRuns() throws -> Bool { try AgentLock.currentHolder(at: lockFile) != nil }

    /// One cleanup at a time, with an agent or without. It throws as ``takeLock()`` does.
    func takeCleanupLock() throws -> AgentLock { try takeLock(at: location.stateFolder.appending("cleanup.lock")) }

    /// One process at a time deletes what was forgotten. It throws as ``takeLock()`` does.
    func takeDeletionLock() throws -> AgentLock { try takeLock(at: location.stateFolder.appending("forget.lock")) }

    /// The same, for deletions in one store: nothing is moved to another one while it is held.
    /// - Parameter next: what goes on in the other store, where all was moved there before.
    /// - Throws: also ``CommandFailure`` then.
    func takeDeletionLock(in store: any ObjectStore, _ ledger: Ledger, orSay next: String) throws -> AgentLock {
        let lock = try takeDeletionLock()
        try requireCurrent([store], ledger, orSay: next)
        return lock
    }

    /// One process at a time writes the catalogue.
    /// - Throws: ``AgentLock/Held``; `Errno` when the file cannot be made.
    func takeCatalogLock() throws -> AgentLock {
        try AgentLock(at: location.stateFolder.appending("catalog.lock"), pid: getpid(), now: time.now())
    }

    private func takeLock(at file: FilePath) throws -> AgentLock {
        do {
            return try AgentLock(at: file, pid: getpid(), now: time.now())
        } catch Errno.tooManySymbolicLinkLevels {
            throw CommandFailure.refused(
                "\(file.string) is a symbolic link, and nothing of ours; remove it, and start again")
        } catch let error as Errno {
            throw CommandFailure(error, at: "\(file): cannot lock", or: "set XDG_STATE_HOME to another folder")
        }
    }

    /// The store as it is configured, without retries.
    /// - Parameters:
    ///   - ledger: when it knows an embedded store, one whose folder is gone is an unmounted disk, and no empty one is made
    ///     in its place.
    ///   - access: what may be made of an embedded store. A command that only looks makes nothing.
    func makeStore(_ ledger: Ledger, access: LocalStoreAccess) throws -> any ObjectStore {
        if case .directory(let directory) = settings.store {
            if let obstacle = FolderMaker().obstacle(to: directory.path) {
                throw CommandFailure.configuration(
                    "store.path \(directory.path): \(obstacle) is no folder; name another place for the store")
            }
            if access == .founds, try !ledger.knowsStore() { try makeFolder(above: directory) }
        }
        return try openStore(settings.store, access, memory: ledger)
    }

    /// Another store than the configured one, of which nothing is remembered. Without retries.
    func makeStore(_ other: StoreSettings, access: LocalStoreAccess) throws -> any ObjectStore {
        if case .directory(let directory) = other, access == .founds { try makeFolder(above: directory) }
        return try openStore(other, access, memory: nil)
    }

    private func makeFolder(above directory: DirectoryStoreSettings) throws {
        try Folder.make(directory.path.removingLastComponent(), permissions: .ownerReadWriteExecute)
    }

    private func openStore(
        _ store: StoreSettings, _ access: LocalStoreAccess, memory ledger: Ledger?
    ) throws -> any ObjectStore {
        switch store {
        case .directory(let directory): makeStore(directory, access, memory: ledger)
        case .s3(let s3): try makeStore(s3, memory: ledger)
        }
    }

    /// - Parameter memory: knows which store it is; `nil` where there is no ledger.
    func makeStore(_ directory: DirectoryStoreSettings, _ access: LocalStoreAccess, memory: Ledger?) -> LocalStore {
        LocalStore(
            root: directory.path, now: time.now, restoreDuration: directory.restoreDuration, access: access,
            memory: memory)
    }

    /// - Parameter memory: keeps what is learned of the server; `nil` where there is no ledger.
    func makeStore(_ s3: S3StoreSettings, memory: (any EndpointFactStore)?) throws -> S3Store {
        // Each request is signed by digests. Where nothing makes them, `status` has that to tell of the store.
        if let failure = CommandFailure.ofDigests { throw failure }
        return try S3Store(
            settings: S3Settings(s3), environment: environment, bandwidth: settings.upload.bandwidthLimit,
            memory: memory, warn: { [logger] in logger.warning("\($0)") }, now: time.now)
    }

    /// What ties the ledger to a store: it tells what is stored in that one, for one user. Taken for another's, it would call
    /// photos safe that are not there.
    func placeName(_ store: any ObjectStore) -> String { "\(store.identity.location)\(userPart)" }

    /// What the ledger tells of, where that is another store than this one, or another user's part of it.
    /// - Returns: `nil` also where nothing is known yet.
    func otherPlace(of ledger: Ledger, than store: any ObjectStore) throws(LedgerError) -> String? {
        guard let bound = try ledger.boundStore(), bound.inBytes != placeName(store).inBytes,
            try ledger.knownObjects() > 0
        else { return nil }
        return bound
    }

    /// Whether a ledger is about a store still: `move-store` may have been run since that was opened.
    func isCurrent(_ store: any ObjectStore, _ ledger: Ledger) throws(LedgerError) -> Bool {
        guard let bound = try ledger.boundStore() else { return true }
        return bound.inBytes == placeName(store).inBytes
    }

    /// Whether a place that a ledger tells of is this user's.
    func isThisUsers(_ place: String) -> Bool {
        place.utf8.suffix(userPart.utf8.count).elementsEqual(userPart.utf8)
    }

    /// - Parameter next: what goes on in the other store, where the ledger is about another one by now.
    /// - Throws: ``CommandFailure`` then; ``LedgerError``.
    func requireCurrent(_ stores: [any ObjectStore], _ ledger: Ledger, orSay next: String) throws {
        if try stores.allSatisfy({ try isCurrent($0, ledger) }) { return }
        throw CommandFailure.configuration("what is stored was moved to another store meanwhile: \(next)")
    }

    /// Where this user's objects are in a store.
    var keys: KeyLayout { get throws { try KeyLayout(user: settings.user) } }

    /// Of every place that is this user's.
    private var userPart: String { " for user \(settings.user)" }

    /// What the configuration says of the store, where it cannot even be opened.
    var configuredIdentity: StoreIdentity {
        switch settings.store {
        case .directory(let directory):
            StoreIdentity(type: StoreType.directory.rawValue, location: directory.path.string)
        case .s3(let s3): StoreIdentity(type: StoreType.s3.rawValue, location: "s3://\(s3.bucket)")
        }
    }
}

extension S3Settings {
    init(_ settings: S3StoreSettings) {
        let encryption: S3Encryption =
            switch settings.encryption {
            case .none: .byBucket
            case .ownKeys: .ownKeys
            case .keyService: .keyService(key: settings.encryptionKey)
            }
        self.init(
            bucket: settings.bucket, region: settings.region, endpoint: settings.endpoint?.absoluteString,
            addressing: settings.addressing, prefix: settings.prefix, encryption: encryption,
            checksums: settings.checksums.isOn, conditionalWrites: settings.conditionalWrites.isOn)
        (profile, storageClass, tags) = (settings.profile, settings.storageClass, settings.tags)
        requesterPays = settings.requestPayer == .requester
        parts = PartSizes(part: Int64(settings.partSize))
        (dualStack, fips) = (settings.dualStack, settings.fips)
    }
}

extension Installation {
    /// Reads the configuration. What works but should be seen to is logged as a warning.
    /// - Throws: `ConfigError`.
    init(_ options: GlobalOptions, environment: [String: String]) throws {
        self.environment = environment
        time = .system
        logger = Self.logger(options, environment)
        location = try ConfigLocation(
            option: options.configurationFile?.text, environment: environment,
            workingFolder: ProcessEnvironment.workingFolder
        )
        let loaded = try ConfigFile.load(location)
        settings = loaded.settings
        for warning in loaded.warnings { logger.warning("\(location.file): \(warning)") }
    }

    /// The configured store as it is, for what only reads: none is made in an empty place.
    /// - Parameter ledger: knows which store it is, and keeps what is learned of a server; `nil` where there is none.
    func makeReadStore(_ ledger: Ledger?) throws -> any ObjectStore {
        try openStore(settings.store, .reads, memory: ledger)
    }

    /// What estimates are made from, whatever the store.
    /// - Throws: `ConfigError` when `cost.prices` names a file that is no price table.
    func prices() throws -> PriceTable {
        try PriceFile.table(settings.prices)
    }

    /// Those by which archiving has to pay; `nil` but at Amazon: elsewhere nobody knows what an archived object costs. `nil`
    /// also where a setting of the store cannot be used: who opens the store says so.
    func pricesThatCount() throws -> PriceTable? {
        guard case .s3(let s3) = settings.store, (try? S3Settings(s3).isAmazon(environment: environment)) ?? false
        else { return nil }
        return try prices()
    }

    /// What of the store is read back, and what that costs.
    func verificationRule() throws -> VerificationRule {
        VerificationRule(
            percentPerDay: settings.verify.percentPerDay, maximumUSDPerMonth: settings.verify.maximumUSDPerMonth,
            cost: VerificationCost(prices: try pricesThatCount()))
    }

    /// The same for a rebuild, which no price file keeps from bringing back what is stored: where its prices cannot be
    /// used, nothing is read that costs anything by those of the program.
    func verificationRuleOfRebuild() throws -> VerificationRule {
        do {
            return try verificationRule()
        } catch let error as ConfigError {
            logger.warning("nothing is read that costs, since its price is not known: \(error)")
            return VerificationRule(
                percentPerDay: 0, maximumUSDPerMonth: 0, cost: VerificationCost(prices: try PriceFile.table()))
        }
    }

    /// What is to become of objects as they grow old.
    func tierPolicy() throws -> TierPolicy {
        var storageClass = StorageClass.standard
        if case .s3(let s3) = settings.store { storageClass = s3.storageClass }
        return TierPolicy(
            user: settings.user, mode: settings.tiers.mode, archiveAfterDays: settings.tiers.archiveAfterDays,
            originalsAfterDays: settings.tiers.originalsAfterDays,
            floor: ArchiveFloor(configured: Int64(settings.tiers.minimumArchiveBytes), prices: try pricesThatCount()),
            shareExpireDays: settings.share.expireDays, storageClass: storageClass)
    }
}
