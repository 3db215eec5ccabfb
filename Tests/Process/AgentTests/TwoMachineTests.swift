import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// A trip that is shared on one machine and mirrored on another, by the store they have in common and by nothing but a
/// link.
struct TwoMachineTests {
    private static let photos = 5
    /// Of somebody who has a link: no configuration, no credentials.
    private static let stranger = [
        "SYNC_AGENT_CONFIG": "/nonexistent", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
    ]

    @Test(
        arguments: MeetingPlace.available)
    func `a share is mirrored by id, by app link and by page link, and a second time nothing is fetched`(
        place: MeetingPlace
    ) async throws {
        try await TwoMachines.run(at: place) { machines in
            try await machines.sharer.takeTrip(photos: Self.photos)
            let share = try await machines.sharer.share("--from", "Ana", AgentHome.trip)
            #expect(share.state == "live" && share.photoCount == Self.photos)
            let (id, link) = (try #require(share.shareId), try #require(share.link))
            let wanted = try await machines.shared(id)
            #expect(wanted.count == Self.photos)

            for (folder, reference) in [("id", id), ("app link", "vacationphotos://share/\(id)")] {
                #expect(try await machines.friend.mirror(reference, to: folder).counts == [Self.photos, 0, 0, 0])
                #expect(try machines.mirrored(folder) == wanted)
                #expect(try await machines.friend.mirror(reference, to: folder).counts == [0, Self.photos, 0, 0])
            }
            let names = try machines.friend.mirrorFiles("id").filter { $0.hasSuffix(".jpg") }
            #expect(
                names.first?.hasPrefix("001_2024-06-15_") == true
                    && names.allSatisfy { $0.hasSuffix("_Paris_France.jpg") })

            #expect(link.hasPrefix("http") == (place != .folder))
            if place == .folder { return }
            let first = try await machines.friend.mirror(link, to: "page", environment: Self.stranger)
            #expect(first.counts == [Self.photos, 0, 0, 0] && first.shareId == id)
            #expect(try machines.mirrored("page") == wanted)
            machines.web?.forgetRequests()
            let second = try await machines.friend.mirror(link, to: "page", environment: Self.stranger)
            #expect(second.counts == [0, Self.photos, 0, 0])
            #expect(machines.web?.requests.filter { $0.hasSuffix(".jpg") } ?? [] == [])
        }
    }

    @Test(
        arguments: MeetingPlace.available)
    func
        `the same trip is offered under the same link, and a photo swapped under the same count reaches the friend alone`(
            place: MeetingPlace
        ) async throws
    {
        try await TwoMachines.run(at: place) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            try await sharer.takeTrip(photos: Self.photos)
            let share = try await sharer.share()
            let (id, link) = (try #require(share.shareId), try #require(share.link))
            let reference = place == .folder ? id : link
            let before = try await machines.shared(id)
            _ = try await friend.mirror(reference, to: "Paris")
            let again = try await sharer.share()
            #expect(again.shareId == id && again.link == link)

            try sharer.photo(2).create(SamplePhoto.taken(40))
            #expect(try await sharer.pass().uploaded == 1)
            let updated = try await sharer.share()
            #expect(updated.shareId == id && updated.photoCount == Self.photos)
            let after = try await machines.shared(id)
            #expect(after.count == Self.photos && Set(after.keys).subtracting(before.keys).count == 1)

            machines.web?.forgetRequests()
            #expect(try await friend.mirror(reference, to: "Paris").counts == [1, Self.photos - 1, 0, 0])
            #expect(try machines.mirrored("Paris") == before.merging(after) { $1 }, "what left the share stays")
            if let web = machines.web {
                #expect(Set(web.requests.filter { $0.hasSuffix(".jpg") }).count == 1)
            }
        }
    }

    @Test(
        arguments: [MeetingPlace.folder, .web])
    func `a mirror that watches gets what is added while it watches, and ends when the share is revoked`(
        place: MeetingPlace
    ) async throws {
        try await TwoMachines.run(at: place) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            try await sharer.takeTrip(photos: 3)
            let share = try await sharer.share()
            let id = try #require(share.shareId)
            let watch = try friend.start([
                "mirror", "--watch", "--interval", "1", try #require(share.link), friend.friendsFolder("Paris").string,
            ])
            _ = try await eventually("three photos") { try friend.mirrored("Paris").count == 3 ? () : nil }

            try sharer.photo(3).create(SamplePhoto.taken(3))
            _ = try await sharer.pass()
            #expect(try await sharer.share().shareId == id)
            _ = try await eventually("the new photo") { try friend.mirrored("Paris").count == 4 ? () : nil }
            #expect(try machines.mirrored("Paris") == (try await machines.shared(id)))

            #expect(try await sharer.run("shares", "--revoke", id, "--yes").code == 0)
            let finished = try await watch.finished()
            #expect(finished.code == 0 && finished.text.contains("revoked or has expired"), "\(finished.text)")
            #expect(try friend.mirrored("Paris").count == 4)
        }
    }

    @Test func `what the friend edits or deletes stays so, until the friend asks for it by force`() async throws {
        try await TwoMachines.run(at: .folder) { machines in
            let friend = machines.friend
            try await machines.sharer.takeTrip(photos: 4)
            let id = try #require(try await machines.sharer.share().shareId)
            _ = try await friend.mirror(id, to: "Paris")
            let names = try friend.mirrorFiles("Paris").filter { $0.hasSuffix(".jpg") }
            let folder = friend.friendsFolder("Paris")
            try folder.appending(names[0]).create(Array("cropped".utf8))
            try folder.appending(names[1]).remove()

            let again = try await friend.mirror(id, to: "Paris")
            #expect(again.counts == [0, 2, 2, 0])
            #expect(
                again.keptFiles == [.init(name: names[0], reason: "changed"), .init(name: names[1], reason: "deleted")])
            #expect(try folder.appending(names[0]).bytes == Array("cropped".utf8))

            #expect(try await friend.mirror(id, to: "Paris", "--force").counts == [2, 2, 0, 0])
            #expect(try machines.mirrored("Paris") == (try await machines.shared(id)))
        }
    }

    @Test(
        arguments: MeetingPlace.available)
    func `of a share that was revoked nothing is left, and its mirror says so and keeps what it has`(
        place: MeetingPlace
    ) async throws {
        try await TwoMachines.run(at: place) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            try await sharer.takeTrip(photos: 3)
            let share = try await sharer.share()
            let (id, link) = (try #require(share.shareId), try #require(share.link))
            let reference = place == .folder ? id : link
            _ = try await friend.mirror(reference, to: "Paris")
            let before = try machines.mirrored("Paris")

            #expect(try await sharer.run("shares", "--revoke", id, "--yes").code == 0)
            let entry = try #require(try await sharer.shares().first)
            #expect(entry.state == "revoked" && entry.link == nil && entry.endedAt != nil)
            #expect(try await machines.keys().filter { $0.contains("shares/\(id)/") } == [])

            let answer = try await friend.mirror(reference, to: "Paris")
            #expect(answer.ended == "gone" && answer.counts == [0, 3, 0, 0])
            #expect(try machines.mirrored("Paris") == before && before.count == 3)
            // Who was never there gets nothing, and no folder.
            #expect(try await friend.run("mirror", reference, friend.friendsFolder("late").string).code == 66)
            #expect(try friend.mirrorFiles("late") == [])
            // Shared once more, it is another share.
            #expect(try await sharer.share().shareId != id)
        }
    }

    @Test(
        arguments: MeetingPlace.available)
    func `what one machine shares is listed and revoked by another one of the same user, and told as such`(
        place: MeetingPlace
    ) async throws {
        try await TwoMachines.run(at: place) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            try await sharer.takeTrip(photos: 3)
            let share = try await sharer.share()
            let id = try #require(share.shareId)
            #expect(try await sharer.shares().map(\.machine.isThis) == [true])

            let listed = try #require(try await friend.shares().first { $0.shareId == id })
            #expect(listed.state == "live" && listed.photoCount == 3 && !listed.machine.isThis)
            #expect(listed.link != nil)
            #expect(try await friend.run("shares", "--revoke", id, "--yes").code == 0)
            #expect(try await machines.keys().filter { $0.hasPrefix("shares/") } == [])
            #expect(try await friend.shares().map(\.state) == ["revoked"])
            // A second time is no error.
            #expect(try await friend.run("shares", "--revoke", id, "--yes").code == 0)

            // It knows nothing of it yet, and gives a new link, and not that of what is gone.
            let next = try await sharer.share()
            #expect(next.shareId != id && next.state == "live")
            _ = try await sharer.pass()
            let entry = try #require(try await sharer.shares().first { $0.shareId == id })
            #expect(entry.state == "revoked" && entry.link == nil && entry.revokedBy != nil)
            #expect(try await machines.keys().filter { $0.hasPrefix("shares/\(id)") } == [])
            #expect(try await friend.shares().filter { $0.state == "live" }.map(\.shareId) == [next.shareId])
        }
    }

    @Test func `that a machine's catalogue is gone is told by the others, until its next pass writes it anew`()
        async throws
    {
        try await TwoMachines.run(at: .folder) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            try await sharer.takeTrip(photos: 2)
            let id = try #require(try await sharer.share().shareId)
            _ = try await sharer.pass()
            try friend.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
            _ = try await friend.pass()
            let entry = try #require(try await friend.shares().first { $0.shareId == id })
            #expect(try await friend.run("status", "--machines").code == 0)

            try sharer.store.loseCatalog(of: entry.machine.id)
            let shares = try await friend.run("shares")
            #expect(shares.code == 0 && shares.complaint.contains("is missing from the store"), "\(shares)")
            let listed = try await friend.run("status", "--machines")
            #expect(listed.code == 3 && listed.complaint.contains("is missing from the store"), "\(listed)")
            #expect(!listed.complaint.contains("cannot be read"))
            #expect(try await friend.run("sync").code == 0)
            let nobodys = "0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10"
            let unknown = try await friend.run("shares", "--revoke", nobodys, "--yes")
            #expect(unknown.code == 66 && unknown.complaint.contains("is missing from the store"), "\(unknown)")
            #expect(!unknown.complaint.contains("this list"))

            let own = try await sharer.run("status", "--machines")
            #expect(own.code == 0 && !own.complaint.contains("missing"), "\(own)")
            #expect(try await sharer.run("sync").code == 0)
            #expect(try await friend.run("status", "--machines").code == 0)
            #expect(try await friend.shares().contains { $0.shareId == id })
        }
    }

    @Test func `what is shared, or revoked, beside an agent is known to the others at once`() async throws {
        try await TwoMachines.run(at: .folder) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            try await sharer.takeTrip(photos: 2)
            let agent = try await sharer.startAgent()
            let id = try #require(try await sharer.share().shareId)
            #expect(try await friend.shares().map(\.state) == ["live"])
            #expect(try await sharer.run("shares", "--revoke", id, "--yes").code == 0)
            #expect(try await friend.shares().map(\.state) == ["revoked"])
            agent.send(SIGTERM)
            #expect(try await agent.finished().code == 0)
        }
    }

    @Test func `without the store a machine lists what it shares, and says that others could not be asked`()
        async throws
    {
        try await TwoMachines.run(at: .folder) { machines in
            let sharer = machines.sharer
            try await sharer.takeTrip(photos: 1)
            let id = try #require(try await sharer.share().shareId)
            let away = FilePath(sharer.store.root.string + ".away")
            try sharer.store.root.move(to: away)
            let finished = try await sharer.run("shares", "--json")
            let answer = try JSONDecoder().decode(ShareListing.self, from: Data(finished.output))
            #expect(finished.code == 0 && answer.shares.map(\.shareId) == [id])
            #expect(answer.problems.count == 1 && answer.problems[0].contains("cannot be asked"), "\(answer.problems)")
            #expect(finished.complaint.contains("cannot be asked"))
            #expect(try await sharer.run("shares", "--revoke", UUID().uuidString, "--yes").code != 0)
            try away.move(to: sharer.store.root)
        }
    }

    @Test func `the agent removes a share whose time is over, and its mirror says so`() async throws {
        try await TwoMachines.run(at: .web) { machines in
            let (sharer, friend) = (machines.sharer, machines.friend)
            try await sharer.takeTrip(photos: 3)
            let share = try await sharer.share("--expires", "12h", AgentHome.trip)
            let link = try #require(share.link)
            _ = try await friend.mirror(link, to: "Paris")
            let agent = try await sharer.startAgent()
            #expect(try await sharer.shares().map(\.state) == ["live"])

            try await sharer.expireShares()
            try await agent.logged { $0.contains("has expired") }
            #expect(try await sharer.shares().map(\.state) == ["expired"])
            #expect(try await machines.keys().filter { $0.contains("shares/") } == [])
            #expect(try sharer.store.contents().filter { $0.string.contains("/shares/") } == [])
            agent.send(SIGTERM)
            #expect(try await agent.finished().code == 0)
            #expect(try await friend.mirror(link, to: "Paris").ended == "gone")
            #expect(try machines.mirrored("Paris").count == 3)
        }
    }

    @Test func `where servers are required, two machines meet at each of them`() {
        #expect(!S3Server.isRequired || MeetingPlace.available == MeetingPlace.allCases)
    }
}

extension TwoMachines {
    /// All keys in the store.
    fileprivate func keys() async throws -> [String] {
        switch stored {
        case .folder(let store): try store.objects().map(\.key)
        case .server(let server): try await server.keys()
        }
    }
}
