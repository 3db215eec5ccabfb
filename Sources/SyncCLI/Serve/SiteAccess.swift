import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncSystem
import SystemPackage

/// Who may see the gallery: whoever followed a link that was printed for them, or knows the password. What a browser is
/// given is signed by a key that never leaves the state folder, so that a restart signs nobody out.
final class SiteAccess: Sendable {
    static let cookie = "sync_agent_session"
    /// How long a browser stays signed in.
    private static let sessionLength: TimeInterval = 90 * 86_400
    /// How long a printed link can be followed.
    private static let linkLength: TimeInterval = 86_400
    /// Wrong passwords from one address, and from all, within ``passwordWindow``.
    private static let wrongFromOne = 5
    private static let wrongFromAll = 50
    private static let passwordWindow: TimeInterval = 300

    /// Bytes.
    private static let keyLength = 32

    private struct State {
        /// Links that were followed, until they would have ended anyway.
        var used: [String: Int64] = [:]
        var wrong: [(client: String, at: Date)] = []
    }

    private let key: [UInt8]
    /// Another password signs everybody out.
    private let sessionKey: [UInt8]
    /// Of this process: a link that was followed is none for the next one either.
    private let linkKey: [UInt8]
    private let hosts: SiteHosts
    /// HMAC of the password; `nil` where there is none.
    private let password: [UInt8]?
    /// How browsers reach a proxy in front of it; `nil` where there is none.
    private let base: URL?
    private let time: TimeSource
    private let signedOut: SignedOutSessions
    private let state = Lock(State())
    /// Signalled when a link was followed.
    let followed = Wakeup()

    init(
        key: [UInt8], signedOut: SignedOutSessions, hosts: SiteHosts, password: String?, base: URL?, time: TimeSource
    ) {
        self.key = key
        self.signedOut = signedOut
        linkKey = Self.random()
        self.hosts = hosts
        self.base = base
        let password = password.map { HMACSHA256.code(of: "password|\($0)", key: key) }
        sessionKey = HMACSHA256.code(of: "session|\(password?.hexadecimal ?? "")", key: key)
        self.password = password
        self.time = time
    }

    /// The key of this installation; made when there is none.
    /// - Throws: `Errno`, ``FolderError``.
    static func key(in folder: FilePath) throws -> [UInt8] {
        let path = folder.appending("serve.key")
        for _ in 0..<2 {
            if let file = try? FileDescriptor.opened(path, .readOnly, [.noFollow, .closeOnExec]) {
                defer { try? file.close() }
                let bytes = try file.bytes(atMost: 64)
                if bytes.count == keyLength { return bytes }
            }
            try Folder.make(folder, permissions: .ownerReadWriteExecute)
            let bytes = random()
            if try NewFile.save(bytes, to: path, permissions: .ownerReadWrite, overwrites: false) { return bytes }
            // Another process was quicker; or it is no key.
            if let stamp = FileStamp.ofFile(path), stamp.size != keyLength { try path.unlink() }
        }
        throw Errno.ioError
    }

    private static func random() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<keyLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    // MARK: Signing in

    /// A text that signs one browser in, once.
    func newLinkToken() -> String { signed("link", by: linkKey, until: time.now().addingTimeInterval(Self.linkLength)) }

    /// - Returns: what the browser is to keep; `nil` for a token that is not ours, too old, or was followed before.
    func follow(_ token: String) -> String? {
        guard let end = checked(token, "link", by: linkKey) else { return nil }
        let now = Self.milliseconds(time.now())
        let isFirst = state.withLock { state in
            state.used = state.used.filter { $0.value > now }
            return state.used.updateValue(end, forKey: token) == nil
        }
        guard isFirst else { return nil }
        followed.signal()
        return newSession()
    }

    var takesPassword: Bool { password != nil }

    /// - Returns: what the browser is to keep.
    func signIn(_ text: String, by request: WebRequest) throws(TooManyTries) -> String? {
        let (client, now) = (client(of: request), time.now())
        let isRefused = state.withLock { state in
            state.wrong.removeAll { now.timeIntervalSince($0.at) > Self.passwordWindow }
            return state.wrong.count >= Self.wrongFromAll
                || state.wrong.count { $0.client == client } >= Self.wrongFromOne
        }
        guard !isRefused else { throw TooManyTries() }
        guard let password, Self.isEqual(HMACSHA256.code(of: "password|\(text)", key: key), password) else {
            state.withLock { $0.wrong.append((client, now)) }
            return nil
        }
        return newSession()
    }

    /// Who asks: what the proxy on this machine says, where there is one, else where the connection comes from.
    private func client(of request: WebRequest) -> String {
        let peer = request.peer ?? ""
        guard base != nil, ListenAddress(host: peer, port: 0)?.isLoopback == true,
            // It puts the address that it sees behind whatever its client says.
            let told = request.headers.last(where: { $0.name == "x-forwarded-for" })?.value.split(separator: ",").last
        else { return peer }
        return String(told.filter { $0 != " " })
    }

    /// Wrong passwords: for some minutes none is looked at.
    struct TooManyTries: Error {}

    private func newSession() -> String {
        signed("session", by: sessionKey, until: time.now().addingTimeInterval(Self.sessionLength))
    }

    /// No copy of it is of any use any more. Blocks, until that holds after a restart, too.
    /// - Throws: `Errno` where it holds for this process alone.
    func signOut(_ session: String) throws {
        guard let end = checked(session, "session", by: sessionKey) else { return }
        signedOut.insert(Self.unsigned(session), until: end)
        try signedOut.save(now: Self.milliseconds(time.now()))
    }

    private static func unsigned(_ text: String) -> String {
        String(text.prefix(upTo: text.lastIndex(of: ".") ?? text.endIndex))
    }

    /// The header that has a browser keep a session, or forget it.
    func cookieHeader(_ session: String?) -> WebRequest.Field {
        let length = session == nil ? 0 : Int(Self.sessionLength)
        let secure = base?.scheme == "https" ? "; Secure" : ""
        return WebRequest.Field(
            "Set-Cookie",
            "\(Self.cookie)=\(session ?? ""); Path=/; Max-Age=\(length); HttpOnly; SameSite=Strict\(secure)")
    }

    // MARK: Asking

    /// The session of a request.
    func session(of request: WebRequest) -> String? {
        request.headers.lazy.filter { $0.name == "cookie" }.flatMap { $0.value.split(separator: ";") }
            .compactMap { pair -> String? in
                let pair = pair.drop { $0 == " " }
                guard pair.hasPrefix("\(Self.cookie)=") else { return nil }
                return String(pair.dropFirst(Self.cookie.count + 1))
            }.first { session in
                checked(session, "session", by: sessionKey) != nil && !signedOut.contains(Self.unsigned(session))
            }
    }

    func isOwnHost(_ request: WebRequest) -> Bool {
        request.header("host").map(hosts.contains) ?? false
    }

    /// What each form of a session's pages sends along.
    func formToken(_ session: String) -> String {
        HMACSHA256.code(of: "form|\(session)", key: key).hexadecimal
    }

    /// Whether a browser says that a page from elsewhere sent it (Fetch Metadata; RFC 6454, 7).
    func isForeign(_ request: WebRequest) -> Bool {
        if let site = request.header("sec-fetch-site"), site != "same-origin", site != "none" { return true }
        guard let origin = request.header("origin") else { return false }
        // `null` stands for one that may not be told.
        return !(origin.firstRange(of: "://").map { hosts.contains(String(origin[$0.upperBound...])) } ?? false)
    }

    /// Whether a form was on a page of this session: it has its token, and the browser names no other origin.
    func isOwnForm(_ form: WebForm, of request: WebRequest, session: String) -> Bool {
        !isForeign(request)
            && Self.isEqual(Array((form["form"] ?? "").utf8), Array(formToken(session).utf8))
    }

    // MARK: Signed texts: `{end in milliseconds}.{random}.{HMAC}`

    private func signed(_ purpose: String, by key: [UInt8], until end: Date) -> String {
        let body = "\(Self.milliseconds(end)).\(String(UInt64.random(in: .min ... .max), radix: 36))"
        return "\(body).\(HMACSHA256.code(of: "\(purpose)|\(body)", key: key).hexadecimal)"
    }

    /// - Returns: when it ends, in milliseconds; `nil` for one that is not ours or has ended.
    private func checked(_ text: String, _ purpose: String, by key: [UInt8]) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let end = Int64(parts[0]), end > Self.milliseconds(time.now()) else { return nil }
        let code = HMACSHA256.code(of: "\(purpose)|\(parts[0]).\(parts[1])", key: key).hexadecimal
        return Self.isEqual(Array(code.utf8), Array(parts[2].utf8)) ? end : nil
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1_000) }

    /// In a time that tells nothing of where they differ.
    private static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The names under which the gallery may be asked for: a browser sends the one in its address line.
struct SiteHosts: Sendable {
    /// In lower case, without ports.
    private let names: Set<String>
    /// - Parameters:
    ///   - isLoopback: only this machine is asked.
    ///   - machines: its names.
    ///   - base: the host of `serve.base_url`.
    init(isLoopback: Bool, machines: [String], base: String?) {
        var names: Set = ["localhost"]
        if !isLoopback {
            names.formUnion(machines.flatMap { [$0.lowercased(), "\($0.lowercased()).local"] })
        }
        if let base { names.insert(base.lowercased()) }
        self.names = names
    }

    /// Addresses in digits are always taken: no name server is asked for them, and none can lead a browser astray.
    /// - Parameter header: `Host` (RFC 9110, 7.2): a name or address, and maybe a port.
    func contains(_ header: String) -> Bool {
        let name: Substring
        let port = header.drop { $0 != (header.hasPrefix("[") ? "]" : ":") }.drop { $0 == "]" }
        guard port.isEmpty || port.hasPrefix(":") && port.dropFirst().allSatisfy({ ("0"..."9").contains($0) }) else {
            return false
        }
        if header.hasPrefix("[") {
            name = header.prefix { $0 != "]" }.dropFirst()
            return !name.isEmpty && name.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        name = header.prefix { $0 != ":" }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) { return true }
        return names.contains(name.lowercased())
    }
}

/// The fields of a form (application/x-www-form-urlencoded, WHATWG URL).
struct WebForm: Sendable {
    private let fields: [WebRequest.Field]

    /// `nil` for a body that is none.
    init?(_ request: WebRequest) {
        let type = (request.header("content-type") ?? "").prefix { $0 != ";" }
        guard type == "application/x-www-form-urlencoded" else { return nil }
        var fields: [WebRequest.Field] = []
        for pair in request.body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = [UInt8](parts[0]).percentDecoded(plusIsSpace: true),
                let value = [UInt8](parts.count > 1 ? parts[1] : Data()).percentDecoded(plusIsSpace: true)
            else { return nil }
            fields.append(WebRequest.Field(name, value))
        }
        self.fields = fields
    }

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}

/// Sessions that were signed out, kept in a file until they would have ended anyway: no restart lets one in again.
final class SignedOutSessions: Sendable {
    /// Bytes. Each takes 30, and whoever signs out was signed in.
    private static let mostBytes = 1 << 20

    private let path: FilePath
    /// When each would have ended, in milliseconds since 1970.
    private let ends: Lock<[String: Int64]>
    /// Held by whoever writes the file.
    private let writing = Lock(())

    /// - Throws: `Errno` where there is a file that cannot be read.
    init(in folder: FilePath) throws {
        path = folder.appending("serve.signed-out")
        ends = Lock(try Self.read(path))
    }

    /// - Parameter session: without its signature.
    func contains(_ session: String) -> Bool { ends.withLock { $0[session] != nil } }

    /// It counts from now on in this process, and after ``save(now:)`` in each.
    func insert(_ session: String, until end: Int64) { ends.withLock { $0[session] = end } }

    /// Blocks.
    /// - Parameter now: in milliseconds since 1970.
    /// - Throws: `Errno`.
    func save(now: Int64) throws {
        try writing.withLock { _ in
            // Another process may have signed some out.
            let others = try Self.read(path)
            let kept = ends.withLock { ends in
                ends = ends.merging(others) { one, _ in one }.filter { $0.value > now }
                return ends
            }
            let text = kept.map { "\($0.value) \($0.key)\n" }.sorted().joined()
            _ = try NewFile.save(text.utf8, to: path, permissions: .ownerReadWrite, overwrites: true)
        }
    }

    private static func read(_ path: FilePath) throws -> [String: Int64] {
        let bytes: [UInt8]
        do {
            let file = try FileDescriptor.opened(path, .readOnly, [.noFollow, .closeOnExec])
            defer { try? file.close() }
            bytes = try file.bytes(atMost: mostBytes)
        } catch Errno.noSuchFileOrDirectory {
            return [:]
        }
        var ends: [String: Int64] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2, let end = Int64(parts[0]) { ends[String(parts[1])] = end }
        }
        return ends
    }
}
