import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncPages

/// How it stands, in the words of the commands.
extension GallerySite {
    /// The words of the command, but for where on this machine things lie.
    func status(_ session: String) async throws -> WebResponse {
        let terminal = Terminal(-1, isTerminal: false, [:], columns: 100)
        let lines = try await StatusReader(workspace).read().view(on: terminal).lines
        let places = try await places()
        return page("Status", .status, session, .text(lines.map(places.removed)))
    }

    /// What is shown in place of this machine's folders.
    func places() async throws -> PlaceNames {
        let known = try await ledger { try $0.overview().folders.map(\.record.path) }
        return PlaceNames(workspace.installation, others: known)
    }
}
