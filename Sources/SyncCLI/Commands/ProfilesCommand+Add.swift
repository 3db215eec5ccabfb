import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncLedger
import SyncPhone

struct ProfilesAddCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a profile for a telephone number.",
        usage: "sync-agent profiles add <phone> [<options>]",
        discussion: """
            The number may be written in any common way; without a country code it is taken for one of share.phone_region, \
            or of --region. The profile's UUID is made, unless another machine or an app has one for it already.

            EXAMPLES
              sync-agent profiles add "+1 778 814 3739" --name Grandma
              sync-agent profiles add "(778) 814-3739" --region CA
              sync-agent profiles add 0151-12345678 --region DE --name Ana
            """
    )

    @Argument(help: "The telephone number.")
    var phone: String

    @Option(help: ArgumentHelp("The profile's UUID, if it has one elsewhere.", valueName: "uuid"))
    var id: String?

    @Option(help: "Display name of the profile.")
    var name: String?

    @Option(help: ArgumentHelp("Country of numbers without a country code, such as US.", valueName: "region"))
    var region: String?

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if let id, UUID(uuidString: id) == nil {
            throw ValidationError("--id takes a UUID, such as 0f3a9c21-6c0e-4c57-9c55-1b1a0c9b5b2d")
        }
        if let name, name.isEmpty || name != name.escapingControls || name.utf8.count > 200 {
            throw ValidationError("--name takes a name of one line")
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let number: PhoneNumber
        do {
            number = try LibPhoneNumbers().parse(phone, region: region ?? workspace.settings.share.phoneRegion)
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
        let (uuid, name, now) = ((id ?? UUID().uuidString).lowercased(), name, workspace.time.now())
        let profile = try await workspace.ledger { try Self.add(number, uuid, name, to: $0, at: now) }
        return Answer(ProfileListReport.Profile(profile, events: 0)) { _ in ["\(profile.uuid)  \(profile.phone)"] }
    }

    /// - Throws: ``CommandFailure`` that names the profile which has the number, or the id, already.
    private static func add(
        _ number: PhoneNumber, _ uuid: String, _ name: String?, to ledger: Ledger, at time: Date
    ) throws -> ProfileRecord {
        func hasProfile(_ known: ProfileRecord) -> CommandFailure {
            CommandFailure(.failed, "\(number) has a profile already: \(known.uuid)")
        }
        if let known = try ledger.profile(number) { throw hasProfile(known) }
        if let other = try ledger.profiles().first(where: { $0.uuid == uuid }) {
            throw CommandFailure(.failed, "\(uuid) is the profile of \(other.phone); leave out --id, or name another")
        }
        let profile = try ledger.addProfile(uuid: uuid, phone: number, name: name, at: time)
        guard profile.uuid == uuid else { throw hasProfile(profile) }
        return profile
    }
}
