import FoundationEssentials
package import SystemPackage

/// Another name of a photo that a restore brings back, and where it is saved under that name.
package struct RestorePlace: Hashable, Sendable {
    /// Absolute, as the ledger knows it.
    package var path: FilePath
    /// Below the job's output.
    package var destination: FilePath

    package init(path: FilePath, destination: FilePath) {
        self.path = path
        self.destination = destination
    }
}

/// As a column keeps them: no path holds a NUL.
extension [RestorePlace] {
    var blob: Data? {
        isEmpty ? nil : Data(flatMap { $0.path.blob + [0] + $0.destination.blob + [0] })
    }

    init(blob: Data?) {
        let parts = (blob ?? Data()).split(separator: 0).map { FilePath(blob: Data($0)) }
        self = stride(from: 0, to: parts.count - 1, by: 2).map {
            RestorePlace(path: parts[$0], destination: parts[$0 + 1])
        }
    }
}
