import Logging
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What is not watched, and polled.
extension IntakeTests {
    private func scanned(_ count: Int) async throws -> [FilePath] {
        try await eventually("\(count) scans", seen: { "\(source.scanned)" }) {
            source.scanned.count >= count ? source.scanned : nil
        }
    }

    @Test func `each scan is told, and of a part with a known problem no second scan of the whole comes`()
        async throws
    {
        let (vacations, trip) = (Bench.vacations, Bench.vacations.appending("Paris"))
        bench.disk.write("tower", to: vacations.appending("b.jpg"))
        bench.disk.setUnreadable(trip)
        try await running {
            source.send(.tree(trip))
            let first = try await scanned(2)
            #expect(first == [trip, vacations])
            source.send(.tree(trip))
            _ = try await scanned(3)
            source.send(.tree(Bench.gallery))
            let all = try await scanned(4)
            #expect(all == [trip, vacations, trip, Bench.gallery])
        }
    }

    @Test func `that watches have run out is logged once, though its numbers change, and so is that they have not`()
        async throws
    {
        let lines = LogLines(from: .notice)
        source.setReport("5 folders need a watch", .limit)
        try await running(lines.logger) {
            source.send(.tree(Bench.gallery))
            _ = try await scanned(1)
            source.setReport("6 folders need a watch", .limit)
            source.send(.tree(Bench.gallery))
            _ = try await scanned(2)
            source.setReport(nil, nil)
            source.send(.tree(Bench.gallery))
            let told = try await eventually("both lines", seen: { "\(lines.all)" }) {
                () -> [String]? in
                let told = lines.lines.filter { $0.level == .notice }.map(\.message)
                return told.count >= 2 ? told : nil
            }
            let folder = Bench.gallery.string
            #expect(told == ["\(folder): 5 folders need a watch", "\(folder): all of it is watched"])
        }
    }
}
