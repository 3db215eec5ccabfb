/// Where a server of pages listens: `127.0.0.1:8420`, `[::1]:8420`, `0.0.0.0:8420`, `localhost:8420`.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// As it was written, in lower case: a dotted IPv4 address, an IPv6 address without brackets, or `localhost`.
    package let host: String
    /// 0 is any free one.
    package let port: Int
    /// Whether only this machine can reach it.
    package let isLoopback: Bool

    /// - Throws: ``ListenAddressError``, which says what is accepted.
    package init(_ text: String) throws(ListenAddressError) {
        guard let colon = text.lastIndex(of: ":") else { throw ListenAddressError(text: text) }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isDigit), let port = Int(digits) else {
            throw ListenAddressError(text: text)
        }
        var host = text[..<colon]
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]") && host.utf8.count > 2
        if hasBrackets { host = host.dropFirst().dropLast() }
        guard let address = ListenAddress(host: host.lowercased(), port: port), hasBrackets == address.isIPv6 else {
            throw ListenAddressError(text: text)
        }
        self = address
    }

    /// - Parameter host: an address, an IPv6 one without brackets, or `localhost`.
    /// - Returns: `nil` when it is anything else, or there is no such port.
    package init?(host: String, port: Int) {
        guard (0...65_535).contains(port) else { return nil }
        if host == "localhost" {
            isLoopback = true
        } else if let address = Self.version4(host[...]) {
            isLoopback = address[0] == 127
        } else if let groups = Self.version6(host) {
            let isMapped = groups[..<6] == [0, 0, 0, 0, 0, 0xFFFF]
            isLoopback = groups == [0, 0, 0, 0, 0, 0, 0, 1] || isMapped && groups[6] >> 8 == 127
        } else {
            return nil
        }
        (self.host, self.port) = (host, port)
    }

    package var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }

    /// How others in the network write it: where it is every address of this machine, by the name that mDNS gives it
    /// (RFC 6762, 3).
    package func reached(by machine: String) -> String {
        let isAny = host == "0.0.0.0" || isIPv6 && host.allSatisfy { $0 == "0" || $0 == ":" }
        guard isAny else { return description }
        let name = machine.lowercased()
        return "\(name.contains(".") ? name : "\(name).local"):\(port)"
    }

    /// As it is written in front of the path of a link.
    package var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        // A zero in front is octal to some readers.
        let bytes = parts.compactMap { part -> UInt8? in
            guard part.utf8.allSatisfy(\.isDigit), part == "0" || !part.hasPrefix("0") else { return nil }
            return UInt8(part)
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    /// The eight groups of RFC 4291, 2.2. A zone (`%eth0`) is not accepted.
    private static func version6(_ text: String) -> [UInt16]? {
        guard let gap = text.firstRange(of: "::") else {
            let groups = groups(text[...])
            return groups?.count == 8 ? groups : nil
        }
        guard let first = groups(text[..<gap.lowerBound]), let last = groups(text[gap.upperBound...]),
            first.count + last.count < 8
        else { return nil }
        return first + Array(repeating: 0, count: 8 - first.count - last.count) + last
    }

    private static func groups(_ text: Substring) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var tail: [UInt16] = []
        if let last = parts.last, last.contains(".") {
            guard let bytes = version4(last) else { return nil }
            tail = [UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3])]
            parts.removeLast()
        }
        let groups = parts.compactMap { part -> UInt16? in
            guard (1...4).contains(part.utf8.count), !part.hasPrefix("+") else { return nil }
            return UInt16(part, radix: 16)
        }
        return groups.count == parts.count ? groups + tail : nil
    }
}

/// A text that is no ``ListenAddress``.
package struct ListenAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package var description: String {
        "\"\(text.escapingControls)\" is no address to listen at: "
            + "write 127.0.0.1:8420, [::1]:8420, 0.0.0.0:8420 or localhost:8420"
    }
}
