import FoundationEssentials

/// Parses the URLs that the environment gives for credential endpoints.
enum MetadataURL {
    /// `nil` when the text is no absolute `http` or `https` URL.
    static func parse(_ text: String) -> HTTPURL? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = parts.host, !host.isEmpty, parts.user == nil
        else { return nil }
        let isBare = host.contains(":") && !host.hasPrefix("[")
        return HTTPURL(
            scheme: scheme, host: isBare ? "[\(host)]" : host.lowercased(), port: parts.port,
            path: parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath,
            query: (parts.queryItems ?? []).map { HTTPQueryItem($0.name, $0.value ?? "") })
    }

    /// Whether it is this machine by its address or its fixed name; nothing is resolved.
    static func isLoopback(_ host: String) -> Bool {
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return host == "localhost" || host == "[::1]" || (bytes.count == 4 && bytes[0] == 127 && !bytes.contains(nil))
    }
}
