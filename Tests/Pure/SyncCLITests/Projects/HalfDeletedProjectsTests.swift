import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine
@testable import SyncLedger

@Suite struct HalfDeletedProjectsTests {
    @Test func `the command that ends a deletion is named`() {
        #expect(HalfDeletedProjects([]).problem == nil)
        #expect(
            HalfDeletedProjects(["a"]).problem
                == "1 project is half deleted: give sync-agent projects delete a again")
        #expect(
            HalfDeletedProjects(["a", "b", "c", "d"]).problem
                == "4 projects are half deleted: give sync-agent projects delete a b c again; sync-agent projects list "
                + "names the others")
        #expect(
            HalfDeletedProjects(["a"], isFolderSeen: false).problem
                == "1 project is half deleted: once all of its folder is seen again, give sync-agent projects delete a "
                + "again")
    }

    @Test func `a pass is not whole while a project is half deleted`() {
        for ids in [["a"], []] {
            let pass = SyncReport(
                PassSummary(), intake: SyncPass.Scanned(), moved: TierMover.Summary(),
                overview: Overview(folders: [], tiers: []), unfinished: 0, failed: [], delayed: [],
                halfDeleted: [(folder: "/home/ana/Projects", ids: ids)],
                unclear: (store: "/home/ana/store", objects: 0), told: [])
            #expect(pass.status == (ids.isEmpty ? .done : .partlyDone))
            #expect(pass.problems.map(\.path) == ids.map { _ in "/home/ana/Projects" })
        }
    }
}
