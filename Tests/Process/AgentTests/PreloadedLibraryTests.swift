import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// The program beside libraries that were loaded before it: faketime, tcmalloc.
@Suite struct PreloadedLibraryTests {
    @Test func `a library that sets variables before main takes no arguments from the program`() async throws {
        let home = try AgentHome()
        let source = try home.tree.write(
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void meddle(void) {
                setenv("MEDDLED", "1", 1);
                unsetenv("LD_PRELOAD");
            }
            """, to: "meddle.c")
        let library = home.tree.path("meddle.so")
        let compiler = try await ChildProcess(
            "/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library.string, source.string],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"]
        ).finished()
        #expect(compiler.code == 0, "\(compiler.complaint)")
        let told = try await home.start(["--version"], environment: ["LD_PRELOAD": library.string]).finished()
        let plain = try await home.start(["--version"]).finished()
        #expect(told.code == 0 && told.text == plain.text)
        #expect(told.text.wholeMatch(of: /\d+\.\d+\.\d+\n?/) != nil, "\(told.text)")
        let wrong = try await home.start(["no-such-command"], environment: ["LD_PRELOAD": library.string]).finished()
        #expect(wrong.code == 64)
    }
}
