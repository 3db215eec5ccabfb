import SyncCore
import SyncEngine
import SyncTestSupport

/// What another machine's person does with mirrors of what is shared here.
extension Life {
    /// How many of the last shares are looked at: those before them are over.
    private static let lastShares = 3

    /// What comes into a mirror hangs on what comes first of several photos: no step tells it, nor draws by it.
    func workOnMirrors() async throws -> String {
        let (draw, number, trouble) = (dice.below(4), dice.below(100), self.trouble(gentle: true))
        let count = mirrors.shares.count
        guard count > 0 else { return "nothing to mirror" }
        let place = count - 1 - number % min(Self.lastShares, count)
        let share = mirrors.shares[place]
        if draw == 0 { try touchMirror(of: share, number) }
        brokenMeanwhile += try await mirror(share, trouble)
        return "\(draw == 0 ? "touch and mirror" : "mirror") share \(place)"
    }

    private func touchMirror(of share: ShareID, _ number: Int) throws {
        let photos = try friend.photos(of: share)
        let names = photos.keys.sorted()
        guard !names.isEmpty else { return }
        let name = names[number % names.count]
        if number.isMultiple(of: 2) {
            let text = "edited \(count)"
            try friend.write(text, to: name, of: share)
            mirrors.touch(name, of: share, .edited(Array(text.utf8)))
        } else {
            try friend.remove(name, of: share)
            mirrors.touch(name, of: share, .deleted(photos[name] ?? []))
        }
    }

    /// - Returns: the promises that are broken, in words.
    func mirror(_ share: ShareID, _ trouble: Trouble?) async throws -> [String] {
        mirrors.look(at: home.memory)
        // A share may have ended, or be half written by a process that was killed: what is here by now is judged.
        let result = try? await friend.mirror(share, trouble)
        let photos = try friend.photos(of: share)
        var wrong = mirrors.broken(share, photos, home.memory)
        if let result, result.end == nil, result.isComplete {
            wrong += mirrors.missing(share, photos, home.memory)
        }
        return wrong
    }

    /// With nothing in the way, all that is live is here.
    func mirrorInPeace() async throws -> [String] {
        var wrong: [String] = []
        for share in mirrors.shares where MirrorModel.isLive(share, in: home.memory, at: home.clock.now) {
            mirrors.look(at: home.memory)
            do {
                let result = try await friend.mirror(share, nil)
                let photos = try friend.photos(of: share)
                wrong += mirrors.broken(share, photos, home.memory) + mirrors.missing(share, photos, home.memory)
                for failure in result.failures { wrong.append("\(failure.name) is not mirrored: \(failure.error)") }
            } catch {
                wrong.append("a live share cannot be mirrored: \(error)")
            }
        }
        return wrong
    }
}
