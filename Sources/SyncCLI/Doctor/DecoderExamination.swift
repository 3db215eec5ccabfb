import FoundationEssentials
import SyncEngine
import SyncPhotos
import SyncSystem
import SystemPackage

/// What `doctor` says of the program that decodes pictures: whether it is there, with what, and how well it is locked in.
struct DecoderExamination: Sendable {
    private static let name = "pictures"
    private static let patience = Duration.seconds(20)
    private static let mostBytes = 64 << 10

    /// What `sync-agent-decoder --check` prints.
    private struct Abilities: Decodable {
        var landlock: Bool
        var seccomp: Bool
        var libraries: [String: String]
    }

    let pictures: PictureWorkers

    /// Blocks: for a thread of ours.
    func finding(_ flag: CancellationFlag) throws -> Finding {
        let program = PictureWorkers.programName
        guard let path = pictures.program else {
            return .limited(
                Self.name, "\(program) is not installed beside sync-agent",
                instead: "HEIC, PNG and other pictures are stored as they are, and not looked into; make install has it"
            )
        }
        let abilities: Abilities
        do {
            let check = ChildProcess(
                words: [path.string, "--check"], environment: [:], timeout: Self.patience, outputLimit: Self.mostBytes)
            let ending = try check.run(flag)
            switch ending.status {
            case .exited(0): break
            case .exited(let code): return broken(path, "it ended with \(code)")
            case .signalled(let signal): return broken(path, "it died of signal \(signal)")
            }
            abilities = try JSONDecoder().decode(Abilities.self, from: Data(ending.output))
        } catch is CancellationError {
            throw CancellationError()
        } catch let failure as ChildProcess.Failure {
            switch failure {
            case .notStarted(let error): return broken(path, "it cannot be started: \(error)")
            case .tooSlow: return broken(path, "it does not answer")
            case .tooMuch: return broken(path, "its answer does not end")
            }
        } catch is DecodingError {
            return broken(path, "its answer is none of a decoder")
        }
        let libraries = abilities.libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let detail = "decoded by \(path) with \(libraries.joined(separator: ", "))"
        let missing = [abilities.landlock ? nil : "landlock", abilities.seccomp ? nil : "seccomp"].compactMap(\.self)
        if missing.isEmpty { return .ok(Self.name, detail + ", without network and files (landlock, seccomp)") }
        return .limited(
            Self.name, detail + "; this kernel has no \(missing.joined(separator: " and no "))",
            instead: abilities.seccomp
                ? "system calls are limited all the same"
                : "only limits on memory, files and processes hold a decoder back")
    }

    private func broken(_ path: FilePath, _ reason: String) -> Finding {
        .wrong(
            Self.name, "\(path) --check: \(reason)",
            remedy: "install it anew, with the libraries that it needs (make install)")
    }
}
