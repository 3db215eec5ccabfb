import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncWatch
import SystemPackage

/// What a pass would do: a scan on a copy of the ledger, so that nothing is sent or remembered.
struct SyncForecast: Encodable {
    struct File: Encodable {
        var path: String
        var bytes: Int64
    }

    var files: [File] = []
    var bytes: Int64 = 0
    var problems: [SyncReport.Problem] = []

    init(_ installation: Installation) async throws {
        let ledger = try installation.openLedger().copyInMemory()
        let settings = installation.settings
        let folders = try ledger.register(settings.watch)
        let pool = BlockingPool(name: "intake", threads: 1)
        // No settle time: a file that is still being written would be stored too, once it is whole.
        let pass = SyncPass(
            folders: folders, ledger: ledger, scanner: FileTreeScanner(), pool: pool, settle: .zero,
            time: installation.time)
        let intake = try await pass.takeIn()
        problems = intake.problems.map { SyncReport.Problem(path: $0.path.string, message: $0.message) }
        for folder in folders {
            try ledger.photos(at: folder.path) { photo in
                guard photo.state == .pending || photo.state == .uploading else { return }
                let size = photo.bytesLocal ?? 0
                files.append(File(path: photo.path.string, bytes: size))
                bytes += size
            }
        }
    }

    var text: String {
        var lines = problems.map { "\($0.path.escapingControls): \($0.message)" }
        lines += files.map { "would store \($0.path.escapingControls) (\(Quantities.bytes($0.bytes)))" }
        lines.append("\(Quantities.counted(files.count, "file")) to store, \(Quantities.bytes(bytes)) on the disk")
        return lines.joined(separator: "\n") + "\n"
    }
}
