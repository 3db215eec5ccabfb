import FoundationEssentials

/// Names of this process's threads, as the kernel has them (proc(5)).
package enum ThreadNames {
    package static func now(_ isMeant: (String) -> Bool = { _ in true }) -> [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { task in
            // One that ends meanwhile has no name any more.
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)).map { String($0.dropLast()) }
        }.filter(isMeant).sorted()
    }

    /// Of threads that the program starts by itself, and Swift does not.
    package static func isOfProgram(_ name: String) -> Bool {
        ofProgram.contains { name.hasPrefix($0) }
    }

    /// Beginnings, as docs/design.md lists them. `step-watch` ends by itself.
    private static let ofProgram = [
        "photos", "large-file", "intake", "disk", "notices", "ledger", "local-store", "curl", "credentials",
        "store-memory", "parts", "bodies", "other-folder", "sync-watch", "mirror", "doctor", "http-files", "NIO-ELT",
    ]
}
