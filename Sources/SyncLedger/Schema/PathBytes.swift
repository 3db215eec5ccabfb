import FoundationEssentials
import Glibc
import SystemPackage

extension FilePath {
    /// As the ledger keeps a path: its bytes.
    var blob: Data { withPlatformString { Data(bytes: $0, count: strlen($0)) } }

    init(blob: Data) {
        self = (blob.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { FilePath(platformString: $0) } ?? FilePath()
        }
    }

    /// As the ledger keeps a directory below its folder: `/` for the folder itself, else `/trips/rome`. The folder so
    /// comes before all that is below it, and everything below a directory is one range.
    var directoryBlob: Data { [UInt8(ascii: "/")] + blob }

    init(directoryBlob: Data) {
        self.init(blob: directoryBlob.dropFirst())
    }

    /// The path below `root`, which may be given as absolute or as relative already.
    func relative(to root: FilePath) -> FilePath {
        var path = self
        if path.isAbsolute { _ = path.removePrefix(root) }
        return path == "." ? "" : path
    }
}

extension FilePath.Component {
    var bytes: [UInt8] { withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } }
}

/// What lies below a directory, itself left out: the paths after `from` and before `to`, in the order of bytes.
struct SubtreeRange {
    let from: Data
    let to: Data

    init(below directory: FilePath) {
        let path = directory.directoryBlob
        let slash = UInt8(ascii: "/")
        from = directory.isEmpty ? path : path + [slash]
        to = from.dropLast() + [slash + 1]
    }
}
