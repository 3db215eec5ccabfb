import FoundationEssentials
import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPages
import SyncSystem
import SystemPackage

/// The gallery of one installation: what each address answers. It reads the ledger; orders go the way of the commands.
struct GallerySite: WebHandler {
    static let itemsOfPage = 90
    let workspace: Workspace
    let ledger: LedgerQueue
    let access: SiteAccess
    let pictures: PictureCache
    /// Without retries: who looks at a page does not wait for long.
    let store: any ReadableStore
    let keys: KeyLayout
    let policy: TierPolicy
    /// Nothing may be asked for.
    let isReadOnly: Bool
    let choices = RecentChoices()
    let examinations = Slots(1)
    let services: OrderServices
    let links: ShareLinks
    let elsewhere = RecentSharesElsewhere()
    /// For looks at files: uploads and downloads have other threads.
    let disk: BlockingPool
    /// Only this machine can ask: its collector need not sign in.
    let isLocal: Bool
    /// The shares of an embedded store, which no other server shows; `nil` of another store.
    let sharedFiles: SharedFiles?
    /// Shares whose pages were shown, and that take photos of guests: so much of a body is read for no other. The event
    /// loop of the server, which waits for no ledger, looks here.
    let guestPages = Lock<Set<ShareID>>([])
    /// Who follows a page makes it again and again.
    let followers = PlaceLimit(8)
    /// ZIP files: each holds a photo in memory, and a thread of the disk now and then.
    let zips = PlaceLimit(Self.mostZips)
    private let rewritten = Lock<Set<ShareID>>([])

    var time: TimeSource { workspace.time }

    // MARK: Who asks for what

    func answer(_ request: WebRequest) async -> WebResponse {
        do {
            return try await route(request)
        } catch is CancellationError {
            return page(503, "Stopping", "sync-agent is about to stop.", session: access.session(of: request))
        } catch let failure as CommandFailure {
            let words = (try? await places())?.removed(from: "\(failure)")
            return page(
                409, "That is not possible now", words ?? "The log of sync-agent says why.",
                session: access.session(of: request))
        } catch {
            workspace.logger.warning("a page cannot be made: \(error)")
            return page(
                500, "Something went wrong", "The log of sync-agent says what: \(Self.kind(of: error)).",
                session: access.session(of: request))
        }
    }

    /// Paths of this machine stay in the log.
    private static func kind(of error: any Error) -> String {
        switch error {
        case is LedgerError: "the ledger cannot be read"
        case is StoreError: "the store does not answer as it should"
        default: "a file cannot be read or written"
        }
    }

    private func route(_ request: WebRequest) async throws -> WebResponse {
        guard access.isOwnHost(request) else {
            return page(421, "Another name", "This address is not one under which sync-agent answers.")
        }
        let path = request.segments
        switch (request.method, path.first) {
        case (.get, "healthz") where path.count == 1, (.head, "healthz") where path.count == 1:
            return WebResponse(200, headers: [Self.plain], body: .bytes(Data("ok\n".utf8)))
        case (.get, "metrics") where path.count == 1 && isLocal: return try await metrics()
        case (.get, "s") where path.count == 3 && path[2] == ShareKeys.guestName: return try await takesGuests(request)
        case (.get, "s"), (.head, "s"): return try await sharedFile(request)
        case (.post, "s") where !isReadOnly && path.count == 3 && path[2] == ShareKeys.guestName:
            return try await guestPhoto(request)
        case (.get, "assets"), (.head, "assets"): return asset(path)
        case (.post, "login") where path.count == 1: return signIn(request)
        default: break
        }
        if path.isEmpty, request.method == .get, let token = request.query("token") { return follow(token) }
        guard let session = access.session(of: request) else { return stranger() }
        switch request.method {
        case .get, .head: return try await show(path, request, session)
        case .post where path == ["logout"]: return try await signOut(request, session)
        case .post where !isReadOnly: return try await order(path, request, session)
        case .post, .other:
            var answer = page(405, "Not here", "Nothing can be sent to this address.", session: session)
            answer.headers.append(.init("Allow", "GET, HEAD"))
            return answer
        }
    }

    func show(_ path: [String], _ request: WebRequest, _ session: String) async throws -> WebResponse {
        switch (path.first, path.count) {
        case (nil, _): return try await timeline(request, session)
        case ("archive", 1): return try await timeline(request, session, memories: true)
        case ("archive", 2) where path[1] == Self.zipName: return try await memoriesZip(request, session)
        case ("projects", 1): return try await projects(request, session)
        case ("projects", 2): return try await project(path[1], session)
        case ("photo", 2): return try await photo(path[1], session)
        case ("photo", 3) where path[2] == "picture": return try await picture(path[1], .picture)
        case ("photo", 3) where path[2] == "file": return try await file(path[1])
        case ("photo", 3) where path[2] == "original": return try await keptOriginal(path[1])
        case ("thumbnail", 2): return try await picture(path[1], .thumbnail)
        case ("vacations", 1): return try await vacations(session)
        case ("vacations", 3) where path[2] == "share" && !isReadOnly: return try await shareForm(path[1], session)
        case ("restores", 1): return try await restores(request, session)
        case ("restores", 2): return try await restoreJob(path[1], request, session)
        case ("restore", 1) where !isReadOnly: return try await offer(request, session)
        case ("shares", 1): return try await shares(session)
        case ("shares", 2): return try await share(path[1], request, session)
        case ("shares", 4) where path[2] == ShareKeys.guestName: return try await guestThumbnail(path[1], path[3])
        case ("metrics", 1): return try await metrics()
        case ("events", 1): return events(request, session)
        case ("status", 1): return try await status(session)
        default: return notFound("There is nothing under this address.", session)
        }
    }

    // MARK: Signing in

    private func stranger() -> WebResponse {
        if access.takesPassword {
            return page(401, SitePage(title: "Your photos", place: nil, formToken: "", content: .password(.init())))
        }
        return page(
            401, "Open the link again",
            "This browser is not signed in. Open the address that sync-agent serve prints, or that the agent keeps in "
                + "gallery.url in its state folder; each can be opened once.")
    }

    private func follow(_ token: String) -> WebResponse {
        guard let session = access.follow(token) else {
            return page(
                401, "This link was used already",
                "Each address opens once, within a day. sync-agent serve prints another one when it was opened, and the agent "
                    + "keeps another one in gallery.url.")
        }
        // The step to the photos has to begin here: a browser that was led here from elsewhere would not send the cookie.
        var answer = page(
            200,
            SitePage(
                title: "Signed in", place: nil, formToken: "",
                content: .message(.init(text: "This browser stays signed in.", link: .init("Open the photos", "/")))))
        answer.headers += [access.cookieHeader(session), .init("Refresh", "0; url=/")]
        return answer
    }

    private func signIn(_ request: WebRequest) -> WebResponse {
        let words: SitePage.Password
        guard !access.isForeign(request) else {
            return page(403, "Not from here", "This form was not sent by a page of this gallery.")
        }
        do {
            if let form = WebForm(request), let session = try access.signIn(form["password"] ?? "", by: request) {
                return Self.redirect(to: "/", access.cookieHeader(session))
            }
            words = .init(problem: "That is not the password.")
        } catch {
            words = .init(problem: "Too many wrong passwords. Try again in five minutes.")
        }
        return page(401, SitePage(title: "Your photos", place: nil, formToken: "", content: .password(words)))
    }

    private func signOut(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        guard let form = WebForm(request), access.isOwnForm(form, of: request, session: session) else {
            return page(403, "Not from here", "This form was not sent by a page of this gallery.")
        }
        do {
            try await disk.run { [access] in try access.signOut(session) }
        } catch let error as Errno {
            workspace.logger.warning("a copy of a cookie that was signed out is of use again after a restart: \(error)")
        }
        return Self.redirect(to: "/", access.cookieHeader(nil))
    }

    // MARK: Pictures

    /// In place of what is known, and cannot be shown now.
    static let drawnIcon = content("image/svg+xml", noStore, .bytes(Data(SitePage.icon.utf8)))

    private func picture(_ id: String, _ size: PictureCache.Size) async throws -> WebResponse {
        guard let md5 = MD5Digest(hex: id) else { return missing() }
        if size == .picture, let film = try await film(md5) { return film }
        guard let file = try await pictures.file(of: md5, size) else {
            guard try await !items(md5).isEmpty else { return missing() }
            return Self.drawnIcon
        }
        return Self.content("image/jpeg", .init("Cache-Control", "private, max-age=604800, immutable"), .file(file))
    }

    func missing() -> WebResponse {
        WebResponse(404, headers: [Self.plain] + Self.security, body: .bytes(Data("no picture\n".utf8)))
    }

    func items(_ md5: MD5Digest) async throws -> [TimelineItem] {
        let key = try keys.photo(PhotoID(md5))
        return try await ledger { try $0.timeline(of: md5, storedAs: key) }
    }

    // MARK: Files beside the pages

    /// The exposition format of Prometheus, from the ledger alone.
    private func metrics() async throws -> WebResponse {
        WebResponse(
            200, headers: [.init("Content-Type", "text/plain; version=0.0.4; charset=utf-8")] + Self.security,
            body: .bytes(try await metricsText()))
    }

    func metricsText() async throws -> Data {
        // It reads the file of prices.
        let report = try await disk.run { [workspace] in try workspace.installation.metricsReport() }
        let now = time.now()
        return Data(try await ledger { try report.text($0, at: now) }.utf8)
    }

    private func asset(_ path: [String]) -> WebResponse {
        let (type, text): (String, String)
        switch path {
        case ["assets", "site.css"]: (type, text) = ("text/css; charset=utf-8", SiteTemplate.style)
        case ["assets", "icon.svg"]: (type, text) = ("image/svg+xml", SitePage.icon)
        case ["assets", "site.js"]: (type, text) = ("text/javascript; charset=utf-8", SiteTemplate.script)
        default: return missing()
        }
        return Self.content(type, .init("Cache-Control", "no-cache"), .bytes(Data(text.utf8)))
    }

    /// A share's page, its manifest and its photos: for everybody who has the link.
    private func sharedFile(_ request: WebRequest) async throws -> WebResponse {
        guard let sharedFiles, let id = request.segments.dropFirst().first.flatMap({ ShareID($0) }) else {
            return notFound("There is no share under this address.")
        }
        if request.segments.count == 2, !request.isFolder {
            return WebResponse(301, headers: [.init("Location", "/s/\(id)/")] + Self.security)
        }
        let rest = Array(request.segments.dropFirst(2))
        guard var file = try await sharedFiles.find(id, rest.isEmpty ? ["index.html"] : rest) else {
            return notFound("This share has ended, or has no such photo.")
        }
        if rest.isEmpty, !isReadOnly {
            if try await rewritePage(of: id, file.path) {
                file = try await sharedFiles.find(id, ["index.html"]) ?? file
            }
        }
        // Also for what somebody else has put there. A browser's own page around a picture has a style in it.
        let policy =
            file.type.hasPrefix("text/html")
            ? SharePage.policy
            : "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"
        return WebResponse(
            200,
            headers: [
                .init("Content-Type", file.type), .init("Referrer-Policy", "no-referrer"),
                .init("Content-Security-Policy", "\(policy); frame-ancestors 'none'"),
                .init("Cache-Control", "no-cache"), .init("X-Frame-Options", "DENY"),
            ], body: .file(file.path))
    }

    /// What another version has written has a style and a script that this one's policy blocks.
    /// - Returns: whether it was written anew.
    private func rewritePage(of share: ShareID, _ file: FilePath) async throws -> Bool {
        let head = try await disk.run {
            let descriptor = try FileDescriptor.opened(file, .readOnly, [.noFollow, .closeOnExec])
            defer { try? descriptor.close() }
            return try descriptor.bytes(atMost: 4_096)
        }
        guard !SharePage.isOfThisVersion(head), rewritten.withLock({ $0.insert(share).inserted }),
            try await ledger({ try $0.share(share) }) != nil
        else { return false }
        do {
            try await services.shares(workspace).publisher.renew(share)
            return true
        } catch  where !(error is CancellationError) {
            workspace.logger.warning("the page of share \(share) is of another version, and stays so: \(error)")
            return false
        }
    }

    // MARK: Pages

    /// For one browser, which asks whether it has changed.
    static let askAgain = WebRequest.Field("Cache-Control", "private, no-cache")
    static let noStore = WebRequest.Field("Cache-Control", "no-store")
    static let plain = WebRequest.Field("Content-Type", "text/plain; charset=utf-8")
    static let security = [
        WebRequest.Field("Content-Security-Policy", SiteTemplate.policy), .init("Referrer-Policy", "same-origin"),
        .init("X-Frame-Options", "DENY"), .init("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// What is no page.
    static func content(
        _ type: String, _ cache: WebRequest.Field, _ body: WebResponse.Body, _ further: WebRequest.Field...
    ) -> WebResponse {
        WebResponse(200, headers: [.init("Content-Type", type), cache] + further + security, body: body)
    }

    static func redirect(to address: String, _ further: WebRequest.Field...) -> WebResponse {
        WebResponse(303, headers: further + [.init("Location", address)] + security)
    }

    func page(_ status: Int, _ page: SitePage) -> WebResponse {
        let html: String
        do {
            html = try page.html()
        } catch {
            workspace.logger.warning("\(error)")
            return WebResponse(500, headers: [Self.plain], body: .bytes(Data("the page cannot be made\n".utf8)))
        }
        return WebResponse(
            status,
            headers: [.init("Content-Type", "text/html; charset=utf-8"), Self.noStore] + Self.security,
            body: .bytes(Data(html.utf8)))
    }

    func notFound(_ text: String, _ session: String? = nil) -> WebResponse {
        page(404, "Not found", text, session: session)
    }

    func page(_ status: Int, _ title: String, _ text: String, session: String? = nil) -> WebResponse {
        page(
            status,
            SitePage(
                title: title, place: session == nil ? nil : .photos, formToken: session.map(access.formToken) ?? "",
                content: .message(.init(text: text, link: session.map { _ in .init("To the photos", "/") }))))
    }

    /// - Parameters:
    ///   - goesOn: it is shown anew by itself, to follow what is under way.
    ///   - follows: its script shows it anew when something has changed.
    func page(
        _ title: String, _ place: SitePage.Place, _ session: String, _ content: SitePage.Content, goesOn: Bool = false,
        follows: Bool = false
    ) -> WebResponse {
        var answer = page(
            200,
            SitePage(
                title: title, place: place, formToken: access.formToken(session), content: content, follows: follows))
        if goesOn { answer.headers.append(.init("Refresh", "5")) }
        return answer
    }

    // MARK: Orders

    private func order(_ path: [String], _ request: WebRequest, _ session: String) async throws -> WebResponse {
        guard let form = WebForm(request), access.isOwnForm(form, of: request, session: session) else {
            return page(
                403, "Not from here", "This form was not sent by a page of this gallery. Go back, and try again.",
                session: session)
        }
        switch (path.first, path.count) {
        case ("restore", 1): return try await offer(form, session)
        case ("zip", 1): return try await chosenZip(form, session)
        case ("restores", 1): return try await orderRestore(form, session)
        case ("vacations", 3) where path[2] == "share": return try await orderShare(path[1], form, session)
        case ("shares", 2): return try await revoke(path[1], session)
        case ("shares", 3) where path[2] == ShareKeys.guestName: return try await decideGuests(path[1], form, session)
        case ("doctor", 1): return try await doctor(session)
        default: return notFound("There is nothing under this address.", session)
        }
    }
}
