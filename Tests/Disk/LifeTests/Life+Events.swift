import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage

/// What another app does with its events, and what becomes of them.
extension Life {
    private func newPhoto() -> String? {
        switch dice.below(8) {
        case 0: "broken \(count) of an event"
        case 1, 2: nil
        default: "photo \(count) of an event"
        }
    }

    /// Whole, as the app writes it.
    func secondsAgo(_ seconds: Int) -> Date {
        Date(timeIntervalSince1970: home.clock.now.timeIntervalSince1970.rounded(.down) - Double(seconds))
    }

    func writeEvent(_ id: String, _ event: EventModel.Event) {
        events.write(id, event)
        if let photo = event.photo { model.writeInEvent(photo) }
    }

    func addEvents() throws -> String {
        let name = "\(dice.below(3)).json"
        let ids = try (0...dice.below(2)).map { number in
            let id = "e\(count)-\(number)"
            let age = dice.below(20 * 24) * 3_600
            // Each has a photo of its own: the archive tells it by its bytes alone.
            let photo = newPhoto().map { "\($0) \(number)" }
            let event = EventModel.Event(created: secondsAgo(age), photo: photo)
            try gallery.add(id, event, to: name)
            writeEvent(id, event)
            return id
        }
        return "write events \(ids.joined(separator: ", ")) to \(name)"
    }

    func editEvent() throws -> String {
        let there = try gallery.texts(of: events.events.keys).keys.sorted()
        guard let id = dice.pick(there), let old = events.events[id] else { return "no event to edit" }
        var new = old
        if dice.oneIn(2) { new.created.addTimeInterval(Double(dice.below(20) - 10) * 86_400) }
        if old.photo != nil, dice.oneIn(2) { new.photo = newPhoto() ?? old.photo }
        try gallery.edit(id, from: old, to: new)
        writeEvent(id, new)
        return "edit event \(id)"
    }

    func renameEvents() throws -> String {
        guard let name = dice.pick(try gallery.names) else { return "no events to rename" }
        let other = "\(count).json"
        try gallery.rename(name, to: other)
        return "rename \(name) to \(other)"
    }

    func cleanUp() async throws -> String {
        let due = events.due(at: home.clock.now)
        let what = try await work("cleanup of \(due.count)", trouble()) { process in
            let summary = try await process.cleanUp(gallery)
            guard process.isAlive(), summary.outage == nil else { return }
            let setAside = try setAside(process.ledger, at: gallery.path).compactMap { $0.path.lastComponent?.string }
            brokenMeanwhile += try events.unnamed(in: gallery, due: due, summary, setAside: Set(setAside))
        }
        events.cleaned(at: home.clock.now)
        return what
    }

    func setAside(_ ledger: Ledger, at folder: FilePath) throws -> [PhotoStatus] {
        var setAside: [PhotoStatus] = []
        try ledger.photos(at: folder) { photo in
            if photo.state == .failed, photo.error == Ledger.setAside { setAside.append(photo) }
        }
        return setAside
    }
}
