import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Many random steps beside a model that is as simple as can be: the promises hold all along.
@Suite struct LedgerChurnTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `no photo is lost and no tally is wrong, whatever happens`(seed: UInt64) throws {
        var churn = try Churn(seed: seed)
        for step in 1...300 {
            let action = try churn.step()
            let context: Comment = "seed \(seed), step \(step): \(action)"
            if step.isMultiple(of: 10) { try #require(churn.contradictions() == [], context) }
            if step.isMultiple(of: 30) { try #require(churn.world.ledger.check() == [], context) }
        }
        #expect(try churn.drain() == [], "seed \(seed), at the end")
    }
}

private struct Churn {
    let world: World
    private var random: Dice
    private var held: [Claim] = []
    /// Every content that was ever stored.
    private var stored: Set<SHA256Digest> = []

    private static let places = [
        "gallery", "gallery/a", "gallery/a/b", "trips", "trips/rome", "trips/rome/day 1", "trips/rome-2", "projects",
    ]

    init(seed: UInt64) throws {
        world = try World()
        random = Dice(seed: seed)
    }

    mutating func step() throws -> String {
        world.now += Double(random.below(20))
        switch random.below(12) {
        case 0, 1, 2:
            let path = anyPath()
            world.write(path)
            return "write \(path)"
        case 3:
            guard let from = anyFile() else { return "nothing to rename" }
            let to = anyPath()
            world.rename(from, to: to)
            return "rename \(from) to \(to)"
        case 4:
            guard let path = anyFile() else { return "nothing to remove" }
            world.remove(path)
            return "remove \(path)"
        case 5, 6:
            let isQuiet = random.below(3) > 0
            try world.scan(settled: { _ in isQuiet })
            return isQuiet ? "scan" : "scan of what is not whole"
        case 7: return try observe()
        case 8:
            held += try world.ledger.claim(limit: 1 + random.below(3), at: world.now)
            return "claim"
        case 9, 10: return try commit()
        default:
            if random.below(4) > 0 { return "rest" }
            try world.ledger.recoverInterrupted(at: world.now)
            return "recover"
        }
    }

    private mutating func observe() throws -> String {
        guard let path = anyFile(), let stamp = world.disk[path],
            let folder = world.folders.first(where: { path.starts(with: $0.path) })
        else { return "nothing to sight" }
        _ = try world.ledger.observe(folder.id, file: path, stamp: stamp, stillThere: world.isThere, at: world.now)
        return "sight \(path)"
    }

    private mutating func commit() throws -> String {
        guard !held.isEmpty else { return "nothing in hand" }
        let claim = held.remove(at: random.below(held.count))
        // As an uploader does: what it reads is what is there.
        guard world.disk[claim.file] == claim.stamp else {
            let outcome: Outcome =
                world.isThere(claim.file) ? .postponed("it changed", until: world.now) : .vanished
            try world.ledger.commit(claim, outcome: outcome, at: world.now)
            return "commit \(outcome.self)"
        }
        let outcomes: [Outcome] = [
            try world.stored(claim), try world.stored(claim), try world.stored(claim), .failed("cut off", nil),
            .skipped("no photo"), .postponed("away", until: world.now + 5), .released,
        ]
        let outcome = outcomes[random.below(outcomes.count)]
        if case .uploaded(let digest, _) = outcome { stored.insert(digest.sha256) }
        try world.ledger.commit(claim, outcome: outcome, at: world.now)
        return "commit \(claim.file): \(outcome)"
    }

    /// What the ledger says that is not so.
    func contradictions() throws -> [String] {
        var wrong: [String] = []
        var uploading = 0
        try world.ledger.photos(at: "/") { photo in
            if photo.state == .uploading { uploading += 1 }
            guard photo.state == .uploaded || photo.state == .missing else { return }
            if photo.object == nil { wrong.append("\(photo.path) has no object") }
            guard photo.state == .uploaded, let digest = photo.sha256 else { return }
            if !stored.contains(digest) { wrong.append("\(photo.path) was never stored") }
        }
        let limit = held.count
        if uploading > limit { wrong.append("\(uploading) are in hand, \(limit) were claimed") }
        return wrong
    }

    /// Brings everything to rest: then the ledger and the disk agree, and each file is stored or has a reason.
    mutating func drain() throws -> [String] {
        // What waits for its next try is due.
        world.now += 60
        try world.ledger.recoverInterrupted(at: world.now)
        try world.scan()
        for claim in try world.storeAll() where world.disk[claim.file] != claim.stamp {
            return ["\(claim.file) was claimed with a stamp that it does not have"]
        }
        var wrong: [String] = []
        var known: [FilePath: PhotoState] = [:]
        try world.ledger.photos(at: "/") { known[$0.path] = $0.state }
        for (path, stamp) in world.disk {
            switch known[path] {
            case .uploaded:
                let digest = try World.digest(of: stamp)
                if try world.status(path)?.sha256 != digest.sha256 { wrong.append("\(path) is stored as another") }
            case .failed, .skipped: break
            default: wrong.append("\(path) is \(known[path]?.rawValue ?? "unknown")")
            }
        }
        for (path, state) in known where state != .missing && !world.isThere(path) {
            wrong.append("\(path) is \(state), and not there")
        }
        return wrong + (try world.ledger.check())
    }

    private mutating func anyPath() -> FilePath {
        let place = Self.places[random.below(Self.places.count)]
        let number = random.below(6)
        let isDescription = place.hasPrefix("trips") && number == 0
        return FilePath("/pictures/\(place)/\(isDescription ? "vacation.json" : "\(number).jpg")")
    }

    private mutating func anyFile() -> FilePath? {
        let files = world.disk.keys.sorted { $0.string < $1.string }
        return files.isEmpty ? nil : files[random.below(files.count)]
    }
}
