import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// What a killed move or a damaged disk has left for the next `move-store`, by the program.
@Suite(.serialized) struct MoveStoreLeftoverTests {
    private func isThere(_ file: FilePath) -> Bool { FileManager.default.fileExists(atPath: file.string) }

    @Test(arguments: [true, false])
    func `what a killed move has left beside the configuration goes with the next one`(isLink: Bool) async throws {
        let home = try AgentHome()
        try home.gallery.appending("0.jpg").create(SamplePhoto.unique(0))
        _ = try await home.pass()
        let config = home.tree.path("config.yaml")
        var part = home.tree.path(".config.yaml.sync-agent-part")
        if isLink {
            let real = try home.tree.makeFolder("dotfiles").appending("mine.yaml")
            try FileManager.default.moveItem(atPath: config.string, toPath: real.string)
            try FileManager.default.createSymbolicLink(atPath: config.string, withDestinationPath: real.string)
            part = real.removingLastComponent().appending(".mine.yaml.sync-agent-part")
        }
        // Between the exchange of the configuration and all that follows: the old text has the hidden name.
        let old = try config.bytes
        let (state, saved) = (home.tree.path("state/sync-agent"), home.tree.path("saved"))
        let new = home.tree.path("new")
        try FileManager.default.copyItem(atPath: state.string, toPath: saved.string)
        #expect(try await home.run("move-store", "--yes", new.string).code == 0)
        try FileManager.default.removeItem(atPath: state.string)
        try FileManager.default.moveItem(atPath: saved.string, toPath: state.string)
        try part.create(old)

        #expect(try await home.run("move-store", "--dry-run", new.string).code == 0)
        #expect(isThere(part), "nothing is changed")
        let held = try HeldObject(lock: part)
        #expect(try await home.run("move-store", "--yes", new.string).code == 0)
        #expect(isThere(part), "somebody is at it")
        held.release()
        #expect(try await home.run("move-store", "--adopt", "--yes").code == 0)
        #expect(!isThere(part))
        #expect(try await home.pass().uploaded == 0)
    }
}
