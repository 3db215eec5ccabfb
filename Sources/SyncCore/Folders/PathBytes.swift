package import SystemPackage

/// Names on Linux are bytes, and need not be text. Whoever makes a path out of a part of another one does it with these:
/// by way of `String`, each byte that is no UTF-8 becomes the same U+FFFD, and two files one.
extension FilePath {
    package var bytes: [UInt8] { withPlatformString { Array(nulTerminated: $0) } }

    /// - Parameter bytes: up to the first NUL.
    package init(bytes: some Sequence<UInt8>) {
        self = Array(bytes).withNulTerminator { FilePath(platformString: $0) }
    }

    /// What a person wrote, from ``RawText``.
    package init(argument: String) {
        self.init(bytes: RawText.bytes(of: argument))
    }

    /// The path for people and reports: a byte that is no UTF-8 is told as `\xff`, so that two names stay two.
    package var text: String { RawText.shown(RawText.text(of: bytes)) }

    /// Whether a text can hold it: where there is none, as in the configuration, the path cannot be told.
    package var isText: Bool { !RawText.isRaw(RawText.text(of: bytes)) }

    /// Whether it leads nowhere but down: no `.` and no `..` in it. What somebody else has written is held against this before
    /// a path is made of it.
    package var leadsDown: Bool { components.allSatisfy { $0.kind == .regular } }

    /// Whether it names something below whatever folder it is put behind.
    package var isBelowAnyFolder: Bool { isRelative && !isEmpty && leadsDown }

    /// As `removingLastComponent()`. For what every command asks: that one looks up at run time what the indices of a path
    /// are, and the first time a process does, Swift goes through all conformances of the program.
    package var containingFolder: FilePath {
        var bytes = self.bytes
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        // The root is in itself.
        bytes.removeLast(bytes.count - max(slash, 1))
        return FilePath(bytes: bytes)
    }

    /// The path below `root`, empty for the root itself; the path as it is when it does not lie below, as one that is
    /// relative already.
    package func relative(to root: FilePath) -> FilePath {
        var path = self
        _ = path.removePrefix(root)
        return path == "." ? "" : path
    }
}

extension FilePath.Component {
    package var bytes: [UInt8] { withPlatformString { Array(nulTerminated: $0) } }

    /// `nil` when this is not one name.
    package init?(bytes: some Sequence<UInt8>) {
        guard let name = Array(bytes).withNulTerminator({ FilePath.Component(platformString: $0) }) else { return nil }
        self = name
    }

    /// As that of a path.
    package var text: String { RawText.shown(RawText.text(of: bytes)) }
}

extension [UInt8] {
    fileprivate init(nulTerminated text: UnsafePointer<CChar>) {
        var end = 0
        while text[end] != 0 { end += 1 }
        self.init(UnsafeRawBufferPointer(start: text, count: end))
    }

    fileprivate func withNulTerminator<Value>(_ body: ([CInterop.PlatformChar]) -> Value) -> Value {
        body(prefix { $0 != 0 }.map { CInterop.PlatformChar(bitPattern: $0) } + [0])
    }
}

/// Bytes as text and back, whatever they are: what is UTF-8 is itself, and each other byte is one scalar of a private range.
///
/// The words of the command line take this form on their way through the parser, which knows `String` only. Bytes that
/// spell a scalar of that range are written as such scalars too, so that no two words of other bytes are one text.
package enum RawText {
    /// That of the byte 0. None of them is an ASCII one.
    private static let first: UInt32 = 0x10FE00
    private static let scalars = (first + 0x80)...(first + 0xFF)

    package static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !isRaw(text) { return text }
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        while !rest.isEmpty {
            if let scalar = firstScalar(of: rest), !scalars.contains(scalar.value) {
                text.append(scalar)
                rest = rest.dropFirst(UTF8.width(scalar))
            } else {
                Unicode.Scalar(first + UInt32(rest.removeFirst())).map { text.append($0) }
            }
        }
        return String(text)
    }

    package static func bytes(of text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar in byte(scalar).map { [$0] } ?? Array(UTF8.encode(scalar) ?? .init()) }
    }

    /// Whether the bytes of it are no text.
    package static func isRaw(_ text: String) -> Bool {
        text.unicodeScalars.contains { byte($0) != nil }
    }

    /// The text for people: each such byte as `\xff`.
    package static func shown(_ text: String) -> String {
        text.escaping({ byte($0) != nil }) { scalar in byte(scalar).map { "\\x" + String($0, radix: 16) } ?? "" }
    }

    private static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        scalars.contains(scalar.value) ? UInt8(scalar.value - first) : nil
    }

    private static func firstScalar(of bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
        for length in 1...min(4, bytes.count) {
            guard let text = String(validating: bytes.prefix(length), as: UTF8.self) else { continue }
            return text.unicodeScalars.first
        }
        return nil
    }
}
