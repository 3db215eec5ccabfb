import ArgumentParser
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncPhone
import SyncSystem
import SystemPackage

/// What archived photos are listed and saved with. The store alone is needed: names of profiles come from the ledger where
/// there is one, and no lock is taken.
struct ArchiveServices: Sendable {
    /// With retries.
    let store: any ObjectStore
    let list: ArchiveListing
    let book: ProfileBook

    init(_ workspace: Workspace) async throws {
        let installation = workspace.installation
        let share = installation.settings.share
        let (ledger, known) = await Self.openLedger(workspace) { try $0.profileBook(share) }
        store = workspace.keep(try installation.makeReadStore(ledger?.ledger))
        list = ArchiveListing(
            store: store, keys: try KeyLayout(user: installation.settings.user),
            index: ledger.map { ArchiveIndex(ledger: $0, time: workspace.time) })
        book =
            known
            ?? ProfileBook(
                [], phones: LibPhoneNumbers(), region: share.phoneRegion,
                // Without a ledger nothing was ever given one here.
                pseudonyms: Pseudonyms(key: [0]))
    }

    /// - Parameter last: the key of the last photo of the page before.
    func page(
        _ options: ArchiveOptions, after last: String?, limit: Int?, _ workspace: Workspace
    ) async throws -> ArchivePage {
        let line = ProgressLine(workspace.console.errors, time: workspace.time, elsewhere: .nothing)
        defer { line.finish() }
        do {
            let page = try await list.page(
                options.filter(book), after: try last.map { try ObjectKey($0) }, limit: limit
            ) { seen in
                line.update { _ in "\(Quantities.counted(seen, "photo")) checked" }
            }
            line.finish()
            for problem in page.problems {
                workspace.console.errors.writeLine("\(problem.key.rawValue): \(problem.reason)".escapingControls)
            }
            return page
        } catch let error as ArchiveListing.UnknownPhoto {
            throw CommandFailure(.noSuchPath, "\(error); list from the beginning, without --after")
        } catch let error as InvalidName {
            throw CommandFailure(.usage, "--after: \(error)")
        }
    }

    private static func openLedger(
        _ workspace: Workspace, _ book: @escaping @Sendable (Ledger) throws -> ProfileBook
    ) async -> (LedgerQueue?, ProfileBook?) {
        // Else nothing was ever stored, or looked up, from this machine.
        guard workspace.installation.ledgerFile.allows([]) else { return (nil, nil) }
        do {
            let ledger = try await workspace.ledger
            return (ledger, try await ledger(book))
        } catch {
            workspace.logger.warning("names of profiles cannot be shown: \(error)")
            return (nil, nil)
        }
    }
}

/// Which archived photos a command is about.
struct ArchiveOptions: ParsableArguments {
    @Option(help: "Only this profile: its id, its telephone number or its name.")
    var profile: String?

    @Option(help: ArgumentHelp("Only events created on this day or later, UTC.", valueName: "yyyy-mm-dd"))
    var from: CalendarDay?

    @Option(help: ArgumentHelp("Only events created on this day or earlier, UTC.", valueName: "yyyy-mm-dd"))
    var to: CalendarDay?

    @Option(help: "Only events of this type, such as taskResponse.")
    var type: GalleryEventType?

    func validate() throws {
        if let from, let to, to < from { throw ValidationError("--to is before --from") }
        if let profile, profile.isEmpty { throw ValidationError("--profile takes an id, a number or a name") }
    }

    func filter(_ book: ProfileBook) -> ArchiveFilter {
        // The id of a known profile is in its one form already.
        let ignoresCase = profile.map { !book.isKnown($0) } ?? false
        return ArchiveFilter(
            profiles: profile.map { book.keyNames(of: $0) }, ignoresCase: ignoresCase, from: from, to: to, type: type)
    }
}

extension CalendarDay: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

extension GalleryEventType: ExpressibleByArgument {}
