import SystemPackage

/// Small files of proc(5).
enum ProcFile {
    /// The text; `nil` where the file cannot be read.
    static func text(_ path: FilePath) -> String? {
        bytes(path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes; `nil` where the file cannot be read.
    static func bytes(_ path: FilePath) -> [UInt8]? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else { return nil }
        return try? file.closeAfter {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
                guard count > 0 else { return bytes }
                bytes.append(contentsOf: buffer[..<count])
            }
        }
    }

    /// The number that the file holds.
    static func number(_ path: FilePath) -> Int? {
        text(path)?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
    }
}
