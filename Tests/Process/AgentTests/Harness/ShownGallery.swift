import Foundation
import SyncTestSupport
import SystemPackage
import Testing

/// A gallery that is shown, and a browser's jar of cookies.
struct ShownGallery {
    let home: AgentHome
    let process: ChildProcess
    let base: String
    let token: String

    /// Where the last answer is.
    var answer: FilePath { home.tree.path("answer") }

    /// - Returns: the status, and what was answered.
    func ask(_ path: String, _ options: String...) async throws -> (code: Int, text: String) {
        let jar = home.tree.path("jar").string
        let code = try await Tool.run(
            "/usr/bin/curl",
            ["-s", "-o", answer.string, "-w", "%{http_code}", "-b", jar, "-c", jar] + options + [base + path],
            home: home)
        let bytes = (try? answer.bytes) ?? []
        return (Int(String(decoding: code, as: UTF8.self)) ?? 0, String(decoding: bytes, as: UTF8.self))
    }

    func signIn() async throws {
        #expect(try await ask("/?token=\(token)").code == 200)
    }
}

extension ShownGallery {
    /// `serve` shows it.
    static func shown(by home: AgentHome, _ arguments: [String]) async throws -> ShownGallery {
        let process = try home.start(arguments + ["--listen", "127.0.0.1:0"])
        let line = try await process.printed { $0.contains("token=") }
        let address = try #require(line.split(separator: " ").last.map(String.init))
        let parts = address.split(separator: "/", omittingEmptySubsequences: false)
        return ShownGallery(
            home: home, process: process, base: parts.prefix(3).joined(separator: "/"),
            token: String(try #require(address.split(separator: "=").last)))
    }

    /// The agent shows it.
    static func shown(by home: AgentHome) async throws -> ShownGallery {
        let agent = try home.start(["run"])
        let line = try await agent.logged { $0.contains("the gallery is at ") }
        #expect(!line.contains("token"))
        let file = home.tree.path("state/sync-agent/gallery.url")
        let address = try await eventually("the address of the gallery") { () -> String? in
            let text = String(decoding: (try? file.bytes) ?? [], as: UTF8.self)
            return text.hasSuffix("\n") ? String(text.dropLast()) : nil
        }
        // Beyond this machine it is told by the machine's name, which a test need not find.
        let port = try #require(address.split(separator: "/").dropFirst().first?.split(separator: ":").last)
        return ShownGallery(
            home: home, process: agent, base: "http://127.0.0.1:\(port)",
            token: String(try #require(address.split(separator: "=").last)))
    }

    /// The hexadecimal digits behind a mark.
    static func id(_ page: String, after mark: String) throws -> String {
        let rest = try #require(page.range(of: mark).map { page[$0.upperBound...] })
        return String(rest.prefix { $0.isHexDigit })
    }
}
