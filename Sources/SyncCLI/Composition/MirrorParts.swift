import SyncConfig
import SyncCore
import SyncEngine
import SyncS3
import SyncSystem
import SystemPackage

/// What `mirror` is put together from. It needs no ledger and takes no lock of the agent; with a link, no configuration
/// is read either.
struct MirrorParts: Sendable {
    let mirror: ShareMirror
    let time: TimeSource

    init(
        _ reference: ShareReference, to folder: FilePath, options: ShareMirror.Options, _ global: GlobalOptions,
        environment: [String: String] = ProcessEnvironment.current, time: TimeSource = .system
    ) throws {
        let source: any ShareSource =
            switch reference {
            case .id(let id):
                StoredShareSource(
                    id, in: try Installation(global, environment: environment, time: time).makeReadStore(nil))
            case .link(let link): LinkedShareSource(link, transport: try Self.transport(environment))
            }
        self.time = time
        mirror = ShareMirror(
            source, asked: reference.shareID, to: folder, options: options,
            pool: BlockingPool(name: "mirror", threads: 3), time: time)
    }

    private static func transport(_ environment: [String: String]) throws -> CurlTransport {
        let bundle = ["AWS_CA_BUNDLE", "SSL_CERT_FILE"].compactMap { environment[$0] }.first { !$0.isEmpty }
        do {
            return try CurlTransport(settings: TransportSettings(caBundle: bundle))
        } catch {
            throw CommandFailure(.failed, error.message)
        }
    }
}
