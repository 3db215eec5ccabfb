import Glibc
import SystemPackage

/// What Python's zipfile, a reader of its own, finds in a ZIP file. It checks every CRC.
struct ZipReader {
    struct Entry: Hashable {
        var name: String
        var size: Int
        /// Seconds since 1970, of the extended timestamp (UTC).
        var modified: Int
        var isStored: Bool
    }

    private static let script = """
        import struct, sys, zipfile
        with zipfile.ZipFile(sys.argv[1]) as file:
            damaged = file.testzip()
            if damaged is not None: sys.exit("damaged: " + damaged)
            for entry in file.infolist():
                assert entry.extra[:2] == b"UT" and entry.extra[4] & 1, entry
                modified = struct.unpack("<i", entry.extra[5:9])[0]
                name = entry.filename.encode("utf-8").hex()
                print(name, entry.file_size, modified, int(entry.compress_type == 0))
        """

    let entries: [Entry]

    init(_ path: FilePath) throws {
        let text = try Self.run("python3 -c '\(Self.script)' '\(path)'")
        entries = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: false)
            guard fields.count == 4, let size = Int(fields[1]), let modified = Int(fields[2]) else { return nil }
            let name = String(decoding: Self.bytes(hex: fields[0]), as: UTF8.self)
            return Entry(name: name, size: size, modified: modified, isStored: fields[3] == "1")
        }
    }

    /// The bytes of one entry.
    static func bytes(of name: String, in path: FilePath) throws -> [UInt8] {
        let script = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).hex())"
        return bytes(hex: try run("python3 -c '\(script)' '\(path)' '\(name)'").dropLast())
    }

    private static func bytes(hex: some StringProtocol) -> [UInt8] {
        let digits = hex.utf8.map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// What a command prints (popen(3)).
    private static func run(_ command: String) throws -> String {
        guard let pipe = popen("LC_ALL=C.UTF-8 \(command)", "re") else { throw Errno(rawValue: errno) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { break }
            output += buffer.prefix(count)
        }
        guard pclose(pipe) == 0 else { throw Errno.ioError }
        return String(decoding: output, as: UTF8.self)
    }
}
