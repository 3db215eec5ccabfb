import Foundation
import SystemPackage

/// The program under test.
enum AgentBinary {
    /// `SYNC_AGENT_BINARY`; else the `sync-agent` that the build has put beside the test bundle, which is what runs here.
    static let path: FilePath = {
        if let named = ProcessInfo.processInfo.environment["SYNC_AGENT_BINARY"], !named.isEmpty {
            return FilePath(FileManager.default.currentDirectoryPath).pushing(FilePath(named))
        }
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return FilePath(bundle).removingLastComponent().appending("sync-agent")
    }()
}
