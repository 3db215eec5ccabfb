import FoundationEssentials
import SyncCore
import SyncTestSupport
import Testing

@testable import SyncCLI

@Suite struct SiteAccessTests {
    private let clock = ManualTime()

    private let folder: TemporaryTree

    init() throws { folder = try TemporaryTree() }

    /// Of one installation.
    private func access(key: UInt8 = 1, password: String? = nil, base: String? = nil) throws -> SiteAccess {
        SiteAccess(
            key: [UInt8](repeating: key, count: 32), signedOut: try SignedOutSessions(in: folder.root),
            hosts: SiteHosts(isLoopback: true, machines: ["box"], base: nil),
            password: password, base: base.flatMap { URL(string: $0) }, time: clock.source)
    }

    private func request(cookie: String? = nil, host: String = "127.0.0.1:8420", site: String? = nil, form: String = "")
        -> WebRequest
    {
        var headers = [WebRequest.Field("host", host), .init("content-type", "application/x-www-form-urlencoded")]
        if let cookie { headers.append(.init("cookie", "a=b; \(SiteAccess.cookie)=\(cookie)")) }
        if let site { headers.append(.init("sec-fetch-site", site)) }
        return WebRequest(.post, ["restores"], headers: headers, body: Data(form.utf8))
    }

    @Test func `a link signs one browser in, once`() throws {
        let access = try access()
        let token = access.newLinkToken()
        let session = try #require(access.follow(token))
        #expect(access.follow(token) == nil)
        #expect(access.session(of: request(cookie: session)) == session)
        // Another process of the same installation, after a restart.
        #expect(try self.access().session(of: request(cookie: session)) == session)
        #expect(try self.access(key: 2).session(of: request(cookie: session)) == nil)
    }

    @Test func `a token is no session, and nothing that was changed is one`() throws {
        let access = try access()
        let (token, session) = (access.newLinkToken(), try #require(access.follow(access.newLinkToken())))
        #expect(access.session(of: request(cookie: token)) == nil)
        #expect(access.follow(session) == nil)
        #expect(try self.access().follow(access.newLinkToken()) == nil)
        for cookie in ["", ".", "..", "x.y.z", "9" + session, session + "0", String(session.dropLast())] {
            #expect(access.session(of: request(cookie: cookie)) == nil, "\(cookie)")
        }
        #expect(access.session(of: request()) == nil)
    }

    @Test func `links end after a day, sessions after 90`() async throws {
        let access = try access()
        let token = access.newLinkToken()
        let session = try #require(access.follow(access.newLinkToken()))
        await clock.advance(by: .seconds(86_401))
        #expect(access.follow(token) == nil)
        #expect(access.session(of: request(cookie: session)) == session)
        await clock.advance(by: .seconds(90 * 86_400))
        #expect(access.session(of: request(cookie: session)) == nil)
    }

    private func visitor(_ peer: String?, forwarded: String? = nil) -> WebRequest {
        WebRequest(.post, ["login"], headers: forwarded.map { [.init("x-forwarded-for", $0)] } ?? [], peer: peer)
    }

    @Test func `five wrong passwords from one address keep it out for five minutes`() async throws {
        let access = try access(password: "correct horse")
        let (one, other) = (visitor("10.0.0.1"), visitor("10.0.0.2"))
        for _ in 0..<5 { #expect(try access.signIn("wrong", by: one) == nil) }
        #expect(throws: SiteAccess.TooManyTries.self) { try access.signIn("correct horse", by: one) }
        #expect(try access.signIn("correct horse", by: other) != nil)
        await clock.advance(by: .seconds(301))
        #expect(try access.signIn("correct horse", by: one) != nil)
        #expect(try self.access().signIn("", by: visitor(nil)) == nil)
    }

    @Test func `behind a proxy of this machine its word counts, and no one else's`() throws {
        let access = try access(password: "correct horse", base: "https://photos.example.net")
        for _ in 0..<5 {
            #expect(try access.signIn("wrong", by: visitor("127.0.0.1", forwarded: "9.9.9.9, 10.0.0.1")) == nil)
        }
        #expect(throws: SiteAccess.TooManyTries.self) {
            try access.signIn("correct horse", by: visitor("127.0.0.1", forwarded: "8.8.8.8, 10.0.0.1"))
        }
        #expect(try access.signIn("correct horse", by: visitor("127.0.0.1", forwarded: "10.0.0.1, 10.0.0.2")) != nil)
        // From elsewhere, or without a proxy, anybody can write such a line.
        for _ in 0..<5 { #expect(try access.signIn("wrong", by: visitor("10.0.0.3", forwarded: "10.0.0.4")) == nil) }
        #expect(throws: SiteAccess.TooManyTries.self) {
            try access.signIn("correct horse", by: visitor("10.0.0.3", forwarded: "10.0.0.5"))
        }
        let plain = try self.access(password: "correct horse")
        for _ in 0..<5 { #expect(try plain.signIn("wrong", by: visitor("127.0.0.1", forwarded: "10.0.0.6")) == nil) }
        #expect(throws: SiteAccess.TooManyTries.self) {
            try plain.signIn("correct horse", by: visitor("127.0.0.1", forwarded: "10.0.0.7"))
        }
    }

    @Test func `who signs out is out, and another password signs everybody out`() throws {
        let access = try access(password: "correct horse")
        let session = try #require(access.follow(access.newLinkToken()))
        let other = try #require(access.follow(access.newLinkToken()))
        try access.signOut(session)
        #expect(access.session(of: request(cookie: session)) == nil)
        #expect(access.session(of: request(cookie: other)) == other)
        #expect(access.cookieHeader(nil).value.contains("Max-Age=0;"))
        #expect(try self.access(password: "correct horse").session(of: request(cookie: other)) == other)
        #expect(try self.access(password: "battery staple").session(of: request(cookie: other)) == nil)
    }

    @Test func `who signs out stays out after a restart, and nothing that is kept of it signs anybody in`() async throws
    {
        let (access, other) = (try access(), try self.access())
        let sessions = try (0..<3).map { _ in try #require(access.follow(access.newLinkToken())) }
        try access.signOut(sessions[0])
        // A process that has begun before.
        try other.signOut(sessions[1])
        let next = try self.access()
        #expect(sessions.map { next.session(of: request(cookie: $0)) != nil } == [false, false, true])
        let kept = { try String(decoding: self.folder.read("serve.signed-out"), as: UTF8.self).split(separator: "\n") }
        #expect(try kept().count == 2)
        for session in sessions { #expect(try kept().allSatisfy { !$0.contains(session.suffix(64)) }) }
        await clock.advance(by: .seconds(91 * 86_400))
        try access.signOut(try #require(access.follow(access.newLinkToken())))
        #expect(try kept().count == 1)
    }

    @Test func `what is no list of sessions signs nobody out`() throws {
        try folder.write("x\n1 2 3\n9999999999999 \n\u{0}\n", to: "serve.signed-out")
        let access = try access()
        let session = try #require(access.follow(access.newLinkToken()))
        #expect(access.session(of: request(cookie: session)) == session)
        try access.signOut(session)
        #expect(try self.access().session(of: request(cookie: session)) == nil)
    }

    @Test func `behind https the browser never sends it in the clear`() throws {
        #expect(try access(base: "https://photos.example.net").cookieHeader("s").value.hasSuffix("; Secure"))
        #expect(try !access(base: "http://photos.example.net").cookieHeader("s").value.contains("Secure"))
        #expect(try !access().cookieHeader("s").value.contains("Secure"))
    }

    @Test(arguments: [
        ("http://127.0.0.1:8420", false), ("http://localhost:1", false), ("http://evil.example", true), ("null", true),
        ("http://127.0.0.1.evil.example", true), ("", true),
    ])
    func `a form from another origin is foreign`(origin: String, isForeign: Bool) throws {
        #expect(try access().isForeign(WebRequest(.post, ["logout"], headers: [.init("origin", origin)])) == isForeign)
        #expect(try !access().isForeign(WebRequest(.post, ["logout"])))
    }

    @Test func `a form counts with its session's token, from a page of ours`() throws {
        let access = try access()
        let session = try #require(access.follow(access.newLinkToken()))
        let token = access.formToken(session)
        let isOwn = { (form: String, site: String?) throws -> Bool in
            let request = request(site: site, form: form)
            return access.isOwnForm(try #require(WebForm(request)), of: request, session: session)
        }
        #expect(try isOwn("form=\(token)&tier=bulk", nil))
        #expect(try isOwn("form=\(token)", "same-origin"))
        #expect(try !isOwn("form=\(token)", "cross-site"))
        #expect(try !isOwn("form=\(token)", "same-site"))
        #expect(try !isOwn("tier=bulk", nil))
        #expect(try !isOwn("form=\(access.formToken("other"))", nil))
    }

    @Test(arguments: [
        ("127.0.0.1:8420", true), ("localhost", true), ("LOCALHOST:1", true), ("[::1]:8420", true), ("10.1.2.3", true),
        ("evil.example", false), ("evil.example:8420", false), ("127.0.0.1.evil.example", false), ("", false),
        ("[evil]", false), ("1.2.3.400", false), ("box", false), ("localhost.evil", false),
        ("localhost:80@evil", false), ("[::1]evil", false), ("[::1]:80x", false), ("localhost:", true),
    ])
    func `a name that others could turn round is not one of ours`(host: String, isOwn: Bool) throws {
        #expect(try access().isOwnHost(request(host: host)) == isOwn)
    }

    @Test func `beyond this machine its name counts, and that of the proxy`() {
        let hosts = SiteHosts(isLoopback: false, machines: ["Family PC", "Box"], base: "photos.example.net")
        for name in ["box", "box.local:8420", "photos.example.net"] { #expect(hosts.contains(name)) }
        #expect(!hosts.contains("box.example.net"))
    }

    @Test(arguments: [
        ("a=1&b=x+y%20z&a=2", ["1", "2"]), ("a=%C3%A9", ["é"]), ("a", [""]), ("", []), ("a==", ["="]),
    ])
    func `fields of a form are decoded`(text: String, values: [String]) throws {
        #expect(try #require(WebForm(request(form: text))).all("a") == values)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%FF"]) func `a form that is none is refused`(text: String) {
        #expect(WebForm(request(form: text)) == nil)
        #expect(WebForm(WebRequest(.post, [], body: Data("a=1".utf8))) == nil)
    }
}
