import FoundationEssentials

@testable import SyncCore
@testable import SyncPages
@testable import SyncS3

/// Readers of shares.
enum ShareTargets {
    private static let here = WebLink("https://photos.example:8443/shares/abc/vacation.json?X-Amz-Signature=1")

    /// A manifest that is accepted is within all bounds, leads to no other host, and is accepted again as it is written.
    static func manifest(_ bytes: [UInt8]) -> Bool {
        guard let here, let share = try? ShareManifestRules(asked: nil).check(bytes, foundAt: here) else {
            refusal(of: bytes)
            return false
        }
        let manifest = share.manifest
        for text in [manifest.locationName, manifest.sharedBy ?? ""] {
            promise(text.unicodeScalars.allSatisfy(isPlain), "a name moves the cursor or turns the text")
        }
        promise(share.photos.count == manifest.photoCount, "photos are miscounted")
        promise(Set(share.photos.map(\.orderIndex)).count == share.photos.count, "two photos have one name")
        promise(
            share.photos.allSatisfy { (0...999_999).contains($0.orderIndex) && $0.size > 0 }, "a photo has no size")
        promise(share.photos.reduce(0) { $0 + $1.size } <= 100 << 30, "there is no bound for all photos")
        for link in share.photos.compactMap(\.link) + [share.manifestLink].compactMap(\.self) {
            promise(here.admits(link), "a link leads to \(link.origin)")
            promise(WebLink(link.description) == link, "a link is not what it says")
        }
        guard let written = try? manifest.encoded(),
            let again = try? ShareManifestRules(asked: share.id).check(written, foundAt: here)
        else {
            promise(false, "an accepted manifest is refused as it is written")
            return true
        }
        // Times are written in whole seconds.
        promise((try? again.manifest.encoded()) == written, "a manifest changes when it is written")
        promise(again.photos.map(\.sha256) == share.photos.map(\.sha256), "photos change when they are written")
        return true
    }

    private static func refusal(of bytes: [UInt8]) {
        do {
            _ = try ShareManifestRules(asked: nil).check(bytes, foundAt: nil)
        } catch {
            promise(error.reason.utf8.count < 2_000, "a refusal is as long as its manifest")
            promise(error.reason.unicodeScalars.allSatisfy(isPlain), "a refusal moves the cursor")
        }
    }

    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && !(0x202A...0x202E).contains(scalar.value)
            && !(0x2066...0x2069).contains(scalar.value)
    }

    /// A page leads to one address on its own host at most; and in a page of ours no text of a share is markup.
    static func page(_ bytes: [UInt8]) -> Bool {
        if let reference = PageScanner(bytes).manifestReference, let here, let link = here.resolving(reference) {
            promise(WebLink(link.description) == link, "a link is not what it says")
            promise(link.resolving(link.description) == link, "a link does not lead to itself")
        }
        // To write a page takes as long as to read fifty.
        var choice = Choice(bytes)
        return choice.number(below: 8) > 0 || ours(String(decoding: bytes.prefix(2_000), as: UTF8.self))
    }

    private static func ours(_ text: String) -> Bool {
        guard let day = CalendarDay("2026-07-01") else { return false }
        let link = "vacation.json?a=1&b=2"
        var page = SharePage(
            location: text, startDate: day, endDate: day, sharedBy: text,
            expiresAt: Date(timeIntervalSince1970: 1_790_000_000),
            photos: [
                SharePage.Photo(
                    orderIndex: 0, link: "photo.jpg", thumbnailLink: "small.jpg", width: 40, height: 30, size: 100,
                    takenAt: nil, downloadName: text)
            ], manifestLink: link, mirrorReference: "https://photos.example/")
        guard let html = try? page.html() else {
            promise(false, "a page cannot be made of a text")
            return false
        }
        promise(PageScanner(Array(html.utf8)).manifestReference == link, "a page names another manifest")
        // A name of nothing but blanks is none.
        let isNamed = !PageText.line(text).isEmpty
        (page.location, page.sharedBy, page.photos[0].downloadName) = ("Here", isNamed ? "Me" : nil, "a.jpg")
        guard let plain = try? page.html() else { return false }
        for mark in ["<", "http-equiv", "<script", "<img", "<link", "<a "] as [StaticString] {
            promise(count(mark, html) == count(mark, plain), "a text is markup: \(mark)")
        }
        return true
    }

    private static func count(_ mark: StaticString, _ html: String) -> Int {
        mark.withUTF8Buffer { mark in
            let page = Array(html.utf8)
            return page.indices.count { at in
                page[at] == mark[0] && at + mark.count <= page.count
                    && mark.indices.allSatisfy { page[at + $0] == mark[$0] }
            }
        }
    }
}
