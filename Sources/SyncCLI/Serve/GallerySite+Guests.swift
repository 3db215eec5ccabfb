import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

extension GallerySite {
    func mostBytes(inBodyTo path: [String]) -> Int {
        guard path.count == 3, path[0] == "s", path[2] == ShareKeys.guestName, !isReadOnly,
            let id = ShareID(path[1]), guestPages.withLock({ $0.contains(id) })
        else { return 0 }
        return Int(GuestRules.mostBytes)
    }

    // MARK: What guests send

    /// Whether a page may ask for photos now: it was written before, and the gallery may be shown read-only.
    func takesGuests(_ request: WebRequest) async throws -> WebResponse {
        var takes = false
        if let id = ShareID(request.segments[1]), let sharedFiles, !isReadOnly {
            takes = try await sharedFiles.takesGuests(id)
            guestPages.withLock { $0 = takes ? $0.union([id]) : $0.subtracting([id]) }
        }
        return WebResponse(takes ? 204 : 404, headers: [Self.noStore] + Self.security)
    }

    /// The body is a photo, and nothing else. A page from elsewhere cannot send one: browsers ask before (Fetch, 3.3).
    func guestPhoto(_ request: WebRequest) async throws -> WebResponse {
        func told(_ status: Int) -> WebResponse { WebResponse(status, headers: Self.security) }
        guard let sharedFiles, let id = ShareID(request.segments[1]), !access.isForeign(request) else {
            return told(404)
        }
        let type = String((request.header("content-type") ?? "").prefix { $0 != ";" })
        do {
            guard try await sharedFiles.add(Array(request.body), to: id, type: type) != nil else { return told(404) }
            return told(201)
        } catch let refusal as GuestRefusal {
            return told(refusal == .full ? 409 : 415)
        }
    }

    // MARK: What the owner decides

    /// Those that wait, for the page of their share.
    func guestForm(of share: ShareID) async throws -> SitePage.Guests? {
        let waiting = try await ledger { try $0.guestPhotos(of: share) }.filter { $0.state == .waiting }
        if waiting.isEmpty { return nil }
        return SitePage.Guests(
            photos: waiting.map { photo in
                .init(
                    number: photo.slot,
                    facts: "\(Quantities.bytes(photo.size)), \(Quantities.time(photo.receivedAt))")
            }, canDecide: !isReadOnly)
    }

    func guestThumbnail(_ share: String, _ number: String) async throws -> WebResponse {
        guard let id = ShareID(share), let slot = Int(number),
            let photo = try await ledger({ try $0.guestPhotos(of: id) }).first(where: { $0.slot == slot }),
            photo.state == .waiting
        else { return missing() }
        let file = workspace.guestDecisions(ledger).box.thumbnail(of: photo)
        guard try await disk.run({ FileStamp.ofFile(file) != nil }) else { return Self.drawnIcon }
        return Self.content("image/jpeg", Self.noStore, .file(file))
    }

    func decideGuests(_ share: String, _ form: WebForm, _ session: String) async throws -> WebResponse {
        guard let id = ShareID(share), let record = try await ledger({ try $0.share(id) }) else {
            return notFound("There is no such share on this machine.", session)
        }
        let chosen = Set(form.all("photo"))
        let photos = try await ledger { try $0.guestPhotos(of: id) }.filter { chosen.contains("\($0.slot)") }
        let decisions = workspace.guestDecisions(ledger)
        switch form["do"] {
        case "accept":
            do {
                let problems = try await decisions.accept(photos, into: record.folder)
                if !problems.isEmpty {
                    let reasons = problems.map { "photo \($0.photo.slot): \($0.reason)" }.joined(separator: "; ")
                    throw CommandFailure(.partlyDone, "These go on waiting: \(reasons)")
                }
            } catch let error as GuestDecisions.NoFolder {
                throw CommandFailure.failed("\(error)")
            }
        case "refuse": try await decisions.refuse(photos)
        default: return page(400, "Not understood", "Say what is to become of the photos.", session: session)
        }
        return Self.redirect(to: "/shares/\(id)")
    }
}

/// Why a guest's photo is not taken.
enum GuestRefusal: Error {
    case notAPhoto, full
}

/// The objects of shares in an embedded store, as files: what a bucket shows to browsers by itself.
struct SharedFiles: Sendable {
    /// Bytes of a manifest.
    private static let mostBytes = 16 << 20

    let ledger: LedgerQueue
    let store: LocalStore
    let time: TimeSource

    /// Takes a photo of a guest, which nobody sees before the owner has accepted it.
    /// - Returns: `nil` where the share takes none, or none any more.
    /// - Throws: ``GuestRefusal``, ``StoreError``, ``LedgerError``.
    func add(_ photo: [UInt8], to share: ShareID, type: String) async throws -> ShareID? {
        guard try await takesGuests(share) else { return nil }
        guard type.hasPrefix(GuestRules.upload.contentType), photo.count > GuestRules.claimBytes,
            photo.count <= GuestRules.mostBytes
        else { throw GuestRefusal.notAPhoto }
        let keys = ShareKeys(share)
        var taken: Set<Int> = []
        for try await objects in store.pages(prefix: keys.guestFolder) {
            taken.formUnion(objects.compactMap { keys.guestSlot(of: $0.key) })
        }
        let body = ObjectBody(bytes: photo, digest: ContentDigest(of: photo))
        for slot in 0..<GuestRules.mostPhotos where !taken.contains(slot) {
            do {
                _ = try await store.put(
                    body, at: keys.guest(slot), attributes: ObjectAttributes(contentType: type), condition: .ifAbsent)
                return share
            } catch let error as StoreError where error.code == .alreadyExists {
                continue
            }
        }
        throw GuestRefusal.full
    }

    /// Only a share of this machine does: another's agent decides on its own guests.
    func takesGuests(_ share: ShareID) async throws -> Bool {
        guard let known = try await ledger({ try $0.share(share) }) else { return false }
        return known.takesGuests && known.state == .live && known.expiresAt > time.now()
    }

    /// A whole object of a share that has not ended.
    /// - Parameter path: below the share's own.
    /// - Returns: `nil` where there is none.
    /// - Throws: ``StoreError``, ``LedgerError``.
    func find(_ share: ShareID, _ path: [String]) async throws -> (path: FilePath, type: String)? {
        guard path.first != ShareKeys.guestName, try await isLive(share),
            let key = try? ObjectKey(segments: ["shares", "\(share)"] + path),
            let found = try await store.file(of: key)
        else { return nil }
        return (found.path, found.info.contentType ?? "application/octet-stream")
    }

    private func isLive(_ share: ShareID) async throws -> Bool {
        if let known = try await ledger({ try $0.share(share) }) {
            return known.state == .live && known.expiresAt > time.now()
        }
        // One of another machine is known to the store alone.
        guard let key = try? ObjectKey(segments: ["shares", "\(share)", "vacation.json"]),
            let bytes = try? await store.bytes(of: key, limit: Self.mostBytes),
            let manifest = try? ReadableJSON.note(bytes) as ShareManifest
        else { return false }
        return manifest.expiresAt > time.now()
    }
}
