import FoundationEssentials
import Logging
import ServiceLifecycle
import SyncConfig
import SyncCore
import SyncEngine
import SyncHTTP
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SystemPackage

/// The gallery of a workspace behind its server: for `serve`, and for the agent.
struct GalleryServer: Service {
    /// Seconds for which ended shares are looked after.
    private static let sweepLength: TimeInterval = 7_200
    /// Between two looks for orders.
    private static let interval = Duration.seconds(3)
    /// How long a link is offered that nobody has followed.
    private static let linkLife = Duration.seconds(43_200)
    /// After one that failed.
    private static let patience = Duration.seconds(60)

    private let address: ListenAddress
    private let site: GallerySite
    /// Of their own, as the agent's are: what is ordered on a page waits for no share that is being published.
    private let carriers = OrderServices()
    private let workspace: Workspace
    private let announce: @Sendable (Announcement) -> Void

    /// - Parameters:
    ///   - address: in place of the configured one.
    ///   - announce: is told where it is shown, when it is.
    /// - Throws: ``CommandFailure`` where it may not be shown so; ``LedgerError``, ``StoreError``.
    init(
        _ workspace: Workspace, at address: ListenAddress? = nil, isReadOnly: Bool,
        announce: @escaping @Sendable (Announcement) -> Void
    ) async throws {
        let (settings, installation) = (workspace.settings, workspace.installation)
        self.address = address ?? settings.serve.listen
        self.workspace = workspace
        self.announce = announce
        let password = try settings.serve.passwordFile.map(Self.password)
        guard self.address.isLoopback || password != nil else {
            throw CommandFailure.configuration(
                "\(self.address) can be reached by others, and the gallery has no password: name a file with one as "
                    + "serve.password_file, or listen at 127.0.0.1")
        }
        let key = try SiteAccess.key(in: installation.location.stateFolder)
        let (ledger, keys) = (try await workspace.ledger, try workspace.keys)
        let store = try await workspace.readStoreOnce()
        let hosts = SiteHosts(
            isLoopback: self.address.isLoopback, machines: [installation.machineName, ProcessEnvironment.hostName],
            base: settings.serve.baseURL?.host()
        )
        let disk = workspace.threads.disk.sibling(name: "gallery", threads: 2)
        site = GallerySite(
            workspace: workspace, ledger: ledger,
            access: SiteAccess(
                key: key, signedOut: try SignedOutSessions(in: installation.location.stateFolder), hosts: hosts,
                password: password, base: settings.serve.baseURL, time: installation.time),
            pictures: PictureCache(
                in: installation.location.stateFolder.appending("pictures"), ledger: ledger, store: store, keys: keys,
                maker: workspace.copyMaker, pool: workspace.threads.photos, disk: disk, policy: settings.photos.reduce,
                time: installation.time),
            store: store, keys: keys, policy: try installation.tierPolicy(), isReadOnly: isReadOnly,
            services: OrderServices(), links: installation.shareLinks(store), disk: disk,
            isLocal: self.address.isLoopback && settings.serve.baseURL == nil,
            sharedFiles: (store as? LocalStore).map { SharedFiles(ledger: ledger, store: $0, time: installation.time) })
    }

    /// The first line of a file that only its owner reads.
    static func password(_ file: FilePath) throws -> String {
        func failure(_ reason: String) -> CommandFailure {
            CommandFailure.configuration("serve.password_file: \(file): \(reason)")
        }
        let bytes: [UInt8]
        do {
            let descriptor = try FileDescriptor.opened(file, .readOnly, [.closeOnExec])
            defer { try? descriptor.close() }
            guard
                try FileStatus(of: descriptor).permissions.isDisjoint(with: [
                    .groupReadWriteExecute, .otherReadWriteExecute,
                ])
            else { throw failure("others can read it; chmod 600 it") }
            bytes = try descriptor.bytes(atMost: 4_096)
        } catch let error as Errno {
            throw failure("\(error)")
        }
        let line = bytes.dropFirst(bytes.utf8MarkLength).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let password = String(validating: line, as: UTF8.self), password.count >= 8 else {
            throw failure("its first line is no password of 8 characters or more")
        }
        return password
    }

    /// Shows it, and carries out what was ordered on its pages while no agent does.
    /// - Throws: ``CommandFailure`` where it cannot listen, or all was moved to another store.
    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await listen() }
                    group.addTask { try await carryOutOrders() }
                    group.addTask { try await endWhenMoved() }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        } catch is CancellationError {
            // Told to stop.
        }
    }

    /// What is open here is the store of before then. While an agent shows the gallery, nobody moves anything.
    private func endWhenMoved() async throws {
        let ledger = try await workspace.ledger
        var known: String?
        while true {
            let glance = await LedgerGlance(ledger, time: workspace.time)
            do {
                let bound = try await ledger { try $0.boundStore() }
                if let known, let bound, known.inBytes != bound.inBytes {
                    throw CommandFailure.configuration(
                        "what is stored is in \(bound) now (move-store): start the gallery again")
                }
                known = known ?? bound
            } catch is LedgerError {
                // It may be busy, or on a disk that is full: the next look tells.
                try await workspace.time.sleep(Self.interval)
                continue
            }
            await glance.wait(lookingEvery: Self.interval)
            try Task.checkCancellation()
        }
    }

    /// As the agent does, with its services, as long as there is something to do and no agent.
    private func carryOutOrders() async throws {
        let ledger = try await workspace.ledger
        while !site.isReadOnly {
            do {
                let glance = await LedgerGlance(ledger, time: workspace.time)
                guard try await isAnyUnderWay() else {
                    await glance.wait(lookingEvery: Self.interval)
                    try Task.checkCancellation()
                    continue
                }
                try await carryOutOnce()
            } catch let failure where !(failure is CancellationError) {
                workspace.logger.warning("what was ordered here waits: \(failure)")
                try await workspace.time.sleep(Self.patience)
            }
            try await workspace.time.sleep(Self.interval)
        }
        try await workspace.time.sleep(.seconds(Int64.max / 2))
    }

    private func carryOutOnce() async throws {
        guard try await isOurs() else { return }
        let services = try await carriers.shares(workspace)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.restores.service.run() }
            group.addTask { try await services.service.run() }
            group.addTask {
                repeat { try await workspace.time.sleep(Self.interval) } while try await isOurs()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Whether something is under way, and nobody else is at it.
    private func isOurs() async throws -> Bool {
        guard try await isAnyUnderWay() else { return false }
        return try await site.disk.run { [workspace] in try !workspace.installation.agentRuns() }
    }

    /// Whether something is under way. Only what is written to the ledger begins anything.
    private func isAnyUnderWay() async throws -> Bool {
        let ledger = try await workspace.ledger
        // What was just taken back is looked through once more, and what is back is told.
        let since = workspace.time.now().addingTimeInterval(-Self.sweepLength)
        return try await ledger { ledger in
            let isIdle =
                try ledger.unendedShares().isEmpty && ledger.openRestoreJobs().isEmpty
                && ledger.untoldRestoreJobs().isEmpty && ledger.shares(endedAfter: since).isEmpty
            return !isIdle
        }
    }

    /// Pages read; what time does to restores is noted here, for all of them.
    private func endRestores() async throws {
        let ledger = try await workspace.ledger
        while true {
            let glance = await LedgerGlance(ledger, time: workspace.time)
            do {
                let now = workspace.time.now()
                let end = try await ledger { ledger in
                    try ledger.expireRestores(at: now)
                    return try ledger.nextRestoreEnd()
                }
                await glance.wait(lookingEvery: Self.interval, until: end)
                try Task.checkCancellation()
            } catch let failure where !(failure is CancellationError) {
                workspace.logger.warning("which restores have ended is not noted: \(failure)")
                try await workspace.time.sleep(Self.patience)
            }
        }
    }

    fileprivate func listen() async throws {
        let server = HTTPServer(address: address, handler: site, logger: workspace.logger)
        let home = Lock<String?>(nil)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await server.run { bound in
                        let told = workspace.installation.galleryHome(boundTo: bound)
                        home.withLock { $0 = told }
                        announce(Announcement(home: told, access: site.access, isFirst: true))
                    }
                }
                group.addTask { try await endRestores() }
                // Each link opens once, and whoever comes next needs another one.
                group.addTask {
                    while true {
                        await site.access.followed.wait(atMost: Self.linkLife, time: workspace.time)
                        try Task.checkCancellation()
                        guard let told = home.withLock({ $0 }) else { continue }
                        announce(Announcement(home: told, access: site.access, isFirst: false))
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as HTTPServerError {
            throw CommandFailure.failed("\(error)")
        }
    }
}

/// The gallery of the agent. Whatever keeps it from being shown is told once and tried again: photos are stored all the same.
struct GalleryService: Service {
    private static let pause = Duration.seconds(60)

    let workspace: Workspace

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                var told: String?
                var server: GalleryServer?
                while true {
                    do {
                        // Once it is there, it is kept: so is what it opened.
                        let made = if let server { server } else { try await make() }
                        server = made
                        try await made.listen()
                    } catch let failure where !(failure is CancellationError) {
                        let words = "the gallery is not shown: \(failure)"
                        if told != words { workspace.logger.warning("\(words)") }
                        told = words
                    }
                    try await workspace.time.sleep(Self.pause)
                }
            }
        } catch is CancellationError {
            // Told to stop.
        }
    }

    private func make() async throws -> GalleryServer {
        let file = workspace.installation.location.stateFolder.appending("gallery.url")
        return try await GalleryServer(workspace, isReadOnly: false) { [logger = workspace.logger] shown in
            // Whoever may read the log need not see the photos.
            let link = "\(shown.link)\n"
            do {
                _ = try NewFile.save(link.utf8, to: file, permissions: .ownerReadWrite, overwrites: true)
            } catch {
                logger.warning("\(file) cannot be written: \(error)")
            }
            guard shown.isFirst else { return }
            logger.notice(
                "the gallery is at \(shown.home); the address that opens it once, within a day, is in \(file)")
        }
    }
}

/// Where a gallery is shown, and what opens it.
struct Announcement: Sendable {
    /// Ends in a slash.
    let home: String
    /// An address that signs one browser in.
    let link: String
    /// Else a link that was followed, or is about to end, is replaced.
    let isFirst: Bool

    init(home: String, access: SiteAccess, isFirst: Bool) {
        self.home = home
        self.isFirst = isFirst
        link = "\(home)?token=\(access.newLinkToken())"
    }
}

extension Installation {
    /// Where people find the gallery while the agent runs; `nil` where it is not known, or there is none.
    var galleryOfAgent: String? {
        guard settings.serve.isEnabled || settings.serve.baseURL != nil, settings.serve.listen.port != 0 else {
            return nil
        }
        return galleryHome(boundTo: settings.serve.listen)
    }

    /// How people write the address of a gallery that listens there.
    func galleryHome(boundTo address: ListenAddress) -> String {
        // The proxy leads to the configured address, where another process may be.
        if address == settings.serve.listen, let base = settings.serve.baseURL?.absoluteString {
            return base.hasSuffix("/") ? base : base + "/"
        }
        return "http://\(address.reached(by: ProcessEnvironment.hostName))/"
    }
}
