import Foundation
import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// What is left of a command's threads when the program ends, by a library that looks at that moment.
@Suite struct ThreadEndTests {
    private static let commands: [(words: [String], code: Int32)] = [
        (["sync"], 0), (["sync", "--dry-run"], 0), (["status"], 0), (["status", "--refresh"], 0), (["doctor"], 0),
        (["shares"], 0), (["archive", "list"], 0), (["projects", "list"], 0), (["cleanup", "--dry-run"], 0),
        (["restore", "Rome", "--estimate"], 0),
        (["mirror", "vacationphotos://share/8c5a0f4e-51d5-4c0e-9a55-3d1f3a5c2b10", "friend"], 66),
    ]

    @Test func `commands end with none of their threads left, with the embedded store`() async throws {
        try await expectNone(try AgentHome())
    }

    @Test func `commands end with none of their threads left, over S3`() async throws {
        try await ScriptedS3Server.run { try await expectNone(try AgentHome(over: $0)) }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `an agent ends with none of its threads left`(signal: Int32) async throws {
        let home = try AgentHome()
        let agent = try await home.startAgent(environment: try await Ending.environment(home))
        try home.gallery.appending("1.jpg").create(SamplePhoto.unique(1))
        try await agent.stored(atLeast: 1)
        agent.send(signal)
        #expect(try await agent.finished().code == 0)
        #expect(try Ending.threadsLeft(home) == [])
    }

    @Test func `an agent over S3 ends with none of its threads left`() async throws {
        try await ScriptedS3Server.run { server in
            let home = try AgentHome(over: server)
            let agent = try await home.startAgent(environment: try await Ending.environment(home))
            try home.gallery.appending("1.jpg").create(SamplePhoto.unique(1))
            try await agent.stored(atLeast: 1)
            agent.send(SIGTERM)
            #expect(try await agent.finished().code == 0)
            #expect(try Ending.threadsLeft(home) == [])
        }
    }

    @Test func `a command that fails ends with none of its threads left`() async throws {
        let home = try AgentHome(store: "{type: directory, path: /dev/null/store}")
        let finished = try await home.start(["sync"], environment: try await Ending.environment(home)).finished()
        #expect(finished.code == 78)
        #expect(try Ending.threadsLeft(home) == [])
    }

    private func expectNone(_ home: AgentHome) async throws {
        for number in 0..<3 {
            try home.vacations.pushing(FilePath("Rome/\(number).jpg")).create(SamplePhoto.unique(number))
        }
        let environment = try await Ending.environment(home)
        for command in Self.commands {
            let words = command.words.map { $0 == "friend" ? home.friendsFolder($0).string : $0 }
            let finished = try await home.start(words, environment: environment).finished()
            #expect(finished.code == command.code, "\(words): \(finished.complaint)")
            #expect(try Ending.threadsLeft(home) == [], "\(words)")
        }
    }
}

/// A library that writes down which threads the program names and joins. What was not joined when it ends is told: a thread
/// that only ends by itself may still be at work when exit(3) takes away what it uses.
private enum Ending {
    /// - Returns: what the program is to be started with.
    static func environment(_ home: AgentHome) async throws -> [String: String] {
        let source = try home.tree.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <pthread.h>
            #include <stdarg.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/prctl.h>
            #include <sys/syscall.h>
            #include <unistd.h>

            static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
            static struct { pthread_t thread; char name[16]; int joined; } threads[1000];
            static int count;

            __attribute__((constructor)) static void begin(void) { unsetenv("LD_PRELOAD"); }

            // A thread of ours names itself so as its first step; those of Swift do not.
            int prctl(int what, ...) {
                va_list rest;
                va_start(rest, what);
                unsigned long a = va_arg(rest, unsigned long), b = va_arg(rest, unsigned long);
                unsigned long c = va_arg(rest, unsigned long), d = va_arg(rest, unsigned long);
                va_end(rest);
                pthread_mutex_lock(&lock);
                if (what == PR_SET_NAME && count < 1000) {
                    threads[count].thread = pthread_self();
                    strncpy(threads[count++].name, (const char *)a, 15);
                }
                pthread_mutex_unlock(&lock);
                return (int)syscall(SYS_prctl, what, a, b, c, d);
            }

            // A later thread may have the place in memory of one that was joined.
            static int mark(pthread_t thread) {
                int found = 0;
                pthread_mutex_lock(&lock);
                for (int each = count - 1; each >= 0 && !found; each--) {
                    if (threads[each].joined || !pthread_equal(threads[each].thread, thread)) continue;
                    threads[each].joined = found = 1;
                }
                pthread_mutex_unlock(&lock);
                return found;
            }

            int pthread_join(pthread_t thread, void **value) {
                int (*real)(pthread_t, void **) = dlsym(RTLD_NEXT, "pthread_join");
                int found = mark(thread);
                int result = real(thread, value);
                // One that did not get the processor before has named itself meanwhile.
                if (!found) mark(thread);
                return result;
            }

            __attribute__((destructor)) static void end(void) {
                const char *path = getenv("THREADS_AT_THE_END");
                FILE *file = path ? fopen(path, "w") : NULL;
                if (!file) return;
                pthread_mutex_lock(&lock);
                for (int each = 0; each < count; each++) {
                    fprintf(file, "%s %s\\n", threads[each].joined ? "joined" : "left", threads[each].name);
                }
                pthread_mutex_unlock(&lock);
                fclose(file);
            }
            """, to: "ending.c")
        let library = home.tree.path("ending.so")
        let compiler = try await ChildProcess(
            "/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library.string, source.string],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"]
        ).finished()
        #expect(compiler.code == 0, "\(compiler.complaint)")
        return ["LD_PRELOAD": library.string, "THREADS_AT_THE_END": home.tree.path("threads").string]
    }

    /// Names of threads that were not joined. `step-watch` ends by itself, and `last-resort` sleeps until it ends the
    /// process; neither uses anything that goes away.
    static func threadsLeft(_ home: AgentHome) throws -> [String] {
        let lines = try String(contentsOfFile: home.tree.path("threads").string, encoding: .utf8)
            .split(separator: "\n")
        // Each of them has a ledger, or looks at a machine.
        #expect(lines.contains { $0.hasPrefix("joined ") })
        let expected = ["left step-watch", "left last-resort"]
        return lines.filter { $0.hasPrefix("left ") }.map(String.init).filter { !expected.contains($0) }
    }
}
